"""Handles that work in a `with` block, although nothing has to be closed; and files that are not open."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _core
from .names import public

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


@dataclass(frozen=True)
class DetachedFile:
    """The file that something was read from."""

    #: Path or URL.
    file_path: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {public(self.file_path)}>"

    @property
    def uuid(self) -> uuid.UUID:
        """The file's UUID."""
        return uuid.UUID(_core.header(self.file_path)[0])

    @property
    def fUUID(self) -> bytes:
        """The bytes of the UUID."""
        return self.uuid.bytes


class Handle:
    """What can be used like an open file."""

    def close(self) -> None:
        """Does nothing: only a running read holds files open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
