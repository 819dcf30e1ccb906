"""What lists its parts, as a mapping does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Listed:
    """The methods of mappings that follow from `keys` and `items`, or from `keys` and `iteritems`."""

    #: Names.
    keys: Callable[..., list[str]]
    #: Names and parts.
    items: Callable[..., list[tuple[str, Any]]]

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
