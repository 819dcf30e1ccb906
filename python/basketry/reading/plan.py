"""What to read: columns of a table, each under a name or as a part of a record."""

from __future__ import annotations

from typing import TypeAlias

#: What one array is made of: a column, or a record of parts.
Part: TypeAlias = "int | Plan"
#: Parts by name, in order.
Plan: TypeAlias = "tuple[tuple[str, Part], ...]"


def columns(plan: Plan) -> list[int]:
    """The columns of a plan, in order."""
    return [c for _, part in plan for c in ([part] if isinstance(part, int) else columns(part))]


def names(plan: Plan, above: str = "") -> list[str]:
    """The paths of the columns of a plan, in order."""
    return [
        path
        for name, part in plan
        for path in ([above + name] if isinstance(part, int) else names(part, f"{above}{name}/"))
    ]


def placed(plan: Plan, first: int = 0) -> Plan:
    """A plan with positions in a batch instead of columns."""
    made: list[tuple[str, Part]] = []
    for name, part in plan:
        if isinstance(part, int):
            made.append((name, first))
            first += 1
        else:
            made.append((name, placed(part, first)))
            first += len(columns(part))
    return tuple(made)
