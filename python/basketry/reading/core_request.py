"""A reading, as the compiled half is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Columns and entries to read, within limits. `_core` takes the fields by name (crates/python/src/request.rs)."""

    columns: Sequence[int]
    #: Range of entries.
    start: int
    stop: int
    #: The numbers of the selected entries, ascending and of 64 bits, in an object with a buffer; all, if None.
    selection: object | None
    #: Threads, 0 for all cores, and bytes of memory beside the arrays.
    threads: int
    memory: int
    #: Whether the table remembers what is known of the values, for conditions on these columns.
    remembers: bool
