"""Report of `Monitor` and of `basketry monitor --json`. Times are in seconds, memory and sizes in bytes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look at a job; counts are since its beginning."""

    time: float
    """Seconds since the beginning."""
    mark: str
    """`start`, `stop`, `finalize`, `end` or another name; empty for a sample that came by the clock."""
    events: int
    """Finished events."""
    processes: int
    """Processes that live."""
    threads: int
    """Their threads."""
    vsize: int
    """Address space."""
    rss: int
    """Resident memory; shared memory counts for each process."""
    pss: int
    """Resident memory; shared memory is divided among its users; 0 if not requested."""
    peak_rss: int
    """The most resident memory that any one of the processes had until then."""
    user: float
    """CPU in user mode."""
    system: float
    """CPU in the kernel."""
    read: int
    """Bytes read by system calls, from files, pipes and sockets."""
    written: int
    """Bytes written by system calls."""
    disk_read: int
    """Bytes from a disk."""
    disk_written: int
    """Bytes for a disk."""
    minor_faults: int
    """Page faults that needed no disk."""
    major_faults: int
    """Those that did."""
    output: int
    """Bytes of the outputs, all together."""
    outputs: int
    """Number of outputs."""
    output_bytes: tuple[int, ...]
    """Bytes of each, in the order in which they were named and found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """Maxima over samples."""

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
    """The path."""
    bytes: int
    """Its bytes."""
    removed: bool
    """Whether it was removed meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Summary of a job."""

    schema: int
    """Version of these fields."""
    command: str
    """The command."""
    host: str
    """Name of the machine."""
    kernel: str
    """Its system and version."""
    cores: int
    """Usable cores."""
    started: float
    """When it began, in seconds since 1970."""
    every: float
    """Seconds between two samples."""
    version: str
    """Version of basketry."""
    exit_code: int
    """Exit code; 128 plus the number of the signal that ended the job."""
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
    """Maxima over samples."""
    end: Sample
    """How things stood at the end."""
    events_per_second: float
    """Between the marks `start` and `stop`, or over the whole time without these marks."""
    marks: tuple[Sample, ...]
    """Samples with a mark, in order."""
    files: tuple[OutputFile, ...]
    """Files that the job wrote."""
    samples: int
    """Number of samples."""
