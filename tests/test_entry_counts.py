"""Branches with fewer or more entries than their tree: what is held stays at its entries, the rest gets defaults or a
refusal, and nothing is made up. Real ROOT makes the files and reads the outputs value by value."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee import hadd, make_files
from referee.command import Argument, Basketry, run
from referee.paths import FOUND

ENTRIES = 60
DEFAULTS: dict[str, Any] = {"a": 0, "b": 0, "f": [0.0, 0.0, 0.0], "n": 0, "x": [], "v": [], "s": "", "late": 0}
# The entries of these branches that some files hold.
HELD = {"early": range(40), "late": range(40), "middle": range(40)}
SHORT = ["b", "f", "n", "x", "v", "s"]
MERGES: dict[str, tuple[str, ...]] = {
    "merge": ("merge", "-o", "OUT"),
    "fill": ("merge", "--fill", "-o", "OUT"),
    "common": ("merge", "--common", "-o", "OUT"),
    "hadd": ("hadd", "-f", "OUT"),
    "hadd-parallel": ("hadd", "-f505", "-j", "2", "OUT"),
    "merge-layout": ("merge", "-o", "OUT", "--cluster", "7", "--compression", "zstd:1", "--threads", "2"),
}
# Reads every branch of the tree `t` by TTree::GetEntry.
ROOT_READS = """
import json, sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError
found = {}
for path in json.loads(sys.argv[1]):
    file = ROOT.TFile.Open(path)
    tree = file.Get("t")
    names = [branch.GetName() for branch in tree.GetListOfBranches()]
    plain = {branch.GetName(): branch.GetListOfLeaves().At(0) for branch in tree.GetListOfBranches()}
    rows = {name: [] for name in names if name != "o"}
    for entry in range(int(tree.GetEntries())):
        tree.GetEntry(entry)
        for name in rows:
            leaf = plain[name]
            if leaf.ClassName() == "TLeafElement":
                value = getattr(tree, name)
                rows[name].append(str(value) if name == "s" else list(value))
            elif leaf.GetLenStatic() > 1 or leaf.GetLeafCount():
                rows[name].append([leaf.GetValue(i) for i in range(leaf.GetLen())])
            else:
                rows[name].append(leaf.GetValue(0))
    found[path] = rows
print(json.dumps(found))
"""


def root_reads(paths: list[Path]) -> dict[Path, dict[str, list[Any]]]:
    """The values of every branch as real ROOT reads them."""
    asked = json.dumps([str(path) for path in paths])
    command = [sys.executable, "-W", "ignore", "-c", ROOT_READS, asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return {Path(path): rows for path, rows in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.fixture(scope="module")
def files() -> Path:
    return make_files.made("entry_counts")


def held(path: Path) -> dict[str, list[Any]]:
    """What a file's branches hold, by uproot, as long as each is."""
    with uproot.open(path) as file:
        return {name: branch.array().tolist() for name, branch in file["t"].items() if name != "o"}


def filled(path: Path, names: list[str] | None = None) -> dict[str, list[Any]]:
    """The values of a tree with defaults where a branch has ended, and without those behind the tree's end."""
    found = held(path)
    columns = {name: found.get(name, []) for name in (found if names is None else names)}
    return {name: (values + [DEFAULTS[name]] * (ENTRIES - len(values)))[:ENTRIES] for name, values in columns.items()}


def said(basketry: Basketry, *arguments: Argument, codes: tuple[int, ...] = (0,)) -> str:
    """All that the command says; it must end with one of these codes."""
    done = basketry.run(*arguments)
    assert done.code in codes, str(done)
    assert "panicked" not in done.err, str(done)
    return done.out + done.err


def command_for(verb: str, out: Path, *sources: Argument) -> list[Argument]:
    return [out if word == "OUT" else word for word in MERGES[verb]] + list(sources)


PAIRS = [
    ("early", "whole"),
    ("whole", "early"),
    ("early", "early"),
    ("late", "middle"),
    ("longer", "whole"),
    ("longer", "longer"),
    ("part", "part"),
    ("part", "added"),
    ("added", "part"),
    ("never", "part"),
    ("part", "never"),
    ("never", "added"),
    ("never", "never"),
]


def test_merged_trees_have_what_each_input_holds(basketry: Basketry, files: Path, tmp_path: Path) -> None:
    outputs: dict[Path, tuple[str, str]] = {}
    for verb, (first, second) in itertools.product(MERGES, PAIRS):
        out = tmp_path / f"{verb}-{first}-{second}.root"
        notes = said(basketry, *command_for(verb, out, files / f"{first}.root", files / f"{second}.root"))
        outputs[out] = (first, second)
        short = {"early", "late", "middle", "part"} & {first, second}
        assert ("has 40 of 60 entries" in notes) == bool(short), notes
    basketry("check", "--deep", *outputs)
    read = root_reads(list(outputs))
    for out, (first, second) in outputs.items():
        one, other = filled(files / f"{first}.root"), filled(files / f"{second}.root")
        expected = {name: one[name] + other[name] for name in one}
        assert read[out] == expected, out
        with uproot.open(out) as file:
            lengths = {name: branch.num_entries for name, branch in file["t"].items()}
        never = {name for name in lengths if {first, second} == {"never"} and name == "late"}
        assert lengths == {name: 0 if name in never else 2 * ENTRIES for name in lengths}, out


@pytest.mark.parametrize("third", ["whole", "early"])
def test_gaps_between_inputs(third: str, basketry: Basketry, files: Path, tmp_path: Path) -> None:
    names = ["whole", "early", third]
    sources, out = [files / f"{name}.root" for name in names], tmp_path / "out.root"
    basketry("merge", "-o", out, *sources)
    basketry("check", "--deep", out)
    basketry("verify", *sources, out)
    expected: dict[str, list[Any]] = {name: [] for name in held(sources[0])}
    for source in sources:
        for name, values in filled(source).items():
            expected[name] += values
    assert root_reads([out])[out] == expected


def test_filled_items_are_as_many_as_their_counter_says(basketry: Basketry, files: Path, tmp_path: Path) -> None:
    sources, out = [files / "counted.root", files / "counted_whole.root"], tmp_path / "out.root"
    basketry("merge", "-o", out, *sources)
    basketry("check", "--deep", out)
    one, other = held(sources[0]), held(sources[1])
    x2 = one["x2"] + [[0.0] * n for n in one["n"][40:]] + other["x2"]
    found = root_reads([out])[out]
    assert found["x2"] == x2
    assert found["y"] == one["y"] + other["y"]
    cut = tmp_path / "cut.root"
    basketry("rewrite", sources[0], "-o", cut, "--entries", "30:50")
    assert root_reads([cut])[cut]["x2"] == x2[30:50]


def test_a_counter_with_fewer_entries_than_what_it_counts_is_refused(
    basketry: Basketry, files: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    refusal = basketry.refuses("merge", "-o", out, files / "counter.root", files / "counted_whole.root")
    assert "branch m" in refusal
    assert "branch y" in refusal
    assert not out.exists()


def test_entries_without_a_default_are_refused_by_file_and_branch(
    basketry: Basketry, files: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    short, whole = files / "objects.root", files / "objects_whole.root"
    refusal = basketry.refuses("merge", "-o", out, short, whole)
    assert "objects.root: branch o: has 40 of 60 entries" in refusal
    assert not out.exists()
    # Nothing follows: the branch ends early in the output, as in its input.
    basketry("merge", "-o", out, whole, short)
    basketry("check", "--deep", out)
    with uproot.open(out) as file:
        assert file["t"]["o"].num_entries == 100
        assert file["t"]["a"].num_entries == 120
    basketry("merge", "-f", "-o", out, short, whole, "--drop", "o")
    basketry("check", "--deep", out)


@pytest.mark.parametrize("name", ["early", "part", "longer", "never", "objects"])
@pytest.mark.parametrize(
    "layout", [(), ("--compression", "zstd:1"), ("--cluster", "7"), ("--basket", "1kB", "--threads", "2")], ids=str
)
def test_a_rewrite_of_one_file_keeps_what_it_holds(
    name: str, layout: tuple[str, ...], basketry: Basketry, files: Path, tmp_path: Path
) -> None:
    source, out = files / f"{name}.root", tmp_path / "out.root"
    basketry("rewrite", source, "-o", out, *layout)
    basketry("check", "--deep", out)
    basketry("verify", source, out)
    assert held(out) == held(source)


def test_a_branch_without_entries_is_filled_where_it_is_alone(basketry: Basketry, files: Path, tmp_path: Path) -> None:
    # Otherwise no branch of the output would have the tree's entries.
    out = tmp_path / "out.root"
    basketry("rewrite", files / "never.root", "-o", out, "--keep", "late")
    basketry("check", "--deep", out)
    assert held(out) == {"late": [0] * ENTRIES}


def test_selected_entries_are_filled(basketry: Basketry, files: Path, tmp_path: Path) -> None:
    source = files / "early.root"
    expected = filled(source)
    outs = {}
    for start, stop in [(30, 50), (45, 60), (0, 40)]:
        out = tmp_path / f"{start}.root"
        basketry("rewrite", source, "-o", out, "--entries", f"{start}:{stop}")
        outs[out] = (start, stop)
    basketry("check", "--deep", *outs)
    for out, rows in root_reads(list(outs)).items():
        start, stop = outs[out]
        assert rows == {name: values[start:stop] for name, values in expected.items()}


@pytest.mark.parametrize("name", ["early", "longer", "part"])
def test_conversions_say_that_they_fill(name: str, basketry: Basketry, files: Path, tmp_path: Path) -> None:
    source = files / f"{name}.root"
    expected = filled(source)
    ntuple, table = tmp_path / "n.root", tmp_path / "t.parquet"
    made = said(basketry, "rewrite", source, "-o", ntuple, "--container", "rntuple")
    basketry("check", "--deep", ntuple)
    converted = said(basketry, "convert", source, "-o", table)
    for notes in (made, converted):
        assert ("has 40 of 60 entries" in notes) == (name != "longer"), notes
    import pyarrow.parquet as pq

    columns = pq.read_table(table).to_pydict()
    with uproot.open(ntuple) as file:
        fields = {key: file["t"].arrays([key])[key].tolist() for key in expected}
    assert columns == expected
    assert fields == expected


def test_what_hadd_makes_of_short_branches_is_read_and_mended(basketry: Basketry, files: Path, tmp_path: Path) -> None:
    # hadd leaves gaps between baskets, which the tree's record does not show; ROOT reads the next bytes there.
    theirs, out = tmp_path / "theirs.root", tmp_path / "out.root"
    sources = [files / "early.root", files / "whole.root", files / "early.root"]
    assert hadd.merge(theirs, *sources) is not None
    assert "branch b has 140 of 180 entries" in said(basketry, "check", "--deep", theirs)
    basketry("rewrite", theirs, "-o", out)
    basketry("check", "--deep", out)
    parts = [filled(source) for source in sources]
    found = root_reads([out])[out]
    for name in ("a", "b", "v", "s"):
        # The last gap stays at the end: nothing follows it.
        n = 160 if name != "a" else 180
        assert found[name][:n] == (parts[0][name] + parts[1][name] + parts[2][name])[:n]
    tree = bk.open(f"{theirs}:t")
    assert tree["b"].array(entry_start=60).tolist() == parts[1]["b"] + held(sources[2])["b"]
    with pytest.raises(ValueError, match="not entry 40"):
        tree["b"].array()


def test_a_count_that_no_branch_reaches_is_damage(basketry: Basketry, files: Path, tmp_path: Path) -> None:
    whole, out = files / "whole.root", tmp_path / "out.root"
    for name, entries in (("beyond", 1000), ("far_beyond", 1 << 40)):
        damaged = files / f"{name}.root"
        reason = f"{entries} entries, its branches hold 60"
        for deep in ((), ("--deep",)):
            assert reason in said(basketry, "check", *deep, damaged, codes=(1,))
        shown = basketry.json("inspect", damaged)
        assert "entries_missing" in [finding["fault"] for finding in shown["findings"]]
        assert shown["trees"][0]["held"] == 60
        commands: list[list[Argument]] = [
            ["rewrite", damaged, "-o", out],
            ["merge", "-o", out, whole, damaged],
            ["hadd", out, damaged, whole],
            ["convert", damaged, "-o", tmp_path / "out.parquet", "--memory", "64MB"],
            ["rewrite", damaged, "-o", out, "--container", "rntuple"],
            ["readspeed", damaged],
            ["tune", damaged],
            ["verify", damaged, whole],
        ]
        for command in commands:
            done = run([basketry.binary, *command], timeout=60)
            assert done.code in (1, 2), done
            assert reason in done.err, done
            assert name in done.err, done
            assert "panicked" not in done.err, done
            assert done.peak_rss < 200e6, done
        assert not out.exists()
        with pytest.raises(ValueError, match=reason):
            bk.open(f"{damaged}:t")
        assert reason in said(basketry, "merge", "--skip-bad", "-o", out, whole, damaged, codes=(0, 1, 3))
        assert held(out) == held(whole)
        recovered = tmp_path / "recovered.root"
        said(basketry, "recover", "-f", damaged, "-o", recovered, codes=(0, 1))
        assert held(recovered) == held(damaged)
        basketry("check", "--deep", recovered)
        out.unlink()


def test_inspect_and_check_say_it_of_inputs(basketry: Basketry, files: Path) -> None:
    for name, fault, note in (
        ("early", "short_branches", "branch b has 40 of 60 entries"),
        ("longer", "long_branches", "branch b has 10 entries more than the tree's 60"),
    ):
        path = files / f"{name}.root"
        shown = basketry.json("inspect", path)
        assert fault in [finding["fault"] for finding in shown["findings"]]
        lengths = {
            branch["name"]: (branch.get("held"), branch.get("beyond", 0)) for branch in shown["trees"][0]["branches"]
        }
        assert lengths["a"] == (None, 0)
        assert lengths["b"] == ((40, 0) if name == "early" else (None, 10))
        assert note in said(basketry, "check", path)
    for name in ("whole", "never", "added"):
        assert "branch" not in said(basketry, "check", files / f"{name}.root")


def test_python_gives_what_branches_hold(files: Path) -> None:
    tree = bk.open(f"{files / 'early.root'}:t")
    whole = held(files / "early.root")
    assert tree["b"].array().tolist() == whole["b"]
    assert tree["b"].array(library="np").tolist() == whole["b"]
    assert tree["b"].array(entry_start=35, entry_stop=50).tolist() == whole["b"][35:]
    assert tree["b"].array(virtual=True).tolist() == whole["b"]
    assert tree.arrays(["b", "v"]).v.tolist() == whole["v"]
    assert [one.b.tolist() for one in tree.iterate(["b"], step_size=25)] == [whole["b"][:25], whole["b"][25:]]
    assert {name: len(array) for name, array in tree.arrays(library="np").items()} == {
        name: len(values) for name, values in whole.items()
    }
    by_name = tree.arrays(["v", "a"], how=dict)
    assert {name: array.tolist() for name, array in by_name.items()} == {name: whole[name] for name in ("v", "a")}
    assert tree.arrays(entry_stop=40).a.tolist() == whole["a"][:40]
    assert tree.arrays("b + 1")["b + 1"].tolist() == [one + 1 for one in whole["b"]]
    for reading in (
        lambda: tree.arrays(),
        lambda: tree.arrays(library="pd"),
        lambda: tree.arrays(["a"], cut="b < 0"),
        lambda: tree["b"].array(selection=[3, 40]),
        lambda: list(tree.iterate(step_size=25)),
    ):
        with pytest.raises(ValueError, match=r"branch b of t: has 40 of 60 entries.*entry_stop=40"):
            reading()
    assert bk.open(f"{files / 'longer.root'}:t")["b"].array().tolist() == held(files / "longer.root")["b"][:60]


def test_files_that_showed_it(basketry: Basketry, tmp_path: Path) -> None:
    pairs = [
        ("branch-ended-early-0", "branch-ended-early-1"),
        ("branch-ended-early-first", "branch-full-second"),
        ("branch-full-second", "branch-ended-early-first"),
        ("branch-part-filled-0", "branch-part-filled-1"),
        ("branch-longer-than-tree-0", "branch-longer-than-tree-1"),
    ]
    if not (FOUND / "branch-ended-early-0.root").exists():
        pytest.skip("the corpus is absent")
    outs = {}
    for number, pair in enumerate(pairs):
        sources = [FOUND / f"{name}.root" for name in pair]
        out = tmp_path / f"{number}.root"
        basketry("merge", "-o", out, *sources)
        outs[out] = sources
    basketry("check", "--deep", *outs)
    read = root_reads(list(outs))
    for out, sources in outs.items():
        expected: dict[str, list[Any]] = {}
        for source in sources:
            with uproot.open(source) as file:
                entries = file["t"].num_entries
                for name, branch in file["t"].items():
                    values = branch.array().tolist()[:entries]
                    values += [[] if name == "s" else 0] * (entries - len(values))
                    expected.setdefault(name, []).extend(values)
        texts = {name: values for name, values in read[out].items() if name != "s"}
        assert texts == {name: values for name, values in expected.items() if name != "s"}
        with uproot.open(out) as file:
            assert {name: branch.array().tolist() for name, branch in file["t"].items()} == expected
