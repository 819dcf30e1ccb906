"""A monitor of this program: memory, CPU, input and output over time, with marks and events."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from .reports import Watched
    from .verbs import Place


class Monitor:
    """Records what this process and those that it begins have and use over time, in a `with` block:

        with basketry.Monitor("perf.root") as monitor:
            for event in events:
                ...
                monitor.events(1)
            monitor.stop()  # events are done, files are not closed
            output.close()
            monitor.finalize()
        monitor.summary.peak_rss

    Entering takes a sample with the mark `start`, leaving one with the mark `end`.

    path: where samples go, trees of a .root file, or .parquet, .csv or .jsonl; only the summary is kept, if absent.
    every: seconds between two samples. pss: sample proportional memory, too.
    files: files whose size is sampled, besides those that this program and its children open for writing (`discover`).
    force: replace the file if it is there.

    If `basketry monitor` watches this program from outside it hears of marks and events, too.
    """

    def __init__(
        self,
        path: Place | None = None,
        *,
        every: float = 0.1,
        pss: bool = False,
        files: Iterable[Place] = (),
        discover: bool = True,
        force: bool = False,
    ) -> None:
        self._output = (path, force)
        self._every = every
        self._pss = pss
        self._files = ([os.fspath(file) for file in files], discover)
        self._core: _core.Monitor | None = None
        self._summary: Watched | None = None

    def __enter__(self) -> Monitor:
        if self._core is not None:
            raise RuntimeError("a monitor is for one `with` block")
        self._core = _core.Monitor(self._output, self._every, self._pss, self._files)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from .reports.monitoring import Watched
        from .reports.parse import parse

        text = self._running().end()
        if text is not None:
            self._summary = parse(Watched, text)

    def events(self, more: int = 1) -> None:
        """So many more events are done."""
        self._running().events(more)

    def mark(self, name: str) -> None:
        """Takes a sample now, with a name."""
        self._running().mark(name)

    def stop(self) -> None:
        """Events are done, and files are not closed yet."""
        self.mark("stop")

    def finalize(self) -> None:
        """Files are closed."""
        self.mark("finalize")

    @property
    def summary(self) -> Watched:
        """What is to be said when it has ended."""
        if self._summary is None:
            raise RuntimeError("the monitor has not ended: there is a summary after its `with` block")
        return self._summary

    def _running(self) -> _core.Monitor:
        if self._core is None:
            raise RuntimeError("the monitor has not begun: it is for a `with` block")
        return self._core
