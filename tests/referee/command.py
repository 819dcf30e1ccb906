"""Runs a command with a time limit and says what it used: its own CPU time and peak RSS, not those of earlier runs."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Argument = str | Path


@dataclass(frozen=True)
class Outcome:
    """What a run of a command came to; times in seconds, memory in bytes."""

    command: tuple[str, ...]
    code: int
    out: str
    err: str
    wall: float
    cpu: float
    peak_rss: int
    timed_out: bool = False

    def __str__(self) -> str:
        ended = "timed out" if self.timed_out else f"exit {self.code}"
        return f"$ {' '.join(self.command)}\n{self.out}{self.err}[{ended} after {self.wall:.2f} s]"


def run(
    command: Sequence[Argument],
    *,
    timeout: float = 120.0,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    while_running: Callable[[int, float], None] | None = None,
) -> Outcome:
    """Runs a command and reports, whatever came of it.

    `while_running` is called every few milliseconds with the process id and the seconds since the start.
    """
    words = tuple(str(word) for word in command)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd, env=(os.environ | env) if env else None
        )
        timed_out = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            wall = time.perf_counter() - start
            if pid:
                break
            if while_running:
                while_running(process.pid, wall)
            if wall > timeout and not timed_out:
                timed_out = True
                os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.0005 if wall < 0.05 else 0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Outcome(
            command=words,
            code=process.returncode,
            out=_text(out),
            err=_text(err),
            wall=wall,
            cpu=usage.ru_utime + usage.ru_stime,
            peak_rss=usage.ru_maxrss * 1024,
            timed_out=timed_out,
        )


def _text(file: Any) -> str:
    file.seek(0)
    return bytes(file.read()).decode(errors="replace")


class Basketry:
    """The command under test: calling it asserts success, `run` only reports."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary

    def run(
        self,
        *arguments: Argument,
        timeout: float = 120.0,
        cwd: Path | None = None,
        while_running: Callable[[int, float], None] | None = None,
    ) -> Outcome:
        """Runs the command and reports, whatever came of it."""
        return run([self.binary, *arguments], timeout=timeout, cwd=cwd, while_running=while_running)

    def __call__(self, *arguments: Argument, timeout: float = 120.0) -> str:
        """Runs the command, which must succeed, and returns what it printed."""
        outcome = self.run(*arguments, timeout=timeout)
        assert outcome.code == 0, str(outcome)
        return outcome.out

    def json(self, *arguments: Argument) -> Any:
        """Runs the command with --json, which must succeed, and parses what it printed."""
        return json.loads(self(*arguments, "--json"))

    def refuses(self, *arguments: Argument, code: int = 2) -> str:
        """Runs the command, which must refuse in one line on stderr, and returns that line."""
        outcome = self.run(*arguments)
        assert outcome.code == code, str(outcome)
        lines = outcome.err.strip().splitlines()
        assert len(lines) == 1, str(outcome)
        assert "panicked" not in outcome.err, str(outcome)
        return lines[0]
