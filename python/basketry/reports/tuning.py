"""Report of `tune`; see docs/tune-schema.md."""

from dataclasses import dataclass
from typing import Literal

from .making import Form
from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReaderReport(Shown):
    """Whose reading is expected and measured."""

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
    """The program that reads input and output in the proof; None without an output."""
    instead: str | None
    """Why that is not the reader itself."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Access(Shown):
    """Costs of reading beside decompression and decoding. Bytes are fetched from a file in the page cache: storage is
    not measured, its time is no property of the layout alone."""

    per_basket: float
    """Seconds to fetch a basket and take its header apart."""
    per_byte: float
    """Seconds for each byte fetched."""
    per_offset: float
    """Seconds for each entry whose place is in an offset array."""
    per_column: float
    """Seconds for each column, once in a reading, however little of it is read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Measuring(Shown):
    """How the costs were measured."""

    seed: int
    """Seed of the samples."""
    allowed: float
    """CPU seconds that measuring and deciding may take, announced beforehand: three, or a quarter of a rewrite's."""
    cpu_seconds: float
    """CPU seconds that measuring and deciding took."""
    trials: int
    """Trials: how often the file was written and read to correct a choice."""
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
    """Costs of reading beside decompression and decoding."""
    optimism: float
    """The share by which sizes of the first choice were too small, by a second look at other baskets."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Nearest(Shown):
    """The nearest limit that could be met."""

    value: float | None
    """Bytes or seconds; none if loosening this one limit does not help."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LimitReport(Shown):
    """A limit."""

    name: str
    """The option."""
    value: float
    """Bytes or seconds."""
    is_default: bool
    """Whether it was not asked for, but is the default."""
    binding: bool
    """Whether this limit determines the choice."""
    nearest: Nearest | None
    """If the limits cannot be met together and this limit is a cause: the nearest value that could be met."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bill(Shown):
    """What a file costs over its life."""

    currency: str
    """The currency."""
    total: float
    """All of it."""
    disk: float
    """Of this, bytes on disk, in all copies and years."""
    tape: float
    """Bytes on tape."""
    reading: float
    """CPU time of all readings."""
    network: float
    """Bytes over the wide-area network."""
    writing: float
    """CPU time of writing."""
    energy: float
    """Energy; 0 if the other prices contain it."""
    cpu_hours: float
    """Hours of a core with the price of the book, to read and to write."""
    tb_years: float
    """TB times years on disk and tape, in all copies."""
    kwh: float
    """Energy in kWh of computers and storage, with that of the building."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Choice(Shown):
    """A choice that `--choose` takes."""

    number: int
    """Its number."""
    names: tuple[Literal["smallest", "balanced", "fastest", "today", "best-tree", "best-rntuple", "goal"], ...]
    """Its names; none if it lies between others. "smallest": the fewest bytes, however long reading takes. "balanced":
    the lowest price over the file's life, among those that read as fast as today's layout, within the noise of
    measuring. "fastest": the shortest reading time of the workload within the limits. "today": the layout of the input.
    "best-tree": the best tree. "best-rntuple": the best RNTuple. "goal": the best by the goal, where that is not the
    price."""
    container: str
    """`ttree` or `rntuple`."""
    read: float
    """Seconds to read for the workload: fetch, decompress and decode."""
    fetch: float
    """Of these, to fetch baskets and take their headers apart."""
    decompress: float
    """To decompress them."""
    decode: float
    """To find entries in them, and to decode the selected ones."""
    size: float
    """Bytes on disk."""
    read_bytes: float
    """Bytes on disk that the workload reads."""
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
    """Chosen size of a cluster, in bytes on disk; None where clusters stay."""
    read_all: float | None
    """Seconds to read everything; None if the reader cannot."""
    read_sparse: float | None
    """Seconds to read 1 % of the entries, scattered; None if the reader cannot."""
    rewrite: float
    """CPU seconds that a rewrite into it is expected to take."""
    bill: Bill
    """What it costs over the file's life."""
    layout: str | None
    """Its layout as TOML; None if it is the input's."""
    chosen: bool
    """Whether it is the choice of this report."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Figures(Shown):
    """The cost of a file. Times are CPU seconds of one thread."""

    read: float
    """Seconds to read for the workload: fetch, decompress and decode."""
    fetch: float
    """Of these, to fetch baskets and take their headers apart."""
    decompress: float
    """To decompress them."""
    decode: float
    """To find entries in them, and to decode the selected ones."""
    size: float
    """Bytes on disk."""
    read_bytes: float
    """Bytes on disk that the workload reads."""
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
    """Chosen size of a cluster, in bytes on disk; None where clusters stay."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cost(Shown):
    """The cost of a column, or a file, in a layout. Times are CPU seconds of one thread."""

    read: float
    """Seconds to read for the workload: fetch, decompress and decode."""
    fetch: float
    """Of these, to fetch baskets and take their headers apart."""
    decompress: float
    """To decompress them."""
    decode: float
    """To find entries in them, and to decode the selected ones."""
    size: float
    """Bytes on disk."""
    read_bytes: float
    """Bytes on disk that the workload reads."""
    write: float
    """Seconds to compress."""
    read_memory: float
    """Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster."""
    write_memory: float
    """Bytes of the buffers that a writer of all columns fills."""
    baskets: float
    """Number of baskets."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Group(Shown):
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recasting(Shown):
    """A column of objects that is to be split or streamed otherwise."""

    tree: str
    """Path of its tree."""
    column: str
    """The branch of the first level."""
    before: Form
    """Its present form."""
    after: Form
    """How it is to."""
    today: Cost
    """Its costs today."""
    chosen: Cost
    """Its costs in the chosen layout."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BestInContainer(Shown):
    """The best choice in a container."""

    container: str
    """`ttree` or `rntuple`."""
    chosen: Figures | None
    """Its expected cost; None if the limits cannot be met."""
    layout: str | None
    """Its layout as TOML."""
    refused: str | None
    """Why the content cannot be in the container."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FrontPoint(Shown):
    """A point of the Pareto front."""

    size: float
    """Bytes of the file."""
    read: float
    """Seconds to read."""
    write: float
    """Seconds to compress."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Loosened(Shown):
    """The gain of a looser limit."""

    name: str
    """The option."""
    value: float | None
    """Its value then; none for no limit."""
    size: float
    """Size of the file then."""
    read: float
    """Seconds to read then."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Shown):
    """Reading times of two files, side by side."""

    before: float
    """Seconds to read the first file: the median of the repeats."""
    after: float
    """Seconds to read the second file."""
    ratio: float
    """Time of the second file over time of the first: the geometric mean of the repeats."""
    interval: tuple[float, ...]
    """The interval around `ratio`: 95 % on each side."""
    repeats: int
    """Number of repeats."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Attempt(Shown):
    """A rewrite into a chosen layout, measured before the file got its name."""

    expected_size: float
    """Bytes that were expected."""
    bytes: float
    """Bytes of the file."""
    baskets: float
    """Number of baskets."""
    rewrite: float
    """CPU seconds of the rewrite."""
    reading: Comparison | None
    """How input and output compare, if the size was within the limit."""
    differences: tuple[str, ...]
    """Differences between the contents, if any."""
    rejected: Literal["too-large", "slower", "different", "no-gain"] | None
    """Why the rewrite was not delivered; none if it was. "too-large": the file is larger than the limit. "slower":
    reading takes longer than today, by more than the noise. "different": the content differs from the input's.
    "no-gain": it is neither smaller nor quicker to read, by more than the noise."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Compared(Shown):
    """A prediction with its measurement."""

    expected: float
    """The expected value."""
    measured: float
    """The measured value."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proof(Shown):
    """The measurements of the delivered output."""

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
    """Measured reading time of the output over that of the input, with the interval of 95 % on each side."""
    baskets: Compared
    """Baskets, expected and written."""
    rewrite: Compared
    """CPU seconds of the whole rewrite: as expected, and measured."""
    measuring_share: float
    """Measuring took this share of the CPU time of the rewrite."""
    equal: bool
    """Whether the content was found equal."""
    differences: tuple[str, ...]
    """The differences."""
    within_size: bool
    """Whether the size limit holds."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tuning(Shown):
    """The report of `tune`."""

    schema: int
    """Version of this structure."""
    input: str
    """The file; of several the first, and how many more."""
    tree: str | None
    """The tree that was named, if one was."""
    files: int
    """Number of inputs."""
    measured_files: int
    """Number of inputs that were measured: they stand for all."""
    workload: str
    """The workload."""
    goal: Literal["balanced", "reading", "size"]
    """What was minimised. "balanced": the price of the file's life. "reading": the reading time of the workload.
    "size": bytes on disk."""
    reader: ReaderReport
    """Whose reading is expected, and measured in the proof."""
    measuring: Measuring
    """How the costs were measured."""
    limits: tuple[LimitReport, ...]
    """The limits."""
    prices: str
    """The prices of the file's life as TOML, for `--price`."""
    asked: str | None
    """The choice that was asked for, by its name or number; None: the best by the goal."""
    choices: tuple[Choice, ...]
    """The choices that `--choose` takes, the smallest first."""
    today: Figures
    """The cost of the present file."""
    read_all: float
    """Seconds to fetch and decompress all of it once, whatever the workload."""
    rewrite: float
    """CPU seconds that a rewrite into the chosen layout is expected to take."""
    chosen: Figures | None
    """The expected cost of the chosen layout; None if the limits cannot be met."""
    gap: float
    """The largest possible gain of another choice, as a share, by the measured costs."""
    groups: tuple[Group, ...]
    """The changes, by codec, most bytes first."""
    recasts: tuple[Recasting, ...]
    """Columns of objects that change their split level or streaming, slowest to read first."""
    why: tuple[str, ...]
    """The same in words."""
    containers: tuple[BestInContainer, ...]
    """The best choice in each container, if they were compared."""
    tried: tuple[str, ...]
    """What was tried: a choice is the best of this alone."""
    not_tried: tuple[str, ...]
    """What was not, with the option that would try it, where there is one."""
    front: tuple[FrontPoint, ...]
    """Best reading times by size of the file, smallest first."""
    sensitivity: tuple[Loosened, ...]
    """The gains of looser limits."""
    layout: str | None
    """The chosen layout as TOML."""
    unchanged: bool
    """Whether the chosen layout is the file's own: nothing that was tried is better by more than the noise."""
    attempts: tuple[Attempt, ...]
    """Rewrites that were made and measured, in order."""
    delivered: bool | None
    """Whether the output was delivered under its name; None without an output."""
    verdict: str
    """The result, as a sentence."""
    proof: Proof | None
    """The measurements of the delivered output, if there is one."""
