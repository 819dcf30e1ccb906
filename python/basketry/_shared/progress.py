"""Progress of long work: a bar of tqdm, another with its interface, or a function. tqdm is imported when it is asked
for; nothing here measures or does work."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..reading.request import Request

    #: True for tqdm's bar, a class with tqdm's interface, a bar with `update`, a function of `(done, total)`; or None.
    Progress: TypeAlias = bool | type | Callable[[int, int | None], object] | Any | None


class Bar:
    """How much of the work is done. It is told by `update`, and tells the user's bar or function."""

    def __init__(self, tell: Callable[[int, int], object], total: int | None, each: int = 1) -> None:
        self._tell = tell
        self._total = total
        #: How often the work counts each unit.
        self._each = max(each, 1)
        self._counted = 0
        self._done = 0

    def update(self, more: int) -> None:
        """Adds what was done since the last call. Sizes of files are estimates, which `total` limits."""
        self._counted += more
        self._reach(self._counted // self._each)

    def finish(self) -> None:
        """Ends at the total."""
        if self._total is not None:
            self._reach(self._total)

    def _reach(self, done: int) -> None:
        done = done if self._total is None else min(done, self._total)
        if done > self._done:
            more, self._done = done - self._done, done
            self._tell(more, done)


def is_function(progress: Progress) -> bool:
    """Whether it is a function that is called, and neither a bar nor a class of bars."""
    made = isinstance(progress, type | bool) or (isinstance(progress, functools.partial) and is_class(progress))
    return callable(progress) and not made and not hasattr(progress, "update")


def is_class(progress: Progress) -> bool:
    """Whether bars are made of it: a class, or one with some arguments."""
    return isinstance(progress.func if isinstance(progress, functools.partial) else progress, type)


@contextmanager
def shown(progress: Progress, total: int | None, unit: str, what: str, each: int = 1) -> Iterator[Bar | None]:
    """A bar of `total` units for the `with` block, which tells it `each` unit so many times; None without progress."""
    if progress is None or progress is False:
        yield None
        return
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            text = "progress=True needs tqdm: pip install tqdm, or give a class, a bar with update, or a function"
            raise ModuleNotFoundError(text) from None
        progress = tqdm
    made: Any = progress
    if is_function(progress):
        bar = Bar(lambda _, done: made(done, total), total, each)
        yield bar
        bar.finish()
    elif is_class(progress):
        made = made(total=total, unit=unit, unit_scale=True, desc=what)
        try:
            bar = Bar(lambda more, _: made.update(more), total, each)
            yield bar
            bar.finish()
        finally:
            made.close()
    elif hasattr(progress, "update"):
        # The user's own, which may go on with other work.
        if getattr(made, "total", 0) is None:
            made.total = total
        bar = Bar(lambda more, _: made.update(more), total, each)
        yield bar
        bar.finish()
    else:
        raise TypeError(f"progress={progress!r}: give True, a class or a bar with tqdm's interface, or a function")


@contextmanager
def reading(progress: Progress, request: Request, columns: int) -> Iterator[Request]:
    """The request of a read of so many columns, whose entries a bar counts."""
    with shown(progress, request.count, " entries", "reading", columns) as bar:
        yield request if bar is None else replace(request, told=bar.update)


def stepping(progress: Progress, request: Request, steps: Iterator[Any], sizes: list[int]) -> Iterator[Any]:
    """Steps of a request, whose entries a bar counts; `sizes` gets those of each step as it is made."""
    with shown(progress, request.count, " entries", "reading") as bar:
        for made in steps:
            if bar is not None:
                bar.update(sizes[-1])
            yield made
