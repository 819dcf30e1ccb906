"""Measuring over a grid of layouts, streams and threads: the command's `sweep`, as a function."""

from __future__ import annotations

import collections.abc
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from .._command import start_again_here
from .._shared.signatures import spelled
from .calling import as_value, called, layout_text
from .options import Sweeping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports.sweeping import Estimate, Sweep
    from .options import Place, Values

    Grid: TypeAlias = Mapping[str, Values] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@overload
def sweep(
    input: Place,
    output: Place,
    *,
    grid: Grid = (),
    dry_run: Literal[False] = False,
    progress: Progress = None,
    **options: Unpack[Sweeping],
) -> Sweep: ...
@overload
def sweep(
    input: Place,
    output: Place,
    *,
    grid: Grid = (),
    dry_run: Literal[True],
    progress: Progress = None,
    **options: Unpack[Sweeping],
) -> Estimate: ...
@spelled(Sweeping)
def sweep(
    input: Place,
    output: Place,
    *,
    grid: Grid = (),
    dry_run: bool = False,
    progress: Progress = None,
    **options: Unpack[Sweeping],
) -> Sweep | Estimate:
    """Measures copying and reading of a file over a grid of layouts, and decides which is best.

    For each point the file is copied into N streams, each with a tree of one record at its end, and the copy is read:
    completely, each column alone, and some selected entries. Each job is a process of its own. The folder `output`
    keeps the results, and a stopped sweep resumes there. `sweep_figures(output)` draws them. With `dry_run` nothing is
    measured, and the expected duration comes back as an `Estimate`.

    grid: keys of the layout, `streams`, `threads` or `fraction` with their values, `{"basket": ["2kB", "32kB"]}`; or
    the command's form "basket=2kB,32kB", or a TOML file; or several of these.
    layout: the layout that all points start from: a TOML file, its text, or a value of `layout()`.
    streams, threads: numbers of files written at once, and of threads of a job, to try.
    entries: number of entries to copy. only: "copy", "read", "full", "columns", "sparse", "chosen". columns: patterns
    of columns to read in a job of their own. pick: share of selected entries, 0.01 or "1%".
    repeat: how often each job runs. seed: for the order of jobs and the selected entries. cold: read from storage, not
    from the page cache. no_pin: let jobs use all processors. halve: drop points that cannot win.
    memory: limit for each job. goal: the figure to minimise: "full", "columns", "sparse", "chosen", "copy", "memory" or
    "size"; max_size, max_write_time, max_read_memory, max_memory: limits, or multiples of the input's ("1.05x").
    runner: "basketry", or "root" where ROOT is installed. keep: keep the copies after reading.
    progress: that of `rewrite`; it counts jobs, those of the estimate too, and the copies to read.
    """
    from ..reports.sweeping import Estimate, Sweep

    given: dict[str, Any] = {**options}
    for name in {"streams", "threads", "only", "columns"} & given.keys():
        given[name] = _values(given[name])
    if given.get("layout") is not None:
        given["layout"] = layout_text(given["layout"], {})
    if given.get("entries") is not None:
        given["entries"] = str(given["entries"])
    start_again_here()
    kind: type[Sweep | Estimate] = Estimate if dry_run else Sweep
    own: dict[str, Any] = {"quiet": True, "grid": _axes(grid), "output": output, "dry_run": dry_run}
    return called(kind, "sweep", given, Sweeping, [os.fspath(input)], progress, unit="job", **own)


def _axes(grid: Grid) -> list[str]:
    """The arguments of --grid, one for each axis."""
    if isinstance(grid, collections.abc.Mapping):
        return [f"{key.replace('_', '-')}={_values(values)}" for key, values in grid.items()]
    several = [grid] if isinstance(grid, str | os.PathLike) else grid
    return [os.fspath(one) for one in several]


def _values(values: Values) -> str | None:
    """One value, or several joined by commas; empty for none."""
    if isinstance(values, str | os.PathLike) or not isinstance(values, collections.abc.Iterable):
        return as_value(values)
    return ",".join(as_value(value) for value in values) or None
