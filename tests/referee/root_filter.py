"""Entries that real ROOT keeps: `RDataFrame::Filter`; values that it computes; and its histograms with labels.

Run as a script this module is the process with ROOT in it; its argument is JSON of {"path", "tree", "filters",
"histograms", "columns"}.
"""

import json
import sys
from pathlib import Path
from typing import Any

from referee.root_answer import answer_of


def asked(
    path: Path, tree: str = "", filters: tuple[str, ...] = (), histograms: tuple[str, ...] = ()
) -> dict[str, Any]:
    """For each filter, in C++, the entries that pass; for each histogram its labels and contents."""
    question = {"path": str(path), "tree": tree, "filters": filters, "histograms": histograms, "columns": {}}
    return answer_of(__name__, question)


def values(path: Path, tree: str, columns: dict[str, tuple[str, str]]) -> dict[str, list[Any]]:
    """For each name, of a type and an expression in C++, the values of all entries."""
    question = {"path": str(path), "tree": tree, "filters": [], "histograms": [], "columns": columns}
    answer = answer_of(__name__, question)
    if said := answer.pop("said"):
        raise RuntimeError("\n".join(said))
    return answer


def _plain(value: Any, kind: str) -> Any:
    """A value of a type in C++ as Python has it."""
    if "RVec" in kind:
        return [float(item) for item in value]
    return str(value) if "string" in kind else float(value)


def main() -> None:
    """Answers the question."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    wanted = json.loads(sys.argv[1])
    answer: dict[str, Any] = {}
    if wanted["filters"]:
        frame = ROOT.RDataFrame(wanted["tree"], wanted["path"])
        taken = {text: frame.Filter(text).Take["ULong64_t"]("rdfentry_") for text in wanted["filters"]}
        answer |= {text: sorted(int(entry) for entry in entries.GetValue()) for text, entries in taken.items()}
    if wanted["columns"]:
        frame = ROOT.RDataFrame(wanted["tree"], wanted["path"])
        taken = {}
        for name, (kind, text) in wanted["columns"].items():
            # A column by its name is read as the type that it has.
            own = frame if text == name else frame.Define(f"referee_{name}", text)
            taken[name] = own.Take[kind](name if text == name else f"referee_{name}")
        for name, (kind, _) in wanted["columns"].items():
            answer[name] = [_plain(value, kind) for value in taken[name].GetValue()]
    file = ROOT.TFile.Open(wanted["path"])
    for name in wanted["histograms"]:
        histogram = file.Get(name)
        bins = range(1, histogram.GetNbinsX() + 1)
        answer[name] = [[histogram.GetXaxis().GetBinLabel(i), histogram.GetBinContent(i)] for i in bins]
        answer[f"{name} errors"] = [histogram.GetBinError(i) for i in bins]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
