"""Reports of `ls`, `show`, `count`, `schema`, `stats` and `draw`."""

from dataclasses import dataclass
from typing import Any, Literal

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnType(Shown):
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ListedTable(Shown):
    """A table in a list."""

    entries: int
    """Number of entries."""
    index: str | None
    """The expressions of its index (`TTreeIndex`), if it is a tree that has one."""
    columns: tuple[ColumnType, ...]
    """Columns."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ListedObject(Shown):
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ListedFile(Shown):
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Listing(Shown):
    """The objects of some files."""

    files: tuple[ListedFile, ...]
    """The files, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableCount(Shown):
    """The entries of a table of a file."""

    file: str
    """The file, as given."""
    table: str
    """Path of the table."""
    container: Literal["rntuple", "ttree"] | None
    """Its container; none of a Parquet file."""
    entries: int
    """Number of entries."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableTotal(Shown):
    """The entries of tables of one path in all files."""

    table: str
    """Path of the tables."""
    files: int
    """Number of files that have it."""
    entries: int
    """Number of entries."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Counts(Shown):
    """The entries of tables."""

    tables: tuple[TableCount, ...]
    """The tables, file by file."""
    totals: tuple[TableTotal, ...]
    """For each path the entries of all files."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnDifference(Shown):
    """A column in which two tables differ."""

    name: str
    """Name."""
    first: str | None
    """Its types in the first table; none if it is not there."""
    second: str | None
    """Its types in the second table; none if it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableColumns(Shown):
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
    index: str | None
    """The expressions of its index (`TTreeIndex`), if it is a tree that has one."""
    columns: tuple[ColumnType, ...]
    """Columns, in their order."""
    differences: tuple[ColumnDifference, ...] | None
    """How another table differs; none if there is no other."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CutStep(Shown):
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
    clusters_skipped: int
    """Clusters of which nothing was read, since what is known of their values decides the cut: of the one that none of
    their entries passes, or else of the last one."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Row(Shown):
    """An entry."""

    entry: int
    """Its number."""
    values: tuple[Any, ...]
    """A value for each column that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rows(Shown):
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
    notes: tuple[str, ...]
    """What users should know, such as columns that hold fewer entries than their table."""
    rows: tuple[Row, ...]
    """The rows."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Quantile(Shown):
    """A quantile."""

    share: float
    """Share of the numbers that are less."""
    value: float
    """The number."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LengthStatistics(Shown):
    """Lengths of lists."""

    min: int
    """The shortest."""
    max: int
    """The longest."""
    mean: float
    """The mean."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnStatistics(Shown):
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
    missing: int
    """Entries that the column does not hold, as it has fewer than its table: they have no value, and are not among the
    nulls."""
    nans: int
    """Numbers that are NaN."""
    infinite: int
    """Numbers that are infinite."""
    min: int | float | None
    """The least number: of a column of whole numbers a whole one, with all its digits."""
    max: int | float | None
    """The largest number."""
    mean: float | None
    """Mean of the finite numbers."""
    deviation: float | None
    """Standard deviation of the finite numbers."""
    quantiles: tuple[Quantile, ...]
    """Quantiles of the finite numbers."""
    different: int | None
    """Different values; none of a column with values that are neither numbers nor texts."""
    different_exact: bool
    """Whether different values are counted, or, of more than 65,536, estimated: within about 1%."""
    exact: bool
    """Whether quantiles and histogram are of all finite numbers, or of a random sample of 65,536."""
    lengths: LengthStatistics | None
    """Lengths of lists, or of texts in characters."""
    histogram: tuple[int, ...]
    """Counts of the finite numbers in bins of equal width from the least to the largest; in a sample of them."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableStatistics(Shown):
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
    notes: tuple[str, ...]
    """What users should know, such as columns that hold fewer entries than their table."""
    columns: tuple[ColumnStatistics, ...]
    """The columns."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HistogramAxis(Shown):
    """An axis."""

    title: str
    """Title."""
    edges: tuple[float, ...]
    """Edges of the bins, one more than there are bins."""
    labels: tuple[str, ...]
    """Labels of the bins; empty if there are none."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Histogram(Shown):
    """A histogram or profile of ROOT's own classes."""

    title: str
    """Title."""
    axes: tuple[HistogramAxis, ...]
    """Axes, one for each dimension."""
    profile: bool
    """Whether bins hold means of values: a profile."""
    contents: tuple[float, ...]
    """The content of each cell as `TH1::GetBinContent` gives it; the first axis runs fastest, each axis with its
    underflow and overflow."""
    errors: tuple[float, ...]
    """The error of each cell, as `GetBinError` of `TH1` or of the profile gives it."""
    entries: float
    """Number of entries."""
    means: tuple[float, ...]
    """Mean of each axis, by the sums that were kept while it was filled."""
    deviations: tuple[float, ...]
    """Standard deviation of each axis."""
    waiting: int
    """Entries that wait in the buffer of a histogram whose limits are not chosen yet; they are in no bin."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Curve(Shown):
    """A histogram of a picture."""

    name: str
    """What it is called beside the others."""
    files: tuple[str, ...]
    """The files, as given."""
    path: str
    """Path of the table, or of the histogram."""
    class_: str | None
    """Class of a histogram that a file has; none of one that was filled."""
    cut: str | None
    """The condition."""
    weight: str | None
    """The weight."""
    entries: int | None
    """Entries of the table that were looked at; none of a histogram that a file has."""
    filled: int
    """Items that were filled: numbers that pass the cut, in bins and outside of them."""
    no_number: int
    """Items that pass the cut and are NaN, or have no value. They are in no bin."""
    below: int
    """Items below the first bin of an axis."""
    above: int
    """Items above the last bin of an axis."""
    histogram: Histogram
    """Axes and bins."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Drawing(Shown):
    """Histograms that are drawn in one picture."""

    content: str
    """What the contents of bins are."""
    curves: tuple[Curve, ...]
    """The curves, one for each sample and cut."""
