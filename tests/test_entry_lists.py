"""Lists of entries that real ROOT wrote (`TEntryList`, `TEventList`), picked: of one file and of several, few entries
and nearly all, in directories, moved, and damaged."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry

#: Two blocks of an entry list, and a part of a third.
ENTRIES = 150_000
#: Lists by name: the selection that ROOT makes each of.
SELECTIONS = {
    "few": "x % 9973 == 0",
    "dense": "x % 7 != 3",
    "all": "x >= 0",
    "last": "x % 150000 > 149990",
}
MAKE = """
import ROOT, sys
ROOT.gROOT.SetBatch(True)
target, selections, files = sys.argv[1], eval(sys.argv[2]), sys.argv[3:]
chain = ROOT.TChain("dir/Events")
for path in files:
    chain.Add(path)
made = []
for name, cut in selections.items():
    for kind in ("entrylist", ""):
        full = f"{name}_{kind or 'events'}"
        # ROOT has room for so many selected entries of a TEventList by itself; a TEntryList grows.
        chain.SetEstimate(chain.GetEntries() + 1)
        chain.Draw(f">>{full}", cut, kind)
        found = ROOT.gDirectory.Get(full)
        found.SetDirectory(0)
        made.append(found)
out = ROOT.TFile(target, "recreate")
folder = out.mkdir("lists")
folder.cd()
for one in made:
    one.Write()
out.Close()
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files with a tree in a directory, and another tree."""
    folder, paths = tmp_path_factory.mktemp("lists"), []
    for number in range(2):
        paths.append(folder / f"f{number}.root")
        with bk.recreate(paths[-1]) as file:
            file["dir/Events"] = {"x": np.arange(ENTRIES, dtype=np.int64) + number * ENTRIES}
            file["Runs"] = {"run": np.arange(3)}
    return paths


def lists_of(files: list[Path], target: Path) -> Path:
    words = [sys.executable, "-W", "ignore", "-c", MAKE, str(target), repr(SELECTIONS), *map(str, files)]
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    return target


@pytest.fixture(scope="module")
def lists(files: list[Path]) -> Path:
    return lists_of(files, files[0].with_name("lists.root"))


def expected(name: str, count: int) -> list[int]:
    x = np.arange(count * ENTRIES)
    return x[eval(SELECTIONS[name], {"x": x})].tolist()  # type: ignore[no-any-return]


def values(path: Path) -> list[int]:
    with uproot.open(path) as file:
        return file["dir/Events"]["x"].array(library="np").tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["entrylist", "events"])
@pytest.mark.parametrize("name", SELECTIONS)
def test_lists_of_root_name_the_entries_that_root_selected(
    name: str, kind: str, files: list[Path], lists: Path, basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    words = ("--events", f"{lists}:lists/{name}_{kind}", "--json", "-o", out)
    # A TEventList names no tree.
    inputs = files if kind == "entrylist" else [f"{path}:dir/Events" for path in files]
    outcome = basketry.run("pick", *inputs, *words)
    assert outcome.code == 0, str(outcome)
    report = json.loads(outcome.out)
    wanted = expected(name, 2)
    assert report["picked"] == len(wanted)
    assert values(out) == wanted
    with uproot.open(out) as file:
        assert ("Runs" in file) == (kind == "entrylist")


def test_a_list_of_one_tree_is_of_its_file(files: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    lists = lists_of(files[1:], tmp_path / "one.root")
    out = tmp_path / "out.root"
    basketry("pick", *files, "--events", f"{lists}:lists/few_entrylist", "-o", out)
    assert values(out) == [x for x in expected("few", 2) if x >= ENTRIES]
    # The numbers of a TEventList go through all inputs, whatever files it was made of.
    again = tmp_path / "again.root"
    inputs = [f"{path}:dir/Events" for path in files]
    basketry("pick", *inputs, "--events", f"{lists}:lists/last_events", "-o", again)
    assert values(again) == list(range(ENTRIES - 9, ENTRIES))


def test_files_of_a_list_are_found_where_they_are_now(
    files: list[Path], lists: Path, basketry: Basketry, tmp_path: Path
) -> None:
    moved = [tmp_path / path.name for path in files]
    for path, place in zip(files, moved, strict=True):
        place.symlink_to(path)
    report = basketry.json("pick", *moved, "--events", f"{lists}:lists/few_entrylist", "-o", tmp_path / "links.root")
    assert report["picked"] == len(expected("few", 2))
    assert report["notes"] == []
    for path, place in zip(files, moved, strict=True):
        place.unlink()
        place.write_bytes(path.read_bytes())
    report = basketry.json("pick", *moved, "--events", f"{lists}:lists/few_entrylist", "-o", tmp_path / "copies.root")
    assert values(tmp_path / "copies.root") == expected("few", 2)
    assert len(report["notes"]) == 2
    assert str(files[0]) in report["notes"][0]


def test_what_a_list_names_and_is_not_there_is_told(
    files: list[Path], lists: Path, basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    outcome = basketry.run("pick", files[0], "--events", f"{lists}:lists/few_entrylist", "-o", out, "--json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert values(out) == expected("few", 1)
    (missing,) = report["missing"]
    assert str(files[1]) in missing
    assert str(len(expected("few", 2)) - len(expected("few", 1))) in missing
    short = tmp_path / "f0.root"
    with bk.recreate(short) as file:
        file["dir/Events"] = {"x": np.arange(10_000)}
    outcome = basketry.run("pick", short, "--events", f"{lists}:lists/few_entrylist", "-o", out, "--json", "--force")
    assert outcome.code == 1
    assert any(f"entry {2 * 9973}" in line for line in json.loads(outcome.out)["missing"])


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ("{lists}:lists/fewer", "few_entrylist"),
        ("{lists}", "several lists"),
        ("{file}", "no list of entries"),
        ("{lists}:lists/few_entrylist --index i.parquet", "index"),
        ("{lists}:lists/few_entrylist --events 1:2:3", "keys and by numbers"),
    ],
)
def test_lists_that_mean_nothing_are_refused(
    events: str, said: str, files: list[Path], lists: Path, basketry: Basketry, tmp_path: Path
) -> None:
    words = events.format(lists=lists, file=files[0]).split()
    outcome = basketry.run("pick", *files, "-o", tmp_path / "out.root", "--events", *words)
    assert (outcome.code, said in outcome.err) == (2, True), str(outcome)
    assert not (tmp_path / "out.root").exists()


def test_a_cut_and_an_order_go_with_lists(files: list[Path], lists: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    few, last = (f"{lists}:lists/{name}_entrylist" for name in ("few", "last"))
    words = ("--events", last, "--events", few, "--order", "asked", "--cut", "x % 2 == 1")
    basketry("pick", *files, *words, "-o", out)
    assert values(out) == [x for name in ("last", "few") for x in expected(name, 2) if x % 2 == 1]


def test_damaged_lists_are_refused(files: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    with uproot.recreate(tmp_path / "plain.root") as file:
        file["h"] = np.histogram(np.arange(3))
    lists = lists_of(files, tmp_path / "lists.root")
    whole = lists.read_bytes()
    rng = np.random.default_rng(4)
    for _ in range(25):
        damaged = bytearray(whole)
        at = int(rng.integers(100, len(whole)))
        damaged[at : at + 4] = rng.bytes(4)
        lists.write_bytes(damaged)
        words = ("--events", f"{lists}:lists/dense_entrylist", "-o", tmp_path / "out.root", "--force")
        outcome = basketry.run("pick", *files, *words)
        assert outcome.code in (0, 1, 2), str(outcome)
        assert "panicked" not in outcome.err
