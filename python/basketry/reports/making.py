"""Reports of `rewrite`, `merge`, `recover`, `convert` and `verify`."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Depths:
    """How many clusters of a column are treated at each depth."""

    copy: int
    """Copied."""
    recompress: int
    """Recompressed."""
    regroup: int
    """Regrouped."""
    recode: int
    """Recoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """Result for one tree or RNTuple."""

    path: str
    """Its path."""
    container: str
    """ "ttree" or "rntuple"."""
    input_entries: int
    """Entries of the inputs."""
    entries: int
    """Entries of the output."""
    clusters: int
    """Clusters."""
    baskets: int
    """Baskets; of an RNTuple its pages."""
    tot_bytes: int
    """Bytes before compression."""
    zip_bytes: int
    """Bytes on disk."""
    depths: Depths
    """Clusters of columns by depth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A skipped input."""

    path: Path
    """The file."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderCycle:
    """An older cycle of a tree of the inputs."""

    path: str
    """Path of the tree."""
    file: Path
    """The input."""
    cycle: int
    """The cycle's number."""
    entries: int | None
    """Its entries; none if its record cannot be read."""
    kind: str
    """ "earlier-save": its branches and entries are all in the newest cycle; "other-tree": another tree under the same
    name; "unreadable"."""
    kept: bool
    """Whether it is in the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """A damaged object that was left out, or an object in a damaged place."""

    path: Path
    """The file."""
    object: str
    """The object with its cycle, the directory, or another damaged part."""
    reason: str
    """The damage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Result of a rewrite or merge."""

    bytes_read: int
    """Bytes of all inputs."""
    bytes_written: int
    """Bytes of the output."""
    tables: tuple[TableSummary, ...]
    """Trees and RNTuples of the output."""
    notes: tuple[str, ...]
    """Notes for the user."""
    unmerged: tuple[str, ...]
    """Notes on objects that were not merged, not carried over, or carried over with a loss."""
    skipped: tuple[Skipped, ...]
    """Inputs that were skipped because they are unreadable."""
    older_cycles: tuple[OlderCycle, ...]
    """Older cycles of the inputs' trees."""
    damaged: tuple[Damaged, ...]
    """Damage in the other inputs: these objects and directories are missing from the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnForecast:
    """Forecast for a column."""

    name: str
    """Branch names from the top down, with / between, or the path of a field."""
    depths: Depths
    """Clusters by depth."""
    bytes_before: int
    """Bytes on disk now."""
    bytes_after: int
    """Expected bytes on disk."""
    compression: str
    """Compression of the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a column of objects lies in branches."""

    split_level: int
    """Split level of its branch."""
    streaming: str | None = None
    """Streaming of its unsplit collections, if there are any and it is known."""
    branches: int
    """Branches with entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodeForecast:
    """Forecast for a column that changes split level or streaming."""

    name: str
    """The branch of the first level; the path of a branch if only its streaming changes."""
    before: Form
    """How it lies now."""
    after: Form
    """How it will."""
    bytes_before: int
    """Bytes on disk now."""
    bytes_after: int
    """Expected bytes on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Forecast for a tree or RNTuple."""

    path: str
    """Its path."""
    container: str
    """What the output is: "ttree" or "rntuple"."""
    input_entries: int
    """Entries of the inputs."""
    entries: int
    """Entries of the output."""
    clusters: int
    """Clusters of the output."""
    columns: tuple[ColumnForecast, ...]
    """Branches, or fields, with entries; without columns that are recoded."""
    recodes: tuple[RecodeForecast, ...]
    """Columns that change split level or streaming."""
    notes: tuple[str, ...]
    """Notes for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Forecast of a rewrite."""

    tables: tuple[Forecast, ...]
    """Trees and RNTuples of the output."""
    bytes_before: int
    """Bytes of their baskets and pages now."""
    bytes_after: int
    """Expected bytes."""
    least_memory: int
    """The smallest memory budget that would do."""
    memory: int
    """Memory that will be used at most, of the budget given."""
    threads: int
    """Threads that fit into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnError:
    """A column whose numbers differ within the tolerance."""

    column: str
    """The column."""
    largest: float
    """The largest absolute difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeVerdict:
    """Comparison of one tree."""

    path: str
    """Path of the tree on the first side."""
    entries: int
    """Requested entries of the first side."""
    branches: int
    """Branches that both sides have."""
    columns: int
    """Branches among them that hold entries, all of which were compared."""
    by_value: int
    """Columns with another split level or streaming on the two sides, compared by value."""
    bytes: int
    """Bytes of the entries compared, of one side."""
    errors: tuple[ColumnError, ...]
    """Largest errors of columns that differ within their tolerance."""
    equal: bool
    """Whether no difference was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference. Of the bytes of a branch only the first is listed."""

    tree: str | None = None
    """Path of the tree, if it is about one."""
    object: str | None = None
    """Path of the object or directory, if it is about one."""
    branch: str | None = None
    """Path of the branch."""
    entry: int | None = None
    """Entry, as the first side counts."""
    member: str | None = None
    """Member of the entry's value, if values were compared."""
    byte: int | None = None
    """Byte of the entry."""
    what: str
    """The difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Result of a comparison. Serialised, it is the --json of basketry verify."""

    schema: int
    """Version of this structure."""
    equal: bool
    """Whether no difference was found."""
    trees: tuple[TreeVerdict, ...]
    """The trees that both sides have."""
    objects: int
    """Compared objects other than trees."""
    older_cycles: int
    """Older cycles of trees, on the side that has more of them."""
    differences: tuple[Difference, ...]
    """All differences: directories and trees in the order of the first side, then objects."""
    notes: tuple[str, ...]
    """Notes for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchLoss:
    """Loss of one branch, because other branches end before it."""

    name: str
    """Branch names from the top down, with / between."""
    entries_lost: int
    """Entries that can be read and are left out, since other branches lack them."""
    entries_unreadable: int
    """Entries that cannot be read."""
    baskets_unreadable: int
    """Baskets that cannot be read."""
    bytes_unreadable: int
    """Their bytes on disk."""
    ranges_unreadable: tuple[tuple[int, int], ...]
    """First entry, and the one after the last, of an unreadable range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredTree:
    """A restored tree."""

    path: str
    """Path of the tree."""
    cycle: int
    """Cycle of its key in the input: trees of one name are kept apart."""
    entries: int
    """Entries of the output, which all branches have."""
    saved_entries: int | None = None
    """Entries that the record knew of which an AutoSave left; None if there was no record."""
    entries_lost: int
    """Entries that the record or some branch has and that are not restored. Entries that were never written are
    unknown."""
    baskets_found: int
    """Baskets that no record knew of."""
    ranges_lost: tuple[tuple[int, int], ...]
    """First entry, and the one after the last, of what the output leaves out of the middle or the end, as the input
    counts."""
    branches: tuple[BranchLoss, ...]
    """Branches that had more entries than could be kept, or baskets that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """Baskets of one branch of a tree whose record was not found."""

    tree: str
    """Name of the tree."""
    branch: str
    """Name of the branch."""
    baskets: int
    """Baskets."""
    entries: int
    """Entries in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record that cannot be read."""

    name: str
    """Name of the object."""
    cycle: int
    """Its cycle."""
    class_: str
    """Its class."""
    offset: int
    """Offset of the record."""
    bytes: int
    """Bytes of the record."""
    reason: str
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredNtuple:
    """A restored RNTuple."""

    path: str
    """Path of the RNTuple."""
    cycle: int
    """Cycle of its key."""
    entries: int
    """Entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostNtuple:
    """An RNTuple without an anchor."""

    name: str
    """Its name."""
    offset: int
    """Offset of the record with its header."""
    bytes_at_most: int
    """Bytes from there on in records of RNTuples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Result of a recovery."""

    schema: int
    """Version of this structure."""
    bytes_read: int
    """Bytes of the input."""
    bytes_written: int
    """Bytes of the output."""
    trees: tuple[RecoveredTree, ...]
    """Restored trees."""
    ntuples: tuple[RecoveredNtuple, ...]
    """Restored RNTuples. Each is whole."""
    lost_ntuples: tuple[LostNtuple, ...]
    """RNTuples that were not closed, and cannot be restored."""
    objects: int
    """Other restored objects."""
    unplaced: tuple[Unplaced, ...]
    """Baskets of trees whose record was not found."""
    unreadable: tuple[Unreadable, ...]
    """Records of objects and trees that cannot be read."""
    whole: bool
    """Whether everything is brought back that the file tells of, but for entries that only some branches of a tree have
    at its end."""
    notes: tuple[str, ...]
    """Notes for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedColumn:
    """A converted column."""

    name: str
    """Its name in the output."""
    arrow: str
    """Its Arrow type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A column that was left out."""

    name: str
    """Its name."""
    why: str
    """Why it was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """Result of a conversion."""

    tree: str
    """Path of the tree or RNTuple."""
    container: str
    """ "ttree" or "rntuple"."""
    entries: int
    """Converted entries."""
    columns: tuple[ConvertedColumn, ...]
    """The converted columns."""
    left_out: tuple[LeftOut, ...]
    """Requested columns that were left out."""
    notes: tuple[str, ...]
    """Further notes."""
    row_groups: int
    """Row groups of the Parquet files."""
    bytes_read: int
    """Bytes read from the inputs."""
    bytes_written: int
    """Bytes of the output."""
