"""The verbs of the command as functions, and what belongs to them: options as types, sweeps and their figures, the
monitor. Results are data classes of `basketry.reports`."""

from __future__ import annotations

from .editing import cp, mkdir, mv, rm, split
from .events import index, join, pick, sort
from .figures import sweep_figures
from .files import convert, generate, inspect, layout, merge, precision, readspeed, recover, rewrite, tune, verify
from .looking import count, draw, ls, schema, show, stats
from .many_files import check, collect, fileset, plan, run_task
from .monitoring import Monitor
from .sweeping import sweep

__all__ = [
    "Monitor",
    "check",
    "collect",
    "convert",
    "count",
    "cp",
    "draw",
    "fileset",
    "generate",
    "index",
    "inspect",
    "join",
    "layout",
    "ls",
    "merge",
    "mkdir",
    "mv",
    "pick",
    "plan",
    "precision",
    "readspeed",
    "recover",
    "rewrite",
    "rm",
    "run_task",
    "schema",
    "show",
    "sort",
    "split",
    "stats",
    "sweep",
    "sweep_figures",
    "tune",
    "verify",
]
