"""Files of killed jobs, and truncated files: `recover` restores them, by value."""

import json
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import make_files
from referee.command import Basketry
from referee.paths import CORPUS
from referee.root_server import RootServer

FLUSH, SAVE = 200, 1000
STOPS = (900, 1000, 1201, 1999, 3777, 4999)


def expected(entries: int) -> dict[str, list[Any]]:
    """The values that the job of macros/killed.C filled."""
    numbers = range(entries)
    counts = [i // 200 % 40 + i % 3 for i in numbers]
    return {
        "i": list(numbers),
        "x": [i * 0.5 for i in numbers],
        "n": counts,
        "v": [[float(i + j) for j in range(n)] for i, n in zip(numbers, counts, strict=True)],
        "list": [[float(i)] * (i % 7) for i in numbers],
        "text": [chr(ord("a") + i % 26) * (i % 11) for i in numbers],
        "word": [f"{i:0{1 + i // 400}d}" for i in numbers],
        "q/fMarkerSize": [float(i) for i in numbers],
        "q/fMarkerStyle": [i % 50 for i in numbers],
        "r/fMarkerSize": [float(-i) for i in numbers],
        "r/fMarkerStyle": [i % 51 for i in numbers],
    }


def check(path: Path, entries: int) -> None:
    """Checks every value, and the maxima by which readers allocate."""
    with uproot.open(path) as file:
        assert file["folder/note"].member("fTitle") == "written first"
        tree = file["folder/tree"]
        assert tree.num_entries == entries
        for name, values in expected(entries).items():
            assert tree[name].array().tolist() == values, name
        momenta = tree["p"].array()
        assert momenta.fP.fX.tolist() == [float(i) for i in range(entries)]
        assert momenta.fE.tolist() == [3.0 * i for i in range(entries)]
        if entries:
            leaf = tree["n"].member("fLeaves")[0]
            assert leaf.member("fMaximum") >= max(expected(entries)["n"])
            assert tree["word"].member("fLeaves")[0].member("fLen") > max(map(len, expected(entries)["word"]))


@pytest.mark.parametrize("stop", STOPS)
def test_a_killed_job_is_restored(basketry: Basketry, root_bytes: RootServer, tmp_path: Path, stop: int) -> None:
    folder = make_files.made("killed")
    out = tmp_path / "out.root"
    like = ("--like", folder / "killed0.root") if stop < SAVE else ()
    report = basketry.json("recover", folder / f"killed{stop}.root", "-o", out, *like)
    (tree,) = report["trees"]
    assert tree["path"] == "folder/tree"
    # All entries up to the last flush, and the common entries of baskets that filled up since.
    assert stop // FLUSH * FLUSH <= tree["entries"] <= stop
    assert tree["saved_entries"] == (None if like else stop // SAVE * SAVE)
    assert tree["entries_lost"] == max((branch["entries_lost"] for branch in tree["branches"]), default=0)
    assert report["objects"] == 1
    check(out, tree["entries"])

    assert root_bytes.of(out)
    assert any("are called" in note for note in report["notes"]) == (tree["baskets_found"] > 0)


def test_without_a_tree_record_the_baskets_are_listed(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed")
    out = tmp_path / "out.root"
    line = basketry.refuses("recover", folder / "killed900.root", "-o", out)
    assert "--like" in line
    assert "branch i:" in line
    line = basketry.refuses(
        "recover", folder / "killed900.root", "-o", out, "--like", make_files.made("wide") / "wide.root"
    )

    assert "no tree of that name" in line
    assert not out.exists()


def test_a_truncated_file_is_restored(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed")
    chance = random.Random(4)
    before: dict[int, int] = {}
    for _ in range(30):
        whole = (folder / f"killed{chance.choice((0, 3777))}.root").read_bytes()
        length = chance.randrange(1, len(whole))
        path, out = tmp_path / "cut.root", tmp_path / "out.root"
        path.write_bytes(whole[:length])
        outcome = basketry.run("recover", path, "-o", out, "--like", folder / "killed0.root", "--force")
        assert outcome.code in (0, 1, 2), str(outcome)
        assert "panicked" not in outcome.err
        if outcome.code != 2:
            with uproot.open(out) as file:
                entries = before[length] = file["folder/tree"].num_entries
            check(out, entries)

    assert len(before) > 20
    # More bytes hold more entries: entries have about equal sizes.
    assert max(before.values()) > 4000


def test_a_complete_file_is_restored_completely(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed")
    out = tmp_path / "out.root"
    report = basketry.json("recover", folder / "killed0.root", "-o", out)
    assert report["trees"][0]["entries_lost"] == 0
    assert not report["notes"]
    basketry("verify", folder / "killed0.root", out)


def damaged(path: Path, out: Path, branch: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Damages baskets of a branch in a copy of a file, and returns their entries."""
    data = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        found = file["folder/tree"][branch]
        seeks, first = found.member("fBasketSeek"), found.member("fBasketEntry")
        sizes = found.member("fBasketBytes")
    for number in numbers:
        at, size = int(seeks[number]), int(sizes[number])
        keylen = struct.unpack_from(">h", data, at + 14)[0]
        for byte in range(at + keylen, at + size):
            data[byte] ^= 0x5A
    out.write_bytes(data)
    return [(int(first[number]), int(first[number + 1])) for number in numbers]


@pytest.mark.parametrize("threads", [1, 4])
def test_entries_of_damaged_baskets_are_left_out_and_listed(basketry: Basketry, tmp_path: Path, threads: int) -> None:
    whole = make_files.made("killed") / "killed0.root"
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    gaps = damaged(whole, bad, "x", (1, 3)) + damaged(bad, bad, "list", (4,))
    outcome = basketry.run("recover", bad, "-o", out, "--json", "-j", str(threads))
    assert outcome.code == 1, str(outcome)
    report = json.loads(outcome.out)
    assert not report["whole"]
    (tree,) = report["trees"]
    lost = sorted({entry for gap in gaps for entry in range(*gap)})
    reported = [entry for first, end in tree["ranges_lost"] for entry in range(first, end)]
    assert reported == lost
    assert tree["entries_lost"] == len(lost)
    branches = {branch["name"]: branch for branch in tree["branches"]}
    assert branches["x"]["baskets_unreadable"] == 2
    assert branches["x"]["ranges_unreadable"] == [list(gap) for gap in gaps[:2]]
    assert branches["x"]["bytes_unreadable"] > 0
    assert branches["list"]["baskets_unreadable"] == 1
    assert branches["i"]["baskets_unreadable"] == 0
    assert branches["i"]["entries_lost"] == len(lost)
    with uproot.open(whole) as before, uproot.open(out) as file:
        entries = before["folder/tree"].num_entries
        kept = [entry for entry in range(entries) if entry not in set(lost)]
        after = file["folder/tree"]
        assert after.num_entries == tree["entries"] == len(kept)
        for name, values in expected(entries).items():
            assert after[name].array().tolist() == [values[entry] for entry in kept], name
    # The printed report agrees.
    text = basketry.run("recover", bad, "-o", out, "--force").out
    first, end = tree["ranges_lost"][0]

    assert f"left out: entries {first} to {end - 1}" in text


def test_a_lost_branch_leaves_the_others(basketry: Basketry, tmp_path: Path) -> None:
    whole, bad, out = make_files.made("killed") / "killed0.root", tmp_path / "bad.root", tmp_path / "out.root"
    with uproot.open(whole) as file:
        count = {name: file["folder/tree"][name].num_baskets for name in ("x", "n")}
        entries = file["folder/tree"].num_entries
    damaged(whole, bad, "x", range(count["x"]))
    outcome = basketry.run("recover", bad, "-o", out, "--json")
    assert outcome.code == 1, str(outcome)
    report = json.loads(outcome.out)
    (tree,) = report["trees"]
    assert tree["entries"] == entries
    (branch,) = tree["branches"]
    assert (branch["name"], branch["entries_unreadable"]) == ("x", entries)
    assert any("branch x is left out" in note for note in report["notes"])
    with uproot.open(out) as file:
        assert "x" not in file["folder/tree"]
        for name, values in expected(entries).items():
            if name != "x":
                assert file["folder/tree"][name].array().tolist() == values, name
    # An array is unreadable without its counter: the entries are dropped.
    damaged(whole, bad, "n", range(count["n"]))
    report = json.loads(basketry.run("recover", bad, "-o", out, "--json", "--force").out)

    assert report["trees"][0]["entries"] == 0
    assert report["trees"][0]["ranges_lost"] == [[0, entries]]


def test_a_damaged_basket_before_unrecorded_baskets_moves_no_entry(basketry: Basketry, tmp_path: Path) -> None:
    """Later baskets keep their positions: no value moves to another entry."""
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    # No list of keys has the tree: its baskets are found by name.
    data = bytearray((make_files.made("killed") / "killed3777.root").read_bytes())
    starts, at = [], data.find(b"\x07TBasket\x01x\x04tree")
    while at >= 0:
        starts.append(at - 34)
        at = data.find(b"\x07TBasket\x01x\x04tree", at + 1)
    sizes = []
    for start in starts:
        size, keylen = struct.unpack_from(">i", data, start)[0], struct.unpack_from(">h", data, start + 14)[0]
        sizes.append(struct.unpack_from(">i", data, start + keylen - 9)[0])
        if start == starts[2]:
            data[start + keylen : start + size] = bytes(size - keylen)
    bad.write_bytes(data)
    gap = range(sum(sizes[:2]), sum(sizes[:3]))
    report = json.loads(basketry.run("recover", bad, "-o", out, "--json").out)
    (tree,) = report["trees"]
    assert tree["saved_entries"] == 3000
    assert tree["baskets_found"] > 0
    assert tree["ranges_lost"][0] == [gap.start, gap.stop]
    lost = set(gap)
    with uproot.open(out) as file:
        after = file["folder/tree"]
        count = after.num_entries + len(lost)
        assert count > 3000
        for name, values in expected(count).items():
            assert after[name].array().tolist() == [v for i, v in enumerate(values) if i not in lost], name


def test_trees_of_one_name_are_kept_apart(basketry: Basketry, tmp_path: Path) -> None:
    path = make_files.made("same_name") / "same_name.root"
    out = tmp_path / "out.root"
    report = basketry.json("recover", path, "-o", out)
    assert report["whole"]
    found = {(tree["path"], tree["cycle"]): tree["entries"] for tree in report["trees"]}

    assert found == {("d/t", 1): 50, ("d/t", 2): 60, ("saved", 2): 300}
    with uproot.open(path) as before, uproot.open(out) as file:
        for cycle in (1, 2):
            assert file[f"d/t;{cycle}"]["x"].array().tolist() == before[f"d/t;{cycle}"]["x"].array().tolist()
        assert file["saved"]["x"].array().tolist() == list(range(300))


def test_the_smallest_budget_for_a_basket_is_named(basketry: Basketry, tmp_path: Path) -> None:
    path = make_files.made("big_records_zstd")
    (path,) = sorted(path.glob("*.root"))[:1]
    line = basketry.refuses("recover", path, "-o", tmp_path / "out.root", "--memory", "10kB")

    assert "--memory" in line


FOUND = CORPUS / "found"


@pytest.mark.skipif(not FOUND.is_dir(), reason="the files that showed faults are absent (../shared/corpus/found)")
def test_corpus_files_with_mixed_trees_are_restored(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    report = basketry.json("recover", FOUND / "two_cycles_dir.root", "-o", out)
    assert sorted(tree["entries"] for tree in report["trees"] if tree["path"] == "d/dd/T2") == [50, 60]
    outcome = basketry.run("recover", FOUND / "recover_unreadable.root", "-o", out, "--json", "--force")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert sum(branch["baskets_unreadable"] for tree in report["trees"] for branch in tree["branches"]) > 0
    with uproot.open(out) as file:
        for tree in report["trees"]:
            assert file[tree["path"]].num_entries == tree["entries"] > 0
    # Every basket of the result is readable.
    basketry("rewrite", out, "-o", tmp_path / "again.root", "--check")


def test_rntuples_that_were_closed_are_restored(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed_ntuples")
    out = tmp_path / "out.root"
    outcome = basketry.run("recover", folder / "beside.root", "-o", out, "--json")
    assert outcome.code == 1, str(outcome)
    report = json.loads(outcome.out)
    assert report["ntuples"] == [{"path": "closed", "cycle": 1, "entries": 3000}]
    assert [lost["name"] for lost in report["lost_ntuples"]] == ["open"]
    assert not report["whole"]
    with uproot.open(out) as file:
        assert file["note"].member("fTitle") == "written first"
        assert file["closed"].arrays()["x"].tolist() == [i * 0.5 for i in range(3000)]
        assert "open" not in file
    text = basketry.run("recover", folder / "beside.root", "-o", out, "--force").out
    assert "RNTuple closed: 3,000 entries, whole" in text
    assert "RNTuple open (header at byte " in text


def test_an_rntuple_that_was_not_closed_is_named(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("killed_ntuples")
    outcome = basketry.run("recover", folder / "alone.root", "-o", tmp_path / "out.root")
    assert outcome.code == 2, str(outcome)
    assert "RNTuple open (header at byte " in outcome.err
    assert "was not closed and cannot be recovered" in outcome.err
    assert not list(tmp_path.iterdir())
