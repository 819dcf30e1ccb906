"""Writing one file from many threads: media, sizes, codecs, branches, bounded memory, timelines, and its limits."""

import os
import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.figure import Figure

from measure import compare
from referee.command import Argument
from sections.writing import NTUPLE_RIVALS, OURS, TREE_RIVALS, Writer, basketry, rival
from studies import pictures
from studies.live import EVERY, live
from studies.study import Context, Spread, compiled, mb, noise, number, study, table

#: Megabytes of payload at scale 1: about a second of a writer. The talk's gigabyte is in the table of sizes.
CODECS = {"none": 250, "lz4:4": 40, "zlib:1": 40, "zstd:5": 20, "lzma:7": 4}
#: Those on every medium: one leaves the work to the medium, the other to the processor.
ON_EVERY = ("none", "zlib:1")
#: Megabytes of payload in more and more branches.
BRANCHES = {"none": 100, "zlib:1": 40}
SHAPES = ((1, 100), (2, 50), (5, 20), (10, 10), (25, 4), (50, 2))
#: Where the published study had memory.
SHARED_MEMORY = Path("/dev/shm")
MEMORY = "128MB"
#: The study had 1 % of a hundred times as much data: threads need several clusters even of little data.
FLUSH = ("--autoflush", "5%")
#: Megabytes of payload in the table of sizes.
SIZES = (50, 200, 1000)
#: Megabytes of payload on each of the media with a preloaded library, and bytes a second that the throttled one takes.
ON_MEDIA = 100
THROTTLED = 100_000_000
#: Threads in the table of memory, on any machine: each has a cluster.
MANY = (1, 2, 4, 8)


@dataclass(frozen=True)
class Half:
    """One container: basketry's writer of it beside ROOT's."""

    container: str
    rivals: Sequence[str]
    #: Before the names of its tables and series.
    prefix: str
    #: Those of ROOT's writers, with their options, whose memory is measured.
    growing: dict[str, tuple[str, tuple[str, ...]]]

    def names(self, context: Context) -> list[str]:
        """The names of the writers."""
        return [OURS, *(self.rivals if context.root else ())]


TREES = Half(
    "ttree",
    tuple(TREE_RIVALS),
    "",
    {
        "TBufferMerger": ("TBufferMerger", ()),
        # As in TBufferMerger's own example: a thread's tree is written once it is complete.
        "TBufferMerger, Write() at the end": ("TBufferMerger", ("--autosave", "100%")),
    },
)
NTUPLES = Half("rntuple", tuple(NTUPLE_RIVALS), "ntuple-", {name: (name, ()) for name in NTUPLE_RIVALS})


@study
def parallel(context: Context) -> None:
    """Trees, then RNTuples, beside ROOT's writers: media, codecs, branches, threads, memory, several outputs."""
    with media(context) as folders:
        for half in (TREES, NTUPLES):
            grid(context, half, folders)


def grid(context: Context, half: Half, folders: dict[str, Path]) -> None:
    """All tables of one container."""
    for kind in ("single", "multi"):
        codecs_and_media(context, half, kind, folders)
    disk, *others = folders.values()
    for codec in ("none", "zlib:1"):
        branches(context, half, codec, disk)
    timelines(context, half, disk)
    # In memory, without a disk.
    fastest = others[0] if others else disk
    sizes(context, half, disk)
    devices(context, half, folders)
    live(context, half.container, half.prefix, half.names(context)[1:], disk)
    saving(context, half, disk)
    memory(context, half, fastest)
    budgets(context, half, fastest)
    limits(context, half, fastest)


@contextmanager
def media(context: Context) -> Iterator[dict[str, Path]]:
    """A folder for each medium: the results' disk, and memory."""
    disk = context.out / "out"
    folders = {filesystem(context.out): disk}
    if filesystem(SHARED_MEMORY) == "tmpfs" and os.access(SHARED_MEMORY, os.W_OK):
        folders.setdefault("tmpfs", SHARED_MEMORY / f"basketry-studies-{os.getpid()}")
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folders
    finally:
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)


def filesystem(path: Path) -> str:
    """The file system of a folder."""
    mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text().splitlines()]
    around = [(len(place), kind) for place, kind in mounts if path.resolve().is_relative_to(place)]
    return max(around)[1] if around else "disk"


def threads() -> list[int]:
    """1, 2, 4 and so on up to the number of processors; at least 1 and 2."""
    processors = max(2, len(os.sched_getaffinity(0)))
    return [1 << power for power in range(processors.bit_length()) if 1 << power <= processors]


Key = TypeVar("Key", bound=Hashable)
#: A line of `timeline` in the report of `write-bench`.
Stretch = Mapping[str, Any]
#: Container, data set, codec and megabytes.
Job = tuple[str, str, str, int]


def writer(who: str, job: Job, count: int, medium: Path, *options: Argument) -> Writer:
    """One writer on a number of threads; basketry within its memory."""
    container, kind, codec, size = job
    if who == OURS:
        how = ("--container", container, "--memory", MEMORY)
        return basketry(kind, codec, size, count, *how, *options, medium=medium)
    return rival(who, kind, codec, size, count, *options, medium=medium)


def measured(context: Context, label: str, rounds: int, writers: dict[Key, Writer]) -> dict[Key, Writer]:
    """Runs the writers in turns, keeps the samples, and returns the finished ones."""
    done = compare(writers.values(), context.repeat(rounds))
    context.results["series"][label] = [one.record() for one in done]
    return {key: one for key, one in writers.items() if one in done}


def flush(one: Writer) -> float:
    """Seconds to flush the data that the system still holds after the writer's own flushes."""
    return one.of("sync") or one.of("flush")


def spread(writers: Iterable[Writer]) -> list[str]:
    """How much the times of the repeats differ, for each writer."""
    walls: dict[str, list[Spread]] = {}
    for one in writers:
        walls.setdefault(one.name, []).append(Spread.of([sample.wall for sample in one.samples]))
    return noise(walls)


def over_threads(
    context: Context, half: Half, label: str, job: Job, medium: Path, *options: Argument, rounds: int = 3
) -> dict[tuple[str, int], Writer]:
    """All writers, on one thread and more."""
    names = half.names(context)
    writers = {(who, n): writer(who, job, n, medium, *FLUSH, *options) for who in names for n in threads()}
    return measured(context, half.prefix + label, rounds, writers)


def speeds(names: Sequence[str], size: int, done: dict[tuple[str, int], Writer]) -> list[str]:
    """For each writer MB/s on one thread and more until all data is on the medium, and the speed-up of the last.

    ROOT's files are flushed when they are closed, so the flush counts for the other writers as well.
    """
    cells = []
    for who in names:
        walls = [done[who, n].wall + flush(done[who, n]) for n in threads() if (who, n) in done]
        gain = f" ({walls[0] / walls[-1]:.1f} x)" if len(walls) > 1 else ""
        cells.append(" → ".join(number(size / wall, 0) for wall in walls) + gain)
    return cells


def codecs_and_media(context: Context, half: Half, kind: str, folders: dict[str, Path]) -> None:
    """A data set on every medium, and in every codec on the last, which is memory where there is one."""
    names = half.names(context)
    rows, costs = [], []
    every: list[Writer] = []
    drawn: dict[str, dict[tuple[str, int], Writer]] = {}
    *_, last = folders
    for medium, folder in folders.items():
        for codec, megabytes in CODECS.items():
            if codec not in (("none", "lz4:4") if context.quick else CODECS if medium == last else ON_EVERY):
                continue
            size = context.megabytes(megabytes, 1)
            job = (half.container, kind, codec, size)
            done = over_threads(context, half, f"{kind} {medium} {codec}", job, folder)
            rows.append([medium, codec, str(size), *speeds(names, size, done)])
            every += done.values()
            costs += costs_of(names, medium, codec, size, done, whole=medium == last)
            if medium == last:
                drawn[codec] = done
    context.block(f"{half.prefix}{kind}-speed", [*table(["medium", "codec", "MB", *names], rows), *spread(every)])
    context.block(f"{half.prefix}{kind}-cost", table(["medium, codec", "", *names], costs))
    alt = f"Speed-up of writing `{kind}` over threads, by codec and writer."
    context.picture(f"{half.prefix}{kind}", alt, lambda figure: speed_ups(figure, names, drawn), len(drawn))


def speed_ups(figure: Figure, names: Sequence[str], done: dict[str, dict[tuple[str, int], Writer]]) -> None:
    """How many times as fast as one thread the writers are, until all data is on the medium."""
    for axes, writers in zip(pictures.panels(figure, list(done), shared=True), done.values(), strict=True):
        seconds = {key: one.wall + flush(one) for key, one in writers.items()}
        groups = {
            who: [(float(n), seconds[who, 1] / seconds[who, n]) for n in threads() if (who, n) in seconds]
            for who in names
            if (who, 1) in seconds
        }
        pictures.over_threads(axes, groups, "times one thread", [(n, n) for n in threads()], "ideal")


def costs_of(
    names: Sequence[str], medium: str, codec: str, size: int, done: dict[tuple[str, int], Writer], *, whole: bool
) -> list[list[str]]:
    """All writers on all threads: time to flush the disk's cache; and where `whole` payload for each CPU second, and
    size of the file, which do not depend on the medium.
    """
    what: dict[str, Callable[[Writer], str]] = {}
    if whole:
        what["MB per CPU s"] = lambda one: number(size / one.cpu, 0)
        what["file, % of payload"] = lambda one: number(one.of("bytes") / size / 1e4, 0)
    if medium != "tmpfs":
        what["flush s"] = lambda one: number(flush(one), 2)
    last = [done.get((who, threads()[-1])) for who in names]
    return [[f"{medium}, {codec}", label, *(of(one) if one else "-" for one in last)] for label, of in what.items()]


def branches(context: Context, half: Half, codec: str, medium: Path) -> None:
    """The same data in more and more branches, or fields."""
    names, rows, size = half.names(context), [], context.megabytes(BRANCHES[codec], 1)
    every: list[Writer] = []
    job = (half.container, "multi", codec, size)
    # With a codec its work hides most of that of the branches.
    step = 5 if context.quick else 1 if codec == "none" else 3
    for count, events in (*SHAPES[:-1:step], SHAPES[-1]):
        shape = ("--branches", str(count), "--events", str(events))
        done = over_threads(context, half, f"{count} x {events} {codec}", job, medium, *shape)
        rows.append([f"{count} x {events}", *speeds(names, size, done)])
        every += done.values()
    key = f"{half.prefix}branches-{codec.partition(':')[0]}"
    context.block(key, [*table(["branches x events", *names], rows), *spread(every)])


def memory(context: Context, half: Half, medium: Path) -> None:
    """Peak memory over threads: within a budget, and for writers without one."""
    job = (half.container, "multi", "none", context.megabytes(400, 4))
    ways: dict[str, tuple[str, tuple[str, ...]]] = {OURS: (OURS, ())}
    ways |= half.growing if context.root else {}
    rows = []
    every: list[Writer] = []
    peaks: dict[str, list[tuple[float, float]]] = {label: [] for label in ways}
    for count in MANY:
        writers = {label: writer(who, job, count, medium, *options) for label, (who, options) in ways.items()}
        done = measured(context, f"{half.prefix}memory {count}", 3, writers)
        cells = [
            f"{done[label].of('peak_rss') / 1e6:.0f} ({job[3] / done[label].wall:.0f})" if label in done else "-"
            for label in ways
        ]
        rows.append([str(count), *cells])
        every += done.values()
        for label, one in done.items():
            peaks[label].append((float(count), one.of("peak_rss") / 1e6))
    alt = "Peak memory of writing over threads, and basketry's budget."
    context.picture(f"{half.prefix}memory", alt, lambda figure: growth(figure, peaks))
    head = ["threads", *(f"{label}, MB (MB/s)" for label in ways)]
    context.block(f"{half.prefix}memory", [*table(head, rows), *spread(every)])


def growth(figure: Figure, peaks: dict[str, list[tuple[float, float]]]) -> None:
    """Peak memory over threads."""
    (axes,) = pictures.panels(figure, ["writing multi without compression"])
    budget = float(MEMORY.removesuffix("MB"))
    bar = [(MANY[0], budget), (MANY[-1], budget)]
    pictures.over_threads(axes, peaks, "peak RSS, MB", bar, f"basketry's budget, {budget:.0f} MB")


def budgets(context: Context, half: Half, medium: Path) -> None:
    """The cost of a small budget: eight threads, each with a cluster."""
    size = context.megabytes(400, 4)
    rows = []
    every: list[Writer] = []
    for budget in ("64MB", "128MB", "256MB", "1GB"):
        options = ("--container", half.container, "--memory", budget)
        one = basketry("multi", "zlib:1", size // 4 or 1, MANY[-1], *options, medium=medium)
        two = basketry("multi", "none", size, MANY[-1], *options, medium=medium)
        done = measured(context, f"{half.prefix}budget {budget}", 3, {"none": two, "zlib:1": one})
        cells = []
        for codec, megabytes in (("none", size), ("zlib:1", size // 4 or 1)):
            found = done.get(codec)
            cells += (
                [
                    number(megabytes / found.wall, 0),
                    number(found.of("peak_rss") / 1e6, 0),
                    number(found.of("waiting"), 2),
                ]
                if found
                else ["-"] * 3
            )
        rows.append([budget, *cells])
        every += done.values()
    head = [f"{codec}: {what}" for codec in ("none", "zlib:1") for what in ("MB/s", "peak RSS, MB", "waited, thread s")]
    context.block(f"{half.prefix}budgets", [*table(["--memory", *head], rows), *spread(every)])


def limits(context: Context, half: Half, medium: Path) -> None:
    """Several outputs at once, and runs that write or fill nothing."""
    count, megabytes = threads()[-1], context.megabytes(50, 1)
    job = (half.container, "multi", "zlib:1", megabytes)
    ways: list[tuple[str, int]] = [(OURS, 1), (OURS, 3), *((who, 1) for who in half.names(context)[1:])]
    what = {"as it is": (), "nothing written": ("--no-write",), "nothing filled": ("--no-fill",)}
    writers = {}
    for who, outputs in ways:
        several = ("--outputs", str(outputs)) if outputs > 1 else ()
        for label, options in what.items():
            writers[who, outputs, label] = writer(who, job, count, medium, *FLUSH, *several, *options)
    done = measured(context, f"{half.prefix}limits", 3, writers)
    rows: list[Sequence[str]] = []
    for (who, outputs, label), one in done.items():
        speed, busy = number(outputs * megabytes / one.wall, 0), f"{one.cpu / one.wall / count:.0%}"
        rows.append(
            [
                who,
                str(outputs),
                label,
                number(one.wall, 3),
                number(one.cpu, 3),
                busy,
                speed,
                number(one.of("peak_rss") / 1e6, 0),
            ]
        )
    head = ["writer", "outputs", "", "wall s", "CPU s", "CPU utilisation", "MB/s, all outputs", "peak RSS, MB"]
    context.block(f"{half.prefix}limits", [*table(head, rows), *spread(done.values())])


def timelines(context: Context, half: Half, medium: Path) -> None:
    """What basketry's threads do, and when: with and without a codec, and where they have to wait for memory."""
    size, few = context.megabytes(24, 2), threads()[-1]
    ways = {
        f"{few} threads, no codec": ("none", few, MEMORY),
        f"{few} threads, zlib:1": ("zlib:1", few, MEMORY),
        f"{MANY[-1]} threads in 16 MB, zlib:1": ("zlib:1", MANY[-1], "16MB"),
    }
    writers = {}
    for label, (codec, count, budget) in ways.items():
        how = ("--container", half.container, "--memory", budget, *FLUSH, "--timeline")
        writers[label] = basketry("multi", codec, size, count, *how, medium=medium)
    done = measured(context, f"{half.prefix}timelines", 1, writers)
    found = {label: one.facts[-1]["timeline"] for label, one in done.items()}
    rows = [[label, *shares(stretches)] for label, stretches in found.items()]
    context.block(f"{half.prefix}timelines", table(["thread s", *pictures.STAGES], rows))
    alt = "Timelines of basketry's threads, a row for each: filling, encoding, compressing, waiting, writing."
    context.picture(f"{half.prefix}timelines", alt, lambda figure: rows_of_threads(figure, found), len(found))


def shares(stretches: Sequence[Stretch]) -> list[str]:
    """Seconds of all threads in each stage."""
    return [
        number(sum(one["end"] - one["begin"] for one in stretches if one["stage"] == stage), 3)
        for stage in pictures.STAGES
    ]


def rows_of_threads(figure: Figure, found: dict[str, Sequence[Stretch]]) -> None:
    """A panel for each run."""
    for axes, stretches in zip(pictures.panels(figure, list(found)), found.values(), strict=True):
        spans = [(one["thread"], one["stage"], 1e3 * one["begin"], 1e3 * one["end"]) for one in stretches]
        pictures.timeline(axes, spans, "ms")


def sizes(context: Context, half: Half, medium: Path) -> None:
    """Speed and memory of all writers up to a gigabyte, as in the talk, until everything is on the disk."""
    names, rows, count = half.names(context), [], threads()[-1]
    every: list[Writer] = []
    for megabytes in SIZES[:: 2 if context.quick else 1]:
        size = context.megabytes(megabytes, megabytes / 50)
        for kind in ("single", "multi"):
            job = (half.container, kind, "none", size)
            writers = {who: writer(who, job, count, medium) for who in names}
            done = measured(context, f"{half.prefix}size {kind} {megabytes}", 3, writers)
            rows.append([f"{kind}, {size} MB", *whole(names, size, done)])
            every += done.values()
    head = ["data", *(f"{who}, MB/s (peak RSS, MB)" for who in names)]
    context.block(f"{half.prefix}sizes", [*table(head, rows), *spread(every)])


def whole(names: Sequence[str], size: int, done: dict[str, Writer]) -> list[str]:
    """For each writer MB/s until everything is on the medium, and its peak memory."""
    cells = []
    for who in names:
        one = done.get(who)
        speed = number(size / (one.wall + flush(one)), 0) if one else ""
        cells.append(f"{speed} ({one.of('peak_rss') / 1e6:.0f})" if one else "-")
    return cells


def devices(context: Context, half: Half, folders: dict[str, Path]) -> None:
    """The same data in memory, on the disk with and without flushing it, and on a throttled device."""
    names, rows, count = half.names(context), [], threads()[-1]
    size = context.megabytes(ON_MEDIA, 4)
    ways: dict[str, tuple[Path, dict[str, str]]] = {medium: (folder, {}) for medium, folder in folders.items()}
    if context.root:
        disk, library = next(iter(folders.values())), str(compiled(context.out, "slow_line"))
        unflushed = {"LD_PRELOAD": library, "NO_FSYNC": "1"}
        ways[f"{next(iter(folders))}, without fsync"] = (disk, unflushed)
        slow = unflushed | {"DISK_BYTES": str(THROTTLED)}
        ways[f"throttled to {THROTTLED // 1_000_000} MB/s"] = (list(folders.values())[-1], slow)
    every: list[Writer] = []
    for medium, (folder, environment) in ways.items():
        for codec in ("none", "zlib:1"):
            job = (half.container, "multi", codec, size if codec == "none" else size // 4 or 1)
            writers = {who: writer(who, job, count, folder) for who in names}
            for one in writers.values():
                one.command = ["env", *(f"{key}={value}" for key, value in environment.items()), *one.command]
            done = measured(context, f"{half.prefix}device {medium} {codec}", 3, writers)
            rows.append([f"{medium}, {codec}", *whole(names, job[3], done)])
            every += done.values()
    head = ["medium, codec", *(f"{who}, MB/s (peak RSS, MB)" for who in names)]
    context.block(f"{half.prefix}media", [*table(head, rows), *spread(every)])


def saving(context: Context, half: Half, medium: Path) -> None:
    """The cost of AutoSave at full speed: against none, time, CPU and size. ROOT's RNTuples have no AutoSave."""
    job = (half.container, "multi", "zlib:1", context.megabytes(60, 2))
    names = half.names(context) if half is TREES else [OURS]
    ways = {(who, every): ("--autosave", every) if every else () for who in names for every in ("", *EVERY)}
    writers = {key: writer(key[0], job, threads()[-1], medium, "--autoflush", "1%", *how) for key, how in ways.items()}
    done = measured(context, f"{half.prefix}saving", 3, writers)
    rows = []
    for (who, every), one in done.items():
        none = done[who, ""]
        change = f"{100 * (one.of('bytes') / none.of('bytes') - 1):+.2f} %"
        figures = [number(one.wall + flush(one), 3), number(one.cpu, 3), mb(one.of("bytes"), 2), change]
        rows.append([who, every or "none", *figures])
    head = ["writer", "AutoSave", "wall s", "CPU s", "file, MB", ""]
    context.block(f"{half.prefix}saving", [*table(head, rows), *spread(done.values())])
