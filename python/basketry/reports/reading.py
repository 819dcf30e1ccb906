"""Report of `readspeed`; see docs/readspeed-schema.md."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What went over the network in a reading. Times are added up over requests, which wait side by side."""

    requests: int
    """Requests. One may be for several ranges."""
    bytes: int
    """Bytes received."""
    latency: float
    """Seconds from sending requests to the first byte of their replies."""
    transfer: float
    """Seconds from the first to the last byte of replies."""


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
    """Share of the files' bytes outside the page cache, for cold readings."""
    network: Network | None = None
    """What went over the network, for files on other machines and simulated latency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCost:
    """Cost of a column in the median reading. Times in seconds."""

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
    """A layout, and the predicted reading of the same columns and entries."""

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
    """The measurement."""

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
    """All entries."""
    clusters: int
    """All clusters."""
    throttle: int | None
    """Limit in bytes a second, for throttled storage."""
    throttle_latency: float | None = None
    """Seconds from a request to its first byte, for storage that is throttled with a latency."""
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
    """The bottleneck."""
    advice: str
    """Explanation and advice."""
    commands: tuple[str, ...]
    """Commands that do so, for the first file."""
    notes: tuple[str, ...]
    """Further notes on the measurement."""
    layouts: tuple[LayoutSpeed, ...] | None
    """Predictions for other layouts, if requested."""
