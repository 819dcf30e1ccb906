"""What a monitor has recorded outlives its kill and a full disk, and the job does not notice."""

import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee.paths import BINARY


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a journal, which must be whole."""
    text = path.read_text()
    assert text.endswith("\n")
    return list(csv.DictReader(text.splitlines()))


#: Marks, and then takes more and more memory, as a job does that is killed for it.
GROWS = """
import os, time
print("start", file=open(os.environ["BASKETRY_MONITOR"], "w"), flush=True)
held = [b"x" * 3_000_000 for _ in range(10)]
while len(held) < 100:
    held.append(b"x" * 3_000_000)
    time.sleep(0.1)
time.sleep(60)
"""


def samples(path: Path) -> list[dict[str, Any]]:
    """The samples of a record, as other programs read it."""
    if path.suffix == ".root":
        # uproot opens a path more than once, and the record may be replaced meanwhile.
        with uproot.open(io.BytesIO(path.read_bytes())) as file:
            return list(file["samples"].arrays(["time", "mark"]).tolist())
    if path.suffix == ".parquet":
        return list(pytest.importorskip("pyarrow.parquet").read_table(path, columns=["time", "mark"]).to_pylist())
    text = path.read_text()
    assert text.endswith("\n")
    return (
        list(csv.DictReader(text.splitlines())) if path.suffix == ".csv" else list(map(json.loads, text.splitlines()))
    )


@pytest.mark.parametrize("name", ["perf.root", "perf.csv", "perf.jsonl", "perf.parquet"])
def test_a_record_has_its_name_when_all_is_killed(tmp_path: Path, name: str) -> None:
    perf = tmp_path / name
    made_of = [] if name in ("perf.csv", "perf.jsonl") else [f"{name}.partial.csv"]
    lines = tmp_path / (made_of or [name])[0]
    line = [str(BINARY), "monitor", "--every", "0.005", "-o", str(perf), "--", sys.executable, "-c", GROWS]
    with subprocess.Popen(line) as job:
        # The record has its name while the job runs, and is saved again.
        while not (perf.exists() and lines.read_text().count("\n") > 20 and "start" in str(samples(perf))):
            assert job.poll() is None
            time.sleep(0.05)
        child = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()[0]
        job.kill()
        job.wait()
        subprocess.run(["kill", child], check=True)

    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".tmp") == sorted([name, *made_of])
    found = samples(perf)
    assert "start" in [row["mark"] for row in found]
    times = [float(row["time"]) for row in found]
    assert times == sorted(times)
    if name == "perf.root":
        with uproot.open(perf) as file:
            (about,) = file["job"].arrays().tolist()
        assert about["exit_code"] == -1
        assert about["elapsed"] == times[-1]
    # Its own reader has all.
    shown = json.loads(subprocess.check_output([str(BINARY), "monitor", "show", "--json", perf]))
    (record,) = shown["records"]
    assert not record["finished"]
    assert record["samples"] >= max(len(found), 19)
    assert "start" in [moment["mark"] for moment in record["moments"]]
    # The whole record, of what is there.
    whole = tmp_path / "whole.csv"
    subprocess.run([str(BINARY), "monitor", "show", perf, "--save", whole], check=True, stdout=subprocess.DEVNULL)
    assert len(rows(whole)) == record["samples"]

    # Another monitor replaces it when it is told to, and leaves the journal.
    before = lines.read_bytes()
    again: list[str | Path] = [BINARY, "monitor", "-q", "-o", perf]
    assert subprocess.run([*again, "--", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 2
    assert lines.read_bytes() == before
    subprocess.run([*again, "-f", "--", "true"], check=True)
    assert not made_of or lines.read_bytes() == before


# Room for the journal's first lines, and for some outputs.
@pytest.mark.parametrize(("name", "fits"), [("perf.csv", True), ("perf.jsonl", True), ("perf.root", False)])
def test_a_full_disk_ends_the_recording_and_not_the_job(tmp_path: Path, name: str, fits: bool) -> None:
    perf, journal = tmp_path / name, tmp_path / f"{name}.partial.csv"
    # The limit on the size of files stands in for the disk. The job marks more than fits, and then works on.
    marks = "for i in $(seq 200); do echo mark$i; done > $BASKETRY_MONITOR"
    script = (
        f"trap '' XFSZ; ulimit -f 4; exec {BINARY} monitor --json -o {perf} -- sh -c '{marks}; echo done; exit $0' "
    )
    for code in (0, 5):
        done = subprocess.run(["sh", "-c", f"{script} {code}"], capture_output=True, text=True, check=False, timeout=60)

        assert done.returncode == code, done.stderr
        assert "basketry: warning: " in done.stderr
        said, _, summary = done.stdout.partition("\n")
        assert said == "done"
        assert len(json.loads(summary)["marks"]) == 201
        assert "samples" in done.stderr
        assert str(tmp_path) in done.stderr
        kept = perf if fits else journal
        found = rows(kept) if name != "perf.jsonl" else list(map(json.loads, kept.read_text().splitlines()))
        assert 5 < len(found) < 200
        assert [row["mark"] for row in found if row["mark"]][:3] == ["mark1", "mark2", "mark3"]
        assert sorted(path.name for path in tmp_path.iterdir()) == [kept.name]
        kept.unlink()


def test_a_disk_that_is_full_before_ends_no_job(tmp_path: Path) -> None:
    # Not even the first line has room.
    for code in (0, 5):
        for name in ("perf.csv", "perf.root"):
            script = (
                f"trap '' XFSZ; ulimit -f 0; exec {BINARY} monitor -q -o {tmp_path / name} -- sh -c 'exit $0' {code}"
            )
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == code, done.stderr
            assert "warning: nothing is recorded" in done.stderr
            assert not list(tmp_path.iterdir())
    # The summary has no room either.
    with Path("/dev/full").open("w") as full:
        line = [str(BINARY), "monitor", "--json", "--", "sh", "-c", "exit 3"]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 3
    assert "warning" in done.stderr


def test_a_program_goes_on_when_its_record_has_no_room(tmp_path: Path) -> None:
    perf = tmp_path / "perf.root"
    script = (
        "import basketry, signal, sys, resource, warnings\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    with basketry.Monitor(sys.argv[1], every=60) as monitor:\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))\n"
        "        for number in range(200): monitor.mark(f'mark{number}')\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "print(len(monitor.summary.marks), [str(one.message) for one in told], sep='\\n')"
    )
    line = ["sh", "-c", f"trap '' XFSZ; exec {sys.executable} -c \"$0\" {perf}", script]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    marks, told = done.stdout.splitlines()
    assert marks == "202"
    assert "recording stopped" in told
    with uproot.open(perf) as file:
        kept = [mark for mark in file["samples"]["mark"].array().tolist() if mark]
    assert kept[:3] == ["start", "mark0", "mark1"]
    assert len(kept) < 200


def test_a_full_disk_in_the_end_is_no_loss_of_a_root_file(tmp_path: Path) -> None:
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        perf = tmp_path / "perf.root"
        marks = "for i in $(seq 300); do echo mark$i; done > $BASKETRY_MONITOR"
        # The job fills the disk; afterwards there is room again for the output.
        fill = f"dd if=/dev/zero of={tmp_path}/big bs=1k status=none 2>/dev/null; {marks}; sleep 2; rm {tmp_path}/big"
        line = [
            str(BINARY),
            "monitor",
            "-q",
            "-o",
            str(perf),
            "--",
            "sh",
            "-c",
            f"echo first > $BASKETRY_MONITOR; {fill}",
        ]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "warning: " in done.stderr
        assert "recording stopped" in done.stderr
        with uproot.open(perf) as file:
            marked = [mark for mark in file["samples"]["mark"].array().tolist() if mark]
        assert marked[0] == "first"
        assert len(marked) < 300
        assert [path.name for path in tmp_path.iterdir()] == ["perf.root"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_program_that_is_killed_keeps_its_samples(tmp_path: Path) -> None:
    perf = tmp_path / "perf.root"
    script = (
        "import basketry, os, signal, sys\nmonitor = basketry.Monitor(sys.argv[1])\nmonitor.__enter__()\n"
        "monitor.mark('worked')\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, perf], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert "worked" in [row["mark"] for row in rows(tmp_path / "perf.root.partial.csv")]
    with bk.Monitor(perf, force=True):
        pass
    assert perf.exists()
