"""One read by a Python package, which prints its times after the imports, and its memory.

`python readers.py basketry|uproot arrays|sum|iterate FILE [KEYWORD=VALUE ...]`, the values in JSON; with
`entries="LIST"` only the entries listed in that file. Prints "inside WALL CPU", and
"memory BASE PEAK ARRAYS" in bytes: resident before, at most, and in the arrays (for `iterate`, of the largest step).
"""

import importlib
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np


def status(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def total(arrays: Any) -> float:
    """The sum of all numbers."""
    if isinstance(arrays, np.ndarray):
        return float(arrays.sum(dtype=float))
    if isinstance(arrays, dict):
        return sum(total(array) for array in arrays.values())
    if arrays.fields:
        return sum(total(arrays[field]) for field in arrays.fields)
    return float(ak.sum(arrays))


def size(arrays: Any) -> int:
    """Bytes in arrays."""
    return sum(size(array) for array in arrays.values()) if isinstance(arrays, dict) else int(arrays.nbytes)


def main() -> None:
    """Runs what the module describes."""
    package = importlib.import_module(sys.argv[1])
    job, path = sys.argv[2:4]
    options = {name: json.loads(value) for name, _, value in (word.partition("=") for word in sys.argv[4:])}
    entries = np.loadtxt(options.pop("entries"), dtype=np.int64) if "entries" in options else None
    if entries is not None and package.__name__ == "basketry":
        options["selection"] = entries
    base, largest = status("VmRSS"), 0
    wall, cpu = time.perf_counter(), time.process_time()
    tree = package.open(f"{path}:Events")
    if job == "iterate":
        for step in tree.iterate(**options):
            largest = max(largest, size(step))
    else:
        arrays = tree.arrays(**options)
        if entries is not None and package.__name__ == "uproot":
            # uproot has no selection: it reads all entries.
            arrays = arrays[entries]
        if job == "sum":
            total(arrays)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = status("VmHWM")
    if job != "iterate":
        largest = size(arrays)
    print(f"inside {wall} {cpu}\nmemory {base} {peak} {largest}")


if __name__ == "__main__":
    main()
