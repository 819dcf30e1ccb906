"""Report of `sweep`; see docs/sweep-schema.md."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .reading import Figure
from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Subject(Shown):
    """The input."""

    input: Path
    """The file."""
    tree: str
    """Path of the tree."""
    others: bool
    """Whether the file has other objects, which are copied as well."""
    bytes: int
    """Bytes of the file."""
    entries: int
    """Entries of the tree that are copied, before a fraction is taken."""
    all_entries: int
    """Entries that the tree has."""
    columns: int
    """Columns of the first level."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Setting(Shown):
    """A key and one of its values, as users write them."""

    key: str
    """Such as `cluster`, `streams` or `column:Muon_*:compression`."""
    value: str
    """Such as `30MB`, in the form that it is printed in."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Point(Shown):
    """One combination that is measured."""

    name: str | None = None
    """Its name, if it was given one."""
    settings: tuple[Setting, ...]
    """The settings that tell it from other points."""
    layout: dict[str, Any]
    """The layout of its output."""
    streams: int
    """Number of files to write at once."""
    threads: int
    """Threads, all together."""
    fraction: float
    """Share of the entries that is copied."""
    variables: dict[str, str] = field(default_factory=dict)
    """Values for a command of the user, as they were written."""
    baseline: bool = False
    """Whether the sweep added the point to compare the others with: today's layout."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Head(Shown):
    """The description of a sweep."""

    schema: int
    """Version of the form of all files in the folder."""
    subject: Subject
    """The input."""
    points: tuple[Point, ...]
    """The points."""
    settings: dict[str, Any]
    """How they are measured."""
    versions: dict[str, str]
    """Versions of the measuring programs."""
    machine: dict[str, Any]
    """The host."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Against(Shown):
    """A figure, compared with another."""

    times: float
    """The one over the other."""
    chance: float
    """The probability of such a difference by chance alone."""
    differs: bool
    """Whether they differ beyond the noise."""
    test: Literal["mann-whitney-wilcoxon", "noise", "none"]
    """The test that was used. "mann-whitney-wilcoxon": the two-sided rank test of Mann, Whitney and Wilcoxon. "noise":
    A multiple of the noise of one run over all points: no rank test reaches `CHANCE` with so few runs. "none": none:
    there are too few runs even for the noise."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Line(Shown):
    """The figures of a point."""

    point: Point
    """The point."""
    dropped: int | None = None
    """Rounds after which it was dropped, if it was."""
    figures: dict[str, Figure]
    """Figures, by the names of the metrics."""
    against: dict[str, Against]
    """The same figures, compared with the reference."""
    columns: tuple[tuple[str, float], ...] = ()
    """Milliseconds for an entry of each column that is read alone."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StreamCost(Shown):
    """The cost of one more stream, at points that are otherwise the same."""

    settings: tuple[Setting, ...]
    """Their common settings."""
    metric: str
    """The figure."""
    slope: float
    """The cost of one more."""
    error: float | None
    """Its standard error, for more than two points."""
    start: float
    """The cost at zero."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Front(Shown):
    """Points that no other beats in both of two figures."""

    metrics: tuple[str, ...]
    """The figures."""
    points: tuple[int, ...]
    """The points, by the first figure."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Decision(Shown):
    """The decision, with its reasons."""

    goal: str
    """The figure that was made small, beside bytes on disk and copying."""
    chosen: int | None
    """The point; none if the limits cannot be met, or nothing was measured."""
    equals: tuple[int, ...]
    """Points within the limits that are as good within the noise."""
    reasons: tuple[str, ...]
    """The reasons."""
    impossible: tuple[str, ...]
    """Where limits cannot be met: which, and the nearest that could."""
    sensitivity: tuple[str, ...]
    """The gain of looser limits, and the cost of tighter ones."""
    layout: str | None
    """The chosen layout as TOML, as `rewrite` takes it."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Failure(Shown):
    """A job that failed."""

    point: int
    """The point."""
    kind: Literal["copy", "full", "columns", "sparse", "chosen"]
    """What it was to do. "copy": copies the entries into each of the streams. "full": reads everything. "columns":
    reads each column of the first level, alone. "sparse": reads the entries of an index file. "chosen": reads some
    columns."""
    reason: str
    """The reason: the exit code and the last lines of what it said."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Shown):
    """The findings of a sweep."""

    head: Head
    """The description of the sweep."""
    reference: int
    """The reference point: today's layout, or else the first."""
    lines: tuple[Line, ...]
    """Each point."""
    noise: dict[str, float]
    """Noise of one run of each figure, as a share, over all points."""
    streams: tuple[StreamCost, ...]
    """The cost of one more stream."""
    fronts: tuple[Front, ...]
    """Points that no other beats in both of two figures."""
    decision: Decision
    """The decision, for the first goal."""
    further: tuple[Decision, ...] = ()
    """The decisions for the further goals, in their order."""
    failures: tuple[Failure, ...] = ()
    """Jobs that failed: commands of the user."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate(Shown):
    """How long it will take."""

    points: int
    """Points."""
    jobs: int
    """Jobs."""
    seconds: float
    """Seconds that they will take, if none is dropped."""
    disk: int
    """Bytes of files at most, at one time."""
    commands: tuple[str, ...] = ()
    """The commands of the user, one of each job, as a shell takes them. Their time and files are not known before they
    run, and are 0 here."""
