"""RNTuples that are being written when the job is killed, interrupted, or out of room: under the output's name there is
what was there before, and what AutoSave left under the hidden name can be read. The full disk is in
crates/cli/tests/it/no_room.rs."""

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

import basketry as bk
from referee import root_ntuples
from referee.command import Argument, Basketry

# Options of jobs that are to be stopped.
SLOW = ("--container", "rntuple", "--compression", "lzma:9", "-j", "2", "-q")


def unfinished(folder: Path) -> int:
    """Bytes of the hidden file in work; 0 if there is none."""
    try:
        return sum(path.stat().st_size for path in folder.glob(".*"))
    except FileNotFoundError:
        return 0


def run_until(command: list[Argument], folder: Path, size: float, number: signal.Signals) -> tuple[int, str]:
    """Sends a signal to a command when its hidden file in a folder is larger than this. Returns the exit code and the
    message."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as job:
        while unfinished(folder) <= size and job.poll() is None:
            time.sleep(0.001)
        job.send_signal(number)
        _, said = job.communicate()
    return job.returncode, said.decode()


@pytest.fixture(scope="module")
def tree(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of some megabytes, in several clusters."""
    path = tmp_path_factory.mktemp("tree") / "tree.root"
    basketry("generate", "nano", "-o", path, "--size", "8MB", "--cluster", "500kB")
    return path


@pytest.fixture(scope="module")
def jobs(tree: Path, basketry: Basketry) -> dict[str, list[Argument]]:
    """Commands without their output that take seconds to write an RNTuple."""
    ntuple = tree.with_name("ntuple.root")
    basketry("rewrite", tree, "-o", ntuple, "--container", "rntuple")
    return {
        "rewrite": ["rewrite", tree, "--cluster", "500kB", *SLOW],
        "generate": ["generate", "nano", "--size", "8MB", "--cluster", "500kB", *SLOW],
        "again": ["rewrite", ntuple, "--cluster", "1000", *SLOW],
    }


@pytest.mark.parametrize("job", ["rewrite", "generate", "again"])
def test_a_killed_writer_leaves_the_earlier_file(
    job: str, jobs: dict[str, list[Argument]], basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    command = [basketry.binary, *jobs[job], "-o", out, "--force"]
    basketry(*command[1:])
    size = out.stat().st_size
    earlier = b"an earlier file"
    killed = 0
    for part in range(4):
        out.write_bytes(earlier)
        code, _ = run_until(command, tmp_path, size * part / 4, signal.SIGKILL)
        if code == -signal.SIGKILL:
            killed += 1
            assert out.read_bytes() == earlier
            # It has no list of pages: there is no RNTuple to be read.
            for left in tmp_path.glob(".*.tmp"):
                assert basketry.run("recover", left, "-o", tmp_path / "no.root").code == 2
                assert not (tmp_path / "no.root").exists()
    assert killed > 2
    # The next job removes what is left.
    basketry(*command[1:])
    assert not list(tmp_path.glob(".*"))


def test_a_killed_writer_leaves_the_saved_entries(basketry: Basketry, tmp_path: Path, full: bool) -> None:
    """After each AutoSave the unfinished file is an RNTuple that ROOT reads, with the entries so far."""
    chance = random.Random(5)
    options = ["--size", "40MB", "--cluster", "500kB", "--autosave", "1MB", "--container", "rntuple", "-j", "2", "-q"]
    command: list[Argument] = [basketry.binary, "generate", "nano", *options]
    whole = tmp_path / "whole.root"
    basketry(*command[1:], "-o", whole)
    size, entries = whole.stat().st_size, bk.open(f"{whole}:Events").num_entries
    left, expected = [], []
    for number in range(30 if full else 4):
        folder = tmp_path / str(number)
        folder.mkdir()
        # Two AutoSaves and a cluster prove that the first is complete.
        enough = chance.uniform(3_500_000, 0.9 * size)
        code, _ = run_until([*command, "-o", folder / "out.root"], folder, enough, signal.SIGKILL)
        if code != -signal.SIGKILL:
            # The job ended before the signal.
            continue
        assert not (folder / "out.root").exists()
        [hidden] = folder.iterdir()
        saved = bk.open(f"{hidden}:Events").num_entries
        assert 0 < saved < entries
        basketry("rewrite", whole, "-o", folder / "expected.root", "--entries", f":{saved}")
        basketry("verify", folder / "expected.root", hidden)
        basketry("recover", hidden, "-o", folder / "recovered.root")
        # A save that the kill cut off may be whole as well, and then has more entries.
        assert bk.open(f"{folder / 'recovered.root'}:Events").num_entries >= saved
        left.append(f"{hidden}:Events")
        expected.append(f"{folder / 'expected.root'}:Events")
    assert len(left) > 2
    # ROOT takes seconds for so many fields: it reads one file.
    shown = root_ntuples.show(*left[:1])
    assert root_ntuples.CRASH not in shown
    assert shown == root_ntuples.show(*expected[:1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("job", ["rewrite", "generate", "again"])
def test_an_interrupted_writer_leaves_nothing(
    job: str, number: signal.Signals, jobs: dict[str, list[Argument]], basketry: Basketry, tmp_path: Path
) -> None:
    command = [basketry.binary, *jobs[job], "-o", tmp_path / "out.root"]
    code, said = run_until(command, tmp_path, 0, number)

    assert said == "basketry: interrupted; the unfinished output was removed\n"
    assert code == 128 + number
    assert not list(tmp_path.iterdir())
