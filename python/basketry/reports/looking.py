"""Reports of `ls`, `show`, `count`, `schema` and `stats`."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnType:
    """A column and its types."""

    name: str
    """Name; below it the names of the branches above it, with slashes."""
    title: str
    """Title."""
    type_name: str
    """Type in C++."""
    arrow: str
    """Type in Arrow."""
    unreadable: str | None
    """Why its values cannot be read; none if they can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTable:
    """A table in a list."""

    entries: int
    """Number of entries."""
    columns: tuple[ColumnType, ...]
    """Columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedObject:
    """An object."""

    path: str
    """Path in the file."""
    name: str
    """Name."""
    class_: str
    """Class."""
    title: str
    """Title."""
    cycle: int
    """Cycle."""
    newest: bool
    """Whether no other object of this name has a higher cycle."""
    directory: bool
    """Whether it is a directory."""
    depth: int
    """Number of directories above it that are listed as well."""
    bytes: int
    """Bytes of its record on disk. A tree's baskets and an RNTuple's pages are records of their own."""
    raw_bytes: int
    """Bytes of the record before compression."""
    date: str
    """Date of writing, as `2026-11-27 18:45:00`, in the time of the machine that wrote it."""
    table: ListedTable | None
    """Entries and columns, if it is a table and these were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file and its objects."""

    path: str
    """Name, as given."""
    bytes: int
    """Bytes."""
    asked: str | None
    """What is asked for of it, if not all."""
    objects: tuple[ListedObject, ...]
    """Its objects, in the order of the file's lists, each directory followed by what is in it."""
    problems: tuple[str, ...]
    """What could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The objects of some files."""

    files: tuple[ListedFile, ...]
    """The files, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCount:
    """The entries of a table of a file."""

    file: str
    """The file, as given."""
    table: str
    """Path of the table."""
    container: Literal["rntuple", "ttree"] | None
    """Its container; none of a Parquet file."""
    entries: int
    """Number of entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTotal:
    """The entries of tables of one path in all files."""

    table: str
    """Path of the tables."""
    files: int
    """Number of files that have it."""
    entries: int
    """Number of entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The entries of tables."""

    tables: tuple[TableCount, ...]
    """The tables, file by file."""
    totals: tuple[TableTotal, ...]
    """For each path the entries of all files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDifference:
    """A column in which two tables differ."""

    name: str
    """Name."""
    first: str | None
    """Its types in the first table; none if it is not there."""
    second: str | None
    """Its types in the second table; none if it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """The columns of a table."""

    file: str
    """The file, as given."""
    table: str
    """Path of the table in it."""
    title: str
    """Title of the table."""
    container: Literal["rntuple", "ttree"] | None
    """Its container; none of a Parquet file."""
    entries: int
    """Number of entries."""
    columns: tuple[ColumnType, ...]
    """Columns, in their order."""
    differences: tuple[ColumnDifference, ...] | None
    """How another table differs; none if there is no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutStep:
    """What one cut leaves."""

    cut: str
    """The expression."""
    before: int
    """Entries before the cut."""
    after: int
    """Entries after it."""
    weight_before: float | None
    """The sum of the weights of the entries before it, if a weight is given."""
    weight_after: float | None
    """The sum of the weights of the entries after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An entry."""

    entry: int
    """Its number."""
    values: tuple[Any, ...]
    """A value for each column that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Some entries of a table."""

    file: str
    """The file, as given."""
    table: str
    """Path of the table."""
    container: Literal["rntuple", "ttree"] | None
    """Its container; none of a Parquet file."""
    entries: int
    """Entries of the table."""
    cuts: tuple[CutStep, ...]
    """What the cuts leave of the entries that were tested."""
    columns: tuple[ColumnType, ...]
    """The columns that are shown."""
    more_columns: int
    """Columns that are not shown."""
    rows: tuple[Row, ...]
    """The rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile."""

    share: float
    """Share of the numbers that are less."""
    value: float
    """The number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthStatistics:
    """Lengths of lists."""

    min: int
    """The shortest."""
    max: int
    """The longest."""
    mean: float
    """The mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """The figures of a column."""

    name: str
    """Name."""
    type_name: str
    """Type in C++."""
    arrow: str
    """Type in Arrow."""
    unreadable: str | None
    """Why it cannot be read; then nothing else is known."""
    values: int
    """Values: numbers, truth values (0 and 1), texts; of lists those in them."""
    nulls: int
    """Entries or items without a value."""
    nans: int
    """Numbers that are NaN."""
    infinite: int
    """Numbers that are infinite."""
    min: float | None
    """The least number."""
    max: float | None
    """The largest number."""
    mean: float | None
    """Mean of the finite numbers."""
    deviation: float | None
    """Standard deviation of the finite numbers."""
    quantiles: tuple[Quantile, ...]
    """Quantiles of the finite numbers."""
    different: int | None
    """Different values; none if there are more than 65,536."""
    exact: bool
    """Whether quantiles and histogram are of all finite numbers, or of a random sample of 65,536."""
    lengths: LengthStatistics | None
    """Lengths of lists, or of texts in characters."""
    histogram: tuple[int, ...]
    """Counts of the finite numbers in bins of equal width from the least to the largest; in a sample of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics:
    """The figures of a table."""

    files: tuple[str, ...]
    """The files, as given."""
    table: str
    """Path of the table."""
    container: Literal["rntuple", "ttree"] | None
    """Its container; none of a Parquet file."""
    all_entries: int
    """Entries of the table."""
    entries: int
    """Entries that were looked at."""
    cuts: tuple[CutStep, ...]
    """What the cuts leave of the entries."""
    columns: tuple[ColumnStatistics, ...]
    """The columns."""
