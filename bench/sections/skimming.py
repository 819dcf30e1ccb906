"""Skims by a cut: beside ROOT's tools, and beside reading the cut's columns and copying what is kept."""

import subprocess
import sys
from pathlib import Path

import numpy as np

import basketry as package
import inputs
from harness import Bench, section
from measure import SCRATCH, Contender, basketry, in_page_cache, inside, table
from referee.paths import BINARY, root_command

SNAPSHOTS = Path(__file__).parents[1] / "snapshots.py"
ROOT_PYTHON: list[str | Path] = [sys.executable, "-W", "ignore"]
COLUMN = "MET_real0"
SHARES = {"1 %": 0.01, "30 %": 0.3}


def made(bench: Bench) -> Path:
    """NanoAOD-like data, in the page cache."""
    size = "5MB" if bench.quick else "200MB"
    command: list[str | Path] = [BINARY, "generate", "nano", "--size", size, "--compression", "zstd:5", "-q", "-o"]
    path = inputs.made(f"skim-nano-{size}", Path(__file__), command)
    in_page_cache(path)
    return path


def rdataframe(path: Path, out: Path, cut: str, threads: str) -> Contender:
    """Filter and Snapshot, without the import of ROOT, with the compilation for these columns."""
    command = [*ROOT_PYTHON, SNAPSHOTS, path, out, "Events", cut, threads, "zstd", "5"]
    return Contender(f"RDataFrame, {threads} thread{'s' if threads != '1' else ''}", command, [out], inside)


def entries_of(path: Path) -> int:
    """Entries of the tree."""
    return package.open(f"{path}:Events").num_entries


@section
def skim(bench: Bench) -> None:
    """`rewrite --cut`: CPU at most 1.2 x reading the cut's columns and copying what is kept; several x ROOT's tools."""
    path = made(bench)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    values = package.open(f"{path}:Events")[COLUMN].array(library="np")
    for label, share in SHARES.items():
        limit = float(np.quantile(values, 1 - share))
        cut = f"{COLUMN} > {limit!r}"
        kept = np.flatnonzero(values > limit)
        listed, out = SCRATCH / f"kept-{share}.txt", SCRATCH / "skim.root"
        listed.write_text("\n".join(map(str, kept)))
        tool = [*ROOT_PYTHON, root_command("rooteventselector"), "--recreate", "-c", "505", "-s", cut]
        contenders = [
            basketry("rewrite --cut", "rewrite", path, "-o", out, "--cut", cut, "-j", "1", outputs=[out]),
            basketry("reading the column", "readspeed", path, "--branches", COLUMN, "-j", "1"),
            basketry("copying the entries", "rewrite", path, "-o", out, "--entries", listed, "-j", "1", outputs=[out]),
            basketry("rewrite --cut -j 2", "rewrite", path, "-o", out, "--cut", cut, "-j", "2", outputs=[out]),
            Contender("rooteventselector", [*tool, f"{path}:Events", out], [out]),
            Contender("import ROOT", [*ROOT_PYTHON, "-c", "import ROOT; ROOT.TTree"]),
            rdataframe(path, out, cut, "1"),
            rdataframe(path, out, cut, "2"),
        ]
        checked(contenders, out, len(kept))
        done = bench.compare(label, contenders)
        heading = f"### {label} of {path.stat().st_size / 1e6:.0f} MB, zstd-5: {len(kept)} of {len(values)} entries"
        bench.say("", heading, "", *table(list(done.values()), done.get("rewrite --cut")))
        ours = done["rewrite --cut"].cpu
        floor = done["reading the column"].cpu + done["copying the entries"].cpu
        bench.say("", f"reading and copying: {floor:.3f} s; the cut takes {ours / floor:.2f} x that")
        if {"rooteventselector", "import ROOT"} <= done.keys():
            theirs = done["rooteventselector"].cpu - done["import ROOT"].cpu
            bench.say("", f"rooteventselector without its start: {theirs:.3f} s, {theirs / ours:.1f} x")


def checked(contenders: list[Contender], out: Path, expected: int) -> None:
    """Runs each that writes once, and compares its entries."""
    for one in contenders:
        if out in one.outputs:
            out.unlink(missing_ok=True)
            subprocess.run([str(word) for word in one.command], check=True, capture_output=True)
            if (found := entries_of(out)) != expected:
                raise RuntimeError(f"{one.name}: {found} entries and not {expected}")
            out.unlink()
