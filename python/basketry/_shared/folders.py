"""Temporary folders: removed with their object, or when the program ends, and only by the process that made them. A
forked process has a copy of the object, but the folder is its parent's."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The folders that are there, and the process that made each.
_THERE: dict[Path, int] = {}


class OwnFolder:
    """A temporary folder of this process, in the folder `beside` or where the system has them."""

    def __init__(self, prefix: str = "basketry-", beside: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=beside))
        _THERE[self.path] = os.getpid()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def remove(self) -> None:
        """Removes it with all that is in it; does nothing if it was removed before, or in another process."""
        if _THERE.get(self.path) == os.getpid():
            del _THERE[self.path]
            shutil.rmtree(self.path, ignore_errors=True)

    def __del__(self) -> None:
        if hasattr(self, "path"):
            self.remove()


def remove_all() -> None:
    """Removes all folders of this process, when it ends."""
    for path in _own():
        del _THERE[path]
        shutil.rmtree(path, ignore_errors=True)


def _own() -> Iterator[Path]:
    return iter([path for path, process in _THERE.items() if process == os.getpid()])
