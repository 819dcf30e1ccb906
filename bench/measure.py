"""Runs contenders in turns (A B A B ...), keeps every sample, and records the machine."""

import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from referee.command import Argument, Outcome, run
from referee.paths import BINARY, REPO

ROUNDS = 5
SCRATCH = REPO / "build" / "bench" / "out"
READERS = Path(__file__).with_name("readers.py")
WRITERS = Path(__file__).with_name("writers.py")


@dataclass
class Contender:
    """One way of doing the job; its outputs are deleted before each run."""

    name: str
    command: Sequence[Argument]
    outputs: Sequence[Path] = ()
    #: Reads wall and CPU seconds from the program's own output, if its start shall not count.
    clock: Callable[[str], tuple[float, float]] | None = None
    samples: list[Outcome] = field(default_factory=list)
    size: int = 0

    def once(self) -> None:
        """One timed run, which must succeed."""
        for output in self.outputs:
            output.unlink(missing_ok=True)
        outcome = run(self.command, timeout=1800)
        if outcome.code != 0:
            raise RuntimeError(str(outcome))
        if self.clock:
            wall, cpu = self.clock(outcome.out)
            outcome = replace(outcome, wall=wall, cpu=cpu)
        self.samples.append(outcome)
        self.size = sum(output.stat().st_size for output in self.outputs)
        for output in self.outputs:
            output.unlink(missing_ok=True)

    def median(self, of: Callable[[Outcome], float]) -> float:
        """The median over the runs."""
        return statistics.median(of(sample) for sample in self.samples)

    @property
    def cpu(self) -> float:
        """Median CPU seconds, user and system."""
        return self.median(lambda sample: sample.cpu)

    @property
    def wall(self) -> float:
        """Median seconds."""
        return self.median(lambda sample: sample.wall)

    @property
    def peak(self) -> float:
        """Median peak RSS in MB (10^6 bytes)."""
        return self.median(lambda sample: sample.peak_rss / 1e6)

    def record(self) -> dict[str, Any]:
        """Everything, for the JSON."""
        return {
            "name": self.name,
            # The command, or the Python package, which READERS and WRITERS are told by name.
            "ours": BINARY in self.command or "basketry" in self.command,
            "command": [str(word) for word in self.command],
            "output_bytes": self.size,
            "cpu": [sample.cpu for sample in self.samples],
            "wall": [sample.wall for sample in self.samples],
            "peak_rss": [sample.peak_rss for sample in self.samples],
            "page_faults": [sample.page_faults for sample in self.samples],
        }


def compare(contenders: Iterable[Contender], rounds: int = ROUNDS) -> list[Contender]:
    """Interleaves the contenders; a contender that fails is left out, with its reason on stderr."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    left = list(contenders)
    for _ in range(rounds):
        for contender in list(left):
            try:
                contender.once()
            except RuntimeError as error:
                print(f"{contender.name}: {error}", flush=True)
                left.remove(contender)
    return left


def inside(out: str) -> tuple[float, float]:
    """The clock of native/clock.h and readers.py."""
    return _two(r"^inside (\S+) (\S+)$", out)


def rootreadspeed_clock(out: str) -> tuple[float, float]:
    """The times that rootreadspeed prints."""
    return _two(r"Real time:\s+(\S+) s.*?CPU time:\s+(\S+) s", out)


def _two(pattern: str, out: str) -> tuple[float, float]:
    found = re.search(pattern, out, re.MULTILINE | re.DOTALL)
    if found is None:
        raise RuntimeError(f"no time in: {out}")
    return float(found[1]), float(found[2])


def reader(name: str, package: str, job: str, path: Argument, *options: str) -> Contender:
    """A read by a Python package, without its import."""
    return Contender(name, [sys.executable, READERS, package, job, path, *options], clock=inside)


def writer(package: str, path: Path, *options: str) -> Contender:
    """A write by a Python package, without its import."""
    return Contender(package, [sys.executable, WRITERS, package, path, *options], [path], clock=inside)


def basketry(name: str, *arguments: Argument, outputs: Sequence[Path] = ()) -> Contender:
    """The command under test as a contender."""
    return Contender(name, [BINARY, *arguments], outputs)


def in_page_cache(*paths: Path) -> None:
    """Reads the inputs once, so that no contender pays for the disk."""
    for path in paths:
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass


def machine() -> dict[str, Any]:
    """The machine and the versions, without which a figure is worthless."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=REPO, capture_output=True, text=True, check=False
    )
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
        "commit": commit.stdout.strip(),
    }


def table(contenders: Sequence[Contender], versus: Contender | None = None, payload: float = 0.0) -> list[str]:
    """Markdown: medians, and the CPU time as a multiple of `versus`."""
    head = ["", "cpu s", "wall s", "peak RSS MB", "output MB"]
    head += ["MB/s per cpu s"] if payload else []
    head += [f"cpu / {versus.name}"] if versus else []
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for contender in contenders:
        cells = [contender.name, f"{contender.cpu:.3f}", f"{contender.wall:.3f}", f"{contender.peak:.0f}"]
        cells.append(f"{contender.size / 1e6:.1f}")
        cells += [f"{payload / 1e6 / contender.cpu:.0f}"] if payload else []
        cells += [f"{contender.cpu / versus.cpu:.2f}"] if versus else []
        rows.append("| " + " | ".join(cells) + " |")
    return rows
