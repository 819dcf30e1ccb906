"""What `rewrite`, `merge` and `verify` report."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """What became of one tree."""

    path: str
    """Path of the tree."""
    entries: int
    """Entries."""
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
    skipped: tuple[Skipped, ...]
    """Inputs that were left out since they cannot be read."""


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
class Forecast:
    """What a table will come to."""

    path: str
    """Path of the tree."""
    entries: int
    """Entries of the output."""
    clusters: int
    """Clusters of the output."""
    columns: tuple[ColumnForecast, ...]
    """Columns with entries."""
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
    differences: tuple[Difference, ...]
    """All differences: those of directories and trees in the order of the first side, then those of objects."""
    notes: tuple[str, ...]
    """What the user should know."""
