"""One read, from the arguments of `arrays` to the compiled half: its entries, its limits, the form of its result."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _core
from . import options
from .core_request import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Default memory limit of a read, without the arrays: the same as for the command.
MEMORY = _core.DEFAULT_MEMORY


@dataclass(frozen=True)
class Request:
    """The entries of a read, its limits, and the form of its result."""

    #: Range of entries.
    start: int
    stop: int
    #: The numbers of the selected entries among these, as `numbers` makes them; all, if None.
    selection: Any = None
    #: Threads, 0 for all cores, and bytes of memory beside the arrays.
    threads: int = 0
    memory: int = MEMORY
    #: A key of `libraries.GROUPERS`, and the container of its arrays.
    library: str = "ak"
    how: Any = None
    #: Is told numbers of entries that are read, each once for every column.
    told: Callable[[int], object] | None = None
    #: Whether the table remembers what is known of the values, for later cuts.
    remembers: bool = False

    @classmethod
    def of(
        cls,
        entries: int,
        own: Mapping[str, Any],
    ) -> Request:
        """The request that the options of `arrays` make for a table with this many entries."""
        first, end, _ = slice(own.get("entry_start"), own.get("entry_stop")).indices(entries)
        return cls(
            first,
            max(first, end),
            numbers(own.get("selection"), entries),
            own["threads"],
            bytes_of(own["memory"]),
            options.library(own["library"]),
            own.get("how"),
        )

    def reading(self, columns: list[int]) -> Reading:
        """The reading of these columns."""
        selection, stop = self.selection, self.stop
        if selection is not None and len(selection) == 0:
            # An empty buffer has no address.
            selection, stop = None, self.start
        return Reading(
            columns=columns,
            start=self.start,
            stop=stop,
            selection=selection,
            threads=self.threads,
            memory=self.memory,
            remembers=self.remembers,
        )

    @property
    def count(self) -> int:
        """Number of entries to read."""
        return self.stop - self.start if self.selection is None else len(self.selected())

    def selected(self) -> Any:
        """The numbers of the selected entries in the range; None without a selection."""
        if self.selection is None:
            return None
        first, end = (bisect.bisect_left(self.selection, entry) for entry in (self.start, self.stop))
        return self.selection[first:end]

    def index(self, done: int) -> Any:
        """The numbers of the entries after the first `done`: the first number of a range, or a list."""
        selected = self.selected()
        return self.start + done if selected is None else selected[done:]


def bytes_of(size: int | str) -> int:
    """A size in bytes; a text is read as the command reads it."""
    return _core.size(size) if isinstance(size, str) else size


def numbers(selection: Any, entries: int) -> Any:
    """A selection as ascending entry numbers of 64 bits, in an object with a buffer."""
    if selection is None:
        return None
    if not hasattr(selection, "dtype") and (hasattr(selection, "__array__") or hasattr(selection, "layout")):
        import numpy as np

        selection = np.asarray(selection)
    if hasattr(selection, "dtype"):
        import numpy as np

        chosen = np.asarray(selection)
        if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
            raise ValueError(f"a selection must be a mask or entry numbers in one dimension, not {chosen.dtype}")
        if chosen.dtype == bool:
            _check_mask(len(chosen), entries)
            chosen = np.flatnonzero(chosen)
        _check_range(chosen[:1], chosen[-1:], entries)
        return np.ascontiguousarray(chosen, dtype=np.uint64)
    import array

    listed = list(selection)
    if listed and all(isinstance(one, bool) for one in listed):
        _check_mask(len(listed), entries)
        listed = [number for number, wanted in enumerate(listed) if wanted]
    _check_range(listed[:1], listed[-1:], entries)
    return array.array("Q", listed)


def _check_mask(length: int, entries: int) -> None:
    if length != entries:
        raise ValueError(f"a mask needs a value for each of {entries} entries, not {length}")


def _check_range(first: Any, last: Any, entries: int) -> None:
    for one in (*first, *last):
        if not 0 <= one < entries:
            raise IndexError(f"no entry {one}: entries are numbered from 0 to {entries - 1}")
