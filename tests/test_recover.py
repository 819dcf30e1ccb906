"""Files of jobs that were killed, and files that were cut short: what `recover` brings back, by value."""

import random
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import make_files
from referee.command import Basketry
from referee.root_server import RootServer

FLUSH, SAVE = 200, 1000
STOPS = (900, 1000, 1201, 1999, 3777, 4999)


def expected(entries: int) -> dict[str, list[Any]]:
    """What the job of macros/killed.C filled."""
    numbers = range(entries)
    counts = [i // 200 % 40 + i % 3 for i in numbers]
    return {
        "i": list(numbers),
        "x": [i * 0.5 for i in numbers],
        "n": counts,
        "v": [[float(i + j) for j in range(n)] for i, n in zip(numbers, counts, strict=True)],
        "list": [[float(i)] * (i % 7) for i in numbers],
        "text": [chr(ord("a") + i % 26) * (i % 11) for i in numbers],
        "word": [f"{i:0{1 + i // 400}d}" for i in numbers],
        "q/fMarkerSize": [float(i) for i in numbers],
        "q/fMarkerStyle": [i % 50 for i in numbers],
        "r/fMarkerSize": [float(-i) for i in numbers],
        "r/fMarkerStyle": [i % 51 for i in numbers],
    }


def check(path: Path, entries: int) -> None:
    """Every value is what was filled, and what readers allocate by is right."""
    with uproot.open(path) as file:
        assert file["folder/note"].member("fTitle") == "written first"
        tree = file["folder/tree"]
        assert tree.num_entries == entries
        for name, values in expected(entries).items():
            assert tree[name].array().tolist() == values, name
        momenta = tree["p"].array()
        assert momenta.fP.fX.tolist() == [float(i) for i in range(entries)]
        assert momenta.fE.tolist() == [3.0 * i for i in range(entries)]
        if entries:
            leaf = tree["n"].member("fLeaves")[0]
            assert leaf.member("fMaximum") >= max(expected(entries)["n"])
            assert tree["word"].member("fLeaves")[0].member("fLen") > max(map(len, expected(entries)["word"]))


@pytest.mark.parametrize("stop", STOPS)
def test_a_killed_job_is_brought_back(basketry: Basketry, root_bytes: RootServer, tmp_path: Path, stop: int) -> None:
    folder = make_files.made("killed")
    out = tmp_path / "out.root"
    like = ("--like", folder / "killed0.root") if stop < SAVE else ()
    report = basketry.json("recover", folder / f"killed{stop}.root", "-o", out, *like)
    (tree,) = report["trees"]
    assert tree["path"] == "folder/tree"
    # Everything up to the last flush, and what baskets that filled up since then have in common.
    assert stop // FLUSH * FLUSH <= tree["entries"] <= stop
    assert tree["saved_entries"] == (None if like else stop // SAVE * SAVE)
    assert tree["entries_lost"] == max((branch["entries_lost"] for branch in tree["branches"]), default=0)
    assert report["objects"] == 1
    check(out, tree["entries"])
    assert root_bytes.of(out)
    assert any("are called" in note for note in report["notes"]) == (tree["baskets_found"] > 0)


def test_without_a_record_it_says_what_is_there(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed")
    out = tmp_path / "out.root"
    line = basketry.refuses("recover", folder / "killed900.root", "-o", out)
    assert "--like" in line
    assert "branch i:" in line
    line = basketry.refuses(
        "recover", folder / "killed900.root", "-o", out, "--like", make_files.made("wide") / "wide.root"
    )
    assert "no tree of that name" in line
    assert not out.exists()


def test_a_file_cut_short_is_brought_back(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed")
    chance = random.Random(4)
    before: dict[int, int] = {}
    for _ in range(30):
        whole = (folder / f"killed{chance.choice((0, 3777))}.root").read_bytes()
        length = chance.randrange(1, len(whole))
        path, out = tmp_path / "cut.root", tmp_path / "out.root"
        path.write_bytes(whole[:length])
        outcome = basketry.run("recover", path, "-o", out, "--like", folder / "killed0.root", "--force")
        assert outcome.code in (0, 2), str(outcome)
        assert "panicked" not in outcome.err
        if outcome.code == 0:
            with uproot.open(out) as file:
                entries = before[length] = file["folder/tree"].num_entries
            check(out, entries)
    assert len(before) > 20
    # The longer, the more: an entry takes about as many bytes as any other.
    assert max(before.values()) > 4000


def test_a_whole_file_comes_back_whole(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed")
    out = tmp_path / "out.root"
    report = basketry.json("recover", folder / "killed0.root", "-o", out)
    assert report["trees"][0]["entries_lost"] == 0
    assert not report["notes"]
    basketry("verify", folder / "killed0.root", out)
