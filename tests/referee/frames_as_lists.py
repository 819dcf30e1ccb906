"""Columns of trees and RNTuples as lists, as real ROOT's RDataFrame reads them.

Run as a program it is the process with ROOT in it.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def read_by_root(path: Path, table: str, columns: list[str]) -> dict[str, list[Any]]:
    """The values of all entries, with vectors and texts as lists and strings."""
    words = [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), str(path), table, *columns]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ROOT ended with {done.returncode}: {done.stderr[-2000:]}")
    read: dict[str, list[Any]] = json.loads(done.stdout)
    return read


def plain(value: Any) -> Any:
    """A value of ROOT's without ROOT."""
    kind = type(value).__name__
    if isinstance(value, str) or "string" in kind.split("<")[0]:
        return str(value)
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "__iter__"):
        return [plain(item) for item in value]
    return value


def main() -> None:
    """Prints the columns as JSON."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    path, table, *columns = sys.argv[1:]
    read = ROOT.RDataFrame(table, path).AsNumpy(columns)
    print(json.dumps({name: [plain(value) for value in read[name]] for name in columns}))


if __name__ == "__main__":
    main()
