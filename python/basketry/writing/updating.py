"""Existing files that get more objects: `update`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._shared.folders import OwnFolder
from .._shared.names import public
from .._shared.places import local
from .._shared.signatures import spelled
from ..reading.file import File
from ..verbs.files import merge
from .files import WritableFile, means_of, recreate
from .pending import Pending

if TYPE_CHECKING:
    from typing import Unpack

    from ..verbs.options import Place
    from .files import Recreating


@spelled(recreate)
def update(path: Place, **options: Unpack[Recreating]) -> UpdatedFile:
    """An existing file to add to, for a `with` block; options are those of `recreate`. The whole file is written anew
    beside the old one, and replaces it when it is complete. Objects can be replaced and deleted, unless the file has
    trees or RNTuples: it is merged with what is new by `merge`, which moves baskets as they are. Names that such a file
    has already are a `ValueError` where they are given, which lists what the file has."""
    return UpdatedFile(os.fspath(path), **options)


class UpdatedFile(WritableFile):
    """A file that is written anew with what it has and more."""

    def __init__(self, path: str, **options: Any) -> None:
        final = Path(local(path))
        old = File(str(final))
        keys = [old.key(name) for name in old]
        self._final = final
        #: What is added to a file with tables, until they are merged.
        self._added: OwnFolder | None = None
        if any(key.is_table for key in keys):
            self._added = OwnFolder(f".{final.name}.update-", final.absolute().parent)
        super().__init__(str(final if self._added is None else self._added / final.name), *means_of(options))
        self.file_path = str(final)
        for key in keys:
            found = Pending.copy(key.class_, str(final), key.seek, key.is_table)
            if key.class_ in ("TDirectory", "TDirectoryFile"):
                found = Pending("TDirectory")
            known = self._content.objects if self._added is None else self._content.kept
            known[key.path] = found

    def close(self) -> None:
        """Completes the file; does nothing if closed before."""
        if self.closed:
            return
        super().close()
        if self._added is not None:
            made = self._added / "merged.root"
            try:
                merge([self._final, self._added / self._final.name], made)
                made.replace(self._final)
            finally:
                self._added.remove()

    def abandon(self, why: str = "it was abandoned") -> None:
        """Abandons what was to be added; the file stays as it is."""
        super().abandon(why)
        if self._added is not None:
            self._added.remove()

    def __repr__(self) -> str:
        return f"<UpdatedFile {public(self.file_path)}:/>"
