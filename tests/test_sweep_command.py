"""Sweeps of the user's own command: real ROOT jobs write and read, what fails is told and does not lose the others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from basketry import reports
from referee.command import Basketry
from referee.paths import BINARY

#: A job as an experiment has it: split level, buffer and output are arguments.
WRITE = """
import sys, ROOT
split, basket, output, source = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
file = ROOT.TFile(output, "recreate")
ROOT.gInterpreter.Declare("struct Hit { int channel = 0; float energy = 0; };")
tree, hits = ROOT.TTree("Events", ""), ROOT.std.vector("Hit")()
tree.Branch("hits", hits, basket, split)
for entry in range(int(open(source).read())):
    hits.resize(entry % 7)
    tree.Fill()
tree.Write()
file.Close()
"""
READ = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
tree = file["Events"]
for entry in range(tree.GetEntries()):
    tree.GetEntry(entry)
"""
#: Writes a byte; the point says what goes wrong.
SHELL = "sh -c 'test $2 = silent || printf x > $1; echo said $2 >&2; test $2 != bad' job {output} {cfg}"


def journal(folder: Path) -> list[dict[str, Any]]:
    """The lines of the journal."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def wait_for_end(pid: int) -> None:
    """Until a process has ended, whether or not somebody has waited for it. It would run for a quarter of an hour."""
    until = time.monotonic() + 60
    try:
        while Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX":
            assert time.monotonic() < until
            time.sleep(0.01)
    except (FileNotFoundError, ProcessLookupError):
        return


def test_jobs_of_root_are_measured(basketry: Basketry, tmp_path: Path) -> None:
    import uproot

    # Spaces and quotes in a path stay in its word.
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    write, read, source, out = (folder / name for name in ("write.py", "read.py", "n.txt", "out"))
    write.write_text(WRITE)
    read.write_text(READ)
    source.write_text("1500")
    quoted = {path: '"' + str(path) + '"' for path in (write, read)}
    command = f"{sys.executable} -W ignore {quoted[write]} {{split-level}} {{basket}} {{output}} {{input}}"
    reading = f"{sys.executable} -W ignore {quoted[read]} {{output}}"
    words = ["--grid", "split-level=99,0", "--grid", "basket=2000", "--repeat", "1", "--keep"]
    result = basketry.json("sweep", source, "-o", out, "--command", command, "--read-command", reading, *words)
    assert [line["point"]["variables"]["split-level"] for line in result["lines"]] == ["99", "0"]
    assert {(line["point"], line["kind"]) for line in journal(out)} == {
        (n, k) for n in (0, 1) for k in ("copy", "full")
    }
    for number, line in enumerate(result["lines"]):
        path = out / f"point-{number}.root"
        with uproot.open(path) as file:
            branch = file["Events"]["hits"]
            # The referee sees that the job got its values, and so do the figures.
            assert (len(branch.branches) > 0) == (number == 0)
            baskets = sum(each.num_baskets for each in (branch, *branch.itervalues(recursive=True)))
        figures = {name: figure["median"] for name, figure in line["figures"].items()}
        assert figures["size"] == path.stat().st_size
        assert figures["baskets"] == pytest.approx(baskets, abs=2)
        # An interpreter with ROOT takes that much.
        assert figures["copy_rss"] > 50e6
        assert figures["full_rss"] > 50e6
        assert figures["copy_cpu"] > 0.1
        assert figures["full_cpu"] > 0.1
        assert figures["copy_written"] >= figures["size"]
    measured = [line["measured"] for line in journal(out) if line["kind"] == "copy"]
    assert {(line["entries"], line["layout"]["container"]) for line in measured} == {(1500, "ttree")}
    shown = basketry("sweep", "show", out)
    assert "{split-level} {basket} {output} {input}" in shown
    assert "split-level=0 basket=2000" in shown
    page = basketry.json("sweep", "report", out)
    assert page["command"] is None
    assert "write.py" in page["title"]
    # The job was edited: what it measures is something else.
    write.write_text(WRITE + "\n")
    options = ["--command", command, "--read-command", reading, *words]
    assert "write.py" in basketry.refuses("sweep", source, "-o", out, *options)


def test_a_failing_point_does_not_lose_the_others(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words: list[str | Path] = [
        "sweep",
        "-o",
        out,
        "--command",
        SHELL,
        "--read-command",
        "cat {output}",
        "--streams",
        "1,2",
    ]
    done = basketry.run(*words, "--grid", "cfg=fine,bad,silent", "--repeat", "2", "--json")
    assert done.code == 1
    result = json.loads(done.out)
    reasons = {(each["point"], each["kind"]): each["reason"] for each in result["failures"]}
    assert set(reasons) == {(point, "copy") for point in (2, 3, 4, 5)}
    assert "exit code 1: said bad" in reasons[(2, "copy")]
    assert "wrote no {output}" in reasons[(4, "copy")]
    assert "scratch-0.root" in reasons[(4, "copy")]
    assert (out / "failed-2-copy.log").read_text() == "said bad\n"
    assert result["decision"]["chosen"] == 0
    measured = {name: line["figures"][name]["median"] for line in result["lines"][:1] for name in ("size", "copy_read")}
    assert measured["size"] == 1
    assert measured["copy_read"] > 0
    # Each point that failed was tried once; the others have all their runs.
    failed = [line for line in journal(out) if "failed" in line["measured"]]
    assert len(failed) == 4
    assert len(journal(out)) == 4 + 2 * 2 + 2
    # The same command tries them again, and nothing else.
    assert basketry.run(*words, "--grid", "cfg=fine,bad,silent", "--repeat", "2", "-q").code == 1
    assert len(journal(out)) == 4 + 2 * 2 + 2 + 4
    # Another value extends the sweep.
    basketry.run(*words, "--grid", "cfg=other", "--repeat", "2", "-q")
    found = basketry.json("sweep", "show", out)
    assert [line["figures"].keys() > {"size"} for line in found["lines"]] == [True] * 2 + [False] * 4 + [True] * 2
    assert "copy of cfg=bad streams=1 failed: exit code 1: said bad" in basketry("sweep", "show", out)


def test_a_job_ends_at_its_limit_with_all_it_started(basketry: Basketry, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = f"sh -c 'sleep 1000 & echo $! >> {pids}; wait; true' job {{output}} {{n}}"
    words: list[str | Path] = ["sweep", "-o", tmp_path / "out", "--command", command, "--grid", "n=1", "--repeat", "1"]
    refused = basketry.refuses(*words, "--time-limit", "0.5s", "-q")
    assert "ended after the limit of 0.5 s" in refused
    for pid in pids.read_text().split():
        wait_for_end(int(pid))
    assert not list((tmp_path / "out").glob("scratch-*"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_job_ends_with_its_sweep(tmp_path: Path, how: signal.Signals) -> None:
    pids = tmp_path / "pids"
    command = f"sh -c 'sleep 1000 & echo $! > {pids}.new; mv {pids}.new {pids}; wait; true' job {{output}} {{n}}"
    words: list[str | Path] = [
        BINARY,
        "sweep",
        "-o",
        tmp_path / "out",
        "--command",
        command,
        "--grid",
        "n=1",
        "--repeat",
        "1",
        "-q",
    ]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as sweep:
        while not pids.exists():
            assert sweep.poll() is None
            time.sleep(0.01)
        # Only the sweep gets the signal.
        sweep.send_signal(how)
    wait_for_end(int(pids.read_text()))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("kind", ["deaf", "forks", "orphan"])
def test_all_of_a_job_ends_with_its_sweep(tmp_path: Path, how: signal.Signals, kind: str) -> None:
    """Also what does not heed the signal, what is started because of it, and what has lost its parent."""
    pids = tmp_path / "pids"
    said, ready = f"echo $! >> {pids}", f"touch {tmp_path}/ready"
    script = {
        "deaf": f"(trap '' TERM; exec sleep 1000) & {said}; {ready}; wait",
        "forks": f"trap 'sleep 1000 & {said}; exit 1' TERM; {ready}; while :; do sleep 0.05; done",
        "orphan": f"(sleep 1000 & {said}); {ready}; while :; do sleep 0.05; done",
    }[kind]
    job = tmp_path / "job.sh"
    job.write_text(script)
    command = f"sh {job} {{output}} {{n}}"
    words: list[str | Path] = [BINARY, "sweep", "-o", tmp_path / "out", "--command", command, "--grid", "n=1", "-q"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as sweep:
        while not (tmp_path / "ready").exists():
            assert sweep.poll() is None
            time.sleep(0.01)
        sweep.send_signal(how)
    until = time.monotonic() + 60
    while not pids.exists() or not pids.read_text().endswith("\n"):
        assert time.monotonic() < until
        time.sleep(0.01)
    for pid in pids.read_text().split():
        wait_for_end(int(pid))


def test_a_run_without_its_starter_measures_nothing(tmp_path: Path) -> None:
    """The sweep may be killed before its run has asked to end with it."""
    task = tmp_path / "task.json"
    task.write_text("no task")
    run: list[str | Path] = [BINARY, "sweep", "--watched", task]
    mine = {**os.environ, "BASKETRY_STARTED_BY": str(os.getpid())}
    assert subprocess.run(run, env=mine, capture_output=True, check=False).returncode == 2
    gone = {**os.environ, "BASKETRY_STARTED_BY": str(2**22 - 7)}
    assert subprocess.run(run, env=gone, capture_output=True, check=False).returncode == 128 + signal.SIGTERM


def test_a_point_that_fails_is_not_chosen(basketry: Basketry, tmp_path: Path) -> None:
    """An output that cannot be read is the smallest, and written fastest. Where all fail alike, that tells nothing."""
    source, out = tmp_path / "in.root", tmp_path / "out"
    basketry("generate", "single", "--size", "200kB", "-o", source, "-q")
    job = tmp_path / "job.sh"
    job.write_text('case $2 in good) cp "$3" "$1";; folder) mkdir "$1";; *) echo text > "$1";; esac')
    command = f"sh {job} {{output}} {{how}} {{input}}"
    words: list[str | Path] = [
        "--command",
        command,
        "--grid",
        "how=text,folder,good",
        "--repeat",
        "1",
        "--goal",
        "size,copy",
    ]
    done = basketry.run("sweep", source, "-o", out, *words, "-q")
    assert done.code == 1, str(done)
    found = basketry.json("sweep", "show", out)
    assert [one["chosen"] for one in (found["decision"], *found["further"])] == [2, 2]
    assert all(front["points"] == [2] for front in found["fronts"])
    assert {failure["point"] for failure in found["failures"]} == {0, 1}
    assert "copy of how=folder failed: it made a folder" in basketry("sweep", "show", out)
    assert not list(out.glob("*.root"))

    no_root: list[str | Path] = ["--command", command, "--grid", "how=a,b", "--repeat", "1", "--goal", "size", "-q"]
    basketry.run("sweep", source, "-o", tmp_path / "other", *no_root)
    assert basketry.json("sweep", "show", tmp_path / "other")["decision"]["chosen"] is not None


def test_wrong_commands_are_refused(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out"
    cases = [
        (
            ["--command", "job {output} {cfgs}", "--grid", "cfg=a"],
            "{cfgs} is no value of the command; it has cfg, output",
        ),
        (["--command", "job {output}", "--grid", "cfg=a"], "write {cfg} into it"),
        (["--command", "job {cfg}", "--grid", "cfg=a"], "has no {output}"),
        (["--command", "job {cfg} {output} {input}", "--grid", "cfg=a"], "{input} is no value"),
        (["--command", "job 'x {cfg} {output}", "--grid", "cfg=a"], "quote is not closed"),
        (["--command", "job {cfg {output}", "--grid", "cfg=a"], "brace is not closed"),
        (["--command", "job {cfg} {output}", "--grid", "output=a"], "output has its value from the sweep"),
        (["--command", "job {cfg} {output}", "--grid", "cfg=a", "--max-size", "1.1x"], "a multiple of today's"),
        (["--command", "job {cfg} {output}", "--grid", "cfg=a", "--time-limit", "soon"], "is not a time"),
        (["--command", "basketry-has-no-such-job {cfg} {output}", "--grid", "cfg=a", "-q"], "No such file"),
    ]
    for words, expected in cases:
        assert expected in basketry.refuses("sweep", "-o", out, *words), words
    # Without a command the keys are those of layouts, and a file is needed.
    assert "FILE" in basketry.refuses("sweep", "-o", out, "--grid", "basket=1kB")


def test_the_package_sweeps_commands(tmp_path: Path) -> None:
    source = tmp_path / "a b.txt"
    source.write_text("data")
    command = "sh -c 'cat \"$1\" > $2; printf %s $3 >> $2' job {input} {output} {my_value}"
    grid = {"my_value": ["1", "22"], "threads": [1, 2]}
    options: Any = {"command": command, "read_command": "cat {output}", "repeat": 1, "time_limit": 60}
    expected = bk.sweep(source, tmp_path / "out", grid=grid, dry_run=True, **options)
    assert (expected.points, expected.jobs, len(expected.commands)) == (4, 8, 8)
    assert os.fspath(source) in expected.commands[0]
    found = bk.sweep(source, tmp_path / "out", grid=grid, goal=["size", "copy"], **options)
    assert isinstance(found, reports.Sweep)
    assert [line.figures["size"].median for line in found.lines] == [5, 5, 6, 6]
    assert not found.failures
    assert found.decision.chosen in (0, 1)
    # An empty file is no output.
    with pytest.raises(ValueError, match=r"wrote no \{output\}"):
        bk.sweep(None, tmp_path / "two", command="cp /dev/null {output}", grid={"streams": [1]}, repeat=1, only="copy")
