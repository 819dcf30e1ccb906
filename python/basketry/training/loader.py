"""Batches of entries for training: which entries, in which order, in what form; `reading` has their columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from .._shared.names import plain
from .._shared.packages import needed
from ..reading.dataset import table_at
from ..reading.request import MEMORY, bytes_of
from . import order
from .parts import FileEntries, Parts, hashes_of, number_of_wanted
from .reading import Reader
from .rows import Form, Rows

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..reading.forms import Join, Places
    from ..reading.table import Table
    from .columns import Column
    from .order import Chunk

#: What a batch is.
Batch = TypeVar("Batch")

#: A window of shuffled entries takes this share of the memory: one is in use, one is read and put together.
WINDOW_SHARE = 5
#: A window has at least this many chunks, where clusters are so large that they are read in parts.
CHUNKS_OF_WINDOW = 16
#: Small clusters are read together, up to this many bytes, but no more than this part of a window.
LEAST_CHUNK, LEAST_SHARE = 4_000_000, 64
#: Rows are taken from a window in blocks of so many, but no more than this part of it, and at least a batch.
BLOCK, BLOCKS_OF_WINDOW = 16_384, 32
#: Chunks for each rank, where there are several, so that they get about the same number of entries.
CHUNKS_OF_RANK = 16


def loader(
    files: Places | Table[Any],
    columns: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    tree: str | None = None,
    batch_size: int = 1024,
    shuffle: bool = False,
    seed: int = 0,
    split: float | Mapping[str, float] | None = None,
    part: str | None = None,
    key: str | Iterable[str] | None = None,
    weights: str | None = None,
    pad: int | Mapping[str, int] | None = None,
    fill: float = 0,
    tensors: Literal["np", "torch"] = "np",
    drop_last: bool = False,
    rank: int = 0,
    world: int = 1,
    workers: int = 0,
    memory: int | str = MEMORY,
    join: Join = "common",
    widen: bool = False,
) -> Loader[dict[str, Any]]:
    """Batches of entries for training, each a dict of NumPy's arrays by the names of the columns.

        train = basketry.loader("run*.root:Events", ["MET_pt", "Jet_pt"], "nJet > 1", shuffle=True, split=0.2, pad=4)
        for epoch in range(10):
            for batch in train:
                ...  # batch["MET_pt"] is of shape (1024,), batch["Jet_pt"] of shape (1024, 4)
        valid = train.of("validation")

    files: a path or URL, a pattern, FILE:TREE, a list of these, a dict of files and their trees, or an open table.
    columns: names of branches or fields, or expressions, as those of `arrays`; all by default.
    cut: an expression, as those of `arrays`, that is true for the entries to take; it needs one value for each entry.
    tree: the tree or RNTuple, where `files` names none and a file has several.
    batch_size: entries of a batch. The last one has fewer; with `drop_last` it is left out.
    shuffle: whether the order of entries is random, see below. seed: a number that the order follows from.
    split: the share of the validation, or shares by the names of parts (`{"train": 0.7, "validation": 0.2, "test":
    0.1}`). part: the part to take, by default the first, which is "train". A hash of the entry's key decides, so that
    an entry stays in its part when files are added, whatever the seed. key: columns of numbers that name an entry
    (`["run", "event"]`); by default the UUID of its file and its number there, which a rewrite of the file changes.
    weights: a column or expression, in batches as "weights".
    pad: how many items of a list to take: lists become arrays of that width, with `fill` where they have fewer; or
    widths by the names of columns. Other lists are a `Jagged` of values and offsets.
    tensors: "torch" for tensors of torch, which is imported then only.
    rank, world: this process, and the number of processes: each takes other clusters. Where the number of entries is
    known before the reading (no `cut`, no `key`), all ranks have the same number of batches, and what one has more of
    is left out.
    workers: threads that decode, 0 for all cores. memory: the limit of buffers, and a quarter of it for the reading, in
    bytes or as "2GB".
    join, widen: how files are joined whose columns differ, as in `basketry.open`.

    Each `for` is an epoch. The entries of several clusters are read ahead in one thread while batches are taken.
    To shuffle, clusters are put in a random order; as many as fit a fifth of `memory` are a window, in which entries
    are put in a random order. So a batch has entries of any cluster of its window: if all of the data fits, the order
    is as random as that of a list in memory, and later epochs read nothing. `Loader.clusters_mixed` tells how many
    ranges of clusters are mixed.
    `Loader.matrices` gives batches as matrices, as networks take them.
    The same files, options and epoch give the same batches on any machine and any number of workers.
    `Loader.state_dict` and `Loader.load_state_dict` go on where an earlier process stopped, in the middle of an epoch.
    """
    if tensors not in ("np", "torch"):
        raise ValueError(f"unknown tensors {tensors!r}: choose 'np' or 'torch'")
    if batch_size < 1:
        raise ValueError("a batch needs at least one entry")
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} is not one of {world}: ranks count from 0")
    if tensors == "torch":
        needed("torch", "basketry.loader")
    table = table_at(files, tree, (join, widen))
    keys = [] if split is None else [key] if isinstance(key, str) else list(key or ())
    reader = Reader(table, columns, cut, keys, weights, workers, bytes_of(memory))
    form = Form(pad, fill, tensors, reader.names)
    return Loader(reader, form, Parts(split, part), Order(batch_size, shuffle, seed, drop_last, rank, world))


@dataclass(frozen=True)
class Order:
    """Which entries come when."""

    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    rank: int
    world: int


@dataclass
class Place:
    """Where an epoch stands: how many of its entries were given out, and how many each window has that was read."""

    epoch: int
    given: int
    windows: list[int]


class Loader(Generic[Batch]):
    """Batches of entries for training; `basketry.loader` makes it."""

    def __init__(self, reader: Reader, form: Form, parts: Parts, how: Order) -> None:
        self._reader = reader
        self._form = form
        self._parts = parts
        self._how = how
        self._files = FileEntries(reader.table)
        self._bytes: int | None = None
        self._window: int | None = None
        self._chunks: list[list[Chunk]] | None = None
        #: Entries of an epoch; None until they are known.
        self._count: int | None = None
        #: The only window, where all of the data fits one: later epochs do not read it again.
        self._kept: Rows | None = None
        #: Where the next epoch begins, or the current one stands.
        self._place = Place(0, 0, [])
        self._is_resumed = False

    def __repr__(self) -> str:
        part = f", part {self._parts.part!r}" if self._parts.part else ""
        rank = f", rank {self._how.rank} of {self._how.world}" if self._how.world > 1 else ""
        columns = len(self._reader.names)
        return (
            f"<Loader of {plain(self._reader.where)} ({columns} columns, {self._how.batch_size} a batch{part}{rank})>"
        )

    @property
    def columns(self) -> list[str]:
        """The names in a batch."""
        return list(self._reader.names)

    @property
    def clusters_mixed(self) -> int:
        """The ranges of clusters whose entries are shuffled together; all of them, if the data fits a window."""
        chunks = self._of_ranks()[self._how.rank]
        return max(map(len, order.windows(chunks, self._window_entries())), default=0) if self._how.shuffle else 1

    def of(self, part: str, *, shuffle: bool = False) -> Loader[Batch]:
        """The batches of another part of the split: in the order of the files, unless `shuffle` says otherwise."""
        shares = self._parts.of(part)
        return Loader(self._reader, self._form, shares, replace(self._how, shuffle=shuffle))

    def matrices(self) -> Loader[Any]:
        """The same batches, each as one matrix: a row for each entry, with the columns, padded lists and weights side
        by side in the order of `columns`, all as the type that has room for each of them."""
        return Loader(self._reader, self._form.as_matrix(), self._parts, self._how)

    def set_epoch(self, epoch: int) -> None:
        """The number of the next epoch, which its order follows from."""
        self._place, self._is_resumed = Place(epoch, 0, []), False

    def state_dict(self) -> dict[str, Any]:
        """Where this loader stands, as numbers and texts: for `load_state_dict` of one with the same files and
        options."""
        place = self._place
        return {
            "epoch": place.epoch,
            "given": place.given,
            "windows": list(place.windows),
            "order": self._fingerprint(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on behind the last batch that was taken when `state_dict` was called. A state of other files or options
        is a `ValueError`."""
        if state["order"] != self._fingerprint():
            raise ValueError("the state is that of a loader with other files or options")
        self._place = Place(int(state["epoch"]), int(state["given"]), [int(count) for count in state["windows"]])
        self._is_resumed = True

    def __len__(self) -> int:
        """The number of batches in an epoch. With a cut or a key it is known after the first epoch, and before that a
        `TypeError`."""
        count = self._known()
        if count is None:
            raise TypeError("with a cut or a key the number of batches is known after the first epoch")
        size = self._how.batch_size
        return count // size if self._how.drop_last else -(-count // size)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Batch]:
        """The batches of the next epoch, or the rest of one whose state was loaded."""
        if not self._is_resumed and self._place.given:
            # The epoch before was left in the middle.
            self._place = Place(self._place.epoch + 1, 0, [])
        self._is_resumed = False
        place, size, known = self._place, self._how.batch_size, self._known()
        end = sys.maxsize if known is None else known
        some: list[Rows] = []
        held = 0
        with closing(self._windows(place)) as windows:
            for block in self._blocks(windows):
                count, at = len(block), 0
                while at < count and place.given + held < end:
                    if place is not self._place:
                        raise RuntimeError("this epoch ended: another one began, or a state was loaded")
                    stop = min(count, at + size - held, at + end - place.given - held)
                    some.append(block.part(at, stop))
                    at, held = stop, held + stop - at
                    if held == size:
                        place.given += size
                        yield self._form.batch(Rows.joined(some))
                        some, held = [], 0
                if place.given + held >= end:
                    break
        self._count = sum(place.windows) if known is None else known
        if held and not self._how.drop_last:
            place.given += held
            yield self._form.batch(Rows.joined(some))
        if place is self._place:
            self._place = Place(place.epoch + 1, 0, [])

    def _blocks(self, windows: Iterable[tuple[Rows, NDArray[np.int64]]]) -> Iterator[Rows]:
        """The rows of windows in the order of the epoch, some batches at a time: to take them one by one costs more."""
        size = self._how.batch_size
        count = max(1, min(BLOCK, self._window_entries() // BLOCKS_OF_WINDOW) // size) * size
        for window, rows in windows:
            for at in range(0, len(rows), count):
                yield window.take(rows[at : at + count])

    def _windows(self, place: Place) -> Generator[tuple[Rows, NDArray[np.int64]]]:
        """Each window, and its rows in the order of the epoch, without what was given out before."""
        windows = self._in_order(place.epoch)
        known = list(place.windows)
        skipped, first = 0, 0
        while first < len(known) and skipped + known[first] <= place.given:
            skipped += known[first]
            first += 1
        place.windows[first:] = []
        skip = place.given - skipped
        stopped = Event()
        with ThreadPoolExecutor(1, "basketry-loader") as ahead:
            try:
                coming = ahead.submit(self._read, windows[first], stopped) if first < len(windows) else None
                for number in range(first, len(windows)):
                    assert coming is not None
                    window = coming.result()
                    if len(windows) == 1:
                        self._kept = window
                    more = number + 1 < len(windows)
                    coming = ahead.submit(self._read, windows[number + 1], stopped) if more else None
                    count = len(window)
                    place.windows.append(count)
                    how = self._how
                    rows = order.shuffled(count, how.seed, place.epoch, number, 1) if how.shuffle else np.arange(count)
                    yield window, rows[skip:]
                    skip = 0
            finally:
                stopped.set()

    def _read(self, chunks: Sequence[Chunk], stopped: Event) -> Rows:
        if self._kept is not None:
            return self._kept
        found: list[dict[str, Column]] = []
        for start, stop in order.runs(chunks):
            # Nobody waits for a window that has only some.
            if stopped.is_set() and found:
                break
            read = self._reader.read(start, stop, self._wanted)
            found.append({name: read[name] for name in self._reader.names})
        return self._form.rows(found)

    def _wanted(self, start: int, stop: int, keys: Mapping[str, Column]) -> Any:
        """Whether entries are in the part."""
        if self._parts.is_all:
            return None
        return self._parts.has(hashes_of(keys) if keys else self._files.hashes(start, stop))

    def _in_order(self, epoch: int) -> list[list[Chunk]]:
        chunks = self._of_ranks()[self._how.rank]
        if self._how.shuffle:
            chunks = [chunks[place] for place in order.shuffled(len(chunks), self._how.seed, epoch)]
        return order.windows(chunks, self._window_entries())

    def _window_entries(self) -> int:
        if self._window is None:
            self._window = max(1, self._reader.memory // WINDOW_SHARE // self._bytes_of_entry())
        return self._window

    def _bytes_of_entry(self) -> int:
        """Bytes that an entry takes, about: as it is read, and as it lies in a window."""
        if self._bytes is None:
            rows = self._form.rows([self._reader.sample()])
            self._bytes = max(self._reader.bytes_of_entry(), rows.nbytes // max(1, len(rows)))
        return self._bytes

    def _of_ranks(self) -> list[list[Chunk]]:
        """The chunks of each rank."""
        if self._chunks is None:
            table, world = self._reader.table, self._how.world
            window, each = self._window_entries(), self._bytes_of_entry()
            least = max(1, min(LEAST_CHUNK // each, window // LEAST_SHARE))
            most = max(1, window // CHUNKS_OF_WINDOW)
            if world > 1:
                most = max(1, min(most, table.entries // (world * CHUNKS_OF_RANK)))
            chunks = order.chunks(table.clusters, min(least, most), most)
            self._chunks = [order.of_rank(chunks, rank, world) for rank in range(world)]
        return self._chunks

    def _known(self) -> int | None:
        """Entries of an epoch, if they are known without reading, or by an epoch before."""
        if self._count is None and not self._reader.selects and not self._reader.keys:
            # Ranks that had more batches than others would wait for them for ever.
            self._count = min(number_of_wanted(self._parts, self._files, chunks) for chunks in self._of_ranks())
        return self._count

    def _fingerprint(self) -> str:
        how, parts = self._how, self._parts
        return "; ".join(
            map(
                repr,
                (
                    [uuid or path for path, _, uuid in self._reader.table.files],
                    self._reader.table.entries,
                    self._reader.described,
                    (how.batch_size, how.shuffle, how.seed, how.rank, how.world),
                    (parts.names, parts.part, parts.range),
                    self._window_entries(),
                ),
            )
        )
