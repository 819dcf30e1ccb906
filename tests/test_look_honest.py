"""What verbs that look say of values that are not there, cannot be read, or are no finite numbers; what becomes of the
answer where a pipe is closed; and names that could pass for lines of the command. Values are never made up, and no
program takes an error for one."""

import csv
import io
import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.command import Basketry
from referee.paths import BINARY

MEMBERS = ("fX", "fY", "fZ")


def rows(text: str) -> list[dict[str, Any]]:
    """The records of JSON lines, whose keys must be different."""

    def record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in pairs}) == len(pairs), pairs
        return dict(pairs)

    return [json.loads(line, object_pairs_hook=record) for line in text.splitlines()]


@pytest.fixture(scope="module")
def old() -> Path:
    return make_files.made("branch_old") / "old.root"


def test_a_branch_without_baskets_has_the_values_below_it(old: Path, basketry: Basketry, tmp_path: Path) -> None:
    expected = [{"fX": n + 0.5, "fY": -float(n), "fZ": float(n * n)} for n in range(100)]
    with uproot.open(old) as file:
        assert file["t/bo/fZ"].array().tolist() == [one["fZ"] for one in expected]
    shown = rows(basketry("show", f"{old}:t", "bo", "--jsonl", "--entries", ":"))
    assert [{name: row[f"bo/{name}"] for name in MEMBERS} for row in shown] == expected
    columns = [one["name"] for one in basketry.json("schema", f"{old}:t")["columns"]]
    assert "bo" not in columns
    assert "p4/fE" in columns
    assert "whole" in columns
    basketry("convert", f"{old}:t", "-o", tmp_path / "old.parquet")
    table = pq.read_table(tmp_path / "old.parquet")
    by_member = {name: table[name].to_pylist() for name in MEMBERS}
    assert [dict(zip(MEMBERS, row, strict=True)) for row in zip(*by_member.values(), strict=True)] == expected
    tree = bk.open(f"{old}:t")
    found = tree["bo"].arrays(list(MEMBERS))
    assert ak.to_list(found) == expected
    assert tree["whole"].array().tolist() == expected
    # An RNTuple has the objects whole.
    basketry("rewrite", old, "-o", tmp_path / "ntuple.root", "--container", "rntuple")
    made = bk.open(f"{tmp_path / 'ntuple.root'}:t").arrays()
    assert made["bo"].tolist() == expected
    energies = [float(4 + n) for n in range(100)]
    assert made["p4"]["fE"].tolist() == energies
    basketry("rewrite", old, "-o", tmp_path / "tree.root", "--cluster", "30", "--compression", "zstd:1")
    with uproot.open(tmp_path / "tree.root") as file:
        assert file["t/bo/fY"].array().tolist() == [one["fY"] for one in expected]
    assert basketry("verify", old, tmp_path / "tree.root")


@pytest.fixture(scope="module")
def short() -> Path:
    """Branches `b`, `f`, `x`, `v` and `s` end at entry 40 of 60."""
    return make_files.made("entry_counts") / "early.root"


NOTE = "b: has 40 of 60 entries; the others have no value"


def test_entries_that_a_column_does_not_hold_have_no_value(short: Path, basketry: Basketry, tmp_path: Path) -> None:
    with uproot.open(short) as file:
        held = {name: file["t"][name].array().tolist() for name in ("a", "b", "f", "v")}
    assert (len(held["a"]), len(held["b"])) == (60, 40)
    wanted = ["a", "b", "f", "v"]
    outcome = basketry.run("show", f"{short}:t", *wanted, "--jsonl", "--entries", "35:45")
    assert outcome.code == 0
    assert outcome.err.count("40 of 60 entries") == 3
    assert f"warning: {NOTE}" in outcome.err
    for row in rows(outcome.out):
        at = row["entry"]
        assert row["a"] == held["a"][at]
        expected = {name: held[name][at] if at < 40 else None for name in ("b", "f", "v")}
        assert {name: row[name] for name in expected} == expected
    lines = basketry.run("show", f"{short}:t", "b", "--csv", "--entries", "39:41").out.splitlines()
    assert lines == ["entry,b", f"39,{held['b'][39]}", "40,"]
    assert f"note: {NOTE}" in basketry("show", f"{short}:t", "b", "--entries", "35:45")
    report = basketry.json("show", f"{short}:t", "b", "--entries", "35:45")
    assert report["notes"] == [NOTE]
    assert [row["values"][0] for row in report["rows"]] == held["b"][35:] + [None] * 5
    # Nothing is said, and nothing refused, where all entries are held.
    assert basketry.run("show", f"{short}:t", "b", "--csv", "--entries", "0:40").err == ""
    basketry("show", f"{short}:t", "b", "-o", tmp_path / "held.parquet", "--entries", "0:40")
    assert pq.read_table(tmp_path / "held.parquet")["b"].to_pylist() == held["b"]
    refused = basketry.refuses("show", f"{short}:t", "b", "-o", tmp_path / "all.parquet", "--entries", ":")
    assert NOTE in refused
    assert not (tmp_path / "all.parquet").exists()
    assert "b: has 40 of 60 entries" in basketry("convert", f"{short}:t", "-o", tmp_path / "all.parquet")


@pytest.mark.parametrize("entries", [None, "30:50", "10:20", ":45:2"])
def test_figures_are_those_of_what_is_held(short: Path, entries: str | None, basketry: Basketry) -> None:
    if entries == ":45:2":
        chosen, option = np.arange(0, 60, 2), ["--cut", "entry % 2 == 0"]
    else:
        start, stop = (0, 60) if entries is None else map(int, entries.split(":"))
        chosen, option = np.arange(start, stop), [] if entries is None else ["--entries", entries]
    with uproot.open(short) as file:
        numbers = file["t/b"].array().to_numpy()[chosen[chosen < 40]]
        items = ak.flatten(file["t/f"].array()[chosen[chosen < 40]]).to_numpy()
    found = basketry.json("stats", f"{short}:t", "a", "b", "f", *option)
    whole, one, array = found["columns"]
    missing = int(np.count_nonzero(chosen >= 40))
    assert (whole["missing"], one["missing"], array["missing"]) == (0, missing, missing)
    assert (one["values"], array["values"], one["nulls"]) == (len(numbers), len(items), 0)
    assert (one["min"], one["max"]) == (numbers.min(), numbers.max())
    assert math.isclose(one["mean"], numbers.mean())
    assert math.isclose(array["mean"], items.mean(dtype="f8"))
    assert (NOTE in found["notes"]) == (missing > 0)
    assert (f"note: {NOTE}" in basketry("stats", f"{short}:t", "b", *option)) == (missing > 0)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Entries 20 to 39 of `x` cannot be read."""
    path = tmp_path_factory.mktemp("honest") / "damaged.root"
    with bk.recreate(path, compression="zlib:1", cluster=20) as file:
        file["t"] = {"n": np.arange(100, dtype="i4"), "x": np.arange(100.0)}
    with uproot.open(path) as file:
        branch = file["t/x"]
        seek, size = branch.member("fBasketSeek")[1], branch.member("fBasketBytes")[1]
    data = bytearray(path.read_bytes())
    data[seek + size - 30 : seek + size - 10] = bytes(20)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_program_gets_no_error_as_a_value(form: str, damaged: Path, basketry: Basketry, tmp_path: Path) -> None:
    output = tmp_path / f"out.{form}"
    assert "damaged.root" in basketry.refuses("show", f"{damaged}:t", "-o", output, "--entries", ":")
    assert not output.exists()
    outcome = basketry.run("show", f"{damaged}:t", f"--{form}", "--entries", ":")
    assert outcome.code == 2
    assert len(outcome.err.splitlines()) == 1
    assert "unreadable" not in outcome.out
    # What is whole is whole.
    basketry("show", f"{damaged}:t", "-o", output, "--entries", ":20,40:")
    text = output.read_text()
    found = [int(row["n"]) for row in (csv.DictReader(io.StringIO(text)) if form == "csv" else rows(text))]
    assert found == [*range(20), *range(40, 100)]
    overflow = ["--define", "z=n*1000000000000000000"]
    outcome = basketry.run("show", f"{damaged}:t", "n", *overflow, "-o", tmp_path / f"z.{form}", "--entries", ":20")
    assert outcome.code == 2
    assert "64 bits" in outcome.err
    assert not (tmp_path / f"z.{form}").exists()


def test_people_see_why_a_cell_has_no_value_and_all_others(damaged: Path, basketry: Basketry) -> None:
    report = basketry.json("show", f"{damaged}:t", "--entries", ":")
    names = [column["name"] for column in report["columns"]]
    for row in report["rows"]:
        values = dict(zip(names, row["values"], strict=True))
        assert values["n"] == row["entry"]
        if 20 <= row["entry"] < 40:
            assert "unreadable" in values["x"]
        else:
            assert values["x"] == row["entry"]
    options = ["n", "--define", "z=n*1000000000000000000", "--entries", ":20"]
    report = basketry.json("show", f"{damaged}:t", *options)
    products = [row["values"][0] for row in report["rows"]]
    assert products[:10] == [n * 10**18 for n in range(10)]
    assert all("64 bits" in product["unreadable"] for product in products[10:])
    report = basketry.json("show", f"{damaged}:t", "x", "--define", "z=x+n", "--entries", ":")
    computed = [row["values"][0] for row in report["rows"]]
    assert computed[:20] + computed[40:] == [2.0 * n for n in (*range(20), *range(40, 100))]


def test_numbers_that_are_not_finite_have_one_form_in_json(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "odd.root"
    numbers = np.array([math.inf, 1.0, math.nan, -math.inf, 2.0])
    with bk.recreate(path) as file:
        file["t"] = {"x": numbers}
        file["h"] = (np.array([1.0, math.nan, math.inf, -math.inf]), np.arange(5.0))
    names = ["Infinity", 1.0, "NaN", "-Infinity", 2.0]
    assert [row["x"] for row in rows(basketry("show", f"{path}:t", "--jsonl"))] == names
    assert [row["values"][0] for row in basketry.json("show", f"{path}:t")["rows"]] == names
    [figures] = basketry.json("stats", f"{path}:t")["columns"]
    assert (figures["min"], figures["max"], figures["mean"]) == ("-Infinity", "Infinity", 1.5)
    [column] = bk.stats(f"{path}:t").columns
    assert (column.min, column.max) == (-math.inf, math.inf)
    contents = basketry.json("show", f"{path}:h")["histogram"]["contents"]
    assert contents[1:5] == [1.0, "NaN", "Infinity", "-Infinity"]
    bins = rows(basketry("show", f"{path}:h", "--jsonl"))
    assert "null" not in json.dumps([*contents, *bins])


def test_no_two_keys_of_a_record_are_alike(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "keys.root"
    with bk.recreate(path) as file:
        file["t"] = {"entry": np.arange(30, 33), "x": np.arange(3)}
    expected = [{"entry_number": n, "entry": 30 + n, "x": n} for n in range(3)]
    assert rows(basketry("show", f"{path}:t", "--jsonl")) == expected
    lines = list(csv.reader(io.StringIO(basketry("show", f"{path}:t", "--csv"))))
    assert lines == [["entry_number", "entry", "x"], *([str(n), str(30 + n), str(n)] for n in range(3))]
    with bk.recreate(path) as file:
        file["t"] = {"x": np.arange(3)}
    # A column that is defined may have the name of one that is stored.
    outcome = basketry.run("show", f"{path}:t", "x", "--define", "entry=x+5", "--jsonl")
    assert rows(outcome.out) == [{"entry_number": n, "entry": n + 5, "x": n} for n in range(3)]


def test_what_is_not_there_is_an_error_beside_what_is(basketry: Basketry, tmp_path: Path) -> None:
    path, other, bad = tmp_path / "a.root", tmp_path / "b.root", tmp_path / "bad.root"
    with bk.recreate(path) as file:
        file["t"] = {"x": np.arange(3)}
    with bk.recreate(other) as file:
        file["u"] = {"x": np.arange(3)}
    bad.write_bytes(b"no file of ROOT")
    assert "has no object T" in basketry.refuses("ls", f"{path}:t", f"{path}:T")
    assert "has no object T" in basketry.refuses("ls", f"{path}:T", f"{path}:t")
    # Of the files that are asked for the same, one suffices.
    basketry("ls", f"{path}:t", f"{other}:t")
    basketry("ls", f"{path}:t", f"{path}:T", "--allow-no-match")
    for missing in (bad, tmp_path / "missing.root"):
        outcome = basketry.run("ls", path, missing, other)
        assert outcome.code == 1
        assert missing.name in outcome.err
        assert [line.split()[0] for line in outcome.out.splitlines() if "TTree" in line] == ["t", "u"]
        basketry.refuses("ls", missing)
        assert basketry.run("ls", missing, missing).code == 2


def closed_pipe(*arguments: Any) -> int:
    """The exit code of the command where nobody reads what it prints."""
    reading, writing = os.pipe()
    os.close(reading)
    words = [str(BINARY), *map(str, arguments)]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.DEVNULL, timeout=120, check=False)
    os.close(writing)
    return done.returncode


def test_the_answer_outlives_a_closed_pipe(damaged: Path, basketry: Basketry, tmp_path: Path) -> None:
    other = tmp_path / "other.root"
    with bk.recreate(other) as file:
        file["t"] = {"n": np.arange(100, dtype="i8"), "x": np.arange(100.0)}
    unlike = tmp_path / "unlike.root"
    with bk.recreate(unlike) as file:
        file["t"] = {"n": np.arange(100, dtype="i8"), "x": np.arange(100.0) + 1}
    for arguments in (
        ("check", "--deep", damaged),
        ("check", "--deep", damaged, "--json"),
        ("schema", f"{damaged}:t", "--diff", other),
        ("schema", f"{damaged}:t", "--diff", other, "--json"),
        ("verify", other, unlike),
    ):
        code = basketry.run(*arguments).code
        assert code == 1, arguments
        assert closed_pipe(*arguments) == code, arguments
    assert closed_pipe("check", other) == 0
    assert closed_pipe("show", f"{other}:t", "--csv", "--entries", ":") == 0


def test_a_name_forges_no_line(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "names.root"
    tree = "t\x1b[31m\nfake: line\r"
    with bk.recreate(path, compression="none", cluster=10) as file:
        file[tree] = {"x": np.arange(20000, dtype="i4")}
    named = f"{path}:t*"
    for arguments in (
        ("inspect", path),
        ("inspect", path, "--writer"),
        ("stats", path),
        ("schema", path),
        ("show", path),
        ("convert", path, "-o", tmp_path / "names.parquet"),
        ("readspeed", path),
        ("rewrite", path, "-o", tmp_path / "names.root.out", "--dry-run"),
        ("rewrite", path, "-o", tmp_path / "out.root", "--cut", "x > 5"),
        ("count", path),
        ("ls", "-t", path),
        ("check", "--deep", path),
        ("draw", path, "x"),
        ("verify", path, tmp_path / "out.root"),
        ("show", named),
    ):
        outcome = basketry.run(*arguments)
        said = outcome.out + outcome.err
        assert "\x1b" not in said, arguments
        assert "\r" not in said, arguments
        assert not any(line.lstrip().startswith("fake") for line in said.splitlines()), f"{arguments}\n{said}"


@pytest.mark.parametrize("cut", [5, ["n > 1", "b"], ("n > 1",), True, b"n > 1"])
def test_a_cut_is_a_text(cut: Any, tmp_path: Path) -> None:
    path = tmp_path / "cut.root"
    with bk.recreate(path) as file:
        file["t"] = {"n": np.arange(3), "b": np.arange(3) > 1}
    tree = bk.open(f"{path}:t")
    for ask in (tree.arrays, tree.iterate):
        for wanted in (None, ["n"], ["n + 1"]):
            with pytest.raises(TypeError, match="cut is one expression, a text"):
                list(ask(wanted, cut=cut))
