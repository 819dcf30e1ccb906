"""Asks real ROOT and uproot anew about a file, through the workers of the corpus' make_oracle.py.

Both workers fork a child for each file, with a time limit, and continue after a crash without the branch that crashed.
The workers run side by side, so a file takes the time of the slower one.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType

from referee import oracle
from referee.paths import CORPUS

TIMEOUT = 120.0
MAX_ENTRIES = 2_000_000


def _make_oracle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_oracle", CORPUS / "make_oracle.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(CORPUS / "make_oracle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Readers:
    """A ROOT worker and an uproot worker that stay alive from file to file."""

    def __init__(self) -> None:
        self._make_oracle = _make_oracle()
        self._workers: dict[str, subprocess.Popen[str]] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="referee-")

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._workers.values():
            if worker.stdin:
                worker.stdin.close()
            worker.wait()
            if worker.stdout:
                worker.stdout.close()
        self._workers.clear()
        self._scratch.cleanup()

    def _worker(self, reader: str) -> subprocess.Popen[str]:
        worker = self._workers.get(reader)
        if worker is None or worker.poll() is not None:
            command = [sys.executable, "-W", "ignore", str(CORPUS / "make_oracle.py"), "--worker", reader]
            worker = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            self._workers[reader] = worker
        return worker

    def describe(self, path: Path) -> oracle.Oracle:
        """The answers of both readers about the file."""
        scratch = Path(self._scratch.name)
        parts = {reader: str(scratch / reader) for reader in ("root", "uproot")}
        for reader, part in parts.items():
            Path(part).write_text("")
            task = {"path": str(path.resolve()), "out": part, "timeout": TIMEOUT, "max_entries": MAX_ENTRIES}
            stdin = self._worker(reader).stdin
            assert stdin is not None
            stdin.write(json.dumps(task) + "\n")
            stdin.flush()
        for reader in parts:
            stdout = self._worker(reader).stdout
            assert stdout is not None
            if not stdout.readline():
                raise RuntimeError(f"the {reader} worker died on {path}")
        merged = scratch / "merged.jsonl"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the script leaves closing its files to the interpreter
            self._make_oracle.merge(str(path.resolve()), parts, str(merged))
        with merged.open(encoding="utf-8") as lines:
            return oracle.parse(lines)
