"""Columns that together have a share of the bytes of a file, from all over the file, for partial reads."""

import random
from typing import Any


def columns_of(report: Any, share: float, seed: int = 17) -> list[str]:
    """Columns with at most this share of the bytes in a report of `readspeed --json`, and with nearly as many."""
    sizes = {column["name"]: column["compressed"] for column in report["columns"]}
    chosen, left = [], share * sum(sizes.values())
    for name in random.Random(seed).sample(sorted(sizes), len(sizes)):
        if sizes[name] <= left:
            chosen.append(name)
            left -= sizes[name]
    return chosen
