"""Which tables a file has, and which of them is meant by a name: all verbs and the package say the same. uproot writes
files with names that are used twice; its lists of keys have the oldest cycle first, those of ROOT the newest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry

OLD, NEW = 3, 5


def write(make: Callable[[str, dict[str, str]], Any], name: str, entries: int) -> None:
    """Adds a table to a file of uproot by one of its methods."""
    make(name, {"x": "int32"}).extend({"x": np.arange(entries, dtype=np.int32)})


@pytest.fixture(params=["adjacent", "apart", "in a directory", "ntuple"])
def twice(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A file that was given a table of a name, and then another one; and the path of both."""
    path, table = tmp_path / "twice.root", "d/t" if request.param == "in a directory" else "t"
    with uproot.recreate(path) as file:
        make = file.mkrntuple if request.param == "ntuple" else file.mktree
        write(make, table, OLD)
        if request.param == "apart":
            file["h"] = np.histogram([1.0])
        write(make, table, NEW)
    with uproot.open(path) as file:
        keys = [key for key in file if file.classname_of(key) != "TDirectory"]
        assert [key for key in keys if "t" in key] == [f"{table};1", f"{table};2"]
        assert file[table].num_entries == NEW
    return path, table


def test_every_verb_takes_the_highest_cycle(basketry: Basketry, tmp_path: Path, twice: tuple[Path, str]) -> None:
    path, table = twice
    report = basketry.json("inspect", path)
    newest = {t["cycle"]: t["newest"] for t in report["trees"] + report["ntuples"]}
    assert newest == {1: False, 2: True}
    assert basketry.json("check", path)["files"][0]["entries"] == NEW
    assert basketry.json("readspeed", f"{path}:{table}", "--repeat", "1")["entries"] == NEW
    assert basketry.json("readspeed", path, "--repeat", "1")["entries"] == NEW
    fileset = basketry.json("fileset", path, "--tree", table)["fileset"]["dataset"]["files"]
    assert [file["num_entries"] for file in fileset.values()] == [NEW]
    assert bk.open(f"{path}:{table}").num_entries == NEW
    assert bk.open(path)[table].num_entries == NEW
    basketry("convert", path, "-o", tmp_path / "out.parquet")
    basketry("convert", tmp_path / "out.parquet", "-o", tmp_path / "back.root")
    assert basketry.json("check", tmp_path / "back.root")["files"][0]["entries"] == NEW


@pytest.mark.parametrize("verb", ["rewrite", "merge", "all-cycles"])
def test_the_highest_cycle_is_kept(basketry: Basketry, tmp_path: Path, twice: tuple[Path, str], verb: str) -> None:
    path, table = twice
    inputs, out = [path, path] if verb == "merge" else [path], tmp_path / "out.root"
    words = ["rewrite", "--all-cycles"] if verb == "all-cycles" else [verb]
    report = basketry.json(*words, *inputs, "-o", out)

    assert {cycle["cycle"] for cycle in report["older_cycles"]} <= {1}
    with uproot.open(out) as file:
        expected = np.tile(np.arange(NEW), len(inputs))
        assert file[table]["x"].array(library="np").tolist() == expected.tolist()
        cycles = [key for key in file if key.startswith(f"{table};")]
        assert len(cycles) == (2 if verb == "all-cycles" else 1)
        if verb == "all-cycles":
            assert file[f"{table};1"].num_entries == OLD
            assert file[f"{table};2"].num_entries == NEW


def test_a_cycle_can_be_named(basketry: Basketry, twice: tuple[Path, str]) -> None:
    path, table = twice
    for cycle, entries in ((1, OLD), (2, NEW)):
        assert basketry.json("readspeed", f"{path}:{table};{cycle}", "--repeat", "1")["entries"] == entries
        fileset = basketry.json("fileset", path, "--tree", f"{table};{cycle}")["fileset"]["dataset"]["files"]
        assert [file["num_entries"] for file in fileset.values()] == [entries]


def test_objects_keep_their_cycles(basketry: Basketry, tmp_path: Path) -> None:
    path, out, merged = (tmp_path / f"{name}.root" for name in ("in", "out", "merged"))
    with uproot.recreate(path) as file:
        file["h"] = np.histogram([1.0], bins=4, range=(0, 4))
        file["h"] = np.histogram([1.0, 2.0, 3.0], bins=4, range=(0, 4))
    basketry("rewrite", path, "-o", out)
    basketry("merge", path, path, "-o", merged)

    with uproot.open(path) as before, uproot.open(out) as after, uproot.open(merged) as sum_of_both:
        for name in ("h;1", "h;2", "h"):
            assert after[name].values().tolist() == before[name].values().tolist()
        assert sum_of_both["h"].values().tolist() == (2 * before["h"].values()).tolist()


@pytest.fixture
def both(tmp_path: Path) -> Callable[[str, int, int | None], Path]:
    """Makes files with a tree and an RNTuple of one name."""

    def make(name: str, in_tree: int, in_ntuple: int | None) -> Path:
        path = tmp_path / name
        with uproot.recreate(path) as file:
            write(file.mktree, "t", in_tree)
            if in_ntuple is not None:
                write(file.mkrntuple, "t", in_ntuple)
        return path

    return make


def test_a_tree_and_an_rntuple_of_one_name_are_both_kept_and_compared(
    basketry: Basketry, tmp_path: Path, both: Callable[[str, int, int | None], Path]
) -> None:
    path, out = both("in.root", OLD, NEW), tmp_path / "out.root"
    tables = {(t["container"], t["entries"]) for t in basketry.json("rewrite", path, "-o", out)["tables"]}
    assert tables == {("ttree", OLD), ("rntuple", NEW)}
    verdict = basketry.json("verify", path, out)

    assert [tree["entries"] for tree in verdict["trees"]] == [OLD, NEW]
    assert basketry.json("check", path)["files"][0]["entries"] == OLD + NEW


@pytest.mark.parametrize("words", [(), ("--tree", "t")])
@pytest.mark.parametrize(("in_tree", "in_ntuple"), [(OLD, NEW + 2), (OLD + 1, NEW)])
def test_a_difference_in_either_is_found(
    basketry: Basketry,
    both: Callable[[str, int, int | None], Path],
    words: tuple[str, ...],
    in_tree: int,
    in_ntuple: int,
) -> None:
    one, other = both("one.root", OLD, NEW), both("other.root", in_tree, in_ntuple)

    assert basketry.run("verify", one, other, *words).code == 1
    assert basketry.run("verify", other, one, *words).code == 1


def test_one_that_the_other_side_lacks_is_named(
    basketry: Basketry, both: Callable[[str, int, int | None], Path]
) -> None:
    one, other = both("one.root", OLD, NEW), both("other.root", OLD, None)
    first, second = (basketry.run("verify", *sides).out for sides in ((one, other), (other, one)))

    assert "only the first side has this RNTuple" in first
    assert "only the second side has this RNTuple" in second
