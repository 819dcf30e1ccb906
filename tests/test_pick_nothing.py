"""Events that are looked for, and of which none is there: what is written then, and what is said."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files of ten events with a tree of sums."""
    paths = [tmp_path / f"{name}.root" for name in "ab"]
    for number, path in enumerate(paths):
        with bk.recreate(path) as file:
            file.mktree("Events", {"event": np.arange(10) + 10 * number, "x": np.arange(10.0)})
            file.mktree("Runs", {"sum": np.array([1.5 + number])})
    return paths


def test_cuts_that_nothing_passes_leave_the_other_trees(files: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("pick", *files, "--cut", "x > 7", "-o", out)
    assert basketry.run("pick", *files, "--cut", "x > 70", "-o", out, "--force").code == 1
    with uproot.open(out) as file:
        assert file["Events"].num_entries == 0
        assert file["Runs"]["sum"].array().tolist() == [1.5, 2.5]
    picked = bk.pick(files, out, cut="x > 70", force=True)
    assert picked.picked == 0
    assert picked.output is not None


def test_lists_of_which_nothing_is_there_write_nothing(files: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    words: list[str | Path] = ["pick", *files, "--key", "event", "-o", out]
    nothing = basketry.run(*words, "--events", "99")
    assert nothing.code == 1
    assert "is not written" in nothing.out
    assert "from before" not in nothing.out
    assert not out.exists()
    basketry(*words, "--events", "7")
    before = out.read_bytes()
    nothing = basketry.run(*words, "--events", "99", "--force")
    assert nothing.code == 1
    assert "is not written, and what is there is from before" in nothing.out
    assert out.read_bytes() == before


def test_a_task_without_an_event_is_done(files: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    jobs, listed = tmp_path / "jobs.json", tmp_path / "events.txt"
    listed.write_text("3\n4\n99\n")
    planned = ("--name", tmp_path / "part{n}.root", "--target-events", "2")
    basketry("plan", "pick", *files, "-o", jobs, *planned, "--", "--events", listed, "--key", "event")
    for _ in range(2):
        assert [basketry.run("run", jobs, "--task", str(n)).code for n in range(2)] == [0, 1]
        done = json.loads(basketry.run("collect", jobs, "--json").out)
        assert (done["done"], done["missing"], done["failed"], done["no"]) == (2, 0, 0, [1])
        assert [Path(path).name for path in done["outputs"]] == ["part0.root"]


def test_python_takes_the_values_of_a_key_of_one_column(files: list[Path], tmp_path: Path) -> None:
    lists: list[Any] = [[3, 14], np.array([3, 14]), [(3,), 14], ["3", 14]]
    for number, events in enumerate(lists):
        out = tmp_path / f"{number}.root"
        assert bk.pick(files, out, key="event", events=events).picked == 2
        assert bk.open(out)["Events"]["event"].array(library="np").tolist() == [3, 14]
