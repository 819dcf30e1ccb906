"""The measured tables of a page, read back as figures, and sentences about them.

Conclusions are made of what a page shows, so that they cannot contradict it, and so that a test can make them again
from the page. Nothing is measured or decided here.
"""

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

#: The tables of a page by their keys, as `Context.block` keeps them.
Blocks = Mapping[str, Sequence[str]]

#: A change of less is none: the noise of a median of three runs.
NOISE = 0.03
STANDS, IN_PART, FAILS = "stands", "stands in part", "does not stand"
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_MISSING = re.compile(r"[-+]?\bnan\b")


@dataclass(frozen=True)
class Table:
    """One table: who was measured, if one program was, its head and its rows."""

    key: str
    who: str
    head: list[str]
    rows: list[list[str]]

    def row(self, start: str, then: str = "") -> list[str]:
        """The first row that begins so, with `then` in its second cell if that is given. LookupError names it."""
        for row in self.rows:
            if row[0].startswith(start) and (not then or row[1] == then):
                return row
        raise LookupError(f"{self.key} has no row {start!r} {then}".rstrip())

    def at(self, start: str, column: str, then: str = "") -> float:
        """The figure of a row in the column whose title ends so; NaN where a dash is."""
        return figure(self.row(start, then)[self.column(column)])

    def column(self, title: str) -> int:
        """The place of the first column whose title ends so. LookupError names it."""
        for place, one in enumerate(self.head):
            if one == title or (place and one.endswith(title)):
                return place
        raise LookupError(f"{self.key} has no column {title!r}")

    def programs(self) -> list[str]:
        """The programs before the colon of titles such as `basketry: RSS`, in their order."""
        return list(dict.fromkeys(title.partition(": ")[0] for title in self.head[1:] if ": " in title))


class Tables:
    """The tables of a page."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def of(self, key: str) -> Table:
        """The table of a block. LookupError if there is none."""
        lines = self._blocks.get(key, ())
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
        if len(rows) < 2:
            raise LookupError(f"{key} has no table")
        who = lines[0].removesuffix(":") if lines[0].endswith(":") else ""
        return Table(key, who, rows[0], rows[2:])

    def each(self, key: str) -> Iterator[Table]:
        """The tables of basketry and of ROOT with that name, as far as they were measured."""
        for runner in ("basketry", "root"):
            if any(line.startswith("|") for line in self._blocks.get(f"{key}-{runner}", ())):
                yield self.of(f"{key}-{runner}")

    def text(self, key: str) -> str:
        """The lines of a block."""
        return "\n".join(self._blocks.get(key, ()))


@dataclass(frozen=True)
class Finding:
    """What the tables say of a claim for one program."""

    who: str
    #: Whether each part of the claim holds; empty where there is nothing to judge.
    holds: list[bool]
    words: str

    def __str__(self) -> str:
        return f"{self.who}: {verdict(self.holds)}{self.words}"


@dataclass
class Claim:
    """A conclusion: what is claimed, what was found of each program, and why in words that need no figures."""

    says: str
    found: list[Finding] = field(default_factory=list)
    why: str = ""

    def of(self, who: str, holds: Iterable[bool], words: str) -> None:
        """Adds what was found of a program. Where a figure is missing, nothing is judged."""
        known = _MISSING.sub("-", words)
        self.found.append(Finding(who, list(holds) if known == words else [], known))

    def line(self) -> str:
        """The claim as an item of a list."""
        found = " ".join(f"{one}." for one in self.found) or "Not measured."
        return f"- **{self.says}** {found}{' ' + self.why if self.why else ''}"


def verdict(holds: Sequence[bool]) -> str:
    """Stands, in part, or not; nothing where there is nothing to judge."""
    if not holds:
        return ""
    return f"{STANDS if all(holds) else IN_PART if any(holds) else FAILS}; "


def figure(cell: str) -> float:
    """The first number of a cell; NaN if it has none."""
    found = _NUMBER.search(cell)
    return float(found[0]) if found else math.nan


def figures(cell: str) -> list[float]:
    """All numbers of a cell without what stands in brackets, such as those of `735 → 870 (1.2 x)`."""
    return [float(one) for one in _NUMBER.findall(re.sub(r"\(.*?\)", "", cell))]


def bracket(cell: str) -> float:
    """The number in brackets."""
    return figure(cell.partition("(")[2])


def over(one: float, other: float) -> float:
    """How many times as much; NaN of nothing."""
    return one / other if other else math.nan


def change(before: float, after: float) -> float:
    """A difference as a share of what was before."""
    return over(after, before) - 1


def per_cent(share: float, digits: int = 0) -> str:
    """A change with its sign."""
    return f"{100 * share:+.{digits}f} %"


def span(values: Iterable[float], digits: int = 1) -> str:
    """The least and the most, or one of them where they are the same."""
    found = [value for value in values if not math.isnan(value)]
    if not found:
        return "nan"
    ends = [f"{min(found):.{digits}f}", f"{max(found):.{digits}f}"]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def span_of_changes(values: Iterable[float], digits: int = 0) -> str:
    """The least and the most of changes."""
    found = sorted(value for value in values if not math.isnan(value))
    if not found:
        return "nan"
    ends = [per_cent(found[0], digits), per_cent(found[-1], digits)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def middle(values: Iterable[float]) -> float:
    """The median; NaN of nothing."""
    found = [value for value in values if not math.isnan(value)]
    return statistics.median(found) if found else math.nan
