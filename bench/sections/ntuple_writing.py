"""Making RNTuples: by writers beside ROOT's, by `rewrite` in other clusters and pages, and from trees and back."""

import os
import sys
from pathlib import Path

import inputs
import native
from harness import Bench, bare_codec, built_example, section
from measure import SCRATCH, Contender, basketry, in_page_cache, inside, table
from referee.command import Argument
from referee.command import run as run_command
from referee.paths import BINARY
from sections import writing
from sections.writing import BARE, NTUPLE_RIVALS, OURS, THREADS, Writer

CODECS = ("none", "lz4:4", "zstd:5", "zlib:1")
#: Entries of a cluster of all writers, whose defaults differ: 10 MB before compression, which the budget holds. For a
#: size in bytes basketry compresses a sample first.
CLUSTER = {"multi": "926", "single": "1250000"}
#: Memory, where there is some: what a disk does in the background blurs the CPU time.
MEDIUM = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else SCRATCH
NUMBERS = "numbers"
WRITING_THREADS = Path(__file__).parents[1] / "writing_threads.py"
BUDGET = 128
NTUPLE = ("--container", "rntuple")


@section
def ntuple_write(bench: Bench) -> None:
    """Ahead of RNTupleWriter, in bytes too; 1.3 x the floor of numbers, bare codec and the kernel's copy; 128 MB."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    program = built_example("bare_compress")
    for kind in writing.KINDS:
        for threads in THREADS:
            bench.say("", f"### {kind}, {threads} thread{'s' * (threads > 1)}", "")
            head = ["codec", "", "cpu s", "wall s", "MB/s per cpu s", "peak RSS MB", "file MB", "cpu / basketry"]
            bench.say(f"| {' | '.join([*head, 'basketry / floor'])} |", "|---|---|" + "---|" * 7)
            for codec in CODECS:
                size = writing.megabytes(bench, codec)
                job = (kind, codec, size, threads)
                writers: list[Contender] = [ours(*job), *(theirs(name, *job) for name in NTUPLE_RIVALS)]
                if program:
                    # Filling nothing is what making the numbers costs.
                    numbers = ours(*job, "--no-fill")
                    numbers.name = NUMBERS
                    options = (*NTUPLE, "--cluster", CLUSTER[kind])
                    writers += [numbers, writing.bare(program, kind, codec, size, *options, copy=MEDIUM / "copy.root")]
                bench.say(*rows(codec, size, bench.compare(f"{kind} {codec} {threads}", writers)))


def ours(kind: str, codec: str, size: int, threads: int, *options: Argument) -> Writer:
    """basketry's writer of RNTuples."""
    how: list[Argument] = [*NTUPLE, "--memory", f"{BUDGET}MB", "--cluster", CLUSTER[kind], *options]
    return writing.basketry(kind, codec, size, threads, *how, medium=MEDIUM)


def theirs(name: str, kind: str, codec: str, size: int, threads: int) -> Writer:
    """One of ROOT's."""
    return writing.rival(name, kind, codec, size, threads, "--autoflush", CLUSTER[kind], medium=MEDIUM)


def rows(codec: str, size: int, done: dict[str, Contender]) -> list[str]:
    """A line of the table for each writer and for the floor, and a warning if basketry's file is the largest."""
    lines, files = [], {}
    floor = done[NUMBERS].cpu + done[BARE].cpu if {NUMBERS, BARE} <= done.keys() else None
    for name, one in done.items():
        if not isinstance(one, Writer):
            continue
        cells = [codec, f"{BARE} and copy" if name == BARE else name, f"{one.cpu:.3f}", f"{one.wall:.3f}"]
        is_writer = name not in (NUMBERS, BARE)
        if is_writer:
            files[name] = one.of("bytes")
            cells += [f"{size / one.cpu:.0f}", f"{one.of('peak_rss') / 1e6:.0f}", f"{files[name] / 1e6:.2f}"]
            cells.append(f"{one.cpu / done[OURS].cpu:.2f}" if OURS in done else "")
        else:
            cells += [""] * 4
        cells.append(f"{one.cpu / floor:.2f}" if floor and name == OURS else "")
        lines.append(f"| {' | '.join(cells)} |")
    if OURS in files and files[OURS] > min(files.values()):
        lines.append(f"| {codec} | NOT the smallest: {files[OURS] - min(files.values()):.0f} B more |" + " |" * 7)
    return lines


@section
def ntuple_write_memory(bench: Bench) -> None:
    """Peak RSS at most --memory + 24 MB, however many threads there are."""
    allowed = BUDGET + 24
    names = [OURS, *NTUPLE_RIVALS]
    bench.say("", f"### multi, --memory {BUDGET}MB: peak RSS MB (ROOT's includes its libraries)", "")
    bench.say(
        f"| codec | threads | {' | '.join(names)} | allowed MB | within |", "|---|---|" + "---|" * (len(names) + 2)
    )
    for codec in ("none", "zstd:5"):
        size = 64 if bench.quick else 400
        for threads in (1, 2, 4, 8, 16):
            job = ("multi", codec, size, threads)
            how: list[Argument] = [*NTUPLE, "--memory", f"{BUDGET}MB"]
            writers: list[Contender] = [writing.basketry(*job, *how)]
            writers += [writing.rival(name, *job) for name in NTUPLE_RIVALS]
            done = bench.compare(f"{codec} {threads}", writers, 1 if bench.quick else 3)
            peaks = {name: highest(one) / 1e6 for name, one in done.items() if isinstance(one, Writer)}
            cells = [f"{peaks[name]:.0f}" if name in peaks else "" for name in names]
            within = "yes" if peaks.get(OURS, allowed + 1) <= allowed else "NO"
            bench.say(f"| {codec} | {threads} | {' | '.join(cells)} | {allowed} | {within} |")


@section
def python_write_memory(bench: Bench) -> None:
    """A Python program's peak RSS above what it took before, by its writing threads: --memory + 24 MB."""
    bench.say("", f"### recreate(memory='{BUDGET}MB'), zstd:5: MB", "")
    bench.say("| threads | tree | RNTuple |", "|---|---|---|")
    out = MEDIUM / "threads.root"
    for threads in (1, 8) if bench.quick else (1, 4, 8, 16):
        cells = []
        for container in ("ttree", "rntuple"):
            words: list[Argument] = [sys.executable, WRITING_THREADS, container, str(threads)]
            ran = run_command([*words, "zstd:5", f"{BUDGET}MB", out], timeout=300)
            cells.append(ran.out.strip() if ran.code == 0 else "failed")
        bench.say(f"| {threads} | {' | '.join(cells)} |")
    out.unlink(missing_ok=True)


def highest(one: Writer) -> float:
    """The highest peak of all runs."""
    return max(float(facts["peak_rss"]) for facts in one.facts)


@section
def ntuple_recluster(bench: Bench) -> None:
    """Other clusters and pages: within 1.15 x of the bare codec over the new pages; 1.8 x faster on two threads."""
    bare = bare_codec()
    ways: dict[str, tuple[str, ...]] = {
        "clusters": ("--cluster", "3MB" if bench.quick else "30MB"),
        "pages": ("--page-size", "64kB"),
    }
    ways["clusters and pages"] = (*ways["clusters"], *ways["pages"])
    for codec in CODECS[1:]:
        source = inputs.ntuple("nano", codec, 40 if bench.quick else 500)
        in_page_cache(source)
        for label, options in ways.items():
            out = SCRATCH / "reclustered.root"
            contenders = rewrites(source, out, *options)
            if bare:
                # The same pages: those of the output are compressed.
                blocks = SCRATCH / "blocks.root"
                made(source, blocks, *options)
                contenders.append(Contender(BARE, [bare, blocks, codec]))
            done = bench.compare(f"{codec} {label}", contenders)
            bench.say("", f"### new {label}, {codec}, {source.stat().st_size / 1e6:.0f} MB", "")
            bench.say(*table(list(done.values()), done.get(BARE), source.stat().st_size), *gain(done))


@section
def ntuple_convert(bench: Bench) -> None:
    """Tree to RNTuple: 5 x the importer's speed per CPU second, 1.8 x faster on two threads; and the way back."""
    size = 20 if bench.quick else 250
    for codec in ("none", "zlib:1", "zstd:5"):
        tree = inputs.nano(size, 1, codec)
        ntuple = inputs.as_ntuple(tree)
        in_page_cache(tree, ntuple)
        out, imported = SCRATCH / "converted.root", SCRATCH / "imported.root"
        importer: list[Argument] = [
            native.program("import_tree"),
            tree,
            "Events",
            imported,
            str(writing.setting(codec)),
        ]
        contenders = rewrites(tree, out, *NTUPLE)
        contenders.append(Contender("RNTupleImporter", importer, [imported], inside))
        done = bench.compare(f"{codec} to RNTuple", contenders)
        bench.say("", f"### tree to RNTuple, {codec}, {tree.stat().st_size / 1e6:.0f} MB", "")
        bench.say(*table(list(done.values()), done.get(ONE), tree.stat().st_size), *gain(done))

        done = bench.compare(f"{codec} to tree", rewrites(ntuple, out, "--container", "ttree"))
        bench.say("", f"### RNTuple to tree, {codec}, {ntuple.stat().st_size / 1e6:.0f} MB", "")
        bench.say(*table(list(done.values()), done.get(ONE), ntuple.stat().st_size), *gain(done))


ONE, TWO = "basketry rewrite", "basketry rewrite -j 2"


def rewrites(source: Path, out: Path, *options: Argument) -> list[Contender]:
    """The rewrite on one thread and on two."""
    command: list[Argument] = ["rewrite", source, "-o", out, *options, "-j"]
    return [basketry(ONE, *command, "1", outputs=[out]), basketry(TWO, *command, "2", outputs=[out])]


def made(source: Path, out: Path, *options: Argument) -> None:
    """A rewrite that is not timed."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    outcome = run_command([BINARY, "rewrite", source, "-o", out, "-f", "-q", *options], timeout=1800)
    if outcome.code:
        raise RuntimeError(str(outcome))


def gain(done: dict[str, Contender]) -> list[str]:
    """How much faster two threads are."""
    return ["", f"two threads: {done[ONE].wall / done[TWO].wall:.2f} x"] if {ONE, TWO} <= done.keys() else []
