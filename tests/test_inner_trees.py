"""Trees in a tree's user info: real ROOT reads them from basketry's output, by value."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee import make_files, paths
from referee.command import Basketry

# The process exits at once: ROOT deletes a user info with a tree of the file itself twice.
LOOK = """
import json, os, sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get(sys.argv[2])
def value(thing):
    if thing.InheritsFrom("TTree"):
        thing.SetDirectory(file)
        return [[getattr(event, sys.argv[3]) for event in thing], thing.GetEntries()]
    if thing.InheritsFrom("TList"):
        return [value(item) for item in thing]
    if thing.InheritsFrom("TH1"):
        return [thing.GetBinContent(i) for i in range(thing.GetNcells())]
    return [thing.ClassName(), thing.GetName(), thing.GetTitle()]
items = tree if tree.InheritsFrom("TList") else tree.GetUserInfo()
found = [[item.ClassName(), item.GetName(), value(item)] for item in items]
print(json.dumps(found), flush=True)
os._exit(0)
"""


def user_info(path: Path, tree: str, branch: str = "c") -> list[Any]:
    """The user info of a tree, by ROOT."""
    command = [sys.executable, "-W", "ignore", "-c", LOOK, str(path), tree, branch]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    read: list[Any] = json.loads(found.stdout.splitlines()[-1])
    return read


@pytest.mark.parametrize("words", [(), ("--compression", "zstd:3", "--cluster", "100")])
def test_inner_trees_are_carried_over(basketry: Basketry, tmp_path: Path, words: tuple[str, ...]) -> None:
    source, out, merged = make_files.made("inner_trees") / "inner.root", tmp_path / "out.root", tmp_path / "merged.root"
    expected = user_info(source, "tree")
    assert expected[0][2] == [list(range(3000)), 3000]
    basketry("rewrite", source, "-o", out, *words)
    basketry("verify", source, out)
    assert user_info(out, "tree") == expected
    # The second rewrite takes the first output as its input.
    basketry("merge", out, source, "-o", merged, *words)
    assert user_info(merged, "tree") == expected
    basketry("verify", out, source, merged)


def test_trees_in_a_list_are_carried_over(basketry: Basketry, tmp_path: Path) -> None:
    source, out = make_files.made("inner_trees") / "inner.root", tmp_path / "out.root"
    expected = user_info(source, "key")
    assert expected[0][2] == [list(range(3000)), 3000]
    makings: list[list[str | Path]] = [
        ["rewrite", source],
        ["rewrite", source, "--compression", "lz4:4"],
        ["merge", source, source],
    ]
    for words in makings:
        basketry(*words, "-o", out, "-f")
        basketry("verify", *[word for word in words[1:] if word == source], out)
        assert user_info(out, "key") == expected

    # The merge keeps objects that it cannot merge.
    assert user_info(out, "key;1") == expected


def test_inner_trees_are_compared(basketry: Basketry, tmp_path: Path) -> None:
    source, out = make_files.made("inner_trees") / "inner.root", tmp_path / "out.root"
    basketry("rewrite", source, "-o", out)
    data = bytearray(out.read_bytes())
    # The inner tree's own baskets are the last records of that name.
    at = data.rfind(b"\x07TBasket\x01c\x05saved")
    data[at + 40] ^= 1
    out.write_bytes(data)
    outcome = basketry.run("verify", source, out)

    assert outcome.code == 1
    assert "user info differ" in outcome.out


def test_a_tree_in_the_user_info_does_not_block_the_file(basketry: Basketry, tmp_path: Path) -> None:
    source, out = paths.CORPUS / "found" / "treeinside.root", tmp_path / "out.root"
    if not source.is_file():
        pytest.skip(f"no {source}")
    for verb in ["rewrite", "merge", "tune", "recover"]:
        outcome = basketry.run(verb, source, "-o", out, "-f")
        # A layout of forty bytes may be as good as any other.
        undecided = verb == "tune" and "nothing was written" in outcome.out
        assert outcome.code == 0 or undecided, str(outcome)
        assert user_info(out, "t") == user_info(source, "t")
    basketry("verify", source, out)
