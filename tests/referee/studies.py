"""Runs the studies without ROOT, in their quick form, with copies of their pages."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from referee.command import Argument, Outcome, run
from referee.paths import BINARY, REPO, importing

PAGES = REPO / "docs" / "studies"


def studies(*options: Argument, timeout: float = 120.0) -> Outcome:
    """The program of the studies."""
    environment = importing(".", "tests", "bench") | {"BASKETRY_BIN": str(BINARY)}
    return run([sys.executable, REPO / "studies" / "run.py", *options], env=environment, timeout=timeout)


def quick(name: str, folder: Path, timeout: float = 1200.0) -> tuple[Any, Path, Outcome]:
    """The results of a study, the folder with copies of the pages that have its tables, and what it said."""
    pages = folder / "pages"
    shutil.copytree(PAGES, pages)
    out = folder / "out"
    done = studies("--only", name, "--quick", "--no-root", "-o", out, "--pages", pages, timeout=timeout)
    assert done.code == 0, str(done)
    return json.loads((out / name / "results.json").read_text()), pages, done
