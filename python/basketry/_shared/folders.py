"""Temporary folders: removed with their object, when the program ends, and, if it is killed, by the next one that makes
a folder in the same place. A forked process has a copy of the object, but the folder is its parent's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core

if TYPE_CHECKING:
    from pathlib import Path


class OwnFolder:
    """A temporary folder of this process, in the folder `beside` or where the system has them."""

    def __init__(self, beside: Path | None = None) -> None:
        self._folder = _core.ScratchFolder(beside)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._folder.path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def remove(self) -> None:
        """Removes it with all that is in it; does nothing if it was removed before, or in another process."""
        self._folder.remove()
