"""C++ programs that write: ROOT's parallel writers, and basketry's doors for frameworks."""

import native
from harness import Bench, section
from measure import SCRATCH, Contender
from referee.command import Argument
from sections.writing import Writer, basketry, setting

KINDS = ("multi", "single", "mix")
CODECS = ("none", "lz4:4", "zlib:1", "zstd:5")
THREADS = (1, 2, 4, 8)
#: Bytes that parts, or clusters, may take.
MEMORY = "64MB"
#: The programs, and the settings that each gets besides the codec.
PROGRAMS = {
    "TBufferMerger": ("write_merger", None),
    "BufferMerger": ("write_buffer_merger", f"memory={MEMORY}"),
    "RNTupleParallelWriter": ("write_ntuple_parallel", None),
    "Arrow": ("write_arrow", f"memory={MEMORY}"),
    "addresses": ("write_addresses", f"memory={MEMORY}"),
    "addresses, RNTuple": ("write_addresses", f"memory={MEMORY},container=rntuple"),
}
#: The command's own writers, which generate the same events: what doors 2 and 3 are compared with. They have no `mix`.
OWN = {"write-bench": "ttree", "write-bench, RNTuple": "rntuple"}
#: The doors with the writer that each is compared with.
DOORS = {"Arrow": "write-bench", "addresses": "write-bench", "addresses, RNTuple": "write-bench, RNTuple"}


def contender(name: str, kind: str, codec: str, size: int, threads: int) -> Writer:
    """A program that writes so many megabytes."""
    program, settings = PROGRAMS[name]
    out = SCRATCH / f"{name.replace(', ', '-')}.root"
    command: list[Argument] = [native.program(program), kind, out, "--size", f"{size}e6", "--threads", str(threads)]
    command += ["--compression", str(setting(codec))]
    if settings:
        command += ["--settings", f"{settings},compression={codec}" if program != "write_buffer_merger" else settings]
    return Writer(name, command, [out])


def own(name: str, kind: str, codec: str, size: int, threads: int) -> Writer:
    """The command's own writer of the same events."""
    made = basketry(kind, codec, size, threads, "--container", OWN[name], "--memory", MEMORY)
    made.name = name
    return made


def megabytes(bench: Bench, codec: str, threads: int) -> int:
    """Megabytes to write: several clusters for each thread."""
    if bench.quick:
        return 8
    return 100 * max(threads, 4) if codec == "none" else 50 * max(threads, 2)


@section
def capi(bench: Bench) -> None:
    """C++: BufferMerger's CPU that of TBufferMerger, RSS a third with 8 threads; doors 1.1 x write-bench; 64 MB."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    if not native.capi_library().exists():
        bench.say(f"no {native.capi_library()}: make capi")
        return
    for kind in KINDS:
        for threads in THREADS:
            bench.say("", f"### {kind}, {threads} thread{'s' * (threads > 1)}", "")
            head = "| codec | | CPU us/event | cpu s | wall s | peak RSS MB | file MB | cpu / TBufferMerger |"
            bench.say(f"{head} RSS / TBufferMerger | cpu / write-bench |", "|---|---|" + "---|" * 8)
            for codec in CODECS:
                size = megabytes(bench, codec, threads)
                writers: list[Contender] = [contender(name, kind, codec, size, threads) for name in PROGRAMS]
                writers += [own(name, kind, codec, size, threads) for name in OWN if kind != "mix"]
                done = bench.compare(f"{kind} {codec} {threads}", writers)
                bench.say(*rows(codec, done))


def rows(codec: str, done: dict[str, Contender]) -> list[str]:
    """A line of the table for each writer."""
    lines = []
    theirs = done.get("TBufferMerger")
    # All write the same entries; write-bench does not count them.
    entries = max((one.of("entries") for one in done.values() if isinstance(one, Writer)), default=1.0)
    for one in done.values():
        if not isinstance(one, Writer):
            continue
        cells = [
            codec,
            one.name,
            f"{1e6 * one.cpu / max(1.0, entries):.2f}",
            f"{one.cpu:.3f}",
            f"{one.wall:.3f}",
        ]
        cells += [f"{one.of('peak_rss') / 1e6:.0f}", f"{one.of('bytes') / 1e6:.1f}"]
        if isinstance(theirs, Writer):
            cells += [f"{one.cpu / theirs.cpu:.2f}", f"{one.of('peak_rss') / theirs.of('peak_rss'):.2f}"]
        else:
            cells += ["", ""]
        ours = done.get(DOORS.get(one.name, ""))
        cells.append(f"{one.cpu / ours.cpu:.2f}" if ours else "")
        lines.append("| " + " | ".join(cells) + " |")
    return lines
