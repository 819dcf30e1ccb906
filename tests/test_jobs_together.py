"""Tasks of `plan` beside other runners, damaged states, foreign files and kills: no output is lost, nothing hangs."""

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.command import Basketry
from servers.odd import OddServer

SECRET = "let-me-in"


@pytest.fixture
def source(basketry: Basketry, tmp_path: Path) -> Path:
    """A file of about 1 MB."""
    path = tmp_path / "in.root"
    basketry("generate", "single", "--size", "1MB", "--seed", "1", "-o", path)
    return path


@pytest.fixture
def plan(basketry: Basketry, source: Path, tmp_path: Path) -> Path:
    """Three tasks, which write out0.root to out2.root."""
    for n in range(3):
        (tmp_path / f"part{n}.root").write_bytes(source.read_bytes())
    inputs = [tmp_path / f"part{n}.root" for n in range(3)]
    name = tmp_path / "out{n}.root"
    basketry("plan", "rewrite", *inputs, "-o", tmp_path / "jobs.json", "--name", name, "--", "--compression", "zstd:1")
    return tmp_path / "jobs.json"


def collected(basketry: Basketry, jobs: Path) -> dict[str, Any]:
    """What became of the tasks."""
    found: dict[str, Any] = json.loads(basketry.run("collect", jobs, "--json").out)
    return found


def state_of(jobs: Path, n: int) -> Path:
    """The state of a task."""
    return Path(f"{jobs}.d") / f"task-{n}.json"


def test_a_second_runner_leaves_the_task_alone(basketry: Basketry, plan: Path, tmp_path: Path) -> None:
    Path(f"{plan}.d").mkdir(exist_ok=True)
    with (Path(f"{plan}.d") / "task-0.lock").open("w") as lock:
        # As a runner that is in the midst of it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("process 12 on there\n")
        lock.flush()
        said = basketry.refuses("run", plan, "--task", "0")
        assert "task 0 is being run by process 12 on there" in said
        assert not state_of(plan, 0).exists()
        assert not (tmp_path / "out0.root").exists()
        basketry("run", plan, "--task", "1")
    # A dead runner's lock is none.
    basketry("run", plan, "--task", "0")
    assert collected(basketry, plan)["done"] == 2


def test_many_runners_of_one_task_make_one_good_output(basketry: Basketry, plan: Path, tmp_path: Path) -> None:
    words = [str(basketry.binary), "run", str(plan), "--task", "0"]
    runners = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    outcomes = [(runner.communicate(timeout=100)[1], runner.returncode) for runner in runners]
    assert any(code == 0 for _, code in outcomes)
    for said, code in outcomes:
        # Between its lock and its first word a runner is "another process".
        assert code == 0 or "is being run by" in said, said
    report = collected(basketry, plan)
    assert (report["done"], report["failed"]) == (1, 0)
    basketry("verify", tmp_path / "part0.root", tmp_path / "out0.root")


def test_a_runner_without_locks_does_not_call_anothers_task_failed(
    basketry: Basketry, plan: Path, tmp_path: Path
) -> None:
    basketry("run", plan, "--task", "0")
    done = state_of(plan, 0).read_text()
    output = tmp_path / "out0.root"
    kept = output.read_bytes()
    output.unlink()
    with Stopped(basketry, plan, state_of(plan, 0)) as process:
        # Meanwhile the other runner ends: its output and its state are there.
        output.write_bytes(kept)
        state_of(plan, 0).write_text(done)
        process.send_signal(18)
        assert process.wait(timeout=100) == 2
    assert state_of(plan, 0).read_text() == done
    assert output.read_bytes() == kept
    assert collected(basketry, plan)["done"] == 1


class Stopped:
    """A runner of task 0 that is stopped once its own state is there."""

    def __init__(self, basketry: Basketry, plan: Path, state: Path) -> None:
        self.words = [str(basketry.binary), "run", str(plan), "--task", "0"]
        self.state, self.before = state, state.read_text()

    def __enter__(self) -> "subprocess.Popen[bytes]":
        for _ in range(100):
            process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while self.state.read_text() == self.before and process.poll() is None:
                pass
            process.send_signal(19)
            if process.poll() is None and json.loads(self.state.read_text())["output"] is None:
                self.process = process
                return process
            process.kill()
            process.wait()
        raise AssertionError("it was never stopped in time")

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    """Puts something else there."""
    path.unlink()
    make(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_text(""),
    "cut": lambda path: path.write_text(path.read_text()[:40]),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "another form": lambda path: path.write_text("[1, 2]"),
    "a pipe": lambda path: replaced(path, os.mkfifo),
    "a folder": lambda path: replaced(path, Path.mkdir),
    "a device": lambda path: replaced(path, lambda there: there.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_state_is_that_of_one_task(basketry: Basketry, plan: Path, damage: Callable[[Path], object]) -> None:
    for n in range(3):
        basketry("run", plan, "--task", str(n))
    damage(state_of(plan, 1))

    outcome = basketry.run("collect", plan, "--json")

    report = json.loads(outcome.out)
    assert outcome.code == 1
    assert (report["done"], report["unknown"], report["missing"], report["failed"]) == (2, 1, 0, 0)
    assert [unknown["n"] for unknown in report["unknowns"]] == [1]
    assert "task-1.json" in report["unknowns"][0]["reason"]
    assert "task-1.json" in basketry.run("collect", plan).out
    # What is at the output's name is not known to be the task's own.
    assert basketry.run("run", plan, "--task", "1").code == 2


def test_a_pipe_is_no_plan(basketry: Basketry, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "jobs.json")
    assert "not a regular file" in basketry.refuses("collect", tmp_path / "jobs.json")
    assert "not a regular file" in basketry.refuses("run", tmp_path / "jobs.json", "--task", "0")


def killed(basketry: Basketry, plan: Path, ready: Callable[[dict[str, Any]], bool]) -> None:
    """Runs task 0 and kills it as soon as its state is such a one."""
    words = [str(basketry.binary), "run", str(plan), "--task", "0"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (state_of(plan, 0).exists() and ready(json.loads(state_of(plan, 0).read_text()))):
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()


def test_after_a_kill_the_files_of_others_stay(basketry: Basketry, plan: Path, tmp_path: Path) -> None:
    killed(basketry, plan, lambda state: state["state"] == "started" and state["output"] is None)
    output = tmp_path / "out0.root"
    output.unlink(missing_ok=True)
    for foreign in (b"mine", (tmp_path / "in.root").read_bytes()):
        output.write_bytes(foreign)
        assert "--force" in basketry.refuses("run", plan, "--task", "0")
        assert output.read_bytes() == foreign
        assert "--force" in basketry.refuses("run", plan, "--task", "0", "--again")
        assert output.read_bytes() == foreign
    output.unlink()
    # Another plan with this output is done meanwhile.
    other = tmp_path / "other.json"
    basketry("plan", "rewrite", tmp_path / "part1.root", "-o", other, "--name", output, "--", "--compression", "lz4:1")
    basketry("run", other, "--task", "0")
    theirs = output.read_bytes()
    basketry.refuses("run", plan, "--task", "0")
    assert output.read_bytes() == theirs
    assert collected(basketry, other)["whole"]


def test_what_a_killed_task_wrote_is_its_own(basketry: Basketry, plan: Path, tmp_path: Path) -> None:
    basketry("run", plan, "--task", "0")
    output, path = tmp_path / "out0.root", state_of(plan, 0)
    first, done = output.read_bytes(), json.loads(path.read_text())
    assert done["output"]["bytes"] == len(first)
    # Killed between the name and the last state; killed in a repetition before its output had the name.
    begun = done | {"state": "started", "report": None}
    for state in (begun, begun | {"output": None, "earlier": done["output"]}):
        path.write_text(json.dumps(state))
        assert collected(basketry, plan)["missing_tasks"] == [0, 1, 2]
        basketry("run", plan, "--task", "0")
        assert output.read_bytes() == first
    basketry("run", plan, "--task", "0", "--again")
    assert output.read_bytes() == first
    # A failure does not forget it.
    hidden = tmp_path / "hidden.root"
    (tmp_path / "part0.root").rename(hidden)
    basketry.refuses("run", plan, "--task", "0", "--again")
    hidden.rename(tmp_path / "part0.root")
    basketry("run", plan, "--task", "0")
    assert output.read_bytes() == first


def modes(folder: Path) -> dict[str, int]:
    """What others may do with the files of a folder and below it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name: path.stat().st_mode & 0o077 for path in files if SECRET in path.read_text(errors="replace")}


def test_files_with_secrets_are_the_users_alone_and_reports_have_none(
    basketry: Basketry, source: Path, odd_server: OddServer, tmp_path: Path
) -> None:
    url = odd_server.put("a.root", source.read_bytes()) + f"?authz={SECRET}"
    folder = tmp_path / "batch"
    folder.mkdir()
    jobs = folder / "jobs.json"
    told = basketry("plan", "rewrite", url, "-o", jobs, "--name", tmp_path / "o.root", "--json", "--submit", "slurm")
    told += basketry("run", jobs, "--task", "0", "--json") + basketry("run", jobs, "--task", "0")
    told += basketry("collect", jobs, "--json")
    basketry("fileset", url, "-o", folder / "fileset.json")
    found = modes(folder)
    assert {"jobs.json", "task-0.json", "fileset.json"} <= set(found)
    assert set(found.values()) == {0}
    assert SECRET not in told
    assert json.loads(jobs.read_text())["tasks"][0]["inputs"] == [url]
