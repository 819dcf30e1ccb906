"""What lists its parts, as a mapping does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Listed:
    """The methods of mappings that follow from `items`."""

    #: Names and parts.
    items: Callable[..., list[tuple[str, Any]]]

    def values(self, **listing: Any) -> list[Any]:
        """The parts; options are those of `keys`."""
        return [one for _, one in self.items(**listing)]

    def iterkeys(self, **listing: Any) -> Iterator[str]:
        """Names; options are those of `keys`."""
        return (name for name, _ in self.items(**listing))

    def iteritems(self, **listing: Any) -> Iterator[tuple[str, Any]]:
        """Names and parts; options are those of `keys`."""
        return iter(self.items(**listing))

    def itervalues(self, **listing: Any) -> Iterator[Any]:
        """The parts; options are those of `keys`."""
        return (one for _, one in self.items(**listing))

    def itertypenames(self, **listing: Any) -> Iterator[tuple[str, str]]:
        """Names and C++ types; options are those of `keys`."""
        return ((name, one.typename) for name, one in self.items(**listing))
