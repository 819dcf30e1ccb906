"""The figures of `make bench` over commits.

Each run leaves its samples in a dated file (`Writer`). `read` takes the files of a folder, and `moves` says what moved
from run to run on the same machine. Runs of different machines are never compared. `history_page` draws them.
"""

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: The version of the files, in their first line.
SCHEMA = 1
#: Figures of a contender, with the names of their samples in the files.
FIGURES = ("cpu", "peak_rss", "output_bytes")
#: A median that differs by less never counts as moved.
LEAST = {"cpu": 0.03, "peak_rss": 0.05, "output_bytes": 0.001}


class Writer:
    """The file of a run. A run that is stopped keeps the jobs that it has done."""

    def __init__(self, folder: Path, machine: Mapping[str, Any], *, quick: bool) -> None:
        now = datetime.now(UTC)
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{now:%Y-%m-%dT%H%M%SZ}-{machine['commit'] or 'unknown'}.jsonl"
        head = {"schema": SCHEMA, "date": f"{now:%Y-%m-%dT%H:%M:%SZ}", "machine": dict(machine), "quick": quick}
        self._line(head)

    def add(self, section: str, label: str, records: Iterable[Mapping[str, Any]]) -> None:
        """The samples of contenders that ran in turns."""
        for record in records:
            self._line({"section": section, "label": label} | dict(record))

    def _line(self, value: Mapping[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(value) + "\n")


@dataclass(frozen=True)
class Job:
    """What one contender did, by section, label and name."""

    section: str
    label: str
    name: str


@dataclass
class Run:
    """A run: where, when and of which commit, and the samples of each job by figure."""

    date: str
    commit: str
    machine: str
    samples: dict[Job, dict[str, list[float]]] = field(default_factory=dict)
    #: Jobs of the command under test.
    ours: set[Job] = field(default_factory=set)

    def median(self, job: Job, figure: str) -> float:
        """The median of a figure; NaN if it was not measured."""
        found = self.samples.get(job, {}).get(figure, [])
        return statistics.median(found) if found else math.nan


@dataclass(frozen=True)
class Move:
    """A figure that changed from one run to the next by more than its noise."""

    job: Job
    figure: str
    before: Run
    after: Run
    #: After over before, without the change of the machine's speed.
    ratio: float
    #: How many times as long the rivals take as before: the change of the machine's speed.
    machine: float = 1.0


def read(paths: Iterable[Path]) -> list[Run]:
    """The runs of these files, oldest first. Quick runs are left out: they show that a job works, not how fast.

    Raises ValueError for a file of another form, naming the file and the line.
    """
    runs = []
    for path in paths:
        run = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                value = json.loads(line)
                if run is None:
                    run = _begun(value)
                    if run is None:
                        break
                else:
                    _add(run, value)
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise ValueError(f"{path}: line {number} is not of a run's history: {error!r}") from error
        runs += [run] if run and run.samples else []
    return sorted(runs, key=lambda run: run.date)


def _begun(head: Mapping[str, Any]) -> Run | None:
    """The run of a first line, or nothing if it was a quick one."""
    if head["schema"] != SCHEMA:
        raise KeyError(f"schema {head['schema']}, not {SCHEMA}")
    machine = head["machine"]
    # The kernel and the load may change; what is compared with what must not.
    return (
        None if head["quick"] else Run(head["date"], machine["commit"], f"{machine['cpu']}, {machine['cores']} cores")
    )


def _add(run: Run, value: Mapping[str, Any]) -> None:
    job = Job(value["section"], value["label"], value["name"])
    size = float(value["output_bytes"])
    run.samples[job] = {
        "cpu": [float(one) for one in value["cpu"]],
        "peak_rss": [float(one) for one in value["peak_rss"]],
        "output_bytes": [size] if size else [],
    }
    if value["ours"]:
        run.ours.add(job)


def moves(runs: Sequence[Run]) -> list[Move]:
    """What moved from run to run; each job is compared with the run before that has it, of the same machine, and with
    the run in which the figure last moved.

    A figure moved if all samples of one run are above all of the other, and the medians differ by more than `LEAST`.
    With five samples each this happens by chance in 1 of 126 comparisons. CPU times are divided by the change of
    the rivals of the same section, or of all where it has none. Their programs stay the same: it is the machine that
    changed. How far that change is in doubt is added to `LEAST`.
    """
    found = []
    last: dict[tuple[str, Job], Run] = {}
    #: Where a figure last moved, or began: what creeps in small steps has moved since then.
    since: dict[tuple[str, Job, str], Run] = {}
    for run in runs:
        for job in sorted(run.ours, key=lambda job: (job.section, job.label, job.name)):
            before = last.get((run.machine, job))
            for figure in FIGURES:
                at = (run.machine, job, figure)
                move = before and (_moved(job, figure, before, run) or _moved(job, figure, since.get(at, before), run))
                found += [move] if move else []
                if move or (at not in since and run.samples[job][figure]):
                    since[at] = run
            last[run.machine, job] = run
    return found


def _moved(job: Job, figure: str, before: Run, after: Run) -> Move | None:
    shift, doubt = _shift(before, after, job) if figure == "cpu" else (1.0, 0.0)
    old = [shift * one for one in before.samples[job][figure]]
    new = after.samples[job][figure]
    if not old or not new or statistics.median(old) == 0:
        return None
    ratio = statistics.median(new) / statistics.median(old)
    apart = min(new) > max(old) or max(new) < min(old)
    if apart and abs(ratio - 1) > LEAST[figure] + doubt:
        return Move(job, figure, before, after, ratio, shift)
    return None


def _shift(before: Run, after: Run, job: Job) -> tuple[float, float]:
    """How many times as long the rivals take as before, and how far that is in doubt; 1 if there are none."""
    rivals = [one for one in after.samples if one not in after.ours and before.median(one, "cpu") > 0]
    rivals = [one for one in rivals if one.section == job.section] or rivals
    if not rivals:
        return 1.0, 0.0
    doubts = [_doubt(before.samples[one]["cpu"]) + _doubt(after.samples[one]["cpu"]) for one in rivals]
    ratios = [after.median(one, "cpu") / before.median(one, "cpu") for one in rivals]
    return statistics.median(ratios), statistics.median(doubts) / math.sqrt(len(rivals))


def _doubt(samples: Sequence[float]) -> float:
    """About how far a median is in doubt, as a share of it."""
    middle = statistics.median(samples)
    return (max(samples) - min(samples)) / 2 / middle / math.sqrt(len(samples)) if middle else 0.0
