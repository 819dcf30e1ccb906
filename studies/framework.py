"""The job of a framework: threads compute events and write three outputs of each, beside jobs that write nothing."""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

import native
from referee.command import Argument
from sections.writing import Writer, said, setting
from studies import pictures
from studies.parallel import measured, media, spread
from studies.study import Context, mb, number, study, table

#: Events that each thread computes, and in the quick form.
EVENTS, FEW = 300, 60
#: Steps of an event's computation: what an event costs besides its outputs.
WORK, LITTLE = 9_000_000, 10_000
#: Events of a cluster, and of what a thread's file in memory sends to a merger.
CLUSTER = 50
CODEC = "zstd:5"
#: Megabytes of the three outputs together, for each thread.
MEMORY = 64
TIERS = ("RECO", "AOD", "MINIAOD")


@dataclass(frozen=True)
class Way:
    """A job: its writer, and what it is told."""

    label: str
    writer: str
    options: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether there are files in the end."""
        return not self.options or self.options[0] == "--container"

    @property
    def is_root(self) -> bool:
        """Whether it needs ROOT."""
        return self.writer != "addresses"


NO_FILL = Way("nothing filled", "addresses", ("--no-fill",))
NO_WRITE = Way("nothing written", "addresses", ("--no-write",))
ADDRESSES = Way("addresses", "addresses")
NTUPLES = Way("addresses, RNTuple", "addresses", ("--container", "rntuple"))
MERGER = Way("BufferMerger", "BufferMerger")
ROOT_MERGER = Way("TBufferMerger", "TBufferMerger")
LOCKED = Way("TTree and a mutex", "TTree")
WAYS = (NO_FILL, NO_WRITE, ADDRESSES, NTUPLES, MERGER, ROOT_MERGER, LOCKED)


def threads() -> list[int]:
    """1, 2, and all processors."""
    return sorted({1, 2, len(os.sched_getaffinity(0))})


@study
def framework(context: Context) -> None:
    """RECO, AOD and MINIAOD of one job, by basketry and by ROOT, beside jobs that fill or write nothing."""
    if not native.capi_library().exists():
        raise FileNotFoundError(f"no {native.capi_library()}: make capi")
    with media(context) as folders:
        # In memory, where there is such a medium: the job is about processors.
        medium, folder = list(folders.items())[-1]
        context.keep("medium", medium)
        jobs(context, folder)
        checks(context, folder)


def ways(context: Context) -> list[Way]:
    """Those that can be run."""
    return [way for way in WAYS if context.root or not way.is_root]


def job(context: Context, way: Way, count: int, folder: Path, *options: Argument) -> Writer:
    """A job as a contender, which writes into the folder."""
    # All are processes with ROOT's libraries where it is measured, as those of a framework are.
    program = native.program("framework") if context.root else native.without_root("framework")
    memory, codec = f"{MEMORY * count}e6", str(setting(CODEC))
    command: list[Argument] = [program, way.writer, folder, "--threads", str(count), "--memory", memory]
    command += ["--compression", codec, "--cluster", str(CLUSTER), *way.options, *options]
    return Writer(way.label, command, outputs_in(folder) if way.writes else [])


def outputs_in(folder: Path) -> list[Path]:
    """The outputs of a job."""
    return [folder / f"{tier}.root" for tier in TIERS]


def jobs(context: Context, folder: Path) -> None:
    """All jobs, on one thread and more."""
    each = FEW if context.quick else max(1, round(EVENTS * context.scale))
    work = LITTLE if context.quick else WORK
    rows: list[list[str]] = []
    every: dict[tuple[str, int], Writer] = {}
    for count in threads():
        size = ("--events", str(each * count), "--work", str(work))
        writers = {(way.label, count): job(context, way, count, folder, *size) for way in ways(context)}
        done = measured(context, f"{count} threads", 3, writers)
        rows += [row(label, count, each * count, one) for (label, _), one in done.items()]
        every |= done
    head = ["writer", "threads", "events/s", "CPU ms/event", "CPU utilisation", "peak RSS, MB", "outputs, MB"]
    context.block("jobs", [*table(head, rows), *spread(every.values())])
    alt = "Events a second of each job over its threads, and its peak memory."
    context.picture("jobs", alt, lambda figure: compared(figure, each, every), 2)


def row(label: str, count: int, events: int, one: Writer) -> list[str]:
    """The figures of a job."""
    return [
        label,
        str(count),
        number(events / one.wall),
        number(1e3 * one.cpu / events, 2),
        number(one.cpu / one.wall / count, 2),
        number(one.of("peak_rss") / 1e6, 0),
        mb(one.of("bytes")) if one.of("bytes") else "",
    ]


def compared(figure: Figure, each: int, every: dict[tuple[str, int], Writer]) -> None:
    """Events a second, and memory."""
    left, right = pictures.panels(figure, ["speed", "memory"])
    labels = list(dict.fromkeys(label for label, _ in every))
    counts = [count for count in threads() if all((label, count) in every for label in labels)]
    names = {count: f"{count} thread{'s' * (count > 1)}" for count in counts}
    speed = {names[n]: [each * n / every[label, n].wall for label in labels] for n in counts}
    memory = {names[n]: [every[label, n].of("peak_rss") / 1e6 for label in labels] for n in counts}
    pictures.bars(left, labels, speed, "events/s")
    pictures.bars(right, labels, memory, "peak RSS, MB")


def checks(context: Context, folder: Path) -> None:
    """Whether ROOT reads of each job's outputs what the job had in memory: entries, and the sum of all numbers."""
    rows = []
    count, events = threads()[-1], 3 * CLUSTER + 7
    for way in (way for way in ways(context) if way.writes):
        command = job(context, way, count, folder, "--events", str(events), "--work", "1", "--sums").command
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{way.label}: {done.stderr}")
        sums = said(done.stdout)["sums"]
        paths = outputs_in(folder)
        rows.append(
            [way.label, str(events), *(read_again(context, *one, events) for one in zip(paths, sums, strict=True))]
        )
        for path in paths:
            path.unlink()
    context.block("checks", table(["writer", "events", *TIERS], rows))


def read_again(context: Context, path: Path, total: float, events: int) -> str:
    """What ROOT finds; other entries or another sum are an error."""
    if not context.root:
        return "not read"
    program: Sequence[Argument] = [native.program("sums"), path, "Events"]
    done = subprocess.run(list(map(str, program)), capture_output=True, text=True, check=False)
    found = re.search(r"(\d+) entries, (\d+) columns, (\d+) left out, sum (\S+)", done.stdout)
    if found is None:
        raise RuntimeError(f"ROOT does not read {path.name}: {done.stderr[-2000:]}")
    if (int(found[1]), int(found[3]), float(found[4])) != (events, 0, total):
        raise RuntimeError(f"ROOT reads {path.name} otherwise: {found[0]}, not {events} entries and {total!r}")
    return f"the same in {found[2]} columns"
