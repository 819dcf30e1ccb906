"""`check`: whole files are whole, and damage is named: tree, branch and basket."""

import json
import resource
import struct
import subprocess
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


@pytest.fixture(scope="module")
def ntuple(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with an RNTuple of several clusters."""
    path = tmp_path_factory.mktemp("check") / "ntuple.root"
    basketry("generate", "nano", "--size", "300kB", "--cluster", "20", "--container", "rntuple", "-o", path)
    return path


def changed(path: Path, copy: Path, at: int) -> Path:
    """A copy with one byte changed."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    copy.write_bytes(content)
    return copy


def test_damage_of_an_rntuple_is_named(basketry: Basketry, ntuple: Path, tmp_path: Path) -> None:
    fields = basketry.json("inspect", "--baskets", ntuple)["ntuples"][0]["fields"]
    pages = [(field["path"], page) for field in fields for column in field["columns"] for page in column["page_list"]]
    path, page = max(pages, key=lambda one: int(one[1]["bytes"]))
    damaged = changed(ntuple, tmp_path / "page.root", page["seek"] + page["bytes"] // 2)
    assert checked(basketry, damaged)[1]["whole"]
    (problem,) = checked(basketry, damaged, "--deep")[1]["files"][0]["problems"]
    assert (problem["object"], problem["field"], problem["cluster"]) == ("Events;1", path, page["cluster"])
    assert "checksum" in problem["reason"]


def test_a_damaged_envelope_is_found_by_its_checksum(basketry: Basketry, ntuple: Path, tmp_path: Path) -> None:
    with uproot.open(ntuple) as opened:
        anchor = opened["Events"]
        places = {"header": anchor.member("fSeekHeader"), "footer": anchor.member("fSeekFooter")}
    for name, at in places.items():
        found = checked(basketry, changed(ntuple, tmp_path / f"{name}.root", at + 40))[1]["files"][0]
        assert found["condition"] == "damaged"
        assert found["problems"][0]["object"] == "Events;1"


def test_real_files_are_whole_unless_they_were_not_closed(basketry: Basketry, corpus: Path) -> None:
    _, found = checked(basketry, *sorted((corpus / "files").glob("*.root")), "--deep")
    for file in found["files"]:
        if file["condition"] != "ok":
            reasons = [problem["reason"] for problem in file["problems"]]
            assert all("cut short" in reason or "not closed" in reason for reason in reasons), file
            end = struct.unpack(">i", Path(file["path"]).read_bytes()[12:16])[0]
            closed = end <= file["bytes"] and "not closed" not in reasons[0]
            assert not closed, file


def test_thousands_of_files_take_few_descriptors(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    for n in range(300):
        (tmp_path / f"{n:03}.root").hardlink_to(made)
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join(str(path) for path in sorted(tmp_path.glob("*.root"))))

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    command: list[str | Path] = [basketry.binary, "check", f"@{listed}", "--json", "-j", "4"]
    done = subprocess.run(command, preexec_fn=few, capture_output=True, check=True)
    assert json.loads(done.stdout)["ok"] == 300
