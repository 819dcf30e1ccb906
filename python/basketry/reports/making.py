"""What `rewrite`, `merge`, `recover`, `convert` and `verify` report."""

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
    """What became of one tree."""

    path: str
    """Path of the tree."""
    input_entries: int
    """Entries of the inputs."""
    entries: int
    """Entries of the output."""
    clusters: int
    """Clusters."""
    baskets: int
    """Baskets."""
    tot_bytes: int
    """Bytes before compression."""
    zip_bytes: int
    """Bytes on disk."""
    depths: Depths
    """Clusters of columns by depth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An input that was left out."""

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
    """Something damaged that was left out, or stands in a damaged place."""

    path: Path
    """The file."""
    object: str
    """The object with its cycle, a directory, or what else is damaged."""
    reason: str
    """What is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was done."""

    bytes_read: int
    """Bytes of all inputs."""
    bytes_written: int
    """Bytes of the output."""
    tables: tuple[TableSummary, ...]
    """Trees of the output."""
    notes: tuple[str, ...]
    """What the user should know."""
    unmerged: tuple[str, ...]
    """Those of the notes that say what was not merged, or not carried over, or with a loss."""
    skipped: tuple[Skipped, ...]
    """Inputs that were left out since they cannot be read."""
    older_cycles: tuple[OlderCycle, ...]
    """Older cycles of the inputs' trees."""
    damaged: tuple[Damaged, ...]
    """What is damaged in the inputs that were not left out: objects and directories are missing from the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnForecast:
    """What a column will come to."""

    name: str
    """Branch names from the top down, with / between."""
    depths: Depths
    """Clusters by depth."""
    bytes_before: int
    """Bytes on disk now."""
    bytes_after: int
    """Bytes on disk that are expected."""
    compression: str
    """Compression of the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a column of objects lies in branches."""

    split_level: int
    """Split level of its branch."""
    streaming: str | None = None
    """How collections in it are streamed, if there are some that are not split, and it can be told."""
    branches: int
    """Branches with entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodeForecast:
    """What a column that is split or streamed otherwise will come to."""

    name: str
    """The branch of the first level; where only its streaming changes, with those above it."""
    before: Form
    """How it lies now."""
    after: Form
    """How it will."""
    bytes_before: int
    """Bytes on disk now."""
    bytes_after: int
    """Bytes on disk that are expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a table will come to."""

    path: str
    """Path of the tree."""
    input_entries: int
    """Entries of the inputs."""
    entries: int
    """Entries of the output."""
    clusters: int
    """Clusters of the output."""
    columns: tuple[ColumnForecast, ...]
    """Branches with entries that are not recoded."""
    recodes: tuple[RecodeForecast, ...]
    """Columns that are split or streamed otherwise."""
    notes: tuple[str, ...]
    """What the user should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What [rewrite] would do."""

    tables: tuple[Forecast, ...]
    """Trees of the output."""
    bytes_before: int
    """Bytes of the trees' baskets now."""
    bytes_after: int
    """Bytes that are expected."""
    least_memory: int
    """The smallest memory budget that would do."""
    memory: int
    """Memory that will be used at most, of the budget given."""
    threads: int
    """Threads that fit into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeVerdict:
    """What was compared of one tree."""

    path: str
    """Path of the tree on the first side."""
    entries: int
    """Entries of the first side that were asked for."""
    branches: int
    """Branches that both sides have."""
    columns: int
    """Branches among them that hold entries, all of which were compared."""
    by_value: int
    """Columns that are split or streamed otherwise on the two sides, and were compared by value."""
    bytes: int
    """Bytes of the entries compared, of one side."""
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
    """Branch, with those above it."""
    entry: int | None = None
    """Entry, as the first side counts."""
    member: str | None = None
    """Member of the entry's value, where values were compared."""
    byte: int | None = None
    """Byte of the entry."""
    what: str
    """What differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a comparison came to. Serialised, it is the --json of basketry verify."""

    schema: int
    """Version of this structure."""
    equal: bool
    """Whether no difference was found."""
    trees: tuple[TreeVerdict, ...]
    """The trees that both sides have."""
    objects: int
    """Objects that are no trees and were compared."""
    older_cycles: int
    """Older cycles of trees, on the side that has more of them."""
    differences: tuple[Difference, ...]
    """All differences: those of directories and trees in the order of the first side, then those of objects."""
    notes: tuple[str, ...]
    """What the user should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchLoss:
    """What is lost of one branch, since others end before it."""

    name: str
    """Branch names from the top down, with / between."""
    entries_lost: int
    """Entries that can be read and are left out, since other branches lack them."""
    entries_unreadable: int
    """Entries that cannot be read."""
    baskets_unreadable: int
    """Baskets that cannot be read."""
    bytes_unreadable: int
    """Bytes of these on disk."""
    ranges_unreadable: tuple[tuple[int, int], ...]
    """First entry, and the one after the last, of what cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredTree:
    """A tree that was brought back."""

    path: str
    """Path of the tree."""
    cycle: int
    """Cycle of its key in the input: trees of one name are kept apart."""
    entries: int
    """Entries of the output: those that all branches have."""
    saved_entries: int | None = None
    """Entries that the record knew of which an AutoSave left; None if there was no record."""
    entries_lost: int
    """Entries that the record or some branch tells of and that are not brought back. What was never written out, no
    one knows."""
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
class Recovery:
    """What was brought back."""

    schema: int
    """Version of this structure."""
    bytes_read: int
    """Bytes of the input."""
    bytes_written: int
    """Bytes of the output."""
    trees: tuple[RecoveredTree, ...]
    """Trees that were brought back."""
    objects: int
    """Other objects that were brought back."""
    unplaced: tuple[Unplaced, ...]
    """Baskets of trees whose record was not found."""
    unreadable: tuple[Unreadable, ...]
    """Records of objects and trees that cannot be read."""
    whole: bool
    """Whether everything is brought back that the file tells of, but for entries that only some branches of a tree have
    at its end."""
    notes: tuple[str, ...]
    """What the user should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedColumn:
    """A column that was converted."""

    name: str
    """Its name in the output."""
    arrow: str
    """Its Arrow type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A column that was not converted."""

    name: str
    """Its name."""
    why: str
    """Why it was left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What was converted."""

    tree: str
    """Path of the tree that was read or written."""
    entries: int
    """Entries that were converted."""
    columns: tuple[ConvertedColumn, ...]
    """The columns that were written."""
    left_out: tuple[LeftOut, ...]
    """The columns that were not, though they were asked for."""
    notes: tuple[str, ...]
    """What else is to be known."""
    row_groups: int
    """Row groups of the Parquet files that were read or written."""
    bytes_read: int
    """Bytes that were read of the inputs."""
    bytes_written: int
    """Bytes of the output."""
