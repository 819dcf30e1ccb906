"""C++ types of columns, where NumPy's objects need them: sets and maps, which arrays show as lists."""

from __future__ import annotations

from typing import Any

SETS = ("set", "multiset", "unordered_set")
MAPS = ("map", "unordered_map")


class Set(set[Any]):
    """A set of the standard library."""

    def tolist(self) -> set[Any]:
        """The values, as Python's own."""
        return {_plain(one) for one in self}


class Map(dict[Any, Any]):
    """A map of the standard library."""

    def tolist(self) -> dict[Any, Any]:
        """Keys and values, as Python's own."""
        return {key: _plain(one) for key, one in self.items()}


class List(list[Any]):
    """A vector, or another list, of the standard library that has sets, maps or pairs."""

    def tolist(self) -> list[Any]:
        """The values, as Python's own."""
        return [_plain(one) for one in self]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def parts(typename: str) -> tuple[str, list[str]]:
    """The name of a class template without its namespace, and its arguments."""
    outer, opened, rest = typename.replace("std::", "").strip().partition("<")
    found, depth = [""], 0
    for letter in rest.rpartition(">")[0] if opened else "":
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return outer.strip(), [one.strip() for one in found if one.strip()]


def has_own(typename: str | None) -> bool:
    """Whether values of this type are not what arrays show."""
    return typename is not None and any(f"{one}<" in typename for one in (*SETS, *MAPS, "pair"))


def shown(value: Any, typename: str) -> Any:
    """A value as Python has it: a set, a dict, a tuple for a pair, a list for a list that has such."""
    outer, inner = parts(typename)
    if outer in SETS:
        return Set(shown(one, inner[0]) for one in value)
    if outer in MAPS:
        return Map((shown(key, inner[0]), shown(item, inner[1])) for key, item in map(_pair, value))
    if outer == "pair":
        return tuple(shown(one, kind) for one, kind in zip(_pair(value), inner, strict=True))
    if inner and hasattr(value, "__iter__") and not isinstance(value, str):
        return List(shown(one, inner[0]) for one in value)
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def _pair(value: Any) -> tuple[Any, Any]:
    first, second = value.values() if isinstance(value, dict) else value
    return first, second
