"""The fields of an RNTuple: how they are shown, under which names, and which are hidden. Their values do not depend on
it. What they have in common with branches is in `columns`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from . import notebook
from .columns import Column, Columns

if TYPE_CHECKING:
    from .. import _core

#: Of a nameless item of a collection, an array or an optional value: what is below it is shown below the field above.
ITEM = ""
TUPLES = ("std::tuple<", "std::pair<")
VARIANT = "std::variant<"


def shown(lines: list[_core.BranchLine]) -> list[str]:
    """The name of each field: numbers for the parts of tuples and pairs, as arrays have them; `ITEM`."""
    number = Counter(above for _, above, *_ in lines)
    # A record without a type whose parts have the names of those of a tuple.
    odd = {above for name, above, *_ in lines if not (name.startswith("_") and name[1:].isdigit())}
    made = []
    for name, above, *_ in lines:
        typename = "" if above is None else lines[above][2]
        untyped = typename == "" and above is not None and above not in odd and number[above] > 1
        if typename.startswith(TUPLES) or untyped:
            made.append(name.removeprefix("_"))
        elif above is not None and name == "_0" and number[above] == 1:
            made.append(ITEM)
        else:
            made.append(name)
    return made


def hidden(lines: list[_core.BranchLine]) -> set[int]:
    """The alternatives of variants: they are found by their names, and not listed."""
    aboves = ((place, above) for place, (_, above, *_) in enumerate(lines))
    return {place for place, above in aboves if above is not None and lines[above][2].startswith(VARIANT)}


class Fields(Columns["Field"]):
    """The common part of an RNTuple and a field."""

    _separator = "."
    _has_values_below = True

    def _stored_path(self, path: str) -> str:
        # Names of fields have no slash.
        return path.replace("/", ".").replace("\\", ".")

    def _html(self, title: str, found: list[tuple[str, Any]]) -> str:
        return notebook.fields(title, found)


class Field(Fields, Column["Field"]):
    """A field of an RNTuple. It has the methods of a branch, but no baskets and no counter. `title` is its
    description."""

    count_branch = count_leaf = None

    @property
    def field_id(self) -> int | None:
        """The number of the field in the header of the RNTuple in the first file; None if that lacks it."""
        return self._place

    @property
    def _stored_field(self) -> tuple[int, int, tuple[int, int], tuple[int, int]]:
        """Compression setting, pages, and bytes before compression and on disk: its own, and with the fields below."""
        lines, place = getattr(self._home, "_stored_fields", ()), self._place
        return (-1, 0, (0, 0), (0, 0)) if place is None or not lines else lines[place]

    @property
    def _stored(self) -> tuple[int, int, int, list[int]]:
        setting, _, own, _ = self._stored_field
        return setting, *own, super()._stored[3]

    @property
    def num_baskets(self) -> int:
        """Number of its own pages in the first file, without those of the fields below."""
        return self._stored_field[1]

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes of its pages before compression, those of fields below included, in the first file. Pages that share
        bytes count once."""
        return self._stored_field[3][0]

    @property
    def compressed_bytes(self) -> int:
        """Bytes of its pages on disk, those of fields below included, in the first file, without checksums."""
        return self._stored_field[3][1]

    def _types(self) -> list[str]:
        # uproot spells the numbers of RNTuples with their namespace.
        return [self.typename, f"std::{self.typename}"]
