"""Objects as PyROOT's, through a file that ROOT reads. ROOT is imported when it is asked for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .. import _core
from .stored import record, store


def to_pyroot(thing: Any, name: str | None = None) -> Any:
    """The object as PyROOT has it, under its own name or another."""
    import ROOT

    own = thing.all_members.get("fName", "") if name is None else name
    with tempfile.TemporaryDirectory(prefix="basketry-") as folder:
        path = str(Path(folder) / "object.root")
        options: _core.WriterOptions = {
            "memory": _core.DEFAULT_MEMORY,
            "threads": 1,
            "in_order": False,
            "save_entries": None,
            "save_bytes": None,
            "title": "",
            "classes": "",
            "classes_file": None,
        }
        core = _core.Writer(path, "", options)
        if thing.origin is not None:
            core.copy("object", *thing.origin)
        else:
            store(core, "object", *record(thing))
        core.close()
        source = ROOT.TFile(path)
        made = source.Get("object")
        if hasattr(made, "SetDirectory"):
            made.SetDirectory(ROOT.nullptr)
        source.Close()
    if own and hasattr(made, "SetName"):
        made.SetName(own)
    return made
