"""Reports of `generate`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTable:
    """A new tree or RNTuple."""

    name: str
    """Its name."""
    container: str
    """ "ttree" or "rntuple"."""
    entries: int
    """Entries."""
    clusters: int
    """Clusters."""
    baskets: int
    """Baskets; of an RNTuple its pages."""
    tot_bytes: int
    """Bytes before compression, keys included."""
    zip_bytes: int
    """Bytes on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A new file."""

    bytes: int
    """Bytes of the file."""
    trees: tuple[WrittenTable, ...]
    """Its trees and RNTuples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMetrics:
    """Counters of a fill context; times in nanoseconds."""

    entries: int
    """Filled entries."""
    encoding_ns: int
    """Encoding and cutting baskets."""
    compressing_ns: int
    """Compressing."""
    waiting_ns: int
    """Waiting for memory."""
    handing_ns: int
    """Committing clusters, including the time of appending them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteMetrics:
    """Counters of a writer."""

    entries: int
    """Entries in the file."""
    clusters: int
    """Clusters in the file."""
    file_bytes: int
    """Bytes of the file before its last records."""
    queue_bytes: int
    """Bytes of clusters that waited for others at the end: none."""
    held_bytes: int
    """Bytes of the budget in use at the end."""
    peak_held_bytes: int
    """The most that ever were."""
    waiting: int
    """Fillers that waited for memory at the end: none."""
    appending_ns: int
    """Nanoseconds spent on appending."""
    contexts: tuple[ContextMetrics, ...]
    """Each fill context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """The outputs and their cost."""

    written: tuple[Written, ...]
    """The files."""
    wall: float
    """Seconds by the clock, until all was handed to the system."""
    cpu: float
    """Seconds of CPU, of all threads."""
    sync: float
    """Seconds that the system took besides, to get it on disk."""
    metrics: tuple[WriteMetrics, ...]
    """Counters by file."""
