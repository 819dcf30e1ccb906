"""Values of columns as real ROOT computes them: `TTree::Draw` of an expression, and RDataFrame's sum of a column.

Run as a script this module is the process with ROOT in it; its argument is JSON of {"path", "tree", "code", "draw",
"sum"}.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

from referee.root_answer import answer_of


def drawn(path: Path, tree: str, draw: list[str], sums: list[str], code: str = "") -> dict[str, Any]:
    """For each expression to draw its values, entry after entry; for each column of RDataFrame the sum of its values;
    and the first entries of clusters.

    `code` is C++ that is compiled first, beside the file: classes with their dictionary.
    """
    return answer_of(__name__, {"path": str(path), "tree": tree, "code": code, "draw": draw, "sum": sums})


def main() -> None:
    """Answers the question."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    asked = json.loads(sys.argv[1])
    if asked["code"]:
        source = Path(asked["path"]).with_name("classes.C")
        source.write_text(asked["code"])
        if not ROOT.gSystem.CompileMacro(str(source), "kO"):
            raise SystemExit("the classes do not compile")
    file = ROOT.TFile.Open(asked["path"])
    tree = file.Get(asked["tree"])
    tree.SetEstimate(1_000_000)
    answer: dict[str, Any] = {"entries": tree.GetEntries()}
    for expression in asked["draw"]:
        n = tree.Draw(expression, "", "goff")
        values = tree.GetV1()
        answer[expression] = [values[i] for i in range(n)] if n >= 0 else None
    clusters = tree.GetClusterIterator(0)
    answer["clusters"] = []
    while (start := clusters.Next()) < tree.GetEntries():
        answer["clusters"].append(int(start))
    bytes_read = [tree.GetEntry(entry) for entry in range(tree.GetEntries())]
    answer["read"] = min(bytes_read, default=0)
    frame = ROOT.RDataFrame(asked["tree"], asked["path"])
    for column in asked["sum"]:
        total = float(frame.Define("summed_", f"double(Sum({column}))").Sum("summed_").GetValue())
        answer[f"sum {column}"] = None if math.isnan(total) else total
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
