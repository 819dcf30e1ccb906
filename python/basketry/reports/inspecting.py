"""Report of `inspect`; see docs/inspect-schema.md."""

from dataclasses import dataclass
from typing import Literal

from .ntuples import NtupleReport
from .shown import Shown
from .values import Memory, Mixed, ReadTime, Sizes, Spread, Trial


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileReport(Shown):
    """A file."""

    path: str
    """Name, as given."""
    bytes: int
    """Bytes."""
    root_version: str
    """Version of ROOT that wrote it, as ROOT shows it: `6.28/04`."""
    compression: int
    """ROOT's compression setting of the file, 100 times algorithm + level."""
    big: bool
    """Whether the header has 64-bit positions."""
    recovered: bool
    """Whether the list of keys had to be made from a scan, since the file was not closed or is cut short."""
    directories: int
    """Directories, the top one left out."""
    streamer_infos: int
    """Streamer infos."""
    free_bytes: int
    """Bytes that belong to no record."""
    free_segments: int
    """Number of these gaps."""
    trees: int
    """Trees, the newest cycle of each."""
    ntuples: int
    """RNTuples, the newest cycle of each."""
    infos: Sizes
    """The record of the streamer infos."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pair(Shown):
    """Two strings that belong together."""

    name: str
    """Name."""
    value: str
    """Its value: a formula, a file, a class."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LeafReport(Shown):
    """A leaf."""

    class_: str
    """ROOT's class of the leaf."""
    name: str
    """Name."""
    title: str
    """Title."""
    type: str
    """Type, as `TLeaf::GetTypeName` says it."""
    len: int
    """Elements of the fixed array."""
    count: str | None = None
    """The leaf that counts its elements."""
    maximum: int | None = None
    """The largest value that the leaf claims to hold, where it counts others."""
    counted_at_least: int | None = None
    """The least possible number of elements in the longest entry that it counts, from sizes alone."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BasketSummary(Shown):
    """The baskets of a branch, summed up."""

    count: int
    """Baskets on disk."""
    fill: float | None
    """Mean size before compression, with the key, over the size of the writer's buffer, which holds both; may exceed 1,
    because buffers grow."""
    disk: Spread | None
    """Least, mean, median and greatest size on disk, keys included."""
    raw: Spread | None
    """The same before compression, without keys: the mean of all, the others of the baskets looked at."""
    crossing: int
    """Baskets that cross the start of a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EmbeddedReport(Shown):
    """A basket in the tree's own record."""

    index: int
    """Its place among the branch's baskets."""
    entries: int
    """Entries in it."""
    bytes: int
    """Bytes of it."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BasketReport(Shown):
    """A basket on disk."""

    first_entry: int
    """First entry in it."""
    entries: int
    """Entries in it."""
    bytes: int
    """Bytes of its record."""
    seek: int
    """Offset of its record."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BranchReport(Shown):
    """A branch."""

    id: str
    """Its position in the tree: `2.0.1` is the second branch of the first branch of the third."""
    name: str
    """Name."""
    title: str
    """Title."""
    class_: str
    """ROOT's class of the branch."""
    type: str
    """Its class, or empty where the leaves define it."""
    leaves: tuple[LeafReport, ...]
    """Its leaves."""
    compression: int
    """ROOT's compression setting."""
    basket_size: int
    """Bytes of the buffer that a writer fills."""
    split_level: int
    """Split level."""
    file_name: str = ""
    """The file with the baskets, if it is another one."""
    entries: int
    """Entries."""
    held: int | None = None
    """The entries of the tree that its baskets hold, where these are not all."""
    beyond: int = 0
    """The entries that its baskets hold behind the tree's last one."""
    tot_bytes: int
    """Bytes before compression, with the keys of baskets."""
    zip_bytes: int
    """Bytes on disk, with the keys of baskets."""
    key_bytes: int
    """Bytes of these keys."""
    share: float
    """Its share of the tree's bytes on disk, 0 to 1."""
    basket_summary: BasketSummary
    """How its baskets are."""
    largest_entry: int | None = None
    """Bytes of the largest entry of the largest basket, before compression. Known only where some basket is far larger
    than the others: no size of baskets makes it smaller."""
    codecs: dict[str, int]
    """Codecs of the baskets whose headers were read, with the number of baskets; `none` for a basket that is not
    compressed."""
    decoded: Literal["numbers", "lists", "objects", "bytes"] | None = None
    """Its values after decoding, if it has entries of its own. "numbers": numbers, a fixed count in each entry.
    "lists": lists of numbers, or texts. "objects": objects, or lists of anything else: each is decoded by itself.
    "bytes": bytes: it cannot be decoded."""
    can_split: bool = False
    """Whether it holds objects whose members could have branches of their own."""
    absent: bool = False
    """Whether its baskets are in another file, which is missing: of the own folder. Files elsewhere are not looked
    for."""
    embedded: tuple[EmbeddedReport, ...]
    """Baskets in the tree's own record."""
    baskets: tuple[BasketReport, ...] | None = None
    """Every basket on disk, if requested."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TreeReport(Shown):
    """A tree."""

    path: str
    """Path of its key in the file."""
    cycle: int
    """Cycle of its key."""
    newest: bool
    """Whether no key of this path has a higher cycle."""
    class_: str
    """Class."""
    name: str
    """Name, which may differ from the key's."""
    title: str
    """Title."""
    entries: int
    """Entries."""
    held: int | None = None
    """The entries that its branches hold, where the tree counts more than any of them has."""
    tot_bytes: int
    """fTotBytes: all baskets before compression, with their keys."""
    zip_bytes: int
    """fZipBytes: all baskets on disk, with their keys."""
    key_bytes: int
    """Bytes of these keys: `tot_bytes` without them are the contents of baskets."""
    auto_flush: int
    """fAutoFlush: negative compressed bytes, or positive entries."""
    metadata: Sizes
    """The tree's own record."""
    cluster_count: int
    """Clusters, as all verbs count them: those that are declared, or else the ranges between entries at which all
    branches begin a basket."""
    clusters: tuple[int, ...]
    """First entry of each cluster of ROOT's own iterator, which takes clusters of 30 MB where none are declared."""
    clusters_known: Literal["declared", "estimated"]
    """How they are known. "declared": the tree records them. "estimated": the tree does not record them; ROOT uses
    ranges that fit its read cache."""
    clusters_cut: bool = False
    """Whether `clusters` ends before the tree does, because there are too many clusters."""
    largest_cluster: int
    """Compressed bytes of the largest of ROOT's clusters."""
    common_boundaries: int
    """Entries at which all branches begin a basket."""
    baskets: int
    """Baskets on disk."""
    crossing: int
    """Baskets that begin before a cluster does and end behind its start; none where clusters are estimated."""
    probed: Literal["all", "some"]
    """Whether every basket's header was read, or only some of each branch. "all": all. "some": some of each branch, the
    largest among them."""
    codecs: dict[str, int]
    """Codecs of the baskets looked at, all branches together."""
    compressible_to: float | None = None
    """Size of uncompressed baskets with zlib:1 over their present size; absent where not tried."""
    trials: tuple[Trial, ...] = ()
    """Other codecs on a sample of the baskets; absent where not tried."""
    mixed: Mixed | None = None
    """The best of these codecs for each basket of the sample, in no more bytes; absent where not tried."""
    record_compressible_to: float | None = None
    """Bytes of the tree's uncompressed record with the file's codec over its present bytes; absent where not tried."""
    is_another: bool = False
    """For an older cycle: whether it has baskets that the newest cycle lacks, so that it is a tree of its own."""
    memory: Memory
    """Memory that readers and writers need."""
    read_time: ReadTime
    """Time that a reader of everything needs, about."""
    friends: tuple[Pair, ...]
    """Friends: the alias or tree name, and the file if it is another one."""
    aliases: tuple[Pair, ...]
    """Aliases: name and formula."""
    index: str | None
    """The expressions of its index (`TTreeIndex`), or the class of another index, if it has one."""
    user_info: tuple[Pair, ...]
    """Objects in the user info."""
    branches: tuple[BranchReport, ...]
    """Branches, depth first."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RowGroupFacts(Shown):
    """A row group."""

    first_entry: int
    """Its first entry."""
    entries: int
    """Its entries."""
    tot_bytes: int
    """Bytes before compression, encoded."""
    zip_bytes: int
    """Bytes in the file."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ParquetLeafFacts(Shown):
    """A stored column, which Parquet calls a leaf."""

    path: str
    """Its path in the schema, with dots."""
    physical_type: str
    """The type in which it is stored, as Parquet calls it: `DOUBLE`."""
    values: int
    """Stored values and missing ones, in all row groups."""
    tot_bytes: int
    """Bytes before compression, encoded."""
    zip_bytes: int
    """Bytes in the file."""
    codecs: dict[str, int]
    """Row groups by codec, as Parquet calls it: `SNAPPY`."""
    encodings: tuple[str, ...]
    """Its encodings, as Parquet calls them, in any row group."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ParquetColumnFacts(Shown):
    """A column at the top of the schema."""

    name: str
    """Name."""
    arrow_type: str
    """The Arrow type in which it is read."""
    nullable: bool
    """Whether values may be missing: the schema allows it, and the statistics do not say that none is."""
    tot_bytes: int
    """Bytes before compression, encoded."""
    zip_bytes: int
    """Bytes in the file."""
    leaves: tuple[ParquetLeafFacts, ...]
    """What is stored for it: itself, or the innermost members of its lists and records."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ParquetFacts(Shown):
    """The table of a Parquet file."""

    path: str
    """Path of the tree of which it was made, else `Events`: that of the tree or RNTuple that a rewrite makes of it."""
    created_by: str | None
    """The program that wrote it, if it says so."""
    format_version: int
    """Version of the format."""
    entries: int
    """Entries."""
    tot_bytes: int
    """Bytes of all columns before compression, encoded: repeated values may be stored once."""
    zip_bytes: int
    """Bytes of all columns in the file."""
    metadata_bytes: int
    """Bytes of the metadata at the end of the file."""
    row_groups: tuple[RowGroupFacts, ...]
    """Its row groups."""
    columns: tuple[ParquetColumnFacts, ...]
    """Its columns, as they are selected and read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ObjectReport(Shown):
    """An object that is neither a tree nor an RNTuple."""

    path: str
    """Path in the file."""
    cycle: int
    """Cycle."""
    class_: str
    """Class."""
    bytes: int
    """Bytes of its record."""
    raw_bytes: int
    """Bytes before compression."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Unread(Shown):
    """Something that could not be read."""

    object: str
    """Path in the file."""
    cycle: int | None = None
    """Cycle, where it has one."""
    class_: str = ""
    """Class, where it is known."""
    reason: str
    """The reasons."""
    unsupported: bool = False
    """Whether it is in a format that this version does not read, and not damaged."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FaultCost(Shown):
    """The cost of a fault; unknown parts are 0."""

    bytes: int
    """Superfluous bytes on disk."""
    read_seconds: float
    """Seconds of one core at each full read."""
    open_seconds: float
    """Seconds of one core whenever the tree is opened, which a reader of everything does not save."""
    entry_seconds: float
    """Seconds of one core for each entry that is picked at random."""
    shared_seconds: float
    """Seconds of one core at each full read by jobs or threads that share the tree by clusters."""
    write_seconds: float
    """Seconds of one core when it was written."""
    memory: int
    """Superfluous bytes of memory, of a reader or a writer."""
    danger: bool
    """Whether results may be wrong or lost. Such faults come first."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Price(Shown):
    """The price of fixing a fault: the other side of a `Cost`."""

    bytes: int
    """Bytes by which the file grows."""
    read_seconds: float
    """Seconds of one core more at each full read."""
    memory: int
    """Bytes of memory more that a reader of all branches needs."""
    note: str
    """Other changes, as a sentence; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding(Shown):
    """A fault that was found."""

    fault: str
    """Kind of the fault, such as "tiny_baskets"."""
    tree: str | None
    """Path of the tree or RNTuple, unless the file as a whole is meant."""
    also: tuple[str, ...] = ()
    """Paths of other tables that have the same fault: where these are many they are told as one, with cost, command and
    price of all."""
    cost: FaultCost
    """Its cost."""
    text: str
    """Its description, in a sentence or two."""
    command: str | None
    """The command that fixes it, if there is one: only one that a trial showed to mend it, where remedies were
    tried."""
    expected_bytes: int | None = None
    """Expected bytes of the file after the command, by a trial; absent where it was not tried."""
    pays: Literal["reader", "writer"]
    """The program that pays for it. "reader": every reader of the file. "writer": only the program that wrote the file,
    or writes similar ones."""
    price: Price | None
    """The estimated price of the command, if there is one."""
    numbers: dict[str, int | float | str | list[str]]
    """The numbers of the fault; docs/inspect-schema.md lists them by fault."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Moved(Shown):
    """What a table would take in the other container, by a trial of all of it or of samples."""

    path: str
    """Path of the tree or RNTuple."""
    container: Literal["rntuple", "ttree"]
    """The other container. "rntuple": an RNTuple, for a tree. "ttree": A tree, for an RNTuple."""
    bytes_now: int
    """Bytes on disk now, with its metadata."""
    bytes: int
    """Expected bytes on disk, with its metadata."""
    uncertainty: int
    """The expected bytes are wrong by more than this in one case of twenty, as far as the samples tell."""
    refused: str = ""
    """Why it cannot be moved; empty where it can."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Inspection(Shown):
    """The report on a file."""

    schema: int
    """Version of this structure."""
    file: FileReport
    """The file itself."""
    trees: tuple[TreeReport, ...]
    """Its trees, every cycle of them."""
    ntuples: tuple[NtupleReport, ...]
    """Its RNTuples, every cycle of them."""
    parquet: ParquetFacts | None = None
    """The table of a Parquet file. Of such a file only this, `path` and `bytes` are told, and no faults are looked
    for."""
    objects: tuple[ObjectReport, ...]
    """Everything else that has a key, directories left out."""
    skipped: tuple[Unread, ...]
    """Unreadable parts."""
    findings: tuple[Finding, ...]
    """The findings, worst first."""
    moved: tuple[Moved, ...] = ()
    """What each tree would take as an RNTuple and each RNTuple as a tree, the newest cycles; empty where it was not
    tried."""
