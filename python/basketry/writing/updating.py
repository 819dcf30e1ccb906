"""Existing files that are changed in place: `update`."""

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
from .extending import extended
from .files import WritableFile, means_of, recreate
from .pending import Pending

if TYPE_CHECKING:
    from typing import Unpack

    from ..verbs.options import Place
    from .files import Recreating
    from .tables import WritableTable

DIRECTORIES = ("TDirectory", "TDirectoryFile")


@spelled(recreate)
def update(path: Place, **options: Unpack[Recreating]) -> UpdatedFile:
    """An existing file to change, for a `with` block; options are those of `recreate`. What is there stays where it is:
    new objects follow, trees and RNTuples that are there are extended (`file["tree"].extend(...)`), objects are
    replaced (`file["h"] = ...`) and deleted (`del file["tree"]`). New baskets and pages wait in a hidden folder beside
    the file until the end of the block, where all changes are made at once: after an exception, or a kill at any
    moment, the file is as it was, or has all of them. A name that is taken is a `ValueError` where it is given, which
    lists what the file has."""
    return UpdatedFile(os.fspath(path), **options)


def _state(path: Path) -> tuple[int, ...]:
    """What tells a file from another one, or from the same one after a change. An error if there is none."""
    now = path.stat()
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns


class UpdatedFile(WritableFile):
    """A file that is changed in place when it is closed."""

    def __init__(self, path: str, **options: Any) -> None:
        final = Path(local(path))
        old = File(str(final))
        keys = [old.key(name) for name in old]
        self._final = final
        self._before = _state(final)
        self._old = old
        self._means = {"threads": options.get("threads", 0), "memory": options.get("memory")}
        #: What is new, until it is added to the file.
        self._added = OwnFolder(final.absolute().parent)
        if not options.get("classes") and any(key.is_table for key in keys):
            options = {**options, "classes": final}
        super().__init__(str(self._added / final.name), *means_of(options))
        self.file_path = str(final)
        for key in keys:
            found = Pending.copy(key.class_, str(final), key.seek, key.is_table)
            # Of several cycles the newest comes first.
            self._content.kept.setdefault(key.path, Pending("TDirectory") if key.class_ in DIRECTORIES else found)
            self._content.cycles.setdefault(key.path, []).append(key.cycle)
        self._content.extend, self._content.look = self._extended, old.__getitem__

    def _extended(self, path: str) -> WritableTable:
        """The tree or RNTuple of the file with this path, to be extended."""
        self._check_open()
        kept = self._content.kept.pop(path)
        try:
            return extended(self._old[path], path, self, self._final, self._added / "probe.root")
        finally:
            self._content.kept[path] = kept

    def close(self) -> None:
        """Makes all changes; does nothing if closed before."""
        if self.closed:
            return
        changes = self._content.tables or self._content.objects or self._content.gone
        super().close()
        if not changes:
            self._added.remove()
            return
        try:
            made = self._added / self._final.name
            if _state(self._final) != self._before:
                why = "it has changed since it was opened, and stays as it is now: update it again"
                raise ValueError(f"{self.file_path}: {why}")
            merge([made], self._final, append=True, replace=sorted(self._content.gone), **self._means)
        finally:
            self._added.remove()

    def abandon(self, why: str = "it was abandoned") -> None:
        """Abandons all changes; the file stays as it is."""
        super().abandon(why)
        self._added.remove()

    def __repr__(self) -> str:
        return f"<UpdatedFile {public(self.file_path)}:/>"
