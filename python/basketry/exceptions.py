"""Exceptions of this package beside Python's own."""

from __future__ import annotations

from . import _core


class SchemaDiffers(ValueError):
    """Files are joined whose columns differ in another way than the call allows: under `join="strict"` in any way, else
    a column that is asked for is of another type in one of them. The message names files and columns. It is raised
    before entries are read, but by `iterate`, which opens one file after the other, when that file's turn comes."""


class KeyInFileError(KeyError):
    """A name that a file, a directory, a tree or an object does not have. The message has the nearest names, and no
    parameters of URLs, which may be secrets."""

    def __init__(self, message: str, key: str = "", because: str = "") -> None:
        super().__init__(_core.public_text(message))
        self.key = key
        self.because = because
