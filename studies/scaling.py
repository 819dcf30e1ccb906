"""Where more threads stop helping, simulated for up to 16 threads from service times that are measured on one.

No machine with so many cores was at hand. The simulation is compared with the machine at one and two threads.
"""

import heapq
import itertools
import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from referee.command import Argument, Outcome, run
from referee.paths import BINARY
from studies import pictures
from studies.study import Context, basketry, number, study, table

THREADS = (1, 2, 4, 8, 16)
#: Threads at which the machine is asked.
CHECKED = (1, 2)
#: Twice as many threads that gain less than this do not help.
GAIN = 1.2
#: Bytes that are compressed at a time, those of a cluster, and memory that a cluster takes for each of its bytes.
PIECE, CLUSTER, COPIES = 1e6, 30e6, 2.0
MEMORY = 1e9
#: Clusters of the simulated job: so many that its beginning and end do not count.
MANY = 200
#: Megabytes of payload at scale 1.
WRITING = {"none": 400, "zlib:1": 120, "zstd:5": 120}
READING, MERGING = 150, 300


@dataclass(frozen=True)
class Job:
    """Tasks that are made in pieces, which any thread finishes, and then committed in their order. Times in seconds."""

    tasks: int
    #: For the thread that begins a task, as filling and encoding.
    make: float
    #: For the pieces of a task, which any thread without other work does, as compressing.
    finish: float
    pieces: int
    #: One at a time, as the kernel's copy into one file.
    commit: float
    #: Orders beside each other: the columns of a table that is read.
    lanes: int = 1
    #: Tasks that may be made or wait.
    in_flight: int = 64
    #: Before the first task: the start of the program, and its plan.
    before: float = 0.0

    @property
    def share(self) -> float:
        """The part of the work that has an order."""
        return self.commit / (self.make + self.finish + self.commit) / self.lanes


class Machine:
    """Threads at work on a job: each takes what others wait for first."""

    def __init__(self, job: Job, threads: int) -> None:
        self.job, self.idle, self.now = job, threads, 0.0
        self.begun = self.committed = 0
        #: Pieces of each open task that are not made, and not finished.
        self.to_make: dict[int, int] = {}
        self.to_finish: dict[int, int] = {}
        self.makes: list[int] = []
        self.pieces: deque[int] = deque()
        self.ready: set[int] = set()
        #: The next task of each order; those that are committed now.
        self.next = list(range(job.lanes))
        self.busy: set[int] = set()
        self.events: list[tuple[float, int, str, int]] = []
        self.count = itertools.count()

    def run(self) -> float:
        """Seconds until all tasks are committed."""
        while self.committed < self.job.tasks:
            while self.idle and self.start():
                self.idle -= 1
            self.now, _, what, task = heapq.heappop(self.events)
            self.idle += 1
            self.end(what, task)
        return self.now

    def start(self) -> bool:
        """Gives an idle thread work, if there is any."""
        job = self.job
        waiting = sorted(task for task in self.ready if self.next[task % job.lanes] == task and task not in self.busy)
        if waiting:
            self.busy.add(waiting[0])
            return self.until("commit", waiting[0], job.commit)
        if self.pieces:
            return self.until("finish", self.pieces.popleft(), job.finish / job.pieces)
        if self.makes:
            return self.until("make", heapq.heappop(self.makes), job.make / job.pieces)
        if self.begun < job.tasks and self.begun - self.committed < job.in_flight:
            self.to_make[self.begun] = self.to_finish[self.begun] = job.pieces
            self.begun += 1
            return self.until("make", self.begun - 1, job.make / job.pieces)
        return False

    def until(self, what: str, task: int, seconds: float) -> bool:
        """Notes when it ends."""
        heapq.heappush(self.events, (self.now + seconds, next(self.count), what, task))
        return True

    def end(self, what: str, task: int) -> None:
        """What is done makes other work possible."""
        match what:
            case "make":
                self.pieces.append(task)
                self.to_make[task] -= 1
                if self.to_make[task]:
                    heapq.heappush(self.makes, task)
            case "finish":
                self.to_finish[task] -= 1
                if not self.to_finish[task]:
                    self.ready.add(task)
            case _:
                self.ready.discard(task)
                self.busy.discard(task)
                self.next[task % self.job.lanes] += self.job.lanes
                self.committed += 1


def simulated(job: Job, threads: int) -> float:
    """Seconds of a job on so many threads."""
    return job.before + Machine(job, threads).run()


@dataclass(frozen=True)
class Measured:
    """A job with its service times, and what the machine took for it on one and two threads."""

    name: str
    job: Job
    #: Seconds by the clock and of CPU, for each number of threads that is checked.
    took: tuple[tuple[float, float], ...]


@study
def scaling(context: Context) -> None:
    """Writing, reading, merging and recompressing: service times, the check, and the simulated curves."""
    with context.scratch() as folder:
        jobs = [written(context, container, codec, folder) for container in ("ttree", "rntuple") for codec in WRITING]
        jobs += [read(context, kind) for kind in ("single", "multi")]
        jobs += copied(context, folder)
    context.keep("jobs", [asdict(one) for one in jobs])
    rows = [
        [
            one.name,
            *(number(1e3 * each, 2) for each in (one.job.make, one.job.finish, one.job.commit)),
            number(100 * one.job.share, 1),
        ]
        for one in jobs
    ]
    head = ["a task, ms", "its own thread", "any thread", "in order", "in order, %"]
    context.block("services", table(head, rows))
    context.block("check", [*check(jobs), cores(context)])
    curves = {one.name: curve(one.job) for one in jobs}
    rows = [[name, *(number(gain, 2) for gain in gains), stops(gains)] for name, gains in curves.items()]
    context.block("threads", table(["times one thread", *map(str, THREADS), "helps up to"], rows))
    groups = {"writing": ("write",), "reading": ("read",), "merging": ("merge", "recompress")}
    drawn = {
        title: {name: gains for name, gains in curves.items() if name.split()[0] in of} for title, of in groups.items()
    }
    alt = "Simulated speed-up of writing, reading and merging over 1 to 16 threads."
    context.picture("threads", alt, lambda figure: speed_ups(figure, drawn), len(drawn))


def curve(job: Job) -> list[float]:
    """How many times as fast as one thread, for a long job."""
    long = replace(job, tasks=MANY * job.lanes, before=0.0)
    one = simulated(long, 1)
    return [one / simulated(long, threads) for threads in THREADS]


def stops(gains: Sequence[float]) -> str:
    """The number of threads from which twice as many gain little; the last one if there is none."""
    small = (few for few, now, then in zip(THREADS, gains, gains[1:], strict=False) if then < GAIN * now)
    return str(next(small, f"{THREADS[-1]} and more"))


def check(jobs: Sequence[Measured]) -> list[str]:
    """The machine beside the simulation of the same job."""
    rows = []
    for one in jobs:
        walls = [simulated(one.job, threads) for threads in CHECKED]
        cells = [number(seconds, 3) for took, wall in zip(one.took, walls, strict=True) for seconds in (*took, wall)]
        gains = [number(of[0] / of[-1], 2) for of in ([wall for wall, _ in one.took], walls)]
        rows.append([one.name, *cells, *gains])
    heads = [f"{threads}: {what}" for threads in CHECKED for what in ("wall s", "CPU s", "simulated, s")]
    return [
        *table(["threads", *heads, "gain, measured", "gain, simulated"], rows),
        "",
        "The shortest of three runs each.",
    ]


def cores(context: Context) -> str:
    """How much of the machine was free, by a loop that only computes."""
    source = context.generated("multi", context.megabytes(READING, 4), "--compression", "zlib:1", "--cluster", "4MB")
    *_, last = json.loads(basketry("readspeed", source, "--json", "-q", "-j", "1,2"))["scaling"]
    return f"Two threads that only computed had {last['effective_cores']:.2f} cores meanwhile."


def speed_ups(figure: Figure, drawn: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """The simulated curves."""
    for axes, curves in zip(pictures.panels(figure, list(drawn), shared=True), drawn.values(), strict=True):
        groups = {name: list(zip(map(float, THREADS), gains, strict=True)) for name, gains in curves.items()}
        pictures.over_threads(axes, groups, "times one thread, simulated", [(n, n) for n in THREADS], "ideal")


def shortest(context: Context, *command: Argument) -> Outcome:
    """The run of a command that took least: other programs make it longer, and nothing shorter."""
    done = [run([BINARY, *command], timeout=600) for _ in range(context.repeat(3))]
    for one in done:
        if one.code:
            raise RuntimeError(str(one))
    return min(done, key=lambda one: one.wall)


def written(context: Context, container: str, codec: str, folder: Path) -> Measured:
    """A data set that is made and written: the stages of one thread, by its timeline."""
    size = context.megabytes(WRITING[codec], 4)
    options = [
        "--size",
        f"{size}MB",
        "--compression",
        codec,
        "--container",
        container,
        "--memory",
        f"{MEMORY / 1e6:.0f}MB",
    ]
    command = [
        "write-bench",
        "multi",
        *options,
        "--repeat",
        str(context.repeat(3)),
        "--media",
        str(folder),
        "--json",
        "-q",
    ]
    runs = {n: json.loads(basketry(*command, "-j", str(n), "--timeline"))["lines"][0]["runs"] for n in CHECKED}
    best = {n: min(of, key=lambda one: one["wall"]) for n, of in runs.items()}
    alone: dict[str, Any] = best[1]
    sums = dict.fromkeys(("filling", "encoding", "compressing", "writing"), 0.0)
    for stretch in alone["timeline"]:
        sums[stretch["stage"]] = sums.get(stretch["stage"], 0.0) + stretch["end"] - stretch["begin"]
    # Stretches are by the clock; other programs are not its work.
    own = min(1.0, alone["cpu"] / sum(sums.values()))
    tasks = max(1, round(alone["bytes"] / CLUSTER))
    each = {stage: own * seconds / tasks for stage, seconds in sums.items()}
    pieces = max(1, round(size * 1e6 / tasks / PIECE))
    job = Job(
        tasks, each["filling"] + each["encoding"], each["compressing"], pieces, each["writing"],
        in_flight=max(1, int(MEMORY / CLUSTER / COPIES)),
    )  # fmt: skip
    return Measured(f"write {container}, {codec}", job, tuple((best[n]["wall"], best[n]["cpu"]) for n in CHECKED))


def read(context: Context, kind: str) -> Measured:
    """A tree that is read: any thread fetches and decompresses pieces; each column is decoded in its order."""
    source = context.generated(kind, context.megabytes(READING, 4), "--compression", "zlib:1", "--cluster", "4MB")
    reports = {
        n: json.loads(basketry("readspeed", source, "--json", "-q", "-j", str(n), "--repeat", "3")) for n in CHECKED
    }
    alone = min(reports[1]["runs"], key=lambda one: one["real"])
    stages = sum(alone[stage] for stage in ("fetch", "decompress", "decode"))
    own = min(1.0, alone["cpu"] / stages)
    lanes, clusters = len(reports[1]["columns"]), reports[1]["clusters"]
    tasks = lanes * clusters
    load, decode = own * (alone["fetch"] + alone["decompress"]) / tasks, own * alone["decode"] / tasks
    runs = [min(report["runs"], key=lambda one: one["real"]) for report in reports.values()]
    took = tuple((one["real"], one["cpu"]) for one in runs)
    return Measured(f"read {kind}, zlib:1", Job(tasks, load, 0.0, 1, decode, lanes, in_flight=tasks), took)


def copied(context: Context, folder: Path) -> list[Measured]:
    """Files that are merged, and one that is compressed anew: what is not reading has an order, but for the codec."""
    source = context.generated("nano", context.megabytes(MERGING, 4), "--compression", "zlib:1")
    out, size = folder / "out.root", source.stat().st_size
    reading = min(bytes_read(source) for _ in range(context.repeat(3)))
    done: dict[str, list[Outcome]] = {}
    ways: dict[str, list[Argument]] = {
        "merge nano": ["merge", source, source],
        "recompress nano, zstd:5": ["rewrite", source, "--compression", "zstd:5"],
    }
    for name, command in ways.items():
        done[name] = [shortest(context, *command, "-o", out, "-f", "-q", "-j", str(n)) for n in CHECKED]
    merge, recompress = (of[0] for of in done.values())
    planned = shortest(context, *ways["merge nano"], "-o", out, "-f", "-q", "--dry-run").cpu
    tasks = max(1, round(size / CLUSTER))
    copy = max(0.0, merge.cpu - planned - 2 * reading) / tasks / 2
    packed = max(0.0, recompress.cpu - planned - reading) / tasks - copy
    jobs = [
        Job(2 * tasks, reading / tasks, 0.0, 1, copy, before=planned),
        Job(tasks, reading / tasks, max(0.0, packed), round(CLUSTER / PIECE), copy, before=planned),
    ]
    took = [tuple((one.wall, one.cpu) for one in of) for of in done.values()]
    return [Measured(name, job, wall) for name, job, wall in zip(done, jobs, took, strict=True)]


def bytes_read(path: Path) -> float:
    """Seconds of CPU that the kernel takes to copy a file out of the page cache."""
    buffer, begun = bytearray(1 << 20), time.process_time()
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.process_time() - begun
