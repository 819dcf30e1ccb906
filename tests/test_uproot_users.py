"""What uproot's users find again: objects that are not trees, read and written, and the names and meanings of uproot's
methods. uproot and real ROOT are the referees."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk

ROOT = pytest.importorskip("ROOT")
opened: Any = bk.open


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with an object of each family, that ROOT wrote."""
    path = str(tmp_path_factory.mktemp("objects") / "objects.root")
    file = ROOT.TFile(path, "recreate")
    for kind in "CSIFD":
        plain = getattr(ROOT, f"TH1{kind}")(f"h{kind}", "plain;x", 5, -1, 2)
        for value in (-3, -0.5, 0.1, 0.1, 1.9, 8):
            plain.Fill(value)
        plain.Write()
    edges = np.array([0.0, 1, 4, 9])
    flat = ROOT.TH2D("h2", "weighted", 3, edges, 2, 0.0, 1.0)
    flat.Sumw2()
    deep = ROOT.TH3F("h3", "", 2, 0, 1, 3, 0, 1, 4, 0, 1)
    profile = ROOT.TProfile("p1", "", 4, 0, 4)
    square = ROOT.TProfile2D("p2", "", 2, 0, 4, 3, 0, 4)
    random = np.random.default_rng(1)
    for x, y, w in random.uniform(0, 1, (50, 3)):
        flat.Fill(9 * x, y, w)
        deep.Fill(x, y, w)
        profile.Fill(4 * x, y, w)
        square.Fill(4 * x, 4 * y, w)
    labels = ROOT.TH1F("labels", "", 2, 0, 2)
    labels.GetXaxis().SetBinLabel(1, "one")
    labels.GetXaxis().SetBinLabel(2, "two")
    x, y, low, high = (np.array(one) for one in ([1.0, 2], [3.0, 4], [0.5, 0.5], [0.25, 1]))
    graph = ROOT.TGraphAsymmErrors(2, x, y, low, high, high, low)
    for thing in (flat, deep, profile, square, labels):
        thing.Write()
    graph.Write("graph")
    ROOT.TObjString("hello").Write("text")
    ROOT.TParameter["int"]("number", 42).Write()
    listed = ROOT.TList()
    item = ROOT.TNamed("a", "b")
    listed.Add(item)
    listed.Write("list", ROOT.TObject.kSingleKey)
    file.mkdir("dir").cd()
    ROOT.TNamed("inside", "title").Write()
    file.Close()
    return path


def test_every_histogram_is_read_as_by_uproot(objects: str) -> None:
    ours, theirs = opened(objects), uproot.open(objects)
    names = ["hC", "hS", "hI", "hF", "hD", "h2", "h3", "p1", "p2", "labels"]
    for name in names:
        mine, other = ours[name], theirs[name]
        assert (mine.classname, mine.name, mine.title, mine.kind) == (
            other.classname,
            other.name,
            other.title,
            other.kind,
        )
        for flow in (False, True):
            for what in ("values", "errors", "variances", "counts"):
                found, truth = getattr(mine, what)(flow=flow), getattr(other, what)(flow=flow)
                np.testing.assert_allclose(found, truth, err_msg=f"{name} {what}")
            for here, there in zip(mine.axes, other.axes, strict=True):
                np.testing.assert_allclose(here.edges(flow=flow), there.edges(flow=flow))
        assert mine.axis(0).labels() == other.axis(0).labels()
        assert set(mine.all_members) >= set(other.all_members)
    for mode in ("s", "i", "g"):
        np.testing.assert_allclose(ours["p1"].errors(error_mode=mode), theirs["p1"].errors(error_mode=mode))


def test_other_objects_are_read(objects: str) -> None:
    file = opened(objects)
    assert file["text"] == "hello"
    assert isinstance(file["text"], str)
    assert int(file["number"]) == 42
    assert [one.member("fTitle") for one in file["list"]] == ["b"]
    np.testing.assert_array_equal(file["graph"].errors("high", "x"), [0.25, 1])
    np.testing.assert_array_equal(file["graph"].values("y"), [3, 4])
    assert file["dir/inside"].title == "title"
    assert file["dir"].path == ("dir",)
    with pytest.raises(bk.KeyInFileError, match="did you mean fTitle"):
        file["dir/inside"].member("fTitel")
    assert file.get("nothing") is None
    assert pickle.loads(pickle.dumps(file["h2"])) == file["h2"]


def test_root_reads_what_is_written(objects: str, tmp_path: Path) -> None:
    path = str(tmp_path / "new.root")
    source = opened(objects)
    made = bk.writing.identify.to_TH1x("", "made", np.array([1.0, 2, 5, 4]), fEntries=12.0, fXaxis=_axis())
    with bk.recreate(path) as file:
        file["numpy"] = np.histogram([0.5, 1.5, 1.5], bins=3, range=(0, 3))
        file["numpy2"] = (np.arange(6.0).reshape(2, 3), np.array([0.0, 1, 4]), np.array([0.0, 1, 2, 3]))
        file["dir/copy"] = source["h2"]
        file["made"] = made
        file["text"] = "words"
        file["graph"] = bk.as_TGraph({"x": [1.0, 2], "y": [3.0, 4]}, title="points")
        file["list"] = bk.writing.identify.to_TList([bk.writing.identify.to_TObjString("item")])
        file["gone"] = "nothing"
        del file["gone"]
        file.mkdir("all").copy_from(source, filter_name="p*")
    root = ROOT.TFile(path)
    assert [root.Get("numpy").GetBinContent(i) for i in range(5)] == [0, 1, 2, 0, 0]
    assert root.Get("numpy2").GetBinContent(2, 3) == 5
    assert root.Get("numpy2").GetXaxis().GetBinUpEdge(2) == 4
    assert root.Get("dir/copy").GetName() == "copy"
    original = ROOT.TFile(objects)
    both = root.Get("dir/copy"), original.Get("h2")
    assert len({(one.GetBinContent(2, 1), one.GetBinError(2, 1), one.GetEntries()) for one in both}) == 1
    assert (root.Get("made").GetEntries(), root.Get("made").GetBinContent(2)) == (12, 5)
    assert root.Get("made").GetListOfFunctions().GetSize() == 0
    assert root.Get("text").GetString() == "words"
    assert [root.Get("graph").GetPointY(i) for i in range(2)] == [3, 4]
    assert root.Get("list").At(0).GetString() == "item"
    assert root.Get("all/p1").GetBinContent(1) == original.Get("p1").GetBinContent(1)
    assert not root.Get("gone")
    root.Close()


def test_statistics_may_follow_the_data() -> None:
    plain = ROOT.TH1F("plain", "", 3, 0, 3)
    plain.Fill(1.5, 2)
    read = bk.from_pyroot(plain)
    names = ("fEntries", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2")
    copied = bk.writing.identify.to_TH1x(
        "plain", "", read.values(flow=True), *map(read.member, names), read.variances(flow=True), read.axis()
    )
    assert [copied.member(name) for name in (*names, "fN")] == [read.member(name) for name in (*names, "fN")]
    assert copied.variances().tolist() == [0, 4, 0]
    with pytest.raises(TypeError, match="give other members by name"):
        bk.writing.identify.to_TH1x("", "", [0.0] * 5, *range(10))


def test_the_file_of_an_object_of_pyroot_goes_with_it() -> None:
    made = bk.from_pyroot(ROOT.TNamed("name", "title"))
    folder = Path(made.origin[0]).parent
    assert folder.is_dir()
    del made
    gc.collect()
    assert not folder.exists()


def _axis() -> Any:
    return bk.writing.identify.to_TAxis("xaxis", "", 2, -1.0, 1.0)


def test_hist_goes_both_ways(objects: str, tmp_path: Path) -> None:
    hist = pytest.importorskip("hist")
    path = str(tmp_path / "hist.root")
    weighted = hist.Hist.new.Reg(4, 0, 2, name="x").Weight()
    weighted.fill([0.1, 0.1, 1.9, 7], weight=[1, 2, 3, 4])
    named = hist.Hist.new.StrCat(["a", "b"]).Double()
    named.fill(["b"])
    source = opened(objects)
    with bk.recreate(path) as file:
        file["weighted"], file["named"], file["profile"] = weighted, named, source["p1"].to_hist()
    back, theirs = opened(path), uproot.open(path)
    assert back["weighted"].to_hist() == theirs["weighted"].to_hist()
    np.testing.assert_array_equal(back["weighted"].variances(flow=True), weighted.variances(flow=True))
    assert list(back["named"].axis()) == ["a", "b"]
    np.testing.assert_allclose(back["profile"].values(), source["p1"].values())
    np.testing.assert_allclose(back["profile"].errors(), source["p1"].errors())


def test_update_adds_replaces_and_deletes(tmp_path: Path) -> None:
    path = str(tmp_path / "update.root")
    with bk.recreate(path) as file:
        file["a"], file["dir/b"] = "1", "2"
    with bk.update(path) as file:
        assert file.keys() == ["a;1", "dir;1", "dir/b;1"]
        file["a"], file["c"] = "new", "3"
        del file["dir/b"]
    assert {name: str(one) for name, one in opened(path).items(filter_classname="TObjString")} == {
        "a;1": "new",
        "c;1": "3",
    }
    with bk.update(path) as file:
        file["tree"] = {"x": np.arange(5)}
    with bk.update(path) as file:
        file["d"] = "4"
    with bk.update(path) as file:
        file["a"] = "again"
        file["tree"].extend({"x": np.arange(2)})
    with uproot.open(path) as file:
        assert file["tree/x"].array().tolist() == [0, 1, 2, 3, 4, 0, 1]
        assert (file["a"], file["d"]) == ("again", "4")


def test_names_and_meanings_of_uproot(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{name}.root") for name in "ab"]
    for number, path in enumerate(paths):
        with bk.recreate(path, compression=bk.LZ4(4)) as file:
            file["t"] = {"x": np.arange(3) + 3 * number, f"only{number}": np.ones(3)}
    branch = opened(paths[0])["t/x"]
    assert (branch.compression, branch.num_baskets, branch.title) == (bk.LZ4(4), 1, uproot.open(paths[0])["t/x"].title)
    assert branch.uncompressed_bytes == uproot.open(paths[0])["t/x"].uncompressed_bytes
    assert pickle.loads(pickle.dumps(branch)).array().tolist() == [0, 1, 2]
    tree = opened(paths[0], num_workers=3)["t"]
    assert tree.arrays(library="numpy")["x"].tolist() == [0, 1, 2]
    assert [one.name for one in tree.values(filter_branch=lambda one: "x" in one.name)] == ["x"]
    assert bk.concatenate([f"{path}:t" for path in paths], ["x"])["x"].tolist() == [0, 1, 2, 3, 4, 5]
    assert bk.concatenate([f"{path}:t" for path in paths], ["x"], entry_start=2, entry_stop=-1)["x"].tolist() == [
        2,
        3,
        4,
    ]
    part = bk.iterate([f"{path}:t" for path in paths], ["x"], entry_start=2, entry_stop=5, library="np")
    assert [step["x"].tolist() for step in part] == [[2], [3, 4]]
    steps = list(bk.iterate([f"{path}:t" for path in paths], ["x"], step_size=2, report=True))
    assert [(len(made), report.global_entry_start) for made, report in steps] == [(2, 0), (1, 2), (2, 3), (1, 5)]
    assert [report.file_path for _, report in steps] == [paths[0]] * 2 + [paths[1]] * 2
    assert [one[2] for one in bk.num_entries(f"{tmp_path}/*.root:t")] == [3, 3]
    assert len(bk.concatenate([{path: "t"} for path in paths], ["x"])) == 6
    assert branch.compression_ratio == branch.uncompressed_bytes / branch.compressed_bytes
    assert tree.num_entries_for(branch.uncompressed_bytes, filter_name="x") == 3
    assert branch.array(branch.interpretation).layout.form == branch.interpretation.awkward_form()
    assert bk.compression.Compression.from_code_pair(bk.const.kLZ4, 4) == branch.compression
    with bk.recreate(paths[0], compression=None) as file:
        file.mktree("t", ak.zip({"x": [[1, 2], []], "y": [[3, 4], []]}))
    assert uproot.open(paths[0])["t"].keys() == ["n", "x", "y"]
    assert uproot.open(paths[0])["t/x"].compression is None


def test_a_refused_extend_leaves_the_writer_usable(tmp_path: Path) -> None:
    path = str(tmp_path / "refused.root")
    with bk.recreate(path) as file:
        tree = file.mktree("t", {"nx": "int32", "x": "var * float64"})
        with pytest.raises(ValueError, match="other lengths"):
            tree.extend({"nx": [1, 2], "x": [[1.0], [2.0]]})
        tree.extend({"nx": [2, 0], "x": [[1.0, 2.0], []]})
    assert uproot.open(path)["t/x"].array().tolist() == [[1, 2], []]


def test_maps_and_sets_are_python_s(tmp_path: Path) -> None:
    path = str(tmp_path / "stl.root")
    with bk.recreate(path, split_level=0) as file:
        file.mktree("t", {"s": "std::set<int>", "m": "std::map<int,float>"})
        file["t"].extend({"s": [[1, 2], []], "m": ak.Array([[{"key": 1, "value": 2.0}], [{"key": 3, "value": 4.0}]])})
    ours, theirs = opened(path)["t"], uproot.open(path)["t"]
    for name in "sm":
        mine, other = (tree[name].array(library="np") for tree in (ours, theirs))
        assert mine.tolist() == other.tolist()
        assert str(ak.type(ours[name].array())) == str(ak.type(theirs[name].array()))
    assert mine[1].keys().tolist() == [3]
    # What was read is written, and Arrow has names for the parts of pairs.
    with bk.recreate(path.replace("stl", "again"), split_level=0) as file:
        file.mktree("t", {"m": "std::map<int,float>"}).extend({"m": ours["m"].array()})
    again = opened(path.replace("stl", "again"))["t"]
    assert again["m"].array().tolist() == [[(1, 2)], [(3, 4)]]
    assert again.arrays("m", library="arrow")["m"].to_pylist()[1] == [{"key": 3, "value": 4}]


@pytest.fixture(scope="module")
def elements(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tree with objects in branches, that ROOT wrote."""
    path = str(tmp_path_factory.mktemp("elements") / "elements.root")
    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("t", "")
    one, many = ROOT.TLorentzVector(), ROOT.std.vector("TVector3")()
    nested = ROOT.std.vector("std::vector<double>")()
    histogram = ROOT.TH1F("h", "", 2, 0, 2)
    things = {"one": one, "histogram": histogram, "many": many, "nested": nested}
    for name, value in things.items():
        tree.Branch(name, value, 32000, 0)
    for i in range(3):
        one.SetPxPyPzE(i, 0, 0, 2 * i)
        histogram.Fill(0.5, i)
        many.push_back(ROOT.TVector3(i, 1, 2))
        nested.push_back(ROOT.std.vector("double")([0.5] * i))
        tree.Fill()
    tree.Write()
    file.Close()
    return path


def test_objects_in_branches_have_their_classes(elements: str) -> None:
    ours, theirs = opened(elements)["t"], uproot.open(elements)["t"]
    for name in ("one", "many", "nested"):
        mine, other = ours[name].array(), theirs[name].array()
        assert str(ak.type(mine)) == str(ak.type(other)), name
        assert mine.tolist() == other.tolist(), name
    vector = pytest.importorskip("vector")
    vector.register_awkward()
    made = vector.zip({"px": ours["one"].array().fP.fX, "E": ours["one"].array().fE, "py": 0, "pz": 0})
    assert made.mass.tolist() == pytest.approx([(4 - 1) ** 0.5 * i for i in range(3)])


def test_elements_of_numpy_s_arrays_have_members(elements: str) -> None:
    tree = opened(elements)["t"]
    one = tree["one"].array(library="np")[2]
    assert (one.classname, one.member("fP").classname, one.member("fP").member("fX")) == (
        "TLorentzVector",
        "TVector3",
        2,
    )
    assert pickle.loads(pickle.dumps(tree["one"].array(library="np")))[2].member("fE") == 4
    with pytest.raises(bk.KeyInFileError, match="did you mean fP"):
        one.member("fp")
    assert tree["many"].array(library="np")[2][1].fX == 1
    histogram = tree["histogram"].array(library="np")[2]
    assert (histogram.classname, histogram.member("fXaxis").member("fNbins")) == ("TH1F", 2)
    assert pickle.loads(pickle.dumps(histogram)).all_members["fXaxis"].classname == "TAxis"
    assert tree["nested"].array(library="np")[2].tolist() == [[], [0.5], [0.5, 0.5]]
