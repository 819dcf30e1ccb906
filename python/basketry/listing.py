"""What lists its parts, as a mapping does, and the options of listing branches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from .names import Filter


def print_columns(lines: Sequence[Sequence[str]], widths: Sequence[int], stream: TextIO | None) -> None:
    """Prints lines of texts, each cut to the width of its column; the first line is the header."""
    out = stream or sys.stdout
    for number, line in enumerate(lines):
        cut = (w if len(w) <= n else f"{w[: n - 3]}..." for w, n in zip(line, widths, strict=True))
        out.write(" | ".join(f"{w:{n}}" for w, n in zip(cut, widths, strict=True)).rstrip() + "\n")
        if number == 0:
            out.write("-+-".join("-" * width for width in widths) + "\n")


class Listing(TypedDict, total=False):
    """Options of all methods that list branches."""

    #: A glob, `"/regex/i"`, a function, or several of these, compared with the name alone and with the path.
    filter_name: Filter
    #: The same for C++ types.
    filter_typename: Filter
    #: A function of the branch.
    filter_branch: Callable[[Any], bool] | None
    filter_field: Callable[[Any], bool] | None
    #: Lists branches below branches, too.
    recursive: bool
    #: Names branches by their paths.
    full_paths: bool
    #: Lists a name that several branches have once.
    ignore_duplicates: bool


class Listed:
    """The methods of mappings that follow from `keys` and `items`, or from `keys` and `iteritems`."""

    #: Names.
    keys: Callable[..., list[str]]
    #: Names and parts.
    items: Callable[..., list[tuple[str, Any]]]

    def _ipython_key_completions_(self) -> list[str]:
        """What IPython offers after `[`."""
        return self.keys()

    def values(self, **listing: Any) -> list[Any]:
        """The parts; options are those of `keys`."""
        return list(self.itervalues(**listing))

    def iterkeys(self, **listing: Any) -> Iterator[str]:
        """Names; options are those of `keys`."""
        return iter(self.keys(**listing))

    def iteritems(self, **listing: Any) -> Iterator[tuple[str, Any]]:
        """Names and parts; options are those of `keys`."""
        return iter(self.items(**listing))

    def itervalues(self, **listing: Any) -> Iterator[Any]:
        """The parts; options are those of `keys`."""
        return (one for _, one in self.iteritems(**listing))
