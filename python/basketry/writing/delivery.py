"""Outputs that are not files on this machine: URLs that fsspec knows, and objects with `write`. They are written here
under a temporary name, and sent when they are complete."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from .._shared.folders import OwnFolder
from .._shared.names import public
from .._shared.places import as_text, local, storage_options

#: fsspec's file systems in front of others that keep what was read; outputs pass them by.
CACHES = ("simplecache::", "filecache::", "blockcache::")


class Delivery:
    """Where an output goes, and where it is made."""

    def __init__(self, place: Any) -> None:
        self._folder = OwnFolder()
        self._place = place
        #: The file to make.
        self.path = str(self._folder / (name_of(place) or "output.root"))

    def send(self) -> None:
        """Sends the complete file."""
        try:
            with Path(self.path).open("rb") as made:
                if hasattr(self._place, "write"):
                    shutil.copyfileobj(made, self._place, 1 << 20)
                    return
                filesystem, path = _there(self._place)
                above = path.rpartition("/")[0]
                if above:
                    filesystem.makedirs(above, exist_ok=True)
                with filesystem.open(path, "wb") as sent:
                    shutil.copyfileobj(made, sent, 1 << 20)
        finally:
            self.discard()

    def discard(self) -> None:
        """Removes the file here."""
        self._folder.remove()


def is_elsewhere(place: Any) -> bool:
    """Whether an output is not a file on this machine."""
    return hasattr(place, "write") or "://" in local(as_text(place))


def exists(place: Any) -> bool:
    """Whether there is a file at a URL."""
    if hasattr(place, "write"):
        return False
    filesystem, path = _there(place)
    return bool(filesystem.exists(path))


def name_of(place: Any) -> str:
    """The name of a file, without folders."""
    where = getattr(place, "name", "") if hasattr(place, "write") else as_text(place)
    return where.rpartition("/")[2] if isinstance(where, str) else ""


def _there(place: Any) -> tuple[Any, str]:
    """The file system and the path of a URL."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ImportError(
            f"{public(as_text(place))} is not on this machine: `pip install fsspec` to write there"
        ) from None
    url = as_text(place)
    for cache in CACHES:
        url = url.removeprefix(cache)
    filesystem, path = url_to_fs(url, **storage_options(as_text(place)))
    return filesystem, str(path)
