"""Handles that work in a `with` block, although nothing has to be closed; and files that are not open."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _core
from ..compression import of_code
from .names import public

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from ..compression import Codec


class OfFile:
    """What the header of a file says."""

    if TYPE_CHECKING:

        @property
        def file_path(self) -> str:
            """Path or URL."""

    @property
    def uuid(self) -> uuid.UUID:
        """The file's UUID."""
        return uuid.UUID(_core.header(self.file_path)[0])

    @property
    def fUUID(self) -> bytes:
        """The bytes of the file's UUID."""
        return self.uuid.bytes

    @property
    def hex_uuid(self) -> str:
        """The file's UUID as text."""
        return str(self.uuid)

    @property
    def compression(self) -> Codec | None:
        """The codec that the file's header names; None where nothing is compressed."""
        return of_code(_core.header(self.file_path)[1])

    @property
    def root_version_tuple(self) -> tuple[int, int, int]:
        """The version of ROOT that wrote the file: major, minor, patch."""
        # Large files have a million more.
        version = _core.header(self.file_path)[2] % 1_000_000
        return version // 10_000, version // 100 % 100, version % 100

    @property
    def root_version(self) -> str:
        """The version of ROOT that wrote the file, such as "6.30/04"."""
        major, minor, patch = self.root_version_tuple
        return f"{major}.{minor:02d}/{patch:02d}"


@dataclass(frozen=True)
class DetachedFile(OfFile):
    """The file that something was read from."""

    #: Path or URL.
    file_path: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {public(self.file_path)}>"


class Handle:
    """What can be used like an open file."""

    _closed = False

    @property
    def closed(self) -> bool:
        """Whether `close` was called. What is closed can be read all the same: its files are opened again for that."""
        return self._closed

    def close(self) -> None:
        """Closes the files. What is read later opens them again."""
        self._release()
        self._closed = True

    def _release(self) -> None:
        """Closes what is open; nothing is, in most handles."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
