"""Exceptions of this package beside Python's own."""

from __future__ import annotations


class KeyInFileError(KeyError):
    """A name that a file, a directory, a tree or an object does not have. The message has the nearest names."""

    def __init__(self, message: str, key: str = "", because: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.because = because
