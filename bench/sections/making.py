"""Making files: merge, rewrite and tune beside hadd, `cat` and the codec libraries; and inspect beside rootls."""

import subprocess
import tempfile
from pathlib import Path

import uproot

import inputs
import native
from harness import Bench, bare_codec, section
from measure import SCRATCH, Contender, basketry, in_page_cache, inside, table
from referee import make_files
from referee.paths import BINARY, root_command

CODECS = ("zlib:1", "zlib:6", "lz4:4", "zstd:1", "zstd:5", "lzma:5")


def hadd(name: str, out: Path, sources: list[Path], *flags: str) -> Contender:
    """Real hadd as a contender."""
    return Contender(name, [root_command("hadd"), "-v", "0", *flags, out, *sources], [out])


@section
def merge(bench: Bench) -> None:
    """Copy merge: at most 1.3 x cat."""
    count, size = (3, 10) if bench.quick else (10, 60)
    for label, make in (("nano", inputs.nano), ("flat", inputs.flat)):
        sources = [make(size, seed) for seed in range(1, count + 1)]
        in_page_cache(*sources)
        out = SCRATCH / "merged.root"
        cat = Contender("cat", ["/bin/sh", "-c", 'out=$1; shift; cat "$@" > "$out"', "sh", out, *sources], [out])
        done = bench.compare(
            label,
            [
                cat,
                basketry("basketry merge", "merge", *sources, "-o", out, "-j", "1", outputs=[out]),
                hadd("hadd -f", out, sources, "-f"),
                hadd("hadd -ff", out, sources, "-ff"),
                hadd("hadd -fk", out, sources, "-fk"),
            ],
        )
        total = sum(source.stat().st_size for source in sources)
        bench.say("", f"### merge: {count} {label} files, {total / 1e6:.0f} MB, zlib-1", "")
        bench.say(*table(list(done.values()), done.get("cat"), total))


@section
def repack(bench: Bench) -> None:
    """Another codec, level or cluster size: within 1.15 x of the bare codec; 1.8 x faster on two threads."""
    bare = bare_codec()
    for codec in CODECS:
        # lzma takes a minute where the others take seconds; a third of the input suffices.
        source = inputs.nano(10 if bench.quick else 20 if codec.startswith("lzma") else 60, 1)
        out = SCRATCH / "repacked.root"
        in_page_cache(source)
        recluster = ("--cluster", "2000") if codec == "zlib:1" else ()
        arguments: list[str | Path] = ["rewrite", source, "-o", out, "--compression", codec, *recluster]
        contenders = [basketry("basketry rewrite", *arguments, "-j", "1", outputs=[out])]
        blocks = source
        if recluster:
            # The same blocks: those of the output are compressed.
            blocks = SCRATCH / "blocks.root"
            SCRATCH.mkdir(parents=True, exist_ok=True)
            subprocess.run([BINARY, "rewrite", source, "-o", blocks, "-f", "-q", *arguments[4:]], check=True)
        if bare:
            contenders.append(Contender("bare codec", [bare, blocks, codec]))
        contenders.append(basketry("basketry rewrite -j 2", *arguments, "-j", "2", outputs=[out]))
        if codec == "zlib:1":
            contenders.append(hadd("hadd -O", out, [source], "-f1", "-O"))
        done = bench.compare(codec, contenders)
        bench.say("", f"### repack: nano {source.stat().st_size / 1e6:.0f} MB, zlib-1 to {codec}", "")
        bench.say(*table(list(done.values()), done.get("bare codec"), source.stat().st_size))
        if {"basketry rewrite", "basketry rewrite -j 2"} <= done.keys():
            gain = done["basketry rewrite"].wall / done["basketry rewrite -j 2"].wall
            bench.say("", f"two threads: {gain:.2f} x")


@section
def memory(bench: Bench) -> None:
    """Peak RSS at most --memory + 24 MB + 2 x the compressed metadata."""
    budgets = (64, 256) if bench.quick else (64, 128, 256, 512, 1024)
    one = inputs.nano(20 if bench.quick else 250, 1)
    many = [inputs.nano(10 if bench.quick else 60, seed) for seed in range(1, 4 if bench.quick else 11)]
    out = SCRATCH / "memory.root"
    bench.say("", "### memory: peak RSS against --memory", "")
    bench.say("| job | --memory MB | peak RSS MB | allowed MB | within |", "|---|---|---|---|---|")
    jobs: dict[str, tuple[list[Path], list[str]]] = {
        "rewrite zstd:1": ([one], ["rewrite", "--compression", "zstd:1", "--cluster", "30MB"]),
        "merge": (many, ["merge"]),
        "merge zstd:1": (many, ["merge", "--compression", "zstd:1"]),
    }
    for job, (sources, (verb, *options)) in jobs.items():
        metadata = sum(metadata_bytes(source) for source in sources)
        for budget in budgets:
            command: list[str | Path] = [verb, *sources, "-o", out, *options, "--memory", f"{budget}MB", "-j", "2"]
            done = bench.compare(
                f"{job} {budget}", [basketry("basketry", *command, outputs=[out])], 1 if bench.quick else 3
            )
            if "basketry" in done:
                allowed = budget + 24 + 2 * metadata / 1e6
                peak = max(sample.peak_rss for sample in done["basketry"].samples) / 1e6
                bench.say(f"| {job} | {budget} | {peak:.0f} | {allowed:.0f} | {'yes' if peak <= allowed else 'NO'} |")


@section
def branches(bench: Bench) -> None:
    """A merge of 20 files of 10,000 branches inside --memory 256MB."""
    count, width = (3, 2000) if bench.quick else (20, 10_000)
    sources = [inputs.branches(width, 200, seed) for seed in range(1, count + 1)]
    in_page_cache(*sources)
    out = SCRATCH / "branches.root"
    done = bench.compare(
        "branches",
        [
            basketry("basketry merge --memory 256MB", "merge", *sources, "-o", out, "--memory", "256MB", outputs=[out]),
            hadd("hadd -f", out, sources, "-f"),
        ],
        1 if bench.quick else 3,
    )
    total = sum(source.stat().st_size for source in sources)
    bench.say("", f"### {count} files of {width} branches, {total / 1e6:.0f} MB", "")
    bench.say(*table(list(done.values())))


@section
def inspect(bench: Bench) -> None:
    """A 1,500-branch file: under 30 ms from a cold process."""
    source = make_files.made("wide") / "wide.root"
    in_page_cache(source)
    done = bench.compare(
        "inspect",
        [
            basketry("basketry inspect", "inspect", source),
            Contender("rootls -t", [root_command("rootls"), "-t", source]),
        ],
        3 if bench.quick else 15,
    )
    bench.say("", "### inspect: 1,500 branches, cold process", "")
    bench.say(*table(list(done.values())))


@section
def recode(bench: Bench) -> None:
    """Unsplit to split and back: 5 x ROOT's loop over the events."""
    size = 20 if bench.quick else 500
    for codec in ("none", "zlib:1"):
        for kind, level in (("event_unsplit", "99"), ("event_split", "0")):
            source = inputs.read(kind, codec, size)
            ours, theirs = SCRATCH / "recoded.root", SCRATCH / "resplit.root"
            in_page_cache(source)
            loop: list[str | Path] = [native.program("resplit"), source, theirs, level]
            command = ("rewrite", source, "-o", ours, "--split-level", level, "-j", "1")
            done = bench.compare(
                f"{kind} {codec}",
                [
                    basketry("basketry rewrite", *command, outputs=[ours]),
                    Contender("ROOT, GetEntry and Fill", loop, [theirs], inside),
                ],
            )
            bench.say("", f"### {kind} to split level {level}, {size} MB, {codec}", "")
            bench.say(*table(list(done.values()), done.get("basketry rewrite"), size * 1e6))


@section
def tune(bench: Bench) -> None:
    """Measuring costs under a quarter of the rewrite's CPU; the result is smaller and 1.5 x cheaper to read."""
    source = inputs.nano(20 if bench.quick else 250, 1)
    out = SCRATCH / "tuned.root"
    in_page_cache(source)
    with tempfile.TemporaryDirectory() as scratch:
        layout = Path(scratch) / "layout.toml"
        subprocess.run([BINARY, "tune", source, "--layout-out", layout], capture_output=True, check=True)
        done = bench.compare(
            "tune",
            [
                basketry("tune (measures, decides)", "tune", source, "-j", "1"),
                basketry(
                    "rewrite of what it decides",
                    "rewrite",
                    source,
                    "-o",
                    out,
                    "--layout",
                    layout,
                    "-j",
                    "1",
                    outputs=[out],
                ),
            ],
            1 if bench.quick else 3,
        )
        bench.say("", f"### tune: nano {source.stat().st_size / 1e6:.0f} MB, zlib-1", "")
        bench.say(*table(list(done.values())))
        measuring, rewriting = list(done.values())
        bench.say("", f"measuring / rewriting: {measuring.cpu / rewriting.cpu:.2f}")
        subprocess.run([BINARY, "rewrite", source, "-o", out, "--force", "--layout", layout], check=True)
    speed = root_command("rootreadspeed")
    reads = bench.compare(
        "tuned file",
        [
            Contender(name, [speed, "--files", path, "--trees", "Events", "--all-branches", "--threads", "0"])
            for name, path in (("input", source), ("tuned", out))
        ],
    )
    bench.say("", "ROOT reading all branches (rootreadspeed):", "", *table(list(reads.values()), reads.get("tuned")))
    bench.say("", f"size: {source.stat().st_size / 1e6:.1f} MB before, {out.stat().st_size / 1e6:.1f} MB after")
    out.unlink()


def metadata_bytes(path: Path) -> int:
    """Compressed size of the metadata: the records of the trees and of the streamer infos."""
    with uproot.open(path) as file:
        keys = [file.key(name) for name in file.keys(recursive=True)]
        trees = sum(int(key.fNbytes) for key in keys if key.fClassName == "TTree")
        return trees + int(file.file.fNbytesInfo)
