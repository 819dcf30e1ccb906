"""Runs a Python program with a monitor of its resources, without a change of it, as `python -m cProfile` does:

    python -m basketry.monitor -o perf.root job.py arguments ...
    python -m basketry.monitor -o perf.root -m module arguments ...

The program runs in this process, with its own arguments, as `__main__`. Its exit code and its exceptions are the
process's. The monitor takes a sample with the mark `start` before the program, `stop` when its code is done, and
`finalize` after what it registered to be done at exit; it sees by itself when output files are opened and closed.
`basketry.Monitor` does the same for a part of a program.
"""

from __future__ import annotations

import atexit
import json
import optparse
import os
import runpy
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .verbs.monitoring import Monitor

if TYPE_CHECKING:
    from .reports.monitoring import Sample, Watched

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Runs the program that the arguments name (those of the process, if `arguments` is None), and ends as it ends."""
    parser = _parser()
    options, words = parser.parse_args(arguments)
    if not words:
        parser.error("no program to run: python -m basketry.monitor [options] job.py arguments")
    monitor = Monitor(options.output, every=options.every, pss=options.pss, files=options.file, force=options.force)
    monitor.__enter__()
    ending = _Ending(monitor, quiet=options.quiet, as_json=options.json)
    # What the program registers later is done before.
    atexit.register(ending.end)
    left: dict[str, Any] = {}
    try:
        left = _run(words, is_module=options.module)
    except SystemExit as told:
        ending.code = _code(told)
        raise
    except BaseException:
        ending.code = 1
        raise
    finally:
        monitor.stop()
        # Objects that the program left close their files now.
        left.clear()


def _parser() -> optparse.OptionParser:
    # Options behind the program are its own, which argparse cannot have.
    parser = optparse.OptionParser(
        prog="python -m basketry.monitor",
        usage="%prog [options] job.py | -m module [arguments]",
        description="Runs a Python program and records its resources over time.",
    )
    parser.allow_interspersed_args = False
    parser.add_option("-o", "--output", help="file for samples: trees of a .root file, or .parquet, .csv or .jsonl")
    parser.add_option("-f", "--force", action="store_true", default=False, help="replace an existing file")
    parser.add_option("--every", type="float", default=0.1, metavar="SECONDS", help="seconds between two samples (0.1)")
    parser.add_option("--pss", action="store_true", default=False, help="also sample proportional memory")
    parser.add_option("--file", action="append", default=[], help="sample the size of this file, too")
    parser.add_option("-q", "--quiet", action="store_true", default=False, help="print no summary")
    parser.add_option(
        "--json", action="store_true", default=False, help="print the summary as JSON, on standard output"
    )
    parser.add_option("-m", dest="module", action="store_true", default=False, help="run a module")
    return parser


def _run(words: list[str], *, is_module: bool) -> dict[str, Any]:
    """Runs a program as `python` would, and returns what its code left."""
    sys.argv = words
    if is_module:
        return runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    sys.path[0] = str(Path(words[0]).resolve().parent)
    return runpy.run_path(words[0], run_name="__main__")


def _code(told: SystemExit) -> int:
    """The exit code of a process that is told to end so."""
    if told.code is None or isinstance(told.code, int):
        return (told.code or 0) & 0xFF
    return 1


@dataclass
class _Ending:
    """What is done when the process ends."""

    monitor: Monitor
    quiet: bool
    as_json: bool
    code: int = 0

    def end(self) -> None:
        """Ends the monitor, and prints the summary. A process that was forked comes here as well, and does nothing."""
        if os.getpid() != self.owner:
            return
        self.monitor.finalize()
        self.monitor.end(self.code)
        summary = self.monitor.summary
        if self.as_json:
            print(json.dumps(asdict(summary)), flush=True)
        elif not self.quiet:
            print(_text(summary), file=sys.stderr, flush=True)

    def __post_init__(self) -> None:
        self.owner = os.getpid()


def _text(summary: Watched) -> str:
    """The summary in some lines, and a line for each mark."""
    cpu, most = summary.user + summary.system, summary.most
    lines = [
        summary.command,
        f"  time      {summary.elapsed:.2f} s; CPU {cpu:.2f} s ({summary.user:.2f} user, {summary.system:.2f} kernel)",
        f"  memory    peak RSS {_size(summary.peak_rss)} (of one process); of all at most {_size(most.rss)} RSS, "
        f"{_size(most.vsize)} virtual, processes {most.processes}, threads {most.threads}",
        f"  calls     read {_size(summary.end.read)}, wrote {_size(summary.end.written)}",
    ]
    lines.extend(f"  file      {_size(file.bytes)} {file.path}" for file in summary.files if not file.removed)
    alone = [sample for sample in summary.seen if not sample.mark]
    lines.extend(map(_line, sorted([*summary.marks, *alone], key=lambda sample: sample.time)))
    return "\n".join(lines)


def _line(sample: Sample) -> str:
    name = "; ".join(part for part in (sample.mark, sample.seen) if part)
    cpu = sample.user + sample.system
    rss, written = _size(sample.rss), _size(sample.written)
    return f"  {sample.time:8.2f} s  RSS {rss:>8}  CPU {cpu:8.2f} s  wrote {written:>8}  {name}"


def _size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


if __name__ == "__main__":
    main()
