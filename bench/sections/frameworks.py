"""C++ programs that write: ROOT's parallel writers, and basketry's doors for frameworks."""

import native
from harness import Bench, section
from measure import SCRATCH, Contender
from referee.command import Argument
from sections.writing import Writer, setting

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


def contender(name: str, kind: str, codec: str, size: int, threads: int) -> Writer:
    """A program that writes so many megabytes."""
    program, settings = PROGRAMS[name]
    out = SCRATCH / f"{name.replace(', ', '-')}.root"
    command: list[Argument] = [native.program(program), kind, out, "--size", f"{size}e6", "--threads", str(threads)]
    command += ["--compression", str(setting(codec))]
    if settings:
        command += ["--settings", f"{settings},compression={codec}" if program != "write_buffer_merger" else settings]
    return Writer(name, command, [out])


def megabytes(bench: Bench, codec: str, threads: int) -> int:
    """Megabytes to write: several clusters for each thread."""
    if bench.quick:
        return 8
    return 100 * max(threads, 4) if codec == "none" else 50 * max(threads, 2)


@section
def capi(bench: Bench) -> None:
    """C++: BufferMerger takes no more CPU than TBufferMerger, and a third of its memory with 8 threads; 64 MB."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    if not native.capi_library().exists():
        bench.say(f"no {native.capi_library()}: make capi")
        return
    for kind in KINDS:
        for threads in THREADS:
            bench.say("", f"### {kind}, {threads} thread{'s' * (threads > 1)}", "")
            head = "| codec | | CPU us/event | cpu s | wall s | peak RSS MB | file MB | cpu / TBufferMerger |"
            bench.say(f"{head} RSS / TBufferMerger |", "|---|---|" + "---|" * 7)
            for codec in CODECS:
                size = megabytes(bench, codec, threads)
                writers: list[Contender] = [contender(name, kind, codec, size, threads) for name in PROGRAMS]
                done = bench.compare(f"{kind} {codec} {threads}", writers)
                bench.say(*rows(codec, done))


def rows(codec: str, done: dict[str, Contender]) -> list[str]:
    """A line of the table for each writer."""
    lines = []
    theirs = done.get("TBufferMerger")
    for one in done.values():
        if not isinstance(one, Writer):
            continue
        cells = [
            codec,
            one.name,
            f"{1e6 * one.cpu / max(1, one.of('entries')):.2f}",
            f"{one.cpu:.3f}",
            f"{one.wall:.3f}",
        ]
        cells += [f"{one.of('peak_rss') / 1e6:.0f}", f"{one.of('bytes') / 1e6:.1f}"]
        if isinstance(theirs, Writer):
            cells += [f"{one.cpu / theirs.cpu:.2f}", f"{one.of('peak_rss') / theirs.of('peak_rss'):.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
