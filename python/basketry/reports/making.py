"""Reports of `rewrite`, `merge` and `convert`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .looking import CutStep
from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Appended(Shown):
    """What an update in place added to a file."""

    bytes_before: int
    """Its size before."""
    bytes_new: int
    """Bytes that were written: new records, and what readers begin with."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Depths(Shown):
    """Number of clusters of a column by depth."""

    copy: int
    """Copied."""
    recompress: int
    """Recompressed."""
    regroup: int
    """Regrouped."""
    recode: int
    """Recoded."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NarrowColumn(Shown):
    """A column that takes fewer bits, and keeps every value."""

    field: str
    """Its field."""
    column_type: str
    """Its type in the file."""
    bits: int
    """Bits of a number."""
    before: int
    """Bits of a number without this."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExactColumns(Shown):
    """The columns for which the fewest bits were asked that keep every value."""

    narrowed: tuple[NarrowColumn, ...]
    """Those that take fewer bits."""
    full: tuple[str, ...]
    """The fields of those that need all of their bits, or have no values."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OrderSummary(Shown):
    """How the entries of a table got into another order than that of the inputs."""

    one_pass: bool
    """Whether its inputs, each of which is in this order, were merged in one pass: each is read once, from its first
    entry to its last, and no entry waits on disk."""
    one_pass_memory: int | None
    """The memory with which they would have been merged in one pass, if that is what was missing, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableSummary(Shown):
    """The report on one tree or RNTuple."""

    path: str
    """Its path."""
    container: Literal["rntuple", "ttree"]
    """Whether it is a tree or an RNTuple."""
    input_entries: int
    """Entries of the inputs."""
    entries: int
    """Entries of the output."""
    clusters: int
    """Clusters."""
    baskets: int
    """Baskets; of an RNTuple its pages."""
    tot_bytes: int
    """Bytes before compression; of a tree with the keys of its baskets, as ROOT counts (fTotBytes). Pages that share
    bytes count once."""
    zip_bytes: int
    """Bytes on disk; of a tree with the keys of its baskets (fZipBytes), of an RNTuple without the checksums of its
    pages."""
    key_bytes: int
    """Bytes of these keys: `tot_bytes` without them are the contents of baskets."""
    checksum_bytes: int
    """Bytes of the checksums of an RNTuple's pages, which are on disk besides."""
    depths: Depths
    """Clusters of columns by depth."""
    exact: ExactColumns | None
    """The columns for which `encoding = "exact"` is asked."""
    order: OrderSummary | None
    """How its entries got into another order than that of the inputs, if they did."""
    clusters_cut: int
    """Clusters of a table that is encoded anew that ended early, since the memory budget had no room for more: with
    more memory the output has other clusters."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CutFlow(Shown):
    """The cuts of one table."""

    path: str
    """The path of the table."""
    cuts: tuple[CutStep, ...]
    """The cuts in their order."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EntryOfKey(Shown):
    """An entry of a file."""

    file: Path
    """The file."""
    entry: int
    """The number of the entry in the table of the file."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Duplicate(Shown):
    """An entry that has the key of an earlier one."""

    key: tuple[str, ...]
    """The values of the key."""
    entry: EntryOfKey
    """The entry."""
    first: EntryOfKey
    """The first entry with the key, in the order of the files."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DuplicateKeys(Shown):
    """The entries of some tables that have the key of another."""

    path: str
    """The path of the table."""
    key: tuple[str, ...]
    """The columns of the key."""
    entries: int
    """Entries that were looked at."""
    duplicates: int
    """Those that have the key of an earlier entry."""
    repeated: int
    """Keys that several entries have."""
    listed: tuple[Duplicate, ...]
    """The duplicates in the order of their keys, the first 1000 of them."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnsortedInput(Shown):
    """An input whose entries are not in the order of their keys."""

    path: str
    """Path of the table."""
    file: Path
    """The file."""
    entry: int
    """The first entry that is before an earlier one."""
    key: tuple[str, ...]
    """The values of its key."""
    before: tuple[str, ...]
    """Those of the entry before it."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Skipped(Shown):
    """An input that was left out."""

    path: Path
    """The file."""
    reason: str
    """The reason."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OlderCycle(Shown):
    """An older cycle of a tree of the inputs."""

    path: str
    """Path of the tree."""
    file: Path
    """The input."""
    cycle: int
    """The cycle's number."""
    entries: int | None
    """Number of its entries. None if its record cannot be read."""
    kind: Literal["earlier-save", "other-tree", "unreadable"]
    """Its kind. "earlier-save": A part of the newest cycle, which has all of its branches and entries in the same
    baskets. "other-tree": another tree under the same name. "unreadable": its record cannot be read, or its baskets
    cannot be compared with those of the newest."""
    kept: bool
    """Whether it is in the output."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Damaged(Shown):
    """A damaged object that is left out, or an object that lies in a damaged part of the file."""

    path: Path
    """The file."""
    object: str
    """The object with its cycle, a directory, or another damaged part of the file."""
    reason: str
    """The damage."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Summary(Shown):
    """The report of a rewrite."""

    bytes_read: int
    """Bytes of all inputs."""
    bytes_written: int
    """Bytes of the output."""
    appended: Appended | None
    """What was added to the output, if that was there and was updated in place."""
    tables: tuple[TableSummary, ...]
    """Trees and RNTuples of the output."""
    cut_flows: tuple[CutFlow, ...]
    """What the cuts left of the entries of each table."""
    duplicates: tuple[DuplicateKeys, ...]
    """The entries of each table that have the key of another, which are left out, where keys are to be unique."""
    unsorted: tuple[UnsortedInput, ...]
    """The inputs that are not sorted by the key by which entries are written, each by its first entry that is before an
    earlier one."""
    notes: tuple[str, ...]
    """Notes for the user."""
    unmerged: tuple[str, ...]
    """The notes about objects that were not merged, not carried over, or carried over with a loss."""
    skipped: tuple[Skipped, ...]
    """Inputs that were left out because they cannot be read."""
    older_cycles: tuple[OlderCycle, ...]
    """Older cycles of the inputs' trees."""
    damaged: tuple[Damaged, ...]
    """Damaged objects and directories of the other inputs, which are missing from the output."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnForecast(Shown):
    """The forecast of a column."""

    name: str
    """Branch names from the top down, with `/` between, or the path of a field."""
    depths: Depths
    """Clusters by depth."""
    bytes_before: int
    """Bytes on disk now, with keys or checksums."""
    bytes_after: int
    """Expected bytes on disk, the same way. Of a table that changes its container only the sum is known: each column
    has the same share as now."""
    baskets: int
    """Expected number of baskets or pages."""
    sampled: int
    """Bytes on disk that were tried; of a table that changes its container they are known for all columns together."""
    compression: str
    """Compression of the output."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Form(Shown):
    """The form of a column of objects: how it is spread over branches and streamed."""

    split_level: int
    """Split level of its branch."""
    streaming: str | None
    """Streaming of its collections that are not split, if there are any and their streaming is known."""
    branches: int
    """Branches with entries."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecodeForecast(Shown):
    """The forecast of a column that gets another split level or streaming."""

    name: str
    """The branch of the first level, or the path of a branch whose streaming alone changes."""
    before: Form
    """Its form now."""
    after: Form
    """Its form in the output."""
    bytes_before: int
    """Bytes on disk now, with keys."""
    bytes_after: int
    """Expected bytes on disk, with keys."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Forecast(Shown):
    """The forecast of a table."""

    path: str
    """Its path."""
    container: Literal["rntuple", "ttree"]
    """Whether the output is a tree or an RNTuple."""
    input_entries: int
    """Entries of the inputs."""
    entries: int
    """Entries of the output."""
    clusters: int | None
    """Clusters of the output, if they are known before."""
    columns: tuple[ColumnForecast, ...]
    """Branches, or fields, with entries; without columns that are recoded."""
    recodes: tuple[RecodeForecast, ...]
    """Columns that get another split level or streaming."""
    bytes_before: int
    """Bytes of its baskets, with keys, or of its pages, with checksums, now."""
    bytes_after: int
    """Expected bytes of its baskets, with keys, or of its pages, with checksums."""
    baskets: int
    """Expected number of baskets or pages."""
    metadata: int
    """Expected bytes of its metadata on disk: the tree's record, or anchor, header, footer and page lists; 0 if nothing
    was sampled."""
    uncertainty: int
    """The expected bytes are wrong by more than this in one case of twenty, as far as the samples tell."""
    sampled: int
    """Bytes on disk that were tried."""
    notes: tuple[str, ...]
    """Notes for the user."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outlook(Shown):
    """The forecast of a rewrite."""

    tables: tuple[Forecast, ...]
    """Trees and RNTuples of the output."""
    cut_flows: tuple[CutFlow, ...]
    """What the cuts leave of the entries of each table."""
    duplicates: tuple[DuplicateKeys, ...]
    """The entries of each table that have the key of another, where keys are to be unique."""
    bytes_before: int
    """Bytes of their baskets, with keys, and of their pages, with checksums, now."""
    bytes_after: int
    """Expected bytes of their baskets, with keys, and of their pages, with checksums."""
    bytes_read: int
    """Bytes of all inputs."""
    bytes_written: int
    """Expected bytes of the output, with all metadata and objects."""
    uncertainty: int
    """In one case of twenty the expected bytes are wrong by more than this, as far as the samples tell; 0 where all was
    tried."""
    sampled: int
    """Bytes on disk that were tried, of those that are not copied."""
    least_memory: int
    """The smallest memory budget possible."""
    memory: int
    """Largest memory that will be used, within the budget."""
    threads: int
    """Number of threads that fit into the budget."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConvertedColumn(Shown):
    """A converted column."""

    name: str
    """Its name in the output."""
    arrow: str
    """Its Arrow type."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LeftOut(Shown):
    """A column that cannot be converted."""

    name: str
    """Its name."""
    why: str
    """The reason."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Converted(Shown):
    """The report of a conversion."""

    tree: str
    """Path of the tree or RNTuple that was read or written."""
    container: Literal["rntuple", "ttree"] | None
    """Whether it is a tree or an RNTuple. None for another container."""
    entries: int
    """Number of converted entries."""
    cuts: tuple[CutStep, ...]
    """What the cuts leave of the entries."""
    columns: tuple[ConvertedColumn, ...]
    """The written columns."""
    left_out: tuple[LeftOut, ...]
    """The requested columns that cannot be converted."""
    notes: tuple[str, ...]
    """Further notes."""
    row_groups: int
    """Number of row groups read or written."""
    bytes_read: int
    """Bytes read from the inputs."""
    bytes_written: int
    """Bytes of the output."""
