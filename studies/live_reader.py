"""A process that reads a file again and again while another one writes it: `python studies/live_reader.py READER`.

Each line of its input is a path: from then on it opens the file, reads a column of all entries, closes it, and rests.
Each reading is a line of JSON: when it began, how long it took, its number of values, and their digest. The next line
of input ends that, with an empty line.
"""

import hashlib
import importlib
import json
import select
import sys
import time
from collections.abc import Callable
from typing import Any

#: Seconds between two readings.
REST = 0.05
TREE = "Events"
#: One number of each event: a branch of a tree has the names of those above it, a field of an RNTuple has not.
BRANCHES = ("ev0/ev0.energy", "ev0.energy")
#: Reads by RDataFrame, for both containers.
CODE = """
#include <ROOT/RDataFrame.hxx>
std::vector<double> column(const char *path, const char *tree) {
  std::vector<double> values;
  ROOT::RDataFrame frame(tree, path);
  auto take = [&](const ROOT::RVec<double> &some) { values.insert(values.end(), some.begin(), some.end()); };
  frame.Foreach(take, {"ev0.energy"});
  return values;
}
"""

Column = Callable[[str], Any]


def by(package: str) -> Column:
    """Reads with basketry or uproot, which open files in the same way."""
    import awkward as ak

    opened = importlib.import_module(package).open

    def column(path: str) -> Any:
        with opened(path) as file:
            tree = file[TREE]
            name = next(name for name in BRANCHES if name in tree)
            return ak.to_numpy(ak.flatten(tree[name].array(), axis=None))

    return column


def by_root() -> Column:
    """Reads with ROOT."""
    import numpy as np
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    if not ROOT.gInterpreter.Declare(CODE):
        raise SystemExit("the reader does not compile")
    return lambda path: np.asarray(ROOT.column(path, TREE))


READERS: dict[str, Callable[[], Column]] = {
    "basketry": lambda: by("basketry"),
    "uproot": lambda: by("uproot"),
    "ROOT": by_root,
}


def reading(column: Column, path: str) -> dict[str, Any]:
    """One reading; without values if the file cannot be read now."""
    begun = time.monotonic()
    found: dict[str, Any] = {"at": begun, "values": 0}
    try:
        values = column(path)
        if values.dtype.kind != "f":
            raise TypeError("the file does not describe the class yet")
        found |= {"values": len(values), "digest": hashlib.sha256(values.tobytes()).hexdigest()}
    # Whatever a library makes of a file that changes meanwhile.
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {error}"[:200]
    return found | {"seconds": time.monotonic() - begun}


def follow(column: Column, path: str) -> None:
    """Tells of readings until there is a line of input."""
    while not select.select([sys.stdin], [], [], REST)[0]:
        print(json.dumps(reading(column, path)), flush=True)
    sys.stdin.readline()
    print(flush=True)


def main() -> None:
    """Says that it is ready, and follows the files that it is told."""
    column = READERS[sys.argv[1]]()
    print("ready", flush=True)
    for line in iter(sys.stdin.readline, ""):
        follow(column, line.strip())


if __name__ == "__main__":
    main()
