"""Converts the arrays and types that users give to trees of buffers, as `Batch.of` takes them."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

#: As `_core.Node`, with NumPy arrays of bytes as buffers.
Tree: TypeAlias = "tuple[str, int, int, list[Any], list[tuple[str, Tree]]]"
#: A tree of buffers, or an object with Arrow's C interface.
Column: TypeAlias = Any

#: C++ names of numbers that NumPy lacks or uses for other types.
_NUMBERS = {
    "unsigned int": "uint32",
    "unsigned short": "uint16",
    "unsigned char": "uint8",
    "Bool_t": "bool",
    "Int_t": "int32",
    "UInt_t": "uint32",
    "Long64_t": "int64",
    "ULong64_t": "uint64",
    "Float_t": "float32",
    "Double_t": "float64",
}


def tables(data: Any, whole: Collection[str] | None = None) -> Iterator[list[tuple[str, Column]] | Any]:
    """The columns in the argument of `extend`: all at once, or step by step for an Arrow stream. Records that may be
    missing are lists of none or one, except in the columns `whole`, and where that is None."""

    def listed(name: str) -> bool:
        return whole is not None and name not in whole

    if isinstance(data, collections.abc.Mapping):
        yield [(name, column(values, listed(name))) for name, values in data.items()]
    elif _is_of(data, "pandas"):
        yield [(name, column(values)) for name, values in _frame(data).items()]
    elif _is_of(data, "awkward"):
        if not data.fields:
            raise TypeError("the awkward array has no fields: pass it as {name: array}")
        if data.ndim > 1:
            # Lists of records share one counter: `n`, and columns with the names of the fields.
            yield [("", column(data))]
        else:
            yield [(name, column(data[name], listed(name))) for name in data.fields]
    elif isinstance(data, np.ndarray) and data.dtype.names is not None:
        yield [(name, column(data[name])) for name in data.dtype.names]
    elif hasattr(data, "__arrow_c_stream__"):
        from . import _core

        yield _core.Stream(data)
    else:
        raise TypeError(
            f"expected arrays by name, or a table (awkward, pandas, Arrow, polars), not {type(data).__name__}"
        )


def column(values: Any, listed: bool = False) -> Column:
    """An array in the form that `_core` takes; with `listed`, records that may be missing are lists of none or one."""
    if isinstance(values, collections.abc.Mapping):
        return _record([(name, column(part, listed)) for name, part in values.items()])
    if _is_of(values, "awkward"):
        return _awkward(values.layout, listed)
    if _is_of(values, "pandas"):
        return column(_frame(values)) if values.ndim > 1 else column(values.to_numpy())
    if isinstance(values, np.ndarray):
        return _numpy(values)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return values
    if hasattr(values, "dtype"):
        return _numpy(np.asarray(values))
    items = list(values)
    try:
        made = np.array(items)
    except ValueError:
        return _lists(items, listed)
    # Lists that are all empty are not arrays of fixed size.
    return _lists(items, listed) if made.dtype == object or 0 in made.shape[1:] else _numpy(made)


def is_type(kind: Any) -> bool:
    """Whether this is the type of a column, not an array."""
    if isinstance(kind, collections.abc.Mapping):
        return bool(kind) and all(is_type(part) for part in kind.values())
    return isinstance(kind, str | type | np.dtype | tuple) or type(kind).__module__.startswith("awkward.types")


def empty(kind: Any, listed: bool = False) -> Tree | None:
    """An empty array of a type: a NumPy type, an awkward type, or a dict of such for a record. None for the name of a
    C++ type, which neither library knows. `listed` is as for `column`."""
    if isinstance(kind, collections.abc.Mapping):
        parts = [(name, empty(part)) for name, part in kind.items()]
        unknown = next((name for name, part in parts if part is None), None)
        if unknown is not None:
            raise TypeError(f"{kind[unknown]!r} in a record is not a type of NumPy or awkward")
        return _record(parts)
    if isinstance(kind, str) and (kind.strip() in _NUMBERS or not kind.strip()):
        kind = _NUMBERS.get(kind.strip(), kind)
    if not type(kind).__module__.startswith("awkward.types"):
        try:
            dtype = np.dtype(kind)
        except (TypeError, ValueError):
            dtype = None
        if dtype is not None:
            return _numpy(np.empty(0, dtype))
    return _datashape(kind, listed)


def _datashape(kind: Any, listed: bool) -> Tree | None:
    import awkward as ak

    if isinstance(kind, str):
        try:
            kind = ak.types.from_datashape(kind, highlevel=False)
        except Exception:  # its parser's own kinds
            return None
    if isinstance(kind, ak.types.ArrayType):
        kind = kind.content
    if not isinstance(kind, ak.types.Type):
        raise TypeError(f"{kind!r} is not a type of NumPy or awkward, and not the name of a C++ type")
    return _awkward(ak.forms.from_type(kind).length_zero_array(highlevel=False), listed)


def _is_of(value: Any, library: str) -> bool:
    return type(value).__module__.partition(".")[0] == library


def _frame(frame: Any) -> Mapping[str, Any]:
    """As uproot has it, the index is a column."""
    return {"index": frame.index.to_numpy()} | {str(name): frame[name].to_numpy() for name in frame.columns}


def _awkward(layout: Any, listed: bool) -> Tree:
    from . import _awkward as awkward

    return _bytes(awkward.node(awkward.without_missing_records(layout) if listed else layout))


def _bytes(tree: Any) -> Tree:
    kind, length, size, buffers, parts = tree
    # Only readers have use for the class behind the kind.
    return (
        kind.partition(" ")[0],
        length,
        size,
        [_plain(one) for one in buffers],
        [(name, _bytes(part)) for name, part in parts],
    )


def _plain(buffer: Any) -> NDArray[np.uint8]:
    array = np.ascontiguousarray(buffer)
    return array.astype(array.dtype.newbyteorder("="), copy=False).reshape(-1).view(np.uint8)


def _record(parts: list[tuple[str, Any]]) -> Tree:
    for name, part in parts:
        if not isinstance(part, tuple):
            raise TypeError(f"{name} in a record is not an array of NumPy or awkward")
    lengths = {part[1] for _, part in parts}
    if len(lengths) > 1:
        raise ValueError(f"parts of a record have different lengths: {', '.join(map(str, sorted(lengths)))}")
    return ("record", lengths.pop() if lengths else 0, 0, [], parts)


def _numpy(array: NDArray[Any]) -> Tree:
    length = len(array)
    if array.dtype.names is not None and array.ndim == 1:
        return ("record", length, 0, [], [(name, _numpy(array[name])) for name in array.dtype.names])
    if array.ndim > 1:
        size = array.shape[1]
        return ("fixed", length, size, [], [("", _numpy(array.reshape(length * size, *array.shape[2:])))])
    if array.dtype.kind in "UST" or (array.dtype == object and all(isinstance(one, str) for one in array)):
        return _text(array)
    if array.dtype == object:
        return _lists(list(array))
    return (array.dtype.name, length, 0, [_plain(array)], [])


def _text(texts: Iterable[Any]) -> Tree:
    letters = [one if isinstance(one, bytes) else str(one).encode() for one in texts]
    offsets = np.zeros(len(letters) + 1, np.int64)
    np.cumsum([len(one) for one in letters], out=offsets[1:])
    return ("text", len(letters), 0, [_plain(offsets), np.frombuffer(b"".join(letters), np.uint8)], [])


def _lists(values: list[Any], listed: bool = False) -> Tree:
    import awkward as ak

    return _awkward(ak.from_iter(values, highlevel=False), listed)
