"""Runs a command with a time limit and measures it: CPU time, peak RSS and bytes read of this run alone."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Argument = str | Path
LAUNCHER = Path(__file__).resolve().parent / "launcher.py"


@dataclass(frozen=True)
class Outcome:
    """The result of a command; times in seconds, memory in bytes."""

    command: tuple[str, ...]
    code: int
    out: str
    err: str
    wall: float
    cpu: float
    peak_rss: int
    timed_out: bool
    # By system calls, from files and pipes.
    bytes_read: int
    # Pages of memory that the kernel had to give, without reading a disk.
    page_faults: int

    def __str__(self) -> str:
        ended = "timed out" if self.timed_out else f"exit {self.code}"
        return f"$ {' '.join(self.command)}\n{self.out}{self.err}[{ended} after {self.wall:.2f} s]"


def run(
    command: Sequence[Argument], *, timeout: float = 120.0, cwd: Path | None = None, env: dict[str, str] | None = None
) -> Outcome:
    """Runs a command through the launcher and reports its result, success or not. Lines have the width that `env`
    names, or none."""
    words = tuple(str(word) for word in command)
    reading, writing = os.pipe()
    launch = [sys.executable, "-I", "-S", str(LAUNCHER), str(timeout), str(writing)]
    done = subprocess.run(
        [*launch, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=cwd,
        # A terminal's width may be in os.environ, and readline, which packages load, gives it to children besides.
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"} | (env or {}),
        pass_fds=[writing],
        check=False,
    )
    os.close(writing)
    with os.fdopen(reading) as report:
        code, wall, user, system, peak, timed_out, bytes_read, page_faults = report.read().split()
    return Outcome(
        command=words,
        code=int(code),
        out=done.stdout.decode(errors="replace"),
        err=done.stderr.decode(errors="replace"),
        wall=float(wall),
        cpu=float(user) + float(system),
        peak_rss=int(peak) * 1024,
        timed_out=timed_out == "1",
        bytes_read=int(bytes_read),
        page_faults=int(page_faults),
    )


#: Columns of a line that no table of a test needs.
WIDE = "400"


class Basketry:
    """The command under test: calling it asserts success, `run` only reports. Its lines have room for all."""

    def __init__(self, binary: Path, environment: dict[str, str] | None = None) -> None:
        self.binary = binary
        self.environment = {"COLUMNS": WIDE} | (environment or {})

    def within(self, **environment: str) -> "Basketry":
        """The command with these variables of the environment as well."""
        return Basketry(self.binary, self.environment | environment)

    def run(self, *arguments: Argument, timeout: float = 120.0, cwd: Path | None = None) -> Outcome:
        """Runs the command and reports its result, success or not."""
        return run([self.binary, *arguments], timeout=timeout, cwd=cwd, env=self.environment)

    def __call__(self, *arguments: Argument, timeout: float = 120.0) -> str:
        """Runs the command, which must succeed, and returns its output."""
        outcome = self.run(*arguments, timeout=timeout)
        assert outcome.code == 0, str(outcome)
        return outcome.out

    def json(self, *arguments: Argument) -> Any:
        """Runs the command with --json, which must succeed, and parses its output."""
        return json.loads(self(*arguments, "--json"))

    def refuses(self, *arguments: Argument, code: int = 2) -> str:
        """Runs the command, which must refuse in one line on stderr, and returns that line. Two lines below it may mark
        the place in an expression."""
        outcome = self.run(*arguments)
        assert outcome.code == code, str(outcome)
        lines = outcome.err.strip().splitlines()
        if len(lines) == 3 and set(lines[-1]) <= {" ", "^"}:
            lines = lines[:1]
        assert len(lines) == 1, str(outcome)
        assert "panicked" not in outcome.err, str(outcome)
        return lines[0]
