"""The numbers of entries of DataFrames that have entries of several files. Arrays have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def shifted(found: Any, before: int) -> Any:
    """DataFrames, also in containers, with numbers that count the entries before; everything else as it is."""
    return _changed(found, lambda index: index + before) if before else found


def numbered(found: Any, left_out: Sequence[tuple[int, int]]) -> Any:
    """DataFrames, also in containers, with numbers that count the entries of files that are left out; everything else
    as it is. Each file that is read has the number of its first entry, and the entries before it in others."""
    if not any(more for _, more in left_out):
        return found

    def change(index: Any) -> Any:
        import numpy as np

        starts, more = np.array(left_out).T
        return index + more[np.searchsorted(starts, index, side="right") - 1]

    return _changed(found, change)


def _changed(found: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(found, dict):
        return {name: _changed(one, change) for name, one in found.items()}
    if isinstance(found, tuple | list):
        return type(found)(_changed(one, change) for one in found)
    if type(found).__module__.partition(".")[0] == "pandas":
        found.index = change(found.index)
    return found
