"""Tables in reports: records by their plain fields, and the entries that `show` gives by their columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from .. import _core
from .._shared.names import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Letters of a cell.
WIDEST = 32


@dataclass(frozen=True)
class Table:
    """Lines of cells below a header."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    #: Columns of numbers, which are aligned to the right.
    numbers: Sequence[bool]
    #: The fields of the report that the table has.
    instead_of: tuple[str, ...] = ()
    #: A line above the header, if it needs one.
    title: str = ""

    def leaves(self, path: str) -> bool:
        """Whether the table does not have what stands at a path."""
        return path.partition("[")[0] not in self.instead_of


def of_report(report: Any) -> Table | None:
    """The table that a report is for; most are for none."""
    make = OWN.get(type(report).__name__)
    return None if make is None else make(report)


def of_records(records: Sequence[Any], path: str) -> Table | None:
    """A table of the fields of records that are numbers or texts in some of them; a list of them stands at that path.
    With one such field it would say little."""
    names = [one.name for one in fields(records[0])]
    columns = [(name, [getattr(one, name) for one in records]) for name in names]
    plains = [(name, found) for name, found in columns if _is_plain(found)]
    if len(plains) < 2:
        return None
    lines = list(zip(*([_cell(one) for one in found] for _, found in plains), strict=True))
    header, numbers = [name.rstrip("_") for name, _ in plains], [_is_number(found) for _, found in plains]
    return Table(header, lines, numbers, title=f"{path}:")


def text(table: Table, most: int, width: int) -> list[str]:
    """The title, the header and the first lines, `most` together, of the columns that fit a width."""
    titles = [f"  {table.title}"] if table.title else []
    shown = [list(table.header), *map(list, islice(table.lines, most - 1 - len(titles)))]
    made = [" " for _ in shown]
    for place, is_number in enumerate(table.numbers):
        cells = [line[place] for line in shown]
        wide = max(map(len, cells))
        if len(made[0]) + 2 + wide > width:
            made[0] += "  ..."
            break
        made = [f"{one} {cell:{'>' if is_number else '<'}{wide}} " for one, cell in zip(made, cells, strict=True)]
    return [*titles, *(one.rstrip() for one in made)]


def _of_rows(report: Any) -> Table:
    """The entries of `show`, with their columns."""
    header = ["entry", *(plain(one.name) for one in report.columns)]
    lines = [[str(row.entry), *map(_cell, row.values)] for row in report.rows]
    columns = list(zip(*(row.values for row in report.rows), strict=True)) or [()] * len(report.columns)
    return Table(header, lines, [True, *map(_is_number, columns)], ("columns", "rows"))


def _is_plain(found: Sequence[Any]) -> bool:
    return any(one is not None for one in found) and all(
        one is None or isinstance(one, str | int | float | PurePath) for one in found
    )


def _is_number(found: Sequence[Any]) -> bool:
    return all(isinstance(one, int | float) or one is None for one in found)


def _cell(value: Any) -> str:
    """A value in short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return _core.shortened(f"[{', '.join(map(_cell, value))}]", WIDEST)
    return "" if value is None else _core.shortened(plain(_core.public_text(str(value))), WIDEST)


#: Reports that are for a table.
OWN: dict[str, Callable[[Any], Table]] = {"Rows": _of_rows}
