"""A process with real ROOT in it that answers one question after another, each in a forked child.

`serve` is the process' loop, and `Server` what asks it. A crash, or a child over its time limit, costs that answer
only. Run as a program this module answers a question about files for `RootServer`: a C++ function
`std::string NAME::all(const char *path)` in cpp/NAME.C, which returns JSON and may use cpp/common.C.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIMEOUT = 120.0
CPP = Path(__file__).resolve().parent / "cpp"


class Server:
    """Asks a program of this package; the process is started with the first question."""

    def __init__(self, program: str, *words: str) -> None:
        self._words = [program, *words]
        self._process: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """Ends the process."""
        if self._process:
            self._process.communicate()
            self._process = None

    def ask(self, question: str) -> Any:
        """The answer to a line, or {"error": reason}."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", *self._words],
                env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"ROOT ({' '.join(self._words)}) died on {question}")
        return json.loads(line)


class RootServer(Server):
    """Asks one question about files."""

    def __init__(self, question: str) -> None:
        super().__init__("referee.root_server", question)

    def of(self, path: Path) -> dict[str, Any]:
        """The answer for this file, or {"error": reason}. ROOT runs in the file's own folder, beside its companions."""
        answer: dict[str, Any] = self.ask(str(path.absolute()))
        return answer


def serve(answer: Callable[[str], str], timeout: float) -> None:
    """Answers each line of stdin with JSON, within this many seconds."""
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            try:
                _child(answer, line.rstrip("\n"), writing)
            finally:
                os._exit(0)
        os.close(writing)
        print(_answer(pid, reading, timeout), flush=True)


def _child(answer: Callable[[str], str], question: str, pipe: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    with os.fdopen(pipe, "w") as out:
        out.write(answer(question))


def _answer(pid: int, reading: int, timeout: float) -> str:
    """The output of the child until it ends or runs out of time."""
    deadline = time.monotonic() + timeout
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
        return json.dumps(ended(status))


def ended(status: int) -> dict[str, str]:
    """The answer of a child that ended without one."""
    return {"error": f"ROOT ended with status {status}"}


def main() -> None:
    """Answers the question argv[1] about each path on stdin."""
    import ROOT

    question = sys.argv[1]
    ROOT.gROOT.SetBatch(True)
    for number in range(16):
        ROOT.gSystem.ResetSignal(number, True)
    for name in ("common", question):
        if not ROOT.gInterpreter.Declare((CPP / f"{name}.C").read_text()):
            raise SystemExit(f"{name}.C does not compile")
    function = getattr(ROOT, question).all
    # ROOT compiles what it needs at first use: once here, and not in each child.
    with tempfile.TemporaryDirectory() as folder:
        file = ROOT.TFile(f"{folder}/small.root", "RECREATE")
        tree = ROOT.TNtuple("tree", "", "x")
        tree.Fill(1.0)
        file.Write()
        file.Close()
        function(f"{folder}/small.root")

    def answer(path: str) -> str:
        os.chdir(Path(path).parent)
        return str(function(path))

    serve(answer, TIMEOUT)


if __name__ == "__main__":
    main()
