"""`map`: a verb on each of many files. This module checks the call, makes the tasks and puts the results in order."""

from __future__ import annotations

import inspect
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from .. import _core
from .._shared.names import public
from .._shared.progress import is_function, shown
from .._shared.signatures import spelled
from ..verbs.options import AnyVerb
from . import clients, tasks
from .files import inputs, outputs
from .tasks import Failed, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from .._shared.progress import Bar
    from .files import Files, Naming
    from .tasks import SkipDone, Verb

    #: Called with the number of ended tasks, of all tasks, and the newest result; or what makes a bar (`..progress`).
    Progress: TypeAlias = Callable[[int, int, Any], object] | Any
    Errors: TypeAlias = Literal["return", "raise"]


@overload
def map(
    verb: str,
    files: Files,
    *,
    output: Naming | None = None,
    client: Any = None,
    threads: int | None = None,
    memory: int | str | None = None,
    retries: int = 2,
    skip_done: SkipDone = False,
    errors: Errors = "return",
    progress: Progress = None,
    **options: Unpack[AnyVerb],
) -> list[Any]: ...
@overload
def map(
    verb: Callable[..., Any],
    files: Files,
    *,
    output: Naming | None = None,
    client: Any = None,
    threads: int | None = None,
    memory: int | str | None = None,
    retries: int = 2,
    skip_done: SkipDone = False,
    errors: Errors = "return",
    progress: Progress = None,
    **options: Any,
) -> list[Any]: ...
@spelled(AnyVerb)
def map(
    verb: Verb,
    files: Files,
    *,
    output: Naming | None = None,
    client: Any = None,
    threads: int | None = None,
    memory: int | str | None = None,
    retries: int = 2,
    skip_done: SkipDone = False,
    errors: Errors = "return",
    progress: Progress = None,
    **options: Any,
) -> list[Any]:
    """Does a verb on each of many files, and returns the results in the order of the files.

        distributed.map("inspect", "data/*.root", client=client)
        distributed.map("rewrite", "data/*.root", output="out/{name}", client=client, compression="zstd:5")

    verb: a name ("rewrite") or a function; a function of your own must be importable by the workers.
    files: a pattern, a file of names "@list.txt", a list, data sets by name (`{"ttbar": ["a.root", "b.root"]}`), or a
    coffea fileset. A tuple of files is one task with several arguments: `("old.root", "new.root")` for `verify`.
    output: the outputs' names, for a verb that has one: a folder, a function of the input's path, or a template with
    {stem}, {name}, {dataset} and {n}, the number of the input.
    client: whatever has `submit`: Dask's client, an executor, parsl's `DataFlowKernel`. None works here, one file after
    the other, each on all cores.
    threads, memory: limits of one task. By default a worker of Dask divides its memory (0.6 of the limit) by its
    threads, and each task has one thread; tasks of other clients have one thread and the verb's own memory.
    retries: further attempts after a lost worker or an error of the system. A damaged or absent file gets none.
    skip_done: an output that exists and opens, and has the entries that the verb would write, is not made again
    (`Skipped`); "verify" compares the content as well. The layout is not compared. A bad output is replaced. Without it
    an existing output is a failure (`FileExistsError`), unless `force=True`.
    errors: "return" puts `Failed(file, error, ...)` in the place of a result; "raise" raises the first error and
    cancels the tasks that have not begun.
    progress: called with `(done, all, result)` after each task, in order of their ends; True for tqdm's bar; or a class
    or a bar with tqdm's interface.
    options: those of the verb.

    The results are the data classes of the verb. Outputs are equal, byte by byte, for any client; where a conversion to
    another container ends clusters for lack of memory, for the same `memory`. Unknown options are a `TypeError`, two
    inputs with one output, or an output that another task reads, a `ValueError`, before any task begins.
    """
    found = inputs(files)
    named: Sequence[str | None] = [None] * len(found) if output is None else outputs(found, output)
    verb = tasks.by_name(verb)
    # Several inputs of one output are one argument.
    joined = verb in tasks.MAKERS
    todo = [
        Task(verb, (list(one.places),) if joined else one.places, one.path, target, options)
        for one, target in zip(found, named, strict=True)
    ]
    return do(todo, client, limits(threads, memory), retries, skip_done, errors, progress)


def limits(threads: int | None, memory: int | str | None) -> dict[str, Any]:
    """Those limits of one task that are given."""
    return {name: value for name, value in (("threads", threads), ("memory", memory)) if value is not None}


def do(
    todo: Sequence[Task],
    client: Any,
    limited: Mapping[str, Any],
    retries: int,
    skip_done: SkipDone,
    errors: Errors,
    progress: Progress,
) -> list[Any]:
    """The results of tasks of one verb, in their order; arguments are those of `map`."""
    if not todo:
        return []
    if errors not in ("return", "raise"):
        raise ValueError(f"errors={errors!r}: choose 'return' or 'raise'")
    ready = [_complete(task, client, limited, skip_done) for task in todo]
    _check_apart(ready)
    results: list[Any] = [_refused(task) for task in ready]
    left = [number for number, result in enumerate(results) if result is None]
    done = 0

    function = progress if is_function(progress) else None

    def note(bar: Bar | None, number: int, result: Any) -> None:
        nonlocal done
        done += 1
        results[number] = result
        if function is not None:
            function(done, len(ready), result)
        if bar is not None:
            bar.update(1)
        if errors == "raise" and isinstance(result, Failed):
            result.exception.add_note(f"in the task of {result.file}")
            raise result.exception

    with shown(None if function else progress, len(ready), " tasks", str(todo[0].verb)) as bar:
        for number, result in enumerate(results):
            if result is not None:
                note(bar, number, result)
        with closing(clients.run(client, [_repeatable(ready[number]) for number in left], retries)) as ended:
            for number, result in ended:
                note(bar, left[number], result)
    return results


def _check_apart(todo: Sequence[Task]) -> None:
    """An output that another task writes or reads is a `ValueError`: the result would depend on their order."""
    makers: dict[str, int] = {}
    for number, task in enumerate(todo):
        if task.output is None:
            continue
        first = makers.setdefault(_real(task.output), number)
        if first != number:
            raise ValueError(
                f"{public(todo[first].output)} and {public(task.output)} are one file; choose another output"
            )
    for number, task in enumerate(todo):
        for place in tasks.places(task) if makers else ():
            maker = makers.get(_real(place), number)
            if maker != number:
                text = f"{place} is an input, and the output of {todo[maker].file}; choose another output"
                raise ValueError(_core.public_text(text))


def _real(place: str) -> str:
    """The one path of a file, whatever the place calls it."""
    ((path, _),) = _core.expand([place])
    return os.path.realpath(path)


def _complete(task: Task, client: Any, limited: Mapping[str, Any], skip_done: SkipDone) -> Task:
    """The task with its limits. Options that the verb does not have are a `TypeError`."""
    verb, options = task.verb, {**limited, **task.options}
    if verb in tasks.MAKERS and task.output is None and verb != "tune":
        raise TypeError(f'{verb} makes a file of each file: name them, as in output="folder/{{name}}"')
    if skip_done and verb not in tasks.KNOWN_OUTPUT:
        raise TypeError(f"skip_done does not know what {verb} would write; it is for {', '.join(tasks.KNOWN_OUTPUT)}")
    known = _known(verb)
    for option in options:
        if known is not None and option not in known:
            raise TypeError(f"{verb} has no option {option!r}; it has {', '.join(sorted(known))}")
    # Alone in this process, a task may use what the verb uses by default.
    decided = set() if client is None else {"threads", "memory"} & (known or set()) - options.keys()
    return replace(task, options=options, skip_done=skip_done, shared=frozenset(decided))


def _known(verb: Verb) -> set[str] | None:
    """The names of a verb's options; None for a function that takes any."""
    parameters = inspect.signature(tasks.function(verb)).parameters.values()
    if isinstance(verb, str):
        # A bar stays in this process.
        return {one.name for one in parameters if one.kind is one.KEYWORD_ONLY} - {"output", "dry_run", "progress"}
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return {one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)}


def _refused(task: Task) -> Failed | None:
    """The failure of a task whose output exists already. It is found before any task begins: afterwards an existing
    output is that of an earlier attempt, which may be replaced."""
    if task.output is None or task.verb not in tasks.MAKERS or task.skip_done or task.options.get("force"):
        return None
    if not Path(task.output.partition(":")[0]).exists():
        return None
    text = f"{task.output} exists already: force=True replaces it, skip_done=True keeps it if it is whole"
    return task.failed(FileExistsError(text))


def _repeatable(task: Task) -> Task:
    """The task, which replaces what an earlier attempt has made."""
    return replace(task, options={**task.options, "force": True}) if task.output and task.verb in tasks.MAKERS else task
