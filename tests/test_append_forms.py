"""Appending to files and tables of rarer forms: files beyond 2 GB, RNTuples with late fields or with columns of several
representations, trees with a branch in another file, an unflushed tree, friends. Real ROOT reads every entry."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import basketry as bk
from referee import make_files
from referee.command import Basketry
from referee.frames_as_lists import read_by_root
from test_append import MAKE, joined, root_reads, trees_of
from test_edit import by_root, is_whole

#: Where positions stop to fit into keys with four bytes.
BIG = 2_000_000_000
#: Lets a file go on at a position, behind a hole that takes no space on disk.
LEAP = """
import struct
def leap(path, to):
    file = ROOT.TFile(path, "UPDATE")
    end = file.GetEND()
    file.Seek(end)
    file.WriteBuffer(struct.pack(">i", end - to), 4)
    file.GetListOfFree().Last().SetFirst(to)
    file.SetEND(to)
    file.SetCompressionLevel(0)
    # No gap before the hole has room for it.
    ROOT.TNamed("behind", "the hole" + " " * 40_000).Write()
    file.Close()
"""


def sparse_copy(source: Path, target: Path) -> Path:
    """A copy with the holes of a file."""
    subprocess.run(["cp", "--sparse=always", source, target], check=True)
    return target


@pytest.mark.parametrize("to", [BIG - 50_000, BIG + 200_000_000], ids=["growing beyond 2 GB", "beyond 2 GB"])
def test_a_file_beyond_2_gb_is_extended(to: int, basketry: Basketry, tmp_path: Path) -> None:
    first, second = tmp_path / "first.root", tmp_path / "second.root"
    target = tmp_path / "target.root"
    by_root(f"{MAKE}\n{LEAP}\nmake('{first}', 0, 200); make('{second}', 1000, 150)\n")
    shutil.copy(first, target)
    by_root(f"{LEAP}\nleap('{target}', {BIG // 2})\nleap('{target}', {to})")

    basketry("merge", second, "-o", target, "--append")

    is_whole(basketry, target)
    assert target.stat().st_size > BIG
    assert trees_of(target) == joined(first, second)
    whole = tmp_path / "whole.root"
    basketry("merge", first, second, "-o", whole, "--pack", "0B")
    expected, found = root_reads(whole, target)
    assert {**found, "keys": None} == {**expected, "keys": None}
    # And so are all other changes, which use the gaps below and beyond.
    with bk.update(target) as file:
        file["folder/small"].extend({"x": np.array([7, 8], "i4")})
        file["new/note"] = "beyond"
    basketry("mv", f"{target}:folder/h", f"{target}:other/h")
    basketry("cp", f"{target}:t", f"{target}:copy")
    basketry("rm", f"{target}:r")
    is_whole(basketry, target)
    said = by_root(f"""
        file = ROOT.TFile("{target}")
        print(file.Get("other/h").GetEntries(), file.Get("new/note"), file.Get("copy").GetEntries())
        print([entry.x for entry in file.Get("folder/small")][-3:], file.Get("behind").GetTitle().strip())
        file.Close()
        # ROOT goes on there.
        file = ROOT.TFile("{target}", "UPDATE")
        ROOT.TNamed("by", "ROOT").Write()
        file.Close()
    """)
    assert said.splitlines() == ["2.0 beyond 350", "[1149, 7, 8] the hole"]
    is_whole(basketry, target)


def test_baskets_on_both_sides_of_2_gb_are_extended(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("beyond_2gb") / "beyond.root"
    target = sparse_copy(source, tmp_path / "target.root")

    basketry("merge", source, "-o", target, "--append")

    is_whole(basketry, target)
    read = f"""
        file = ROOT.TFile("{target}")
        tree = file.Get("tree")
        for number, entry in enumerate(tree):
            i = number % 4000
            assert (entry.i, entry.n, len(entry.jagged)) == (i, i % 10, i % 10), number
            assert all(abs(value - i - 0.1 * k) < 1e-3 for k, value in enumerate(entry.jagged)), number
        print(number)
    """
    assert by_root(read) == "7999"


#: Makes RNTuples, of which some fields come late, in clusters of 100 entries.
LATE = """
ROOT.gInterpreter.Declare('''
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
void make_late(const char *path, int first, int count, int from) {
  auto model = ROOT::RNTupleModel::Create();
  auto number = model->MakeField<int>("number");
  std::shared_ptr<float> late;
  std::shared_ptr<std::vector<int>> list;
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "r", path);
  for (int i = 0; i < count; ++i) {
    if (i == from) {
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate();
      late = updater->MakeField<float>("late");
      list = updater->MakeField<std::vector<int>>("list");
      updater->CommitUpdate();
    }
    *number = first + i;
    if (late) { *late = first + i + 0.5f; list->assign(i % 3, first + i); }
    writer->Fill();
    if (i % 100 == 99) writer->CommitCluster();
  }
}
''')
"""


def late_entries(first: int, count: int, start: int) -> list[list[Any]]:
    """The entries that the program above writes."""
    return [
        [first + i, first + i + 0.5, [first + i] * (i % 3)] if i >= start else [first + i, 0, []] for i in range(count)
    ]


def ntuple_by_root(path: Path, columns: list[str]) -> list[list[Any]]:
    """The entries of the RNTuple `r`, by RDataFrame."""
    found = read_by_root(path, "r", columns)
    return [list(entry) for entry in zip(*(found[name] for name in columns), strict=True)]


@pytest.mark.parametrize("starts", [(150, 0), (150, 70), (100, 250), (0, 0)])
def test_an_rntuple_with_late_fields_is_extended(starts: tuple[int, int], basketry: Basketry, tmp_path: Path) -> None:
    target, more = tmp_path / "target.root", tmp_path / "more.root"
    calls = "\n".join(
        f"ROOT.make_late('{path}', {first}, 300, {start})"
        for path, first, start in zip((target, more), (0, 1000), starts, strict=True)
    )
    by_root(f"{LATE}\n{calls}")
    expected = late_entries(0, 300, starts[0]) + late_entries(1000, 300, starts[1]) * 2

    for _ in range(2):
        basketry("merge", more, "-o", target, "--append")

    is_whole(basketry, target)
    assert ntuple_by_root(target, ["number", "late", "list"]) == expected
    with bk.update(target) as file:
        file["r"].extend({"number": np.array([7], "i4"), "late": np.array([7.5], "f4"), "list": [[1, 2]]})
    is_whole(basketry, target)
    assert ntuple_by_root(target, ["number", "late", "list"]) == [*expected, [7, 7.5, [1, 2]]]


def test_fields_that_an_rntuple_lacks_come_late(basketry: Basketry, tmp_path: Path) -> None:
    target, more = tmp_path / "target.root", tmp_path / "more.root"
    by_root(f"{LATE}\nROOT.make_late('{target}', 0, 250, 999)\nROOT.make_late('{more}', 1000, 120, 50)")
    assert "--fill" in basketry.refuses("merge", more, "-o", target, "--append")

    basketry("merge", more, "-o", target, "--append", "--fill")

    is_whole(basketry, target)
    expected = late_entries(0, 250, 999) + late_entries(1000, 120, 50)
    assert ntuple_by_root(target, ["number", "late", "list"]) == expected


def test_columns_of_several_representations_are_extended(basketry: Basketry, tmp_path: Path) -> None:
    numbers = {name: np.arange(first, first + 400) for name, first in (("split", 0), ("plain", 400), ("half", 800))}
    files = {name: tmp_path / f"{name}.root" for name in numbers}
    for name, array in numbers.items():
        with bk.recreate(files[name], encoding="plain" if name == "plain" else "split") as file:
            file.mkrntuple("r", {"number": array, "real": (0.5 * array).astype("f4")})
    target = tmp_path / "target.root"
    basketry("merge", files["split"], files["plain"], "-o", target)
    [ntuple] = basketry.json("inspect", target)["ntuples"]
    assert [len(field["columns"]) for field in ntuple["fields"]] == [2, 2]
    order = ["split", "plain"]

    for name in ("plain", "half", "split", "plain"):
        basketry("merge", files[name], "-o", target, "--append")
        order.append(name)

        is_whole(basketry, target)
        expected = [[int(number), 0.5 * int(number)] for one in order for number in numbers[one]]
        assert ntuple_by_root(target, ["number", "real"]) == expected


def test_a_branch_in_another_file_is_extended(basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("external_branch")
    for name in ("external.root", "external_far.root"):
        shutil.copy(folder / name, tmp_path)
    target, far = tmp_path / "external.root", tmp_path / "external_far.root"
    had = far.read_bytes()

    basketry("merge", folder / "external.root", "-o", target, "--append")

    is_whole(basketry, target)
    assert far.read_bytes() == had
    read = f"""
        file = ROOT.TFile("{target}")
        found = [(entry.i, entry.far, entry.near) for entry in file.Get("tree")]
        print(found == [(i, i * 0.5, i * 0.25) for i in range(1000)] * 2)
    """
    assert by_root(read) == "True"


def test_friends_that_no_longer_align_are_left_out(basketry: Basketry, tmp_path: Path) -> None:
    target, more, friend = (tmp_path / f"{name}.root" for name in ("target", "more", "friend"))
    for path, first in ((target, 0), (more, 10), (friend, 100)):
        with bk.recreate(path) as file:
            file["t"] = {"f" if path == friend else "x": np.arange(first, first + 5)}
    by_root(f"""
        file = ROOT.TFile("{target}", "UPDATE")
        tree = file.Get("t")
        tree.AddFriend("t", "{friend}")
        tree.Write("", ROOT.TObject.kOverwrite)
        file.Close()
    """)

    said = basketry("merge", more, "-o", target, "--append")

    is_whole(basketry, target)
    read = f"""
        file = ROOT.TFile("{target}")
        tree = file.Get("t")
        print([entry.x for entry in tree], len(tree.GetListOfFriends() or []))
    """
    assert by_root(read) in ("[0, 1, 2, 3, 4, 10, 11, 12, 13, 14] 0", "[0, 1, 2, 3, 4, 10, 11, 12, 13, 14] 1")
    print(said)
