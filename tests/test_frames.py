"""DataFrames of pandas: columns of numbers, of arrays, of records; with and without the package awkward-pandas. Values
are those of NumPy's arrays, and the types of columns those of uproot where it has any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot

import basketry as bk
from basketry._libraries import frames
from referee.paths import FOUND

if TYPE_CHECKING:
    from pathlib import Path

opened: Any = bk.open

MADE = {
    "x": np.arange(4.0),
    "flag": np.array([True, False, True, True]),
    "matrix": np.arange(24, dtype=np.int32).reshape(4, 2, 3),
    "lists": ak.Array([[1.5], [], [2.5, 3.5], [4.5]]),
    "words": ak.Array(["a", "bc", "", "d"]),
}


@pytest.fixture
def flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without awkward-pandas, also where it is installed."""
    monkeypatch.setattr(frames, "_extension", lambda: None)


@pytest.fixture
def with_awkward() -> None:
    """With awkward-pandas."""
    pytest.importorskip("awkward_pandas")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tree with a branch of each kind."""
    path = str(tmp_path_factory.mktemp("frames") / "frames.root")
    with bk.recreate(path) as file:
        file["t"] = MADE
    return path


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A leaf list with an array, as ROOT writes it."""
    ROOT = pytest.importorskip("ROOT")
    path = str(tmp_path_factory.mktemp("records") / "records.root")
    ROOT.gInterpreter.Declare("struct LeafList { float pt; int hits[3]; double m[2][2]; };")
    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("t", "")
    one = ROOT.LeafList()
    tree.Branch("hit", one, "pt/F:hits[3]/I:m[2][2]/D")
    for i in range(2):
        one.pt = i + 0.5
        for k in range(3):
            one.hits[k] = 10 * i + k
        for k in range(4):
            one.m[k // 2][k % 2] = 100 * i + k
        tree.Fill()
    tree.Write()
    file.Close()
    return path


MATRIX = [f"matrix[{i}][{k}]" for i in range(2) for k in range(3)]


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize("stop", [None, 2, 0])
def test_arrays_become_columns(path: str, stop: int | None) -> None:
    tree = opened(path)["t"]
    frame = tree.arrays(library="pd", entry_stop=stop)
    count = 4 if stop is None else stop
    assert list(frame.columns) == ["x", "flag", *MATRIX, "nlists", "lists", "words"]
    assert len(frame) == count
    assert frame.dtypes["matrix[1][2]"] == np.int32
    assert frame["matrix[1][2]"].tolist() == MADE["matrix"][:count, 1, 2].tolist()
    assert [one.tolist() for one in frame["lists"]] == ak.to_list(MADE["lists"][:count])
    assert frame.index.tolist() == list(range(count))
    several = tree["matrix"].array(library="pd", entry_start=1, entry_stop=stop)
    assert list(several.columns) == [name.removeprefix("matrix") for name in MATRIX]
    assert several.index.tolist() == list(range(1, max(count, 1)))
    (computed,) = tree.arrays(["matrix"], "x < 2", library="pd", how=list, entry_stop=stop)[:1]
    assert computed.name == "matrix[0][0]"


@pytest.mark.usefixtures("flat")
def test_records_with_arrays_become_columns(records: str) -> None:
    tree = opened(records)["t"]
    frame = tree.arrays(library="pd")
    inside = ["pt", *(f"hits[{k}]" for k in range(3)), *(f"m[{i}][{k}]" for i in range(2) for k in range(2))]
    assert list(frame.columns) == [f"hit.{name}" for name in inside]
    truth = tree["hit"].array(library="np")
    assert frame["hit.m[1][0]"].tolist() == truth["m"][:, 1, 0].tolist() == [2, 102]
    assert frame["hit.hits[2]"].tolist() == [2, 12]
    assert list(tree["hit"].array(library="pd").columns) == inside
    assert len(tree.arrays(library="pd", entry_stop=0)) == 0


@pytest.mark.usefixtures("flat")
def test_no_column_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "same.root")
    with bk.recreate(path) as file:
        file["t"] = {"x": np.zeros((2, 2)), "x[0]": np.ones(2)}
    with pytest.raises(ValueError, match=r"'x\[0\]'"):
        opened(path)["t"].arrays(library="pd")


def test_what_pandas_refuses_is_named() -> None:
    with pytest.raises(ValueError, match="column 'short'"):
        frames.frame({"x": np.zeros(3), "short": np.zeros(2)}, 0, 3)


def test_entries_are_numbered_over_all_files(path: str) -> None:
    both = bk.concatenate([f"{path}:t", {path: "t"}], ["x"], library="pd")
    theirs = uproot.concatenate([f"{path}:t", f"{path}:t"], ["x"], library="pd")
    pd.testing.assert_frame_equal(both, theirs)
    # Files with other branches are read one by one.
    cut = bk.concatenate([f"{path}:t", f"{path}:t"], ["x"], "x > 1", library="pd")
    expected = uproot.concatenate([f"{path}:t", f"{path}:t"], ["x"], "x > 1", library="pd")
    pd.testing.assert_frame_equal(cut, expected)


@pytest.mark.usefixtures("with_awkward")
@pytest.mark.parametrize("stop", [None, 0])
def test_columns_are_those_of_uproot(path: str, records: str, stop: int | None) -> None:
    ours, theirs = opened(path)["t"], uproot.open(path)["t"]
    names = ["x", "flag", "matrix", "lists"]
    one, other = (tree.arrays(names, library="pd", entry_stop=stop) for tree in (ours, theirs))
    assert one.dtypes.astype(str).to_dict() == other.dtypes.astype(str).to_dict()
    assert one.index.equals(other.index)
    for name in names:
        single, their = (tree[name].array(library="pd", entry_stop=stop) for tree in (ours, theirs))
        assert str(single.dtype) == str(their.dtype)
    for name in ("x", "flag"):
        assert one[name].tolist() == other[name].tolist(), name
    for name in ("matrix", "lists"):
        assert one[name].ak.to_list() == other[name].ak.to_list(), name
    hit = opened(records)["t"].arrays(library="pd")["hit"]
    assert hit.ak["hits"].tolist() == [[0, 1, 2], [10, 11, 12]]


@pytest.mark.usefixtures("flat")
@pytest.mark.parametrize("name", ["leaflist-with-arrays-uproot-issue-398", "struct-with-array-gohep-tdatime"])
def test_files_that_gave_no_frame(name: str) -> None:
    if not FOUND.is_dir():
        pytest.skip(f"no files at {FOUND}")
    file = opened(str(FOUND / f"pandas-{name}.root"))
    tree = file.tree()
    arrays, frame = tree.arrays(library="np"), tree.arrays(library="pd")
    assert len(frame) == tree.num_entries
    for branch, array in arrays.items():
        for member in array.dtype.names or ():
            part = array[member]
            while part.dtype.names:
                member, part = f"{member}.{part.dtype.names[0]}", part[part.dtype.names[0]]
            column = f"{branch}.{member}{'[0]' * (part.ndim - 1)}"
            assert frame[column].tolist() == part.reshape(len(part), -1)[:, 0].tolist(), column
