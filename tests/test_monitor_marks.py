"""What the monitor sees by itself, of a job that is not edited: output files that are opened, closed, renamed and
removed, signals, and the end; processes that run already; and Python programs that are run with a monitor."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee.command import run
from referee.paths import BINARY

PYTHON = [sys.executable, "-I", "-S", "-B", "-c"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(bk.__file__).parents[1])}

#: Opens, renames, closes and removes files. Each step waits until the monitor has seen it: at a mark it looks at
#: everything.
STEPS = """
import os, sys, time
out, scratch = sys.argv[1:]
monitor = open(os.environ["BASKETRY_MONITOR"], "w", buffering=1)
def seen(name):
    print(name, file=monitor)
    time.sleep(0.3)
file = open(out + ".tmp", "wb"); other = open(scratch, "wb")
file.write(b"x" * 1000); file.flush(); seen("opened")
os.rename(out + ".tmp", out); os.remove(scratch); seen("renamed")
file.close(); seen("closed")
file = open(out, "ab"); file.write(b"y"); file.flush(); seen("again")
"""


def events(samples: list[dict[str, Any]]) -> list[str]:
    """All that was seen, in order."""
    return [event for sample in samples for event in sample["seen"].split("; ") if event]


def test_files_are_seen_without_a_word_of_the_job(tmp_path: Path) -> None:
    out, scratch, perf = tmp_path / "out.root", tmp_path / "scratch", tmp_path / "perf.root"
    line: list[str | Path] = [
        BINARY,
        "monitor",
        "--json",
        "--every",
        "0.05",
        "-o",
        perf,
        "--",
        *PYTHON,
        STEPS,
        out,
        scratch,
    ]
    summary = json.loads(subprocess.check_output(line, timeout=60))

    told = events(summary["seen"])
    assert sorted(told[:2]) == sorted([f"open {out}.tmp", f"open {scratch}"])
    rest = [event for event in told[2:] if str(scratch) not in event]
    assert rest == [f"rename {out}.tmp > {out}", f"close {out}", f"open {out}", f"close {out}", "exit 0"]
    # A file without a name is open as long as its descriptor is.
    assert [event for event in told[2:] if str(scratch) in event] == [f"remove {scratch}", f"close {scratch}"]
    files = {file["path"]: file for file in summary["files"]}
    assert files[str(out)]["bytes"] == 1001
    assert files[str(scratch)]["removed"]
    at = {mark["mark"]: mark["time"] for mark in summary["marks"]}
    assert files[str(out)]["opened"] <= at["opened"] < at["closed"] < files[str(out)]["closed"]
    # Other readers have it from the record.
    with uproot.open(perf) as file:
        assert [text for text in file["samples"]["seen"].array().tolist() if text] == [
            one["seen"] for one in summary["seen"]
        ]
    shown = run([BINARY, "monitor", "show", perf], timeout=60).out
    assert "open out.root.tmp" in shown
    assert "rename out.root.tmp > out.root" in shown
    page = tmp_path / "page.html"
    subprocess.run(
        [str(BINARY), "monitor", "show", perf, "-o", page], check=True, stdout=subprocess.DEVNULL, timeout=60
    )
    assert "rename out.root" in page.read_text()


def test_signals_and_the_end_are_seen() -> None:
    script = "trap 'exit 4' TERM; echo ready; while :; do sleep 0.05; done"
    line = [str(BINARY), "monitor", "--json", "--every", "0.02", "--", "sh", "-c", script]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n"
        (child,) = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        for number, state in ((signal.SIGSTOP, "T"), (signal.SIGCONT, "RS")):
            os.kill(int(child), number)
            while Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] not in state:
                time.sleep(0.01)
            # Some samples later it was seen.
            time.sleep(0.5)
        job.terminate()
        summary = json.loads(job.stdout.read())
        assert job.wait(30) == 4
    assert events(summary["seen"]) == ["stopped", "continued", "SIGTERM", "exit 4"]


def test_a_process_that_runs_is_watched_to_its_end(tmp_path: Path) -> None:
    perf, out = tmp_path / "perf.csv", tmp_path / "out"
    script = (
        "import sys, time\nused = b'x' * (50 << 20)\n"
        "while time.process_time() < 0.3: pass\nprint('ready', flush=True)\n"
        "sys.stdin.readline()\nout = open(sys.argv[1], 'wb', 0); out.write(used)\nmore = b'y' * (60 << 20)\n"
        "print('done', flush=True)\nsys.stdin.readline()"
    )
    with subprocess.Popen([*PYTHON, script, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdin is not None
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n"
        line = [str(BINARY), "monitor", "--json", "--every", "0.01", "--pid", str(job.pid), "-o", str(perf)]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as monitor:
            while not (perf.exists() and perf.read_text().count("\n") > 3):
                assert monitor.poll() is None
                time.sleep(0.01)
            for expected in ("done\n", ""):
                print(file=job.stdin, flush=True)
                assert job.stdout.readline() == expected
                if expected:
                    # Until it is seen, and all of its memory.
                    before = perf.read_text().count("\n")
                    while f"open {out}" not in perf.read_text() or perf.read_text().count("\n") < before + 3:
                        time.sleep(0.01)
            assert monitor.stdout is not None
            summary = json.loads(monitor.stdout.read())
            assert monitor.wait(30) == 0
    # What it did before does not count, but its memory is what it is.
    assert summary["user"] < 0.3
    assert 50 << 20 <= summary["end"]["written"] < 51 << 20
    assert summary["most"]["rss"] > 110 << 20
    assert summary["exit_code"] == -1
    assert "time.process_time" in summary["command"]
    assert events(summary["seen"]) == [f"open {out}", f"close {out}", "exit"]
    refused = subprocess.run(
        [str(BINARY), "monitor", "--pid", str(job.pid)], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert str(job.pid) in refused.stderr


@pytest.mark.parametrize("how", ["duration", "signal"])
def test_the_watching_ends_before_the_process(tmp_path: Path, how: str) -> None:
    perf = tmp_path / "perf.root"
    with subprocess.Popen(["sleep", "60"]) as job:
        line = [str(BINARY), "monitor", "-q", "--every", "0.01", "--pid", str(job.pid), "-o", str(perf)]
        more = ["--duration", "0.2"] if how == "duration" else []
        with subprocess.Popen([*line, *more]) as monitor:
            if how == "signal":
                while not Path(f"{perf}.partial.csv").exists():
                    time.sleep(0.01)
                monitor.terminate()
            assert monitor.wait(30) == 0
        assert job.poll() is None
        job.kill()
    with uproot.open(perf) as file:
        samples = file["samples"].arrays(["mark", "seen"]).tolist()
    assert samples[-1] == {"mark": "end", "seen": "watched no longer"}
    assert not Path(f"{perf}.partial.csv").exists()


PROGRAM = """
import atexit, sys
class Output:
    def __init__(self, path): self.file = open(path, "wb", 0)
    def __del__(self): self.file.write(b"x" * 1000); self.file.close()
left = Output(sys.argv[1])
atexit.register(print, "at exit", flush=True)
print(__name__, sys.argv[1:], flush=True)
if len(sys.argv) > 2: raise SystemExit(int(sys.argv[2]))
"""


@pytest.mark.parametrize("how", ["file", "module"])
@pytest.mark.parametrize("code", [0, 7])
def test_a_python_program_is_run_with_a_monitor(tmp_path: Path, how: str, code: int) -> None:
    (tmp_path / "job.py").write_text(PROGRAM)
    perf, out = tmp_path / "perf.root", tmp_path / "out"
    program = [str(tmp_path / "job.py")] if how == "file" else ["-m", "job"]
    arguments = [str(out), *([str(code)] if code else [])]
    line = [sys.executable, "-m", "basketry.monitor", "-o", str(perf), *program, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == code, done.stderr
    assert done.stdout == f"__main__ {arguments}\nat exit\n"
    assert f"open {out}" in done.stderr
    assert out.stat().st_size == 1000
    with uproot.open(perf) as file:
        (about,) = file["job"].arrays().tolist()
        samples = file["samples"].arrays(["mark", "seen", "output"]).tolist()
    assert about["exit_code"] == code
    assert [one["mark"] for one in samples if one["mark"]] == ["start", "stop", "finalize", "end"]
    # The program's own objects close their files after `stop`, if it ends without an exception.
    at = {one["mark"]: one["output"] for one in samples if one["mark"]}
    assert at["end"] == 1000 or code
    assert at["stop"] == 0


def test_errors_of_a_python_program_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("raise KeyError('mine')")
    line = [sys.executable, "-m", "basketry.monitor", "--json", "job.py"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == 1
    assert "KeyError: 'mine'" in done.stderr
    assert json.loads(done.stdout)["exit_code"] == 1
    bare = subprocess.run(line[:3], capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT)
    assert bare.returncode == 2
    assert "no program" in bare.stderr
