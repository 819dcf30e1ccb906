"""Objects that are a value of Python's own kinds: strings, numbers, lists and maps."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any

from .._shared.names import plain
from .model import FAMILIES, Object

if TYPE_CHECKING:
    from collections.abc import Iterator


class String(Object, str):  # type: ignore[misc]
    """A `TObjString`: a `str`."""

    def __new__(cls, *parts: Any) -> String:
        """A string of the member `fString`; `parts` are those of an `Object`."""
        return str.__new__(cls, parts[2].get("fString", ""))

    def __repr__(self) -> str:
        return f"<{plain(self.classname)} {str(self)!r}>"

    def __str__(self) -> str:
        return str.__str__(self)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    __hash__ = str.__hash__

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.classname, self.class_version, self.members, self.bases


class Parameter(Object):
    """A `TParameter`: a number."""

    @property
    def value(self) -> Any:
        """The number."""
        return self.member("fVal")

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)


class List(Object, collections.abc.Sequence[Any]):
    """A `TList`, `THashList` or `TObjArray`: a sequence of objects."""

    def __getitem__(self, where: Any) -> Any:
        return self.members["items"][where]

    def __len__(self) -> int:
        return len(self.members["items"])

    def __repr__(self) -> str:
        return f"<{plain(self.classname)} of {len(self)} items>"


class Map(Object, collections.abc.Mapping[Any, Any]):
    """A `TMap`: objects by objects; a `TObjString` is a `str`."""

    @property
    def _pairs(self) -> dict[Any, Any]:
        items = self.members["items"]
        return dict(zip(items[::2], items[1::2], strict=True))

    def __getitem__(self, key: Any) -> Any:
        return self._pairs[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return f"<{plain(self.classname)} of {len(self)} pairs>"


FAMILIES["TObjString"] = String
for number in ("bool", "int", "long", "Long64_t", "long long", "float", "double", "short", "unsigned int"):
    FAMILIES[f"TParameter<{number}>"] = Parameter
for several in ("TList", "THashList", "TObjArray", "TSortedList", "TOrdCollection"):
    FAMILIES[several] = List
FAMILIES["TMap"] = Map
