"""A monitor of this program: memory, CPU, input and output over time, with marks and events."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from ..reports import Watched
    from .options import Place


class Monitor:
    """Records the resources of this process and its children over time, in a `with` block:

        with basketry.Monitor("perf.root") as monitor:
            for event in events:
                ...
                monitor.events(1)
            monitor.stop()  # all events are done, files are still open
            output.close()
            monitor.finalize()
        monitor.summary.peak_rss

    Entering takes a sample with the mark `start`, leaving one with the mark `end`.

    path: file for samples: trees of a .root file, or .parquet, .csv or .jsonl; without it only the summary is kept.
    every: seconds between two samples. pss: sample proportional memory, too.
    files: files whose size is sampled, beside those that this program and its children open for writing (`discover`).
    force: replace an existing file.

    The samples are on disk as they come, so a program that is killed leaves them. A disk that is full ends the
    recording with a `RuntimeWarning`; the summary is there all the same. The writer of a .root or .parquet record has
    some megabytes in this process before `start`; a .csv record needs none.

    If `basketry monitor` watches this program from outside, marks and events reach it, too.
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
            raise RuntimeError("a monitor works for one `with` block only")
        self._core = _core.Monitor(self._output, self._every, self._pss, self._files)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self, exit_code: int = 0) -> None:
        """Ends, with the exit code that the record says; leaving the `with` block does so."""
        from ..reports.monitoring import Watched
        from ..reports.parse import parse

        ended = self._running().end(exit_code)
        if ended is not None:
            text, trouble = ended
            self._summary = parse(Watched, text)
            if trouble is not None:
                # The work of the block is done.
                warnings.warn(trouble, RuntimeWarning, stacklevel=2)

    def events(self, more: int = 1) -> None:
        """Counts further finished events."""
        self._running().events(more)

    def mark(self, name: str) -> None:
        """Takes a sample now, with this name as its mark."""
        self._running().mark(name)

    def stop(self) -> None:
        """Marks the end of the events; files are still open."""
        self.mark("stop")

    def finalize(self) -> None:
        """Marks that files are closed."""
        self.mark("finalize")

    @property
    def summary(self) -> Watched:
        """The summary, after the `with` block."""
        if self._summary is None:
            raise RuntimeError("the monitor has not ended: the summary exists after its `with` block")
        return self._summary

    def _running(self) -> _core.Monitor:
        if self._core is None:
            raise RuntimeError("the monitor has not started: use it in a `with` block")
        return self._core
