"""RNTuples: reading beside ROOT, uproot and the bare codec, merging beside `cat` and hadd, and large metadata."""

import inputs
import native
from harness import Bench, bare_codec, report, section
from measure import SCRATCH, Contender, basketry, in_page_cache, inside, reader, table
from referee.paths import root_command

CODECS = ("none", "lz4:4", "zlib:1", "zstd:5")
KINDS = ("flat", "nano", "vectors")


@section
def ntuple_read(bench: Bench) -> None:
    """All fields, one thread: at least 0.87 of the bare codec; uncompressed 3 GB/s. Two threads: 1.8 x."""
    bare = bare_codec()
    head = "| RNTuple | codec | payload MB | basketry GB/s | two threads x | bare codec GB/s | of bare "
    bench.say("", head + "| LoadEntry GB/s | uproot GB/s |", "|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for codec in CODECS:
            path = inputs.ntuple(kind, codec, 8 if bench.quick else 200)
            in_page_cache(path)
            contenders = [
                basketry("basketry", "readspeed", path, "-j", "1"),
                basketry("two threads", "readspeed", path, "-j", "2"),
                Contender("LoadEntry", [native.program("get_ntuple"), path, "Events"], clock=inside),
                reader("uproot", "uproot", "arrays", path),
            ]
            if bare and codec != "none":
                contenders.append(Contender("bare codec", [bare, path]))
            done = bench.compare(f"{kind} {codec}", contenders)
            size = report(path)["uncompressed"]
            speeds = {name: size / one.cpu / 1e9 for name, one in done.items()}
            cells = [kind, codec, f"{size / 1e6:.0f}", f"{speeds['basketry']:.2f}"]
            cells.append(f"{done['basketry'].wall / done['two threads'].wall:.2f}")
            floor = speeds.get("bare codec")
            cells += [f"{floor:.2f}", f"{speeds['basketry'] / floor:.2f}"] if floor else ["", ""]
            cells += [f"{speeds[name]:.3f}" if name in speeds else "" for name in ("LoadEntry", "uproot")]
            bench.say("| " + " | ".join(cells) + " |")


@section
def ntuple_merge(bench: Bench) -> None:
    """Copy merge of RNTuples: at most 1.1 x cat."""
    for kind in KINDS:
        source = inputs.ntuple(kind, "zstd:5", 8 if bench.quick else 200)
        sources = [source] * (2 if bench.quick else 4)
        out = SCRATCH / "merged.root"
        in_page_cache(source)
        cat = Contender("cat", ["/bin/sh", "-c", 'out=$1; shift; cat "$@" > "$out"', "sh", out, *sources], [out])
        done = bench.compare(
            kind,
            [
                cat,
                basketry("basketry merge", "merge", *sources, "-o", out, "-j", "1", outputs=[out]),
                Contender("hadd", [root_command("hadd"), "-f", "-ff", out, *sources], [out]),
            ],
        )
        total = sum(one.stat().st_size for one in sources)
        bench.say("", f"### ntuple_merge: {len(sources)} {kind} files, {total / 1e6:.0f} MB, zstd", "")
        bench.say(*table(list(done.values()), done.get("cat"), total))


@section
def ntuple_shapes(bench: Bench) -> None:
    """Many fields, many clusters: listing and merging."""
    shapes = (
        [(200, 2, 100), (20, 200, 2000)] if bench.quick else [(2000, 2, 1000), (10_000, 2, 200), (20, 20_000, 200_000)]
    )
    for fields, clusters, entries in shapes:
        path, out = inputs.ntuple_shape(fields, clusters, entries), SCRATCH / "merged.root"
        in_page_cache(path)
        done = bench.compare(
            f"{fields} fields, {clusters} clusters",
            [
                basketry("inspect", "inspect", "-q", path),
                basketry("merge of two", "merge", path, path, "-o", out, "-j", "1", outputs=[out]),
                Contender("hadd", [root_command("hadd"), "-f", "-ff", out, path, path], [out]),
            ],
        )
        bench.say(
            "", f"### ntuple_shapes: {fields} fields, {clusters} clusters, {path.stat().st_size / 1e6:.1f} MB", ""
        )
        bench.say(*table(list(done.values())))
