"""The Python package: its arrays equal those of uproot, on real and generated files, and are not copied."""

import gc
import itertools
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import uproot

import basketry as bk
from basketry._libraries import frames
from basketry.reading import libraries
from basketry.reading.request import Request
from referee import make_files, oracle

# Small corpus files with trees.
CORPUS_FILES = [line["name"] for line in oracle.index() if line["n_branches"] and line["size"] < 400_000]
# Branches that uproot reads wrongly: see the corpus' README.md.
UPROOT_ERRS = {
    ("gohep--leaves.root", "D16"),
    ("skhep--uproot-issue-750.root", "N_jet_tight"),
    # Arrays in a list: uproot flattens them.
    ("uproot-custom--test_stl_seq_with_obj.root", "m_vec_cstyle_array.m_int[2][3][4]"),
}


@pytest.fixture
def tree(made: Path) -> bk.Tree:
    """Its tree."""
    opened = bk.open(f"{made}:dir/t")
    assert isinstance(opened, bk.Tree)
    return opened


def same(ours: Any, theirs: Any) -> bool:
    """Equal values, whatever the types; NaN equals NaN."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        # Bytes that are no UTF-8 are Latin-1 in basketry and escapes in uproot.
        return ours == "".join(chr(ord(c) & 0xFF) if 0xDC80 <= ord(c) <= 0xDCFF else c for c in theirs)
    if isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours):
        return math.isnan(theirs)
    return bool(ours == theirs)


def plain_branches(tree: Any) -> Iterator[tuple[str, Any]]:
    """uproot's branches of numbers, of arrays of them, and of strings; each path once."""
    seen = set()
    for path, branch in tree.iteritems():
        if path in seen:
            continue
        seen.add(path)
        try:
            interpretation = branch.interpretation
            inner = getattr(interpretation, "content", interpretation)
            numbers = type(inner).__name__ == "AsDtype" and inner.from_dtype.names is None
        except Exception:
            # Branches that uproot cannot read have no reference.
            continue
        if numbers or type(interpretation).__name__ == "AsStrings":
            yield path, branch


@pytest.mark.skipif(not CORPUS_FILES, reason="the corpus is absent")
@pytest.mark.parametrize("name", [oracle.usual(name) for name in CORPUS_FILES])
def test_arrays_equal_those_of_uproot(name: str) -> None:
    path = oracle.corpus_file(name)
    found: list[str] = []
    with uproot.open(path) as theirs:
        ours = bk.open(path)
        for key, classname in theirs.classnames().items():
            if classname not in ("TTree", "TNtuple", "TNtupleD"):
                continue
            try:
                their_tree, our_tree = theirs[key], ours[key]
            except Exception as error:
                found += [f"{key}: {error}"] if key in ours and not isinstance(error, ValueError) else []
                continue
            if our_tree.keys() != their_tree.keys():
                found.append(f"{key} has keys {our_tree.keys()[:20]} and {their_tree.keys()[:20]}")
            for branch, their_branch in plain_branches(their_tree):
                if (name, their_branch.name) in UPROOT_ERRS:
                    continue
                try:
                    truth = their_branch.array(library="ak")
                except Exception:
                    continue
                ours_branch = our_tree[branch]
                if type(their_branch.interpretation).__name__ == "AsStrings" and ours_branch.interpretation != "string":
                    # Strings in a split collection: uproot reads all as one string.
                    continue
                array = ours_branch.array()
                if not same(array.to_list(), truth.to_list()):
                    found.append(f"{key}/{branch}: {str(array)[:100]} and {str(truth)[:100]}")

    assert not found, "\n".join(found[:20])


def test_open_finds_trees_by_name_cycle_and_directory(made: Path) -> None:
    with uproot.open(made) as theirs, bk.open(made) as ours:
        assert isinstance(ours, bk.File)
        for options in itertools.product((True, False), repeat=2):
            recursive, cycle = options
            assert ours.keys(recursive=recursive, cycle=cycle) == theirs.keys(recursive=recursive, cycle=cycle)
        assert ours.classnames() == theirs.classnames()
        assert list(ours) == ours.keys()
        assert len(ours) == len(theirs)
        assert "dir/t" in ours
        assert "dir/t;1" in ours
        assert "dir/u" not in ours
        directory = ours["dir"]
        assert directory.keys() == theirs["dir"].keys()
        entries: list[Any] = [ours["dir/t"], ours["dir/t;1"], directory["t"], bk.open({made: "dir/t"}), ours.tree()]
        assert {tree.num_entries for tree in entries} == {510}
        assert {tree.object_path for tree in entries} == {"dir/t"}


def test_cycles_select_different_trees() -> None:
    source = make_files.made("displaced")
    path = next(iter(sorted(source.glob("*.root"))))
    with uproot.open(path) as theirs:
        ours = bk.open(path)
        assert ours.keys() == theirs.keys()
        for key, kind in theirs.classnames().items():
            if kind == "TTree":
                assert ours[key].num_entries == theirs[key].num_entries


def test_filters_work_as_in_uproot() -> None:
    path = oracle.corpus_file("skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root")
    if not path.is_file():
        pytest.skip("the corpus is absent")
    ours = bk.open({path: "Events"})
    with uproot.open(path) as file:
        theirs = file["Events"]
        filters: list[Any] = ["Muon_*", "/muon_p.*/i", "/Muon_p[th]$/", "nMuon", "*_[pe]t*", lambda n: "dxy" in n]
        for wanted in [*filters, filters, [], None, "nothing"]:
            assert ours.keys(filter_name=wanted) == theirs.keys(filter_name=wanted), wanted
        assert ours.keys(filter_typename="float*") == theirs.keys(filter_typename="float*")
        assert ours.typenames(filter_name="Muon_*") == theirs.typenames(filter_name="Muon_*")
        array = ours.arrays(filter_name="/Muon_(pt|eta)/", filter_typename="float[[]]")
        assert ak.array_equal(array, theirs.arrays(filter_name="/Muon_(pt|eta)/", filter_typename="float[[]]"))
        both = ours.arrays(["Muon_pt", "nMuon"], entry_start=-20, entry_stop=-5)
        assert ak.array_equal(both, theirs.arrays(["Muon_pt", "nMuon"], entry_start=-20, entry_stop=-5))
        assert both.type == theirs.arrays(["Muon_pt", "nMuon"], entry_start=-20, entry_stop=-5).type
    with pytest.raises(TypeError):
        ours.keys(filter_name=1)


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
def test_libraries_give_what_uproot_gives(library: Any, tree: bk.Tree, made: Path) -> None:
    with uproot.open(made) as file:
        theirs = file["dir/t"]
        names = ["i", "x", "flag", "v"] if library == "pd" else None
        names = ["i", "x", "flag"] if library == "pd" else names
        truth = theirs.arrays(names, library=library, entry_start=50, entry_stop=350)
        ours = tree.arrays(names, library=library, entry_start=50, entry_stop=350)
        if library == "pd":
            pd.testing.assert_frame_equal(ours, truth)
        elif library == "ak":
            assert ours.type == truth.type
            assert ak.array_equal(ours, truth)
        else:
            assert ours.keys() == truth.keys()
            for name, array in ours.items():
                assert array.dtype == truth[name].dtype, name
                assert all(np.array_equal(a, b) for a, b in zip(array, truth[name], strict=True)), name
        hows: list[Any] = [tuple, list, dict]
        for how in hows if library != "pd" else []:
            apart, others = tree.arrays(library=library, how=how), theirs.arrays(library=library, how=how)
            assert type(apart) is type(others)
            assert len(apart) == len(others)


def test_every_library_has_the_same_values(tree: bk.Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without awkward-pandas, also where it is installed: see test_frames.py.
    monkeypatch.setattr(frames, "_extension", lambda: None)
    truth = tree.arrays().to_list()
    assert tree.arrays(library="arrow").to_pylist() == truth
    assert same(tree.arrays(library="pl").to_dicts(), truth)
    assert pa.table(tree).to_pylist() == truth
    frame = tree.arrays(library="pd", selection=[3, 400])
    assert list(frame.index) == [3, 400]
    fixed = [f"fixed[{i}][{j}]" for i in range(2) for j in range(3)]

    assert list(frame.columns) == ["i", "x", *fixed, "flag", "nv", "v"]
    assert frame["fixed[1][2]"].tolist() == [truth[i]["fixed"][1][2] for i in (3, 400)]
    for library in libraries.GROUPERS:
        assert len(tree["x"].array(library=library)) == 510  # type: ignore[call-overload]
    assert isinstance(tree["x"].array(library="pl"), pl.Series)
    assert isinstance(tree["x"].array(library="pd"), pd.Series)


def test_nothing_is_copied(tree: bk.Tree) -> None:
    column, lists = tree["x"]._column, tree["v"]._column
    assert column is not None
    assert lists is not None
    read = tree._table.read(Request(0, 510).reading([column, lists]))
    batch = read.shared()
    kind, length, _, (numbers,), _ = batch.node(0)
    assert (kind, length, len(numbers)) == ("float64", 510, 510 * 8)
    _, _, _, (offsets,), [(_, (_, _, _, (items,), _))] = batch.node(1)
    # Through Arrow's C interface, through the buffer protocol, through awkward.
    table = pa.table(batch)
    assert table["x"].chunk(0).buffers()[1].address == numbers.address
    assert table["v"].chunk(0).buffers()[1].address == offsets.address
    assert table["v"].chunk(0).values.buffers()[1].address == items.address
    assert not table.schema.field("x").nullable
    assert not table.schema.field("v").type.value_field.nullable
    view = np.frombuffer(memoryview(numbers), np.float64)
    assert view.ctypes.data == numbers.address
    assert not view.flags.writeable
    from basketry._libraries import awkward as _awkward
    from basketry._libraries import numpy as _numpy

    assert _numpy.array(batch.node(0)).ctypes.data == numbers.address
    layout = _awkward.layout(batch.node(1))
    assert layout.offsets.data.ctypes.data == offsets.address
    assert layout.content.data.ctypes.data == items.address
    # The views stay valid when everything else is deleted.
    expected = view.tolist()
    address = numbers.address
    del batch, numbers, offsets, items, table, layout
    gc.collect()
    assert view.tolist() == expected
    assert view.ctypes.data == address
    # What nothing else refers to can be written to, without a copy: not while the view is there.
    assert not _numpy.array(read.take(0)).flags.writeable
    taken = read.take(1)
    items = taken[4][0][1][3][0]
    own = _numpy.array(taken)
    assert own[3].flags.writeable
    assert own[3].base.ctypes.data == items.address
    with pytest.raises(ValueError, match="taken already"):
        read.take(1)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_selection_equals_a_selected_full_read(threads: int, tree: bk.Tree) -> None:
    truth = tree.arrays()
    generator = np.random.default_rng(2)
    for count in (0, 1, 5, 200, 510):
        chosen = np.sort(generator.choice(510, count, replace=False))
        mask = np.zeros(510, bool)
        mask[chosen] = True
        for selection in (chosen, chosen.tolist(), mask, mask.tolist(), ak.Array(mask), chosen.astype(np.uint32)):
            ours = tree.arrays(selection=selection, threads=threads)
            assert ak.array_equal(ours, truth[chosen]), count
        inside = tree["v"].array(selection=mask, entry_start=100, entry_stop=300, threads=threads)
        assert ak.array_equal(inside, truth["v"][chosen[(chosen >= 100) & (chosen < 300)]])


def test_invalid_selections_are_refused(tree: bk.Tree) -> None:
    with pytest.raises(ValueError, match="must ascend"):
        tree.arrays(selection=[5, 3])
    with pytest.raises(ValueError, match="510"):
        tree.arrays(selection=np.ones(511, bool))
    with pytest.raises(ValueError, match="one dimension"):
        tree.arrays(selection=np.ones((510, 1), bool))
    with pytest.raises(ValueError, match="float64"):
        tree.arrays(selection=np.ones(510))
    for outside in ([510], [-1, 4]):
        with pytest.raises(IndexError):
            tree.arrays(selection=outside)


@pytest.mark.parametrize("step", [1, 7, 100, 1000, "1 kB", "100 MB", None])
def test_steps_together_give_all_entries(step: int | str | None, tree: bk.Tree) -> None:
    truth = tree.arrays(entry_start=3)
    steps = list(tree.iterate(step_size=step, entry_start=3))
    assert ak.array_equal(ak.concatenate(steps), truth)
    if isinstance(step, int):
        assert {len(one) for one in steps[:-1]} <= {step}
    chosen = [4, 5, 100, 300, 301, 509]
    frames = list(tree.iterate(["i"], step_size=step, selection=chosen, library="pd"))

    assert [int(entry) for frame in frames for entry in frame.index] == chosen


def test_steps_can_be_abandoned(tree: bk.Tree) -> None:
    before = threading.active_count()
    for _ in range(20):
        steps = tree.iterate(step_size=1)
        assert len(next(steps)) == 1
        steps.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    with pytest.raises(ValueError, match="at least one"):
        tree.iterate(step_size=0)
    stream = tree._table.steps(Request(0, 510).reading([0]), 100, None)
    assert pa.table(stream).num_rows == 510
    with pytest.raises(ValueError, match="already"):
        pa.table(stream)


def test_several_files_form_one_tree(made: Path, tree: bk.Tree, tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.root").symlink_to(made)
    truth = ak.concatenate([tree.arrays(), tree.arrays()])
    pattern = f"{tmp_path}/*.root"
    both = [tmp_path / "a.root", tmp_path / "b.root"]
    for files in (f"{pattern}:dir/t", {pattern: "dir/t"}, both, pattern):
        assert ak.array_equal(bk.concatenate(files), truth)
        assert sum(len(step) for step in bk.iterate(files, ["i"], step_size=100)) == 1020
    opened = bk.open(f"{pattern}:dir/t")

    assert isinstance(opened, bk.Tree)
    assert opened.num_entries == 1020
    assert ak.array_equal(opened.arrays(entry_start=500, entry_stop=520), truth[500:520])


def test_nested_branches_are_found_by_path() -> None:
    path = oracle.corpus_file("gohep--stdvec-bool-fullsplit-6.10.08.root")
    if not path.is_file():
        pytest.skip("the corpus is absent")
    with uproot.open(path) as file:
        theirs = next(file[key] for key, kind in file.classnames().items() if kind == "TTree")
        ours = next(bk.open(path)[key] for key, kind in file.classnames().items() if kind == "TTree")
        assert ours.keys() == theirs.keys()
        assert ours.keys(recursive=False) == theirs.keys(recursive=False)
        assert ours.keys(full_paths=False) == theirs.keys(full_paths=False)
        for branch in ours:
            assert branch.keys() == theirs[branch.name].keys()
            below = branch.keys()
            for name in below:
                assert ours[f"{branch.name}/{name}"] is branch[name]
        group = next((branch for branch in ours if len(branch)), None)
        if group is not None:
            assert set(group.array().fields) <= set(group.keys(full_paths=False) + group.keys())


def test_show_prints_a_table(tree: bk.Tree, capsys: pytest.CaptureFixture[str]) -> None:
    tree.show(filter_name=["v", "fixed"])
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].split() == ["name", "|", "typename", "|", "interpretation"]
    assert [[word.strip() for word in line.split("|")] for line in lines[2:]] == [
        ["fixed", "float[2][3]", "2 * 3 * float32"],
        ["v", "float[]", "var * float32"],
    ]


def test_arrays_of_any_class_follow_their_entries() -> None:
    path = Path(__file__).parents[1] / "crates/dataset/tests/root/decode_types.root"
    split, whole = bk.open(f"{path}:arrays_split"), bk.open(f"{path}:arrays_whole")["e"].array()
    hits = [[{"id": k + j, "q": [k + j, -k - j], "name": f"hit{k + j}"} for j in range(k % 3)] for k in range(12)]

    assert whole["hits"].tolist() == hits
    assert split["e.hits.id"].array().tolist() == [[hit["id"] for hit in entry] for entry in hits]
    assert split["e.objs"].interpretation.startswith("var * ?{id: int32, q: 2 * float32")
    for name in ("gaps", "objs", "list", "none", "same", "pa", "pb"):
        assert split[f"e.{name}"].array().tolist() == whole[name].tolist(), name
    assert whole["objs"][5].tolist() == [hits[5][0], None, hits[5][1]]
    # Objects of two classes are read as bytes.
    assert [b"Hit" in item for item in split["e.mixed"].array()[3]] == [True, False]
