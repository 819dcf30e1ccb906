"""Reports of `plan`, `run_task` and `collect`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Task(Shown):
    """A task: one command."""

    n: int
    """Its number."""
    verb: str
    """The verb of its command."""
    args: tuple[str, ...]
    """All arguments of the command, the verb first."""
    inputs: tuple[str, ...]
    """The inputs."""
    output: Path | None
    """The output, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BadInput(Shown):
    """An input that cannot be read, or is damaged."""

    path: str
    """The file."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Jobs(Shown):
    """A plan."""

    schema: int
    """Version of the plan."""
    verb: str
    """The verb that was planned."""
    tasks: tuple[Task, ...]
    """The tasks, numbered from 0."""
    bad: tuple[BadInput, ...]
    """Inputs that are in no task because they cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TaskOutput(Shown):
    """What tells an output from another one."""

    path: Path
    """The file or folder."""
    bytes: int
    """Its size; 0 for a folder."""
    uuid: str | None
    """The UUID of a ROOT file."""
    modified: int | None
    """The last change of another file, in nanoseconds from 1970."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TaskState(Shown):
    """The state of a task that has run."""

    schema: int
    """Version of the state."""
    n: int
    """The number of the task."""
    args: tuple[str, ...]
    """The arguments of the command. A plan with other arguments is another task."""
    state: Literal["started", "done", "failed"]
    """How it ended. "started": it runs, or was killed. "done": the work was done. "failed": the command failed."""
    whole: bool
    """Whether the answer of the command was yes (exit code 0)."""
    reason: str | None
    """The error of a command that failed."""
    seconds: float
    """Time of the command by the clock."""
    output: TaskOutput | None
    """The output, known from the moment before it gets its name."""
    earlier: TaskOutput | None
    """The output of an earlier run, which may be there until this one's replaces it."""
    runner: str | None
    """Process and machine of the run."""
    report: Any
    """The JSON report of the command."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Failure(Shown):
    """A task that failed, or whose state cannot be read."""

    n: int
    """The number of the task."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Collected(Shown):
    """The report on all tasks."""

    schema: int
    """Version of the report."""
    verb: str
    """The verb that was planned."""
    whole: bool
    """Whether all tasks are done with the answer yes, and no input is bad."""
    tasks: int
    """Number of tasks."""
    done: int
    """Tasks that are done."""
    failed: int
    """Tasks that failed."""
    missing: int
    """Tasks that have not run, or whose output is gone or was replaced."""
    unknown: int
    """Tasks whose state cannot be read."""
    outputs: tuple[Path, ...]
    """Outputs of the tasks that are done, in order."""
    bytes_written: int
    """Bytes of the outputs."""
    seconds: float
    """Time of all tasks by the clock, added up."""
    no: tuple[int, ...]
    """Tasks that are done with the answer no: files differ, or inputs were left out."""
    failures: tuple[Failure, ...]
    """Tasks that failed."""
    unknowns: tuple[Failure, ...]
    """Tasks whose state cannot be read, and why. To run them again replaces the state."""
    missing_tasks: tuple[int, ...]
    """The missing tasks."""
    bad: tuple[BadInput, ...]
    """Inputs that cannot be read or are damaged: those that the plan left out, and those that tasks found."""
