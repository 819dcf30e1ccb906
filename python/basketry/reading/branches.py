"""The branches of a tree. What they have in common with fields is in `columns`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import notebook
from .columns import Column, Columns

if TYPE_CHECKING:
    from .. import _core


class Branches(Columns["Branch"]):
    """The common part of a tree and a branch."""

    _separator = "/"
    _has_values_below = False

    def _grow_branches(self, lines: list[_core.BranchLine]) -> None:
        self._grow(Branch, lines, [line[0] for line in lines])

    def _html(self, title: str, found: list[tuple[str, Any]]) -> str:
        return notebook.branches(title, found)


class Branch(Branches, Column["Branch"]):
    """A branch of a tree. The branch of a split TClonesArray holds the number of objects in each entry. A branch that
    only groups others, or of another split collection, is read as a record of the branches below."""

    @property
    def _stored(self) -> tuple[int, int, int, list[int]]:
        lines, place = getattr(self._home, "_stored", ()), self._place
        found: tuple[int, int, int, list[int]] = super()._stored if place is None or not lines else lines[place]
        return found

    @property
    def count_branch(self) -> Branch | None:
        """The branch whose entries are the numbers of values in this branch's entries (`nMuon` of `Muon_pt[nMuon]`);
        None if it has no counter, or if that is no branch of this table."""
        leaf = self.count_leaf
        found: Branch | None = None if leaf is None else self._home._by_leaf.get(id(leaf))
        return found

    @property
    def count_leaf(self) -> Any:
        """The leaf of `count_branch`, as the first file has it: an object of `basketry.objects`. None if that file
        lacks the branch."""
        if self._place is None:
            return None
        leaves = self.member("fLeaves")
        return leaves[0].member("fLeafCount") if len(leaves) == 1 else None
