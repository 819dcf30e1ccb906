"""Columns of trees and RNTuples as lists, as real ROOT's RDataFrame reads them.

Run as a program it is the process with ROOT in it: see `root_server`.
"""

import atexit
import functools
import json
from pathlib import Path
from typing import Any

from referee.root_server import Server, serve

# Seconds for one answer.
TIMEOUT = 300
# What RDataFrame makes of vectors of vectors has no dictionary until it is used.
NESTED = """
#include <ROOT/RVec.hxx>
ROOT::VecOps::RVec<std::vector<int>> of_a_tree;
ROOT::VecOps::RVec<ROOT::VecOps::RVec<std::int32_t>> of_an_rntuple;
"""
# Types of columns that tests ask for.
KINDS = [
    *("float", "double", "int", "unsigned", "Long64_t", "std::int64_t", "std::uint64_t", "bool", "std::string"),
    *(f"ROOT::RVec<{kind}>" for kind in ("float", "double", "int", "std::int64_t", "std::string", "std::vector<int>")),
]


@functools.cache
def _root() -> Server:
    """The process with ROOT."""
    server = Server("referee.frames_as_lists")
    atexit.register(server.close)
    return server


def read_by_root(path: Path, table: str, columns: list[str]) -> dict[str, list[Any]]:
    """The values of all entries, with vectors and texts as lists and strings."""
    answer: dict[str, Any] = _root().ask(json.dumps([str(path), table, columns]))
    if "error" in answer:
        raise RuntimeError(f"ROOT failed at {path}: {answer['error']}")
    return answer


def plain(value: Any) -> Any:
    """A value of ROOT's without ROOT."""
    # NumPy's numbers and arrays.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str) or "string" in type(value).__name__.split("<")[0]:
        return str(value)
    try:
        items = list(value)
    except TypeError:
        return value
    return [plain(item) for item in items]


def main() -> None:
    """Answers each question of stdin."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError

    def answer(question: str) -> str:
        path, table, columns = json.loads(question)
        try:
            read = ROOT.RDataFrame(table, path).AsNumpy(columns)
            return json.dumps({name: [plain(value) for value in read[name]] for name in columns})
        except Exception as why:
            return json.dumps({"error": str(why)[-2000:]})

    ROOT.gInterpreter.Declare(NESTED)
    # ROOT compiles what it needs for a type at first use: once here, and not in each child.
    frame = ROOT.RDataFrame(1)
    for i, kind in enumerate(KINDS):
        frame = frame.Define(f"x{i}", f"{kind}()")
    frame.AsNumpy([f"x{i}" for i in range(len(KINDS))])
    serve(answer, TIMEOUT)


if __name__ == "__main__":
    main()
