"""Objects and containers of the standard library as NumPy's arrays hold them: structured values and dicts with the
members of a C++ class, sets, maps, pairs, nested lists. `numpy` makes them from buffers."""

from __future__ import annotations

import datetime
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.members import WithMembers

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Element(WithMembers):
    """An object of a C++ class in an array. Members of bases are its own."""

    @property
    def classname(self) -> str:
        """The C++ class; empty where the file does not name it."""
        return ""

    @property
    def members(self) -> dict[str, Any]:
        """Members by their C++ names."""
        raise NotImplementedError

    def _owner(self) -> str:
        return self.classname or type(self).__name__

    def __getattr__(self, name: str) -> Any:
        found = {} if name.startswith("_") else self.members
        if name not in found:
            raise AttributeError(f"{self._owner()} has no {name!r}")
        return found[name]


class WithDate(WithMembers):
    """A `TDatime`: a date and a time of day, without a time zone."""

    def to_datetime(self) -> datetime.datetime:
        """Python's own."""
        # `TDatime::Set`: years since 1995, month, day, hour, minute and second, in 6, 4, 5, 5, 6 and 6 bits.
        code = int(self.member("fDatime"))
        year, month, day = (code >> 26) + 1995, code >> 22 & 15, code >> 17 & 31
        return datetime.datetime(year, month, day, code >> 12 & 31, code >> 6 & 63, code & 63)


class Structure(Element, np.void):  # type: ignore[misc]  # NumPy allows it, its types do not.
    """An object whose members are numbers: a value of a structured array."""

    @property
    def classname(self) -> str:
        """The C++ class; empty where the file does not name it."""
        metadata: Any = self.dtype.metadata or {}
        return str(metadata.get("classname", ""))

    @property
    def members(self) -> dict[str, Any]:
        """Members by their C++ names."""
        return {name: self[name] for name in self.dtype.names or ()}

    def __eq__(self, other: object) -> Any:
        return np.void.__eq__(self, other)

    def __hash__(self) -> int:
        return hash(frozen(self))


class Date(WithDate, Structure):  # type: ignore[misc]  # NumPy allows it, its types do not.
    """A `TDatime` in an array."""


class Record(Element, dict[str, Any]):
    """Any other object: a dict of its members."""

    _classname = ""

    @property
    def classname(self) -> str:
        """The C++ class; empty where the file does not name it."""
        return self._classname

    @property
    def members(self) -> dict[str, Any]:
        """Members by their C++ names."""
        return self

    def __eq__(self, other: object) -> bool:
        # Not `dict.__eq__`: arrays among the members are equal or not as wholes.
        return isinstance(other, dict) and frozen(self) == frozen(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # A dict has none.
        return hash(frozen(self))

    def tolist(self) -> dict[str, Any]:
        """The members, as Python's own."""
        return {name: python(one) for name, one in self.items()}


class Pair(Element, tuple[Any, Any]):
    """A `std::pair`."""

    @property
    def classname(self) -> str:
        """The C++ class."""
        return "std::pair"

    @property
    def members(self) -> dict[str, Any]:
        """Members by their C++ names."""
        return dict(zip(("first", "second"), self, strict=True))


class Tuple(tuple[Any, ...]):
    """A `std::tuple`."""

    def tolist(self) -> tuple[Any, ...]:
        """The values, as Python's own."""
        return tuple(python(one) for one in self)


class Set(set[Any]):
    """A set of the standard library."""

    def tolist(self) -> set[Any]:
        """The values, as Python's own."""
        return {python(one) for one in self}


class Map(dict[Any, Any]):
    """A map of the standard library. As in uproot, its keys and its values are arrays."""

    def keys(self) -> Any:
        """The keys, as an array."""
        return _array(list(super().keys()))

    def values(self) -> Any:
        """The values, as an array."""
        return _array(list(super().values()))

    def tolist(self) -> dict[Any, Any]:
        """Keys and values, as Python's own."""
        return {python(key): python(one) for key, one in self.items()}


class List(list[Any]):
    """A list in a map."""

    def tolist(self) -> list[Any]:
        """The values, as Python's own."""
        return [python(one) for one in self]


class Nested(np.ndarray[Any, Any]):
    """A list of lists, or of other objects, as an array of objects."""

    def tolist(self) -> Any:
        """The values, as Python's own."""
        return [python(one) for one in self] if self.ndim else self.item()


def python(value: Any) -> Any:
    """A value as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def frozen(value: Any) -> Any:
    """A value that can be a key: equal for equal members."""
    value = python(value)
    if isinstance(value, dict):
        return frozenset((name, frozen(one)) for name, one in dict.items(value))
    if isinstance(value, list | tuple):
        return tuple(map(frozen, value))
    return frozenset(map(frozen, value)) if isinstance(value, set) else value


def single(value: Any) -> Any:
    """A value in a set, a map or a pair: lists are Python's."""
    if isinstance(value, np.ndarray):
        return List(single(one) for one in value)
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.void) else value


def structure(fields: list[tuple[Any, ...]], classname: str) -> np.dtype[Any]:
    """The type of structured arrays of a class."""
    plain: Any = np.dtype(fields, metadata={"classname": classname}) if classname else np.dtype(fields)
    return np.dtype((Date if classname == "TDatime" else Structure, plain))


@functools.cache
def record_type(classname: str) -> type[Record]:
    """The type of the records of a class."""
    return type("Record", (Record,), {"_classname": classname, "__reduce__": _reduced})


def _reduced(thing: Record) -> tuple[Any, ...]:
    return _record, (thing.classname, dict(thing))


def _record(classname: str, members: dict[str, Any]) -> Record:
    return record_type(classname)(members)


def _array(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(one, int | float) for one in values):
        return np.array(values)
    made = np.empty(len(values), object)
    for place, one in enumerate(values):
        made[place] = one
    return made.view(Nested)
