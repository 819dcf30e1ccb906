"""Report of `tune`; see docs/tune-schema.md."""

from dataclasses import dataclass

from .making import Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Costs of reading other than decompression and decoding. Bytes are fetched from the page cache:
    the time of storage is not a property of the layout alone."""

    per_basket: float
    """Seconds to fetch a basket and take its header apart."""
    per_byte: float
    """Seconds for each byte fetched."""
    per_offset: float
    """Seconds for each entry with an entry offset."""
    per_column: float
    """Seconds for each column, once in a reading, however little of it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Costs of a column or a file in a layout. Times are CPU seconds of one thread."""

    read: float
    """Seconds to read the workload: fetch, decompress and decode."""
    fetch: float
    """Of these, to fetch baskets and to parse their headers."""
    decompress: float
    """To decompress them."""
    decode: float
    """To find entries in them, and to decode the workload's entries."""
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
    """The program whose reading is predicted and measured."""

    name: str
    """`basketry`, `root`, `uproot`, or the name in a profile."""
    version: str
    """Its version."""
    profile: str | None
    """File of the profile, or `shipped`; none for basketry, whose costs are measured on the file itself."""
    date: str | None
    """Day on which the profile was measured."""
    processor: str | None
    """Model of the processor that it was measured on."""
    proven_by: str | None
    """The program that reads input and output in the proof; none if no output was requested."""
    instead: str | None
    """Why the proof was made by another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """The measurement of the costs."""

    seed: int
    """Seed of the samples."""
    allowed: float
    """Limit of CPU seconds for measuring and deciding: 2, or a quarter of a rewrite's if that is more."""
    cpu_seconds: float
    """CPU seconds that measuring and deciding took."""
    trials: int
    """How often the file was written and read to test a choice."""
    metadata: float
    """CPU seconds that reading the metadata took."""
    sampled_bytes: float
    """Sampled bytes before compression."""
    sampled_share: float
    """Share of all bytes before compression."""
    columns: int
    """Columns with baskets."""
    sampled_columns: int
    """Columns of which baskets were sampled."""
    codecs: tuple[str, ...]
    """Codecs between which the choice was made."""
    dropped: tuple[str, ...]
    """Codecs that were tried and lose to another for nearly all bytes."""
    access: Access
    """Costs of reading other than decompression and decoding."""
    optimism: float
    """Share by which the expected size of the first choice was too small, by a second sample of other baskets."""


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
    """The nearest possible limit, if this limit is one of the causes of a refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures(Cost):
    """Costs of a file in a layout, with its clusters."""

    clusters: float
    """Clusters of all trees."""
    cluster_bytes: int | None
    """Requested size of a cluster in bytes on disk; none where clusters stay unchanged."""


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
    """A column of objects that changes split level or streaming."""

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
class BestInContainer:
    """The best choice in a container."""

    container: str
    """`ttree` or `rntuple`."""
    chosen: Figures | None
    """Expected costs; none if the limits cannot be met."""
    layout: str | None
    """Layout as TOML."""
    refused: str | None
    """Why the content cannot be in the container."""


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
    """Gain of a looser limit."""

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
    """A prediction and its measurement."""

    expected: float
    """The prediction."""
    measured: float
    """The measurement."""


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
    """Measurements of the delivered output."""

    output: str
    """The output."""
    size: Compared
    """Expected and actual bytes."""
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
    """Expected and measured CPU seconds of the whole rewrite."""
    measuring_share: float
    """Measuring took this share of the CPU time of the rewrite."""
    equal: bool
    """Whether the content was found equal."""
    differences: tuple[str, ...]
    """The differences, if any."""
    within_size: bool
    """Whether the output is within the requested size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Result of a tuning."""

    schema: int
    """Version of this structure."""
    input: str
    """The file; of several the first, and how many more."""
    files: int
    """Number of inputs."""
    measured_files: int
    """Number of inputs measured on behalf of all."""
    workload: str
    """The workload."""
    goal: str
    """What was minimised: "reading" or "size"."""
    reader: ReaderReport
    """The program whose reading is predicted, and measured in the proof."""
    measuring: Measuring
    """The measurement of the costs."""
    limits: tuple[LimitReport, ...]
    """The limits."""
    today: Figures
    """Costs of the input."""
    read_all: float
    """Seconds to fetch and decompress all of it once, whatever the workload."""
    rewrite: float
    """CPU seconds that a rewrite into the chosen layout is expected to take."""
    chosen: Figures | None
    """Expected costs of the chosen layout; none if the limits cannot be met."""
    gap: float
    """Largest possible gain of another choice, by the measured costs."""
    groups: tuple[Group, ...]
    """Changes by codec, most bytes first."""
    recasts: tuple[Recasting, ...]
    """Columns of objects that change split level or streaming, slowest to read first."""
    why: tuple[str, ...]
    """The same in words."""
    containers: tuple[BestInContainer, ...]
    """The best choice in each container, if they were compared."""
    front: tuple[FrontPoint, ...]
    """Best reading times by size of the file, smallest first."""
    sensitivity: tuple[Loosened, ...]
    """Gains of looser limits."""
    layout: str | None
    """The chosen layout as TOML."""
    unchanged: bool
    """Whether the chosen layout is the input's own: no candidate is better."""
    attempts: tuple[Attempt, ...]
    """Rewrites, measured, in order."""
    delivered: bool | None
    """Whether the output was delivered under its name; None if no output was asked for."""
    verdict: str
    """The result, in words."""
    proof: Proof | None
    """Measurements of the output, if one was delivered."""
