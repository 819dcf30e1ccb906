"""What `Monitor` reports, and `basketry monitor --json` prints. Times are in seconds, memory and sizes in bytes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look at a job; counts are since its beginning."""

    time: float
    """Seconds since the beginning."""
    mark: str
    """`start`, `stop`, `finalize`, `end` or another name; empty for a sample that came by the clock."""
    events: int
    """Events that are done."""
    processes: int
    """Processes that live."""
    threads: int
    """Their threads."""
    vsize: int
    """Address space."""
    rss: int
    """Resident memory, with what processes share counted for each."""
    pss: int
    """Resident memory, with what is shared divided among those who share it; 0 where it was not asked for."""
    peak_rss: int
    """The most resident memory that any one of the processes had until then."""
    user: float
    """CPU in user mode."""
    system: float
    """CPU in the kernel."""
    read: int
    """What calls read, from files, pipes and sockets."""
    written: int
    """What calls wrote."""
    disk_read: int
    """What came from a disk."""
    disk_written: int
    """What is for a disk."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """The most that was seen in samples."""

    processes: int
    """Processes."""
    threads: int
    """Threads."""
    vsize: int
    """Address space."""
    rss: int
    """Resident memory of all processes together."""
    pss: int
    """Proportional memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFile:
    """A file that a job wrote."""

    path: str
    """Where it is."""
    bytes: int
    """Its bytes."""
    removed: bool
    """Whether it was removed meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is said of a job at its end."""

    schema: int
    """Version of these fields."""
    command: str
    """The command."""
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
    """The version of what watched it."""
    exit_code: int
    """With what code it exited: 128 and the number of the signal, if it was one that ended it."""
    elapsed: float
    """Seconds by the clock."""
    user: float
    """CPU in user mode."""
    system: float
    """CPU in the kernel."""
    peak_rss: int
    """The most resident memory that any one of its processes had."""
    monitor_cpu: float
    """CPU that watching took."""
    most: Most
    """The most that was seen in samples."""
    end: Sample
    """How things stood at the end."""
    events_per_second: float
    """Between the marks `start` and `stop`, or of all the time, if there are no such."""
    marks: tuple[Sample, ...]
    """Samples with a mark, in order."""
    files: tuple[OutputFile, ...]
    """What it wrote."""
    samples: int
    """How many samples there are."""
