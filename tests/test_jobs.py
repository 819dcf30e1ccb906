"""`plan`, `run` and `collect`: tasks do what their commands do, once, and bad inputs stop no other task."""

import itertools
import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import uproot

import basketry as bk
from referee.command import Basketry


@pytest.fixture
def inputs(basketry: Basketry, tmp_path: Path) -> list[Path]:
    """Four files of about 1 MB."""
    paths = [tmp_path / f"in{n}.root" for n in range(4)]
    for n, path in enumerate(paths):
        basketry("generate", "single", "--size", "1MB", "--seed", str(n), "-o", path)
    return paths


def collected(basketry: Basketry, jobs: Path) -> dict[str, Any]:
    """What became of the tasks."""
    found: dict[str, Any] = json.loads(basketry.run("collect", jobs, "--json").out)
    return found


def test_outputs_are_those_of_the_direct_command(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    jobs, size = tmp_path / "jobs.json", 2 * max(path.stat().st_size for path in inputs)
    pattern = str(tmp_path / "merged_{n}.root")
    basketry("plan", "merge", *inputs, "-o", jobs, "--target-size", f"{size}B", "--name", pattern)
    for task in ("0", "1"):
        basketry("run", jobs, "--task", task, "--threads", "2")

    report = collected(basketry, jobs)

    assert (report["whole"], report["done"], report["tasks"]) == (True, 2, 2)
    for n, pair in enumerate((inputs[:2], inputs[2:])):
        output = tmp_path / f"merged_{n}.root"
        by_task = output.read_bytes()
        # Under the same name: a ROOT file contains its own.
        basketry("merge", *pair, "-o", output, "--force")
        assert output.read_bytes() == by_task


@pytest.mark.parametrize("target", ["--target-events", "--target-size"])
def test_parquet_files_are_merged_by_tasks(target: str, basketry: Basketry, tmp_path: Path) -> None:
    files = [tmp_path / f"in{n}.parquet" for n in range(5)]
    sizes = [100, 150, 10, 220, 40]
    for n, (path, entries) in enumerate(zip(files, sizes, strict=True)):
        pl.DataFrame({"x": np.arange(entries) + 1000.0 * n}).write_parquet(path)
    jobs, pattern = tmp_path / "jobs.json", tmp_path / "merged_{n}.root"
    most = "260" if target == "--target-events" else f"{sum(path.stat().st_size for path in files[:3])}B"
    basketry("plan", "merge", *files, "-o", jobs, target, most, "--name", pattern)
    tasks = json.loads(jobs.read_text())["tasks"]
    assert [task["inputs"] for task in tasks] == [[str(path) for path in part] for part in (files[:3], files[3:])]
    for n in range(2):
        basketry("run", jobs, "--task", str(n))
    assert collected(basketry, jobs)["whole"]
    found = [uproot.open(f"{tmp_path}/merged_{n}.root")["Events"]["x"].array().tolist() for n in range(2)]
    expected = [(np.arange(entries) + 1000.0 * n).tolist() for n, entries in enumerate(sizes)]
    assert found == [list(itertools.chain.from_iterable(part)) for part in (expected[:3], expected[3:])]


def test_bad_parquet_files_are_left_out_of_a_plan_as_asked(basketry: Basketry, tmp_path: Path) -> None:
    files = [tmp_path / f"in{n}.parquet" for n in range(3)]
    for path in files:
        pl.DataFrame({"x": np.arange(50)}).write_parquet(path)
    files[1].write_bytes(files[1].read_bytes()[:-3])
    jobs = tmp_path / "jobs.json"
    why = basketry.refuses("plan", "merge", *files, "-o", jobs)
    assert str(files[1]) in why
    assert "--skip-bad" in why
    assert not jobs.exists()
    outcome = basketry.run("plan", "merge", *files, "-o", jobs, "--skip-bad", "--name", tmp_path / "all.root")
    assert (outcome.code, str(files[1]) in outcome.err) == (1, True)
    basketry("run", jobs, "--task", "0")
    with uproot.open(tmp_path / "all.root") as file:
        assert file["Events"].num_entries == 100
    bk.rewrite(files[0], tmp_path / "root.root")
    why = basketry.refuses("plan", "merge", files[0], tmp_path / "root.root", "-o", tmp_path / "no.json")
    assert "convert them first" in why


def test_a_done_task_is_skipped_and_a_lost_output_is_made_again(
    basketry: Basketry, inputs: list[Path], tmp_path: Path
) -> None:
    jobs, output = tmp_path / "jobs.json", tmp_path / "all.root"
    basketry("plan", "merge", *inputs, "-o", jobs, "--name", output)
    assert collected(basketry, jobs)["missing"] == 1
    basketry("run", jobs, "--task", "0")
    first, written = output.read_bytes(), output.stat().st_mtime_ns
    basketry("run", jobs, "--task", "0")
    assert output.stat().st_mtime_ns == written

    # As if the task had been killed between its output and its state.
    path = tmp_path / "jobs.json.d" / "task-0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"state": "started"}))
    assert collected(basketry, jobs)["missing_tasks"] == [0]
    basketry("run", jobs, "--task", "0")
    output.unlink()
    assert collected(basketry, jobs)["missing_tasks"] == [0]
    basketry("run", jobs, "--task", "0")

    assert output.read_bytes() == first
    assert collected(basketry, jobs)["whole"]


def test_a_killed_task_can_be_run_again(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    jobs, output = tmp_path / "jobs.json", tmp_path / "all.root"
    basketry("plan", "merge", *inputs, "-o", jobs, "--name", output, "--", "--compression", "lzma:9")
    command: list[str | Path] = [basketry.binary, "run", jobs, "--task", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not (tmp_path / "jobs.json.d" / "task-0.json").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not output.exists()
    assert collected(basketry, jobs)["missing_tasks"] == [0]

    basketry("run", jobs, "--task", "0")
    by_task = output.read_bytes()
    basketry("merge", *inputs, "-o", output, "--force", "--compression", "lzma:9")
    assert output.read_bytes() == by_task
    assert list(tmp_path.glob(".*.tmp")) == []


def test_a_file_of_others_is_never_replaced(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    jobs, output = tmp_path / "jobs.json", tmp_path / "out.parquet"
    basketry("plan", "convert", inputs[0], "-o", jobs, "--name", output)
    output.write_text("mine")
    for _ in range(2):
        assert "--force" in basketry.refuses("run", jobs, "--task", "0")
    assert output.read_text() == "mine"
    output.unlink()
    basketry("run", jobs, "--task", "0")

    # A file of the same size is another file.
    output.write_bytes(bytes(output.stat().st_size))
    assert collected(basketry, jobs)["missing_tasks"] == [0]
    basketry.refuses("run", jobs, "--task", "0")


def test_bad_inputs_are_listed_and_stop_no_other(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    bad, jobs = tmp_path / "bad.root", tmp_path / "jobs.json"
    bad.write_text("no ROOT file")
    name = ("--name", tmp_path / "m_{n}.root")
    refused = basketry.run("plan", "merge", *inputs, bad, "-o", jobs, *name)
    assert refused.code == 2
    assert not jobs.exists()
    assert basketry.run("plan", "merge", *inputs, bad, "-o", jobs, *name, "--skip-bad").code == 1
    basketry("run", jobs, "--task", "0")
    report = collected(basketry, jobs)
    assert [found["path"] for found in report["bad"]] == [str(bad)]
    assert (report["done"], report["whole"]) == (1, False)

    jobs = tmp_path / "rewrite.json"
    basketry("plan", "rewrite", inputs[0], bad, "-o", jobs, "--name", tmp_path / "{stem}_new.root")
    assert [basketry.run("run", jobs, "--task", str(n)).code for n in range(2)] == [0, 2]
    report = collected(basketry, jobs)
    assert (report["done"], report["failed"], report["failures"][0]["n"]) == (1, 1, 1)


def test_wrong_options_of_the_verb_are_found_by_plan(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.json"
    outcome = basketry.run("plan", "merge", *inputs, "-o", jobs, "--", "--no-such-option")
    assert outcome.code == 2
    assert "--no-such-option" in outcome.err
    assert not jobs.exists()


@pytest.mark.parametrize(
    ("verb", "words", "said"),
    [
        ("rewrite", ("--keep", "Zq"), "--keep Zq: no column"),
        ("rewrite", ("--entries", "500000000:500000001"), "there are no such entries"),
        ("rewrite", ("--cut", "nope > 1"), "--cut: no column nope"),
        ("merge", ("--cut", "nope > 1"), "--cut: no column nope"),
        ("convert", ("--cut", "nope > 1"), "--cut: no column nope"),
        ("verify", ("--cut", "nope > 1"), "--cut: no column nope"),
        ("verify", ("--by", "nope"), "--by: no column nope"),
        ("rewrite", ("--define", "z=nope + 1"), "--define: no column nope"),
        ("rewrite", ("--build-index", "nope"), "--build-index: no column nope"),
        ("merge", ("--unique", "nope"), "--unique: no column nope"),
        ("merge", ("--by", "nope,run"), "--by: no column nope"),
        ("pick", ("--key", "nope", "--events", "1"), "--key: no column nope"),
        ("readspeed", ("--branches", "Zq*"), "--branches Zq*: no branch"),
        ("readspeed", ("--branches-regex", "Zq.*"), "--branches-regex Zq.*: no branch"),
        ("readspeed", ("--entries", "500000000:500000001"), "there are no such entries"),
        ("readspeed", ("--cut", "nope > 1"), "--cut: no column nope"),
        ("readspeed", ("--define", "z=nope + 1"), "--define: no column nope"),
        ("sweep", ("--grid", "column:Zq*:basket=8kB,16kB"), "--grid Zq*: no column"),
        ("sweep", ("--grid", "tree:Zq*:basket=8kB,16kB"), "--grid Zq*: no tree"),
        ("sweep", ("--columns", "Zq*", "--grid", "basket=8kB,16kB"), "--columns Zq*: no column"),
    ],
)
def test_what_matches_nothing_is_found_by_plan(
    verb: str, words: tuple[str, ...], said: str, basketry: Basketry, inputs: list[Path], tmp_path: Path
) -> None:
    jobs, name = tmp_path / "jobs.json", tmp_path / "new_{n}.root"
    named = ("--name", name) if verb in ("rewrite", "verify") else ()
    assert said in basketry.refuses("plan", verb, *inputs, "-o", jobs, *named, "--", *words)
    assert not jobs.exists()
    basketry("plan", verb, *inputs, "-o", jobs, *named, "--", *words, "--allow-no-match")


def test_what_one_of_the_inputs_has_can_be_planned(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    other, jobs = tmp_path / "other.root", tmp_path / "jobs.json"
    with bk.recreate(other) as made:
        made["events"] = {"y": np.arange(3)}
    for files in ([*inputs, other], [tmp_path / "not_here.root", *inputs]):
        basketry("plan", "rewrite", *files, "-o", jobs, "--force", "--", "--cut", "y > 1")


# Verbs with their options, and those of plan. Each input has a copy beside it.
CHAINS: dict[str, tuple[str, ...]] = {
    "rewrite": ("--name", "{folder}/new_{{stem}}.root", "--", "--compression", "zstd:1"),
    "convert": ("--name", "{folder}/{{stem}}.parquet"),
    "verify": ("--name", "{folder}/copy_{{n}}.root"),
    "readspeed": (),
    "check": ("--files-per-task", "1", "--", "--deep"),
    "tune": ("--name", "{folder}/tuned_{{stem}}.root"),
    "sweep": ("--name", "{folder}/sweep_{{stem}}", "--", "--grid", "cluster=200kB", "--repeat", "1", "--only", "copy"),
}


@pytest.mark.parametrize("verb", CHAINS)
def test_every_verb_from_plan_to_collect(basketry: Basketry, inputs: list[Path], tmp_path: Path, verb: str) -> None:
    jobs, files = tmp_path / "jobs.json", inputs[:2]
    for n, path in enumerate(files):
        (tmp_path / f"copy_{n}.root").write_bytes(path.read_bytes())
    basketry("plan", verb, *files, "-o", jobs, *(word.format(folder=tmp_path) for word in CHAINS[verb]))
    assert collected(basketry, jobs)["missing_tasks"] == [0, 1]

    reports = [json.loads(basketry("run", jobs, "--task", str(n), "--json"))["report"] for n in range(2)]

    assert all(reports)
    done = collected(basketry, jobs)
    assert (done["whole"], done["done"], done["failed"]) == (True, 2, 0)
    assert len(done["outputs"]) == (0 if verb in ("verify", "readspeed", "check") else 2)
    assert all(Path(path).exists() for path in done["outputs"])
    if verb in ("rewrite", "tune"):
        for path, output in zip(files, done["outputs"], strict=True):
            basketry("verify", path, output)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], Path]:
    """Two files of keys in no order, and one of other values for most of them."""
    folder, rng = tmp_path_factory.mktemp("keyed"), np.random.default_rng(6)
    keys = rng.permutation(600).astype("u8")
    files = [folder / f"a{n}.root" for n in range(2)]
    for path, own in zip(files, (keys[:250], keys[200:]), strict=True):
        with bk.recreate(path) as file:
            file["Events"] = {"run": own // 100, "event": own, "x": own * 0.5}
    other = rng.permutation(np.arange(50, 650)).astype("u8")
    with bk.recreate(folder / "b.root") as file:
        file["Scores"] = {"run": other // 100, "event": other, "y": other * 2.0}
    return files, folder / "b.root"


def by_key(path: Path, names: list[str]) -> list[tuple[float, ...]]:
    """The entries of a file in the order of their keys."""
    with uproot.open(path) as file:
        arrays = file["Events"].arrays(names, library="np")
    return sorted(zip(*(arrays[name].tolist() for name in names), strict=True))


def test_tasks_of_a_join_are_the_join(basketry: Basketry, keyed: tuple[list[Path], Path], tmp_path: Path) -> None:
    files, other = keyed
    jobs = tmp_path / "jobs.json"
    words: list[str | Path] = ["--with", other, "--on", "run,event"]
    planned = ("--name", tmp_path / "part{n}.root", "--target-events", "200")
    basketry("plan", "join", *files, "-o", jobs, *planned, "--", *words)
    count = len(json.loads(jobs.read_text())["tasks"])
    assert count == 4
    reports = [json.loads(basketry("run", jobs, "--task", str(n), "--json"))["report"] for n in range(count)]
    done = collected(basketry, jobs)
    assert (done["whole"], done["done"]) == (True, count)

    whole = basketry.json("join", *files, *words, "-o", tmp_path / "whole.root")
    basketry("merge", *done["outputs"], "-o", tmp_path / "merged.root")
    names = ["event", "x", "y"]
    assert by_key(tmp_path / "merged.root", names) == by_key(tmp_path / "whole.root", names)
    for what in ("written", "entries"):
        assert sum(report[what] for report in reports) == whole[what] == 650
    for what in ("entries", "matched", "missing", "unused"):
        assert sum(report["right"][0][what] for report in reports) == whole["right"][0][what], what
    ranges = [by_key(Path(path), ["event"]) for path in done["outputs"]]
    assert all(one[-1] < other[0] for one, other in itertools.pairwise(ranges))


def test_tasks_of_a_pick_are_parts_of_its_list(
    basketry: Basketry, keyed: tuple[list[Path], Path], tmp_path: Path
) -> None:
    files, _ = keyed
    jobs, listed = tmp_path / "jobs.json", tmp_path / "events.txt"
    events = [*range(10, 60, 3), 900, *range(300, 340)]
    listed.write_text("".join(f"{event // 100}:{event}\n" for event in events))
    planned = ("--name", tmp_path / "part{n}.root", "--target-events", "20")
    basketry("plan", "pick", *files, "-o", jobs, *planned, "--", "--events", listed, "--key", "run,event")
    listed.unlink()
    codes = [basketry.run("run", jobs, "--task", str(n)).code for n in range(3)]
    # One event is not there.
    assert codes == [0, 0, 1]
    done = collected(basketry, jobs)
    found = [entry for path in done["outputs"] for entry in by_key(Path(path), ["event"])]
    with_twins = [event for path in files for (event,) in by_key(path, ["event"]) if event in events]
    assert sorted(event for (event,) in found) == sorted(with_twins)
    assert "--events" in basketry.refuses("plan", "pick", *files, "-o", tmp_path / "no.json")
    assert "--on" in basketry.refuses("plan", "join", *files, "-o", tmp_path / "no.json", "--", "--with", files[0])
    assert not (tmp_path / "no.json").exists()


def test_python_plans_joins(keyed: tuple[list[Path], Path], tmp_path: Path) -> None:
    files, other = keyed
    name = str(tmp_path / "part{n}.root")
    jobs = bk.plan(
        "join", files, tmp_path / "jobs.json", name=name, others=other, on=["run", "event"], target_events=400
    )
    assert len(jobs.tasks) == 2
    assert bk.run_task(tmp_path / "jobs.json", 0).whole


def test_a_task_whose_answer_is_no(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.json"
    (tmp_path / "copy_0.root").write_bytes(inputs[1].read_bytes())
    basketry("plan", "verify", inputs[0], "-o", jobs, "--name", tmp_path / "copy_{n}.root")

    assert basketry.run("run", jobs, "--task", "0").code == 1

    report = collected(basketry, jobs)
    assert (report["whole"], report["done"], report["failed"]) == (False, 1, 0)


def test_a_refused_plan_leaves_nothing(basketry: Basketry, inputs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    folder.mkdir()
    basketry.refuses("plan", "tune", *inputs, "-o", folder / "jobs.json", "--", "--max-size", "1kB")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("system", ["htcondor", "slurm"])
def test_submit_files_run_the_tasks(basketry: Basketry, inputs: list[Path], tmp_path: Path, system: str) -> None:
    """As their systems do: Slurm starts the script, and takes the lines of its options apart as a shell does; HTCondor
    has words in single quotes, between double ones."""
    folder = tmp_path / "my jobs"
    folder.mkdir()
    jobs = folder / "jobs.json"
    basketry("plan", "check", *inputs[:2], "-o", jobs, "--files-per-task", "1", "--submit", system)
    path = f"{basketry.binary.parent}:{os.environ['PATH']}"
    text = jobs.with_suffix({"htcondor": ".sub", "slurm": ".sh"}[system]).read_text()
    for n in range(2):
        if system == "slurm":
            words, environment = ["sh", str(jobs.with_suffix(".sh"))], {"SLURM_ARRAY_TASK_ID": str(n)}
        else:
            (line,) = [line for line in text.splitlines() if line.startswith("arguments")]
            quoted = line.partition('"')[2].removesuffix('"').replace("$(Process)", str(n))
            words, environment = ["/usr/bin/env", *shlex.split(quoted)], {}
        subprocess.run(words, env=os.environ | {"PATH": path} | environment, check=True, stdout=subprocess.DEVNULL)

    assert collected(basketry, jobs)["whole"]
    if system == "htcondor":
        assert text.splitlines()[-1] == "queue 2"
    else:
        options = dict(
            shlex.split(line.removeprefix("#SBATCH --"))[0].split("=", 1)
            for line in text.splitlines()
            if line.startswith("#SBATCH ")
        )
        assert options["array"] == "0-1"
        assert options["output"] == f"{jobs}.d/slurm-%a.log"
