"""Converts the arrays and types that users give to trees of buffers, as `Batch.of` takes them."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._shared.names import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
        yield [(name, _named(name, values, listed(name))) for name, values in data.items()]
    elif _is_of(data, "pandas"):
        yield _frame(data)
    elif _is_of(data, "awkward"):
        if not data.fields:
            raise TypeError("the awkward array has no fields: pass it as {name: array}")
        if data.ndim > 1:
            # Lists of records share one counter: `n`, and columns with the names of the fields.
            yield [("", column(data))]
        else:
            yield [(name, _named(name, data[name], listed(name))) for name in data.fields]
    elif isinstance(data, np.ndarray) and data.dtype.names is not None:
        yield [(name, _named(name, data[name])) for name in data.dtype.names]
    elif hasattr(data, "__arrow_c_stream__"):
        from .. import _core

        yield _core.Stream(data)
    else:
        raise TypeError(
            f"expected arrays by name, or a table (awkward, pandas, Arrow, polars), not {type(data).__name__}"
        )


def _named(name: str, values: Any, listed: bool = False) -> Column:
    """The column, or an error with its name."""
    try:
        return column(values, listed)
    except TypeError as error:
        raise TypeError(f"column {plain(name)}: {error}") from error
    except Exception as error:  # of the libraries' own kinds, too
        raise ValueError(f"column {plain(name)}: {error}") from error


def column(values: Any, listed: bool = False) -> Column:
    """An array in the form that `_core` takes; with `listed`, records that may be missing are lists of none or one."""
    if isinstance(values, collections.abc.Mapping):
        return _record([(name, column(part, listed)) for name, part in values.items()])
    if _is_of(values, "awkward"):
        return _awkward(values.layout, listed)
    if _is_of(values, "pandas"):
        return _record(_frame(values)) if values.ndim > 1 else _pandas(values)
    if isinstance(values, np.ndarray):
        return _numpy(values)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return values
    if hasattr(values, "dtype"):
        return _numpy(np.asarray(values))
    return _items(list(values), listed)


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


def _frame(frame: Any) -> list[tuple[str, Column]]:
    """As uproot has it, the index is a column."""
    names = [str(name) for name in frame.columns]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ValueError(f"two columns of the DataFrame are called {plain(twice)}")
    parts = [(name, _named(name, frame.iloc[:, place])) for place, name in enumerate(names)]
    if "index" not in names:
        return [("index", _named("index", frame.index)), *parts]
    # One that counts rows, as that of a frame that was read from a file, is no loss.
    index, given = frame.index, frame.iloc[:, names.index("index")]
    if not (index.equals(type(frame)(index=range(len(frame))).index) or index.equals(type(index)(given))):
        raise ValueError("the DataFrame has an index and another column of that name: rename it, or reset the index")
    return parts


def _pandas(values: Any) -> Column:
    """A column, an index or an extension array of pandas. What is missing stays missing, and keeps the type of the
    other values."""
    dtype = values.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return getattr(values, "array", values).__arrow_array__()
    missing = np.asarray(values.isna())
    if isinstance(dtype, np.dtype):
        if dtype.kind != "O":
            return _numpy(values.to_numpy())
        return _items(_without_nan(values.to_numpy().tolist(), missing))
    if hasattr(dtype, "categories"):
        values = getattr(values, "cat", values)
        codes = np.asarray(values.codes)
        if not len(values.categories):
            return _items([None] * len(codes))
        return _optional(codes < 0, _pandas(values.categories.take(np.maximum(codes, 0))))
    numbers = getattr(dtype, "numpy_dtype", None)
    if numbers is not None and numbers.kind in "biuf":
        return _optional(missing, _numpy(values.to_numpy(dtype=numbers, na_value=numbers.type(0))))
    if hasattr(dtype, "fill_value"):
        return _numpy(np.asarray(values))
    if dtype.name in ("string", "str"):
        items = values.to_numpy(dtype=object)
        return _items([None if gap else one for one, gap in zip(items, missing, strict=True)])
    raise TypeError(f"a column of {dtype} cannot be written; convert it to numbers or text first")


def _without_nan(items: list[Any], missing: NDArray[np.bool_]) -> list[Any]:
    """Objects of pandas, None for missing ones. Among numbers NaN is a number."""
    there = (type(one) for one, gap in zip(items, missing, strict=True) if not gap)
    numbers = all(issubclass(kind, int | float | np.number) and kind is not bool for kind in there)

    def is_missing(one: Any, gap: Any) -> bool:
        return bool(gap) and not (numbers and isinstance(one, float | np.floating))

    return [None if is_missing(one, gap) else one for one, gap in zip(items, missing, strict=True)]


def _awkward(layout: Any, listed: bool) -> Tree:
    from . import awkward

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
    if isinstance(array, np.ma.MaskedArray) and array.ndim == 1 and array.dtype.names is None:
        missing = np.ma.getmaskarray(array)
        if array.dtype == object or array.dtype.kind in "UST":
            return _items([None if gap else one for one, gap in zip(array.data.tolist(), missing, strict=True)])
        made: Tree = _optional(missing, _numpy(array.data))
        return made
    if array.dtype.names is not None and array.ndim == 1:
        return ("record", length, 0, [], [(name, _numpy(array[name])) for name in array.dtype.names])
    if array.ndim > 1:
        size = array.shape[1]
        return ("fixed", length, size, [], [("", _numpy(array.reshape(length * size, *array.shape[2:])))])
    if array.dtype.kind in "UST":
        return _text(array)
    if array.dtype == object:
        return _items(list(array))
    return (array.dtype.name, length, 0, [_plain(array)], [])


def _optional(missing: NDArray[np.bool_], tree: Column) -> Column:
    """Values of which some are missing. Where none is, they are as others."""
    if not missing.any() or not isinstance(tree, tuple):
        return tree
    return ("optional", len(missing), 0, [np.packbits(~missing, bitorder="little")], [("", tree)])


def _items(items: list[Any], listed: bool = False) -> Tree:
    """Python's objects: numbers, texts, lists, None for a missing value."""
    items = [_item(one) for one in items]
    kinds = {type(one) for one in items}
    if kinds and (kinds <= {str, np.str_} or kinds <= {bytes, np.bytes_}):
        return _text(items)
    if kinds & {str, np.str_} and kinds - {str, np.str_, type(None)}:
        # A variant, for which a tree has no type.
        return _lists(items, listed)
    try:
        made = np.array(items)
    except ValueError:
        made = np.empty(0, object)
    if made.dtype.kind in "US":
        # As texts of one length they would lose zeros at their ends.
        tree = _numpy(np.array(items, dtype=object))
    # Lists that are all empty are not arrays of fixed size.
    elif made.dtype == object or 0 in made.shape[1:]:
        tree = _lists(items, listed)
    else:
        tree = _numpy(made)
    if _has_floats(tree) and any(map(_is_long, items)):
        raise ValueError(
            "integers of more than 53 bits would lose digits as floating-point numbers; give an array of one type"
        )
    return tree


def _item(one: Any) -> Any:
    """An object with None where it is masked, or pandas' value for missing ones."""
    if isinstance(one, list | tuple):
        return [_item(part) for part in one]
    if isinstance(one, np.ma.MaskedArray):
        return one.tolist()
    return None if type(one).__name__ in ("NAType", "NaTType") else one


def _is_long(one: Any) -> bool:
    """Whether it is or has an integer that a double may not hold."""
    if isinstance(one, list):
        return any(map(_is_long, one))
    if isinstance(one, np.ndarray):
        return one.dtype.kind in "iuO" and any(map(_is_long, one.tolist()))
    return isinstance(one, int | np.integer) and abs(int(one)) > 1 << 53


def _has_floats(tree: Tree) -> bool:
    return tree[0] == "float64" or any(_has_floats(part) for _, part in tree[4])


def _text(texts: Iterable[Any]) -> Tree:
    letters = [one if isinstance(one, bytes) else str(one).encode() for one in texts]
    offsets = np.zeros(len(letters) + 1, np.int64)
    np.cumsum([len(one) for one in letters], out=offsets[1:])
    return ("text", len(letters), 0, [_plain(offsets), np.frombuffer(b"".join(letters), np.uint8)], [])


def _lists(values: list[Any], listed: bool = False) -> Tree:
    import awkward as ak

    return _awkward(ak.from_iter(values, highlevel=False), listed)
