"""Shuffled batches for training, beside ROOT's RDataLoader."""

import re
import sys
from pathlib import Path

import inputs
from harness import Bench, section
from measure import Contender, in_page_cache, inside

LOADERS = Path(__file__).parents[1] / "loaders.py"
BATCH = "1024"

#: Makes a file of numbers and lists, with the number of each entry.
MAKING = """
import sys
import numpy as np, awkward as ak, basketry

entries, path = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(1)
def numbers(count):
    return rng.normal(size=count).astype(np.float32)
counts = rng.poisson(3, entries)
columns = {"entry": np.arange(entries, dtype=np.float32)}
columns |= {f"x{number}": numbers(entries) for number in range(9)}
columns |= {name: ak.unflatten(ak.Array(numbers(int(counts.sum()))), counts) for name in ("Jet_pt", "Jet_eta")}
with basketry.recreate(path, compression="zstd:5", cluster="4MB") as file:
    file["Events"] = columns
"""
#: Loaders, as loaders.py calls them.
LOADED = {"basketry": "basketry", "RDataLoader": "root", "RDataLoader, all in memory": "root-eager"}
#: Columns of numbers, and of lists.
COLUMNS = {
    "10 numbers": ["entry", *(f"x{number}" for number in range(9))],
    "6 numbers, 2 lists of 4": ["entry", *(f"x{number}" for number in range(5)), "--", "Jet_pt", "Jet_eta"],
}


@section
def training(bench: Bench) -> None:
    """`loader` beside ROOT's RDataLoader: shuffled batches of 1,024 as matrices; more samples per second of a core."""
    entries = 20_000 if bench.quick else 1_000_000
    path = inputs.made(f"training-{entries}", Path(__file__), [sys.executable, "-c", MAKING, str(entries)])
    in_page_cache(path)
    head = "| columns | loader | samples / cpu s | samples / wall s | peak RSS MB | above the imports MB | spread |"
    bench.say("", head, "|---|---|---|---|---|---|---|")
    notes = []
    for label, columns in COLUMNS.items():
        contenders = [
            Contender(name, [sys.executable, "-W", "ignore", LOADERS, package, path, BATCH, *columns], clock=inside)
            for name, package in LOADED.items()
        ]
        done = bench.compare(label, contenders)
        for one in done.values():
            bench.say("| " + " | ".join([label, one.name, *measured(one)]) + " |")
        ratios = (
            f"{one.name}: {one.cpu / ours.cpu:.2f} x the CPU, {one.wall / ours.wall:.2f} x the time"
            for ours in [done["basketry"]]
            for one in done.values()
            if one is not ours
        )
        notes += [f"{label}: {words}" for words in ratios]
    bench.say("", *notes)


def measured(one: Contender) -> list[str]:
    """Speed, memory and spread of a loader."""
    said = one.samples[-1].out
    found = {name: float(value) for name, value in re.findall(r"^(samples|spread) (\S+)$", said, re.MULTILINE)}
    base, peak = (int(word) for word in re.findall(r"^memory (\d+) (\d+)$", said, re.MULTILINE)[0])
    speeds = [f"{found['samples'] / seconds:,.0f}" for seconds in (one.cpu, one.wall)]
    return [*speeds, f"{one.peak:.0f}", f"{(peak - base) / 1e6:.0f}", f"{found['spread']:.2f}"]
