"""What engines read: the named columns of a table, in steps within a budget. Where an engine has a condition, its
columns are read first, and of the others only what the condition keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .. import _core
from ..reading.bounds import flat
from ..reading.computing import DENSE
from ..reading.dataset import table_at
from ..reading.plan import columns, names
from ..reading.request import Request, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..reading.core_request import Reading
    from ..reading.forms import Join, Places
    from ..reading.table import Table

#: Bytes of one step before compression, at most.
STEP = 64_000_000
#: A step takes at most this share of the memory: one is in use, one is being read, one is filtered.
SHARE = 8

F = TypeVar("F")


class Frames(Protocol[F]):
    """What an engine does with batches of columns."""

    def made(self, batch: _core.Batch) -> F:
        """The engine's own form of a batch."""

    def counted(self, rows: int) -> F:
        """So many rows without a column."""

    def kept(self, frame: F) -> Any:
        """The truth of the condition for each row, as NumPy's array."""

    def implied(self, column: Callable[[str], int | None]) -> str:
        """What is true of columns of numbers wherever the condition is, as `Expression.implied`."""

    def filtered(self, frame: F, kept: Any) -> F:
        """The rows that are kept."""

    def joined(self, frames: Sequence[F], wanted: Sequence[str]) -> F:
        """The wanted columns of frames with the same rows."""


class Source:
    """The columns of a table under the names that engines know, within limits."""

    def __init__(self, table: Table[Any], threads: int, memory: int | str) -> None:
        plan = table._filtered()
        self._table = table._table
        self._limits = Request(0, table.num_entries, threads=threads, memory=bytes_of(memory))
        self._columns = dict(zip(names(plan), columns(plan), strict=True))
        self._variants: set[str] | None = None

    @classmethod
    def of(
        cls,
        places: Places | Table[Any],
        tree: str | None,
        *,
        joining: tuple[Join, bool],
        limits: tuple[int, int | str],
    ) -> Source:
        """The source of files, or of a table that is open."""
        return cls(table_at(places, tree, joining), *limits)

    @property
    def entries(self) -> int:
        """Number of entries."""
        return self._limits.stop

    @property
    def names(self) -> list[str]:
        """The columns, but for those that have variants: most engines have no type for these."""
        lacking = self._with_variants()
        return [name for name in self._columns if name not in lacking]

    def empty(self, wanted: Sequence[str]) -> _core.Batch:
        """These columns without entries."""
        return self._batch(self._read(wanted, 0, 0), wanted)

    def frames(
        self,
        engine: Frames[F],
        wanted: Sequence[str],
        *,
        needs: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Iterator[F]:
        """Frames of the wanted columns of the first `limit` entries. With `needs`, those columns are the condition's,
        and frames have the rows that it keeps."""
        stop = self.entries if limit is None else min(self.entries, limit)
        return self._plain(engine, wanted, stop) if needs is None else self._kept(engine, wanted, needs, stop)

    def _plain(self, engine: Frames[F], wanted: Sequence[str], stop: int) -> Iterator[F]:
        if not wanted:
            yield engine.counted(stop)
            return
        for _, read in self._steps(wanted, wanted, 0, stop):
            yield engine.made(self._batch(read, wanted))

    def _kept(self, engine: Frames[F], wanted: Sequence[str], needs: Sequence[str], stop: int) -> Iterator[F]:
        import numpy as np

        others = [name for name in wanted if name not in needs]
        for start, read in self._tested(engine, needs, [*needs, *others], stop):
            frame = engine.made(self._batch(read, needs))
            kept = engine.kept(frame)
            count = int(np.count_nonzero(kept))
            if not count:
                continue
            frame = engine.filtered(frame, kept)
            if others:
                end, chosen = start + len(read), None
                if count < DENSE * len(read):
                    chosen = np.flatnonzero(kept).astype(np.uint64) + np.uint64(start)
                more = engine.made(self._batch(self._read(others, start, end, chosen), others))
                more = more if chosen is not None else engine.filtered(more, kept)
                yield engine.joined([frame, more], wanted)
            elif wanted:
                yield engine.joined([frame], wanted)
            else:
                yield engine.counted(count)

    def _tested(
        self, engine: Frames[F], needs: Sequence[str], beside: Sequence[str], stop: int
    ) -> Iterator[tuple[int, _core.ReadBatch]]:
        """Steps of the columns of a condition, without clusters of which is known that they do not pass."""
        import numpy as np

        from .._libraries.numpy import data

        numbers = {name: self._columns[name] for name in needs}
        condition = engine.implied(numbers.get) if flat(self._table, numbers) else ""
        found = self._table.passable(self._reading([], 0, stop), condition) if condition else None
        if found is None:
            yield from self._steps(needs, beside, 0, stop, remembers=True)
            return
        entries = data(found, np.uint64)
        for run in np.split(entries, np.flatnonzero(np.diff(entries) != 1) + 1):
            if len(run):
                yield from self._steps(needs, beside, int(run[0]), int(run[-1]) + 1, remembers=True)

    def _steps(
        self, wanted: Sequence[str], beside: Sequence[str], start: int, stop: int, *, remembers: bool = False
    ) -> Iterator[tuple[int, _core.ReadBatch]]:
        """Steps of these columns with their first entries, so long that with those beside them they fit the budget."""
        own, all_bytes = self._bytes(wanted), max(1, self._bytes(beside))
        most = min(STEP, self._limits.memory // SHARE)
        size = max(1, most * own // all_bytes)
        reading = replace(self._reading(wanted, start, stop), remembers=remembers)
        steps = self._table.steps(reading, None, size)
        done = start
        try:
            for read in steps:
                yield done, read
                done += len(read)
        finally:
            steps.close()

    def _read(self, wanted: Sequence[str], start: int, stop: int, chosen: Any = None) -> _core.ReadBatch:
        return self._table.read(self._reading(wanted, start, stop, chosen))

    def _reading(self, wanted: Sequence[str], start: int, stop: int, chosen: Any = None) -> Reading:
        limits = self._limits
        request = Request(start, stop, chosen, limits.threads, limits.memory)
        return request.reading([self._columns[name] for name in wanted])

    def _bytes(self, wanted: Sequence[str]) -> int:
        return self._table.bytes([self._columns[name] for name in wanted])

    def _batch(self, read: _core.ReadBatch, wanted: Sequence[str]) -> _core.Batch:
        return read.shared().renamed(wanted)

    def _with_variants(self) -> set[str]:
        """The names of columns that have variants at any depth."""
        if self._variants is None:
            every = list(self._columns)
            variants = self._read(every, 0, 0).variants() if every else []
            self._variants = {name for name, has in zip(every, variants, strict=True) if has}
        return self._variants
