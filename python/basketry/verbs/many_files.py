"""The verbs for thousands of files as functions: `check`, `fileset`, and `plan`, `run_task` and `collect`, which turn
one verb into tasks for a batch system. Arguments and errors are those of `files`."""

from __future__ import annotations

import collections.abc
import os
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core import expand, report
from .._shared.signatures import spelled
from .calling import as_paths, as_tables, axes, called, only_known, with_layout
from .options import (
    DEFAULTS,
    AnyVerb,
    Checking,
    Converting,
    Limits,
    Making,
    Measuring,
    Merging,
    Pairing,
    Picking,
    Planning,
    Surveying,
    Sweeping,
    Trying,
    Tuned,
    Verifying,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports import Checked, Collected, Fileset, Jobs, TaskState
    from .calling import Grid
    from .options import Place, Places, Size


class Planned(Planning, AnyVerb, total=False):
    """Options of `plan`, and of the verb."""


class PlannedSweep(Planning, Trying, total=False):
    """Options of `plan("sweep")`."""

    grid: Grid
    skip_bad: bool
    force: bool


class PlannedJoin(Planning, Pairing, total=False):
    """Options of `plan("join")`."""

    others: Places | Iterable[Places]


class PlannedPick(Planning, Picking, total=False):
    """Options of `plan("pick")`."""


#: The options of the verbs that can be planned.
PLANNED: dict[str, tuple[type, ...]] = {
    "merge": (Merging,),
    "pick": (Picking,),
    "join": (Pairing, PlannedJoin),
    "rewrite": (Making,),
    "convert": (Converting,),
    "verify": (Verifying,),
    "check": (Checking,),
    "readspeed": (Measuring,),
    "tune": (Tuned,),
    "sweep": (Sweeping, PlannedSweep),
}


class Running(Limits, total=False):
    """Options of `run_task`."""

    again: bool


@spelled(Checking, defaults=DEFAULTS["check"])
def check(files: Places, *, progress: Progress = None, **options: Unpack[Checking]) -> Checked:
    """Whether files are whole and readable; `Checked.whole` is the answer for all of them. Damage is not an error.

    The metadata of each file are read: keys, streamer infos, trees, RNTuples with their checksums, headers of baskets.
    `CheckedFile.problems` names what is broken. `progress` is that of `rewrite`; it counts bytes with `deep`.

    Options:

    - `deep`: Decompress every basket, page and object.
    - `keys`: Look for entries with the same key: columns, or expressions, with commas between them. The whole numbers,
      truth values and floats of a key take 128 bits at most.
    - `skip_bad`: With `keys`, leave out whole files that lack the table or the columns of the key. They are listed.
    - `threads`, `memory`: those of `rewrite`.
    """
    from ..reports.surveying import Checked

    paths = as_paths(files)
    return called(Checked, "check", options, Checking, paths, progress, read=paths)


@spelled(Surveying, defaults=DEFAULTS["fileset"])
def fileset(
    files: Places | Mapping[str, Places],
    output: Place | None = None,
    *,
    progress: Progress = None,
    **options: Unpack[Surveying],
) -> Fileset:
    """The fileset of data sets in the format of coffea's `preprocess`, with steps that end where clusters end;
    `Fileset.fileset` is what coffea takes.

    `files` are files of one data set, named `dataset`, or a mapping from names of data sets to their files. `output` is
    a JSON file to write, as well; an existing one is a `FileExistsError` without `force`. `Fileset.skipped` lists files
    that were left out. `progress` is that of `rewrite`; it counts files.

    Options:

    - `tree`: The tree or RNTuple in all files, by its path. Default: the only one, or Events.
    - `dataset`: The name of the data set of all files that name none. Default: "dataset".
    - `step_size`: The fewest entries of a step, except for the last one of a file. Default: 100000.
    - `split_clusters`: Make steps of nearly the same size, which may end within clusters.
    - `skip_bad`: Leave out files that cannot be read. They are listed.
    - `force`, `threads`, `memory`: those of `rewrite`.
    """
    from ..reports.surveying import Fileset

    if isinstance(files, collections.abc.Mapping):
        options.pop("dataset", None)
        words = [f"{name}={path}" for name, places in files.items() for path in as_paths(places)]
        paths = [path for places in files.values() for path in as_paths(places)]
    else:
        words = paths = as_paths(files)
    number = len(expand(paths)) if progress else None
    return called(Fileset, "fileset", options, Surveying, words, progress, unit="file", total=number, output=output)


@overload
def plan(verb: Literal["sweep"], inputs: Places, output: Place, **options: Unpack[PlannedSweep]) -> Jobs: ...
@overload
def plan(verb: Literal["join"], inputs: Places, output: Place, **options: Unpack[PlannedJoin]) -> Jobs: ...
@overload
def plan(verb: Literal["pick"], inputs: Places, output: Place, **options: Unpack[PlannedPick]) -> Jobs: ...
@overload
def plan(verb: str, inputs: Places, output: Place, **options: Unpack[Planned]) -> Jobs: ...
@spelled(Planning, AnyVerb, PlannedSweep, PlannedJoin, PlannedPick, defaults=DEFAULTS["plan"])
def plan(verb: str, inputs: Places, output: Place, **options: Any) -> Jobs:
    """Plans one verb over many files as tasks, and writes the plan to the file `output`.

    verb: "merge" (into outputs of `target_size` or `target_events`), "pick" (the events of each task), "join" (ranges
    of keys with so many entries; `others` are those of `join`), "rewrite", "convert", "verify", "check",
    "readspeed", "tune" or "sweep". name: a pattern for outputs, with {n} and {stem}. files_per_task: of "check" and
    "readspeed". sample: files that "tune" measures now. submit: "htcondor" or "slurm", to write a submit file too.
    skip_bad: leave out damaged inputs of "merge" and "tune"; `Jobs.bad` lists them. force: replace an existing plan,
    and let tasks replace existing outputs.
    threads, memory: limits of each task, memory in bytes or as "2GB". Other options are those of the verb; `grid` is
    that of `sweep`.
    """
    from ..reports.parse import parse
    from ..reports.tasks import Jobs

    own = {name: options.pop(name) for name in (*Planning.__annotations__, "skip_bad", "force") if name in options}
    own |= {"json": True, "output": output}
    if verb in PLANNED:
        # Of another verb the command says which there are.
        only_known(verb, options, [name for kind in PLANNED[verb] for name in kind.__annotations__])
    if "others" in options:
        options["with"] = as_tables(options.pop("others"))
    if "grid" in options:
        options["grid"] = axes(options["grid"])
    return parse(Jobs, report("plan", own, [verb, *as_paths(inputs)], planned=with_layout(options)))


def run_task(
    jobs: Place,
    n: int,
    *,
    again: bool = False,
    threads: int | None = None,
    memory: Size | None = None,
    progress: Progress = None,
) -> TaskState:
    """Runs task `n`, counted from 0, of the plan in the file `jobs`, unless it is done and its output is still the one
    it wrote; `again` runs it in any case.

    The errors of its command are raised, and kept for `collect`. `threads` and `memory` replace those of the plan.
    `progress` is that of `rewrite`; it counts what the verb counts, whose total is unknown before.
    """
    from ..reports.tasks import TaskState

    options = {"again": again, "threads": threads, "memory": memory}
    return called(TaskState, "run", options, Running, [os.fspath(jobs)], progress, unit="it", task=n)


def collect(jobs: Place) -> Collected:
    """What became of the tasks of a plan: done, failed and missing ones, all outputs, and all bad inputs."""
    from ..reports.tasks import Collected

    return called(Collected, "collect", {}, Running, [os.fspath(jobs)], None)
