"""The study of bottlenecks in its quick form: planted bottlenecks are found, and the page has a place for every table.

No time is asserted.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from referee.command import Argument, Basketry, run
from referee.paths import REPO

PLACE = "<!-- measured: "


def run_study(name: str, basketry: Basketry, folder: Path) -> tuple[Any, str]:
    """The results of a study without ROOT, and its page with the tables."""
    pages = folder / "pages"
    pages.mkdir()
    shutil.copy(REPO / "docs" / "studies" / f"{name}.md", pages)
    paths = os.pathsep.join(str(REPO / part) for part in (".", "tests", "bench"))
    command: list[Argument] = [
        sys.executable,
        REPO / "studies" / "run.py",
        "--quick",
        "--no-root",
        "--only",
        name,
        "-o",
        folder,
    ]
    done = run([*command, "--pages", pages], env={"PYTHONPATH": paths, "BASKETRY_BIN": str(basketry.binary)})
    assert done.code == 0, str(done)
    return json.loads((folder / name / "results.json").read_text()), (pages / f"{name}.md").read_text()


def test_planted_bottlenecks_are_found(basketry: Basketry, tmp_path: Path) -> None:
    results, page = run_study("bottlenecks", basketry, tmp_path)
    found = {name: case["found"] for name, case in results["found"].items()}
    planted = {name: case["planted"] for name, case in results["found"].items()}
    assert set(planted.values()) == {"application", "storage", "too-few-clusters", "decompression", "decoding"}
    # In so small a file two stages are close to each other here, so other programs can swap their order.
    for close in ("nothing", "one cluster of many baskets"):
        del found[close], planted[close]
    assert found == planted
    line = results["series"]["slow storage"]["basketry"]

    assert line["facts"]["throttle"]
    assert line["real"] >= line["facts"]["compressed"] / line["facts"]["throttle"] - 0.01
    assert page.count(PLACE) == len(results["blocks"])
    assert "| slow application | application | application |" in page
