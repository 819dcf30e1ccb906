"""Frozen builds as files, and what differs between two of them: the operation, the file, and the first part that is
another. It runs nothing."""

import json
import sys
from pathlib import Path

from freezing.outputs import Frozen
from freezing.running import TOO_LONG

# In this order: they say what differs rather than that something does.
SUMMARIES = ("all", "size", "header", "all lines")


def text(frozen: Frozen) -> str:
    """A frozen build as JSON, one result a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(result)}" for name, result in sorted(frozen.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: Path) -> Frozen:
    """Reads what `text` wrote."""
    read: Frozen = json.loads(path.read_text())
    return read


def compare(base: Frozen, other: Frozen, most: int) -> int:
    """Prints what differs; 0 if nothing does. What only one has is not compared, since samples may differ."""
    both = [name for name in sorted(base) if name in other]
    late = [name for name in both if TOO_LONG in (base[name].get("code"), other[name].get("code"))]
    compared = [name for name in both if name not in set(late)]
    differing = [name for name in compared if base[name] != other[name]]
    for name in differing[:most]:
        print(f"{name}: {first_difference(base[name], other[name])}")
    if len(differing) > most:
        print(f"... and {len(differing) - most} more")
    print(
        f"{len(differing)} of {len(compared)} results differ; {len(late)} took too long; "
        f"{len(base) - len(both)} are only in the base, {len(other) - len(both)} only in the other",
        file=sys.stderr,
    )
    if not compared:
        print("freeze: there is nothing to compare", file=sys.stderr)
        return 2
    return 1 if differing else 0


def first_difference(base: dict[str, str], other: dict[str, str]) -> str:
    """The first part that differs, and how many do."""
    names = list(dict.fromkeys([*base, *other]))
    differing = [name for name in names if base.get(name) != other.get(name)]
    if not differing:
        return "the order of parts"
    telling = [name for name in differing if name not in SUMMARIES] or differing
    first = telling[0]
    was, now = (str(one.get(first, "absent")) for one in (base, other))
    rest = f" ({len(telling)} parts differ)" if len(telling) > 1 else ""
    return f"{first}: {was} -> {now}{rest}"
