"""Arrays in memory as uproot's users expect them: they can be written to, their elements have the methods of their
classes, and what cannot be given is refused in words. uproot, real ROOT and what was written are the referees."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee.paths import FOUND

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

opened: Any = bk.open


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tree and an RNTuple in two clusters."""
    path = str(tmp_path_factory.mktemp("arrays") / "arrays.root")
    data = {
        "x": np.arange(6.0),
        "i": np.arange(6, dtype=np.int32),
        "flag": np.arange(6) % 2 == 0,
        "matrix": np.arange(12.0).reshape(6, 2),
        "lists": ak.Array([[1.5], [], [2.5, 3.5], [4.5], [], [5.5]]),
        "pairs": ak.Array([{"a": k, "b": 0.5 * k} for k in range(6)]),
    }
    with bk.recreate(path) as file:
        file["t"] = data
        file.mkrntuple("n", data)
        file["d/t"] = {"x": np.arange(2.0)}
    return path


def numbers(array: Any) -> list[Any]:
    """The plain arrays in an array of NumPy's."""
    if array.dtype == object:
        return [one for item in array for one in numbers(item)]
    return [array]


@pytest.mark.parametrize("container", ["t", "n"])
@pytest.mark.parametrize("how", ["array", "arrays", "iterate", "selection", "concatenate"])
def test_arrays_can_be_written_to(path: str, container: str, how: str) -> None:
    tree = opened(path)[container]
    names = [one.name for one in tree.branches if one.name != "nlists"]
    if how == "array":
        read = {name: tree[name].array(library="np") for name in names if tree[name]._column is not None}
    elif how == "iterate":
        (read,) = tree.iterate(names, library="np", step_size=10)
        first, second = tree.iterate(["x", "i"], library="np", step_size=3)
        first["x"] *= 2
        second["i"] += 1
        assert (first["x"].tolist(), second["i"].tolist()) == ([0, 2, 4], [4, 5, 6])
    elif how == "concatenate":
        read = bk.concatenate([f"{path}:{container}"] * 2, names, library="np")
    else:
        read = tree.arrays(names, library="np", selection=[0, 2, 3] if how == "selection" else None)
    assert {"x", "i", "flag", "matrix", "lists"} <= {*read}
    for name, array in read.items():
        for one in numbers(array):
            assert one.flags.writeable, name
    x, lists = read["x"], read["lists"]
    before, inside = x.copy(), lists[0].copy()
    x *= 0.001
    x[::-1].sort()
    np.random.default_rng(1).shuffle(read["i"])
    lists[0][:] *= 2
    assert x.tolist() == sorted((before * 0.001).tolist(), reverse=True)
    assert lists[0].tolist() == (2 * inside).tolist()
    assert sorted(read["i"].tolist()) == sorted(np.asarray(before, int).tolist())
    # The next read is not affected.
    assert tree["x"].array(library="np").tolist() == list(range(6))


def test_arrays_of_awkward_are_not_copied_to_be_written_to(path: str) -> None:
    array = opened(path)["t"]["x"].array()
    view = np.asarray(array)
    assert view.flags.writeable
    view[0] = 5
    assert array[0] == 5


def test_memory_that_is_shared_is_not_written_to(path: str) -> None:
    import pyarrow as pa

    tree = opened(path)["t"]
    table = pa.table(tree)
    assert not table["x"].chunk(0).to_numpy().flags.writeable
    # A column that is asked for twice is there once.
    twice = tree.arrays(["x", "x"], library="np", how=tuple)
    twice[0][0] = 7
    assert twice[0] is twice[1] or twice[1][0] == 0


def test_numbers_are_not_cut_in_halves(path: str) -> None:
    branch = opened(path)["t"]["x"]
    for kind in ("f4", "i4", "u2", "f2", "c16", "S8", np.int16):
        with pytest.raises(ValueError, match="same size"):
            branch.array(kind)
    with pytest.raises(ValueError, match=r"astype"):
        opened(path)["t"].arrays({"x": "f4"})
    assert branch.array(">u8", library="np")[1] == 0x3FF0000000000000
    assert branch.array("u1", library="np").shape == (6, 8)


def test_reports_count_over_all_files(path: str) -> None:
    files: Any = [{path: "t"}, {path: "d/t"}, {path: "t"}]
    steps = [report for _, report in bk.iterate(files, ["x"], step_size=4, report=True)]
    theirs = [report for _, report in uproot.iterate(files, ["x"], step_size=4, report=True)]
    found = [(one.start, one.stop, one.tree_entry_start, one.tree_entry_stop) for one in steps]
    assert found == [
        (one.global_entry_start, one.global_entry_stop, one.tree_entry_start, one.tree_entry_stop) for one in theirs
    ]
    assert found[-1] == (12, 14, 4, 6)
    assert "start=12 stop=14" in repr(steps[-1])


def test_variants_are_refused_for_polars(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    path = str(tmp_path / "variants.root")
    mixed = ak.Array([1.5, "two", 3.5])
    with bk.recreate(path) as file:
        file.mkrntuple("n", {"x": np.arange(3), "mixed": mixed, "lists": ak.Array([[1.5, "two"], [], ["x"]])})
    tree = opened(path)["n"]
    assert tree.arrays(["x"], library="pl")["x"].to_list() == [0, 1, 2]
    for name in ("mixed", "lists"):
        reads: list[Callable[[Any], Any]] = [
            lambda name: tree.arrays([name], library="pl"),
            lambda name: tree[name].array(library="pl"),
            lambda name: tree.arrays(["x", name], "x > 0", library="pl"),
            lambda name: next(tree.iterate([name], library="pl")),
        ]
        for read in reads:
            with pytest.raises(ValueError, match=f"{name!r} has variants"):
                read(name)
    assert tree["mixed"].array().tolist() == [1.5, "two", 3.5]


def test_a_tree_without_branches_has_html(tmp_path: Path) -> None:
    ROOT = pytest.importorskip("ROOT")
    path = str(tmp_path / "bare.root")
    file = ROOT.TFile(path, "recreate")
    ROOT.TTree("bare", "").Write()
    file.Close()
    tree = opened(path)["bare"]
    assert "(0 branches, 0 entries)" in tree._repr_html_()
    assert (tree.compressed_bytes, tree.uncompressed_bytes, len(tree.arrays(library="pd"))) == (0, 0, 0)


def axes(histogram: Any) -> list[Any]:
    """The axes of a histogram of ROOT's."""
    return [histogram.GetXaxis(), histogram.GetYaxis()][: histogram.GetDimension()]


def test_histograms_in_branches_are_histograms(tmp_path: Path) -> None:
    ROOT = pytest.importorskip("ROOT")
    path = str(tmp_path / "histograms.root")
    file = ROOT.TFile(path, "recreate")
    tree, date, x = ROOT.TTree("t", ""), ROOT.TDatime(2006, 1, 2, 15, 4, 5), np.zeros(1)
    one = ROOT.TH1F("h", "title", 3, 0, 3)
    two = ROOT.TH2D("h2", "", 2, 0, 2, 2, 0, 4)
    one.Sumw2()
    one.GetXaxis().SetBinLabel(1, "first")
    profile, count, graph = ROOT.TProfile("p", "", 2, 0, 2), ROOT.TParameter["double"]("n", 0), ROOT.TGraph(2)
    for name, thing in (("one", one), ("two", two), ("profile", profile), ("n", count), ("graph", graph)):
        tree.Branch(name, thing, 32000, 0)
    tree.Branch("when", date)
    tree.Branch("x", x, "x/D")
    kept: dict[str, list[Any]] = {"one": [], "two": [], "profile": []}
    for k in range(3):
        one.Fill(k, k + 0.5)
        two.Fill(k / 2, k)
        profile.Fill(0.5, k)
        count.SetVal(k)
        graph.SetPoint(0, k, 2 * k)
        for name, thing in (("one", one), ("two", two), ("profile", profile)):
            kept[name].append(thing.Clone())
            kept[name][-1].SetDirectory(ROOT.nullptr)
        tree.Fill()
    tree.Write()
    file.Close()
    tree = opened(path)["t"]
    whole = tree.arrays(library="np")
    # Computations read the same objects.
    cut = tree.arrays(["one", "two"], "get('x') >= 0", library="np")
    for read in (whole, cut):
        for name in ("one", "two"):
            for ours, theirs in zip(read[name], kept[name], strict=True):
                assert isinstance(ours, bk.objects.Histogram)
                assert isinstance(ours, bk.Model)
                cells = [theirs.GetBinContent(cell) for cell in range(theirs.GetNcells())]
                assert ours.values(flow=True).ravel(order="F").tolist() == cells
                errors = [theirs.GetBinError(cell) for cell in range(theirs.GetNcells())]
                assert ours.errors(flow=True).ravel(order="F").tolist() == errors
                assert [len(axis) for axis in ours.axes] == [axis.GetNbins() for axis in axes(theirs)]
                assert (ours.name, ours.title, ours.classname) == (
                    theirs.GetName(),
                    theirs.GetTitle(),
                    theirs.ClassName(),
                )
        assert read["one"][0].axis().labels() == ["first"]
    assert whole["one"][2].to_boost().sum().value == 4.5
    assert whole["two"][1].to_numpy()[0].shape == (2, 2)
    assert whole["profile"][2].values().tolist() == [1, 0]
    assert float(whole["n"][2]) == 2
    assert [axis.tolist() for axis in whole["graph"][1].values()] == [[1, 0], [2, 0]]
    assert whole["one"][0].is_instance("TH1")
    assert pickle.loads(pickle.dumps(whole["one"][1])) == whole["one"][1]
    assert whole["one"][1].to_pyroot().GetBinContent(2) == 1.5
    assert str(whole["when"][0].to_datetime()) == "2006-01-02 15:04:05"


def test_keys_are_equal_by_their_members() -> None:
    from basketry._libraries.elements import Map, record_type, structure

    kind = record_type("Key")
    one, same = ({"name": "a", "lists": np.array([1, 2])} for _ in range(2))
    found = Map({kind(one): 1.5})
    assert found[kind(same)] == 1.5
    assert kind(one) == kind(same)
    assert kind(one) != kind({**one, "name": "b"})
    array = np.zeros(2, structure([("id", "u4")], "Id"))
    array["id"] = 3, 4
    assert {array[0]: "three"}[array[:1].copy()[0]] == "three"


@pytest.mark.parametrize(
    ("file", "branch"),
    [("map-with-class-as-key-numpy.root", "productList_"), ("histograms-in-branches-dqmio.root", "Value")],
)
def test_files_that_showed_faults(file: str, branch: str) -> None:
    if not FOUND.is_dir():
        pytest.skip(f"no files at {FOUND}")
    for tree in (one for one in opened(str(FOUND / file)).values() if isinstance(one, bk.Tree)):
        if branch in tree:
            first = tree[branch].array(library="np")[0]
            if branch == "Value":
                assert first.values().tolist() == [2.5, 0, 0, 0]
            else:
                assert len(first) == len(set(first)) > 0
                assert all(first[key] is value for key, value in first.items())
