"""What is true of columns wherever a condition is, in the engine's language: comparisons of columns, by their numbers,
with numbers. By these the engine knows clusters that need not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .. import _core

#: Types of columns with one number for each entry.
FLAT = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split())
#: Comparisons with the operands in the other order.
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
#: Whole numbers below are doubles without rounding.
EXACT = 2**53


def flat(table: _core.Table, columns: Mapping[str, int]) -> bool:
    """Whether all of these columns have one number for each entry."""
    return all(one.lstrip("?") in FLAT for one in table.types(list(columns.values())))


def compared(column: int, sign: str, value: float) -> str | None:
    """What a comparison of a column with a number implies, whether it is computed in single or in double precision."""
    if value != value or (isinstance(value, int) and abs(value) >= EXACT):
        return None
    low, high = sorted((value, _single(value)))
    match sign:
        case ">" | ">=":
            return f"c{column} {sign} {low!r}"
        case "<" | "<=":
            return f"c{column} {sign} {high!r}"
        case "==":
            return f"{low!r} <= c{column} <= {high!r}"
    return None


def _single(value: float) -> float:
    import numpy as np

    with np.errstate(over="ignore"):
        return float(np.float32(value))
