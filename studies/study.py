"""The common part of the studies: their list, their inputs, sweeps by basketry and by ROOT, and the measured tables."""

import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from measure import machine
from referee.paths import BINARY, REPO, root_command
from studies import pictures

Study = Callable[["Context"], None]
STUDIES: dict[str, Study] = {}

#: The folder of the pages.
PAGES = REPO / "docs" / "studies"
#: The page beside this folder that quotes some of their tables.
FIGURES = "figures.md"
#: Their pictures, in this folder beside them.
PICTURES = "pictures"
BASKETRY = "basketry"
NATIVE = Path(__file__).resolve().parent / "native"


def study(function: Study) -> Study:
    """Registers a study under its function's name, which is also the name of its page."""
    STUDIES[function.__name__] = function
    return function


@dataclass(frozen=True)
class Point:
    """One point of a sweep: its settings, and the figures of docs/sweep-schema.md."""

    name: str
    settings: dict[str, str]
    figures: dict[str, dict[str, float]]

    def of(self, figure: str) -> float:
        """The median of a figure; NaN if it was not measured."""
        return self.figures.get(figure, {}).get("median", math.nan)


@dataclass(frozen=True)
class Spread:
    """How much the repeats of a measurement differ."""

    runs: int
    #: Half of the difference between the largest and the smallest, as a share of the median.
    share: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Self:
        """Of all runs."""
        return cls(len(samples), half(min(samples), max(samples), statistics.median(samples)))


def half(least: float, most: float, middle: float) -> float:
    """Half of a spread, as a share of the median."""
    return (most - least) / 2 / middle if middle else 0.0


@dataclass(frozen=True)
class Series:
    """One sweep: its runner, its points, and the whole output of `sweep --json`."""

    who: str
    points: list[Point]
    result: dict[str, Any]

    def spreads(self, figure: str) -> list[Spread]:
        """How much the runs of a figure differ, at each point."""
        found = (point.figures[figure] for point in self.points if figure in point.figures)
        return [Spread(int(one["runs"]), half(one["least"], one["most"], one["median"])) for one in found]

    def at(self, name: str | None = None, **settings: str | int) -> Point:
        """The point of that name, or the only one with these settings (a key's `-` is `_`)."""
        wanted = {key.replace("_", "-"): str(value) for key, value in settings.items()}
        found = [
            point
            for point in self.points
            if (name is None or point.name == name)
            and all(point.settings.get(key) == value for key, value in wanted.items())
        ]
        if len(found) != 1:
            raise LookupError(f"{len(found)} points are {name or ''} {wanted}")
        return found[0]


class Context:
    """The inputs of a study, its output and its results."""

    def __init__(self, folder: Path, scale: float, quick: bool, root: Path | None) -> None:
        self.folder = folder
        self.scale = scale
        self.quick = quick
        #: The folder of ROOT, if ROOT is measured as well.
        self.root = root
        self.study = ""
        #: The run of the study: all tables and pictures of its page have it.
        self.run = ""
        self.results: dict[str, Any] = {}

    def begin(self, name: str) -> None:
        """Starts a study: its folder, and its results with the machine."""
        self.study = name
        facts = machine()
        self.run = f"{name} {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {facts['commit']}"
        self.results = {"schema": 1, "study": name, "scale": self.scale, "quick": self.quick, "machine": facts}
        self.results |= {"run": self.run, "root": root_version(self.root), "series": {}, "blocks": {}, "faults": []}
        self.out.mkdir(parents=True, exist_ok=True)

    @property
    def out(self) -> Path:
        """The folder of this study's results."""
        return self.folder / self.study

    @property
    def runners(self) -> list[str]:
        """The runners of sweeps."""
        return [BASKETRY, "root"] if self.root else [BASKETRY]

    def megabytes(self, full: float, quick: float = 1) -> int:
        """Size of an input, from its size at scale 1; small in the quick form."""
        return max(1, round(quick if self.quick else full * self.scale))

    def repeat(self, full: int) -> int:
        """Repeats of a job; one in the quick form."""
        return 1 if self.quick else full

    def say(self, *lines: str) -> None:
        """Prints Markdown."""
        for line in lines:
            print(line, flush=True)

    def block(self, key: str, lines: Sequence[str]) -> None:
        """A measured table: printed, kept, and put between the marks of that key in the study's page."""
        self.results["blocks"][key] = list(lines)
        self.say("", f"<!-- {key} -->", *lines)

    def blocks(self, key: str, done: Sequence[Series], lines: Callable[[Series], list[str]]) -> None:
        """A table for each runner, `key-basketry` and `key-root`; a message for a runner that failed."""
        found = {BASKETRY if series.who == BASKETRY else "root": series for series in done}
        for runner in (BASKETRY, "root"):
            of = found.get(runner)
            self.block(f"{key}-{runner}", [f"{of.who}:", "", *lines(of)] if of else ["ROOT was not measured."])

    def picture(self, key: str, alt: str, drawing: pictures.Drawing, panels: int = 1) -> None:
        """A picture, and the block `picture-KEY` that shows it; `alt` is what it says to those who do not see it."""
        drawn, wrong = pictures.draw(self.out / PICTURES, f"{self.study}-{key}", drawing, panels, self.run)
        self.results["faults"] += [f"{self.study}-{key}: {fault}" for fault in wrong]
        self.block(f"picture-{key}", pictures.markdown(PICTURES, drawn, alt))

    def keep(self, key: str, value: Any) -> None:
        """Adds something to the results."""
        self.results[key] = value

    def generated(self, kind: str, megabytes: int, *options: str, label: str = "") -> Path:
        """A file of `basketry generate`, made once for each binary."""
        stat = BINARY.stat()
        name = "-".join(filter(None, [kind, f"{megabytes}MB", label, f"{stat.st_mtime_ns:x}"[-8:]]))
        path = self.folder / "inputs" / f"{name}.root"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            command: list[str | Path] = ["generate", kind, "--size", f"{megabytes}MB", *options, "-q", "-o", path]
            basketry(*command)
        return path

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder for files that are not kept, whatever happens."""
        folder = self.out / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(
        self, label: str, source: Path, *options: str | Path, runner: str = BASKETRY, today: str = "today"
    ) -> Series:
        """Runs `basketry sweep` from the beginning, and keeps its folder as `label-runner`.

        `today` is the name of the layout that the study compares with. Its grid names that point `today`, so that the
        sweep does not measure the input's own layout as well.
        """
        folder = self.out / f"{label}-{runner}"
        shutil.rmtree(folder, ignore_errors=True)
        command: list[str | Path] = ["sweep", source, "-o", folder, *options, "--runner", runner, "--json", "-q"]
        result = json.loads(basketry(*command, env={"ROOTSYS": str(self.root)} if self.root else None))
        # The input's own layout is no point of the studies.
        result["lines"] = [line for line in result["lines"] if not line["point"].get("baseline")]
        points = []
        for line in result["lines"]:
            settings = {each["key"]: each["value"] for each in line["point"]["settings"]}
            if line["point"].get("name") == "today":
                line["point"]["name"] = today
            points.append(Point(line["point"].get("name", ""), settings, line["figures"]))
        who = BASKETRY if runner == BASKETRY else f"ROOT {result['head']['versions']['root']}"
        self.results["series"][f"{label}-{runner}"] = result
        return Series(who, points, result)

    def sweeps(self, label: str, source: Path, *options: str | Path, today: str = "today") -> list[Series]:
        """The sweep by every runner; a runner that fails prints the reason and is left out."""
        done = []
        for runner in self.runners:
            try:
                done.append(self.sweep(label, source, *options, runner=runner, today=today))
            except RuntimeError as error:
                if runner == BASKETRY:
                    raise
                self.say(f"ROOT did not do {label}: {error}")
        return done

    def finish(self, seconds: float) -> None:
        """Prints the machine, and writes the results."""
        facts, root = self.results["machine"], self.results["root"]
        words = (
            f"{facts['cpu']}, {facts['cores']} cores, Linux {facts['kernel'].split('-')[0]}, commit {facts['commit']}, "
        )
        words += f"{'ROOT ' + root if root else 'without ROOT'}, SCALE={self.scale:g}"
        self.results["seconds"] = seconds
        for fault in self.results["faults"]:
            print(f"picture {fault}", file=sys.stderr)
        words += f"{' (quick form)' if self.quick else ''}; {seconds:.0f} s in all. Run: {self.run}."
        self.block("machine", [words])
        (self.out / "results.json").write_text(json.dumps(self.results, indent=1))


def basketry(*arguments: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Runs the command under test, which must succeed; `env` is added to its environment."""
    command = [str(word) for word in (BINARY, *arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | dict(env or {}))
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def root_home() -> Path | None:
    """The folder of ROOT, if it can be measured here (it needs g++); prints the reason otherwise."""
    try:
        home = root_command("root").parents[1]
    except FileNotFoundError as error:
        print(f"without ROOT: {error}", file=sys.stderr)
        return None
    if shutil.which("g++") is None:
        print("without ROOT: there is no g++", file=sys.stderr)
        return None
    return home


def compiled(folder: Path, name: str) -> Path:
    """A library of studies/native, to be preloaded: one makes storage slow, one leaves holes for zeros."""
    source, library = NATIVE / f"{name}.cxx", folder / f"{name}.so"
    command: list[str | Path] = ["g++", "-O2", "-std=c++17", "-fPIC", "-shared", "-o", library, source, "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{source.name}: {done.stderr}")
    return library


def root_version(home: Path | None) -> str:
    """The version of ROOT; empty without it."""
    if home is None:
        return ""
    header = (home / "include" / "ROOT" / "RVersion.hxx").read_text()
    parts = [re.search(rf"#define ROOT_VERSION_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    return "{}.{:0>2}.{:0>2}".format(*(part[1] if part else "?" for part in parts))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table: words at the left, figures at the right."""
    sides = ["---" if column == 0 else "--:" for column in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, sides, *rows)]


def noise(found: Mapping[str, Iterable[Spread]]) -> list[str]:
    """The sentence under a table: how often its figures were measured, and how much the runs differ."""
    spreads = {what: list(of) for what, of in found.items()}
    runs = sorted({one.runs for of in spreads.values() for one in of})
    if not runs:
        return []
    if runs[-1] == 1:
        return ["", "One run each."]
    words = []
    for what, of in spreads.items():
        shares = [100 * one.share for one in of if one.runs > 1]
        words += [f"{what} {statistics.median(shares):.1f} % ({max(shares):.1f} %)"] if shares else []
    times = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    return ["", f"Medians of {times} runs; half their spread, typically (at most): {', '.join(words)}."]


def swept(done: Iterable[Series], *figures: str) -> list[str]:
    """The sentence under a table of sweeps."""
    return noise({f"{series.who}: {figure}": series.spreads(figure) for series in done for figure in figures})


def mb(size: float, digits: int = 1) -> str:
    """Megabytes (10^6)."""
    return number(size / 1e6, digits)


def number(value: float, digits: int = 1) -> str:
    """A figure, or a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def quoted(page: str, rows: str, lines: Sequence[str]) -> list[str]:
    """The table of a block with these rows alone: `rows` are the beginnings of their first cells, with ; between them;
    all rows if nothing is named. A row that is missing is a LookupError that names the page.
    """
    found = [line for line in lines if line.startswith("|")]
    wanted = [one.strip() for one in rows.split(";") if one.strip()]
    kept = [line for line in found[2:] if not wanted or any(line.startswith(f"| {one}") for one in wanted)]
    missing = [one for one in wanted if not any(line.startswith(f"| {one}") for line in kept)]
    if missing:
        raise LookupError(f"the table of {page} has no row {missing[0]!r}")
    return [*found[:2], *kept]


def quote(text: str, name: str, blocks: Mapping[str, Sequence[str]]) -> str:
    """A page whose tables between `<!-- quoted: STUDY KEY: ROWS -->` and `<!-- end -->` are those of a study."""
    mark = re.compile(rf"(<!-- quoted: {re.escape(name)} ([^ :]+): ?([^\n]*?) -->\n).*?(<!-- end -->)", re.DOTALL)

    def anew(found: re.Match[str]) -> str:
        rows = "\n".join(quoted(name, found[3], blocks[found[2]]))
        return f"{found[1]}\n{rows}\n\n{found[4]}"

    return mark.sub(anew, text)


def publish(folder: Path, name: str, blocks: dict[str, list[str]], drawn: Path) -> None:
    """Puts the tables between their marks in the study's page and where figures.md quotes them, and the pictures beside
    the page; changes nothing else.
    """
    figures = folder.parent / FIGURES
    if figures.exists():
        figures.write_text(quote(figures.read_text(), name, blocks))
    page = folder / f"{name}.md"
    (folder / PICTURES).mkdir(exist_ok=True)
    for picture in sorted(drawn.glob("*.svg")):
        shutil.copy(picture, folder / PICTURES)
    text = page.read_text()
    for key, lines in blocks.items():
        mark = re.compile(rf"(<!-- measured: {re.escape(key)} -->\n).*?(<!-- end -->)", re.DOTALL)
        measured = "\n".join(lines)
        text, found = mark.subn(lambda marks, measured=measured: f"{marks[1]}\n{measured}\n\n{marks[2]}", text)  # type: ignore[misc]
        if found != 1:
            raise LookupError(f"{page} has {found} places for {key!r}")
    page.write_text(text)
