"""A process with real ROOT in it that answers one question about one file after another, each in a forked child.

The question is a C++ function `std::string NAME::all(const char *path)` in cpp/NAME.C, which returns JSON and may use
cpp/common.C. A crash, or a child over its time limit, costs that answer only. Run as a script this module
is the process.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TIMEOUT = 120.0
CPP = Path(__file__).resolve().parent / "cpp"


class RootServer:
    """Asks one question; the process is started with the first file."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._process: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """Ends the process."""
        if self._process:
            self._process.communicate()
            self._process = None

    def of(self, path: Path) -> dict[str, Any]:
        """The answer for this file, or {"error": reason}. ROOT runs in the file's own folder, beside its companions."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), self._question],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path.absolute()}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"ROOT ({self._question}) died on {path}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _child(function: Any, path: str, pipe: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.chdir(Path(path).parent)
    with os.fdopen(pipe, "w") as out:
        out.write(str(function(path)))


def _answer(pid: int, reading: int) -> str:
    """The output of the child until it ends or runs out of time."""
    deadline = time.monotonic() + TIMEOUT
    os.set_blocking(reading, False)
    parts: list[bytes] = []
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while True:
            part = pipe.read(1 << 16)
            if part:
                parts.append(part)
            elif part == b"":
                break
            elif time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                break
            else:
                time.sleep(0.002)
    status = os.waitpid(pid, 0)[1]
    try:
        return json.dumps(json.loads(b"".join(parts)))
    except ValueError:
        return json.dumps({"error": f"ROOT ended with status {status}"})


def main() -> None:
    """Answers the question argv[1] for each path on stdin."""
    import ROOT

    question = sys.argv[1]
    ROOT.gROOT.SetBatch(True)
    for number in range(16):
        ROOT.gSystem.ResetSignal(number, True)
    for name in ("common", question):
        if not ROOT.gInterpreter.Declare((CPP / f"{name}.C").read_text()):
            raise SystemExit(f"{name}.C does not compile")
    function = getattr(ROOT, question).all
    function("/nonexistent")  # compiles the wrapper once, before the forks
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                _child(function, line.rstrip("\n"), writing)
            finally:
                os._exit(0)
        os.close(writing)
        print(_answer(pid, reading), flush=True)


if __name__ == "__main__":
    main()
