"""An index (`TTreeIndex`): one that only some inputs of a merge have is made for the others, or left out, and said; one
that is asked for finds entries and friends in ROOT."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import uproot

import basketry as package
from referee import make_files, values
from referee.command import Basketry
from referee.root_server import RootServer

#: Trees whose index can be made of the columns that it names.
MADE = ["first", "second", "minor_0", "fractions", "computed"]
#: Trees without an index of all, with what is said of them.
LEFT_OUT = {"other": "different expressions"}


def sources() -> list[Path]:
    return sorted(make_files.made("indexed_some").glob("indexed_some?.root"))


@pytest.fixture(scope="module")
def root() -> Iterator[RootServer]:
    with contextlib.closing(values.server()) as server:
        yield server


def built_by_root(path: Path, tree: str, target: Path) -> Path:
    """The merged tree with the index that ROOT builds of all its entries."""
    expressions = {"minor_0": ("run", "0"), "fractions": ("time", "event"), "computed": ("run+1", "event")}.get(
        tree, ("run", "event")
    )
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


# Indices that are asked for.

#: Values of both columns, as ROOT reads them again.
LOOKED_UP = """
import ROOT, json, sys
path, major, minor = sys.argv[1:4]
file = ROOT.TFile.Open(path)
tree = file.Get("Events")
index = tree.GetTreeIndex()
assert index.ClassName() == "TTreeIndex", index
named = [str(index.GetMajorName()), str(index.GetMinorName())]
formulas = [ROOT.TTreeFormula("f", text, tree) for text in (major, minor)]
found = []
for entry in range(tree.GetEntries()):
    tree.LoadTree(entry)
    values = [int(formula.EvalInstance64()) for formula in formulas]
    found.append([*values, int(tree.GetEntryNumberWithIndex(*values))])
tree.BuildIndex(major, minor)
again = tree.GetTreeIndex()
print(json.dumps({"named": named, "found": found, "lines": index.GetN() == again.GetN()}))
"""


def looked_up(path: Path, major: str, minor: str = "0") -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-c", LOOKED_UP, str(path), major, minor]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    return json.loads(said.splitlines()[-1])  # type: ignore[no-any-return]


N = 2000


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One table in each container, with keys in no order, some below 0."""
    folder, rng = tmp_path_factory.mktemp("keyed"), np.random.default_rng(6)
    event = rng.permutation(N).astype(np.int64) - 50
    columns = {"run": (1 + event % 3).astype(np.uint32), "event": event, "x": np.arange(N) * 1.0}
    found = {name: folder / f"{name}.root" for name in ("ttree", "rntuple")}
    for name, path in found.items():
        with package.recreate(path, container=name, cluster="500") as file:
            file["Events"] = columns
            file["Other"] = {"y": np.arange(3)}
    found["parquet"] = folder / "f.parquet"
    pl.DataFrame(columns).write_parquet(found["parquet"])
    return found


@pytest.mark.parametrize("names", ["run,event", "event", "run*10000+event"])
@pytest.mark.parametrize("container", ["ttree", "rntuple", "parquet"])
def test_root_finds_entries_by_an_index_that_was_asked_for(
    container: str, names: str, keyed: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    words = ("convert", keyed[container]) if container == "parquet" else ("rewrite", keyed[container])
    target = f"{out}:Events" if container == "parquet" else out
    layout = ("--container", "ttree") if container == "rntuple" else ()
    basketry(*words, "-o", target, "--build-index", names, *layout)
    major, minor = names.split(",") if "," in names else (names, "0")
    said = looked_up(out, major, minor)
    assert said["named"] == [major, minor]
    assert said["lines"]
    assert [entry for *_, entry in said["found"]] == list(range(N))
    for verb, text in (("schema", "index of"), ("inspect", "index: "), ("ls", "(index)")):
        shown = basketry(verb, "-t", out) if verb == "ls" else basketry(verb, f"{out}:Events")
        assert text in shown
        assert major in shown


def test_an_index_is_of_the_entries_that_are_kept_in_their_order(
    keyed: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    words = ("--build-index", "run,event", "--cut", "x % 3 != 1", "--cluster", "100", "-o", out)
    basketry("merge", keyed["ttree"], keyed["ttree"], "--unique", "run,event", *words)
    said = looked_up(out, "run", "event")
    assert [entry for *_, entry in said["found"]] == list(range(sum(x % 3 != 1 for x in range(N))))
    ordered = tmp_path / "sorted.root"
    basketry("sort", keyed["ttree"], "--by", "run,event", "--build-index", "run,event", "-o", ordered)
    said = looked_up(ordered, "run", "event")
    assert [entry for *_, entry in said["found"]] == list(range(N))
    assert said["found"] == sorted(said["found"])


def test_friends_are_found_by_an_index_that_was_asked_for(
    keyed: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    friend = tmp_path / "friend.root"
    basketry("rewrite", keyed["ttree"], "-o", friend, "--build-index", "run,event")
    with uproot.open(friend) as file:
        arrays = file["Events"].arrays(library="np")
    chosen = np.random.default_rng(1).permutation(N)[:300]
    with package.recreate(tmp_path / "main.root") as file:
        file["main"] = {"run": arrays["run"][chosen], "event": arrays["event"][chosen]}
    program = (
        "import ROOT, sys\n"
        "file = ROOT.TFile.Open(sys.argv[1]); tree = file.Get('main'); tree.AddFriend('Events', sys.argv[2])\n"
        "formula = ROOT.TTreeFormula('f', 'Events.x', tree); found = []\n"
        "for entry in range(tree.GetEntries()):\n"
        "    tree.LoadTree(entry); formula.UpdateFormulaLeaves(); formula.GetNdata()\n"
        "    found.append(formula.EvalInstance())\n"
        "print(found)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "main.root"), str(friend)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert json.loads(said.splitlines()[-1]) == arrays["x"][chosen].tolist()


def test_an_index_takes_the_place_of_another_one_without_a_word(root: RootServer, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    report = package.merge(sources(), out, build_index="event,run", strict=False)
    assert not any("left out" in note and "index" in note for note in report.notes)
    trees = root.of(out)["trees"]
    for tree in ("first", "all", "other", "none"):
        lines = trees[tree]["index_lines"]
        assert len(lines) == 150
        assert lines == sorted(lines)


def test_values_that_repeat_are_told(keyed: dict[str, Path], basketry: Basketry, tmp_path: Path) -> None:
    said = basketry("rewrite", keyed["ttree"], "-o", tmp_path / "out.root", "--build-index", "run")
    assert f"{N - 3:,}".replace(",", "") in said.replace(",", "")
    assert "values of another" in said


@pytest.mark.parametrize(
    ("container", "words", "why"),
    [
        ("rntuple", ("run,event",), "--container ttree"),
        ("ttree", ("run,event", "--container", "rntuple"), "no place"),
        ("ttree", ("rum",), "did you mean run?"),
        ("ttree", ("run/2",), "no sum or product"),
        ("ttree", ("run^2",), "no sum or product"),
        ("ttree", ("entry",), "no column"),
        ("ttree", ("x+1",), "no whole number"),
        ("ttree", ("run,event,x",), "one or two"),
        ("ttree", ("3",), "no columns"),
    ],
)
def test_indices_that_cannot_be_are_refused(
    container: str, words: tuple[str, ...], why: str, keyed: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    outcome = basketry.run("rewrite", keyed[container], "-o", tmp_path / "out.root", "--build-index", *words)
    assert (outcome.code, why in outcome.err) == (2, True), str(outcome)
    assert not (tmp_path / "out.root").exists()


def test_an_index_is_counted_in_the_memory(basketry: Basketry, tmp_path: Path) -> None:
    """A million lines are 24 MB in memory, and again in the record of the tree."""
    path, out, n = tmp_path / "many.root", tmp_path / "out.root", 1_000_000
    with package.recreate(path, compression="lz4:1", basket="1MB") as file:
        file["Events"] = {"event": np.random.default_rng(2).permutation(n).astype(np.int64)}
    why = basketry.refuses("rewrite", path, "-o", out, "--build-index", "event", "--memory", "40MB")
    assert "--memory" in why
    outcome = basketry.run("rewrite", path, "-o", out, "--build-index", "event", "--memory", "80MB", "-j", "2")
    assert outcome.code == 0, str(outcome)
    # The record is compressed when nothing else is left in memory.
    assert outcome.peak_rss <= (80 + 45) * 1_000_000, outcome.peak_rss


INDEXED = """
import array, sys, ROOT
for name, formula, index in (("a", "x*2", "z"), ("b", "x*3", "z"), ("c", "x*2", "z"), ("numbers", "x*2", "Entry$")):
    file = ROOT.TFile(f"{sys.argv[1]}/{name}.root", "recreate")
    tree = ROOT.TTree("t", "t")
    x = array.array("i", [0])
    tree.Branch("x", x, "x/I")
    for x[0] in range(10):
        tree.Fill()
    tree.SetAlias("z", formula)
    tree.BuildIndex(index)
    tree.Write()
    file.Close()
"""


def test_an_index_of_values_that_change_is_left_out(basketry: Basketry, tmp_path: Path) -> None:
    words = [sys.executable, "-W", "ignore", "-c", INDEXED, str(tmp_path)]
    subprocess.run(words, check=True, capture_output=True, timeout=120)
    out = tmp_path / "out.root"
    inputs = {name: tmp_path / f"{name}.root" for name in ("a", "b", "c", "numbers")}
    for verb, names, options, why in (
        ("merge", "ab", (), "alias z is x*2 in "),
        ("merge", ["numbers", "numbers"], (), "the numbers of entries (Entry$) are others"),
        ("rewrite", ["numbers"], ("--entries", "5:10"), "the numbers of entries (Entry$) are others"),
        ("sort", ["numbers"], ("--by=-x",), "the numbers of entries (Entry$) are others"),
        ("merge", "ac", (), None),
        ("rewrite", "a", ("--entries", "5:10"), None),
        ("sort", "ac", ("--by=-x",), None),
        ("rewrite", ["numbers"], (), None),
    ):
        said = basketry(verb, *(inputs[name] for name in names), "-o", out, "--force", *options)
        assert ("its index (TTreeIndex) is left out" in said) == (why is not None), (verb, names, said)
        assert why is None or why in said
        tree = basketry.json("inspect", out)["trees"][0]
        assert (tree.get("index") is None) == (why is not None), tree


@pytest.mark.parametrize("how", ["left", "inner"])
def test_a_join_keeps_the_index_of_the_left(
    how: str, keyed: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    """That of the right has no say, and no word is lost on it."""
    left, right, out = tmp_path / "left.root", tmp_path / "right.root", tmp_path / "out.root"
    basketry("rewrite", keyed["ttree"], "-o", left, "--build-index", "run,event")
    basketry("rewrite", keyed["ttree"], "-o", right, "--build-index", "event,run", "--cut", "x % 3 != 1")
    report = basketry.json(
        "join", left, "--with", right, "--on", "run,event", "--suffix", "_b", "--how", how, "-o", out
    )
    assert [note for note in report["output"]["notes"] if "index" in note] == []
    said = looked_up(out, "run", "event")
    assert said["named"] == ["run", "event"]
    assert [entry for *_, entry in said["found"]] == list(range(report["written"]))


#: Commands that put entries into another order.
REORDERED = {
    "sort": ("sort", "--by=-x"),
    "sorted and selected": ("sort", "--by=event", "--cut", "x % 7 != 3"),
    "merged by a key": ("merge", "--by=x"),
    "merged and sorted": ("merge", "--by=event"),
    "picked": ("pick", "--key=event", "--order=asked", *(f"--events={event}" for event in (700, 3, 1400, 5))),
}


@pytest.mark.parametrize("case", REORDERED)
def test_entries_in_another_order_have_their_numbers_in_the_index(
    case: str, keyed: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    """Of several inputs, also where only one of them has an index."""
    parts, out = [tmp_path / f"{n}.root" for n in range(3)], tmp_path / "out.root"
    for n, path in enumerate(parts):
        indexed = ("--build-index", "run,event") if n != 1 else ()
        basketry("rewrite", keyed["ttree"], "-o", path, "--cut", f"x % 3 == {n}", *indexed)
    verb, *words = REORDERED[case]
    said = basketry(verb, *parts, *words, "-o", out)
    assert "left out: " not in said
    assert "made from run and event for an input that has none" in said or case == "picked"
    found = looked_up(out, "run", "event")
    assert found["named"] == ["run", "event"]
    assert found["lines"]
    assert [entry for *_, entry in found["found"]] == list(range(len(found["found"])))
    expected = {"sorted and selected": sum(x % 7 != 3 for x in range(N)), "picked": 4}
    assert len(found["found"]) == expected.get(case, N)
