"""The studies of bottlenecks and of parallel writing, in their quick form: planted bottlenecks are found, and the pages
have a place for every table. No time is asserted."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

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


def rows_of(results: Any, block: str) -> list[str]:
    """The rows of a table, without its head and the noise below it."""
    return [line for line in results["blocks"][block] if line.startswith("|")][2:]


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


@pytest.mark.parametrize("block", ["memory", "budgets", "limits"])
def test_writing_in_parallel_is_measured(block: str, parallel: tuple[Any, str]) -> None:
    results, page = parallel
    rows = rows_of(results, block)

    assert len(rows) in (4, 6)
    assert all(row in page for row in rows)
    assert not any("| - |" in row for row in rows)


def test_every_axis_of_the_benchmark_is_measured(
    parallel: tuple[Any, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    results, page = parallel
    assert page.count(PLACE) == len(results["blocks"])
    for kind in ("single", "multi"):
        rows = rows_of(results, f"{kind}-speed")
        codecs = {row.split("|")[2].strip() for row in rows}
        assert {"none", "lz4:4"} <= codecs
        assert all("→" in row for row in rows)

    assert [row.split("|")[1].strip() for row in rows_of(results, "branches-none")] == ["1 x 100", "50 x 2"]
    assert not list(tmp_path_factory.getbasetemp().rglob("write-bench-*")), "measured files are left behind"


@pytest.fixture(scope="module")
def parallel(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """The study of parallel writing."""
    return run_study("parallel", basketry, tmp_path_factory.mktemp("parallel"))
