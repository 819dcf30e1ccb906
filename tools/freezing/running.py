"""Runs a build: its command in the scratch folder, with a fixed date, and its Python package in processes of its own
that are asked one thing at a time. Whatever depends on the machine is taken out here; nothing is judged."""

import json
import os
import select
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Dates of records. The UUID of an output is a hash of its records, so nothing else is random.
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "1000000000"}
# What is said of a command that takes too long: it is not compared.
TOO_LONG = "too long"


@dataclass(frozen=True)
class Said:
    """What a command said."""

    code: int | str
    out: str
    err: str


@dataclass
class Build:
    """A built command, and a Python program with the package."""

    binary: Path
    worker: list[str]
    scratch: Path
    patience: float
    _workers: threading.local = field(default_factory=threading.local)

    def version(self) -> str:
        """What the command calls itself."""
        return self.run(self.scratch, "--version").out.strip()

    def run(self, folder: Path, *words: str) -> Said:
        """Runs the command in a folder of the scratch folder. Names are relative there, so that they are the same on
        every machine."""
        try:
            done = subprocess.run(
                [self.binary, *words],
                cwd=folder,
                env=os.environ | ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Said(TOO_LONG, "", "")
        return Said(done.returncode, *(text.decode(errors="replace") for text in (done.stdout, done.stderr)))

    def ask(self, folder: Path, task: dict[str, Any]) -> Any:
        """Asks the package: the answer, or why there is none."""
        process = getattr(self._workers, "process", None)
        if process is None or process.poll() is not None:
            environment = os.environ | ENVIRONMENT
            process = subprocess.Popen(
                self.worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
            self._workers.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"folder": str(folder), **task}).encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], self.patience)[0]:
            process.kill()
            process.wait()
            return TOO_LONG
        line = process.stdout.readline()
        return json.loads(line) if line else f"the process ended with {process.wait()}"
