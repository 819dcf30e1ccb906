"""The C++ objects of a tree and of its branches, as the file has them: members by name, such as `fLeaves` and `fTitle`.
What trees and branches say of themselves otherwise does not come from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._shared.members import WithMembers

if TYPE_CHECKING:
    from collections.abc import Iterator


class Described(WithMembers):
    """What has a C++ object in the first file."""

    @property
    def _record(self) -> Any:
        """The object."""
        raise NotImplementedError

    @property
    def members(self) -> dict[str, Any]:
        """Own members of the C++ object, without those of bases."""
        found: dict[str, Any] = self._record.members
        return found

    @property
    def all_members(self) -> dict[str, Any]:
        """Members of the C++ object, those of bases included."""
        found: dict[str, Any] = self._record.all_members
        return found


def below(thing: Any) -> Iterator[Any]:
    """The objects of the branches of a tree, or of a branch, depth first."""
    for branch in thing.member("fBranches"):
        yield branch
        yield from below(branch)
