"""One read, from the arguments of `arrays` to the compiled half: its entries, its limits, the form of its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _core

#: Default memory limit of a read, without the arrays: the same as for the command.
MEMORY = _core.DEFAULT_MEMORY


@dataclass(frozen=True)
class Request:
    """The entries of a read, its limits, and the form of its result."""

    #: Range of entries.
    start: int
    stop: int
    #: The selected entries among these: a mask, or ascending numbers; all, if None.
    selection: Any = None
    #: Threads, 0 for all cores, and memory beside the arrays.
    threads: int = 0
    memory: int | str = MEMORY
    #: A key of `libraries.GROUPERS`, and the container of its arrays.
    library: str = "ak"
    how: Any = None

    @property
    def bytes(self) -> int:
        """The memory limit in bytes."""
        return _core.size(self.memory) if isinstance(self.memory, str) else self.memory
