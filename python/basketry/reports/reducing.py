"""Report of `precision`; see docs/precision-schema.md."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Repeated(Shown):
    """How often a value occurs."""

    value: float
    """It."""
    count: int
    """How often."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrecisionLimit(Shown):
    """The errors that are allowed in one column. Each that is there must be kept."""

    relative: float | None
    """Share of each number by which it may change."""
    absolute: float | None
    """By how much each number may change."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrecisionChoice(Shown):
    """An encoding that was tried."""

    encoding: str
    """It, as the layout key `encoding` takes it."""
    bytes: int
    """Bytes on disk, as expected from a sample."""
    largest_absolute: float
    """The largest change of any number in the column."""
    largest_relative: float | None
    """The largest change of any number as a share of it. None if a zero changes."""
    mean_shift: float | None
    """The change of the mean of the ordinary numbers, in standard deviations."""
    width_change: float | None
    """The change of the standard deviation, as a share of it."""
    holds: bool
    """Whether the kept values, infinities and what is no number stay what they are, and all numbers can be stored."""
    allowed: bool
    """Whether it holds, and its errors are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnPrecision(Shown):
    """A column of floating-point numbers."""

    name: str
    """Its name, as rules of a layout have it."""
    typename: str
    """Its type."""
    stored: int
    """Bytes on disk."""
    values: int
    """Numbers in it."""
    least: float | None
    """The least of its ordinary numbers: those that are finite and not kept."""
    most: float | None
    """The largest of its ordinary numbers."""
    mean: float | None
    """The mean of its ordinary numbers."""
    width: float | None
    """The standard deviation of its ordinary numbers."""
    kept: tuple[Repeated, ...]
    """Values that stand for "no number", which every proposed encoding keeps: those that stand apart from the others
    and repeat. Of a column with few values all."""
    nans: int
    """How many are none (NaN). They stay none."""
    infinite: int
    """How many are infinite. They stay infinite."""
    mantissa: int
    """Bits of mantissa that its numbers use; of a float 23, of a double 52, or fewer if the last ones are zero in all
    numbers."""
    reduced: str | None
    """How its precision is reduced in the file already; then nothing is tried."""
    limit: PrecisionLimit
    """The errors that are allowed."""
    choices: tuple[PrecisionChoice, ...]
    """What encodings would save, those with the fewest bytes first."""
    proposed: str | None
    """The proposed encoding: the one with the fewest bytes among those that are allowed. None if the column stays as it
    is."""
    expected: int
    """Bytes on disk in it, as expected from a sample."""
    reason: str | None
    """Why nothing is proposed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TablePrecision(Shown):
    """A table."""

    path: str
    """Its path."""
    container: Literal["rntuple", "ttree"]
    """Its container."""
    entries: int
    """Its entries."""
    columns: tuple[ColumnPrecision, ...]
    """Its columns of floating-point numbers, the largest first."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Precision(Shown):
    """The report of `precision`."""

    schema: int
    """Version of this form."""
    files: tuple[Path, ...]
    """The files."""
    stored: int
    """Bytes on disk of all columns, those of other numbers as well."""
    floats: int
    """Bytes on disk of the columns of floating-point numbers."""
    expected: int
    """Bytes on disk of all columns in the proposed encodings, as expected from samples."""
    tables: tuple[TablePrecision, ...]
    """The tables, in the order of the file."""
    layout: str | None
    """The layout with the proposed encodings, as TOML. None if none is proposed."""
    commands: tuple[str, ...]
    """Commands that apply the layout to the first file, and prove its errors."""
    notes: tuple[str, ...]
    """Notes."""
