"""A tree of 100 GB and an RNTuple beyond 4 GiB, of blocks of zeros with a number in front.

The file system keeps no space for zeros: a preloaded library leaves them out where they are appended.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import basketry as bk
from referee.command import Argument, run
from studies import pictures
from studies.large import CONTAINERS, ITERATE, LIMIT, bytes_of, figures, looks, measured
from studies.study import Context, compiled, study

#: Entries of one megabyte in a part with zeros, and parts in a tree and an RNTuple.
ENTRIES = 1000
PARTS = {"ttree": 100, "rntuple": 6}
ZEROS_MEMORY = "256MB"
#: An entry: its number, and zeros behind it.
WIDTH = 131_072
PYTHON = """
import sys
import basketry as bk
total = 0
for step in bk.iterate(sys.argv[1] + ":Events", ["number", "block"], step_size="50MB", library="np"):
    assert (step["block"][:, 0] == step["number"]).all()
    total += len(step["number"])
print(total)
"""
ROOT = """
import os
import sys
import ROOT
path, container, entries, part = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
places = [0, entries // 50, entries // 3, entries // 2, entries - 1]
if container == "ttree":
    file = ROOT.TFile(path)
    tree = file.Get("Events")
    assert tree.GetEntries() == entries, tree.GetEntries()
    for place in places:
        assert tree.GetEntry(place) > 0
        assert tree.number == place % part and tree.block[0] == place % part, place
else:
    reader = ROOT.RNTupleReader.Open("Events", path)
    assert reader.GetNEntries() == entries, reader.GetNEntries()
    numbers = reader.GetView["std::int64_t"]("number")
    blocks = reader.GetView["std::array<double, 131072>"]("block")
    for place in places:
        assert numbers(place) == place % part and blocks(place)[0] == place % part, place
print(len(places), flush=True)
os._exit(0)
"""


@study
def sparse(context: Context) -> None:
    """Merging, reading, tuning and verifying positions beyond 2 and 4 GiB, and a tree of 100 GB."""
    with context.scratch() as folder:
        zeros(context, folder)


def zeros(context: Context, folder: Path) -> None:
    """A tree and an RNTuple of zeros with a number in front, merged beyond 2 and 4 GiB, and read by ROOT."""
    library = compiled(context.out, "sparse") if shutil.which("g++") else None
    peaks: dict[str, dict[str, float]] = {}
    for container in CONTAINERS:
        part, big = folder / f"{container}-part.root", folder / f"{container}-big.root"
        entries, count = (8, 3) if context.quick else (ENTRIES, max(1, round(PARTS[container] * context.scale)))
        numbers_and_zeros(part, container, entries)
        parts: list[Argument] = [part] * (count if library else 1)
        memory = ["--memory", ZEROS_MEMORY]
        merged = measured(
            context, f"zeros {container}, merged", {"merge": ["merge", *parts, "-o", big, "-q", *memory]},
            **({"LD_PRELOAD": str(library)} if library else {}),
        )  # fmt: skip
        jobs: dict[str, list[Argument]] = {
            **looks(big, memory),
            "verify": ["verify", *parts, big, *memory],
            ITERATE: ["-c", PYTHON, big],
        }
        done = merged | measured(context, f"zeros {container}", jobs)
        total = entries * len(parts)
        what = f"{total:,} entries of 1 MB, {bytes_of(big)}. {by_root(context, big, container, (total, entries))}:"
        figures(context, f"zeros-{container}", ZEROS_MEMORY, done, what)
        peaks[f"{container}, {big.stat().st_size / 1e9:.0f} GB"] = {
            name: one.peak_rss / 1e6 for name, one in done.items()
        }
        big.unlink()
        part.unlink()
    alt = "Peak memory of each verb over a tree of 100 GB and a smaller RNTuple."
    context.picture("memory", alt, lambda figure: memory_of(figure, peaks))


def memory_of(figure: Figure, peaks: Mapping[str, Mapping[str, float]]) -> None:
    """Peak memory of each verb."""
    (axes,) = pictures.panels(figure, [f"with --memory {ZEROS_MEMORY}"])
    names = list(next(iter(peaks.values())))
    pictures.bars(axes, names, {label: [of[name] for name in names] for label, of in peaks.items()}, "peak RSS, MB")


def numbers_and_zeros(path: Path, container: str, entries: int) -> None:
    """Writes a part: in each entry zeros behind a number, each a basket or page of its own."""
    with bk.recreate(path, compression=None) as file:
        make = file.mktree if container == "ttree" else file.mkrntuple
        out = make("Events", {"number": "int64", "block": np.dtype((np.float64, (WIDTH,)))})
        for first in range(0, entries, 64):
            numbers = np.arange(first, min(first + 64, entries))
            blocks = np.zeros((len(numbers), WIDTH))
            blocks[:, 0] = numbers
            out.extend({"number": numbers, "block": blocks})


def by_root(context: Context, path: Path, container: str, entries: tuple[int, int]) -> str:
    """What ROOT reads of it."""
    if not context.root:
        return "ROOT was not asked"
    done = run([sys.executable, "-W", "ignore", "-c", ROOT, path, container, *map(str, entries)], timeout=LIMIT)
    if done.code:
        raise RuntimeError(f"ROOT reads {path.name} otherwise: {done.err[-1000:]}")
    return f"ROOT reads the right values of {done.out.split()[-1]} entries, the last among them"
