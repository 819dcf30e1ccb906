"""A branch whose baskets lie in an absent file: only this branch is unreadable."""

import json
from pathlib import Path

import pytest
import uproot

from referee import make_files
from referee.command import Basketry
from servers.odd import OddServer


@pytest.fixture
def tree_file(tmp_path: Path) -> Path:
    """The tree's file, without the file of branch `far`."""
    copy = tmp_path / "external.root"
    copy.write_bytes((make_files.made("external_branch") / "external.root").read_bytes())
    return copy


def test_other_branches_stay_readable(basketry: Basketry, tree_file: Path) -> None:
    report = json.loads(basketry("readspeed", tree_file, "--json"))
    assert {column["name"] for column in report["columns"]} == {"i", "near"}
    assert any("branch far is not read" in note and "external_far.root" in note for note in report["notes"])
    outcome = basketry.run("readspeed", tree_file, "--branches", "far")

    assert outcome.code == 2
    assert "external_far.root" in outcome.err
    assert json.loads(basketry("inspect", tree_file, "--json"))["trees"][0]["entries"] == 1000
    assert absent_branches(basketry, tree_file) == ["far"]


def test_a_rewrite_names_the_branch_and_the_option_that_helps(
    basketry: Basketry, tree_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    refused = basketry.run("rewrite", tree_file, "-o", out)
    assert refused.code == 2
    assert not out.exists()
    assert "branch far" in refused.err
    assert "--skip-absent" in refused.err
    for verb, words, factor in [("rewrite", [], 1), ("merge", [tree_file], 2)]:
        said = basketry(verb, tree_file, *words, "-o", out, "-f", "--skip-absent")
        assert "branch far is left out" in said
        with uproot.open(out) as file:
            assert file["tree"].keys() == ["i", "near"]
            assert list(file["tree/near"].array()) == [i * 0.25 for i in range(1000)] * factor


def test_verify_names_branches_that_it_cannot_compare(basketry: Basketry, tree_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("rewrite", tree_file, "-o", out, "--skip-absent")
    outcome = basketry.run("verify", tree_file, out, "--json")
    assert outcome.code == 1
    differences = json.loads(outcome.out)["differences"]
    assert [difference["branch"] for difference in differences] == ["far"]
    assert "cannot be compared" in differences[0]["what"]
    basketry("verify", "--common", tree_file, out)


def test_a_relative_path_starts_at_the_folder_of_the_tree(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("external_branch")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ["external.root", "external_far.root"]:
        (folder / name).write_bytes((source / name).read_bytes())
    basketry("rewrite", folder / "external.root", "-o", tmp_path / "out.root")

    with uproot.open(tmp_path / "out.root") as file:
        assert list(file["tree/far"].array()) == [i * 0.5 for i in range(1000)]


def absent_branches(basketry: Basketry, url: str | Path) -> list[str]:
    """What `inspect` says is in an absent file."""
    branches = basketry.json("inspect", url)["trees"][0]["branches"]
    return [branch["name"] for branch in branches if branch.get("absent")]


def test_baskets_beside_a_url(basketry: Basketry, odd_server: OddServer, tmp_path: Path) -> None:
    source = make_files.made("external_branch")
    url = odd_server.put("external.root", (source / "external.root").read_bytes())
    alone = basketry.within(BASKETRY_REMOTE_RETRIES="0").refuses("rewrite", f"{url}?a=b", "-o", tmp_path / "out.root")
    assert "branch far: its baskets are in another file, " in alone
    assert "external_far.root: the server replies 404" in alone
    odd_server.forget()
    # It looks for no other file on a server.
    assert absent_branches(basketry, url) == []
    assert {request.path for request in odd_server.requests} == {"/external.root"}

    odd_server.put("external_far.root", (source / "external_far.root").read_bytes())
    basketry("rewrite", f"{url}?a=b", "-o", tmp_path / "out.root")

    assert {request.query for request in odd_server.requests if "far" in request.path} == {"a=b"}
    with uproot.open(tmp_path / "out.root") as file:
        assert list(file["tree/far"].array()) == [i * 0.5 for i in range(1000)]
