"""The columns of a batch: numbers, and lists of them by their offsets. Rows are taken in any order and joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._libraries.numpy import data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .._core import Node

    Column: TypeAlias = "Flat | Lists"

#: What has no place in a batch, by its kind.
REFUSED = {
    "record": "has records: name their members",
    "optional": "has missing values",
    "union": "has variants",
    "text": "has texts",
    "bytes": "has bytes",
}


class Jagged(NamedTuple):
    """Lists of a batch: list `i` is `values[offsets[i]:offsets[i + 1]]`. Values are an array, or lists again."""

    values: Any
    offsets: Any


@dataclass(frozen=True)
class Flat:
    """One value, or an array of fixed shape, for each row."""

    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self.values.nbytes

    def take(self, rows: NDArray[np.int64]) -> Flat:
        """These rows, copied."""
        # Several times as fast as an index.
        return Flat(self.values.take(rows, axis=0))

    def part(self, start: int, stop: int) -> Flat:
        """Consecutive rows, not copied."""
        return Flat(self.values[start:stop])

    def given(self) -> Any:
        """The array."""
        return self.values


@dataclass(frozen=True)
class Lists:
    """A list for each row; the first offset is 0."""

    offsets: NDArray[np.int64]
    values: Column

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of offsets and values."""
        return self.offsets.nbytes + self.values.nbytes

    def take(self, rows: NDArray[np.int64]) -> Lists:
        """These rows, copied."""
        starts = self.offsets.take(rows)
        ends = np.concatenate([[0], np.cumsum(self.offsets.take(rows + 1) - starts)])
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], np.diff(ends))
        return Lists(ends, self.values.take(places))

    def part(self, start: int, stop: int) -> Lists:
        """Consecutive rows, not copied but for their offsets."""
        offsets = self.offsets[start : stop + 1]
        first = int(offsets[0])
        return Lists(offsets - first, self.values.part(first, int(offsets[-1])))

    def given(self) -> Jagged:
        """Values and offsets."""
        return Jagged(self.values.given(), self.offsets)

    def padded(self, width: int, fill: float) -> Flat:
        """The first `width` items of each list, and `fill` where one has fewer."""
        values: Any = self.values.given()
        starts, items = self.offsets[:-1, None], np.arange(width)
        lacking = items >= self.offsets[1:, None] - starts
        if not len(values):
            return Flat(np.full((len(self), width, *values.shape[1:]), fill, values.dtype))
        # What lies behind the end of a list is taken, and replaced.
        made = values.take(np.minimum(starts + items, len(values) - 1), axis=0)
        made[lacking] = fill
        return Flat(made)


def column(name: str, node: Node) -> Column:
    """The column of a tree of buffers. What is neither numbers nor lists of them is a `ValueError`."""
    kind, length, size, buffers, parts = node
    kind = kind.partition(" ")[0]
    if kind in REFUSED:
        raise ValueError(f"column {name!r} {REFUSED[kind]}, which a batch has no place for")
    if kind == "list":
        offsets, values = data(buffers[0], np.int64), column(name, parts[0][1])
        first, last = int(offsets[0]), int(offsets[-1])
        if first or last != len(values):
            values = values.take(np.arange(first, last))
        return Lists(offsets - first if first else offsets, values)
    if kind == "fixed":
        inner = column(name, parts[0][1])
        if isinstance(inner, Lists):
            raise ValueError(f"column {name!r} has arrays of lists, which a batch has no place for")
        return Flat(inner.values.reshape(length, size, *inner.values.shape[1:]))
    return Flat(data(buffers[0], np.dtype(kind)))


def joined(columns: Sequence[Column]) -> Column:
    """The rows of all, in order."""
    if len(columns) == 1:
        return columns[0]
    flat = [one.values for one in columns if isinstance(one, Flat)]
    if len(flat) == len(columns):
        return Flat(np.concatenate(flat))
    lists = [one for one in columns if isinstance(one, Lists)]
    counts = np.concatenate([np.diff(one.offsets) for one in lists])
    return Lists(np.concatenate([[0], np.cumsum(counts)]), joined([one.values for one in lists]))
