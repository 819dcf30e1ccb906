"""`--keep` and `--drop` of members of records in RNTuples: records, collections of them, arrays, lists of collections.
What is written at any depth has these members and no others, by uproot, and `verify` compares these alone."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import uproot

import basketry as bk
from referee.command import Basketry

ENTRIES = 20
PAIR = pa.struct([("a", pa.float32()), ("b", pa.list_(pa.int32()))])
RECORD = pa.struct([("x", pa.float64()), ("n", pa.int32()), ("in", PAIR), ("ins", pa.list_(PAIR))])
TYPES = {"one": RECORD, "many": pa.list_(RECORD), "two": pa.list_(RECORD, 2), "deep": pa.list_(pa.list_(RECORD))}
MEMBERS = ["x", "in", "in.a", "in.b", "ins", "ins.a"]
#: How the file is written, and the options with which it is compared.
WAYS = [
    ([], []),
    (["--compression", "zstd:3"], []),
    (["--cluster", "5"], []),
    (["--cut", "id > 3"], ["--cut", "id > 3"]),
    ([], ["--by", "id"]),
    (["--cluster", "7"], ["--by", "id"]),
]


def record(entry: int) -> dict[str, Any]:
    """The values of a record."""
    inner = [{"a": 0.5 * number, "b": [entry, number]} for number in range(entry % 3)]
    return {"x": entry * 1.5, "n": entry, "in": {"a": float(entry), "b": [1] * (entry % 4)}, "ins": inner}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An RNTuple with records at all places."""
    values = [record(entry) for entry in range(ENTRIES)]
    columns = {
        "one": values,
        "many": [[value] * (value["n"] % 4) for value in values],
        "two": [[value, value] for value in values],
        "deep": [[[value] * 2] * (value["n"] % 3) for value in values],
    }
    arrays = {name: pa.array(column, TYPES[name]) for name, column in columns.items()}
    path = tmp_path_factory.mktemp("members") / "a.root"
    with bk.recreate(path) as out:
        out.mkrntuple("t", pa.table(arrays | {"id": pa.array(range(ENTRIES), pa.int32())}))
    return path


def only(value: Any, member: list[str], keeps: bool) -> Any:
    """Values with a member of their records alone, or without it."""
    if isinstance(value, list):
        return [only(item, member, keeps) for item in value]
    if not member or not isinstance(value, dict):
        return value
    name, rest = member[0], member[1:]
    if keeps:
        return {name: only(value[name], rest, keeps)}
    others = {own: one for own, one in value.items() if own != name}
    return others | {name: only(value[name], rest, keeps)} if rest else others


def values(path: Path, column: str) -> list[Any]:
    """The values of a column by uproot."""
    with uproot.open(path) as opened:
        found: list[Any] = opened["t"].arrays([column])[column].to_list()
    return found


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("column", list(TYPES))
@pytest.mark.parametrize("keeps", [True, False], ids=["keep", "drop"])
def test_members_are_kept_and_compared_alone(
    keeps: bool, column: str, member: str, file: Path, basketry: Basketry, tmp_path: Path
) -> None:
    path = f"{column}.{member}"
    words = ["--keep", path, "--keep", "id"] if keeps else ["--drop", path]
    whole = values(file, column)
    for written, compared in WAYS:
        out = tmp_path / "b.root"
        basketry("rewrite", file, "-o", out, "--force", *words, *written)
        first = 4 if "--cut" in written else 0
        assert values(out, column) == only(whole, member.split("."), keeps)[first:], (written, path)
        assert set(bk.open(out)["t"].arrays().fields) == ({column, "id"} if keeps else {*TYPES, "id"})
        basketry("verify", file, out, *words, *compared)
        # What the first side must have, and which of its entries, is said of the written file else.
        if keeps and "--cut" not in compared:
            basketry("verify", out, file, *words, *compared)
        if not compared:
            told = basketry.run("verify", file, out)
            assert told.code == 1, told
            assert "only the first side has it" in told.out, told


def test_values_that_differ_are_found_in_kept_members(basketry: Basketry, tmp_path: Path) -> None:
    first, second = tmp_path / "first.root", tmp_path / "second.root"
    for path, x in ((first, 1.0), (second, 2.0)):
        rows = [[{"x": x, "n": 7}], []]
        with bk.recreate(path) as out:
            out.mkrntuple("t", pa.table({"many": pa.array(rows, pa.list_(pa.struct([("x", "f8"), ("n", "i4")])))}))
    basketry("verify", first, second, "--keep", "many.n")
    assert basketry.run("verify", first, second, "--keep", "many.x").code == 1
    assert basketry.run("verify", first, second, "--drop", "many.n").code == 1


def test_inputs_with_other_members_are_joined_by_those_of_all(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    less, out = tmp_path / "less.root", tmp_path / "out.root"
    basketry("rewrite", file, "-o", less, "--drop", "many.x", "--drop", "deep.ins.b")
    basketry("merge", file, less, "-o", out, "--common")
    basketry("verify", "--common", file, less, out)
    whole = only(values(file, "many"), ["x"], False)
    assert values(out, "many") == whole * 2


def test_a_parquet_file_takes_fields_whole(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    report = basketry.json("convert", file, "-o", tmp_path / "a.parquet", "--keep", "many.x", "--keep", "id")
    assert [column["name"] for column in report["left_out"]] == ["many"]
    assert "members" in report["left_out"][0]["why"]
