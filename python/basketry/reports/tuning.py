"""What `tune` reports; docs/tune-schema.md says more."""

from dataclasses import dataclass

from .making import Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What reading costs besides decompression and decoding. Bytes are fetched from a file that is in the page cache:
    storage is not measured, its time is no property of the layout alone."""

    per_basket: float
    """Seconds to fetch a basket and take its header apart."""
    per_byte: float
    """Seconds for each byte fetched."""
    per_offset: float
    """Seconds for each entry whose place is in an offset array."""
    per_column: float
    """Seconds for each column, once in a reading, however little of it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a column, or a file, costs in some layout. Times are CPU seconds of one thread."""

    read: float
    """Seconds to read what the workload asks for: fetch, decompress and decode."""
    fetch: float
    """Of these, to fetch baskets and take their headers apart."""
    decompress: float
    """To decompress them."""
    decode: float
    """To find entries in them, and to turn those that are asked for into columns."""
    size: float
    """Bytes on disk."""
    write: float
    """Seconds to compress."""
    read_memory: float
    """Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster."""
    write_memory: float
    """Bytes of the buffers that a writer of all columns fills."""
    baskets: float
    """Number of baskets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderReport:
    """Whose reading is expected and measured."""

    name: str
    """`basketry`, `root`, `uproot`, or what a profile says."""
    version: str
    """Its version."""
    profile: str | None
    """File of the profile, or `shipped`; none for basketry, whose costs are measured on the file itself."""
    date: str | None
    """Day on which the profile was measured."""
    processor: str | None
    """Model of the processor that it was measured on."""
    proven_by: str | None
    """Who reads input and output in the proof; none if no output was asked for."""
    instead: str | None
    """Why that is not the reader itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """How the costs were measured."""

    seed: int
    """Seed of the samples."""
    allowed: float
    """CPU seconds that measuring and deciding may take: 2, or a quarter of a rewrite's if that is more."""
    cpu_seconds: float
    """CPU seconds that measuring and deciding took."""
    trials: int
    """How often the file was written and read to see what comes of a choice."""
    metadata: float
    """CPU seconds that reading the metadata took."""
    sampled_bytes: float
    """Bytes before compression that were sampled."""
    sampled_share: float
    """Share of all bytes before compression."""
    columns: int
    """Columns with baskets."""
    sampled_columns: int
    """Columns of which baskets were sampled."""
    codecs: tuple[str, ...]
    """Codecs between which the choice was made."""
    dropped: tuple[str, ...]
    """Codecs that were tried and are worse than another for nearly all bytes."""
    access: Access
    """What reading costs besides decompression and decoding."""
    optimism: float
    """By which share the sizes of what was chosen first were too good, as a second look at other baskets found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest limit that could be met."""

    value: float | None
    """Bytes or seconds; none if loosening this one limit does not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReport:
    """A limit."""

    name: str
    """The option."""
    value: float
    """Bytes or seconds."""
    is_default: bool
    """Whether it was not asked for, but is the default."""
    binding: bool
    """Whether the choice is so near to it that it decides."""
    nearest: Nearest | None
    """Where it cannot be met: whether it is in the way, and the nearest that would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a file costs. Times are CPU seconds of one thread."""

    read: float
    """Seconds to read what the workload asks for: fetch, decompress and decode."""
    fetch: float
    """Of these, to fetch baskets and take their headers apart."""
    decompress: float
    """To decompress them."""
    decode: float
    """To find entries in them, and to turn those that are asked for into columns."""
    size: float
    """Bytes on disk."""
    write: float
    """Seconds to compress."""
    read_memory: float
    """Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster."""
    write_memory: float
    """Bytes of the buffers that a writer of all columns fills."""
    baskets: float
    """Number of baskets."""
    clusters: float
    """Clusters of all trees."""
    cluster_bytes: int | None
    """Size of a cluster that was asked for, in bytes on disk; none where clusters stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Columns that change from one codec to another."""

    from_: str
    """Codec today."""
    to: str
    """Codec chosen."""
    columns: int
    """How many columns."""
    today: Cost
    """Their costs today."""
    chosen: Cost
    """Their costs in the chosen layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recasting:
    """A column of objects that is to be split or streamed otherwise."""

    tree: str
    """Path of its tree."""
    column: str
    """The branch of the first level."""
    before: Form
    """How it lies in branches today."""
    after: Form
    """How it is to."""
    today: Cost
    """Its costs today."""
    chosen: Cost
    """Its costs in the chosen layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A point of the Pareto front."""

    size: float
    """Bytes of the file."""
    read: float
    """Seconds to read."""
    write: float
    """Seconds to compress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loosened:
    """What a looser limit would buy."""

    name: str
    """The option."""
    value: float | None
    """Its value then; none for no limit."""
    size: float
    """Size of the file then."""
    read: float
    """Seconds to read then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A prediction beside what was measured."""

    expected: float
    """What was expected."""
    measured: float
    """What was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Reading times of input and output, read in turns."""

    before: float
    """Seconds to read the input: the median of the repeats."""
    after: float
    """Seconds to read the output."""
    ratio: float
    """Time of the output over time of the input: the geometric mean of the repeats."""
    interval: tuple[float, ...]
    """The interval around the ratio, 95 % on each side: its two ends."""
    repeats: int
    """Number of repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A rewrite into a chosen layout, measured before the file got its name."""

    expected_size: float
    """Bytes that were expected."""
    bytes: float
    """Bytes of the rewritten file."""
    baskets: float
    """Number of its baskets."""
    rewrite: float
    """CPU seconds of the rewrite."""
    reading: Comparison | None
    """How input and output compare; None if the file was larger than the limit."""
    differences: tuple[str, ...]
    """Differences between the contents, if any."""
    rejected: str | None
    """Why the rewrite was not delivered: too-large, slower or different; None if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was measured on the output that was delivered."""

    output: str
    """The file that was written."""
    size: Compared
    """Bytes that were expected, and that it has."""
    read_today: Compared
    """Seconds to read the input, expected and measured."""
    read_chosen: Compared
    """Seconds to read the output, expected and measured."""
    speedup: Compared
    """How many times cheaper to read, expected and measured."""
    reading: Comparison
    """How input and output compare."""
    baskets: Compared
    """Baskets, expected and written."""
    rewrite: Compared
    """CPU seconds of the whole rewrite: reading and compression as expected, and all that was measured."""
    measuring_share: float
    """Measuring took this share of the CPU time of the rewrite."""
    equal: bool
    """Whether the content was found equal."""
    differences: tuple[str, ...]
    """What differs, if anything does."""
    within_size: bool
    """Whether the size that was asked for holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What a tuning came to."""

    schema: int
    """Version of this structure."""
    input: str
    """The file; of several the first, and how many more."""
    files: int
    """Number of inputs."""
    measured_files: int
    """Number of inputs that were measured: they stand for all."""
    workload: str
    """What the file will be read for."""
    reader: ReaderReport
    """Whose reading is expected, and measured in the proof."""
    measuring: Measuring
    """How the costs were measured."""
    limits: tuple[LimitReport, ...]
    """The limits."""
    today: Figures
    """What the file costs as it is."""
    read_all: float
    """Seconds to fetch and decompress all of it once, whatever the workload."""
    rewrite: float
    """CPU seconds that a rewrite into the chosen layout is expected to take."""
    chosen: Figures | None
    """What is expected of the chosen layout; none if the limits cannot be met."""
    gap: float
    """How much cheaper another choice could be at most, by what was measured."""
    groups: tuple[Group, ...]
    """What changes, by codec, most bytes first."""
    recasts: tuple[Recasting, ...]
    """Columns of objects that are to be split or streamed otherwise, those that take longest to read first."""
    why: tuple[str, ...]
    """The same in words."""
    front: tuple[FrontPoint, ...]
    """Best reading times by size of the file, smallest first."""
    sensitivity: tuple[Loosened, ...]
    """What looser limits would buy."""
    layout: str | None
    """The chosen layout as TOML."""
    unchanged: bool
    """Whether the chosen layout is the file's own: nothing that was tried is better."""
    attempts: tuple[Attempt, ...]
    """Rewrites that were made and measured, in order."""
    delivered: bool | None
    """Whether the output was delivered under its name; None if no output was asked for."""
    verdict: str
    """What came of it, in words."""
    proof: Proof | None
    """What was measured on the output, if one was delivered."""
