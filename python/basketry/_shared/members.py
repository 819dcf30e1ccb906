"""Members of a C++ class under their names, as objects of files, trees, branches and elements of NumPy's arrays have
them. Where they come from is up to each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .names import missing


class WithMembers:
    """What has members of a C++ class."""

    if TYPE_CHECKING:

        @property
        def members(self) -> dict[str, Any]:
            """Own members, by their C++ names."""

    @property
    def all_members(self) -> dict[str, Any]:
        """Members by their C++ names, those of bases included."""
        return self.members

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether there is a member of that C++ name; `all`: also in bases."""
        return name in (self.all_members if all else self.members)

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """The member of that C++ name, such as `branch.member("fTitle")`; `all`: also of bases.

        An unknown name is a `KeyError` with the nearest names, or None if `none_if_missing`.
        """
        found = self.all_members if all else self.members
        if name not in found and not none_if_missing:
            raise missing("member", name, found, self._owner())
        return found.get(name)

    def _owner(self) -> Any:
        """What the error for an unknown name calls this."""
        return self
