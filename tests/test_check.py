"""`check`: whole files are whole, and damage is named: tree, branch and basket."""

import json
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee.command import Basketry


def checked(basketry: Basketry, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit code and the report."""
    outcome = basketry.run("check", "--json", *arguments)
    assert outcome.code in (0, 1), outcome
    return outcome.code, json.loads(outcome.out)


@pytest.mark.parametrize("deep", [(), ("--deep",)])
def test_a_whole_file_is_whole(basketry: Basketry, made: Path, deep: tuple[str, ...]) -> None:
    code, report = checked(basketry, made, *deep)

    (file,) = report["files"]
    assert (code, report["whole"], file["condition"], file["problems"]) == (0, True, "ok", [])
    with uproot.open(made) as theirs:
        assert file["uuid"] == str(theirs.file.uuid)
        assert file["entries"] == theirs["dir/t"].num_entries
    assert (file["bytes_decompressed"] > 0) == bool(deep)


def test_a_damaged_basket_is_named(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    with uproot.open(made) as file:
        branch = file["dir/t"]["i"]
        seek, nbytes = int(branch.member("fBasketSeek")[2]), int(branch.member("fBasketBytes")[2])
    data = bytearray(made.read_bytes())
    middle = seek + nbytes // 2
    data[middle : middle + 64] = bytes(64)
    path = tmp_path / "damaged.root"
    path.write_bytes(data)

    code, report = checked(basketry, path, "--deep")

    assert code == 1
    problem = report["files"][0]["problems"][0]
    assert (problem["object"], problem["branch"], problem["basket"], problem["offset"]) == ("dir/t;1", "i", 2, seek)


def test_a_damaged_header_of_a_basket_needs_no_deep_check(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    with uproot.open(made) as file:
        seek = int(file["dir/t"]["i"].member("fBasketSeek")[1])
    data = bytearray(made.read_bytes())
    data[seek : seek + 4] = b"\0\0\0\1"
    path = tmp_path / "damaged.root"
    path.write_bytes(data)

    code, report = checked(basketry, path)

    problem = report["files"][0]["problems"][0]
    assert (code, problem["branch"], problem["basket"], problem["offset"]) == (1, "i", 1, seek)


def test_missing_and_foreign_files_are_results(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    foreign, cut = tmp_path / "text.root", tmp_path / "cut.root"
    foreign.write_text("no ROOT file")
    cut.write_bytes(made.read_bytes()[:-200])

    code, report = checked(basketry, made, foreign, tmp_path / "none.root", cut, made)

    conditions = [file["condition"] for file in report["files"]]
    assert conditions[:3] == ["ok", "unreadable", "unreadable"]
    assert conditions[3] != "ok"
    assert conditions[4] == "ok"
    assert (code, report["ok"]) == (1, 2)
    assert all(file["problems"] for file in report["files"][1:4])


def test_the_report_does_not_depend_on_threads(basketry: Basketry, made: Path) -> None:
    files = [made] * 20
    reports = [checked(basketry, *files, "--deep", "--threads", str(threads))[1] for threads in (1, 4)]
    assert reports[0] == reports[1]
