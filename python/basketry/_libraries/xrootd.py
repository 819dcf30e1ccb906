"""XRootD's client library, by which files at root:// are read, where this interpreter has it: in PyPI's `xrootd`, in a
conda environment, in PyPI's `root`. No package is imported for this."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "BASKETRY_XRDPOSIX"
LIBRARY = "libXrdPosix.so"


def tell() -> None:
    """Sets BASKETRY_XRDPOSIX, unless it is set. The compiled half and jobs in other processes read it."""
    if VARIABLE not in os.environ and (found := next(libraries(), None)):
        os.environ[VARIABLE] = str(found)


def libraries() -> Iterator[Path]:
    """The libraries that there are, the best first."""
    for folder in folders():
        if (path := folder / LIBRARY).is_file():
            yield path


def folders() -> Iterator[Path]:
    """Where the library may be."""
    yield from packaged("pyxrootd")
    yield Path(sys.prefix) / "lib"
    yield from (place / "lib" for place in packaged("ROOT"))


def packaged(package: str) -> Iterator[Path]:
    """The folders of a package."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        # A module of this name without a specification has been imported.
        return
    yield from map(Path, (spec and spec.submodule_search_locations) or ())
