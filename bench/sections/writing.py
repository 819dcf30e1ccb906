"""Writing trees from many threads, beside ROOT's writers and the codec libraries alone; and writers as contenders."""

import json
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import native
from harness import Bench, built_example, section
from measure import SCRATCH, Contender
from referee.command import Argument
from referee.paths import BINARY

KINDS = ("multi", "single")
CODECS = ("none", "lz4:4", "zlib:1", "zlib:6", "zstd:1", "zstd:5", "lzma:7")
THREADS = (1, 2)
#: ROOT's writers of trees and of RNTuples, by their programs.
TREE_RIVALS = {"TTree": "write_tree", "TBufferMerger": "write_merger"}
NTUPLE_RIVALS = {"RNTuple": "write_ntuple", "RNTupleParallelWriter": "write_ntuple_parallel"}
RIVALS = TREE_RIVALS | NTUPLE_RIVALS
ALGORITHMS = {"none": 0, "zlib": 100, "lzma": 200, "lz4": 400, "zstd": 500}
OURS, BARE = "basketry", "bare codec"


@dataclass
class Writer(Contender):
    """A program that prints the cost of writing as JSON, without ROOT's or a launcher's start."""

    facts: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = self._note

    def _note(self, out: str) -> tuple[float, float]:
        facts = said(out)
        self.facts.append(facts)
        return float(facts["wall"]), float(facts["cpu"])

    def of(self, name: str) -> float:
        """The median of a figure."""
        return statistics.median(float(facts.get(name, 0)) for facts in self.facts)

    def record(self) -> dict[str, Any]:
        """Everything, for the JSON."""
        return super().record() | {"output_bytes": self.of("bytes"), "facts": self.facts}


def said(out: str) -> dict[str, Any]:
    """What a writer's program has printed of its run."""
    line = json.loads(out.strip().splitlines()[-1])
    # write-bench prints a list of runs; here it makes one.
    facts: dict[str, Any] = line["lines"][0]["runs"][0] if "lines" in line else line
    return facts


def basketry(kind: str, codec: str, size: int, threads: int, *options: Argument, medium: Path = SCRATCH) -> Writer:
    """basketry's writer; every run is a process of its own and prints the same figures as the rivals."""
    command: list[Argument] = ["write-bench", kind, "--size", f"{size}MB", "--compression", codec]
    command += ["--threads", str(threads), "--repeat", "1", "--media", medium, "--json", *options]
    return Writer(OURS, [BINARY, *command])


def rival(
    name: str, kind: str, codec: str, size: int, threads: int, *options: Argument, medium: Path = SCRATCH
) -> Writer:
    """One of ROOT's writers, with the same numbers."""
    out = medium / f"{name}.root"
    command: list[Argument] = [native.program(RIVALS[name]), kind, out, "--size", f"{size}e6", *options]
    command += ["--threads", str(threads), "--compression", str(setting(codec))]
    return Writer(name, command, [] if {"--no-write", "--no-fill"} & set(options) else [out])


def setting(codec: str) -> int:
    """ROOT's number of a codec."""
    algorithm, _, level = codec.partition(":")
    return ALGORITHMS[algorithm] + int(level or 0)


def bare(program: Path, kind: str, codec: str, size: int, *options: Argument, copy: Path | None = None) -> Writer:
    """The codec's library over basketry's baskets or pages of the data set, and a copy of that file if asked."""
    blocks = SCRATCH / f"blocks-{kind}-{codec.replace(':', '-')}.root"
    command: list[Argument] = [BINARY, "generate", kind, "--size", f"{size}MB", "--compression", codec, *options]
    subprocess.run([*command, "--force", "-q", "-o", blocks], check=True)
    outputs = [copy] if copy else []
    return Writer(BARE, [program, blocks, codec, *outputs], outputs)


def megabytes(bench: Bench, codec: str) -> int:
    """Megabytes to write: amounts that take about equal times."""
    return 8 if bench.quick else 400 if codec == "none" else 20 if codec.startswith("lzma") else 100


@section
def write(bench: Bench) -> None:
    """None: 5 x TTree (multi), 10 x TTree and 5 x RNTuple (single). Else within 1.15 x of the bare codec; 128 MB."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    program = built_example("bare_compress")
    for kind in KINDS:
        for threads in THREADS:
            bench.say("", f"### {kind}, {threads} thread{'s' * (threads > 1)}", "")
            head = "| codec | | cpu s | wall s | MB/s per cpu s | MB/s | peak RSS MB | vsize MB | file MB |"
            bench.say(f"{head} cpu / basketry |", "|---|---|" + "---|" * 8)
            for codec in CODECS:
                size = megabytes(bench, codec)
                writers: list[Contender] = [basketry(kind, codec, size, threads, "--memory", "128MB")]
                writers += [rival(name, kind, codec, size, threads) for name in RIVALS]
                if program and codec != "none" and threads == 1:
                    writers.append(bare(program, kind, codec, size))
                done = bench.compare(f"{kind} {codec} {threads}", writers)
                bench.say(*rows(codec, size, list(done.values())))


def rows(codec: str, size: int, done: Sequence[Contender]) -> list[str]:
    """A line of the table for each writer."""
    lines = []
    ours = next((one.cpu for one in done if one.name == OURS), None)
    for one in done:
        if not isinstance(one, Writer):
            continue
        cells = [
            codec,
            one.name,
            f"{one.cpu:.3f}",
            f"{one.wall:.3f}",
            f"{size / one.cpu:.0f}",
            f"{size / one.wall:.0f}",
        ]
        memory = [of / 1e6 for of in (one.of("peak_rss"), one.of("vsize"))]
        cells += [f"{of:.0f}" if of else "" for of in memory]
        cells += [f"{one.of('bytes') / 1e6:.1f}", f"{one.cpu / ours:.2f}" if ours else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


@section
def shapes(bench: Bench) -> None:
    """The same data in more and more branches: as many events in an entry, 1 x 100 to 50 x 2; codec none."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    size = megabytes(bench, "zlib:1")
    for threads in THREADS:
        bench.say("", f"### multi, none, {threads} thread{'s' * (threads > 1)}: MB/s per cpu s (MB/s)", "")
        names = [OURS, *RIVALS]
        bench.say(f"| branches x events | {' | '.join(names)} |", "|---|" + "---|" * len(names))
        for branches, events in ((1, 100), (2, 50), (5, 20), (10, 10), (25, 4), (50, 2)):
            shape = ("--branches", str(branches), "--events", str(events))
            writers: list[Contender] = [basketry("multi", "none", size, threads, *shape)]
            writers += [rival(name, "multi", "none", size, threads, *shape) for name in RIVALS]
            done = bench.compare(f"{branches} x {events}, {threads}", writers)
            cells = [f"{size / done[n].cpu:.0f} ({size / done[n].wall:.0f})" if n in done else "" for n in names]
            bench.say(f"| {branches} x {events} | {' | '.join(cells)} |")
