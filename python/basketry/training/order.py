"""The order of an epoch: chunks of whole clusters, shuffled; windows of as many chunks as memory holds; rows shuffled
in each window. All of it follows from the seed and the number of the epoch."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    #: A range of entries.
    Chunk: TypeAlias = tuple[int, int]


def chunks(clusters: Sequence[int], least: int, most: int) -> list[Chunk]:
    """Ranges of entries that begin and end with clusters: small clusters together have at least `least` entries, and
    parts of large ones at most `most`. `clusters` are the first entries of clusters, and finally the number of
    entries."""
    made: list[Chunk] = []
    start = 0
    for end in clusters[1:]:
        count = end - start
        if count and (count >= least or end == clusters[-1]):
            pieces = -(-count // most)
            edges = [start + count * piece // pieces for piece in range(pieces + 1)]
            made += pairwise(edges)
            start = end
    return made


def of_rank(all_chunks: Sequence[Chunk], rank: int, world: int) -> list[Chunk]:
    """The chunks of a rank: each goes to the rank with the fewest entries so far. Together the ranks have each chunk
    once."""
    ranks = [(0, one) for one in range(world)]
    mine: list[Chunk] = []
    for start, stop in all_chunks:
        entries, one = heapq.heappop(ranks)
        heapq.heappush(ranks, (entries + stop - start, one))
        if one == rank:
            mine.append((start, stop))
    return mine


def windows(in_order: Iterable[Chunk], most: int) -> list[list[Chunk]]:
    """Consecutive chunks that together have at most `most` entries, but at least one chunk."""
    made: list[list[Chunk]] = []
    room = 0
    for start, stop in in_order:
        if not made or stop - start > room:
            made.append([])
            room = most
        made[-1].append((start, stop))
        room -= stop - start
    return made


def runs(window: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of a window as ranges in order of entries, which touch nowhere: each is one reading."""
    made: list[Chunk] = []
    for start, stop in sorted(window):
        if made and made[-1][1] == start:
            made[-1] = (made[-1][0], stop)
        else:
            made.append((start, stop))
    return made


def shuffled(count: int, *numbers: int) -> NDArray[np.int64]:
    """A permutation that follows from these numbers."""
    return np.random.default_rng(numbers).permutation(count)
