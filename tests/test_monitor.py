"""monitor: its figures equal the job's own knowledge, and its file is read by ROOT and uproot."""

import json
import mmap
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee import schema_document
from referee.command import Basketry, run
from referee.paths import BINARY, REPO

# Python without site packages and without writing bytecode.
PYTHON = [sys.executable, "-I", "-S", "-B", "-c"]

# Allocates, burns CPU, writes, marks; and prints the kernel's figures.
JOB = """
import json, os, resource, sys, time
monitor = open(os.environ["BASKETRY_MONITOR"], "w", buffering=1)
print("start", file=monitor)
# Long enough for a sample, even on a busy machine.
time.sleep(1)
block = b"x" * (150 << 20)
while time.process_time() < 0.5:
    pass
with open(sys.argv[1] + ".tmp", "wb", buffering=0) as out:
    for event in range(5):
        out.write(memoryview(block)[: 10 << 20])
        print("events +1", file=monitor)
    print("stop", file=monitor)
    time.sleep(1)
    os.rename(sys.argv[1] + ".tmp", sys.argv[1])
more = b"y" * (100 << 20)
print("finalize", file=monitor)
time.sleep(1)
own = resource.getrusage(resource.RUSAGE_SELF)
io = dict(line.split(": ") for line in open("/proc/self/io").read().splitlines())
used = [own.ru_maxrss * 1024, own.ru_utime, own.ru_stime, own.ru_minflt]
os.write(1, json.dumps([*used, int(io["wchar"]), int(io["rchar"])]).encode())
os._exit(3)
"""


def command(*words: object) -> list[str]:
    """A command under the monitor."""
    return [str(BINARY), "monitor", *map(str, words)]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, list[float], Path]:
    """The file of a watched job, its summary, the job's own figures, and its output."""
    folder = tmp_path_factory.mktemp("monitor")
    perf, out = folder / "perf.root", folder / "out.bin"
    line = command("--json", "--every", 0.05, "-o", perf, "--", *PYTHON, JOB, out)
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3, done.stderr
    known, _, summary = done.stdout.partition("]")
    return perf, json.loads(summary), json.loads(known + "]"), out


def test_figures_agree_with_the_kernel_to_a_per_cent(watched: tuple[Path, Any, list[float], Path]) -> None:
    _, summary, (peak, user, system, faults, written, read), out = watched
    assert summary["peak_rss"] == pytest.approx(peak, rel=0.01)
    # Allows for CPU after the job's own figures, and for its exit.
    assert user <= summary["user"] <= 1.01 * user + 0.2
    assert system <= summary["system"] <= 1.01 * system + 0.2
    assert summary["end"]["minor_faults"] == pytest.approx(faults, rel=0.01)
    # The job wrote this line after reading its own figures.
    assert 0 <= summary["end"]["written"] - written < 200
    assert 0 <= summary["end"]["read"] - read < 10_000
    (file,) = summary["files"]
    assert (file["path"], file["bytes"], file["removed"]) == (str(out), 50 << 20, False)
    assert summary["marks"][0]["time"] < file["opened"] < file["closed"] <= summary["end"]["time"]


def test_marks_show_the_cost_of_closing(watched: tuple[Path, Any, list[float], Path]) -> None:
    _, summary, _, _ = watched
    start, stop, finalize, end = summary["marks"]

    assert [mark["mark"] for mark in (start, stop, finalize, end)] == ["start", "stop", "finalize", "end"]
    assert (start["events"], stop["events"], end["events"]) == (0, 5, 5)
    assert stop["rss"] - start["rss"] == pytest.approx(150 << 20, rel=0.01)
    assert finalize["rss"] - stop["rss"] == pytest.approx(100 << 20, rel=0.01)
    assert finalize["vsize"] - stop["vsize"] == pytest.approx(100 << 20, rel=0.01)
    assert stop["output"] == end["output"] == 50 << 20
    assert end["rss"] == end["processes"] == 0
    assert 0 < summary["events_per_second"] == pytest.approx(5 / (stop["time"] - start["time"]))


def test_uproot_reads_the_file(watched: tuple[Path, Any, list[float], Path]) -> None:
    perf, summary, _, out = watched
    with uproot.open(perf) as file:
        samples = file["samples"].arrays()
        assert len(samples) == summary["samples"]
        assert samples["mark"][-1] == "end"
        for name, value in summary["end"].items():
            assert samples[name][-1].tolist() == value if name == "output_bytes" else samples[name][-1] == value
        for name in ("time", "user", "system", "written", "peak_rss"):
            assert samples[name].tolist() == sorted(samples[name].tolist()), name
        assert max(samples["rss"]) == summary["most"]["rss"]
        (line,) = summary["files"]
        assert file["files"].arrays().tolist() == [line]
        assert line["path"] == str(out)
        (job,) = file["job"].arrays().tolist()
        assert {name: summary[name] for name in job} == job


ROOT_SAYS = """
import json, sys, ROOT
frame = ROOT.RDataFrame("samples", sys.argv[1])
marks = frame.Filter('mark != ""')
texts = [str(mark) for mark in marks.Take["std::string"]("mark")]
rss = [int(value) for value in marks.Take["Long64_t"]("rss")]
outputs = frame.Define("all", "Sum(output_bytes)").Filter("all != output").Count().GetValue()
command = str(list(ROOT.RDataFrame("job", sys.argv[1]).Take["std::string"]("command"))[0])
print(json.dumps([frame.Count().GetValue(), texts, rss, outputs, command]))
"""


def test_root_reads_the_file(watched: tuple[Path, Any, list[float], Path]) -> None:
    perf, summary, _, _ = watched
    asked = [sys.executable, "-W", "ignore", "-c", ROOT_SAYS, str(perf)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120)
    count, marks, rss, different, name = json.loads(done.stdout.splitlines()[-1])

    assert (count, different, name) == (summary["samples"], 0, summary["command"])
    assert marks == [mark["mark"] for mark in summary["marks"]]
    assert rss == [mark["rss"] for mark in summary["marks"]]


def test_the_summary_has_the_documented_fields(watched: tuple[Path, Any, list[float], Path]) -> None:
    found = schema_document.differences(REPO / "docs" / "monitor-schema.md", [watched[1]])
    assert not found, "\n".join(found)


def test_processes_that_ended_are_counted(tmp_path: Path) -> None:
    # A child burns CPU and ends, a grandchild writes and ends; the job itself does nothing.
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    script = f"""
import subprocess
subprocess.run([*{PYTHON}, {burn!r}], check=True)
subprocess.run("dd if=/dev/zero of={tmp_path}/zeros bs=1000 count=3000 status=none", shell=True, check=True)
"""
    done = subprocess.run(
        command("--json", "--every", 5, "--file", tmp_path / "zeros", "--", *PYTHON, script),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    summary = json.loads(done.stdout)

    # Both lived between two samples.
    assert summary["user"] + summary["system"] >= 0.3
    assert 3_000_000 <= summary["end"]["written"] < 3_010_000
    (file,) = summary["files"]
    assert (file["path"], file["bytes"], file["removed"]) == (f"{tmp_path}/zeros", 3_000_000, False)


def test_exit_code_and_output_are_those_of_the_command(basketry: Basketry, tmp_path: Path) -> None:
    outcome = basketry.run("monitor", "--live", "sh", "-c", "echo out; echo err >&2; exit 5")
    assert (outcome.code, outcome.out) == (5, "out\n")
    assert "err\n" in outcome.err
    assert "exit code 5" in outcome.err
    assert re.search(r"^\d\.\d s  RSS ", outcome.err, re.M), "the live view prints a line"
    quiet = basketry.run("monitor", "-q", "--", "sh", "-c", "kill -KILL $$")
    assert (quiet.code, quiet.out, quiet.err) == (137, "", "")
    assert "No such file" in basketry.refuses("monitor", tmp_path / "none", code=127)
    assert "Permission" in basketry.refuses("monitor", REPO / "README.md", code=126)
    there = tmp_path / "there.csv"
    there.write_text("mine")
    ran = tmp_path / "ran"

    assert "--force" in basketry.refuses("monitor", "-o", there, "touch", ran)
    assert "parquet" in basketry.refuses("monitor", "-o", tmp_path / "perf.txt", "touch", ran)
    assert there.read_text() == "mine"
    assert not ran.exists(), "a command that could not be recorded is not run"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_go_to_the_command_and_the_file_is_whole(number: signal.Signals, tmp_path: Path) -> None:
    script = "import signal, sys, time\n"
    script += f"signal.signal({int(number)}, lambda *_: sys.exit(7))\nprint('ready', flush=True)\ntime.sleep(60)"
    # The parent of the tests may ignore the signal.
    line = [
        "env",
        f"--default-signal={int(number)}",
        *command("-q", "-o", tmp_path / "perf.root", "--", *PYTHON, script),
    ]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n"
        job.send_signal(number)
        assert job.wait(30) == 7

    with uproot.open(tmp_path / "perf.root") as file:
        assert file["samples"]["mark"].array()[-1] == "end"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["perf.root"]


def test_ignored_signals_stay_ignored() -> None:
    # As with nohup(1): a closed terminal ends neither the job nor the monitor.
    with subprocess.Popen(
        ["env", "--ignore-signal=HUP", *command("-q", "--", "sh", "-c", "kill -HUP $$; kill -HUP $PPID; echo alive")],
        stdout=subprocess.PIPE,
        text=True,
    ) as job:
        assert job.communicate(timeout=30)[0] == "alive\n"
    assert job.returncode == 0


@pytest.mark.parametrize("megabytes", [20, 100])
def test_a_very_short_job_has_a_peak(megabytes: int) -> None:
    # The job ends before the second sample, and its peak is not the monitor's.
    words = [shutil.which("dd") or "dd", "if=/dev/zero", "of=/dev/null", f"bs={megabytes}M", "count=1", "status=none"]
    done = subprocess.run(command("--json", "--", *words), capture_output=True, text=True, check=True, timeout=60)
    summary = json.loads(done.stdout)

    # By wait4(2), like `time -v`. The kernel maps pages of libraries around the needed one, as far as it has them.
    assert summary["peak_rss"] == pytest.approx(run(words).peak_rss, rel=0.01, abs=1_000_000)
    assert summary["end"]["written"] == megabytes << 20


def test_the_output_of_a_watched_basketry_is_found(made: Path, tmp_path: Path) -> None:
    perf, out = tmp_path / "perf.parquet", tmp_path / "out.root"
    line = command("--json", "-o", perf, "--", BINARY, "rewrite", "-q", made, "-o", out, "--compression", "none")
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60)
    summary = json.loads(done.stdout)
    assert summary["end"]["written"] >= out.stat().st_size
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(perf).to_pylist()

    assert len(table) == summary["samples"]
    assert table[-1] == summary["end"]


def test_a_monitor_inside_a_program_counts_events(tmp_path: Path) -> None:
    perf = tmp_path / "perf.root"
    before = resource.getrusage(resource.RUSAGE_SELF)
    with bk.Monitor(perf, every=0.01, files=[tmp_path / "out"]) as monitor:
        with pytest.raises(RuntimeError, match="has not ended"):
            _ = monitor.summary
        # From the system: the heap of a process that has done other work may have as much room, which is resident.
        block = mmap.mmap(-1, 80 << 20)
        block[:: mmap.PAGESIZE] = b"x" * (len(block) // mmap.PAGESIZE)
        until = time.process_time() + 0.2
        while time.process_time() < until:
            monitor.events()
        monitor.stop()
        (tmp_path / "out").write_bytes(block)
        monitor.finalize()
    after = resource.getrusage(resource.RUSAGE_SELF)
    summary = monitor.summary
    start, stop, finalize, end = summary.marks
    assert [mark.mark for mark in summary.marks] == ["start", "stop", "finalize", "end"]
    assert stop.rss - start.rss == pytest.approx(80 << 20, rel=0.05)
    assert stop.events == end.events > 0 == start.events
    # To the kernel's resolution at both ends.
    assert summary.user + summary.system <= after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + 0.04
    assert summary.user + summary.system >= 0.2 - 0.04
    # Reads and writes of sampling do not count, except a sample in work.
    assert 80 << 20 <= finalize.written < (80 << 20) + 100_000
    assert stop.written < 100_000
    assert (finalize.output, end.output_bytes) == (80 << 20, (80 << 20,))
    assert summary.samples > 10
    with uproot.open(perf) as file:
        assert file["samples"].num_entries == summary.samples
    with pytest.raises(FileExistsError, match="force=True"), bk.Monitor(perf):
        pass
    with pytest.raises(RuntimeError, match="one `with` block"), monitor:
        pass
    with pytest.raises(ValueError, match="every"), bk.Monitor(every=0):
        pass


def test_a_monitor_inside_reports_to_the_one_outside(tmp_path: Path) -> None:
    script = "import basketry\nwith basketry.Monitor() as m:\n    m.events(12)\n    m.stop()\n    m.mark('checked')"
    done = subprocess.run(
        command("--json", "--", sys.executable, "-c", script),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(Path(bk.__file__).parents[1])},
    )
    summary = json.loads(done.stdout)

    assert [mark["mark"] for mark in summary["marks"]] == ["start", "stop", "checked", "end"]
    assert summary["end"]["events"] == 12
    assert tmp_path.is_dir()


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_the_log_of_an_ancestor_is_not_an_output(tmp_path: Path, place: str) -> None:
    # A test runner that captures output holds its log under other descriptors than 1 and 2, as do its children.
    out = tmp_path / "out"
    with (tmp_path / "runner.log").open("ab") as log:
        log.write(b"y" * 50_868)
        log.flush()
        files = f"log, out = os.fdopen({log.fileno()}, 'ab', 0), open({str(out)!r}, 'wb', 0)"
        work = f"{files}; log.write(b'z'); out.write(b'x')"
        if place == "inside":
            show = "print(*[file.path for file in monitor.summary.files])"
            script = f"import os, basketry\nwith basketry.Monitor() as monitor:\n    {work}; monitor.stop()\n{show}"
            line = [sys.executable, "-c", script]
        else:
            # The mark takes a sample while the file is open.
            mark = "monitor = open(os.environ['BASKETRY_MONITOR'], 'w'); print('stop', file=monitor, flush=True)"
            script = f"import os, time\n{work}\n{mark}\ntime.sleep(1)"
            line = command("--json", "--", *PYTHON, script)
        env = os.environ | {"PYTHONPATH": str(Path(bk.__file__).parents[1])}
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=env, pass_fds=[log.fileno()])
    assert done.returncode == 0, done.stderr
    inside = place == "inside"
    outputs = done.stdout.split() if inside else [file["path"] for file in json.loads(done.stdout)["files"]]

    assert outputs == [str(out)]


def test_the_cost_of_monitoring_is_reported() -> None:
    # `make bench BENCH=monitor` measures the amount.
    sleepers = "import os, time\nfor _ in range(9):\n    if os.fork() == 0: break\ntime.sleep(3)"
    line = command("--json", "--", *PYTHON, sleepers)
    summary = json.loads(subprocess.run(line, capture_output=True, text=True, check=True, timeout=60).stdout)

    assert summary["most"]["processes"] == 10
    assert 0 < summary["monitor_cpu"] < summary["elapsed"]
