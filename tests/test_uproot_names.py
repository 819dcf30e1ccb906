"""Names that uproot's users call on files, directories, trees, branches and objects, and uproot's classes for
`isinstance`. uproot is the referee."""

from __future__ import annotations

import pickle
import uuid
from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee.paths import FOUND

if TYPE_CHECKING:
    from pathlib import Path

opened: Any = bk.open


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tree, an RNTuple, and a histogram in a directory."""
    path = str(tmp_path_factory.mktemp("names") / "names.root")
    with bk.recreate(path, compression="zstd:5") as file:
        file["a/b/t"] = {"x": np.arange(1000.0), "jets": {"pt": np.zeros(1000)}}
        lists = ak.Array([[{"pt": 1.5, "hits": [1, 2]}], [], []])
        file.mkrntuple("n", {"x": np.arange(3), "jets": lists, "last": np.arange(3)})
        file["a/h"] = np.histogram([1, 2, 2.5])
    return path


KINDS = ("TTree", "TBranch", "ReadOnlyDirectory", "ReadOnlyFile", "Model")


def kinds(module: Any, thing: Any) -> list[str]:
    """The classes that a thing is an instance of."""
    return [name for name in KINDS if isinstance(thing, getattr(module, name))]


def test_things_are_instances_of_the_same_classes(path: str) -> None:
    ours, theirs = opened(path), uproot.open(path)
    for name in ("a", "a/b", "a/b/t", "a/b/t/x", "a/h"):
        assert kinds(bk, ours[name]) == kinds(uproot, theirs[name]), name
    assert kinds(bk, ours) == ["ReadOnlyDirectory", "ReadOnlyFile"]
    # What uproot calls a Model and a field.
    assert kinds(bk, ours["n"]) == kinds(uproot, theirs["n"]) == ["Model"]
    assert "TBranch" not in kinds(bk, ours["n"]["x"])
    assert isinstance(ours["n"], bk.RNTuple)
    assert isinstance(ours["n"]["x"], bk.Field)


def test_a_tree_and_an_rntuple_are_tables(path: str) -> None:
    tree, ntuple = opened(path)["a/b/t"], opened(path)["n"]
    assert isinstance(tree, bk.Table)
    assert isinstance(tree, bk.Tree)
    assert not isinstance(tree, bk.RNTuple)
    assert isinstance(ntuple, bk.Table)
    assert isinstance(ntuple, bk.RNTuple)
    assert not isinstance(ntuple, bk.Tree)
    assert (ntuple.friends, ntuple.aliases, ntuple["x"].count_branch) == ({}, {}, None)
    for table in (tree, ntuple):
        again = pickle.loads(pickle.dumps(table))
        assert (type(again), again.keys()) == (type(table), table.keys())
        column = pickle.loads(pickle.dumps(table["x"]))
        assert (type(column), column.object_path) == (type(table["x"]), table["x"].object_path)


def test_tables_to_fill_have_one_base(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "kinds.root") as file:
        tree, ntuple = file.mktree("t", {"x": "int32"}), file.mkrntuple("n", {"x": "int32"})
        assert isinstance(tree, bk.WritableTable)
        assert not isinstance(tree, bk.WritableNTuple)
        assert isinstance(ntuple, bk.WritableTable)
        assert not isinstance(ntuple, bk.WritableTree)
        for table, word in ((tree, "columns"), (ntuple, "fields")):
            table.add_columns({"y": "float32"})
            assert table.keys() == ["x", "y"]
            with pytest.raises(ValueError, match=f"{table.path} has {word} without data: y"):
                table.extend({"x": np.arange(2, dtype=np.int32)})
            table.extend({"x": np.arange(2, dtype=np.int32), "y": np.zeros(2, np.float32)})
            assert repr(table) == f"<{type(table).__name__} {table.path}: 2 entries, 2 {word}>"


def test_sizes_are_those_of_uproot(path: str) -> None:
    ours, theirs = opened(path)["a/b/t"], uproot.open(path)["a/b/t"]
    for name in ("compressed_bytes", "uncompressed_bytes", "compression_ratio"):
        assert getattr(ours, name) == getattr(theirs, name), name
        assert [getattr(one, name) for one in ours] == [getattr(one, name) for one in theirs], name
    assert ours.compressed_bytes > 0
    # uproot has none of RNTuples: these are of their pages.
    ntuple = opened(path)["n"]
    assert ntuple.compressed_bytes == sum(field.compressed_bytes for field in ntuple.fields) > 0
    assert ntuple.compression_ratio == ntuple.uncompressed_bytes / ntuple.compressed_bytes


def test_places_are_those_of_uproot(path: str) -> None:
    ours, theirs = opened(path), uproot.open(path)
    for one, other in zip(ours["a/b/t"].values(), theirs["a/b/t"].values(), strict=True):
        assert (one.object_path, one.index) == (other.object_path.replace("/a/b/t;1", "a/b/t"), other.index)
    fields = [(name, one.field_id) for name, one in ours["n"].items()]
    assert fields == [(name, one.field_id) for name, one in theirs["n"].items()]
    assert not hasattr(ours["a/b/t"]["x"], "field_id")
    assert ours["a/b"].parent.object_path == "/a"
    assert ours["a/b"].parent.keys() == ours["a"].keys()
    assert ours["a"].parent is ours["a"].file is ours
    assert ours.parent is None
    assert ours.root_directory is ours
    assert (ours.hex_uuid, ours.uuid) == (str(ours.uuid), uuid.UUID(bytes=ours.fUUID))
    header = theirs.file
    assert (ours.root_version, ours.root_version_tuple) == (header.root_version, header.root_version_tuple)
    assert ours["a/h"].file.root_version == header.root_version


def test_what_is_closed_says_so(path: str) -> None:
    with opened(path) as file:
        directory, tree, thing = file["a"], file["a/b/t"], file["a/h"]
        for one in (file, directory, tree, tree["x"], thing):
            assert not one.closed
    assert file.closed
    assert directory.file.closed
    with tree, thing, directory:
        pass
    assert tree.closed
    assert thing.closed
    assert directory.closed
    # Nothing was open.
    assert tree["x"].array(entry_stop=1).tolist() == [0]


def test_keys_without_a_name_are_opened(tmp_path: Path) -> None:
    ROOT = pytest.importorskip("ROOT")
    path = str(tmp_path / "nameless.root")
    file = ROOT.TFile(path, "recreate")
    ROOT.TNamed("", "top").Write()
    inside = file.mkdir("d")
    inside.cd()
    ROOT.TNamed("", "inside").Write()
    ROOT.TNamed("a;1", "semicolon").Write("a;1")
    tree = ROOT.TTree("", "")
    x = np.zeros(1)
    tree.Branch("x", x, "x/D")
    tree.Fill()
    tree.Write()
    file.Close()
    with opened(path) as read:
        for name in read:
            assert read[name] is not None, name
        names = read.keys()
        assert {";1", "d;1", "d/;1", "d/;2", "d/a;1;1"} == {*names}
        assert read[";1"].title == read[""].title == "top"
        assert read["d/;1"].title == read["d"][";1"].title == "inside"
        assert read["d/;2"].num_entries == 1
        assert read["d/;2"]["x"].array().tolist() == [0]
        assert read["d/a;1;1"].title == "semicolon"
        assert read["d/"].keys() == read["d"].keys()
        assert read["d/a;1"].title == "semicolon"
    with opened(f"{path}:d") as directory:
        assert directory[""].num_entries == 1


def test_every_key_is_opened_by_the_name_that_is_listed() -> None:
    if not FOUND.is_dir():
        pytest.skip(f"no files at {FOUND}")
    with opened(str(FOUND / "names.root")) as file:
        for name in file:
            assert file[name] is not None, name
