"""Reads the columns of batches: what the cut and the key need first, and of the others what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reading import plan
from ..reading.computing import DENSE, Computation
from ..reading.request import Request
from .columns import column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from .. import _core
    from ..reading.plan import Plan
    from ..reading.table import Table
    from .columns import Column

    #: Whether entries are wanted, by a range and the columns of the key; None for all.
    Wanted = Callable[[int, int, Mapping[str, Column]], Any]

#: The name of the weights in a batch.
WEIGHTS = "weights"
#: The reading takes this share of the memory, beside the arrays.
READING_SHARE = 4
#: So many entries tell how large they are in memory.
SAMPLE = 1000


class Reader:
    """The columns of a table, of the entries that pass a cut."""

    def __init__(
        self,
        table: Table[Any],
        wanted: str | Iterable[str] | None,
        cut: str | None,
        keys: Sequence[str],
        weights: str | None,
        threads: int,
        memory: int,
    ) -> None:
        listed = [wanted] if isinstance(wanted, str) else None if wanted is None else list(wanted)
        self.table: _core.Table = table._table
        self.where = table._where
        self.memory = memory
        self.keys = list(keys)
        #: Whether entries are left out that only reading tells.
        self.selects = cut is not None
        #: What makes the same columns.
        self.described = (listed, cut, self.keys, weights)
        self._threads = threads
        self._cut = cut
        computed = None if cut is None else table._wanted([], cut, {})
        self._passes = computed if isinstance(computed, Computation) else None
        self._keyed = _Columns(table, self.keys) if self.keys else None
        self._columns = _Columns(table, listed)
        self._weights = None if weights is None else _Columns(table, [weights])
        #: The names in a batch.
        self.names = list(dict.fromkeys(self._columns.names))
        if weights is not None:
            if WEIGHTS in self.names:
                raise ValueError(f"a column is named {WEIGHTS!r}, as the weights are")
            self.names.append(WEIGHTS)
        if not self.names:
            raise ValueError("no columns are asked for")
        self._bytes: int | None = None

    def bytes_of_entry(self) -> int:
        """Bytes that an entry takes where it is read, about: by its columns in the file, and by the first entries."""
        if self._bytes is None:
            every = [one for one in (self._keyed, self._columns, self._weights) if one is not None]
            numbers = {number for one in every for number in one.numbers}
            stored = self.table.bytes(list(numbers.union([] if self._passes is None else self._passes.columns)))
            sample = self.sample()
            keys = {} if self._keyed is None else self._keyed.read(self.table, self._request(0, self._sampled()))
            arrays = sum(one.nbytes for one in (*keys.values(), *sample.values()))
            each = stored // max(1, self.table.entries), arrays // max(1, self._sampled()) + 1
            self._bytes = max(each)
        return self._bytes

    def sample(self) -> dict[str, Column]:
        """The columns of a batch of the first entries, whether they are wanted or not."""
        return self._batched(self._request(0, self._sampled()))

    def _sampled(self) -> int:
        return min(self.table.entries, SAMPLE)

    def read(self, start: int, stop: int, wanted: Wanted) -> dict[str, Column]:
        """The columns of the entries of a range that pass the cut and are wanted."""
        request = replace(self._request(start, stop), remembers=self.selects)
        if self._passes is not None and not self.keys and not self._passes.passable(request).count:
            return self._batched(self._request(start, stop, np.empty(0, np.int64)))
        kept = wanted(start, stop, {} if self._keyed is None else self._keyed.read(self.table, request))
        if self._passes is not None:
            passed = self._passes.passing(request)
            _check_truth(self._cut, passed, request.count)
            kept = passed if kept is None else kept & passed
        rows = None if kept is None else np.flatnonzero(kept)
        if rows is not None and len(rows) < DENSE * (stop - start):
            request, rows = self._request(start, stop, rows), None
        found = self._batched(request)
        return found if rows is None else {name: one.take(rows) for name, one in found.items()}

    def _batched(self, request: Request) -> dict[str, Column]:
        """The columns of a batch, of the entries of a request."""
        found = self._columns.read(self.table, request)
        if self._weights is not None:
            (found[WEIGHTS],) = self._weights.read(self.table, request).values()
        return found

    def _request(self, start: int, stop: int, rows: NDArray[np.int64] | None = None) -> Request:
        chosen = None if rows is None else rows.astype(np.uint64) + np.uint64(start)
        return Request(start, stop, chosen, self._threads, self.memory // READING_SHARE, "ak", dict)


class _Columns:
    """Columns of a table, or expressions over them."""

    def __init__(self, table: Table[Any], wanted: Sequence[str] | None) -> None:
        chosen: Plan | Computation = table._wanted(wanted, None, {})
        self._plan = chosen if isinstance(chosen, tuple) else None
        self._computed = None if isinstance(chosen, tuple) else chosen
        #: Numbers of the columns that it reads.
        self.numbers = plan.columns(chosen) if isinstance(chosen, tuple) else chosen.columns
        #: The names of what it makes.
        self.names = plan.names(chosen) if isinstance(chosen, tuple) else list(dict.fromkeys(wanted or ()))

    def read(self, table: _core.Table, request: Request) -> dict[str, Column]:
        """What it makes of the entries of a request."""
        if self._computed is None:
            read = table.read(request.reading(self.numbers))
            return {name: column(name, read.take(place)) for place, name in enumerate(self.names)}
        from .._libraries import awkward

        arrays = self._computed.arrays(request)
        made = {name: column(name, awkward.node(one.layout)) for name, one in arrays.items()}
        for name, one in made.items():
            if len(one) != request.count:
                raise ValueError(f"{name!r} has {len(one)} values for {request.count} entries: branches end early")
        return made


def _check_truth(cut: str | None, passed: Any, entries: int) -> None:
    """Refuses a cut that is not one truth value for each entry."""
    if not isinstance(passed, np.ndarray) or passed.ndim != 1:
        raise ValueError(f"the cut {cut!r} must have one value for each entry: use a count such as nJet, or any(...)")
    if len(passed) != entries:
        raise ValueError(f"{cut!r} has {len(passed)} values for {entries} entries: branches end early")
