"""Handles that work in a `with` block, although nothing has to be closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


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
