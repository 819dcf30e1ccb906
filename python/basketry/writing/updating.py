"""Existing files that get more objects: `update`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..file import File
from ..places import local
from ..signatures import spelled
from ..verbs import merge
from .files import WritableFile, means_of, recreate
from .pending import Pending

if TYPE_CHECKING:
    from typing import Unpack

    from ..verb_options import Place
    from .files import Recreating


@spelled(recreate)
def update(path: Place, **options: Unpack[Recreating]) -> UpdatedFile:
    """An existing file to add to, for a `with` block; options are those of `recreate`. The whole file is written anew
    beside the old one, and replaces it when it is complete. Objects can be replaced and deleted, unless the file has
    trees: it is merged with what is new by `merge`, which moves baskets as they are."""
    return UpdatedFile(os.fspath(path), **options)


class UpdatedFile(WritableFile):
    """A file that is written anew with what it has and more."""

    def __init__(self, path: str, **options: Any) -> None:
        final = local(path)
        old = File(final)
        keys = [old.key(name) for name in old]
        self._final = final
        self._old_tables = [key.path for key in keys if key.is_table]
        super().__init__(f"{final}.added" if self._old_tables else final, *means_of(options))
        self._old = {
            key.path: Pending("TDirectory")
            if key.class_ in ("TDirectory", "TDirectoryFile")
            else Pending.copy(key.class_, final, key.seek)
            for key in keys
            if not key.is_table
        }
        for name, pending in self._old.items():
            self._objects[name] = pending

    def _write_objects(self) -> None:
        if self._old_tables:
            # The merge brings the old objects.
            for name, pending in self._old.items():
                if pending.classname != "TDirectory" and self._objects.get(name) is not pending:
                    raise ValueError(f"{name} in {self._final} cannot be replaced or deleted, since the file has trees")
            both = set(self._old_tables) & set(self._trees)
            if both:
                raise ValueError(f"{self._final} already has a tree {min(both)}")
            kept = {name: one for name, one in self._objects.items() if self._old.get(name) is not one}
            self._objects.clear()
            self._objects.update(kept)
        super()._write_objects()

    def close(self) -> None:
        """Completes the file; does nothing if closed before."""
        if self.closed:
            return
        super().close()
        if self._old_tables:
            merged = f"{self._final}.merged"
            try:
                merge([self._final, self.file_path], merged)
                Path(merged).replace(self._final)
            finally:
                Path(self.file_path).unlink()
