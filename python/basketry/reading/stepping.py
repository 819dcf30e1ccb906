"""Steps over the entries of a tree, or of the trees of several files, with a report of where each step lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Report:
    """Where a step lies: its entries in its tree, and among those of all trees."""

    #: The tree.
    tree: Any
    #: The first entry, and the one after the last, in the tree.
    tree_entry_start: int
    tree_entry_stop: int
    #: Entries of the trees before this one.
    global_offset: int = 0

    def __repr__(self) -> str:
        return f"<Report start={self.start} stop={self.stop} of {self.tree!r}>"

    @property
    def start(self) -> int:
        """The first entry, among those of all trees: `global_entry_start`."""
        return self.global_entry_start

    @property
    def stop(self) -> int:
        """The entry after the last, among those of all trees: `global_entry_stop`."""
        return self.global_entry_stop

    @property
    def source(self) -> Any:
        """The tree."""
        return self.tree

    @property
    def global_entry_start(self) -> int:
        """The first entry, among those of all trees."""
        return self.tree_entry_start + self.global_offset

    @property
    def global_entry_stop(self) -> int:
        """The entry after the last, among those of all trees."""
        return self.tree_entry_stop + self.global_offset

    @property
    def file_path(self) -> str:
        """The file."""
        return str(self.tree.file_path)

    @property
    def file(self) -> Any:
        """The file, opened."""
        return self.tree.file

    @property
    def container(self) -> Any:
        """The tree."""
        return self.tree


def reported(steps: Iterator[Any], sizes: list[int], tree: Any, start: int) -> Iterator[Any]:
    """Steps with their reports; `sizes` gets the entries of each step, before the cut, as it is made."""
    for made in steps:
        stop = start + sizes[-1]
        yield made, Report(tree, start, stop)
        start = stop
