"""Parquet files as a container like others: they are rewritten, merged, selected from and refused as trees and RNTuples
are. What is in them is told by pyarrow, what becomes of it by ROOT and uproot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee.command import Basketry
from referee.root_server import RootServer

CONTAINERS = ("ttree", "rntuple")
ENTRIES = 1000


def records(count: int = ENTRIES) -> pa.Table:
    """Columns of every kind: numbers, texts, times, dictionaries, nested lists, records and lists of them."""
    random = np.random.default_rng(1)
    lengths = random.poisson(2, count)
    jets = ak.zip({"pt": random.normal(size=lengths.sum()).astype("f4"), "id": np.arange(lengths.sum(), dtype="i2")})
    return pa.table(
        {
            "run": pa.array(np.arange(count) // 10, pa.uint32()),
            "x": pa.array(random.normal(size=count)),
            "odd": pa.array([number % 2 == 1 for number in range(count)]),
            "when": pa.array(np.arange(count), pa.timestamp("ms")),
            "name": pa.array([f"n{number % 7}" for number in range(count)]).dictionary_encode(),
            "text": pa.array(["y" * (number % 9) for number in range(count)]),
            "deep": pa.array([[[1.0] * (number % 3), []] for number in range(count)]),
            "jets": ak.to_arrow(ak.unflatten(jets, lengths), extensionarray=False),
            "cube": pa.array(np.arange(2 * count).reshape(-1, 2).tolist(), pa.list_(pa.int16(), 2)),
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return records()


@pytest.fixture(scope="module")
def file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four row groups, the last of them shorter."""
    path = tmp_path_factory.mktemp("parquet") / "t.parquet"
    pq.write_table(table, path, row_group_size=300)
    return path


def expected(table: pa.Table) -> dict[str, Any]:
    """The values of the columns that a table becomes."""
    values = {name: table[name].to_pylist() for name in ("run", "x", "odd", "name", "text", "deep", "cube")}
    values["when"] = table["when"].cast(pa.int64()).to_pylist()
    for part in ("pt", "id"):
        values[f"jets_{part}"] = [[jet[part] for jet in jets] for jets in table["jets"].to_pylist()]
    return values


def check(path: Path, values: dict[str, Any]) -> None:
    with uproot.open(f"{path}:Events") as found:
        arrays = found.arrays(list(values))
        for name, wanted in values.items():
            assert arrays[name].tolist() == wanted, name


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_becomes_a_tree_or_an_rntuple(
    file: Path, table: pa.Table, container: str, threads: int, tmp_path: Path, root_values: RootServer
) -> None:
    done = bk.rewrite(file, tmp_path / "out.root", container=container, threads=threads)
    assert (done.tables[0].entries, done.tables[0].container) == (ENTRIES, container)
    assert done.notes == ("when: times, written as whole numbers: Milliseconds since 1970",)

    check(tmp_path / "out.root", expected(table))
    # A row group is a cluster, and convert is another word for it.
    assert done.tables[0].clusters == 4
    bk.convert(file, tmp_path / "converted.root", container=container, threads=threads)
    assert bk.verify(tmp_path / "out.root", tmp_path / "converted.root").equal
    if container == "ttree":
        assert root_values.of(tmp_path / "out.root")["trees"]["Events"]["branches"]


@pytest.mark.parametrize("container", CONTAINERS)
def test_files_are_merged_and_entries_and_columns_selected(
    file: Path, table: pa.Table, container: str, tmp_path: Path
) -> None:
    more = records(70)
    # The order of columns and further columns do not matter.
    columns = [*reversed(more.column_names), "further"]
    pq.write_table(more.append_column("further", pa.array(range(70))).select(columns), tmp_path / "more.parquet")
    both = pa.concat_tables([table.combine_chunks().unify_dictionaries(), more]).to_pydict()
    inputs = [file, tmp_path / "more.parquet"]
    output = tmp_path / "out.root"

    bk.merge(inputs, output, container=container, drop="jets")
    check(output, {name: both[name] for name in ("run", "x", "odd", "name", "text", "deep", "cube")})

    bk.rewrite(inputs, output, container=container, keep=["x", "text"], entries="290:310,990:1010", force=True)
    numbers = [*range(290, 310), *range(990, 1010)]
    check(output, {name: [both[name][number] for number in numbers] for name in ("x", "text")})
    with uproot.open(f"{output}:Events") as found:
        assert set(found.keys()) == {"x", "text"}

    bk.rewrite(inputs, output, container=container, keep="run", where="odd", force=True)
    check(output, {"run": [run for run, odd in zip(both["run"], both["odd"], strict=True) if odd]})


def test_layouts_and_the_plan(file: Path, table: pa.Table, basketry: Basketry, tmp_path: Path) -> None:
    done = bk.rewrite(file, tmp_path / "out.root", cluster=100, compression="lz4:4", split_level=0)
    assert done.tables[0].clusters == 10
    check(tmp_path / "out.root", expected(table))
    plan = json.loads(basketry("rewrite", file, "-o", tmp_path / "planned.root", "--dry-run", "--json"))
    assert plan["tables"][0]["entries"] == ENTRIES
    assert [column["name"] for column in plan["tables"][0]["columns"]] == table.column_names
    assert not (tmp_path / "planned.root").exists()
    # The least memory that is named is enough.
    message = basketry.refuses("rewrite", file, "-o", tmp_path / "small.root", "--memory", "1MB")
    least = message.split("--memory ")[1].split(" ")[0]
    basketry("rewrite", file, "-o", tmp_path / "small.root", "--memory", least, "-q")
    check(tmp_path / "small.root", expected(table))


@pytest.mark.parametrize("container", CONTAINERS)
def test_files_without_entries(table: pa.Table, container: str, tmp_path: Path) -> None:
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    with pq.ParquetWriter(tmp_path / "none.parquet", table.schema):
        pass
    for name in ("empty", "none"):
        done = bk.rewrite(tmp_path / f"{name}.parquet", tmp_path / f"{name}.root", container=container)
        assert (done.tables[0].entries, done.tables[0].clusters) == (0, 0)
        check(tmp_path / f"{name}.root", {name: [] for name in expected(table)})


def test_where_a_tree_was_there_is_one_again(tmp_path: Path) -> None:
    with uproot.recreate(tmp_path / "a.root") as output:
        output["dir/deeper/t"] = {"x": np.arange(10.0)}
    bk.convert(f"{tmp_path / 'a.root'}:dir/deeper/t", tmp_path / "a.parquet")
    done = bk.rewrite(tmp_path / "a.parquet", tmp_path / "b.root")
    assert done.tables[0].path == "dir/deeper/t"
    assert bk.verify(f"{tmp_path / 'a.root'}:dir/deeper/t", f"{tmp_path / 'b.root'}:dir/deeper/t").equal


def write_null(folder: Path) -> list[Path]:
    pq.write_table(pa.table({"n": [1, 2]}), folder / "whole.parquet")
    pq.write_table(pa.table({"n": [1, None]}), folder / "null.parquet")
    return [folder / "whole.parquet", folder / "null.parquet"]


def write_other_type(folder: Path) -> list[Path]:
    pq.write_table(pa.table({"n": [1, 2]}), folder / "whole.parquet")
    pq.write_table(pa.table({"n": [1.5]}), folder / "null.parquet")
    return [folder / "whole.parquet", folder / "null.parquet"]


def write_fewer(folder: Path) -> list[Path]:
    pq.write_table(pa.table({"n": [1, 2], "m": [1, 2]}), folder / "whole.parquet")
    pq.write_table(pa.table({"m": [3]}), folder / "null.parquet")
    return [folder / "whole.parquet", folder / "null.parquet"]


def write_mixture(folder: Path) -> list[Path]:
    with uproot.recreate(folder / "whole.root") as output:
        output["Events"] = {"n": np.arange(3)}
    pq.write_table(pa.table({"n": [1]}), folder / "null.parquet")
    return [folder / "whole.root", folder / "null.parquet"]


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (write_null, ["null.parquet", "column n", "missing values", "--fill-null", "--drop"]),
        (write_other_type, ["null.parquet", "column n", "Float64", "Int64"]),
        (write_fewer, ["null.parquet", "column n", "not here"]),
        (write_mixture, ["null.parquet", "is a Parquet file", "convert them first"]),
    ],
)
def test_refusals_name_file_and_column(
    write: Callable[[Path], list[Path]], words: list[str], basketry: Basketry, tmp_path: Path
) -> None:
    message = basketry.refuses("merge", *write(tmp_path), "-o", tmp_path / "out.root")
    assert all(word in message for word in words), message
    assert not (tmp_path / "out.root").exists()


def test_patterns_and_trees_that_are_not_there(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    output = ("-o", tmp_path / "out.root")
    assert "no column matches nothing" in basketry.refuses("rewrite", file, *output, "--drop", "nothing")
    assert "no column to convert" in basketry.refuses("rewrite", file, *output, "--drop", "*")
    assert "--where nothing" in basketry.refuses("rewrite", file, *output, "--where", "nothing")
    assert "no trees" in basketry.refuses("rewrite", f"{file}:Events", *output)


def test_damaged_files_are_refused_or_left_out(file: Path, table: pa.Table, basketry: Basketry, tmp_path: Path) -> None:
    whole = file.read_bytes()
    damaged = tmp_path / "damaged.parquet"
    # A byte of the pages of a compressed column, at a place that pyarrow tells.
    column = pq.ParquetFile(file).metadata.row_group(1).column(1)
    at = column.data_page_offset + column.total_compressed_size // 2
    damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF] * 1000) + whole[at + 1000 :])
    message = basketry.refuses("rewrite", damaged, "-o", tmp_path / "out.root")
    assert "damaged.parquet" in message
    assert "column" in message
    # A file that is cut short is known before anything is read.
    damaged.write_bytes(whole[: len(whole) // 2])
    assert "damaged.parquet" in basketry.refuses("rewrite", damaged, "-o", tmp_path / "out.root")
    assert not (tmp_path / "out.root").exists()
    outcome = basketry.run("merge", "--skip-bad", "--json", file, damaged, "-o", tmp_path / "out.root")
    assert outcome.code == 1
    assert [Path(skipped["path"]) for skipped in json.loads(outcome.out)["skipped"]] == [damaged]
    check(tmp_path / "out.root", expected(table))
