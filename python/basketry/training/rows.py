"""Rows of a window, and the form of the batches that are made of them. What has one shape for each row (numbers,
arrays, padded lists) lies row by row in a table, so that to take a row is one access to memory, whatever the number of
columns. Which rows a batch has is the loader's matter."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Flat, Jagged, Lists, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .columns import Column

#: Rows of so many bytes are put into a table at a time: they stay in the processor's cache, and what padding needs
#: besides is small.
AT_A_TIME = 500_000


class Rows:
    """Rows of columns."""

    def __init__(self, table: NDArray[Any], lists: Mapping[str, Column]) -> None:
        #: The columns that have one shape for each row: a structured array, or a matrix.
        self.table = table
        #: The others.
        self.lists = lists

    def __len__(self) -> int:
        return len(self.table)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return self.table.nbytes + sum(one.nbytes for one in self.lists.values())

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """These rows, copied."""
        return Rows(self.table.take(rows, axis=0), {name: one.take(rows) for name, one in self.lists.items()})

    def part(self, start: int, stop: int) -> Rows:
        """Consecutive rows, not copied but for offsets of lists."""
        return Rows(self.table[start:stop], {name: one.part(start, stop) for name, one in self.lists.items()})

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """The rows of all, in order."""
        if len(parts) == 1:
            return parts[0]
        lists = {name: joined([one.lists[name] for one in parts]) for name in parts[0].lists}
        return Rows(np.concatenate([one.table for one in parts]), lists)


class Form:
    """The form of a batch."""

    def __init__(self, pad: int | Mapping[str, int] | None, fill: float, tensors: str, names: Sequence[str]) -> None:
        self._names = names
        self._widths = dict(pad) if isinstance(pad, Mapping) else dict.fromkeys(names, pad) if pad is not None else {}
        self._must_pad = isinstance(pad, Mapping)
        self._fill = fill
        self._tensors = tensors
        self._matrix = False
        for name, width in self._widths.items():
            if name not in names:
                raise ValueError(f"pad names {name!r}, which is no column of the batches")
            if width is None or width < 1:
                raise ValueError(f"lists of {name!r} cannot be padded to {width} items")

    def as_matrix(self) -> Form:
        """This form, as a matrix."""
        made = copy(self)
        made._matrix = True
        return made

    def rows(self, found: Sequence[Mapping[str, Column]]) -> Rows:
        """The rows of several readings, in order, with their lists padded."""
        none = {name: self._padded(name, found[0][name].part(0, 0)) for name in self._names}
        shaped = {name: one.values for name, one in none.items() if isinstance(one, Flat)}
        ragged = [name for name in none if name not in shaped]
        counts = [len(one[self._names[0]]) for one in found]
        table = np.empty(sum(counts), self._fields(shaped, ragged))
        at, step = 0, max(1, AT_A_TIME // max(1, table.itemsize))
        for one, count in zip(found, counts, strict=True):
            for start in range(0, count, step):
                some = min(step, count - start)
                for name in shaped:
                    table[name][at : at + some] = self._padded(name, one[name].part(start, start + some)).given()
                at += some
        if self._matrix:
            kind = table.dtype[0].base
            table = table.view(kind).reshape(len(table), table.itemsize // kind.itemsize)
        return Rows(table, {name: joined([one[name] for one in found]) for name in ragged})

    def batch(self, rows: Rows) -> Any:
        """The batch of these rows."""
        table, lists = rows.table, rows.lists
        if self._matrix:
            return self._tensor(table)
        return {name: self._tensor(lists[name].given() if name in lists else table[name]) for name in self._names}

    def _fields(self, shaped: Mapping[str, NDArray[Any]], ragged: Sequence[str]) -> np.dtype[Any]:
        """The type of a table of columns that have this type and shape."""
        if self._matrix:
            if ragged:
                raise ValueError(f"column {ragged[0]!r} has lists, which a matrix has no place for: pad them")
            kind = np.result_type(*shaped.values())
            return np.dtype([(name, kind, one.shape[1:]) for name, one in shaped.items()])
        # In this order all are aligned, and none needs room before it.
        fields = [(name, one.dtype, one.shape[1:]) for name, one in shaped.items()]
        return np.dtype(sorted(fields, key=lambda field: -field[1].alignment), align=True)

    def _padded(self, name: str, one: Column) -> Column:
        width = self._widths.get(name)
        if not isinstance(one, Lists):
            if self._must_pad and width is not None:
                raise ValueError(f"column {name!r} has no lists to pad")
            return one
        if width is None:
            return one
        if isinstance(one.values, Lists):
            raise ValueError(f"column {name!r} has lists of lists, which are not padded: leave it out of pad")
        return one.padded(width, self._fill)

    def _tensor(self, array: Any) -> Any:
        if self._tensors == "np":
            return array
        if isinstance(array, Jagged):
            return Jagged(self._tensor(array.values), self._tensor(array.offsets))
        import torch

        return torch.from_numpy(np.ascontiguousarray(array))
