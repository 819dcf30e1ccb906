"""How reports look at the prompt and in notebooks: a page at most, and all of it on request."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import _core
from .._shared.names import plain, short
from ..reading.notebook import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

#: Lines of a page.
PAGE = 40
#: Longer lists of records are counted in a page.
LISTED = 3
#: A report that is no longer stands in one line.
LINE = 100


class Shown:
    """What a report can show of itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        """A page at most: one line for each value, and for each long list one with its length."""
        name, own = type(self).__name__, [(one.name, getattr(self, one.name)) for one in fields(self)]  # type: ignore[arg-type]
        if not any(is_dataclass(one) or (isinstance(one, tuple | dict) and one) for _, one in own):
            line = f"{name}({', '.join(f'{key}={short(repr(one))}' for key, one in own)})"
            if len(line) <= LINE:
                return line
        found = list(islice(_lines(self, "", LISTED), PAGE + 1))
        made = [f"<{name}>", *_aligned(found[:PAGE])]
        if len(found) > PAGE:
            made.append("  ... and more: show() prints all")
        return "\n".join(made)

    def show(self, stream: TextIO | None = None) -> None:
        """Prints all values, one in a line, to a stream, by default standard output."""
        print(f"<{type(self).__name__}>", *_aligned(list(_lines(self, "", None))), sep="\n", file=stream or sys.stdout)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        found = list(_lines(self, "", LISTED))
        return table(type(self).__name__, ("field", "value"), found, len(found))


def _lines(value: Any, path: str, most: int | None) -> Iterator[tuple[str, str]]:
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
    if not any(is_dataclass(one) for _, one in parts):
        text = _core.public_text(repr(value))
        yield path, plain(text) if most is None else short(text)
    elif most is not None and (len(parts) > most or "[" in path):
        kind = next(type(one).__name__ for _, one in parts if is_dataclass(one))
        yield path, f"{len(parts)} of {kind}"
    else:
        for below, one in parts:
            yield from _lines(one, below, most)


def _aligned(found: list[tuple[str, str]]) -> list[str]:
    width = min(40, max((len(path) for path, _ in found), default=0))
    return [f"  {path:<{width}}  {text}" for path, text in found]
