"""Report of `Monitor` and of `basketry monitor --json`. Times are in seconds, memory and sizes in bytes."""

from dataclasses import dataclass

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Most(Shown):
    """The most that was seen in samples."""

    processes: int
    """Processes."""
    threads: int
    """Numbers of threads."""
    vsize: int
    """Address space."""
    rss: int
    """Resident memory of all processes together."""
    pss: int
    """Proportional memory."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sample(Shown):
    """The state of a job at one moment: bytes, seconds, and counts since the beginning."""

    time: float
    """Seconds since the beginning."""
    mark: str
    """`start`, `stop`, `finalize`, `end` or the job's own name for it; empty for a periodic sample."""
    events: int
    """Events that are done."""
    processes: int
    """Processes that live."""
    threads: int
    """Their threads."""
    vsize: int
    """Address space."""
    rss: int
    """Resident memory; shared pages count for each process."""
    pss: int
    """Proportional memory: shared pages are divided among their processes. 0 unless requested."""
    peak_rss: int
    """The maximum resident memory of any one process until now."""
    user: float
    """CPU in user mode."""
    system: float
    """CPU in the kernel."""
    read: int
    """Bytes read by system calls, from files, pipes and sockets."""
    written: int
    """Bytes written by system calls."""
    disk_read: int
    """Bytes read from disk."""
    disk_written: int
    """Bytes written to disk."""
    minor_faults: int
    """Page faults that needed no disk."""
    major_faults: int
    """Those that did."""
    output: int
    """Bytes of the outputs, all together."""
    outputs: int
    """How many outputs there are."""
    output_bytes: tuple[int, ...]
    """Bytes of each, in the order in which they were named and found."""
    seen: str
    """What the monitor itself saw since the sample before, separated by `; `: `open FILE`, `close FILE`, `rename FILE >
    NEW`, `remove FILE` of outputs; `SIGTERM` and other signals to the job; `stopped`, `continued`; `exit CODE`. Mostly
    empty."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OutputFile(Shown):
    """A file that a job wrote."""

    path: str
    """Where it is."""
    bytes: int
    """Its bytes."""
    removed: bool
    """Whether it was removed meanwhile."""
    opened: float | None
    """Seconds since the beginning when it was first seen open for writing; none if it never was."""
    closed: float | None
    """When it was seen closed; none if it never was, or is open."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Watched(Shown):
    """The summary of a job."""

    schema: int
    """Version of these fields."""
    command: str
    """The command, without secrets of URLs and of variables."""
    host: str
    """Name of the machine."""
    kernel: str
    """Its system and version."""
    cores: int
    """Cores that there are to use."""
    started: float
    """When it began, in seconds since 1970."""
    every: float
    """Seconds between two samples."""
    version: str
    """The version of the monitor."""
    exit_code: int
    """Its exit code; 128 plus the number of the signal that ended it; -1 if it is not known: the job still runs, the
    monitor was killed, or another program had started the job (`--pid`)."""
    elapsed: float
    """Seconds by the clock."""
    user: float
    """Seconds of CPU in user mode."""
    system: float
    """Seconds of CPU in the kernel."""
    peak_rss: int
    """The maximum resident memory of any one of its processes."""
    monitor_cpu: float
    """Seconds of CPU that watching took."""
    most: Most
    """The most that was seen in samples."""
    end: Sample
    """How things stood at the end."""
    events_per_second: float
    """Events for each second between the marks `start` and `stop`, or over the whole time without these marks."""
    marks: tuple[Sample, ...]
    """Samples with a mark, in order."""
    seen: tuple[Sample, ...]
    """Samples at which the monitor itself saw something, in order."""
    files: tuple[OutputFile, ...]
    """Its output files."""
    samples: int
    """How many samples there are."""
