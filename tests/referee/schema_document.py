"""Compares a page on a JSON schema with printed JSON: each printed field is documented, and each documented field is
printed.

A heading names the places of its objects (`trees[].branches[]`, `figures{}`; none before the first heading: the whole).
The fields are the words in the first column of the table headed "field". One marked with a degree sign may be left out.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Fields:
    """The fields of one kind of object."""

    always: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)


def rows(document: Path, header: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of all tables with this header in the first column, each with the heading above it."""
    heading, within = "", False
    for line in document.read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("|") else []
        if not cells or cells[0] == header:
            within = bool(cells)
        elif within and not line.startswith("|---"):
            yield heading, cells


def documented(document: Path) -> dict[str, Fields]:
    """Fields by the place of their objects."""
    found: dict[str, Fields] = {}
    for heading, cells in rows(document, "field"):
        for place in re.findall(r"`([^`]+)`", heading) or [""]:
            fields = found.setdefault(place, Fields())
            for name, mark in re.findall(r"`([^`]+)`(°?)", cells[0]):
                (fields.perhaps if mark else fields.always).add(name)
    return found


def objects(value: Any, place: str) -> Iterator[dict[str, Any]]:
    """The objects at a place; null counts as no object."""
    if isinstance(value, list):
        for item in value:
            yield from objects(item, place)
    elif place and value is not None:
        first, _, rest = place.partition(".")
        inner = value.get(first.removesuffix("[]").removesuffix("{}"))
        yield from objects(list(inner.values()) if first.endswith("{}") and inner is not None else inner, rest)
    elif value is not None:
        yield value


def differences(document: Path, reports: list[Any], rare: Collection[str] = ()) -> list[str]:
    """Differences between the document and the printed JSON, and kinds of objects that were never printed and are not
    rare."""
    found: list[str] = []
    for place, fields in documented(document).items():
        printed = [set(item) for report in reports for item in objects(report, place)]
        if not printed:
            found += [] if place in rare else [f"{place}: none was printed"]
            continue
        lacking = fields.always - printed[0].intersection(*printed)
        besides = set().union(*printed) - fields.always - fields.perhaps
        found += [f"{place}: {name} is not always printed" for name in sorted(lacking)]
        found += [f"{place}: {name} is not documented" for name in sorted(besides)]
    return found
