"""Reports of `verify` and `recover`: what files have in common, and what is left of a broken one."""

from dataclasses import dataclass

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnError(Shown):
    """A column whose numbers differ within the tolerance."""

    column: str
    """The column."""
    largest: float
    """The largest absolute difference."""
    relative: float
    """The largest difference as a share of the larger number."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TreeVerdict(Shown):
    """The comparison of one tree."""

    path: str
    """Path of the tree on the first side."""
    entries: int
    """Selected entries of the first side."""
    branches: int
    """Branches that both sides have."""
    columns: int
    """Branches among them that hold entries. All are compared."""
    by_value: int
    """Columns that the two sides split or stream differently, and that were compared by value."""
    bytes: int
    """Bytes of the entries compared, of one side."""
    errors: tuple[ColumnError, ...]
    """Largest errors of columns that differ within their tolerance, by name."""
    equal: bool
    """Whether no difference was found."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Difference(Shown):
    """One difference. Of the bytes of a branch, only the first difference is listed."""

    tree: str | None = None
    """Path of the tree, if it is about one."""
    object: str | None = None
    """Path of the object or directory, if it is about one."""
    branch: str | None = None
    """Branch, with those above it."""
    entry: int | None = None
    """Entry, as the first side counts."""
    key: tuple[str, ...] | None = None
    """The values of its key, where tables are compared by keys."""
    member: str | None = None
    """Member of the entry's value, where values were compared."""
    byte: int | None = None
    """Byte of the entry."""
    what: str
    """What differs."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LoneKey(Shown):
    """An entry that has no partner."""

    key: tuple[str, ...]
    """The values of its key."""
    entry: int
    """Its number in the table of all files."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LoneKeys(Shown):
    """Entries that have no partner."""

    entries: int
    """Their number."""
    listed: tuple[LoneKey, ...]
    """The first 1000 of them, in the order of their keys."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MatchedKeys(Shown):
    """What was found of the keys of two tables."""

    path: str
    """The path of the table."""
    key: tuple[str, ...]
    """The columns of the key."""
    matched: int
    """Pairs of entries with the same key."""
    only_first: LoneKeys
    """Entries of the first side whose keys the second does not have, or not so often."""
    only_second: LoneKeys
    """Entries of the second side whose keys the first does not have, or not so often."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict(Shown):
    """The result of a comparison. Serialised, it is the `--json` of `basketry verify`."""

    schema: int
    """Version of this structure."""
    equal: bool
    """Whether no difference was found."""
    trees: tuple[TreeVerdict, ...]
    """The trees that both sides have."""
    objects: int
    """Number of compared objects that are not trees."""
    older_cycles: int
    """Older cycles of trees, on the side that has more of them."""
    differences: tuple[Difference, ...]
    """All differences: those of directories and trees in the order of the first side, then those of objects."""
    keys: tuple[MatchedKeys, ...]
    """What was found of the keys of tables that are compared by them."""
    notes: tuple[str, ...]
    """Notes for the user."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BranchLoss(Shown):
    """The losses of one branch."""

    name: str
    """Branch names from the top down, with / between."""
    entries_lost: int
    """Readable entries that are left out because other branches lack them."""
    entries_unreadable: int
    """Entries that cannot be read."""
    baskets_unreadable: int
    """Baskets that cannot be read."""
    bytes_unreadable: int
    """Bytes of these on disk."""
    ranges_unreadable: tuple[tuple[int, int], ...]
    """Ranges of entries that cannot be read: first entry, and the entry after the last."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecoveredTree(Shown):
    """A recovered tree."""

    path: str
    """Path of the tree."""
    cycle: int
    """Cycle of its key in the input, which tells trees of one name apart."""
    entries: int
    """Entries of the output: the entries that all branches have."""
    saved_entries: int | None
    """Entries by the record of the last AutoSave; None without a record."""
    entries_lost: int
    """Entries that the record or a branch has and that are not recovered. Entries that were never written are not
    counted."""
    baskets_found: int
    """Baskets that no record lists."""
    ranges_lost: tuple[tuple[int, int], ...]
    """Ranges of entries that the output leaves out of the middle or the end, as the input counts: first entry, and the
    entry after the last."""
    branches: tuple[BranchLoss, ...]
    """Branches that had more entries than could be kept, or baskets that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecoveredNtuple(Shown):
    """A recovered RNTuple."""

    path: str
    """Path of the RNTuple."""
    cycle: int
    """Cycle of its key."""
    entries: int
    """Entries."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LostNtuple(Shown):
    """An RNTuple without an anchor."""

    name: str
    """Its name."""
    offset: int
    """Offset of the record with its header."""
    bytes_at_most: int
    """Bytes from there on in records of RNTuples."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Unplaced(Shown):
    """Baskets of one branch of a tree whose record was not found."""

    tree: str
    """Name of the tree."""
    branch: str
    """Name of the branch."""
    baskets: int
    """Baskets."""
    entries: int
    """Entries in them."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Unreadable(Shown):
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
    """The reason why it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recovery(Shown):
    """The result of a recovery."""

    schema: int
    """Version of this structure."""
    bytes_read: int
    """Bytes of the input."""
    bytes_written: int
    """Bytes of the output."""
    trees: tuple[RecoveredTree, ...]
    """Recovered trees."""
    ntuples: tuple[RecoveredNtuple, ...]
    """Recovered RNTuples. Each is whole."""
    lost_ntuples: tuple[LostNtuple, ...]
    """RNTuples that were not closed, and cannot be recovered."""
    objects: int
    """Number of other recovered objects."""
    unplaced: tuple[Unplaced, ...]
    """Baskets of trees whose record was not found."""
    unreadable: tuple[Unreadable, ...]
    """Records of objects and trees that cannot be read."""
    whole: bool
    """Whether all known content is recovered, except entries at the end of a tree that only some branches have."""
    notes: tuple[str, ...]
    """Notes for the user."""
