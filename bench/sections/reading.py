"""Reading by the command: beside ROOT, and beside the codec libraries alone over the same blocks."""

import random
from pathlib import Path

import inputs
import native
from harness import Bench, bare_codec, megabytes, read_files, report, section
from measure import SCRATCH, Contender, basketry, in_page_cache, inside, reader, rootreadspeed_clock
from referee.paths import root_command


def readspeed(name: str, *arguments: str | Path) -> Contender:
    """A whole basketry process that reads into columns."""
    return basketry(name, "readspeed", *arguments)


def root(kind: str, path: Path) -> Contender:
    """ROOT's own loop, without its start. rootreadspeed has no dictionary, and reads only the counter of a split
    collection, so a compiled loop over GetEntry replaces it for classes."""
    if kind.startswith("event"):
        return Contender("GetEntry", [native.program("get_entry"), path, "Events"], clock=inside)
    options = ["--trees", "Events", "--all-branches", "--threads", "0"]
    return Contender(
        "rootreadspeed", [root_command("rootreadspeed"), "--files", path, *options], clock=rootreadspeed_clock
    )


@section
def read(bench: Bench) -> None:
    """All branches, one thread: 3 GB/s on flat files, 5 to 10 x ROOT; within 1.15 x of the bare codec."""
    bare = bare_codec()
    head = "| file | codec | payload MB | basketry GB/s | ROOT GB/s | x | bare codec GB/s | time / bare |"
    bench.say("", head, "|---|---|---|---|---|---|---|---|")
    for kind, codec, path in read_files(bench):
        contenders = [readspeed("basketry", path, "-j", "1"), root(kind, path)]
        if bare and codec != "none":
            contenders.append(Contender("bare codec", [bare, path]))
        done = list(bench.compare(f"{kind} {codec}", contenders).values())
        size = report(path)["uncompressed"]
        speeds = {one.name: size / one.cpu / 1e9 for one in done}
        ours, rival = (
            speeds["basketry"],
            next((speeds[n] for n in ("rootreadspeed", "GetEntry") if n in speeds), 0.0),
        )
        cells = [kind, codec, f"{size / 1e6:.0f}", f"{ours:.2f}"]
        cells += [f"{rival:.3f}", f"{ours / rival:.1f}"] if rival else ["", ""]
        floor = speeds.get("bare codec")
        cells += [f"{floor:.2f}", f"{floor / ours:.2f}"] if floor else ["", ""]
        bench.say("| " + " | ".join(cells) + " |")


@section
def sparse(bench: Bench) -> None:
    """1 % of the entries at random: within 1.2 x of the cost of the touched baskets; small clusters pay off."""
    bare = bare_codec()
    head = "| file, zlib-1 | full cpu s | 1 % cpu s | of full | touched baskets, bare codec s | 1 % / bare |"
    more = " GetEntry 1 % s | of its full | basketry.arrays 1 % s | uproot 1 % s | x |"
    bench.say("", head + more, "|---|---|---|---|---|---|---|---|---|---|---|")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    files = (("flat", 0), ("nano", 0), ("vectors", 0), ("vectors", 50), ("event_unsplit", 0), ("event_unsplit", 20))
    for kind, cluster in files:
        path = inputs.read(kind, "zlib:1", megabytes(bench, "zlib:1"))
        if cluster:
            path = inputs.reclustered(path, cluster)
        in_page_cache(path)
        entries = list_of_entries(path)
        get = native.program("get_entry")
        contenders = [
            readspeed("full", path, "-j", "1"),
            readspeed("1 %", path, "-j", "1", "--entries", entries),
            Contender("GetEntry full", [get, path, "Events"], clock=inside),
            Contender("GetEntry 1 %", [get, path, "Events", entries], clock=inside),
        ]
        if bare:
            contenders.append(Contender("bare codec", [bare, path, "-", entries]))
        listed = f'entries="{entries}"'
        contenders.append(reader("arrays 1 %", "basketry", "arrays", path, "threads=1", listed))
        if kind != "event_unsplit":
            # RDataFrame or uproot misreads member-wise data, and stops.
            contenders.append(reader("uproot 1 %", "uproot", "arrays", path, listed))
        label = kind + (f", clusters of {cluster} entries" if cluster else "")
        cpu = {name: one.cpu for name, one in bench.compare(label, contenders).items()}
        full, some = cpu["full"], cpu["1 %"]
        cells = [label, f"{full:.3f}", f"{some:.3f}", f"{some / full:.0%}"]
        floor = cpu.get("bare codec")
        cells += [f"{floor:.3f}", f"{some / floor:.2f}"] if floor else ["", ""]
        theirs, some = cpu["GetEntry full"], cpu["GetEntry 1 %"]
        cells += [f"{some:.3f}", f"{some / theirs:.0%}", f"{cpu['arrays 1 %']:.3f}"]
        uproot = cpu.get("uproot 1 %")
        cells += [f"{uproot:.3f}", f"{uproot / cpu['arrays 1 %']:.1f}"] if uproot else ["", ""]
        bench.say("| " + " | ".join(cells) + " |")


def list_of_entries(path: Path) -> Path:
    """One entry in a hundred, the same every time."""
    count = report(path, "--entries", "0:1")["all_entries"]
    entries = SCRATCH / f"{path.stem}.entries"
    entries.write_text("\n".join(map(str, sorted(random.Random(1).sample(range(count), max(count // 100, 1))))))
    return entries


@section
def threads(bench: Bench) -> None:
    """Two threads: 1.8 x as fast."""
    bench.say("", "| file | codec | wall s, 1 thread | 2 threads | x |", "|---|---|---|---|---|")
    for kind, codec, path in read_files(bench, ("none", "zlib:1")):
        wall = {
            name: one.wall
            for name, one in bench.compare(
                f"{kind} {codec}", [readspeed(count, path, "-j", count) for count in ("1", "2")]
            ).items()
        }
        gain = wall["1"] / wall["2"]
        bench.say(f"| {kind} | {codec} | {wall['1']:.3f} | {wall['2']:.3f} | {gain:.2f} |")
