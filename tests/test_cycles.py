"""Older cycles: reported when dropped, kept with --all-cycles, counted by verify. Real ROOT makes the files."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import make_files, paths
from referee.command import Basketry


def cycles(name: str = "cycles0.root") -> Path:
    """A file of the recipe."""
    return make_files.made("cycles") / name


def values(path: Path, tree: str, branch: str) -> list[float]:
    """The values of a branch by uproot."""
    with uproot.open(path) as file:
        return list(file[tree][branch].array(library="np"))


def older_cycles(basketry: Basketry, *words: str | Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Older cycles as the report of a rewrite or merge lists them."""
    report = json.loads(basketry(*words, "--json"))
    return {(cycle["path"], cycle["cycle"]): cycle for cycle in report["older_cycles"]}


def test_dropped_older_cycles_are_described(basketry: Basketry, tmp_path: Path) -> None:
    found = older_cycles(basketry, "rewrite", cycles(), "-o", tmp_path / "out.root")
    kinds = {path: (cycle["kind"], cycle["entries"], cycle["kept"]) for (path, _), cycle in found.items()}
    assert kinds == {
        "other": ("other-tree", 10, False),
        "alike": ("other-tree", 50, False),
        "d/saved": ("earlier-save", 250, False),
        "grown": ("earlier-save", 20, False),
    }
    said = basketry("rewrite", cycles(), "-o", tmp_path / "again.root")

    assert "tree other: other;1 (10 entries) is left out: another tree" in said
    assert "tree d/saved: saved;1 (250 entries) is left out: an earlier save" in said


def test_entries_in_the_record_are_compared(basketry: Basketry, tmp_path: Path) -> None:
    found = older_cycles(basketry, "rewrite", cycles("record.root"), "-o", tmp_path / "out.root")
    assert {path: cycle["kind"] for (path, _), cycle in found.items()} == {"same": "earlier-save", "not": "other-tree"}


@pytest.mark.parametrize("layout", [(), ("--compression", "zstd:1", "--cluster", "7")])
def test_all_cycles_are_kept(basketry: Basketry, tmp_path: Path, layout: tuple[str, ...]) -> None:
    source, out = cycles(), tmp_path / "out.root"
    assert all(
        c["kept"] for c in older_cycles(basketry, "rewrite", source, "-o", out, "--all-cycles", *layout).values()
    )
    basketry("verify", source, out)

    for tree, branch in [("other;1", "x"), ("other;2", "q"), ("other", "q"), ("alike;1", "x"), ("alike;2", "x")]:
        assert values(out, tree, branch) == values(source, tree, branch)
    assert values(out, "d/saved;1", "n") == list(range(250))
    assert values(out, "d/saved", "n") == list(range(600))


def test_cycles_of_inputs_are_merged_newest_with_newest(basketry: Basketry, tmp_path: Path) -> None:
    inputs, out = [cycles(), cycles("cycles1.root")], tmp_path / "out.root"
    basketry("merge", *inputs, "-o", out, "--all-cycles")
    basketry("verify", *inputs, out)

    for tree, branch in [("other;1", "x"), ("other;2", "q"), ("alike;1", "x"), ("alike;2", "x")]:
        assert values(out, tree, branch) == [v for path in inputs for v in values(path, tree, branch)]
    with uproot.open(out) as file:
        assert list(file["h;1"].values()) == [0, 2, 0, 0]
        assert list(file["h;2"].values()) == [0, 2, 20, 0]


def test_dropped_older_cycles_of_histograms_are_listed(basketry: Basketry, tmp_path: Path) -> None:
    inputs, out = [cycles(), cycles("cycles1.root")], tmp_path / "out.root"
    said = basketry("merge", *inputs, "-o", out)
    assert "left out, as hadd does: h;" in said
    with uproot.open(out) as file:
        assert [key for key in file if key.startswith("h;")] == ["h;1"]
        assert list(file["h"].values()) == [0, 2, 20, 0]
    # A rewrite of objects keeps all cycles.
    basketry("rewrite", inputs[0], "-o", tmp_path / "one.root")

    with uproot.open(tmp_path / "one.root") as file:
        assert list(file["h;1"].values()) == [0, 1, 0, 0]


def test_verify_counts_other_trees_but_not_earlier_saves(basketry: Basketry, tmp_path: Path) -> None:
    source, out = cycles(), tmp_path / "out.root"
    basketry("rewrite", source, "-o", out)
    outcome = basketry.run("verify", source, out, "--json")
    verdict = json.loads(outcome.out)
    assert outcome.code == 1
    assert verdict["older_cycles"] == 4
    lost = {difference["tree"]: difference["what"] for difference in verdict["differences"]}
    assert set(lost) == {"other", "alike"}
    assert "other;1 (10 entries), another tree" in lost["other"]
    assert any("saved;1 (250 entries)" in note for note in verdict["notes"])
    # Intended omissions are not differences.
    basketry("verify", "--common", source, out)
    # An earlier save is not a difference either.
    basketry("rewrite", f"{source}:d/saved", "-o", tmp_path / "saved.root")
    assert basketry.run("verify", f"{source}:d/saved", tmp_path / "saved.root").code == 0
    # A difference inside an older cycle is found.
    kept, changed = tmp_path / "kept.root", tmp_path / "changed.root"
    basketry("rewrite", source, "-o", kept, "--all-cycles")
    basketry("rewrite", cycles("cycles1.root"), "-o", changed, "--all-cycles")
    verdict = json.loads(basketry.run("verify", kept, changed, "--json").out)

    assert "other;1" in {difference.get("tree") for difference in verdict["differences"]}


def test_tune_keeps_other_trees(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    report = json.loads(basketry.run("tune", cycles(), "--goal", "reading", "-o", out, "--json").out)

    assert report["proof"]["equal"], report["proof"]["differences"]
    assert values(out, "other;1", "x") == values(cycles(), "other;1", "x")


def test_the_newest_cycle_stays_the_newest_whatever_its_class(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    for words in [("rewrite",), ("rewrite", "--all-cycles")]:
        basketry(words[0], cycles(), "-o", out, "-f", *words[1:])
        with uproot.open(out) as file:
            classes = file.classnames()
            assert (classes["mixed;1"], classes["mixed;2"]) == ("TTree", "TNamed")
            assert (classes["mixed2;1"], classes["mixed2;2"]) == ("TNamed", "TTree")
            four = [classes[f"four;{n}"] for n in range(1, 5)]
            assert four == ["TNamed", "TTree", "TObjString", "TNamed"]
            assert file["four"].member("fTitle") == "4"


@pytest.mark.parametrize("name", ["two_cycles.root", "two_cycles_dir.root"])
def test_corpus_files_keep_older_cycles_on_request(basketry: Basketry, tmp_path: Path, name: str) -> None:
    source, out = paths.CORPUS / "found" / name, tmp_path / "out.root"
    if not source.is_file():
        pytest.skip(f"no {source}")
    basketry("rewrite", source, "-o", out, "--all-cycles")
    basketry("verify", source, out)
    basketry("rewrite", source, "-o", out, "-f")

    assert basketry.run("verify", source, out).code == 1


def classes(path: Path) -> dict[str, str]:
    """The class of every key. A directory has two names for its own."""
    with uproot.open(path) as file:
        found = file.classnames(recursive=True).items()
    return {key: "TDirectoryFile" if name == "TDirectory" else name for key, name in found}


def test_odd_but_legal_files_keep_all_keys(basketry: Basketry, tmp_path: Path) -> None:
    source, out = make_files.made("odd_objects") / "odd.root", tmp_path / "out.root"
    before = classes(source)
    assert len(before) > 40
    for words in [(), ("--compression", "zstd:1"), ("--all-cycles",)]:
        basketry("rewrite", source, "-o", out, "-f", *words)
        basketry("verify", source, out)
        assert classes(out) == before
    basketry("merge", source, source, "-o", out, "-f")
    basketry("verify", source, source, out)

    assert {key.rsplit(";", 1)[0] for key in classes(out)} == {key.rsplit(";", 1)[0] for key in before}


def test_every_verb_takes_a_cycle(basketry: Basketry, tmp_path: Path) -> None:
    """`FILE:TREE;CYCLE` is what ROOT and uproot write for one cycle, also for an older one."""
    source, older, newest = cycles(), tmp_path / "older.root", tmp_path / "newest.root"
    newest_cycle = max(int(key.split(";")[1]) for key in uproot.open(source) if key.startswith("other;"))
    assert values(source, "other;1", "x") != values(source, f"other;{newest_cycle}", "q")
    basketry("rewrite", f"{source}:other;1", "-o", older)
    assert values(older, "other", "x") == values(source, "other;1", "x")
    basketry("rewrite", f"{source}:other;{newest_cycle}", "-o", newest)
    assert values(newest, "other", "q") == values(source, "other", "q")
    basketry("verify", f"{source}:other;1", older)
    basketry("verify", f"{source}:other;{newest_cycle}", newest)
    basketry("verify", f"{source}:other;1", f"{older}:other;1")
    for cycle, other in [(1, str(newest)), (newest_cycle, f"{older}:other")]:
        assert basketry.run("verify", f"{source}:other;{cycle}", other).code == 1, (cycle, other)

    assert basketry.json("inspect", f"{source}:other;1")["trees"][0]["entries"] == 10
    assert [tree["cycle"] for tree in basketry.json("inspect", f"{source}:other;1")["trees"]] == [1]
    tuned = basketry.run("tune", f"{source}:alike;1", "-o", tmp_path / "tuned.root", "--max-size", "10x")
    assert tuned.code in (0, 1), str(tuned)
    if tuned.code == 0:
        assert values(tmp_path / "tuned.root", "alike", "x") == values(source, "alike;1", "x")
    for verb in (("inspect",), ("tune",), ("verify", source), ("rewrite", "-o", tmp_path / "no.root")):
        assert "other;9" in basketry.refuses(*verb, f"{source}:other;9"), verb


@pytest.mark.parametrize(
    ("reader", "module", "more"),
    [
        ("basketry", "basketry", ("--container", "any")),
        ("basketry", "basketry", ("--drop", "second")),
        ("root", "ROOT", ()),
        ("uproot", "uproot", ("--workload", "columns:values")),
    ],
)
def test_tune_measures_and_proves_the_cycle_that_is_named(
    basketry: Basketry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reader: str,
    module: str,
    more: tuple[str, ...],
) -> None:
    """An older one, in the input; what is written of it is the only one of its path in the output."""
    # The proof runs `python3`, which is to be the one that runs the tests.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    source, out = make_files.made("three_cycles") / "three.root", tmp_path / "tuned.root"
    report = basketry.json("tune", f"{source}:t;2", "--reader", reader, "-o", out, "--max-size", "1.5x", *more)
    assert report["tree"] == "t;2"
    assert report["proof"]["equal"], report["proof"]["differences"]
    # The same tree alone says how many baskets there are.
    alone = tmp_path / "alone.root"
    basketry("rewrite", f"{source}:t;2", "-o", alone, *(more if "--drop" in more else ()))
    assert report["today"]["baskets"] == basketry.json("inspect", alone, "--no-trials")["trees"][0]["baskets"]
    if importlib.util.find_spec(module) is not None:
        assert report["reader"]["instead"] is None, report["reader"]
        assert report["reader"]["proven_by"].startswith(reader)
    if reader == "basketry":
        assert report["measuring"]["trials"] > 0
        assert all(one["refused"] is None for one in report["containers"])
    with uproot.open(source) as before, uproot.open(out) as after:
        assert [key for key in after if key.startswith("t;")] == ["t;1"]
        names = ["values"] if "--drop" in more else ["second", "values"]
        for name in names:
            assert after["t"][name].array().tolist() == before["t;2"][name].array().tolist()
