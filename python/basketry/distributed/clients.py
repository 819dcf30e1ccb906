"""Runs tasks through a client: submits them, tries again where that may help, and tells of each result once.

A client is whatever has `submit(function, argument)` and gives futures: Dask's `Client`, an executor of
`concurrent.futures` or `mpi4py`, parsl's `DataFlowKernel` and executors. None is this process, task by task.
"""

from __future__ import annotations

from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from . import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from .tasks import Task

    Submit: TypeAlias = Callable[[Task], Any]


def run(client: Any, todo: Sequence[Task], retries: int) -> Generator[tuple[int, Any]]:
    """The number and the result of each task, as they end. A task that fails ends as `Failed`.

    An error that may pass (a lost worker, an error of the system) is tried again up to `retries` times. If the iterator
    is closed or interrupted, tasks that have not begun are cancelled.
    """
    if client is None:
        return _here(todo, retries)
    return _elsewhere(client, todo, retries)


def _here(todo: Sequence[Task], retries: int) -> Generator[tuple[int, Any]]:
    for number, task in enumerate(todo):
        for attempt in range(retries + 1):
            try:
                result = tasks.run(task)
            except Exception as error:
                if attempt < retries:
                    continue
                result = task.failed(error)
            yield number, result
            break


def _elsewhere(client: Any, todo: Sequence[Task], retries: int) -> Generator[tuple[int, Any]]:
    from concurrent.futures import BrokenExecutor, Future

    submit, again = _submitter(client, retries)
    ended: SimpleQueue[int] = SimpleQueue()
    running: dict[int, Any] = {}
    attempts = [0] * len(todo)

    def start(number: int) -> None:
        attempts[number] += 1
        try:
            future = submit(todo[number])
        except BrokenExecutor as error:
            future = Future[Any]()
            future.set_exception(error)
        running[number] = future
        future.add_done_callback(lambda _: ended.put(number))

    try:
        for number in range(len(todo)):
            start(number)
        while running:
            number = ended.get()
            try:
                result = running.pop(number).result()
            except Exception as error:
                # A pool that lost a worker takes no task any more.
                if attempts[number] <= again and not isinstance(error, BrokenExecutor):
                    start(number)
                    continue
                result = todo[number].failed(_explained(error))
            yield number, result
    finally:
        for future in running.values():
            # parsl's futures cannot be cancelled.
            with suppress(NotImplementedError):
                future.cancel()


def _explained(error: Exception) -> Exception:
    """The error; of a pool that lost a worker, with the way out."""
    from concurrent.futures import BrokenExecutor

    if not isinstance(error, BrokenExecutor):
        return error
    return type(error)(
        "a worker of the pool ended abruptly, perhaps for lack of memory, and the pool does no more tasks; "
        "the same call with a new pool and skip_done=True does those that are missing"
    )


def _submitter(client: Any, retries: int) -> tuple[Submit, int]:
    """The function that submits a task, and how often a failed one is submitted again."""
    kind = type(client).__module__
    if kind.startswith("distributed."):
        return _dask(client, retries), 0
    if kind.startswith("parsl.dataflow."):
        return (lambda task: client.submit(tasks.run, (task,), "all", False, None, {})), retries
    if kind.startswith("parsl.executors."):
        return (lambda task: client.submit(tasks.run, {}, task)), retries
    if not hasattr(client, "submit"):
        raise TypeError(f"a client needs a method submit, which {client!r} has not; None runs them here")
    return (lambda task: client.submit(tasks.run, task)), retries


def _dask(client: Any, retries: int) -> Submit:
    """Dask's scheduler repeats tasks itself, and those of lost workers on other ones."""
    import uuid

    def submit(task: Task) -> Any:
        name = task.verb if isinstance(task.verb, str) else getattr(task.verb, "__name__", "task")
        # A key of its own: the same task may have to be done again in a later call.
        return client.submit(tasks.run, task, key=f"basketry-{name}-{uuid.uuid4().hex}", pure=False, retries=retries)

    return submit
