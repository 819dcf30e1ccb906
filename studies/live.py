"""Files that are read while they are written: what readers in processes of their own see of a job that makes its
entries at a steady rate, how far behind the job they are, and whether all that they read is in the finished file.

The cost of saving is measured in `studies.parallel`.
"""

import hashlib
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
from matplotlib.figure import Figure

import basketry as bk
import native
from referee.command import Argument
from referee.paths import BINARY, REPO
from sections.writing import OURS, RIVALS, setting
from studies import pictures
from studies.live_reader import BRANCHES, READERS, TREE
from studies.study import Context, number, table

#: Bytes a second that the job makes: every writer keeps up.
RATE = 20_000_000
#: A job that takes so many times as long as planned did not keep the rate; closing the file takes some of the time.
SLOW = 1.1
#: Megabytes at scale 1: seconds of the job times the rate.
SIZE = 60
#: AutoSave after these shares of the entries. As in the talk a cluster is 1 % of them.
EVERY = ("10%", "5%", "1%")
#: ROOT's writers of RNTuples cannot save before the end.
NEVER = "no AutoSave"
FLUSH = ("--autoflush", "1%")
CODEC = "zlib:1"
#: Events in an entry: so many values each reader reads of one.
EVENTS = 10
#: Bytes of an entry of `multi`.
ENTRY = 10 * EVENTS * 108


@dataclass(frozen=True)
class Way:
    """A writer and how it saves."""

    name: str
    every: str
    command: Sequence[Argument]
    #: The name of the unfinished file, in which {} is the process.
    hidden: str


@dataclass(frozen=True)
class Reading:
    """What a reader found at a time, in seconds after the file appeared."""

    at: float
    seconds: float
    entries: int
    #: Whether what was read is the beginning of the finished file.
    right: bool
    error: str = ""


@dataclass(frozen=True)
class Run:
    """A job, and what its readers saw until it ended."""

    seconds: float
    entries: int
    readings: dict[str, list[Reading]]

    @property
    def making(self) -> float:
        """Seconds in which the job made its entries: longer where it could not keep the rate."""
        planned = self.entries * ENTRY / RATE
        return self.seconds if self.seconds > SLOW * planned else planned

    def behind(self, reader: str) -> list[float]:
        """Seconds since the job made the newest entry that was read so far, at each reading."""
        found = self.readings[reader]
        newest = itertools.accumulate((one.entries for one in found), max)
        # The file appears a little before the job begins to count.
        rate = self.entries / self.making
        ages = (min(one.at, self.making) - seen / rate for one, seen in zip(found, newest, strict=True))
        return [max(0.0, age) for age in ages]

    def steps(self, reader: str) -> list[tuple[float, float]]:
        """The share of the entries in percent that each reading found, if it found any, and when."""
        return [(one.at, 100 * one.entries / self.entries) for one in self.readings[reader] if one.entries]

    def first(self, reader: str) -> float:
        """When a reader found the first entries; NaN if never."""
        return next((one.at for one in self.readings[reader] if one.entries), float("nan"))

    def cells(self, reader: str) -> list[str]:
        """Different numbers of entries that a reader found, their age at its readings, and the share that failed."""
        found, behind = self.readings[reader], self.behind(reader)
        later = [one for one in found if one.at > self.first(reader)]
        refused = 100 * sum(not one.entries for one in later) / len(later) if later else 0.0
        states = len({one.entries for one in found if one.entries})
        age = f"{number(statistics.fmean(behind), 2)} ({number(max(behind), 2)})" if states else "-"
        return [str(states), age, f"{number(refused, 0)} %" if states else "-"]

    def wrong(self) -> int:
        """Readings of all readers that are not the beginning of the finished file."""
        return sum(not one.right for found in self.readings.values() for one in found)


class Reader:
    """A reader in a process of its own. One that crashes is started again, and its readings end with the reason."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = self._started()

    def _started(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-W", "ignore", "-m", "studies.live_reader", self._name]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=REPO, text=True, stdin=pipe, stdout=pipe, stderr=null)
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError(f"{self._name} cannot read: exit code {process.wait()}")
        return process

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def begin(self, path: Path) -> None:
        """Lets it read this file again and again."""
        self._tell(str(path))

    def end(self) -> list[dict[str, Any]]:
        """Ends that, and returns its readings."""
        self._tell("")
        assert self._process.stdout is not None
        found: list[dict[str, Any]] = []
        for line in self._process.stdout:
            if not line.strip():
                return found
            found.append(json.loads(line))
        last = found[-1]["at"] + found[-1]["seconds"] if found else 0.0
        found.append({"at": last, "seconds": 0.0, "values": 0, "error": f"it ended with {self._process.wait()}"})
        self._process = self._started()
        return found

    def close(self) -> None:
        """Ends it."""
        self._process.communicate()


def ways(container: str, rivals: Iterable[str], size: int, output: Path) -> Iterator[Way]:
    """The writers, each with its manners of saving."""
    common: list[Argument] = [*FLUSH, "--rate", str(RATE)]
    job: list[Argument] = ["generate", "multi", "-o", output, "--size", f"{size}MB", "--container", container]
    job += ["--compression", CODEC, "--threads", "2", "--quiet"]
    for every in EVERY:
        yield Way(OURS, every, [BINARY, *job, *common, "--autosave", every], f".{output.name}.{{}}.tmp")
    for name in rivals:
        job = [native.program(RIVALS[name]), "multi", output, "--size", f"{size}e6"]
        # TTree's other threads only compress.
        job += ["--compression", str(setting(CODEC)), "--threads", "1" if name == "TTree" else "2", *common]
        if container != "ttree":
            yield Way(name, NEVER, job, output.name)
            continue
        for every in EVERY:
            yield Way(name, every, [*job, "--autosave", every], output.name)
        # As TTree's documentation has it for other processes that read the file; Fill itself saves less.
        for every in EVERY if name == "TTree" else ():
            yield Way(name, f"{every}, SaveSelf", [*job, "--autosave", every, "--save-self"], output.name)


def watched(way: Way, output: Path, readers: Mapping[str, Reader]) -> Run:
    """Runs the job, with its readers beside it, and compares what they read with the finished file."""
    output.unlink(missing_ok=True)
    command = [str(word) for word in way.command]
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    path = output.with_name(way.hidden.format(job.pid))
    while not path.exists() and job.poll() is None:
        time.sleep(0.001)
    begun = time.monotonic()
    for reader in readers.values():
        reader.begin(path)
    said = job.communicate()[1]
    ended = time.monotonic()
    found = {name: reader.end() for name, reader in readers.items()}
    if job.returncode:
        raise RuntimeError(f"{way.name} ended with {job.returncode}: {said[-1000:]}")
    whole = values(output)
    output.unlink()
    during = {
        name: [reading(one, begun, whole) for one in of if one["at"] + one["seconds"] < ended]
        for name, of in found.items()
    }
    return Run(ended - begun, len(whole) // EVENTS, during)


def values(path: Path) -> Any:
    """The column that the readers read."""
    with bk.open(path) as file:
        tree = file[TREE]
        name = next(name for name in BRANCHES if name in tree)
        return np.ascontiguousarray(ak.to_numpy(ak.flatten(tree[name].array(), axis=None)))


def reading(found: Mapping[str, Any], begun: float, whole: Any) -> Reading:
    """A line of a reader, compared with the finished column."""
    count = int(found["values"])
    expected = hashlib.sha256(whole[:count].tobytes()).hexdigest()
    right = "digest" not in found or found["digest"] == expected
    return Reading(found["at"] - begun, found["seconds"], count // EVENTS, right, found.get("error", ""))


def live(context: Context, container: str, prefix: str, rivals: Iterable[str], medium: Path) -> None:
    """All writers and manners of saving, with three readers at once; basketry's alone without ROOT."""
    size, output = context.megabytes(SIZE, 4), medium / "out.root"
    done: dict[tuple[str, str], Run] = {}
    kept = context.results["series"].setdefault(f"{prefix}live", [])
    with reading_processes([name for name in READERS if context.root or name != "ROOT"]) as readers:
        # The first reading of a process compiles, and imports.
        watched(next(ways(container, (), 4, output)), output, readers)
        for way in ways(container, rivals, size, output):
            run = done[way.name, way.every] = watched(way, output, readers)
            kept.append({"writer": way.name, "command": [str(word) for word in way.command]} | asdict(run))
    context.block(f"{prefix}live", table(heads(), [row(*key, run) for key, run in done.items()]))
    alt = "Entries that a reader sees of a file that is being written, over time, by how often the writer saves."
    writers = dict.fromkeys(who for who, _ in done)
    context.picture(f"{prefix}live", alt, lambda figure: stairs(figure, done), len(writers))


@contextmanager
def reading_processes(names: Iterable[str]) -> Iterator[dict[str, Reader]]:
    """The readers, which end together."""
    started = {name: Reader(name) for name in names}
    try:
        yield started
    finally:
        for reader in started.values():
            reader.close()


def heads() -> list[str]:
    """The head of the table."""
    what = ("states", "behind, s (most)", "refused")
    return ["writer", "AutoSave", *(f"{name}: {one}" for name in READERS for one in what), "wrong"]


def row(writer: str, every: str, run: Run) -> list[str]:
    """What each reader sees of a writer's file."""
    cells = [run.cells(name) if name in run.readings else ["-"] * 3 for name in READERS]
    return [writer, every, *(cell for of in cells for cell in of), str(run.wrong())]


def stairs(figure: Figure, done: Mapping[tuple[str, str], Run]) -> None:
    """A panel for each writer: the share of the entries that basketry's reader saw, over time, and that were made."""
    writers = list(dict.fromkeys(who for who, _ in done))
    for axes, writer in zip(pictures.panels(figure, writers), writers, strict=True):
        found = {every: run for (who, every), run in done.items() if who == writer}
        # A file is complete when its job ends.
        shares = {every: [(0.0, 0.0), *run.steps(OURS), (run.seconds, 100.0)] for every, run in found.items()}
        planned = max(run.entries for run in found.values()) * ENTRY / RATE
        pictures.stairs(axes, shares, "s", "% of the entries", [(0, 0), (planned, 100)], "made by the job")
