"""`make bench-history`: samples of runs are kept, and what moved is named; noise and other machines are not."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from history import moves, read
from referee.command import Argument, run
from referee.paths import REPO, importing

#: Five samples around a second, and the same machine everywhere.
STEADY = (1.00, 1.01, 0.99, 1.02, 1.00)
MACHINE = {"cpu": "a processor", "cores": 2, "kernel": "1", "load_before": 0.0}


def sample(name: str, cpu: Sequence[float], *, ours: bool = True, size: int = 1000) -> dict[str, Any]:
    """The line of a contender."""
    record = {"section": "merge", "label": "ten files", "name": name, "ours": ours, "command": [name]}
    return record | {"output_bytes": size, "cpu": list(cpu), "wall": list(cpu), "peak_rss": [2e7] * len(cpu)}


def planted(folder: Path, commit: str, *lines: dict[str, Any], quick: bool = False, cpu: str = "a processor") -> None:
    """The file of a run; files are in the order of their commits."""
    date = f"2026-01-{len(list(folder.glob('*'))) + 1:02}T00:00:00Z"
    head = {"schema": 1, "date": date, "machine": MACHINE | {"cpu": cpu, "commit": commit}, "quick": quick}
    (folder / f"{date}-{commit}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (head, *lines)))


def drawn(folder: Path) -> tuple[list[str], str]:
    """What the command says moved in the last run, and the page."""
    done = run([sys.executable, REPO / "bench" / "history_page.py", folder], env=importing("tests", "bench"))
    assert done.code == 0, str(done)
    return done.out.splitlines()[1:], (folder / "index.html").read_text()


def slower(samples: Sequence[float], by: float) -> list[float]:
    """The same noise around another time."""
    return [by * one for one in samples]


def test_a_job_that_became_slower_is_named(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY), sample("cat", STEADY, ours=False))
    planted(tmp_path, "bbb", sample("copy", slower(STEADY, 1.2)), sample("cat", STEADY, ours=False))
    moved, page = drawn(tmp_path)
    assert moved == ["merge, ten files, copy: CPU +20.0 % (1 to 1.2 s, aaa to bbb)"]
    assert "Moved in bbb" in page
    assert 'class="worse"' in page
    assert "cat</h3>" not in page


def test_noise_and_a_slower_machine_move_nothing(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY), sample("cat", STEADY, ours=False))
    planted(tmp_path, "bbb", sample("copy", [1.0, 1.3, 1.2, 1.25, 1.2]), sample("cat", STEADY, ours=False))
    assert drawn(tmp_path)[0] == []
    everything = [sample("copy", slower(STEADY, 1.5)), sample("cat", slower(STEADY, 1.5), ours=False)]
    planted(tmp_path, "ccc", *everything)
    moved, page = drawn(tmp_path)
    assert moved == []
    assert "No figure moved" in page


def test_a_slower_machine_does_not_hide_a_slower_job(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY), sample("cat", STEADY, ours=False))
    planted(tmp_path, "bbb", sample("copy", slower(STEADY, 1.8)), sample("cat", slower(STEADY, 1.5), ours=False))
    expected = "merge, ten files, copy: CPU +20.0 % (1 to 1.8 s, aaa to bbb; the rivals take +50.0 %)"
    assert drawn(tmp_path)[0] == [expected]


def test_a_slower_machine_is_seen_without_rivals_in_the_section(tmp_path: Path) -> None:
    elsewhere = [sample("cat", times, ours=False) | {"section": "repack"} for times in (STEADY, slower(STEADY, 1.5))]
    planted(tmp_path, "aaa", sample("copy", STEADY), elsewhere[0])
    planted(tmp_path, "bbb", sample("copy", slower(STEADY, 1.5)), elsewhere[1])
    assert drawn(tmp_path)[0] == []


def test_rivals_that_are_in_doubt_move_nothing(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY), sample("cat", [0.9, 1.1, 1.0, 0.92, 1.08], ours=False))
    # The rival's median fell by chance.
    planted(tmp_path, "bbb", sample("copy", STEADY), sample("cat", [0.9, 1.1, 0.95, 0.92, 1.08], ours=False))
    assert drawn(tmp_path)[0] == []


def test_what_creeps_in_small_steps_is_named_once(tmp_path: Path) -> None:
    for step in range(5):
        planted(tmp_path, f"c{step}", sample("copy", slower(STEADY, 1.02**step)), sample("cat", STEADY, ours=False))
    runs = read(sorted(tmp_path.glob("*.jsonl")))
    (move,) = moves(runs)
    assert (move.before.commit, move.after.commit) == ("c0", "c3")


def test_a_run_without_a_job_is_a_gap_and_moves_are_seen_without_colours(tmp_path: Path) -> None:
    for step, times in enumerate((STEADY, STEADY, None, STEADY, slower(STEADY, 1.5))):
        planted(tmp_path, f"c{step}", sample("copy", times) if times else sample("regroup", STEADY))
    _, page = drawn(tmp_path)
    (cpu,) = re.findall(r"copy</h3>\n<figure>(.*?)</figure>", page)
    assert cpu.count("<polyline") == 2
    assert (cpu.count("<circle"), cpu.count("<polygon")) == (3, 1)
    assert "▲ worse: merge, ten files, copy: CPU +50.0 %" in page
    assert ">c0</text>" in cpu
    assert ">c4</text>" in cpu


def test_a_job_is_compared_with_its_own_last_run(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY))
    planted(tmp_path, "bbb", sample("regroup", STEADY))
    planted(tmp_path, "ccc", sample("copy", slower(STEADY, 0.5)))
    assert drawn(tmp_path)[0] == ["merge, ten files, copy: CPU -50.0 % (1 to 0.5 s, aaa to ccc)"]


def test_a_smaller_output_is_better(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY, size=2_000_000))
    planted(tmp_path, "bbb", sample("copy", STEADY, size=1_000_000))
    moved, page = drawn(tmp_path)
    assert moved == ["merge, ten files, copy: output -50.0 % (2 to 1 MB, aaa to bbb)"]
    assert 'class="better"' in page


def test_machines_are_not_compared(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY))
    planted(tmp_path, "bbb", sample("copy", slower(STEADY, 3)), cpu="another")
    moved, page = drawn(tmp_path)
    assert moved == []
    assert "another, 2 cores: 1 run," in page


def test_quick_runs_are_left_out(tmp_path: Path) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY), quick=True)
    done = run([sys.executable, REPO / "bench" / "history_page.py", tmp_path], env=importing("tests", "bench"))
    assert done.code == 2
    assert "no file of a run" in done.err


@pytest.mark.parametrize("line", ["{", '{"section": "merge"}', "[]"])
def test_a_line_of_another_form_is_named(tmp_path: Path, line: str) -> None:
    planted(tmp_path, "aaa", sample("copy", STEADY))
    (path,) = tmp_path.glob("*")
    path.write_text(path.read_text() + line)
    done = run([sys.executable, REPO / "bench" / "history_page.py", tmp_path], env=importing("tests", "bench"))
    assert done.code == 1
    assert f"{path}: line 3 is not of a run's history" in done.err


def test_a_run_of_the_bench_leaves_its_samples(tmp_path: Path) -> None:
    command: list[Argument] = [sys.executable, REPO / "bench" / "run.py", "inspect", "--quick", "--history", tmp_path]
    done = run(command, env=importing("tests", "bench"), timeout=120)
    assert done.code == 0, str(done)
    (path,) = tmp_path.glob("*.jsonl")
    head, *lines = map(json.loads, path.read_text().splitlines())
    assert head["quick"]
    assert head["machine"]["cores"] > 0
    assert any(line["ours"] for line in lines)
    assert all(line["section"] == "inspect" and line["cpu"] for line in lines)
