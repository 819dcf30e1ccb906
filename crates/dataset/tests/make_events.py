"""Makes tests/data/events.root, the file that the crate's examples read: a tree of four events with muons."""

from pathlib import Path

import awkward
import numpy
import uproot

with uproot.recreate(Path(__file__).parent / "data" / "events.root") as file:
    muons = awkward.Array([[31.5, 12.25], [], [44.0], [8.5, 7.5, 5.0]])
    tree = file.mktree("Events", {"event": "int64", "Muon_pt": "var * float32"})
    tree.extend({"event": numpy.arange(4), "Muon_pt": muons})
    file["note"] = "made by uproot"
