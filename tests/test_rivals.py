"""What `tune` leaves beside plain rewrites: files of few entries in tiny clusters, for which one cluster is enough."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee import expected_sizes
from referee.command import Basketry
from referee.paths import REPO

MADE = {
    "nano": ("nano", "--size", "2MB", "--cluster", "100kB", "--compression", "zlib:1"),
    "lhcb": ("lhcb", "--size", "2MB", "--cluster", "50kB", "--compression", "zstd:5"),
    "ntuple": ("nano", "--size", "2MB", "--cluster", "100kB", "--container", "rntuple", "--compression", "zlib:1"),
}


@pytest.mark.parametrize("made", MADE)
def test_tiny_clusters_are_put_together(made: str, basketry: Basketry, tmp_path: Path) -> None:
    path, tuned, plain = (tmp_path / f"{name}.root" for name in ("input", "tuned", "plain"))
    basketry("generate", *MADE[made], "-o", path)
    report = basketry.json("tune", path, "-o", tuned)
    basketry("rewrite", path, "-o", plain, "--cluster", "3MB")

    assert report["delivered"], report["verdict"]
    assert report["chosen"]["clusters"] == 1
    assert tuned.stat().st_size < 1.05 * plain.stat().st_size
    assert report["chosen"]["size"] == pytest.approx(tuned.stat().st_size, rel=expected_sizes.WORST)
    assert any("cluster" in tried for tried in report["tried"])
    # What inspect advises, tune has done.
    kinds = [finding["fault"] for finding in basketry.json("inspect", tuned, "--no-trials")["findings"]]
    assert "small_clusters" not in kinds
    # Threads may need more.
    many = basketry.json("tune", path, "--min-clusters", "4")
    assert many["chosen"]["clusters"] >= 4
    assert any("--min-clusters" in left for left in many["not_tried"])


@pytest.mark.parametrize("reader", ["root", "uproot"])
def test_no_reader_has_baskets_for_nothing(reader: str, basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "few.root"
    basketry("generate", "nano", "--size", "1MB", "--cluster", "40kB", "-o", path)
    report = basketry.json("tune", path, "--reader", reader)

    assert report["chosen"]["baskets"] < 2 * report["measuring"]["columns"] < report["today"]["baskets"] / 2


def test_rivals_are_compared(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "one.root"
    basketry("generate", "single", "--size", "500kB", "--basket", "1kB", "-o", path)
    command = [sys.executable, "-m", "studies.rivals", str(path), "--keep", str(tmp_path / "results.jsonl")]
    folders = os.pathsep.join(str(REPO / name) for name in (".", "tests", "bench"))
    environment = {**os.environ, "BASKETRY_BIN": str(basketry.binary), "PYTHONPATH": folders}
    done = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    [kept] = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(kept["rivals"]) == 8
    assert all(rival["bytes"] > 0 for rival in kept["rivals"].values())
    assert "1 files compared" in done.stdout
