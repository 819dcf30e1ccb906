"""Joins the arrays of several files, in the form of each library."""

from __future__ import annotations

from typing import Any


def joined(parts: list[Any]) -> Any:
    """Arrays, or containers of arrays, one after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    if isinstance(first, tuple | list):
        return type(first)(joined(list(some)) for some in zip(*parts, strict=True))
    library = type(first).__module__.partition(".")[0]
    if library == "awkward":
        import awkward as ak

        return ak.concatenate(parts)
    if library == "pandas":
        import pandas as pd

        return pd.concat(parts)
    if library == "pyarrow":
        import pyarrow as pa

        return pa.concat_tables(parts)
    if library == "polars":
        import polars as pl

        return pl.concat(parts)
    import numpy as np

    return np.concatenate(parts)


def shifted(found: Any, before: int) -> Any:
    """DataFrames, also in containers, with the numbers of entries counted over all files; everything else as it is."""
    if isinstance(found, dict):
        return {name: shifted(one, before) for name, one in found.items()}
    if isinstance(found, tuple | list):
        return type(found)(shifted(one, before) for one in found)
    if before and type(found).__module__.partition(".")[0] == "pandas":
        found.index += before
    return found
