"""`make bench-compare`: two builds beside each other. What grew is named; no time decides."""

import sys
from pathlib import Path

from referee.command import Argument, Basketry, Outcome, run
from referee.paths import REPO, importing

SMALL = ("--megabytes", "1", "--rounds", "1")


def compared(basketry: Basketry, reference: Path, folder: Path, *options: str) -> Outcome:
    """The comparison of small jobs; only a multiple of the time is too much."""
    command: list[Argument] = [sys.executable, REPO / "bench" / "compare.py", reference, *SMALL, "--folder", folder]
    return run([*command, *options], env=importing("tests", "bench") | {"BASKETRY_BIN": str(basketry.binary)})


def test_every_job_runs_and_a_build_equals_itself(basketry: Basketry, tmp_path: Path) -> None:
    outcome = compared(basketry, basketry.binary, tmp_path, "--limit", "100000")
    assert outcome.code == 0, str(outcome)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in outcome.out.splitlines()[2:]]
    assert len({row[0] for row in rows}) == len(rows) / 5 == 12
    assert all(row[2] == row[3] for row in rows if row[1] == "MB written")
    assert sum(float(row[2]) > 0 for row in rows if row[1] == "MB written") == 9
    assert all(float(row[2]) > 0 for row in rows if row[1] in ("page faults", "allocations"))


def test_an_output_that_grew_is_named(basketry: Basketry, tmp_path: Path) -> None:
    small = tmp_path / "small"
    # An older build that compressed better.
    small.write_text(f'#!/bin/sh\nexec "{basketry.binary}" "$@" --compression zstd:9\n')
    small.chmod(0o755)
    outcome = compared(basketry, small, tmp_path, "--limit", "100000", "--only", "copying")
    assert outcome.code == 0, str(outcome)
    outcome = compared(basketry, small, tmp_path, "--limit", "1", "--only", "writing")
    assert outcome.code == 1, str(outcome)
    assert "writing: MB written +" in outcome.err
