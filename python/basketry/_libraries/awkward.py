"""Converts trees of buffers to awkward layouts without a copy, and back; small helpers for layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np

from .lineages import lineage, named
from .numpy import MAP_ITEM, SET, data, unique

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._core import Node


#: Names that the compiled half gives to tuples, and to pairs, which have names for their parts.
TUPLE, PAIR = "std::tuple", "std::pair"


def record(parts: list[tuple[str, Any]], length: int, derived: str = "") -> Any:
    """A record layout of column layouts. The class is its name, by which `vector` finds its methods. Items of maps,
    and tuples, are tuples, as uproot has them; so is a record without parts."""
    classname = named(derived)
    names = None if classname in (MAP_ITEM, TUPLE) or not parts else unique(name for name, _ in parts)
    parameters = {"__array__": "sorted_map"} if classname == MAP_ITEM else {"__record__": classname}
    return ak.contents.RecordArray(
        [part for _, part in parts],
        names,
        length=length,
        parameters=None if classname in ("", TUPLE, PAIR) else parameters,
    )


def layout(node: Node) -> Any:
    """The layout of an array."""
    kind, length, size, buffers, parts = node
    kind, _, classname = kind.partition(" ")
    if kind == "list":
        offsets, parameters = data(buffers[0], np.int64), {"__array__": "set"} if classname == SET else None
        return ak.contents.ListOffsetArray(ak.index.Index64(offsets), layout(parts[0][1]), parameters=parameters)
    if kind == "fixed":
        return ak.contents.RegularArray(layout(parts[0][1]), size, zeros_length=length)
    if kind == "record":
        return record([(name, layout(part)) for name, part in parts], length, classname)
    if kind == "optional":
        bits = ak.index.IndexU8(data(buffers[0], np.uint8))
        return ak.contents.BitMaskedArray(bits, layout(parts[0][1]), valid_when=True, length=length, lsb_order=True)
    if kind == "union":
        return _union(data(buffers[0], np.int8), data(buffers[1], np.int32), [layout(part) for _, part in parts])
    if kind in ("text", "bytes"):
        whole, each = ("string", "char") if kind == "text" else ("bytestring", "byte")
        letters = ak.contents.NumpyArray(data(buffers[1], np.uint8), parameters={"__array__": each})
        offsets = ak.index.Index64(data(buffers[0], np.int64))
        return ak.contents.ListOffsetArray(offsets, letters, parameters={"__array__": whole})
    return ak.contents.NumpyArray(data(buffers[0], np.dtype(kind)))


def _union(tags: Any, places: Any, parts: list[Any]) -> Any:
    """A union layout. The tags count from 1; 0 is a missing value, which becomes one of the first part."""
    first = parts[0]
    with_none = np.append(np.arange(first.length, dtype=np.int64), -1)
    parts = [ak.contents.IndexedOptionArray.simplified(ak.index.Index64(with_none), first), *parts[1:]]
    index = ak.index.Index64(np.where(tags == 0, first.length, places).astype(np.int64))
    if len(parts) == 1:
        return ak.contents.IndexedArray.simplified(index, parts[0])
    return ak.contents.UnionArray.simplified(ak.index.Index8(np.maximum(tags - 1, 0).astype(np.int8)), index, parts)


def node(layout: Any) -> Any:
    """The tree of buffers of a layout."""
    return _node(ak.to_packed(layout, highlevel=False))


def _node(layout: Any) -> Any:
    length, kind = layout.length, layout.parameter("__array__")
    if layout.is_unknown:
        return _node(layout.to_NumpyArray(np.float64))
    if layout.is_option:
        masked = layout.to_BitMaskedArray(valid_when=True, lsb_order=True)
        return ("optional", length, 0, [masked.mask.data], [("", _node(masked.content[:length]))])
    if layout.is_indexed:
        return _node(layout.project())
    if layout.is_record:
        return _record_node(layout)
    if kind in ("string", "bytestring"):
        whole = layout.to_ListOffsetArray64(True)
        letters = np.asarray(whole.content.data, np.uint8)
        return ("text" if kind == "string" else "bytes", length, 0, [whole.offsets.data, letters], [])
    if layout.is_regular:
        return ("fixed", length, layout.size, [], [("", _node(layout.content[: length * layout.size]))])
    if layout.is_list:
        whole = layout.to_ListOffsetArray64(True)
        name = f"list {SET}" if kind == "set" else "list"
        return (name, length, 0, [whole.offsets.data], [("", _node(whole.content[: whole.offsets[length]]))])
    if layout.is_union:
        # In Arrow types count from 1 here, and 0 is no value.
        tags = (np.asarray(layout.tags.data) + 1).astype(np.int8)
        places = np.asarray(layout.index.data)[:length].astype(np.int32)
        return ("union", length, 0, [tags, places], [(str(i), _node(part)) for i, part in enumerate(layout.contents)])
    if layout.is_numpy:
        if layout.data.ndim > 1:
            return _node(layout.to_RegularArray())
        return (layout.data.dtype.name, length, 0, [np.ascontiguousarray(layout.data)], [])
    raise ValueError(f"an array of {layout.form.type}; this type cannot be written")


def _record_node(layout: Any) -> Any:
    names, classname = layout.fields, layout.parameter("__record__") or ""
    if layout.parameter("__array__") == "sorted_map":
        names, classname = ["key", "value"], MAP_ITEM
    elif layout.is_tuple and names:
        names, classname = [f"_{place}" for place in range(len(names))], TUPLE
    parts = [(name, _node(layout[field])) for name, field in zip(names, layout.fields, strict=True)]
    return (f"record {lineage(classname)}".strip(), layout.length, 0, [], parts)


def without_missing_records(layout: Any) -> Any:
    """The layout with lists of one record or none for records that may be missing: a file has no type for these."""

    def listed(one: Any, **_: Any) -> Any:
        if not one.is_option or not one.content.is_record or one.content.is_tuple:
            return None
        ends = np.append(0, np.cumsum(~np.asarray(one.mask_as_bool(valid_when=False))))
        there = ak.to_packed(one.project(), highlevel=False)
        content = ak.transform(listed, there, highlevel=False)
        return ak.contents.ListOffsetArray(ak.index.Index64(ends.astype(np.int64)), content)

    return ak.transform(listed, layout, highlevel=False)


def table(arrays: Mapping[str, Any]) -> Any:
    """Arrays as one array of records."""
    length = min((len(array) for array in arrays.values()), default=0)
    return ak.Array(record([(name, array.layout) for name, array in arrays.items()], length))


def arrow(arrays: Mapping[str, Any]) -> Any:
    """Arrays as a pyarrow table."""
    import pyarrow as pa

    def named(layout: Any, **_: Any) -> Any:
        if layout.is_record and layout.parameter("__array__") == "sorted_map":
            parts = [ak.transform(named, part, highlevel=False) for part in layout.contents]
            return ak.contents.RecordArray(parts, ["key", "value"], length=layout.length)
        return None

    plain = {name: ak.transform(named, array) for name, array in arrays.items()}
    columns = {n: ak.to_arrow(a, list_to32=False, extensionarray=False) for n, a in plain.items()}
    return pa.table(columns)


def has_union(layout: Any) -> bool:
    """Whether there is a union in a layout."""
    below = getattr(layout, "contents", None) or [getattr(layout, "content", None)]
    return layout.is_union or any(one is not None and has_union(one) for one in below)


def offsets(layout: Any) -> Any:
    """Offsets of an array of lists; None for other arrays, strings, and lists of lists."""
    if not layout.is_list or layout.is_regular or layout.parameter("__array__") is not None or layout.content.is_list:
        return None
    return np.asarray(layout.to_ListOffsetArray64(True).offsets.data)
