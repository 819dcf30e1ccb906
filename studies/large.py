"""Large files: a million clusters beside a hundred thousand, a file of 20 GB, and entries of gigabytes."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from matplotlib.figure import Figure

import basketry as bk
from referee.command import Argument, Outcome, run
from referee.paths import BINARY
from studies import pictures
from studies.study import Context, number, study, table

CONTAINERS = ("ttree", "rntuple")
#: Clusters of one entry each; the quick form has a hundredth.
CLUSTERS = (100_000, 1_000_000)
#: Memory for them: what the metadata of the largest need, and a little for the work.
CLUSTER_MEMORY = "2GB"
#: Megabytes of payload of the file without zeros, from parts of which it is merged.
FILE, PART = 20_000, 1_250
FILE_MEMORY = "512MB"
LIMIT = 1800.0
FULL_VERIFY = "verify, with --memory 1GB"
#: Rows without a bar: a Python program has libraries and arrays of its own.
ITERATE = "Python: iterate"
#: Beside --memory: what a small file takes, and this much for metadata.
BESIDE, METADATA = 28, 64
#: Bytes of one entry.
ENTRY = (1_200_000_000, 2_000_000_000, 2_400_000_000)
ENTRY_MEMORY = "16GB"
WRITE = """
import sys
import awkward as ak
import numpy as np
import basketry as bk
path, container, values = sys.argv[1], sys.argv[2], int(sys.argv[3])
numbers = np.zeros(values)
numbers[-1] = 7
with bk.recreate(path, compression=None) as file:
    make = file.mktree if container == "ttree" else file.mkrntuple
    make("Events", {"block": "var * float64"}).extend({"block": ak.unflatten(numbers, [values])})
"""
LAST = """
import os
import sys
import ROOT
path, container, values = sys.argv[1], sys.argv[2], int(sys.argv[3])
if container == "ttree":
    file = ROOT.TFile(path)
    tree = file.Get("Events")
    assert tree.GetEntry(0) > 8 * values
    last = tree.block[values - 1]
else:
    reader = ROOT.RNTupleReader.Open("Events", path)
    block = reader.GetView["std::vector<double>"]("block")(0)
    assert block.size() == values
    last = block[values - 1]
assert last == 7, last
print("right", flush=True)
# What ROOT does at its end is not asked.
os._exit(0)
"""


@study
def large(context: Context) -> None:
    """Time and memory of all verbs on files that are large in each of their dimensions."""
    with context.scratch() as folder:
        many_clusters(context, folder)
        whole_file(context, folder)
        large_entries(context, folder)


def many_clusters(context: Context, folder: Path) -> None:
    """All verbs over more and more clusters: ten times as many may take ten times as long."""
    sizes = [size // 100 for size in CLUSTERS] if context.quick else CLUSTERS
    drawn: dict[str, dict[str, list[tuple[float, float]]]] = {}
    rows = []
    for container in CONTAINERS:
        done: dict[str, list[Outcome]] = {}
        for size in sizes:
            source = folder / f"{container}-{size}.root"
            jobs = cluster_jobs(source, folder / f"{container}-{size}", container, size)
            for label, outcome in measured(context, f"clusters {container} {size}", jobs).items():
                done.setdefault(label, []).append(outcome)
            for path in folder.glob(f"{container}-{size}*"):
                path.unlink()
        for label, outcomes in done.items():
            few, many = outcomes
            cells = [number(few.cpu, 2), number(many.cpu, 2), number(many.cpu / max(few.cpu, 0.01), 1)]
            rows.append([f"{container}, {label}", *cells, mb(few), mb(many)])
        drawn[container] = {
            label: [(size / 1000, one.cpu) for size, one in zip(sizes, outcomes, strict=True)]
            for label, outcomes in done.items()
            if label in ("generate", "inspect", "merge", "read", "verify", "rewrite")
        }
    less, more = (f"{size:,}" for size in sizes)
    head = ["", f"{less}: CPU s", f"{more}: CPU s", "times", f"{less}: peak RSS, MB", f"{more}: peak RSS, MB"]
    context.block("clusters", [*table(head, rows), "", f"One run each, with --memory {CLUSTER_MEMORY}."])
    alt = "CPU time of each verb over the number of clusters, trees and RNTuples."
    context.picture("clusters", alt, lambda figure: growth(figure, drawn), len(drawn))


def growth(figure: Figure, drawn: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> None:
    """CPU time over clusters, for each container."""
    several = pictures.panels(figure, list(drawn), shared=True)
    for axes, groups in zip(several, drawn.values(), strict=True):
        pictures.lines(axes, groups, "clusters, thousands", "CPU s")
        pictures.logarithmic(axes.xaxis, axes.yaxis)


def cluster_jobs(source: Path, stem: Path, container: str, size: int) -> dict[str, list[Argument]]:
    """The verbs on a file of so many clusters, in an order in which their inputs are there."""
    combined, kept, out = (stem.with_name(f"{stem.name}-{name}.root") for name in ("combined", "kept", "out"))
    (other,) = set(CONTAINERS) - {container}
    generate = ["generate", "single", "--container", container, "--size", f"{8 * size}B", "--cluster", "1"]
    memory = ["--memory", CLUSTER_MEMORY]
    merge: list[Argument] = ["merge", source, source, *memory, "-q", "-o"]
    rewrite: list[Argument] = ["rewrite", source, *memory, "-q", "-f", "-o", out]
    return {
        "generate": [*generate, "-q", "-o", source, *memory],
        "inspect": ["inspect", source, "-q"],
        "merge": [*merge, combined],
        "merge --pack 0B": [*merge, kept, "--pack", "0B"],
        "verify": ["verify", source, source, combined, *memory],
        "verify --pack 0B": ["verify", source, source, kept, *memory],
        "rewrite": [*rewrite, "--compression", "zstd:5"],
        "rewrite --dry-run": [*rewrite, "--compression", "zstd:5", "--dry-run"],
        f"rewrite to {other}": [*rewrite, "--container", other],
        "read": ["readspeed", source, *memory],
        "check": ["check", source],
        "tune": ["tune", source, *memory],
        "recover": ["recover", source, "-f", "-q", "-o", out, *memory],
    }


def measured(
    context: Context, label: str, jobs: Mapping[str, Sequence[Argument]], **environment: str
) -> dict[str, Outcome]:
    """Runs some commands, which must succeed, and keeps what they took."""
    done = {}
    for name, words in jobs.items():
        command = [sys.executable, *words] if words[0] == "-c" else [BINARY, *words]
        outcome = run(command, timeout=LIMIT, env=environment or None)
        if outcome.code:
            raise RuntimeError(f"{label}: {outcome}")
        done[name] = outcome
        context.say(f"{label}, {name}: {outcome.wall:.1f} s, CPU {outcome.cpu:.1f} s, {mb(outcome)} MB")
    context.results["series"][label] = {name: asdict(one) | {"out": ""} for name, one in done.items()}
    return done


def mb(one: Outcome) -> str:
    """Peak memory."""
    return number(one.peak_rss / 1e6, 0)


def figures(context: Context, key: str, memory: str, done: Mapping[str, Outcome], what: str) -> None:
    """The table of a file: seconds, memory, and whether it is within the bar."""
    bar = int(memory.removesuffix("MB")) + BESIDE + METADATA
    rows = [
        [name, number(one.wall, 1), number(one.cpu, 1), mb(one), within(name, one, bar)] for name, one in done.items()
    ]
    head = ["", "wall s", "CPU s", "peak RSS, MB", f"within {bar} MB"]
    context.block(key, [what, "", *table(head, rows), "", f"One run each, with --memory {memory}."])


def within(name: str, one: Outcome, bar: int) -> str:
    """Whether a job's memory is within the bar, where it has one."""
    return "" if name in (ITERATE, FULL_VERIFY) else "yes" if one.peak_rss <= bar * 1e6 else "no"


def whole_file(context: Context, folder: Path) -> None:
    """A NanoAOD-like file that is merged from parts, without compression."""
    part, big = folder / "part.root", folder / "big.root"
    size = context.megabytes(PART, 2)
    parts: list[Argument] = [part] * (4 if context.quick else FILE // PART)
    memory = ["--memory", FILE_MEMORY]
    generate = ["generate", "nano", "--size", f"{size}MB", "--compression", "none"]
    jobs: dict[str, list[Argument]] = {
        "generate a part": [*generate, "-q", "-o", part, *memory],
        "merge": ["merge", *parts, "-o", big, "-q", *memory],
        **looks(big, memory),
        # Both sides have the metadata of all baskets.
        FULL_VERIFY: ["verify", *parts, big, "--memory", "1GB"],
    }
    done = measured(context, "file", jobs)
    what = f"A tree of {bytes_of(big)} in {len(parts)} parts, {branches_of(big)}:"
    figures(context, "file", FILE_MEMORY, done, what)
    for path in (part, big):
        path.unlink()


def looks(path: Path, memory: Sequence[str]) -> dict[str, list[Argument]]:
    """The verbs that look at a file and write none."""
    to: list[Argument] = ["-o", path.with_name("no.root"), "--compression", "zstd:5"]
    return {
        "inspect": ["inspect", path, "-q"],
        "rewrite --dry-run": ["rewrite", path, *to, "--dry-run", "-q", *memory],
        "tune": ["tune", path, *memory],
        "read": ["readspeed", path, *memory],
    }


def bytes_of(path: Path) -> str:
    """The size of a file, and what it takes of the disk."""
    about = path.stat()
    size, blocks = about.st_size / 1e9, about.st_blocks * 512 / 1e9
    return f"{size:.2f} GB" if blocks > size / 2 else f"{size:.2f} GB ({blocks:.2f} GB on the disk)"


def branches_of(path: Path) -> str:
    """How many branches the tree has."""
    with bk.open(path) as file:
        return f"{len(file['Events'].branches)} branches"


def large_entries(context: Context, folder: Path) -> None:
    """One list of numbers, of more bytes than a basket may have at last: what is written, and who reads it."""
    rows = []
    for container in CONTAINERS:
        for size in ENTRY:
            size //= 100 if context.quick else 1
            path, out = folder / "entry.root", folder / "entries.root"
            program = [sys.executable, "-c"]
            wrote = run([*program, WRITE, path, container, str(size // 8)], timeout=LIMIT)
            if wrote.code:
                reason = wrote.err.strip().splitlines()[-1].split(": ", 1)[-1]
                rows.append([f"{container}, {size:,}", f"refused: {reason}", *[""] * 5])
                continue
            jobs: dict[str, list[Argument]] = {
                "merge": ["merge", path, path, "-q", "-f", "-o", out, "--memory", ENTRY_MEMORY],
                "read": ["readspeed", path, "--memory", ENTRY_MEMORY],
            }
            done = measured(context, f"entry {container} {size}", jobs)
            said = "not asked"
            if context.root:
                read = run([*program, LAST, path, container, str(size // 8)], timeout=LIMIT)
                said = "right" if read.out.split()[-1:] == ["right"] else f"ends with {read.code}"
            cells = [cell for one in done.values() for cell in (number(one.cpu, 1), mb(one))]
            rows.append([f"{container}, {size:,}", "yes", *cells, said])
            path.unlink()
            out.unlink()
    head = ["bytes of the entry", "written", "merge: CPU s", "peak RSS, MB", "read: CPU s", "peak RSS, MB", "ROOT"]
    context.block("entries", [*table(head, rows), "", f"One run each, with --memory {ENTRY_MEMORY}."])
