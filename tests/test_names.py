"""Names with control characters are printed as codes, and stay unchanged in files and JSON.
merge makes no lists that are nested too deeply for verify."""

import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import uproot

from referee import make_files, paths
from referee.command import Basketry

HIDDEN = {0xAD, 0x61C, 0x180E, 0x2028, 0x2029, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0xFEFF}


def controls(text: str) -> set[str]:
    """Characters that act on a terminal, and are neither line breaks nor tabs."""
    return {c for c in text if c not in "\n\t" and (unicodedata.category(c) == "Cc" or ord(c) in HIDDEN)}


@pytest.fixture(params=["made", "found"])
def hostile(request: pytest.FixtureRequest) -> Path:
    """A file with such names."""
    if request.param == "made":
        return make_files.made("names") / "names.root"
    path = paths.CORPUS / "found" / "names.root"
    if not path.is_file():
        pytest.skip(f"no {path}")
    return path


def test_no_control_character_is_printed(basketry: Basketry, hostile: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out.root", tmp_path / "other.root"
    runs: list[list[str | Path]] = [
        ["inspect", hostile],
        ["inspect", hostile, "--all"],
        ["rewrite", hostile, "-o", out, "--cluster", "50"],
        ["rewrite", hostile, "-o", out, "--dry-run", "--compression", "zstd:3"],
        ["merge", hostile, hostile, "-o", other],
        ["verify", hostile, out],
        ["verify", hostile, other],
        ["readspeed", hostile],
        ["tune", hostile],
        ["recover", hostile, "-o", tmp_path / "recovered.root"],
        ["convert", hostile, "-o", tmp_path / "out.parquet"],
        ["sweep", hostile, "-o", tmp_path / "sweep", "--grid", "basket=2kB,8kB", "--repeat", "1", "--only", "copy"],
        ["sweep", "show", tmp_path / "sweep"],
        ["hadd", "-f", tmp_path / "hadd.root", hostile, hostile],
        ["verify", f"{hostile}:no\x1b[1m", out],
    ]
    seen = ""
    for words in runs:
        outcome = basketry.run(*words)
        assert not controls(outcome.out + outcome.err), str(outcome)
        assert not outcome.timed_out
        seen += outcome.out

    assert "\\u{1b}" in seen


def test_a_watched_command_is_printed_without_control_characters(basketry: Basketry, tmp_path: Path) -> None:
    outcome = basketry.run("monitor", "-o", tmp_path / "job.root", "--", "sh", "-c", "true # \x1b[31m\u202e")
    assert outcome.code == 0, str(outcome)
    assert not controls(outcome.out + outcome.err)
    assert "exit code 0" in outcome.err


def test_json_and_outputs_keep_the_names(basketry: Basketry, tmp_path: Path) -> None:
    source, out = make_files.made("names") / "names.root", tmp_path / "out.root"
    text = basketry("inspect", source, "--json")
    assert not {c for c in text.rstrip("\n") if unicodedata.category(c) == "Cc"}
    report = json.loads(text)
    names = {branch["name"] for branch in report["trees"][0]["branches"]}
    assert {"esc\x1b[31mred", "c1\x9b2J", "new\nline"} <= names
    basketry("rewrite", source, "-o", out)
    basketry("verify", source, out)

    with uproot.open(source) as before, uproot.open(out) as after:
        assert sorted(before.keys()) == sorted(after.keys())


def test_names_of_trees_are_not_patterns(basketry: Basketry, tmp_path: Path) -> None:
    source, name = tmp_path / "source.root", "t[*?{"
    with uproot.recreate(source) as file:
        file.mktree(name, {"x": np.int32}).extend({"x": np.arange(1000, dtype=np.int32)})
    words: list[str | Path] = [
        "-o",
        tmp_path / "sweep",
        "--grid",
        "basket=2kB,8kB",
        "--repeat",
        "1",
        "--only",
        "copy,full",
    ]
    assert len(basketry.json("sweep", source, *words)["lines"]) == 3
    for verb in ("rewrite", "tune", "merge"):
        basketry.run(verb, source, "-o", tmp_path / f"{verb}.root")
    basketry("verify", source, tmp_path / "rewrite.root")

    assert name in basketry("inspect", tmp_path / "merge.root")


def test_a_table_has_one_line_for_each_name(basketry: Basketry) -> None:
    lines = basketry("inspect", make_files.made("names") / "names.root", "--all").splitlines()
    assert sum(line.startswith("new\\nline") for line in lines) == 1


@pytest.mark.parametrize("depth", [20, 90, 300])
def test_verify_reads_lists_as_deep_as_merge_writes(basketry: Basketry, tmp_path: Path, depth: int) -> None:
    source, out = make_files.made("names") / f"deep{depth}.root", tmp_path / "out.root"
    said = basketry("merge", source, source, source, "-o", out)
    assert ("all are kept as cycles" in said) == (depth > 100)
    basketry("verify", source, source, source, out)
    basketry("merge", out, source, "-o", tmp_path / "again.root")
    basketry("verify", out, source, tmp_path / "again.root")


def test_the_deep_list_of_the_corpus_is_merged(basketry: Basketry, tmp_path: Path) -> None:
    source, out = paths.CORPUS / "found" / "deeplist.root", tmp_path / "out.root"
    if not source.is_file():
        pytest.skip(f"no {source}")
    basketry("merge", source, source, "-o", out)
    basketry("verify", source, source, out)
