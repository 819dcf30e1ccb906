"""Measuring over a grid of layouts, streams and threads: the command's `sweep`, as a function."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, overload

from .._command import start_again_here
from .._shared.signatures import spelled
from .calling import axes, called, layout_text
from .options import DEFAULTS, Sweeping

if TYPE_CHECKING:
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports.sweeping import Estimate, Sweep
    from .calling import Grid
    from .options import Place


@overload
def sweep(
    input: Place | None,
    output: Place,
    *,
    grid: Grid = (),
    dry_run: Literal[False] = False,
    progress: Progress = None,
    **options: Unpack[Sweeping],
) -> Sweep: ...
@overload
def sweep(
    input: Place | None,
    output: Place,
    *,
    grid: Grid = (),
    dry_run: Literal[True],
    progress: Progress = None,
    **options: Unpack[Sweeping],
) -> Estimate: ...
@spelled(Sweeping, defaults=DEFAULTS["sweep"])
def sweep(
    input: Place | None,
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
    measured, and the expected duration comes back as an `Estimate`. A folder that has a sweep of the same input is
    extended: only missing points, jobs and repeats are measured, and the decision is made anew for the given goals.

    With `command` your own job runs at each point instead of a copy, and is measured, as in
    `sweep(None, "study", command="job.py {split-level} {output}", grid={"split_level": [0, 99]})`. A point whose
    command fails is one of `failures` of the result, and the others go on.

    input: the file; with `command` the value of {input}, or None.
    grid: keys of the layout, `streams`, `threads` or `fraction` with their values, `{"basket": ["2kB", "32kB"]}`; or
    the command's form "basket=2kB,32kB", or a TOML file; or several of these.
    progress: that of `rewrite`; it counts jobs, those of the estimate too, and the copies to read.

    Options:

    - `streams`: Numbers of files to write at once, such as 1,2,5,10. The cost of one more is reported. The same as
      `grid` streams=...
    - `threads`: Threads of a job, such as 1,2. The same as `grid` threads=...
    - `entries`: Copy only the first N entries of the tree.
    - `only`: Measure only these jobs: copy; read, which is all of the following; full, everything; columns, each column
      alone; sparse, picked entries; chosen, the columns of `columns`.
    - `columns`: Read these columns as well, as a job of its own.
    - `pick`: Share of the entries to pick through an index file. Default: "1%".
    - `repeat`: Repeats of each job. Default: 5.
    - `seed`: Seed for the order of jobs and for the picked entries. Default: 1.
    - `cold`: Drop files from the page cache before each job. Default: files are read into the cache.
    - `no_pin`: Let jobs use all processors instead of as many as they have threads.
    - `halve`: From the second round on, drop points that cannot win any more, up to half in each round.
    - `memory`: Memory that each job may take. Default: "1GiB".
    - `goal`: The figure to minimise: full, columns, sparse, chosen (reading), copy, memory (of copying) or size.
      Several figures have a decision each.
    - `max_size`: Maximum size of the file: 2GB, or 1.05x today's.
    - `max_write_time`: Maximum time of a copy: 90s, 5min, or 2x.
    - `max_read_memory`: Maximum memory of reading: 1GB, or 1.2x.
    - `max_memory`: Maximum memory of copying: 1GB, or 1.2x.
    - `runner`: The program that copies and reads: basketry, or root where it is installed. Default: "basketry".
    - `command`: Run this command at each point, and measure it, instead of copying: 'cmsRun cfg.py split={split-level}
      out={output}'. {NAME} is the value of a key of the grid; {output} the file to write, {input} FILE, {stream} the
      number of the stream from 0; {{ and }} are braces. Several streams run side by side, a process each. It is split
      into words as a shell does, but no shell runs it.
    - `read_command`: Read each output with this command, which has the same values, and measure that. Default: basketry
      reads the largest table of the output, as it reads copies.
    - `time_limit`: End a command after this time, such as 90s or 10min. The point has failed then, and others go on.
    - `keep`: Keep the copies that are read.
    - `layout`, `allow_no_match`: those of `rewrite`.
    """
    from ..reports.sweeping import Estimate, Sweep

    given: dict[str, Any] = {**options}
    if given.get("layout") is not None:
        given["layout"] = layout_text(given["layout"], {})
    start_again_here()
    kind: type[Sweep | Estimate] = Estimate if dry_run else Sweep
    own: dict[str, Any] = {"quiet": True, "grid": axes(grid), "output": output, "dry_run": dry_run}
    return called(
        kind, "sweep", given, Sweeping, [] if input is None else [os.fspath(input)], progress, unit="job", **own
    )
