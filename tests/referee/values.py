"""Compares the values of a whole file by real ROOT (cpp/values.C), for files small enough to read at once.

Entry bytes show that nothing was lost; values show that ROOT still understands the bytes: class tags resolve, an
index finds its entries, a histogram has its errors and labels.
"""

import math
from collections.abc import Iterator
from typing import Any

from referee.root_server import RootServer

# TObject's own fields: a bit or a number may change when an object passes through memory and back.
VOLATILE = {"fBits", "fUniqueID"}


def server() -> RootServer:
    """Answers {"recovered": bool, "trees": {path: facts and a digest a branch}, "objects": {path: members}}."""
    return RootServer("values")


def differences(before: Any, after: Any, where: str = "", tolerance: float = 0.0) -> Iterator[str]:
    """Differences of two answers; numbers may differ by the relative tolerance."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key not in VOLATILE:
                yield from differences(before.get(key), after.get(key), f"{where}/{key}", tolerance)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (ours, theirs) in enumerate(zip(before, after, strict=True)):
            yield from differences(ours, theirs, f"{where}[{i}]", tolerance)
    elif isinstance(before, float | int) and isinstance(after, float | int):
        if not math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance * 1e-3):
            yield f"{where}: {before} became {after}"
    elif before != after:
        yield f"{where}: {str(before)[:200]} became {str(after)[:200]}"
