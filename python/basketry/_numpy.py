"""Converts trees of buffers to numpy: numbers and fixed arrays of them without a copy, everything else as objects."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import has_own, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike, NDArray

    from ._core import Buffer, Node


def data(buffer: Buffer, dtype: DTypeLike) -> NDArray[Any]:
    """The numbers in a buffer."""
    # numpy cannot make a view of an empty buffer.
    return np.frombuffer(memoryview(buffer), dtype) if len(buffer) else np.empty(0, dtype)


def array(node: Node, typename: str | None = None) -> NDArray[Any]:
    """The entries of a column. Sets, maps and pairs, which the C++ type tells, are Python's own."""
    made = _array(node)
    if typename is None or not has_own(typename):
        return made
    return _objects(shown(one, typename) for one in made)


def _array(node: Node) -> NDArray[Any]:
    """A plain array for entries of one shape, a structured array for records of these, else an array of objects: an
    array for a list, a `str`, `bytes`, a dict for a record, None for a missing value."""
    kind, length, size, buffers, parts = node
    if kind == "fixed":
        items = _array(parts[0][1])
        return items.reshape(length, size, *items.shape[1:])
    if kind == "record":
        return _record(length, [(name, _array(part)) for name, part in parts])
    if kind == "list":
        return _sliced(length, data(buffers[0], np.int64), _array(parts[0][1]))
    if kind == "optional":
        bits = np.unpackbits(data(buffers[0], np.uint8), count=length, bitorder="little")
        return _objects(one if there else None for one, there in zip(_array(parts[0][1]), bits, strict=True))
    if kind == "union":
        alternatives = [_array(part) for _, part in parts]
        places = zip(data(buffers[0], np.int8).tolist(), data(buffers[1], np.int32).tolist(), strict=True)
        return _objects((alternatives[tag - 1][place] if tag else None for tag, place in places), length)
    if kind in ("text", "bytes"):
        letters = bytes(data(buffers[1], np.uint8))
        ends = data(buffers[0], np.int64).tolist()
        found = (letters[a:b] for a, b in itertools.pairwise(ends))
        return _objects((one.decode() for one in found) if kind == "text" else found, length)
    return data(buffers[0], np.dtype(kind))


def _objects(values: Any, length: int | None = None) -> NDArray[Any]:
    listed = list(values)
    made = np.empty(len(listed) if length is None else length, object)
    # One by one: numpy would make dimensions of arrays that happen to have equal lengths.
    for i, value in enumerate(listed):
        made[i] = value
    return made


def _sliced(length: int, offsets: NDArray[Any], items: NDArray[Any]) -> NDArray[Any]:
    ends = offsets.tolist()
    return _objects((items[a:b] for a, b in itertools.pairwise(ends)), length)


def unique(names: Iterable[str]) -> list[str]:
    """Names of a record's parts. If a class and one of its bases have a member of the same name, the later one is
    `name_1`."""
    made: dict[str, None] = {}
    for name in names:
        made[next(one for n in itertools.count() if (one := f"{name}_{n}" if n else name) not in made)] = None
    return list(made)


def _record(length: int, parts: list[tuple[str, NDArray[Any]]]) -> NDArray[Any]:
    parts = list(zip(unique(name for name, _ in parts), (part for _, part in parts), strict=True))
    if any(part.dtype == object for _, part in parts):
        names = [name for name, _ in parts]
        rows = zip(*(part for _, part in parts), strict=True)
        return _objects((dict(zip(names, row, strict=True)) for row in rows), length)
    made = np.empty(length, [(name, part.dtype, part.shape[1:]) for name, part in parts])
    for name, part in parts:
        made[name] = part
    return made
