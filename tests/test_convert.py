"""Trees to Parquet and back, read by pyarrow, uproot and ROOT; and the refusals of the verb."""

from pathlib import Path

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee import oracle
from referee.command import Basketry
from referee.root_server import RootServer


@pytest.fixture(scope="module")
def nano(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small NanoAOD-like file."""
    path = tmp_path_factory.mktemp("convert") / "nano.root"
    basketry("generate", "nano", "--size", "300kB", "-o", path, "--cluster", "30")
    return path


def test_pyarrow_reads_what_uproot_reads(nano: Path, tmp_path: Path) -> None:
    done = bk.convert(nano, tmp_path / "nano.parquet", compression="zstd:1", threads=2)
    table = pq.read_table(tmp_path / "nano.parquet")
    with uproot.open(f"{nano}:Events") as tree:
        arrays = tree.arrays()
        assert table.num_rows == done.entries == tree.num_entries
        assert table.column_names == tree.keys() == [column.name for column in done.columns]
        assert done.row_groups == pq.ParquetFile(tmp_path / "nano.parquet").num_row_groups > 1

    for name in arrays.fields:
        assert ak.array_equal(ak.from_arrow(table[name].combine_chunks()), arrays[name], dtype_exact=False), name


def test_a_round_trip_keeps_the_branches(nano: Path, tmp_path: Path, root_values: RootServer) -> None:
    bk.convert(nano, tmp_path / "nano.parquet")
    done = bk.convert(tmp_path / "nano.parquet", tmp_path / "back.root", compression="lz4:4", split_level=0)
    assert (done.tree, done.left_out) == ("Events", ())
    before, after = (root_values.of(path)["trees"]["Events"] for path in (nano, tmp_path / "back.root"))

    assert before["branches"] == after["branches"]


def test_parquet_files_of_other_writers_become_trees(tmp_path: Path, root_values: RootServer) -> None:
    jets = ak.Array([[{"pt": 1.5, "id": 1}], [], [{"pt": 2.5, "id": 2}, {"pt": 3.5, "id": 3}]])
    table = pa.table(
        {
            "run": pa.array([1, 2, 3], pa.uint32()),
            "when": pa.array([1, 2, 3], pa.timestamp("ms")),
            "name": pa.array(["a", "b", "c"]).dictionary_encode(),
            "deep": pa.array([[[1.0], []], [], [[2.0, 3.0]]]),
            "jets": ak.to_arrow(jets, extensionarray=False),
            "cube": pa.array(np.arange(6).reshape(3, 2).tolist(), pa.list_(pa.int16(), 2)),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", compression="snappy")
    done = bk.convert(tmp_path / "t.parquet", f"{tmp_path / 't.root'}:dir/t")
    assert done.notes == ("when: times, written as whole numbers: Milliseconds since 1970",)
    with uproot.open(f"{tmp_path / 't.root'}:dir/t") as tree:
        arrays = tree.arrays()

    assert arrays["run"].tolist() == arrays["when"].tolist() == [1, 2, 3]
    assert arrays["name"].tolist() == ["a", "b", "c"]
    assert arrays["deep"].tolist() == [[[1.0], []], [], [[2.0, 3.0]]]
    assert (arrays["njets"].tolist(), arrays["jets_pt"].tolist()) == ([1, 0, 2], jets["pt"].tolist())
    assert arrays["cube"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert root_values.of(tmp_path / "t.root")["trees"]["dir/t"]["branches"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("{root} -o {folder}/x.root", "rewrite or merge"),
        ("{parquet} -o {folder}/x.parquet", "Parquet files already"),
        ("{root} -o {folder}/x.csv", "ends in .parquet"),
        ("{root} -o {folder}/x", "ends in .parquet"),
        ("{parquet} -o {folder}/x.csv", "ends in .root"),
        ("{root} -o {folder}/x.parquet --cluster 100", "--row-group"),
        ("{root} -o {folder}/x.parquet --compression lzma:7", "lzma:7"),
        ("{root} -o {folder}/x.parquet --keep nothing", "nothing"),
        ("{parquet} -o {folder}/x.root --row-group 100", "--cluster"),
        ("{parquet} {root} -o {folder}/x.root", "one format"),
        ("{folder}/nulls.parquet -o {folder}/x.root", "--fill-null"),
        ("{root} -o {parquet}", "--force"),
    ],
)
def test_refusals_say_what_to_do(words: str, why: str, nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "n.parquet")
    pq.write_table(pa.table({"n": [1, None]}), tmp_path / "nulls.parquet")
    arguments = words.format(root=nano, parquet=tmp_path / "n.parquet", folder=tmp_path).split()

    assert why in basketry.refuses("convert", *arguments)
    assert not list(tmp_path.glob("x.*"))


def test_undecodable_branches_are_left_out(tmp_path: Path) -> None:
    done = bk.convert(oracle.corpus_file("coffea--PHYSLITE_example.root"), tmp_path / "out.parquet", entries="0:2")
    assert done.entries == 2
    names = pq.read_schema(tmp_path / "out.parquet").names

    assert names == [column.name for column in done.columns]
    assert done.left_out
    assert not {column.name for column in done.left_out} & set(names)


def test_columns_tell_which_table_is_meant(basketry: Basketry, tmp_path: Path) -> None:
    path, out = tmp_path / "several.root", tmp_path / "out.parquet"
    with bk.recreate(path) as file:
        file.mktree("a", {"x": [1.0, 2.0], "n": [1, 2]})
        file.mktree("b", {"y": [3.0, 4.0, 5.0], "n": [1, 2, 3]})
    assert basketry.json("convert", path, "-o", out, "--keep", "y")["tree"] == "b"
    assert basketry.json("convert", path, "-o", out, "--force", "--keep", "n", "--keep", "x")["tree"] == "a"
    assert basketry.json("stats", path, "y")["table"] == "b"
    refused = basketry.refuses("convert", path, "-o", out, "--force", "--keep", "n")
    assert "a, b" in refused
    assert "FILE:TREE" in refused
    assert "z" in basketry.refuses("convert", path, "-o", out, "--force", "--keep", "z")
