"""Measuring over a grid of layouts, streams and threads: the command's `sweep`, as a function."""

from __future__ import annotations

import collections.abc
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, overload

from ._command import start_again_here
from ._core import report
from .verbs import _options, _text, layout_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from .reports.sweeping import Estimate, Sweep
    from .verbs import Layout, Limit, Place, Size

    Values: TypeAlias = object | Iterable[object]
    Grid: TypeAlias = Mapping[str, Values] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class Sweeping(TypedDict, total=False):
    """The options of `sweep`."""

    layout: Layout | None
    streams: Values
    threads: Values
    entries: int | None
    only: Values
    columns: Values
    pick: float | str
    repeat: int
    seed: int
    cold: bool
    no_pin: bool
    halve: bool
    memory: Size
    goal: str | None
    max_size: Limit | None
    max_write_time: Limit | None
    max_read_memory: Limit | None
    max_memory: Limit | None
    runner: str
    keep: bool


@overload
def sweep(
    input: Place, output: Place, *, grid: Grid = (), dry_run: Literal[False] = False, **options: Unpack[Sweeping]
) -> Sweep: ...
@overload
def sweep(
    input: Place, output: Place, *, grid: Grid = (), dry_run: Literal[True], **options: Unpack[Sweeping]
) -> Estimate: ...
def sweep(
    input: Place, output: Place, *, grid: Grid = (), dry_run: bool = False, **options: Unpack[Sweeping]
) -> Sweep | Estimate:
    """Measures copying and reading of a file over a grid of layouts, and says which is best.

    For each point the file is copied into N streams, each with a tree of one record at its end, and the copy is read:
    all of it, each column alone, and some picked entries. Each job is a process of its own; the folder `output` keeps
    what was measured, and a sweep that was stopped goes on there. `sweep_figures(output)` draws it. With `dry_run`
    nothing is measured, and how long it will take comes back as an `Estimate`.

    grid: keys of the layout, `streams`, `threads` or `fraction` with their values, `{"basket": ["2kB", "32kB"]}`; or as
    the command has it, "basket=2kB,32kB", or a file of TOML; or several of these.
    layout: that which all points start from: a file of TOML, its text, or what `layout()` returns.
    streams, threads: files that are written at once, and threads of a job: numbers to try.
    entries: copy only so many. only: "copy", "read", "full", "columns", "sparse", "chosen". columns: patterns of those
    to read as a job of its own. pick: share of the entries that is picked, 0.01 or "1%".
    repeat: how often each job runs. seed: of the order of jobs, and of the picks. cold: from storage, not from the
    kernel's cache. no_pin: let jobs use all processors. halve: drop points that cannot win.
    memory: what each job may take. goal: what is made small: "full", "columns", "sparse", "chosen", "copy", "memory" or
    "size"; max_size, max_write_time, max_read_memory, max_memory: limits, or multiples of today's ("1.05x").
    runner: "basketry", or "root" where ROOT is installed. keep: keep the copies that are read.
    """
    from .reports.parse import parse
    from .reports.sweeping import Estimate, Sweep

    known = Sweeping.__annotations__
    if unknown := [name for name in options if name not in known]:
        raise TypeError(f"sweep() got an unexpected keyword argument {unknown[0]!r}; it has {', '.join(known)}")
    given: dict[str, Any] = {"output": output, "dry_run": dry_run} | options
    for name in {"streams", "threads", "only", "columns"} & given.keys():
        given[name] = _values(given[name])
    if given.get("layout") is not None:
        given["layout"] = layout_text(given["layout"], {})
    if given.get("entries") is not None:
        given["entries"] = str(given["entries"])
    start_again_here()
    words = ["sweep", "--json", "--quiet", *(f"--grid={axis}" for axis in _axes(grid)), *_options(given)]
    kind: type[Sweep | Estimate] = Estimate if dry_run else Sweep
    return parse(kind, report([*words, "--", os.fspath(input)]))


def _axes(grid: Grid) -> list[str]:
    """What --grid is given, once for each axis."""
    if isinstance(grid, collections.abc.Mapping):
        return [f"{key.replace('_', '-')}={_values(values)}" for key, values in grid.items()]
    several = [grid] if isinstance(grid, str | os.PathLike) else grid
    return [os.fspath(one) for one in several]


def _values(values: Values) -> str | None:
    """One value, or several with commas between; nothing of none."""
    if isinstance(values, str | os.PathLike) or not isinstance(values, collections.abc.Iterable):
        return _text(values)
    return ",".join(_text(value) for value in values) or None
