"""What a monitor has recorded outlives its kill and a full disk, and the job does not notice."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import uproot

import basketry as bk
from referee.paths import BINARY


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a journal, which must be whole."""
    text = path.read_text()
    assert text.endswith("\n")
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize("name", ["perf.root", "perf.csv", "perf.jsonl", "perf.parquet"])
def test_samples_outlive_a_kill(tmp_path: Path, name: str) -> None:
    perf, journal = tmp_path / name, tmp_path / f"{name}.partial.csv"
    script = "echo start > $BASKETRY_MONITOR; exec sleep 60"
    line = [str(BINARY), "monitor", "--every", "0.005", "-o", str(perf), "--", "sh", "-c", script]
    with subprocess.Popen(line) as job:
        while not (journal.exists() and journal.read_text().count("\n") > 20):
            assert job.poll() is None
            time.sleep(0.01)
        child = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()[0]
        job.kill()
        job.wait()
        subprocess.run(["kill", child], check=True)

    found = rows(journal)
    assert not perf.exists()
    assert len(found) >= 19
    assert "start" in [row["mark"] for row in found]
    times = [float(row["time"]) for row in found]
    assert times == sorted(times)

    # The next one does not touch them.
    before = journal.read_bytes()
    subprocess.run([str(BINARY), "monitor", "-q", "-o", perf, "--", "true"], check=True)
    assert journal.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, journal.name])


# Room for the journal's first lines, and for some outputs.
@pytest.mark.parametrize(("name", "fits"), [("perf.csv", True), ("perf.jsonl", False), ("perf.root", False)])
def test_a_full_disk_ends_the_recording_and_not_the_job(tmp_path: Path, name: str, fits: bool) -> None:
    perf, journal = tmp_path / name, tmp_path / f"{name}.partial.csv"
    # The limit on the size of files stands in for the disk. The job marks more than fits, and then works on.
    marks = "for i in $(seq 200); do echo mark$i; done > $BASKETRY_MONITOR"
    script = (
        f"trap '' XFSZ; ulimit -f 4; exec {BINARY} monitor --json -o {perf} -- sh -c '{marks}; echo done; exit $0' "
    )
    for code in (0, 5):
        done = subprocess.run(["sh", "-c", f"{script} {code}"], capture_output=True, text=True, check=False, timeout=60)

        assert done.returncode == (code or 2), done.stderr
        said, _, summary = done.stdout.partition("\n")
        assert said == "done"
        assert len(json.loads(summary)["marks"]) == 201
        assert "samples" in done.stderr
        assert str(tmp_path) in done.stderr
        kept = perf if fits else journal
        found = rows(kept)
        assert 5 < len(found) < 200
        assert [row["mark"] for row in found if row["mark"]][:3] == ["mark1", "mark2", "mark3"]
        assert sorted(path.name for path in tmp_path.iterdir()) == [kept.name]
        kept.unlink()


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
        assert done.returncode == 2, done.stderr
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
