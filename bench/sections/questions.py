"""One question at a time: short lists, split columns, differences, bits, cutting, a queue that many threads want.

Each file has the data of its question alone, without compression, so that decoding is what is timed. Beside CPU stand
what the kernel and the C library had to give for each megabyte: memory that is used again costs neither.
"""

import sys
from pathlib import Path

import inputs
from allocations import allocations
from harness import Bench, report, section
from measure import SCRATCH, Contender, basketry, in_page_cache
from referee.command import Argument
from referee.paths import BINARY

#: Makes a file of one kind of column. Lists have one to three items, or about a hundred.
MAKING = """
import sys
import numpy as np, awkward as ak, basketry

kind, container, megabytes, path = *sys.argv[1:3], float(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(1)
def numbers(count, of):
    if of == "bits":
        return rng.random(count) < 0.5
    if of == "differences":
        return np.cumsum(rng.integers(0, 9, count))
    return rng.normal(size=count).astype(np.float32)
def column(share):
    lists = {"short lists": 2, "long lists": 100}.get(kind)
    if lists is None:
        each = {"bits": 1, "differences": 8}.get(kind, 4)
        return ak.Array(numbers(int(share / each), kind))
    counts = rng.integers(1, 2 * lists, int(share / 4 / lists))
    return ak.unflatten(ak.Array(numbers(int(counts.sum()), "floats")), counts)
columns = {f"c{i}": column(megabytes * 1e6 / 20) for i in range(20)}
entries = min(map(len, columns.values()))
types = {name: array.type.content for name, array in columns.items()}
with basketry.recreate(path, compression="none") as file:
    make = file.mktree if container == "ttree" else file.mkrntuple
    table = make("Events", types)
    table.extend({name: array[:entries] for name, array in columns.items()})
"""
#: Questions with the containers in which they differ.
READ = {
    "short lists": ("ttree", "rntuple"),
    "long lists": ("ttree", "rntuple"),
    "floats": ("ttree", "rntuple"),
    "differences": ("rntuple",),
    "bits": ("ttree", "rntuple"),
}


def made(bench: Bench, kind: str, container: str) -> Path:
    """The file of a question, in the page cache."""
    megabytes = 2 if bench.quick else 100
    command = [sys.executable, "-c", MAKING, kind, container, str(megabytes)]
    path = inputs.made(f"question-{kind.replace(' ', '-')}-{container}-{megabytes}MB", Path(__file__), command)
    in_page_cache(path)
    return path


@section
def questions(bench: Bench) -> None:
    """Decoding and cutting, a question at a time: GB/s of one thread, page faults and allocations for each MB."""
    head = "| question | container | GB/s | page faults / MB | allocations / MB |"
    bench.say("", head, "|---|---|---|---|---|")
    for kind, containers in READ.items():
        for container in containers:
            path = made(bench, kind, container)
            size = report(path)["uncompressed"]
            one = basketry(f"{kind}, {container}", "readspeed", path, "-j", "1")
            row(bench, (kind, container), one, size)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for container, option in (("ttree", "--basket"), ("rntuple", "--page-size")):
        path = made(bench, "short lists", container)
        out = SCRATCH / "cut.root"
        command: list[Argument] = ["rewrite", path, "-o", out, "--cluster", "2000", option, "4kB", "-j", "1"]
        one = basketry(f"cutting, {container}", *command, outputs=[out])
        row(bench, ("cutting into 4 kB", container), one, report(path)["uncompressed"])


def row(bench: Bench, labels: tuple[str, str], one: Contender, size: int) -> None:
    """Runs a contender, and prints its row."""
    question, container = labels
    done = bench.compare(f"{question}, {container}", [one])
    if one.name not in done:
        return
    faults = one.median(lambda sample: sample.page_faults)
    taken = allocations(one.command).calls
    for output in one.outputs:
        output.unlink(missing_ok=True)
    cells = [question, container, f"{size / one.cpu / 1e9:.2f}", f"{faults / size * 1e6:.0f}"]
    bench.say("| " + " | ".join([*cells, f"{taken / size * 1e6:.0f}"]) + " |")


@section
def contention(bench: Bench) -> None:
    """Many threads at one queue: clusters of a few kilobytes, where taking the next one is what costs."""
    bench.say("", "| threads | wall s | cpu s | cpu of one thread x |", "|---|---|---|---|")
    size = "2MB" if bench.quick else "100MB"
    command: list[str | Path] = [BINARY, "generate", "single", "--size", size, "--cluster", "4kB", "-q", "-o"]
    path = inputs.made(f"question-clusters-{size}", Path(__file__), command)
    in_page_cache(path)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    out = SCRATCH / "contended.root"

    def rewriting(threads: str) -> Contender:
        return basketry(threads, "rewrite", path, "-o", out, "--compression", "lz4:1", "-j", threads, outputs=[out])

    done = bench.compare("clusters of 4 kB", [rewriting(threads) for threads in ("1", "2", "4", "16")])
    for threads, one in done.items():
        cells = [threads, f"{one.wall:.3f}", f"{one.cpu:.3f}", f"{one.cpu / done['1'].cpu:.2f}"]
        bench.say("| " + " | ".join(cells) + " |")
