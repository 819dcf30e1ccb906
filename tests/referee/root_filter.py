"""Entries that real ROOT keeps: `RDataFrame::Filter`; and its histograms with labels.

Run as a script this module is the process with ROOT in it; its argument is JSON of {"path", "tree", "filters",
"histograms"}.
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
    return answer_of(__name__, {"path": str(path), "tree": tree, "filters": filters, "histograms": histograms})


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
    file = ROOT.TFile.Open(wanted["path"])
    for name in wanted["histograms"]:
        histogram = file.Get(name)
        bins = range(1, histogram.GetNbinsX() + 1)
        answer[name] = [[histogram.GetXaxis().GetBinLabel(i), histogram.GetBinContent(i)] for i in bins]
        answer[f"{name} errors"] = [histogram.GetBinError(i) for i in bins]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
