"""Predictions of `tune --reader` for another program, beside that program's measured times.

    python -m studies.readers [FILE:TREE...] [--reader root|uproot|PROFILE.toml]

Without files it takes trees of the corpus that ROOT reads for more than 15 ms. It runs the command that BASKETRY_BIN
names, or the installed one; `python3` on the path must have the reader. For ROOT it also runs rootreadspeed on the
file many times over, so that its start does not count, where no branch is split: rootreadspeed passes over the branches
below those of the first level.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uproot

from referee.paths import BINARY, CORPUS, root_command
from studies.study import number, table

#: Trees of the corpus, by file; those of one level are marked.
TREES = (
    ("opendata-project--PhaseSpaceSimulation.root", "PhaseSpaceTree"),
    ("roottest--McGen-E5-T45-P0-MonteCarloMcHitsC100743.root", "MeritTuple"),
    ("coffea--nano_tt_v12.root", "Events"),
    ("skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events"),
    ("coffea--missing_luminosityBlock.root", "Events"),
    ("coffea--nano_tree.root", "Events"),
    ("coffea--PHYSLITE_example.root", "CollectionTree"),
    ("roottest--AliESDs-0.root", "esdTree"),
    ("coffea--test_FCC_Winter2023.root", "events"),
    ("coffea--test_FCC_Spring2021.root", "events"),
    ("skhep--uproot-issue187.root", "fTreeV0"),
    ("skhep--uproot-issue513.root", "Delphes"),
    ("skhep--uproot-issue-1221.root", "TrkAna/trkana"),
)
#: rootreadspeed prints CPU time to 10 ms, and its start takes longer: additional readings of a file.
TIMES = 20


@dataclass
class Reading:
    """Seconds of one file: expected, by the program in tune's proof, and by rootreadspeed."""

    expected: float
    measured: float | None
    readspeed: float | None

    @property
    def error(self) -> float | None:
        """Error of a prediction, as a share of the measurement."""
        return self.expected / self.measured - 1 if self.measured else None


@dataclass
class Outcome:
    """The result for one tree."""

    name: str
    today: Reading
    chosen: Reading
    outcome: str
    #: Whether all branches are of the first level.
    flat: bool


def is_flat(file: Path, tree: str) -> bool:
    """Whether all branches are of the first level."""
    with uproot.open(file) as opened:
        return not any(branch.branches for branch in opened[tree].branches)


def readspeed(file: Path, tree: str) -> float | None:
    """CPU seconds of one reading by rootreadspeed."""
    if not is_flat(file, tree):
        return None
    found = []
    for times in (1, 1 + TIMES):
        command = [str(root_command("rootreadspeed")), "--files", *[str(file)] * times, "--trees", tree]
        done = subprocess.run(
            [*command, "--all-branches", "--threads", "0"], capture_output=True, text=True, check=False
        )
        said = re.search(r"CPU time:\s+([0-9.]+) s", done.stdout)
        if not said:
            return None
        found.append(float(said[1]))
    return (found[1] - found[0]) / TIMES


def outcome(file: Path, tree: str, reader: str) -> Outcome | None:
    """Tunes one tree for the reader, within its own size."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / file.name
        command = [str(BINARY), "tune", f"{file}:{tree}", "--reader", reader, "-o", str(output), "--json", "-j", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            print(f"{file.name}: {done.stderr.strip()}", file=sys.stderr)
            return None
        report: dict[str, Any] = json.loads(done.stdout)
        attempts = [one["reading"] for one in report["attempts"] if one["reading"]]
        last = attempts[-1] if attempts else {"before": None, "after": None}
        by_root = report["reader"]["name"] == "root"
        today = Reading(report["today"]["read"], last["before"], readspeed(file, tree) if by_root else None)
        chosen = Reading((report["chosen"] or report["today"])["read"], last["after"], None)
        if output.exists() and by_root:
            chosen.readspeed = readspeed(output, tree)
        said = "delivered" if report["delivered"] else "input is best" if report["unchanged"] else "rejected"
        return Outcome(f"{file.name.split('--', 1)[-1]}, {tree}", today, chosen, said, is_flat(file, tree))


def cells(reading: Reading) -> list[str]:
    """Expected, measured with the error, and by rootreadspeed, in milliseconds."""
    error = "" if reading.error is None else f" ({100 * reading.error:+.0f} %)"
    shown = ["" if one is None else number(1e3 * one, 1) for one in (reading.measured, reading.readspeed)]
    return [number(1e3 * reading.expected, 1), shown[0] + error, shown[1]]


def summary(found: list[Outcome]) -> list[str]:
    """The sentences below the table on the page: the errors of flat trees, and of those with branches below others."""
    said = []
    for words, is_kind in (("all branches are leaves", True), ("branches are split into classes", False)):
        readings = [each for one in found if one.flat == is_kind for each in (one.today, one.chosen)]
        off = [100 * abs(reading.error) for reading in readings if reading.error is not None]
        if off:
            errors = f"{statistics.median(off):.0f} % in the median and {max(off):.0f} % at worst"
            said.append(f"Where {words}, expected times are wrong by {errors}, at least by {min(off):.0f} %.")
    return said


def main() -> None:
    """Tunes the named trees and prints predictions and measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", metavar="FILE:TREE")
    parser.add_argument("--reader", default="root")
    arguments = parser.parse_args()
    places = [(CORPUS / "files" / name, tree) for name, tree in TREES]
    if arguments.trees:
        places = [(Path(file), tree) for file, _, tree in (one.rpartition(":") for one in arguments.trees)]
    head = ["file, tree", "input: expected, ms", "measured", "rootreadspeed"]
    head += ["output: expected, ms", "measured", "rootreadspeed", ""]
    print("\n".join(table(head, [])))
    found = []
    for file, tree in places:
        if one := outcome(file, tree, arguments.reader):
            found.append(one)
            # Printed at once: some take minutes.
            print(table(head, [[one.name, *cells(one.today), *cells(one.chosen), one.outcome]])[-1], flush=True)
    print("", *summary(found), sep="\n")


if __name__ == "__main__":
    main()
