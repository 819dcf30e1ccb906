"""How reports look at the prompt and in notebooks: a page at most, and all of it on request. Tables in them are made in
`tables`."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._shared.names import plain, short
from ..reading import notebook
from . import tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

#: Lines of a page.
PAGE = 40
#: Longer lists of records are counted in a page.
LISTED = 3
#: A report that is no longer stands in one line.
LINE = 100
#: A table needs room for its header and this many lines.
LEAST = 3


class Line(NamedTuple):
    """A value of a report."""

    path: str
    text: str
    #: The records of a list that is counted.
    records: Sequence[Any] = ()


class Shown:
    """What a report can show of itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        """A page at most: one line for each value, and for each long list one with its length, the first with a table
        of what its records say, as far as there is room."""
        name, own = type(self).__name__, [(one.name, getattr(self, one.name)) for one in fields(self)]  # type: ignore[arg-type]
        if not any(is_dataclass(one) or (isinstance(one, tuple | dict) and one) for _, one in own):
            line = f"{name}({', '.join(f'{key}={short(repr(one))}' for key, one in own)})"
            if len(line) <= LINE:
                return line
        table = tables.of_report(self)
        found = [one for one in islice(_lines(self, "", LISTED), PAGE + 1) if table is None or table.leaves(one.path)]
        made = [f"<{name}>", *_aligned(found[:PAGE])]
        if table is None and (counted := next((one for one in found if one.records), None)) is not None:
            table = tables.of_records(counted.records, counted.path)
        room = PAGE - len(found) - 1
        if len(found) > PAGE:
            made.append("  ... and more: show() prints all")
        elif table is not None and room >= LEAST:
            lines = tables.text(table, room, LINE)
            left = len(table.lines) - (len(lines) - (2 if table.title else 1))
            made += [*lines, f"  ... and {left:,} more: show() prints all"] if left else lines
        return "\n".join(made)

    def show(self, stream: TextIO | None = None) -> None:
        """Prints all values, one in a line, to a stream, by default standard output."""
        print(f"<{type(self).__name__}>", *_aligned(list(_lines(self, "", None))), sep="\n", file=stream or sys.stdout)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        name = type(self).__name__
        if (own := tables.of_report(self)) is not None:
            return notebook.table(name, tuple(own.header), map(tuple, own.lines), len(own.lines))
        found = [(one.path, one.text) for one in _lines(self, "", LISTED)]
        return notebook.table(name, ("field", "value"), found, len(found))


def _lines(value: Any, path: str, most: int | None) -> Iterator[Line]:
    """Paths with their values. Lists of more than `most` records, and those in others, are counted."""
    if is_dataclass(value):
        dot = f"{path}." if path else ""
        for one in fields(value):
            yield from _lines(getattr(value, one.name), f"{dot}{one.name}", most)
        return
    parts: list[tuple[str, Any]] = []
    if isinstance(value, tuple):
        parts = [(f"{path}[{place}]", one) for place, one in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(f"{path}[{short(repr(key))}]", one) for key, one in value.items()]
    records = [one for _, one in parts if is_dataclass(one)]
    if not records:
        text = _core.public_text(repr(value))
        yield Line(path, plain(text) if most is None else short(text))
    elif most is not None and (len(parts) > most or "[" in path):
        yield Line(path, f"{len(parts)} of {type(records[0]).__name__}", records)
    else:
        for below, one in parts:
            yield from _lines(one, below, most)


def _aligned(found: list[Line]) -> list[str]:
    width = min(40, max((len(one.path) for one in found), default=0))
    return [f"  {one.path:<{width}}  {one.text}" for one in found]
