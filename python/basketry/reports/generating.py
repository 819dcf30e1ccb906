"""Reports of `generate`."""

from dataclasses import dataclass
from typing import Literal

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WrittenTable(Shown):
    """The report on a written tree or RNTuple."""

    name: str
    """Its name."""
    container: Literal["rntuple", "ttree"]
    """Whether it is a tree or an RNTuple."""
    entries: int
    """Entries."""
    clusters: int
    """Clusters."""
    baskets: int
    """Baskets; of an RNTuple its pages."""
    tot_bytes: int
    """Bytes before compression; of a tree with the keys of its baskets, as ROOT counts (fTotBytes). Pages that share
    bytes count once."""
    zip_bytes: int
    """Bytes on disk; of a tree with the keys of its baskets (fZipBytes), of an RNTuple without the checksums of its
    pages."""
    key_bytes: int
    """Bytes of these keys: `tot_bytes` without them are the contents of baskets."""
    checksum_bytes: int
    """Bytes of the checksums of an RNTuple's pages, which are on disk besides."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Written(Shown):
    """The report on a written file."""

    bytes: int
    """Bytes of the file."""
    trees: tuple[WrittenTable, ...]
    """Its trees and RNTuples."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ContextMetrics(Shown):
    """Metrics of one fill context."""

    entries: int
    """Entries filled."""
    encoding_ns: int
    """Time spent on encoding and cutting baskets or pages, in nanoseconds."""
    compressing_ns: int
    """Time spent on compressing, in nanoseconds."""
    waiting_ns: int
    """Time spent on waiting for memory, in nanoseconds."""
    handing_ns: int
    """Time spent on handing over and appending clusters, in nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WriteMetrics(Shown):
    """Metrics of a writer at work."""

    entries: int
    """Entries in the file."""
    clusters: int
    """Clusters in the file."""
    file_bytes: int
    """Bytes of the file so far."""
    queue_bytes: int
    """Bytes of finished clusters that wait for earlier ones."""
    held_bytes: int
    """Bytes of the budget in use, by all writers that share it."""
    peak_held_bytes: int
    """Largest number of bytes in use so far."""
    waiting: int
    """Number of contexts that wait for memory now."""
    appending_ns: int
    """Total time spent on appending, in nanoseconds."""
    contexts: tuple[ContextMetrics, ...]
    """All fill contexts so far, in the order in which they began."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Generated(Shown):
    """The files written, and their cost."""

    written: tuple[Written, ...]
    """The files."""
    wall: float
    """Seconds by the clock, until all was handed to the system."""
    cpu: float
    """Seconds of CPU, of all threads."""
    sync: float
    """Additional seconds until the data were on disk."""
    metrics: tuple[WriteMetrics, ...]
    """Where the time went, by file."""
