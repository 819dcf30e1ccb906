"""The verbs of the command as functions, and what belongs to them: options as types, sweeps and their figures, the
monitor. Results are data classes of `basketry.reports`."""

from __future__ import annotations

from .events import index, pick
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
    "draw",
    "fileset",
    "generate",
    "index",
    "inspect",
    "layout",
    "ls",
    "merge",
    "pick",
    "plan",
    "precision",
    "readspeed",
    "recover",
    "rewrite",
    "run_task",
    "schema",
    "show",
    "stats",
    "sweep",
    "sweep_figures",
    "tune",
    "verify",
]
