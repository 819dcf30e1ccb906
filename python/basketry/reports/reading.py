"""Report of `readspeed`; see docs/readspeed-schema.md."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .looking import CutStep
from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Network(Shown):
    """What went over the network in a reading. Requests wait and arrive side by side, so their times may be more than
    that of the reading."""

    requests: int
    """Requests. One may be for several ranges."""
    bytes: int
    """Bytes received."""
    latency: float
    """Seconds from sending requests to the first byte of their replies, added up."""
    transfer: float
    """Seconds from the first to the last byte of replies, added up."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Run(Shown):
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
    """Share of the files' bytes that was not in the page cache, if the files were dropped from it."""
    network: Network | None = None
    """What went over the network, if files are on other machines, or a latency is simulated."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Figure(Shown):
    """Several runs of one thing."""

    median: float
    """The median."""
    noise: float
    """Standard deviation of one run as a share of the median, by the median of absolute deviations."""
    least: float
    """The least."""
    most: float
    """The most."""
    runs: int
    """Number of runs."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scaled(Shown):
    """Reading on a number of threads."""

    threads: int
    """How many."""
    real: Figure
    """Seconds by the clock, of all readings."""
    cpu: Figure
    """Seconds of CPU, of all readings."""
    throughput: float
    """Uncompressed MB/s (10^6), by the median."""
    speed_up: float | None
    """Against one thread, if that was measured."""
    effective_cores: float
    """The same of a loop that only computes: the number of cores that so many threads really have."""
    of_possible: float | None
    """The speed-up as a share of the loop's: what reading itself makes of the cores."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnCost(Shown):
    """The cost of a column in the median reading. Times in seconds."""

    name: str
    """Its name."""
    typename: str
    """Its type, as uproot names types."""
    compressed: int
    """Bytes read."""
    uncompressed: int
    """Bytes of its entries before compression, as ROOT's rootreadspeed counts: of baskets without keys and offsets of
    entries."""
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LayoutSpeed(Shown):
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Readspeed(Shown):
    """The report of `readspeed`."""

    schema: int
    """Version of this form."""
    files: tuple[Path, ...]
    """The files."""
    tree: str
    """Path of the tree."""
    threads: int
    """Threads used: the requested number, at most the number of processors."""
    entries: int
    """Entries read, of how many."""
    all_entries: int
    """Entries that there are."""
    cuts: tuple[CutStep, ...]
    """What the cuts leave of the entries. Each reading includes them."""
    clusters: int
    """Clusters that there are."""
    throttle: int | None
    """The limit in bytes a second, if slow storage was simulated."""
    throttle_latency: float | None = None
    """Seconds from a request to its first byte, if slow storage was simulated with a latency."""
    setup: tuple[float, float]
    """Real and CPU seconds for opening the files."""
    uncompressed: int
    """Bytes of the entries read, before compression, as ROOT's rootreadspeed counts: of baskets without keys and
    offsets of entries."""
    compressed: int
    """Bytes read for them: of baskets with keys, of pages with checksums."""
    runs: tuple[Run, ...]
    """All readings."""
    spread: Figure
    """Real time of all readings: how far they are apart."""
    median: Run
    """The one with the median real time."""
    scaling: tuple[Scaled, ...] | None
    """Reading on several numbers of threads, beside a loop that only computes, if several were requested."""
    columns: tuple[ColumnCost, ...]
    """Columns, the slowest first."""
    bottleneck: Literal[
        "application",
        "storage",
        "network-latency",
        "network-bandwidth",
        "too-few-clusters",
        "decompression",
        "decoding",
    ]
    """The bottleneck. "application": the user's own job takes much longer than reading. "storage": threads wait for
    bytes. "network-latency": threads wait for the first bytes of replies from another machine. "network-bandwidth":
    threads wait while bytes come from another machine. "too-few-clusters": there are fewer units of work than threads.
    "decompression": threads are busy decompressing. "decoding": threads are busy turning bytes into columns."""
    advice: str
    """Its meaning, and what to do."""
    commands: tuple[str, ...]
    """Commands that do so, for the first file."""
    notes: tuple[str, ...]
    """Notes about the measurement."""
    layouts: tuple[LayoutSpeed, ...] | None
    """Forecasts of other layouts, if requested."""
