"""Converts trees of buffers to numpy: numbers and fixed arrays of them without a copy, everything else as objects."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import Map, Nested, Pair, Set, Tuple, record_type, single, structure
from .lineages import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import DTypeLike, NDArray

    from .._core import Buffer, Node

    #: For a class and those that it derives from, the function that makes an element of its members; None for dicts.
    Maker = Callable[[str], Callable[[dict[str, Any]], Any] | None]

#: Names that the compiled half gives to items of maps, and to lists that are sets.
MAP_ITEM, SET = "std::map", "std::set"
#: The tuples of records, by the names that the compiled half gives them.
TUPLES: dict[str, Any] = {"std::pair": Pair, "std::tuple": Tuple}


def data(buffer: Buffer, dtype: DTypeLike) -> NDArray[Any]:
    """The numbers in a buffer."""
    # numpy cannot make a view of an empty buffer.
    return np.frombuffer(memoryview(buffer), dtype) if len(buffer) else np.empty(0, dtype)


def no_family(_: str) -> None:
    """Makes nothing of any class: its records are dicts."""


def array(node: Node, maker: Maker = no_family) -> NDArray[Any]:
    """The entries of a column: a plain array for entries of one shape, a structured array for records of these, else
    an array of objects: an array for a list, a `str`, `bytes`, a dict for a record, None for a missing value; a set, a
    dict or a tuple where the C++ type is a set, a map, a pair or a tuple; what `maker` makes of records of a class."""
    made = _array(node, maker)
    return made.view(np.ndarray) if made.dtype == object else made


def _array(node: Node, maker: Maker) -> NDArray[Any]:
    kind, length, size, buffers, parts = node
    kind, _, classname = kind.partition(" ")
    if kind == "fixed":
        items = _array(parts[0][1], maker)
        return items.reshape(length, size, *items.shape[1:])
    if kind == "record":
        return _record(classname, length, [(name, _array(part, maker)) for name, part in parts], maker)
    if kind == "list":
        return _list(classname, length, data(buffers[0], np.int64), parts[0][1], maker)
    if kind == "optional":
        bits = np.unpackbits(data(buffers[0], np.uint8), count=length, bitorder="little")
        return _objects(one if there else None for one, there in zip(_array(parts[0][1], maker), bits, strict=True))
    if kind == "union":
        alternatives = [_array(part, maker) for _, part in parts]
        places = zip(data(buffers[0], np.int8).tolist(), data(buffers[1], np.int32).tolist(), strict=True)
        return _objects((alternatives[tag - 1][place] if tag else None for tag, place in places), length)
    if kind in ("text", "bytes"):
        letters = bytes(data(buffers[1], np.uint8))
        ends = data(buffers[0], np.int64).tolist()
        found = (letters[a:b] for a, b in itertools.pairwise(ends))
        return _objects((one.decode() for one in found) if kind == "text" else found, length)
    return data(buffers[0], np.dtype(kind))


def _list(classname: str, length: int, offsets: NDArray[Any], item: Node, maker: Maker) -> NDArray[Any]:
    """Slices of the items; maps and sets, if the class says so."""
    ends = list(itertools.pairwise(offsets.tolist()))
    if item[0] == f"record {MAP_ITEM}":
        keys, values = ([single(one) for one in _array(part, maker)] for _, part in item[4])
        return _objects((Map(zip(keys[a:b], values[a:b], strict=True)) for a, b in ends), length)
    items = _array(item, maker)
    if classname == SET:
        listed = [single(one) for one in items]
        return _objects((Set(listed[a:b]) for a, b in ends), length)
    return _objects((items[a:b] for a, b in ends), length)


def _objects(values: Any, length: int | None = None) -> NDArray[Any]:
    listed = list(values)
    made = np.empty(len(listed) if length is None else length, object)
    # One by one: numpy would make dimensions of arrays that happen to have equal lengths.
    for i, value in enumerate(listed):
        made[i] = value
    return made.view(Nested)


def unique(names: Iterable[str]) -> list[str]:
    """Names of a record's parts. If a class and one of its bases have a member of the same name, the later one is
    `name_1`."""
    made: dict[str, None] = {}
    for name in names:
        made[next(one for n in itertools.count() if (one := f"{name}_{n}" if n else name) not in made)] = None
    return list(made)


def _record(lineage: str, length: int, parts: list[tuple[str, NDArray[Any]]], maker: Maker) -> NDArray[Any]:
    classname = named(lineage)
    if classname in TUPLES:
        kind = TUPLES[classname]
        rows = zip(*(map(single, part) for _, part in parts), strict=True)
        return _objects((kind(row) for row in rows), length)
    parts = list(zip(unique(name for name, _ in parts), (part for _, part in parts), strict=True))
    if any(part.dtype == object for _, part in parts):
        names, kind = [name for name, _ in parts], record_type(classname)
        rows = zip(*(part for _, part in parts), strict=True)
        made_of = maker(lineage) or kind
        return _objects((made_of(dict(zip(names, row, strict=True))) for row in rows), length)
    made = np.empty(length, structure([(name, part.dtype, part.shape[1:]) for name, part in parts], classname))
    for name, part in parts:
        made[name] = part
    return made
