"""HTML for notebooks: small tables of what a file, a directory or a tree has. Names and titles come from files, so
that every text is escaped, and long ones are cut in the middle."""

from __future__ import annotations

import html
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._shared.names import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Lines of a table; a note counts the others.
MOST_LINES = 100
#: Notebooks align cells to the right.
LEFT = ' style="text-align: left"'


class Number(str):
    """A text that is aligned as a number."""


def table(title: str, header: tuple[str, ...], lines: Iterable[tuple[object, ...]], count: int) -> str:
    """A table of `count` lines with a title. Numbers are aligned to the right, texts to the left."""
    made = [f"<p><strong>{_text(title)}</strong></p>", "<table><thead>", _line(header, "th"), "</thead><tbody>"]
    made += [_line(line, "td") for line in islice(lines, MOST_LINES)]
    made.append("</tbody></table>")
    if count > MOST_LINES:
        made.append(f"<p>and {count - MOST_LINES:,} more</p>")
    return "".join(made)


def fields(title: str, found: Sequence[tuple[str, Any]]) -> str:
    """A table of fields with their types. They have no compressed size of their own."""
    return table(title, ("name", "type"), ((name, one.typename) for name, one in found), len(found))


def branches(title: str, found: Sequence[tuple[str, Any]]) -> str:
    """A table of branches with their types and sizes."""
    if not found:
        return fields(title, found)
    where = " in the first file" if len(found[0][1]._table.files) > 1 else ""

    def lines() -> Iterator[tuple[object, ...]]:
        for name, one in found:
            before, after = one.uncompressed_bytes, one.compressed_bytes
            yield name, one.typename, one.interpretation, size(after), ratio(before, after)

    return table(title, ("name", "type", "array", f"size{where}", "ratio"), lines(), len(found))


def size(count: int) -> Number:
    """Bytes with a unit."""
    number, units = float(count), iter(("B", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while number >= 999.5 and unit != "TB":
        number, unit = number / 1000, next(units)
    return Number(f"{number:.{0 if unit == 'B' or number >= 99.5 else 1}f} {unit}")


def ratio(before: int, after: int) -> Number:
    """How many times smaller compression makes it."""
    return Number(f"{before / after:.2f}" if after else "")


def _line(cells: Iterable[object], tag: str) -> str:
    def cell(value: object) -> str:
        number = isinstance(value, Number)
        return f"<{tag}{'' if number else LEFT}>{_text(str(value))}</{tag}>"

    return f"<tr>{''.join(map(cell, cells))}</tr>"


def _text(text: str) -> str:
    return html.escape(short(text))
