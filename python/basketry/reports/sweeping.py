"""What `sweep` reports; docs/sweep-schema.md says more."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing that was varied."""

    key: str
    """What: a key of the layout, streams, threads or fraction."""
    value: str
    """Its value at this point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of the grid."""

    name: str | None = None
    """What the grid calls it, if it does."""
    settings: tuple[Setting, ...]
    """What was varied, as it is here."""
    layout: dict[str, Any]
    """The layout."""
    streams: int
    """Files that are written at once."""
    threads: int
    """Threads of a job."""
    fraction: float
    """Share of the entries that is copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is copied and read."""

    input: Path
    """The file."""
    tree: str
    """Its tree."""
    others: bool
    """Whether its other objects are copied as well."""
    bytes: int
    """Of the file."""
    entries: int
    """Entries that are copied."""
    all_entries: int
    """Entries of the tree."""
    columns: int
    """Of the first level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the sweep is about, and what measured it."""

    schema: int
    """Version of this form."""
    subject: Subject
    """The input."""
    points: tuple[Point, ...]
    """All points of the grid."""
    settings: dict[str, Any]
    """How they were measured."""
    versions: dict[str, str]
    """Who measured."""
    machine: dict[str, Any]
    """Where: `host`, `kernel`, `processor`, `processors`, `memory`."""


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
    """Of such a difference where there is none."""
    differs: bool
    """Whether it is beyond the noise."""
    test: str
    """What decided that: `mann-whitney-wilcoxon`, `noise` or `none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What was measured at a point."""

    point: Point
    """The point."""
    dropped: int | None = None
    """After so many rounds, if it was dropped."""
    figures: dict[str, Figure]
    """By name, see the schema's table."""
    against: dict[str, Against]
    """Beside the reference."""
    columns: tuple[tuple[str, float], ...] = ()
    """Columns of the first level that were read alone, and the milliseconds for an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCost:
    """What one more stream costs: a line through all runs with the same settings."""

    settings: tuple[Setting, ...]
    """What the points share."""
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
    """Points that no other beats in both of two figures."""

    metrics: tuple[str, ...]
    """The two."""
    points: tuple[int, ...]
    """By number, in the order of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which point is best, and why."""

    goal: str
    """The figure that is made small."""
    chosen: int | None
    """The point, by number, if the limits can be met."""
    equals: tuple[int, ...]
    """Points within the limits that are as good within the noise."""
    reasons: tuple[str, ...]
    """In words."""
    impossible: tuple[str, ...]
    """Limits that cannot be met."""
    sensitivity: tuple[str, ...]
    """What the next looser limit would buy, and the next tighter one cost."""
    layout: str | None
    """Of the chosen point, as TOML: what `rewrite(layout=...)` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What came of a sweep."""

    head: Head
    """What it is about."""
    reference: int
    """The point that the others are held against."""
    lines: tuple[Line, ...]
    """Each point's figures."""
    noise: dict[str, float]
    """Standard deviation of one run of each figure, as a share."""
    streams: tuple[StreamCost, ...]
    """What one more stream costs."""
    fronts: tuple[Front, ...]
    """Pareto fronts."""
    decision: Decision
    """What is best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a sweep will take."""

    points: int
    """Points of the grid."""
    jobs: int
    """Jobs that are still to be run."""
    seconds: float
    """By the clock."""
    disk: int
    """Bytes of files while it lasts."""
