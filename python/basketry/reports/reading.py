"""What `readspeed` reports; docs/readspeed-schema.md says more."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One reading. Times in seconds."""

    real: float
    """From the clock."""
    cpu: float
    """CPU time of the process."""
    fetch: float
    """Threads' time in fetching."""
    decompress: float
    """Threads' time in decompressing."""
    decode: float
    """Threads' time in decoding."""
    cold: float | None = None
    """Share of the files' bytes that was not in the kernel's cache, where they were put out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCost:
    """What a column cost, in the median reading. Times in seconds."""

    name: str
    """Its name."""
    typename: str
    """Its type, as uproot names types."""
    compressed: int
    """Bytes read."""
    uncompressed: int
    """Bytes before compression."""
    baskets: int
    """Baskets read."""
    fetch: float
    """Time in fetching."""
    decompress: float
    """Time in decompressing."""
    decode: float
    """Time in decoding."""
    opaque: str | None = None
    """Why it is read as bytes, if it cannot be decoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSpeed:
    """A layout, and how fast the same columns and entries could be read in it."""

    layout: str
    """A codec for all columns, `as it is`, or `as tune chooses`."""
    compressed: float
    """Bytes on disk of all entries of the columns, as expected."""
    fetch: float
    """Threads' time in fetching, in seconds."""
    decompress: float
    """Threads' time in decompressing."""
    decode: float
    """Threads' time in decoding."""
    real: float
    """Seconds from the clock."""
    throughput: float
    """Uncompressed MB/s (10^6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readspeed:
    """What was measured."""

    schema: int
    """Version of this form."""
    files: tuple[Path, ...]
    """The files."""
    tree: str
    """Path of the tree."""
    threads: int
    """Threads used."""
    entries: int
    """Entries read, of how many."""
    all_entries: int
    """Entries that there are."""
    clusters: int
    """Clusters that there are."""
    throttle: int | None
    """Bytes a second that were let through at most, where storage was made slow on purpose."""
    setup: tuple[float, ...]
    """Real and CPU seconds for opening the files."""
    uncompressed: int
    """Bytes of the columns read, before compression."""
    compressed: int
    """The same on disk."""
    runs: tuple[Run, ...]
    """All readings."""
    median: Run
    """The one with the median real time."""
    columns: tuple[ColumnCost, ...]
    """Columns, the dearest first."""
    bottleneck: str
    """What holds reading back."""
    advice: str
    """What that means and what to do."""
    commands: tuple[str, ...]
    """Commands that do so, for the first file."""
    notes: tuple[str, ...]
    """What else is to be said about the measurement."""
    layouts: tuple[LayoutSpeed, ...] | None
    """What to expect of other layouts, where that was asked for."""
