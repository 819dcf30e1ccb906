"""An index (`TTreeIndex`) that only some inputs of a merge have: it is made for the others, or left out, and said."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import basketry as package
from referee import make_files, values
from referee.command import Basketry
from referee.root_server import RootServer

#: Trees whose index can be made of the columns that it names.
MADE = ["first", "second", "minor_0", "fractions"]
#: Trees without an index of all, with what is said of them.
LEFT_OUT = {"computed": "'run+1' is not a column", "other": "different expressions"}


def sources() -> list[Path]:
    return sorted(make_files.made("indexed_some").glob("indexed_some?.root"))


@pytest.fixture(scope="module")
def root() -> Iterator[RootServer]:
    with contextlib.closing(values.server()) as server:
        yield server


def built_by_root(path: Path, tree: str, target: Path) -> Path:
    """The merged tree with the index that ROOT builds of all its entries."""
    expressions = {"minor_0": ("run", "0"), "fractions": ("time", "event")}.get(tree, ("run", "event"))
    program = (
        "import ROOT, sys\n"
        "source = ROOT.TFile(sys.argv[1]); target = ROOT.TFile(sys.argv[2], 'recreate')\n"
        "tree = source.Get(sys.argv[3]).CloneTree(); tree.BuildIndex(sys.argv[4], sys.argv[5]); tree.Write()\n"
        "target.Close()\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, str(path), str(target), tree, *expressions]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return target


@pytest.mark.parametrize("verb", ["merge", "hadd"])
def test_an_index_of_some_inputs_is_made_for_all(
    basketry: Basketry, root: RootServer, tmp_path: Path, verb: str
) -> None:
    merged = tmp_path / "merged.root"
    if verb == "merge":
        said = basketry("merge", *sources(), "-o", merged)
    else:
        outcome = basketry.run("hadd", "-f", merged, *sources())
        assert outcome.code == 0, str(outcome)
        said = outcome.out + outcome.err
    trees = root.of(merged)["trees"]
    for tree in [*MADE, "all"]:
        expected = root.of(built_by_root(merged, tree, tmp_path / f"{tree}.root"))["trees"][tree]
        assert len(expected["index_lines"]) == 150
        # Of equal values, ROOT says no order.
        assert trees[tree]["index_lines"] == sorted(expected["index_lines"]), tree
        if verb == "merge":
            assert (f"tree {tree}: its index (TTreeIndex) is made from" in said) == (tree != "all")
    for tree in [*LEFT_OUT, "none"]:
        assert not trees[tree].get("index_lines"), tree
    basketry("verify", *sources(), merged)


def test_an_index_of_some_inputs_is_left_out_as_asked(basketry: Basketry, root: RootServer, tmp_path: Path) -> None:
    merged = tmp_path / "merged.root"
    said = basketry("merge", "--drop-index", *sources(), "-o", merged)
    trees = root.of(merged)["trees"]
    for tree in MADE:
        assert not trees[tree].get("index_lines"), tree
        assert f"tree {tree}: its index (TTreeIndex) is left out: not all inputs have one" in said
    assert len(trees["all"]["index_lines"]) == 150


def test_it_is_said_why_an_index_is_not_made(basketry: Basketry, tmp_path: Path) -> None:
    said = basketry("merge", *sources(), "-o", tmp_path / "merged.root")
    for tree, why in LEFT_OUT.items():
        (line,) = [line for line in said.splitlines() if f"tree {tree}: its index" in line]
        assert why.replace("'", '"') in line


def test_entries_are_selected_with_the_index(root: RootServer, tmp_path: Path) -> None:
    every, some = tmp_path / "every.root", tmp_path / "some.root"
    package.merge(sources(), every, keep=["run", "event"])
    package.merge(sources(), some, first=70)
    every_line, lines = (root.of(path)["trees"]["first"]["index_lines"] for path in (every, some))
    assert len(every_line) == 150
    assert lines == [[major, minor, entry - 70] for major, minor, entry in every_line if entry >= 70]
