"""Numbers of a branch read as numbers of another type: the `interpretation` of `array`, which is a type of
NumPy's or an `AsDtype`."""

from __future__ import annotations

import collections.abc
from typing import Any

from ..interpretation.numerical import AsDtype


def pairs(expressions: Any) -> list[tuple[str, Any]] | None:
    """Names with their interpretations, if any is given: a dict, or a list with pairs."""
    if expressions is None or isinstance(expressions, str):
        return None
    listed = list(expressions.items() if isinstance(expressions, collections.abc.Mapping) else expressions)
    if not any(isinstance(one, tuple) for one in listed):
        return None
    found = [one if isinstance(one, tuple) else (one, None) for one in listed]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise ValueError("a branch can have one interpretation, not two")
    return found


def as_type(values: Any, interpretation: Any) -> Any:
    """An array of numbers whose bytes in the file are read as numbers of another type of the same size, or as single
    bytes. Halves of numbers mean nothing: they are a `ValueError`."""
    import numpy as np

    if isinstance(interpretation, AsDtype):
        return as_type(values, interpretation.from_dtype).astype(interpretation.to_dtype)
    try:
        wanted = np.dtype(interpretation)
    except TypeError:
        wanted = np.dtype(object)
    fits = wanted.itemsize == values.dtype.itemsize or wanted in ("u1", "i1")
    if wanted.kind not in "biuf" or values.dtype.kind not in "biuf" or not fits:
        raise ValueError(
            f"the file has {values.dtype}, whose bytes cannot be read as {interpretation!r}: an interpretation is a "
            "type of NumPy's for numbers of the same size. To convert values, use `.astype` of the result without it"
        )
    # Files have big-endian numbers.
    stored = values.astype(values.dtype.newbyteorder(">")).view(wanted.newbyteorder(">"))
    made = stored.astype(wanted.newbyteorder("="))
    return made if wanted.itemsize == values.dtype.itemsize else made.reshape(*values.shape, -1)


def in_library(array: Any, library: str) -> Any:
    """An array of NumPy's in the form of a library."""
    if library == "np":
        return array
    if library == "ak":
        import awkward as ak

        return ak.from_numpy(array)
    raise ValueError(f"interpretations work with the libraries 'ak' and 'np', not {library!r}")


def contained(arrays: dict[str, Any], library: str, how: Any) -> Any:
    """Arrays of NumPy's in the form of a library, or in a container."""
    made = {name: in_library(array, library) for name, array in arrays.items()}
    if how in (tuple, list):
        return how(made.values())
    if how is dict or library == "np":
        return made
    from .._libraries import awkward

    return awkward.table(made)
