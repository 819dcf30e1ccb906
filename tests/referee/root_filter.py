"""Entries that real ROOT keeps: `RDataFrame::Filter`; and its histograms with labels.

Run as a script this module is the process with ROOT in it; its argument is JSON of {"path", "tree", "filters",
"histograms"}.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def asked(
    path: Path, tree: str = "", filters: tuple[str, ...] = (), histograms: tuple[str, ...] = ()
) -> dict[str, Any]:
    """For each filter, in C++, the entries that pass; for each histogram its labels and contents."""
    question = json.dumps({"path": str(path), "tree": tree, "filters": filters, "histograms": histograms})
    command = [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), question]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"ROOT ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(lines[-1])
    answer["said"] = [line for line in done.stderr.splitlines() if line.startswith(("Error", "Warning"))]
    return answer


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
