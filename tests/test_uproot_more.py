"""More of what uproot's users find again: members of trees and branches, outputs that are no files here, classes with
streamers of their own, tuples, interpretations. uproot and real ROOT are the referees."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import awkward as ak
import fsspec
import numpy as np
import pytest
import uproot

import basketry as bk

if TYPE_CHECKING:
    from pathlib import Path

ROOT = pytest.importorskip("ROOT")
opened: Any = bk.open


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Objects with streamers of their own, and a tree, that ROOT wrote."""
    path = str(tmp_path_factory.mktemp("streamers") / "streamers.root")
    file = ROOT.TFile(path, "recreate")
    matrix = ROOT.TMatrixDSym(3)
    for i in range(3):
        for j in range(3):
            matrix[i][j] = 10 * min(i, j) + max(i, j)
    matrix.Write("matrix")
    file.WriteObject(ROOT.TTime(1234567890123), "time")
    x = np.array([1.0, 2, 4])
    ROOT.TSpline3("spline", x, x**2, 3).Write("spline")
    efficiency = ROOT.TEfficiency("efficiency", "", 2, 0, 2)
    efficiency.SetBetaBinParameters(1, 2.5, 3.5)
    efficiency.Write()
    efficiency.SetDirectory(ROOT.nullptr)
    tree = ROOT.TTree("t", "a title")
    number = np.zeros(1, np.int32)
    tree.Branch("number", number, "number/I")
    for number[0] in range(-2, 3):
        tree.Fill()
    tree.Write()
    file.Close()
    return path


def test_counters_are_those_of_uproot(tmp_path: Path) -> None:
    path, lists = str(tmp_path / "counted.root"), ak.Array([[1.5], [], [2.5, 3.5]])
    classes = "class Hit { float x; };"
    with bk.recreate(path, classes=classes) as file:
        file["t"] = {"values": lists, "pair": np.zeros((3, 2)), "jets": ak.zip({"pt": lists, "eta": lists})}
        for kind in ("vector", "TClonesArray"):
            file.mktree(kind, {"hits": f"{kind}<Hit>"}).extend({"hits": ak.zip({"x": lists})})
        file.mkrntuple("n", {"values": "var * float32"})
    tree = opened(path)["t"]
    names = {name: getattr(branch.count_branch, "name", None) for name, branch in uproot.open(path)["t"].items()}
    assert {name: getattr(branch.count_branch, "name", None) for name, branch in tree.items()} == names
    assert (names["values"], names["jets_pt"], names["pair"]) == ("nvalues", "njets", None)
    assert tree["values"].count_branch is tree["nvalues"]
    assert tree["values"].count_leaf is tree["nvalues"].member("fLeaves")[0]
    assert opened(path)["n"]["values"].count_branch is None
    for kind in ("vector", "TClonesArray"):
        # For uproot, which meets the counter's leaf here first, the branch counts itself.
        inner = opened(path)[kind]["hits/hits.x"]
        assert (inner.count_branch.name, inner.top_level, inner.count_branch.top_level) == ("hits", False, True)


def test_trees_and_branches_have_their_members(written: str) -> None:
    ours, theirs = opened(written)["t"], uproot.open(written)["t"]
    assert ours.member("fTitle") == "a title"
    for name in ("fEntries", "fBasketSize", "fCompress", "fEntryOffsetLen", "fTitle"):
        assert ours["number"].member(name) == theirs["number"].member(name), name
    (leaf,) = ours["number"].member("fLeaves")
    assert leaf is ours.member("fLeaves")[0]
    assert (leaf.classname, leaf.member("fLen")) == ("TLeafI", 1)
    assert not ours["number"].has_member("fNothing")
    with pytest.raises(bk.KeyInFileError, match="did you mean fLeaves"):
        ours["number"].member("fleaves")


def test_classes_with_streamers_of_their_own(written: str) -> None:
    file, root = opened(written), ROOT.TFile(written)
    assert file["matrix"].member("fNrows") == 3
    assert file["matrix"].member("fElements").tolist() == [0, 1, 2, 11, 12, 22]
    assert file["time"].member("fMilliSec") == 1234567890123
    poly = file["spline"].member("fPoly")
    assert [(one.member("fX"), one.member("fY")) for one in poly] == [(1, 1), (2, 4), (4, 16)]
    pairs = file["efficiency"].member("fBeta_bin_params")
    assert pairs[1].members == {"first": 2.5, "second": 3.5}
    assert root.Get("efficiency").GetBetaAlpha(1) == 2.5
    root.Close()


def test_numbers_are_read_as_others(written: str) -> None:
    branch = opened(written)["t/number"]
    assert branch.array(">u4").tolist() == uproot.open(written)["t/number"].array(">u4").tolist()
    assert branch.array("u1", library="np").shape == (5, 4)
    arrays = opened(written)["t"].arrays({"number": "u4"}, library="np")
    assert arrays["number"].dtype == np.uint32
    with pytest.raises(ValueError, match="of the same size"):
        branch.array("f8")
    ours, theirs = bk.AsDtype(">u4", "u8"), uproot.AsDtype(">u4", "u8")
    one, other = branch.array(ours, library="np"), uproot.open(written)["t/number"].array(theirs, library="np")
    assert (one.tolist(), one.dtype) == (other.tolist(), other.dtype)
    assert (bk.AsDtype("f8") == bk.AsDtype("f8")) is (hash(bk.AsDtype("f8")) == hash(bk.AsDtype("<f8"))) is True
    assert bk.AsDtype("f8") != bk.AsDtype("f4")


def test_outputs_that_are_no_files_here(tmp_path: Path) -> None:
    data = {"x": np.arange(3)}
    memory = io.BytesIO()
    for place in ("memory://folder/out.root", "simplecache::memory://other/out.root", memory):
        with bk.recreate(place) as file:
            file["t"] = data
    assert uproot.open(memory)["t/x"].array().tolist() == [0, 1, 2]
    assert opened("memory://folder/out.root")["t/x"].array().tolist() == [0, 1, 2]
    assert fsspec.filesystem("memory").exists("/other/out.root")
    with pytest.raises(FileExistsError):
        bk.create("memory://folder/out.root")
    never = bk.recreate("memory://folder/never.root")
    never["t"] = data
    never.abandon()
    assert not fsspec.filesystem("memory").exists("/folder/never.root")

    class Place:
        """A path with options for fsspec, as `universal_pathlib` has them."""

        storage_options: Any = {"fo": str(tmp_path / "archive.zip")}

        def __str__(self) -> str:
            return "zip://inside.root"

    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("inside.root", memory.getvalue())
    assert opened(Place())["t"].num_entries == 3


def test_tuples_and_missing_records(tmp_path: Path) -> None:
    path = str(tmp_path / "tuples.root")
    data = ak.Array(
        {
            "t": [(1, 2.5), (3, 4.5)],
            "l": [[(1, "a")], []],
            "r": [{"x": 1}, None],
            "u": ak.Array([[1, None, "a"], ["b"]]),
            "n": [({"x": 1}, 2), ({"x": 3}, 4)],
        }
    )
    with bk.recreate(path) as file:
        file.mkrntuple("n", data.layout.form).extend(data)
    ours, theirs = opened(path)["n"], uproot.open(path)["n"]
    for name in ("t", "l", "n"):
        assert ak.array_equal(ours[name].array(), data[name], dtype_exact=False), name
        assert theirs[name].array().tolist() == data[name].tolist(), name
    assert ours["r"].array().tolist() == [[{"x": 1}], []]
    assert ours["u"].array().tolist() == data["u"].tolist()
    assert ours["t.1"].array().tolist() == ours["t._1"].array().tolist() == [2.5, 4.5]
    assert ours.keys() == theirs.keys()
    reader = ROOT.RNTupleReader.Open("n", path)
    types = {one.GetFieldName(): one.GetTypeName() for one in reader.GetDescriptor().GetTopLevelFields()}
    assert types["t"] == "std::tuple<std::int64_t,double>"
    assert types["u"] == "std::vector<std::variant<std::optional<std::int64_t>,std::optional<std::string>>>"
    assert reader.GetNEntries() == 2


def test_fields_of_an_rntuple_have_codecs_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "codecs.root"
    with bk.recreate(path) as file:
        ntuple = file.mkrntuple("n", {"a": "f8", "b": "f8"})
        ntuple.compression = {"a": bk.LZMA(3)}
        ntuple.extend({"a": np.zeros(1000), "b": np.zeros(1000)})
        assert ntuple.compression == {"a": bk.LZMA(3)}
    (report,) = bk.inspect(path).ntuples
    assert {field.path: list(field.columns[0].compression) for field in report.fields} == {"a": ["203"], "b": ["505"]}


def test_small_things(tmp_path: Path) -> None:
    path = str(tmp_path / "small.root")
    file = bk.recreate(path, compression=bk.ZLIB(5))
    file.compression = None
    file["t"] = {"x": np.zeros(1000)}
    file["π"] = np.histogram([1.0])
    assert (file["π"].name, file.compression) == ("π", None)
    with pytest.raises(ValueError, match="other lengths"):
        file.mktree("counted", {"nx": [1, 0], "x": [[1.0, 2.0], []]})
    file.mktree("counted", {"nx": [2, 0], "x": [[1.0, 2.0], []]})
    tree = file.mktree("codecs", {"a": "f8", "b": "f8"})
    tree["a"].compression = bk.LZMA(3)
    tree.extend({"a": np.zeros(1000), "b": np.zeros(1000)})
    with pytest.raises(ValueError, match="was filled"):
        tree.compression = None
    with pytest.raises(ValueError, match="no entries"):
        file["types"] = {"x": "float64"}
    # What is dropped is complete.
    del file
    with opened(path) as read:
        assert read["t"] is read["t"]
        assert read["t/x"].compression is None
        assert (read["codecs/a"].compression, read["codecs/b"].compression) == (bk.LZMA(3), None)
        assert sorted(read.keys(cycle=False)) == ["codecs", "counted", "t", "π"]
        assert [*read["t"].arrays("x", library="pd", how=dict)] == ["x"]
        assert len(read["t"].arrays(["x", "x + 1", "x + 1"], library="np", how=tuple)) == 3
        assert read["π"].to_pyroot().GetName() == "π"
    assert len(list(bk.iterate([f"{path}:t", f"{tmp_path}/none*.root:t"]))) == 1
