"""Report of `sweep`; see docs/sweep-schema.md."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The value of one axis."""

    key: str
    """A key of the layout, or streams, threads or fraction."""
    value: str
    """Its value at this point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of the grid."""

    name: str | None = None
    """Name in the grid, if any."""
    settings: tuple[Setting, ...]
    """The value of each axis."""
    layout: dict[str, Any]
    """The layout."""
    streams: int
    """Files written at once."""
    threads: int
    """Threads of a job."""
    fraction: float
    """Share of copied entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The input of the sweep."""

    input: Path
    """The file."""
    tree: str
    """Its tree."""
    others: bool
    """Whether its other objects are copied as well."""
    bytes: int
    """Of the file."""
    entries: int
    """Copied entries."""
    all_entries: int
    """Entries of the tree."""
    columns: int
    """Of the first level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The definition of the sweep, and its runner."""

    schema: int
    """Version of this form."""
    subject: Subject
    """The input."""
    points: tuple[Point, ...]
    """All points of the grid."""
    settings: dict[str, Any]
    """How they were measured."""
    versions: dict[str, str]
    """Versions of the runner."""
    machine: dict[str, Any]
    """The machine: `host`, `kernel`, `processor`, `processors`, `memory`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of some runs."""

    median: float
    """The median."""
    noise: float
    """1.4826 times the median of absolute deviations, as a share of the median."""
    least: float
    """The smallest."""
    most: float
    """The largest."""
    runs: int
    """How many there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A figure beside that of the reference."""

    times: float
    """One median over the other."""
    chance: float
    """Probability of such a difference by chance."""
    differs: bool
    """Whether it is beyond the noise."""
    test: str
    """The test: `mann-whitney-wilcoxon`, `noise` or `none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Measurements of a point."""

    point: Point
    """The point."""
    dropped: int | None = None
    """Number of rounds before it was dropped, if it was."""
    figures: dict[str, Figure]
    """By name, see the schema's table."""
    against: dict[str, Against]
    """Beside the reference."""
    columns: tuple[tuple[str, float], ...] = ()
    """Columns of the first level, read alone, with milliseconds for an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCost:
    """Cost of one more stream: a line through all runs with the same settings."""

    settings: tuple[Setting, ...]
    """Settings that the points share."""
    metric: str
    """The figure."""
    slope: float
    """Of one more stream."""
    start: float
    """The line's value at no stream."""
    error: float | None
    """Standard error of the slope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Pareto front in two figures."""

    metrics: tuple[str, ...]
    """The two."""
    points: tuple[int, ...]
    """By number, in the order of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The best point, and the reasons."""

    goal: str
    """The figure to minimise."""
    chosen: int | None
    """The point, by number, if the limits can be met."""
    equals: tuple[int, ...]
    """Points within the limits that are equally good within the noise."""
    reasons: tuple[str, ...]
    """In words."""
    impossible: tuple[str, ...]
    """Limits that cannot be met."""
    sensitivity: tuple[str, ...]
    """Gain of the next looser limit, and cost of the next tighter one."""
    layout: str | None
    """Layout of the chosen point as TOML, for `rewrite(layout=...)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Result of a sweep."""

    head: Head
    """The definition of the sweep."""
    reference: int
    """The point that the others are held against."""
    lines: tuple[Line, ...]
    """Each point's figures."""
    noise: dict[str, float]
    """Standard deviation of one run of each figure, as a share."""
    streams: tuple[StreamCost, ...]
    """Cost of one more stream."""
    fronts: tuple[Front, ...]
    """Pareto fronts."""
    decision: Decision
    """The decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Expected duration of a sweep."""

    points: int
    """Points of the grid."""
    jobs: int
    """Remaining jobs."""
    seconds: float
    """By the clock."""
    disk: int
    """Bytes of files while it lasts."""
