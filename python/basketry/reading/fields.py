"""How the fields of an RNTuple are shown: under which names, and which are hidden. Their values do not depend on it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

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


def is_hidden(lines: list[_core.BranchLine], place: int) -> bool:
    """Whether a field is an alternative of a variant: it is found by its name, and not listed."""
    above = lines[place][1]
    return above is not None and lines[above][2].startswith(VARIANT)
