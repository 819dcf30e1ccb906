"""The verbs for thousands of files as functions: `check`, `fileset`, and `plan`, `run_task` and `collect`, which turn
one verb into tasks for a batch system. Arguments and errors are those of `files`."""

from __future__ import annotations

import collections.abc
import os
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core import expand, report
from .._shared.signatures import spelled
from .calling import ALL_CORES, as_options, as_paths, called, watched_report
from .options import AnyVerb, Limits, Trying

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports import Checked, Collected, Fileset, Jobs, TaskState
    from .options import Place, Places, Size


class Planning(Limits, total=False):
    """Options of `plan` itself, beside `force` and `skip_bad`."""

    target_size: Size | None
    target_events: int | None
    name: str | None
    files_per_task: int | None
    sample: int | None
    submit: str | None


class Planned(Planning, AnyVerb, total=False):
    """Options of `plan`, and of the verb."""


class PlannedSweep(Planning, Trying, total=False):
    """Options of `plan("sweep")`. The grid is that of the command, "basket=2kB,32kB"."""

    grid: str
    skip_bad: bool
    force: bool


class Checking(Limits, total=False):
    """Options of `check`."""

    deep: bool


class Surveying(Limits, total=False):
    """Options of `fileset`, without the output."""

    tree: str | None
    dataset: str
    step_size: int | None
    split_clusters: bool
    skip_bad: bool
    force: bool


@spelled(Checking, defaults=ALL_CORES)
def check(files: Places, *, progress: Progress = None, **options: Unpack[Checking]) -> Checked:
    """Whether files are whole and readable; `Checked.whole` is the answer for all of them. Damage is not an error.

    The metadata of each file are read: keys, streamer infos, trees, RNTuples with their checksums, headers of baskets.
    With `deep` every basket, page and object is decompressed, too. `CheckedFile.problems` names what is broken.
    `threads` (0: all cores) and `memory` (bytes, for decompressed data) are limits of the work. `progress` is that of
    `rewrite`; it counts bytes with `deep`.
    """
    from ..reports.surveying import Checked

    paths = as_paths(files)
    return called(Checked, "check", options, Checking, paths, progress, read=paths)


@spelled(Surveying, defaults=ALL_CORES | {"dataset": "dataset"})
def fileset(
    files: Places | Mapping[str, Places],
    output: Place | None = None,
    *,
    progress: Progress = None,
    **options: Unpack[Surveying],
) -> Fileset:
    """The fileset of data sets in the format of coffea's `preprocess`, with steps that end where clusters end;
    `Fileset.fileset` is what coffea takes.

    `files` are files of one data set, named `dataset`, or a mapping from names of data sets to their files. Steps have
    at least `step_size` entries, 100,000 by default; with `split_clusters` they have nearly the same size. `skip_bad`
    leaves out files that cannot be read: `Fileset.skipped` lists them. `output` is a JSON file to write, as well; an
    existing one is a `FileExistsError` without `force`. `tree` is the path of the tree in files that name none.
    `threads` (0: all cores) and `memory` (bytes) are limits of the work. `progress` is that of `rewrite`; it counts
    files.
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
def plan(verb: str, inputs: Places, output: Place, **options: Unpack[Planned]) -> Jobs: ...
@spelled(Planning, AnyVerb, PlannedSweep, defaults={"threads": 1})
def plan(verb: str, inputs: Places, output: Place, **options: Any) -> Jobs:
    """Plans one verb over many files as tasks, and writes the plan to the file `output`.

    verb: "merge" (into outputs of `target_size` or `target_events`), "rewrite", "convert", "verify", "check",
    "readspeed", "tune" or "sweep". name: a pattern for outputs, with {n} and {stem}. files_per_task: of "check" and
    "readspeed". sample: files that "tune" measures now. submit: "htcondor" or "slurm", to write a submit file too.
    skip_bad: leave out damaged inputs of "merge" and "tune"; `Jobs.bad` lists them. force: replace an existing plan,
    and let tasks replace existing outputs.
    threads, memory: limits of each task, memory in bytes or as "2GB". Other options are those of the verb.
    """
    from ..reports.parse import parse
    from ..reports.tasks import Jobs

    own = {name: options.pop(name) for name in (*Planning.__annotations__, "skip_bad", "force") if name in options}
    words = ["plan", "--json", *as_options({"output": output, **own}), verb, *as_paths(inputs)]
    return parse(Jobs, report([*words, "--", *as_options(options)]))


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
    from ..reports.parse import parse
    from ..reports.tasks import TaskState

    options = as_options({"task": n, "again": again, "threads": threads, "memory": memory})
    return parse(TaskState, watched_report(["run", "--json", *options, "--", os.fspath(jobs)], progress, None, "it"))


def collect(jobs: Place) -> Collected:
    """What became of the tasks of a plan: done, failed and missing ones, all outputs, and all bad inputs."""
    from ..reports.parse import parse
    from ..reports.tasks import Collected

    return parse(Collected, report(["collect", "--json", "--", os.fspath(jobs)]))
