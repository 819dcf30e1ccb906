"""Tables of texts, and the options of listing branches and objects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypedDict

from .._shared.names import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from .._shared.names import Filter


def print_columns(lines: Sequence[Sequence[str]], widths: Sequence[int], stream: TextIO | None) -> None:
    """Prints lines of texts, each cut to the width of its column; the first line is the header."""
    out = stream or sys.stdout
    for number, line in enumerate([plain(text) for text in texts] for texts in lines):
        cut = (w if len(w) <= n else f"{w[: n - 3]}..." for w, n in zip(line, widths, strict=True))
        out.write(" | ".join(f"{w:{n}}" for w, n in zip(cut, widths, strict=True)).rstrip() + "\n")
        if number == 0:
            out.write("-+-".join("-" * width for width in widths) + "\n")


class Filters(TypedDict, total=False):
    """Options that choose branches."""

    #: A glob, `"/regex/i"`, a function, or several of these, compared with the name alone and with the path.
    filter_name: Filter
    #: The same for C++ types.
    filter_typename: Filter
    #: A function of the branch.
    filter_branch: Callable[[Any], bool] | None
    filter_field: Callable[[Any], bool] | None


class Listing(Filters, total=False):
    """Options of all methods that list branches."""

    #: Lists branches below branches, too.
    recursive: bool
    #: Names branches by their paths.
    full_paths: bool
    #: Lists a name that several branches have once.
    ignore_duplicates: bool


class ListingObjects(TypedDict, total=False):
    """Options of all methods that list the objects of a directory."""

    #: Lists the objects of directories below, too.
    recursive: bool
    #: Names objects with their cycles, `name;1`.
    cycle: bool
    #: A glob, `"/regex/i"`, a function, or several of these.
    filter_name: Filter
    #: The same for C++ classes.
    filter_classname: Filter
