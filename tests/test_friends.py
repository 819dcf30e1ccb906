"""Friends of trees, as real ROOT wrote them and RDataFrame reads them."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.command import Basketry

# Names in RDataFrame's output and their branches.
SEEN = {"a": "x", "b": "alias.x", "c": "y", "d": "same.z", "e": "other.v", "f": "many"}


@pytest.fixture(scope="module")
def made() -> Path:
    """The folder with the trees."""
    return make_files.made("friends")


@pytest.fixture
def tree(made: Path) -> bk.Tree:
    """The tree that has friends."""
    opened = bk.open(f"{made}/main.root:tree")
    assert isinstance(opened, bk.Tree)
    return opened


@pytest.fixture(scope="module")
def by_rdataframe(made: Path) -> dict[str, list[Any]]:
    """The values by RDataFrame, under basketry's names."""
    with uproot.open(made / "seen.root") as file:
        return {ours: file["seen"][theirs].array().tolist() for theirs, ours in SEEN.items()}


@pytest.mark.parametrize("threads", [1, 2])
def test_branches_of_friends_equal_those_of_root(
    tree: bk.Tree, by_rdataframe: dict[str, list[Any]], threads: int
) -> None:
    arrays = tree.arrays(list(by_rdataframe), threads=threads, memory="64 MB")
    assert arrays.fields == list(by_rdataframe)
    for name, values in by_rdataframe.items():
        assert arrays[name].tolist() == values, name
        assert tree[name].array().tolist() == values, name
    computed = tree.arrays("alias.x + y / 3", cut="(other.y > 30) & (same.z < 120)")

    assert computed.tolist() == [{"alias.x + y / 3": 0.0}] * 9
    # The tree's own branch comes first.
    assert tree["x"].array()[1] == 1
    assert tree["other.x"].array()[1] == -1


def test_steps_and_selections_reach_friends(tree: bk.Tree, by_rdataframe: dict[str, list[Any]]) -> None:
    names = ["x", "alias.x", "same.many"]
    for step in (333, "20 kB", None):
        steps = list(tree.iterate(names, step_size=step))
        assert [value for one in steps for value in one["same.many"].tolist()] == by_rdataframe["many"]
    chosen = np.arange(7, 5000, 611)
    picked = tree.arrays(names, selection=chosen)

    assert picked["alias.x"].tolist() == [-float(i) for i in chosen]
    assert picked["same.many"].tolist() == [by_rdataframe["many"][i] for i in chosen]


def test_friends_lie_beside_the_file_that_names_them(made: Path, tmp_path: Path, monkeypatch: Any) -> None:
    shutil.copytree(made, tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert bk.open("moved/main.root:tree")["other.y"].array()[2] == 6
    monkeypatch.chdir(tmp_path / "moved")

    assert bk.open("main.root:tree")["other.y"].array()[2] == 6


def test_prefixes_distinguish_friends(tree: bk.Tree) -> None:
    assert list(tree.friends) == ["other", "same", "alias"]
    assert tree.keys() == ["x"]
    assert tree.friends["same"].keys() == ["z", "n", "many"]
    assert "alias.y" in tree
    assert "alias.z" not in tree
    with pytest.raises(KeyError, match=r"no branch 'alias\.z'"):
        tree["alias.z"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("brief.b", "brief has 10 entries, but the data set has 5000"),
        ("indexed.key", "it has an index.*read indexed by itself"),
        ("gone.g", "away.root.*[Nn]o such file"),
    ],
)
def test_unreadable_friends_raise_the_reason(made: Path, name: str, why: str) -> None:
    odd = bk.open(f"{made}/main.root:odd")
    assert len(odd.arrays()) == 5000, "they are not asked for"
    with pytest.raises(ValueError, match=why):
        odd[name]

    assert name not in odd


def test_friends_can_be_passed_to_open(made: Path) -> None:
    main = f"{made}/main.root:same"
    files = [f"{made}/below/other.root:other"] * 2
    with pytest.raises(ValueError, match="other has 5000 entries"):
        bk.open(main, friends=files[:1])
    given = bk.open(main, friends={"twice": files})
    assert given["twice.y"].array()[5001] == 3
    arrays = bk.concatenate(f"{made}/main.root:tree", ["x", "mine.y"], friends={"mine": files[0]})
    assert (arrays["mine.y"] == 3 * arrays["x"]).to_numpy().all()
    assert next(iter(bk.open(f"{made}/main.root:tree", friends=files[:1]).friends)) == "other"
    with pytest.raises(FileNotFoundError):
        bk.open(main, friends=["/no/such/file.root:t"])
    with pytest.raises(TypeError, match="a list"):
        bk.open(main, friends=files[0])


def test_each_of_several_files_has_a_friend(made: Path) -> None:
    both = bk.open([f"{made}/main.root:tree"] * 2)
    values = both.arrays(["x", "alias.x", "other.v"])
    assert len(values) == 10_000
    assert (values["alias.x"] == -values["x"]).to_numpy().all()
    with pytest.raises(ValueError, match="other numbers of entries"):
        both["same.z"]


def test_cuts_and_columns_may_name_friends(
    basketry: Basketry, made: Path, by_rdataframe: dict[str, list[Any]], tmp_path: Path
) -> None:
    main, seen = (
        f"{made}/main.root:tree",
        {name: np.asarray(by_rdataframe[name]) for name in ("alias.x", "y", "same.z")},
    )
    kept = np.flatnonzero((seen["alias.x"] < -10) & (seen["y"] % 2 == 0) & (seen["same.z"] >= 3))
    cut = "alias.x < -10 and other.y % 2 == 0 and `same.z` >= 3"
    basketry("rewrite", main, "-o", tmp_path / "out.root", "--cut", cut, "--define", "far=other.x - alias.x + x")
    with uproot.open(tmp_path / "out.root") as file:
        found = file["tree"].arrays(["x", "far"], library="np")
    assert found["x"].tolist() == kept.tolist()
    assert found["far"].tolist() == kept.tolist()
    shown = basketry.json("show", main, "x", "other.y", "--cut", cut, "-n", "3")
    assert [row["values"] for row in shown["rows"]] == [[float(entry), 3 * int(entry)] for entry in kept[:3]]
    long = sum(any(value > 3 for value in values) for values in by_rdataframe["other.v"])
    assert basketry.json("stats", main, "x", "--cut", "any(other.v > 3)")["entries"] == long
    (curve,) = basketry.json("draw", main, "other.y", "--cut", cut)["curves"]
    assert curve["filled"] == len(kept)


def test_friends_that_cannot_be_read_say_why_in_cuts(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("main.root", "below/other.root"):
        shutil.copy(made / name, tmp_path / name)
    odd = f"{tmp_path}/main.root:odd"
    for friend, why in (("brief", "entries"), ("indexed", "index"), ("gone", "away.root")):
        said = basketry.refuses("show", odd, "--cut", f"{friend}.b > 1")
        assert f"friend {friend}" in said
        assert why in said
    # A name of the tree itself opens no friend, and near ones are told.
    assert basketry.json("show", odd, "--cut", "x > 3", "-n", "1")["rows"][0]["values"] == [4999.0]
    assert "did you mean other.y or alias.y?" in basketry.refuses(
        "show", f"{made}/main.root:tree", "--cut", "other.yy > 1"
    )
