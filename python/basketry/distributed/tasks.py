"""What runs on a worker: one verb on one file or group of files. A task can be pickled and repeated: its output appears
whole, and an output of an earlier attempt is replaced."""

from __future__ import annotations

import importlib
import pickle
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import _core, verbs
from .._shared.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..reports import Outlook

    Verb: TypeAlias = str | Callable[..., Any]
    SkipDone: TypeAlias = bool | Literal["verify"]

#: Where verbs are found by name; this package is a part of it.
PACKAGE = __name__.partition(".")[0]
#: Errors that the next attempt would have as well.
LASTING = (
    TypeError,
    ValueError,
    LookupError,
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
)
#: Verbs that write a file. Other verbs only read.
MAKERS = ("rewrite", "merge", "recover", "convert", "tune")
#: Verbs whose output can be compared with what is expected of it.
KNOWN_OUTPUT = ("rewrite", "merge", "convert", "tune")
#: Options of a verb that `verify` has, too.
SELECTION = ("keep", "drop", "first", "last", "entries", "cut", "weight", "where", "common", "fill", "widen")
#: Share of a worker's memory for basketry. Dask begins to move data to disk at 0.7; the interpreter needs some.
MEMORY_SHARE = 0.6


@dataclass(frozen=True)
class Failed:
    """A task that could not be done; it stands where its result would be."""

    file: str
    """The (first) file of the task."""
    error: str
    """The reason, as text."""
    exception: Exception
    """The reason: the exception of the verb, or what the client says of a lost worker."""
    output: str | None = None
    """The output that was not made, if there is one."""

    def __repr__(self) -> str:
        return shown(self)


@dataclass(frozen=True)
class Skipped:
    """A task whose output was there already, and whole."""

    file: str
    """The (first) file of the task."""
    output: str
    """Its output."""

    def __repr__(self) -> str:
        return shown(self)


@dataclass(frozen=True)
class Task:
    """A call of a verb."""

    verb: Verb
    #: Positional arguments of the verb before the output.
    arguments: tuple[Any, ...]
    file: str
    output: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    skip_done: SkipDone = False
    #: The names among "threads" and "memory" that the worker decides.
    shared: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return shown(self)

    def failed(self, error: Exception) -> Failed:
        """This task, failed."""
        return Failed(self.file, str(error) or type(error).__name__, error, self.output)


def function(verb: Verb) -> Callable[..., Any]:
    """The function of a verb, by its name in the package."""
    if callable(verb):
        return verb
    found = getattr(importlib.import_module(PACKAGE), verb, None)
    if not callable(found):
        raise ValueError(f"basketry has no verb {verb!r}")
    return found  # type: ignore[no-any-return]


def by_name(verb: Verb) -> Verb:
    """A verb of the package by its name; a function of the user as it is."""
    name = getattr(verb, "__name__", "")
    return name if name and getattr(importlib.import_module(PACKAGE), name, None) is verb else verb


def run(task: Task) -> Any:
    """Does a task: the result of its verb, `Skipped`, or `Failed` for an error that would come again. Other errors are
    raised, so that the caller or its scheduler tries again."""
    try:
        if task.skip_done and is_done(task):
            assert task.output is not None
            return Skipped(task.file, task.output)
        call, options = function(task.verb), share(task.shared) | dict(task.options)
        if task.output is None:
            return call(*task.arguments, **options)
        if task.verb == "tune":
            return call(*task.arguments, output=task.output, **options)
        return call(*task.arguments, task.output, **options)
    except LASTING as error:
        return task.failed(portable(error))
    except SystemExit as error:
        return task.failed(RuntimeError(f"the verb wanted to end the process, with {error.code}"))
    except Exception as error:
        if (sent := portable(error)) is error:
            raise
        raise sent from None


def portable(error: Exception) -> Exception:
    """The error, or one of its words if it does not survive pickling. A pool that cannot unpickle one result fails all
    its tasks, also those of other files."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def share(names: frozenset[str]) -> dict[str, Any]:
    """Threads and memory of one task on this worker, of those names. A worker of Dask with N threads runs N tasks at
    once: each has one thread and an Nth of the memory. Elsewhere a task has one thread and the verb's own memory."""
    given: dict[str, Any] = {"threads": 1}
    scheduler = sys.modules.get("distributed")
    worker = getattr(scheduler, "worker", None)
    try:
        here = worker.get_worker() if worker else None
    except ValueError:
        here = None
    if here is not None and (limit := here.memory_manager.memory_limit):
        given["memory"] = min(int(limit * MEMORY_SHARE) // here.state.nthreads, _core.DEFAULT_MEMORY)
    return {name: value for name, value in given.items() if name in names}


def is_done(task: Task) -> bool:
    """Whether the output exists and is whole: it opens, and its tables have the entries that the verb would write. With
    `skip_done="verify"` the content is compared as well. The layout is not compared."""
    if task.output is None or not Path(task.output.partition(":")[0]).exists():
        return False
    try:
        found, wanted = entries(task.output), expected(task)
        # The table of a conversion may get another name.
        if sum(found.values()) != sum(wanted.values()) if task.verb == "convert" else found != wanted:
            return False
        if task.skip_done == "verify":
            options = {name: value for name, value in task.options.items() if name in SELECTION}
            return verbs.verify(*places(task), task.output, **options).equal
    except (ValueError, LookupError, OSError, ImportError):
        # The verb tells what is wrong with an input; a bad output is replaced.
        return False
    return True


def places(task: Task) -> list[str]:
    """The files that a task reads."""
    return [place for one in task.arguments for place in ([one] if isinstance(one, str) else one)]


def expected(task: Task) -> dict[str, int]:
    """Entries by the path of a table, as the verb would write them."""
    if task.verb in ("rewrite", "merge"):
        options = {name: value for name, value in task.options.items() if name not in ("threads", "memory")}
        return planned(function(task.verb)(task.arguments[0], task.output, dry_run=True, **options))
    total: dict[str, int] = {}
    for place in places(task):
        for path, number in entries(place, task.options.get("tree")).items():
            total[path] = total.get(path, 0) + number
    return total


def entries(place: str, tree: str | None = None) -> dict[str, int]:
    """Entries of the trees and RNTuples of a file by their paths, or of one of them. A Parquet file, which needs
    pyarrow, is one table without a name. A file that a rewrite would refuse is an error: it is damaged or cut short."""
    if place.endswith(".parquet"):
        from pyarrow import parquet

        return {"": parquet.read_metadata(place).num_rows}
    found = planned(verbs.rewrite(place, f"{place}.again", dry_run=True))
    return found if tree is None else {path: number for path, number in found.items() if path == tree}


def planned(outlook: Outlook) -> dict[str, int]:
    """Entries by the path of a table, of the forecast of a rewrite."""
    return {table.path: table.entries for table in outlook.tables}
