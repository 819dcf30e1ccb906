"""Friends of trees, as real ROOT wrote them and RDataFrame reads them."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import make_files

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
