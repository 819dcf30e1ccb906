"""Bottlenecks of reading: a planted case of each kind, which has to be found."""

import json
import re
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from measure import in_page_cache, inside, rootreadspeed_clock
from referee.command import run
from studies import pictures, slow_job
from studies.study import BASKETRY, Context, Spread, basketry, compiled, noise, number, study, table

THREADS = 2
#: Megabytes a second of the slow line: a share of a busy network or disk.
LINE = 25
JOB = Path(slow_job.__file__)
#: Codecs with predictions by readspeed.
CODECS = {"lz4:4", "zstd:1", "zstd:5"}
#: One cluster for any number of entries.
ALL = "1000000000"
ROOTREADSPEED = "rootreadspeed"


@dataclass(frozen=True)
class Reading:
    """One reading, measured: times in seconds, medians."""

    real: float
    cpu: float
    #: Bytes before compression.
    size: float
    #: The program's verdict.
    says: str
    #: The whole report.
    facts: dict[str, Any] = field(default_factory=dict)
    #: Real time of each run.
    runs: list[float] = field(default_factory=list)

    @property
    def busy(self) -> str:
        """Share of the time in which the threads used processors."""
        return f"{self.cpu / self.real / THREADS:.0%}"

    @property
    def speed(self) -> float:
        """Megabytes a second, before compression."""
        return self.size / 1e6 / self.real


@dataclass(frozen=True)
class Case:
    """A reading with one known bottleneck, and its remedy."""

    name: str
    #: The planted bottleneck, as readspeed names it.
    planted: str
    file: Path
    #: Steps that follow the advice, and the resulting files.
    remedies: dict[str, Path]
    columns: tuple[str, ...] = ()
    #: Limit in bytes a second, for slow storage.
    line: int = 0
    #: Seconds of a job over the same columns of a file, for a slow application.
    job: Callable[[Path], float] | None = None


@study
def bottlenecks(context: Context) -> None:
    """A planted case of each kind, beside rootreadspeed."""
    rows: dict[str, list[list[str]]] = {"diagnosis": [], "figures": [], "advice": []}
    words = []
    readers = Readers(context)
    found = {}
    spreads: dict[str, list[Spread]] = {}
    for case in cases(context):
        in_page_cache(case.file, *case.remedies.values())
        seconds = case.job(case.file) if case.job else None
        measured = readers.all(case, case.file, THREADS, seconds)
        ours = measured[BASKETRY]
        found[case.name] = {"planted": case.planted, "found": ours.says}
        said = [measured[who].says if who in measured else "-" for who in readers.names]
        rows["diagnosis"].append([case.name, case.planted, *said])
        rows["figures"] += [figures(case, who, reading, seconds) for who, reading in measured.items()]
        rows["advice"] += advice(readers, case, measured, seconds)
        for who, reading in measured.items():
            spreads.setdefault(who, []).append(Spread.of(reading.runs))
        words.append(f"- {case.name}: {ours.facts['advice']}.")
        context.results["series"][case.name] = {who: vars(reading) for who, reading in measured.items()}
    if readers.slow_line:
        line = next(case for case in cases(context) if case.line)
        check = readers.through(line.file, line.line)
        rows["figures"].append([line.name, f"{BASKETRY}, through the preloaded library", *times(check)])
    context.keep("found", found)
    context.block("diagnosis", table(["case", "planted", *readers.names], rows["diagnosis"]))
    head = ["case", "reader", "real s", "CPU s", "busy", "MB/s", "fetch s", "decompress s", "decode s"]
    context.block("figures", [*table(head, rows["figures"]), *noise(spreads)])
    head = [
        "case",
        "reader",
        "1 thread, s",
        f"{THREADS} threads, s",
        "x",
        "advice followed",
        f"{THREADS} threads, s",
        "x",
        "readspeed --layouts expected, s",
    ]
    context.block("advice", table(head, rows["advice"]))
    context.block("words", words)
    ours_of = {name: Reading(**measured[BASKETRY]) for name, measured in context.results["series"].items()}
    alt = "Thread seconds of each case by stage, as readspeed measured them."
    context.picture("stages", alt, lambda figure: stages(figure, ours_of), 1)


def cases(context: Context) -> list[Case]:
    """The files with their bottlenecks."""
    size, cluster = context.megabytes(40, 3), "1MB" if context.quick else "2MB"

    def nano(codec: str, clusters: str = cluster) -> Path:
        label = f"{codec.replace(':', '-')}-{clusters}"
        return context.generated("nano", size, "--compression", codec, "--cluster", clusters, label=label)

    def single(clusters: str) -> Path:
        options = ("--compression", "zlib:1", "--cluster", clusters, "--one-basket-per-cluster")
        return context.generated("single", context.megabytes(60, 4), *options, label=clusters)

    def multi(split: str) -> Path:
        options = ("--compression", "none", "--split-level", split, "--cluster", cluster)
        return context.generated("multi", context.megabytes(100, 12), *options, label=f"split-{split}-{cluster}")

    usual, few = nano("zlib:1"), "200kB" if context.quick else "1MB"
    return [
        Case("nothing", "decompression", usual, {"lz4:4": nano("lz4:4")}),
        Case(
            "slow storage", "storage", nano("lz4:4"), {"zstd:5": nano("zstd:5"), "lzma:7": nano("lzma:7")},
            line=LINE * 1_000_000,
        ),
        Case("heavy codec", "decompression", nano("lzma:7"), {"zstd:1": nano("zstd:1")}),
        Case(
            "slow application", "application", usual, {"lz4:4": nano("lz4:4")},
            columns=slow_job.COLUMNS, job=lambda path: job_seconds(context, path),
        ),
        Case("one cluster of one basket", "too-few-clusters", single(ALL), {f"clusters of {few}": single(few)}),
        Case("one cluster of many baskets", "decompression", nano("zlib:1", ALL), {f"clusters of {cluster}": usual}),
        Case("unsplit objects", "decoding", multi("0"), {"split": multi("99")}),
    ]  # fmt: skip


def job_seconds(context: Context, path: Path) -> float:
    """Seconds of the slow application, without its start."""
    spent = []
    for _ in range(context.repeat(3)):
        done = run([sys.executable, JOB, path], timeout=1800)
        if done.code:
            raise RuntimeError(str(done))
        spent.append(inside(done.out)[0])
    return statistics.median(spent)


class Readers:
    """Reads by basketry and, if installed, by rootreadspeed."""

    def __init__(self, context: Context) -> None:
        #: Readings are short: other work would distort a single one.
        self.repeat = 3 if context.quick else 5
        #: A line keeps its rate beside other work.
        self.line_repeat = 3
        self.root_repeat = context.repeat(5)
        self.rootreadspeed = context.root / "bin" / ROOTREADSPEED if context.root else None
        self.slow_line = compiled(context.out, "slow_line") if context.root else None

    @property
    def names(self) -> list[str]:
        """The names of the readers."""
        return [BASKETRY, ROOTREADSPEED] if self.rootreadspeed else [BASKETRY]

    def all(self, case: Case, path: Path, threads: int, job: float | None = None) -> dict[str, Reading]:
        """A file, read by each reader under the conditions of the case."""
        done = {BASKETRY: self.ours(case, path, threads, job)}
        if self.rootreadspeed:
            done[ROOTREADSPEED] = self.root(case, path, threads, job)
        return done

    def by(self, who: str, case: Case, path: Path, threads: int) -> Reading:
        """A file, read by one reader."""
        return self.ours(case, path, threads) if who == BASKETRY else self.root(case, path, threads)

    def ours(self, case: Case, path: Path, threads: int, job: float | None = None) -> Reading:
        """By basketry, which throttles the line itself."""
        return reported(self.report(case, path, threads, *([] if job is None else ["--application", str(job)])))

    def expected(self, case: Case) -> dict[str, float]:
        """Predictions of readspeed for other layouts, in seconds, from samples of the file."""
        if case.job or not CODECS.intersection(case.remedies):
            return {}
        return {
            layout["layout"]: layout["real"] for layout in self.report(case, case.file, THREADS, "--layouts")["layouts"]
        }

    def report(self, case: Case, path: Path, threads: int, *options: str) -> dict[str, Any]:
        """The report of readspeed with the storage and columns of the case."""
        given = [*options, *(["--throttle", str(case.line)] if case.line else [])]
        given += ["--branches", *case.columns] if case.columns else []
        report = basketry("readspeed", path, "-j", str(threads), "--json", *given, "--repeat", self.repeats(case))
        return dict(json.loads(report))

    def repeats(self, case: Case) -> str:
        """Number of repeats of basketry."""
        return str(self.line_repeat if case.line else self.repeat)

    def root(self, case: Case, path: Path, threads: int, job: float | None = None) -> Reading:
        """By rootreadspeed, with the slow line preloaded."""
        assert self.rootreadspeed is not None
        command: list[str | Path] = [self.rootreadspeed, "--files", path, "--trees", "Events"]
        command += ["--threads", str(threads), *(["--branches", *case.columns] if case.columns else ["--all-branches"])]
        runs = []
        for _ in range(min(self.root_repeat, self.line_repeat) if case.line else self.root_repeat):
            done = run(command, timeout=1800, env=self.line(path, case.line) if case.line else None)
            if done.code:
                raise RuntimeError(str(done))
            runs.append((*rootreadspeed_clock(done.out), done.out))
        real, cpu, out = sorted(runs)[len(runs) // 2]
        size = re.search(r"Uncompressed data read:\s+(\d+)", out)
        says = re.search(r"Reading data is (?:likely )?(.*)\.$", out, re.MULTILINE)
        said = says[1] if says else "-"
        if job is not None:
            # Its help asks the user to compare.
            said += f"; application, by its help: {job:.2f} s against {real:.2f} s" if job > 1.5 * real else ""
        return Reading(real, cpu, float(size[1]) if size else 0.0, said, {"out": out}, [run[0] for run in runs])

    def line(self, path: Path, bytes_a_second: int) -> dict[str, str]:
        """The environment that gives a program a slow line to the file."""
        return {"LD_PRELOAD": str(self.slow_line), "LINE_FILE": str(path), "LINE_BYTES": str(bytes_a_second)}

    def through(self, path: Path, bytes_a_second: int) -> Reading:
        """By basketry with the same preloaded line."""
        options = ("-j", str(THREADS), "--json", "--repeat", str(self.line_repeat))
        return reported(json.loads(basketry("readspeed", path, *options, env=self.line(path, bytes_a_second))))


def reported(report: dict[str, Any]) -> Reading:
    """A report of readspeed as a reading."""
    median = report["median"]
    return Reading(
        median["real"],
        median["cpu"],
        report["uncompressed"],
        report["bottleneck"],
        report,
        [run["real"] for run in report["runs"]],
    )


def times(reading: Reading) -> list[str]:
    """Times, and stages if known."""
    median = reading.facts.get("median")
    stages = [number(median[stage], 3) if median else "" for stage in ("fetch", "decompress", "decode")]
    return [number(reading.real, 3), number(reading.cpu, 3), reading.busy, number(reading.speed, 0), *stages]


def stages(figure: Figure, found: dict[str, Reading]) -> None:
    """Shares of the stages of reading in each case."""
    (axes,) = pictures.panels(figure, ["where the threads' time goes"])
    kinds = ("fetch", "decompress", "decode")
    spent = {name: [reading.facts["median"][stage] for stage in kinds] for name, reading in found.items()}
    names = [f"{name}: {reading.says}, {sum(spent[name]):.3f} s" for name, reading in found.items()]
    parts = {stage: [100 * of[place] / (sum(of) or 1.0) for of in spent.values()] for place, stage in enumerate(kinds)}
    pictures.stacked(axes, names, parts, "% of the seconds of all threads")


def figures(case: Case, who: str, reading: Reading, job: float | None) -> list[str]:
    """A line of the table of measurements."""
    name = case.name + (f" ({job:.2f} s)" if job is not None else "")
    return [name, who, *times(reading)]


def advice(readers: Readers, case: Case, measured: dict[str, Reading], job: float | None) -> list[list[str]]:
    """The effect of threads and of the advised layouts, on the job if there is one."""
    rows, expected = [], readers.expected(case)
    alone = {} if case.job else {who: readers.by(who, case, case.file, 1).real for who in measured}
    for label, mended in case.remedies.items():
        if case.job and job is not None:
            after = case.job(mended)
            rows.append(
                [case.name, "the job", number(job, 3), "", "", label, number(after, 3), times_faster(job, after), ""]
            )
            continue
        for who, two in measured.items():
            after = readers.by(who, case, mended, THREADS).real
            cells = [number(alone[who], 3), number(two.real, 3), times_faster(alone[who], two.real)]
            cells += [label, number(after, 3), times_faster(two.real, after)]
            known = number(expected[label], 3) if who == BASKETRY and label in expected else ""
            rows.append([case.name, who, *cells, known])
    return rows


def times_faster(before: float, after: float) -> str:
    """The speed-up."""
    return f"{before / after:.2f}"
