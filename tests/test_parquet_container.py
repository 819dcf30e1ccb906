"""Parquet files as a container like others: they are rewritten, merged, selected from and refused as trees and RNTuples
are. What is in them is told by pyarrow, what becomes of it by ROOT and uproot."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee.command import Argument, Basketry
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
    # The order of columns does not matter, nor do further columns that are left out.
    columns = [*reversed(more.column_names), "further"]
    pq.write_table(more.append_column("further", pa.array(range(70))).select(columns), tmp_path / "more.parquet")
    both = pa.concat_tables([table.combine_chunks().unify_dictionaries(), more]).to_pydict()
    inputs = [file, tmp_path / "more.parquet"]
    output = tmp_path / "out.root"

    bk.merge(inputs, output, container=container, drop=["jets", "further"])
    check(output, {name: both[name] for name in ("run", "x", "odd", "name", "text", "deep", "cube")})

    bk.rewrite(inputs, output, container=container, keep=["x", "text"], entries="290:310,990:1010", force=True)
    numbers = [*range(290, 310), *range(990, 1010)]
    check(output, {name: [both[name][number] for number in numbers] for name in ("x", "text")})
    with uproot.open(f"{output}:Events") as found:
        assert set(found.keys()) == {"x", "text"}

    bk.rewrite(inputs, output, container=container, keep="run", cut="odd", force=True)
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
        (write_null, ["null.parquet", "column n", "missing values", "--drop"]),
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
    assert "--drop nothing: no column" in basketry.refuses("rewrite", file, *output, "--drop", "nothing")
    assert "--drop leaves no column" in basketry.refuses("rewrite", file, *output, "--drop", "*")
    assert "--cut: no column nothing" in basketry.refuses("rewrite", file, *output, "--where", "nothing")


#: The verbs that take Parquet files, with what else they need.
TAKING: dict[str, tuple[str, ...]] = {
    "ls": (),
    "show": (),
    "count": (),
    "schema": (),
    "stats": ("x",),
    "draw": ("x",),
    "inspect": (),
    "readspeed": ("-q",),
    "verify": ("{file}",),
    "convert": ("-o", "{out}"),
    "rewrite": ("-o", "{out}"),
    "merge": ("-o", "{out}"),
    "sort": ("-o", "{out}", "--by", "run"),
    "pick": ("-o", "{out}", "--cut", "run > 3"),
    "index": ("-o", "{out}.parquet", "--key", "x"),
    "join": ("-o", "{out}", "--with", "{file}", "--on", "x", "--suffix", "_b"),
    "plan rewrite": ("-o", "{out}.json"),
    "plan convert": ("-o", "{out}.json"),
}


@pytest.mark.parametrize("verb", TAKING)
@pytest.mark.parametrize("own", ["Events", "dir/events"])
def test_all_verbs_know_the_table_by_the_name_that_ls_gives(
    own: str, verb: str, table: pa.Table, basketry: Basketry, tmp_path: Path
) -> None:
    file, out = tmp_path / "in.parquet", tmp_path / "out.root"
    named = table.select(["run", "x"]).replace_schema_metadata({} if own == "Events" else {"root.tree": own})
    pq.write_table(named, file)
    (listed,) = basketry.json("ls", file)["files"][0]["objects"]
    assert listed["name"] == own
    words = [word.format(file=file, out=out) for word in TAKING[verb]]
    first = (*verb.split(), f"{file}:other")
    said = basketry.refuses(*first, *words)
    assert f"{file}: is a Parquet file, whose one table is called {own}, and not other" in said
    assert not out.exists()
    for address in (f"{file}:{own}", f"{file}:/{own}"):
        outcome = basketry.run(*verb.split(), address, *words)
        assert outcome.code == 0, str(outcome)
        for made in (out, Path(f"{out}.parquet"), Path(f"{out}.json")):
            if made.suffix == ".root" and made.exists():
                with uproot.open(made) as found:
                    assert found[own].num_entries == (960 if verb == "pick" else ENTRIES)
            made.unlink(missing_ok=True)


def test_a_comparison_with_a_table_of_another_name(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    """A name is that of the side that it is given for."""
    basketry("rewrite", file, "-o", tmp_path / "out.root")
    basketry("cp", f"{tmp_path}/out.root:Events", f"{tmp_path}/other.root:other")
    for sides in ((file, f"{tmp_path}/other.root:other"), (f"{tmp_path}/other.root:other", f"{file}:Events")):
        basketry("verify", *sides)
    assert "and not other" in basketry.refuses("verify", f"{file}:other", f"{tmp_path}/other.root:other")


def test_damaged_files_are_refused_or_left_out(file: Path, table: pa.Table, basketry: Basketry, tmp_path: Path) -> None:
    whole = file.read_bytes()
    damaged = tmp_path / "damaged.parquet"
    # A thousand bytes from a place on that pyarrow tells, so that headers of pages are among them.
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


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_is_made_of_a_file_is_compared_with_it(file: Path, container: str, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    bk.rewrite(file, output, container=container)
    for sides in ((file, output), (output, file)):
        verdict = bk.verify(*sides)
        assert verdict.equal, verdict.differences
        assert (verdict.trees[0].entries, verdict.trees[0].by_value) == (ENTRIES, len(expected(records(1))))
    bk.rewrite(file, output, container=container, entries="10:500", drop="text", force=True)
    assert bk.verify(file, output, entries="10:500", common=True).equal
    found = bk.verify(file, output, entries="10:500")
    assert [(one.branch, one.what) for one in found.differences] == [("text", "only the first side has it")]
    differences = bk.verify(file, output, entries="9:499", keep="x").differences
    assert [(one.branch, one.entry) for one in differences] == [("x", 9)]


def test_parquet_files_are_compared_with_each_other(file: Path, table: pa.Table, tmp_path: Path) -> None:
    """By value: encodings, compression and row groups do not count."""
    other = tmp_path / "other.parquet"
    pq.write_table(table, other, row_group_size=77, compression="zstd", use_dictionary=False)
    assert bk.verify(file, other).equal
    numbers = table["x"].to_numpy().copy()
    numbers[777] += 1e-9
    place = table.column_names.index("x")
    pq.write_table(table.set_column(place, "x", pa.array(numbers)), other)
    assert [(one.branch, one.entry) for one in bk.verify(file, other).differences] == [("x", 777)]
    assert bk.verify(file, other, tolerance=1e-6).equal
    # Missing values are values here.
    for name, values in (("a", [1, None]), ("b", [1, 0])):
        pq.write_table(pa.table({"n": values}), tmp_path / f"{name}.parquet")
    assert bk.verify(tmp_path / "a.parquet", tmp_path / "a.parquet").equal
    assert not bk.verify(tmp_path / "a.parquet", tmp_path / "b.parquet").equal


def test_a_tree_is_compared_with_the_parquet_file_made_of_it(basketry: Basketry, tmp_path: Path) -> None:
    basketry("generate", "nano", "--size", "100kB", "-o", tmp_path / "nano.root")
    bk.convert(tmp_path / "nano.root", tmp_path / "nano.parquet")
    assert bk.verify(tmp_path / "nano.root", tmp_path / "nano.parquet").equal
    bk.convert(tmp_path / "nano.root", tmp_path / "some.parquet", entries="1:")
    assert not bk.verify(tmp_path / "nano.root", tmp_path / "some.parquet").equal


def test_python_reads_columns(file: Path, table: pa.Table) -> None:
    found = bk.open(file)
    assert (found.num_entries, found.keys(), list(found.clusters)) == (
        ENTRIES,
        table.column_names,
        [0, 300, 600, 900, 1000],
    )
    arrays = found.arrays(library="ak")
    for name in set(table.column_names) - {"when"}:
        assert arrays[name].tolist() == table[name].to_pylist(), name
    assert ak.to_numpy(arrays["when"]).tolist() == table["when"].to_pylist()
    numbers = found.arrays(["x", "odd", "cube"], library="np", entry_start=290, entry_stop=610)
    assert numbers["x"].dtype == np.float64
    assert numbers["x"].tolist() == table["x"].to_pylist()[290:610]
    assert found["x"].array(library="np").tolist() == table["x"].to_pylist()
    assert found.arrays(["x", "name"], library="arrow").column("name").to_pylist() == table["name"].to_pylist()
    assert found.arrays(["x"], cut="x > 0", library="np")["x"].tolist() == [x for x in table["x"].to_pylist() if x > 0]


def test_python_joins_files(file: Path, table: pa.Table, tmp_path: Path) -> None:
    more = records(70).drop_columns(["text"])
    pq.write_table(more, tmp_path / "more.parquet")
    files = [file, tmp_path / "more.parquet"]
    with pytest.raises(bk.SchemaDiffers, match="text"):
        bk.open(files)
    both = table["x"].to_pylist() + more["x"].to_pylist()
    found = bk.concatenate(files, library="ak")
    assert set(found.fields) == set(more.column_names)
    assert found["x"].tolist() == both
    assert bk.open(files, join="fill").arrays("text")["text"].tolist() == table["text"].to_pylist() + [""] * 70
    steps = list(bk.iterate(files, "x", step_size=400, library="np"))
    assert [len(step["x"]) for step in steps] == [400, 400, 200, 70]
    assert np.concatenate([step["x"] for step in steps]).tolist() == both


def test_an_output_that_would_look_like_parquet_is_refused(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    for verb in ("rewrite", "merge"):
        refused = basketry.run(verb, file, "-o", tmp_path / "out.parquet")
        assert refused.code == 2
        assert "convert" in refused.err
    assert not (tmp_path / "out.parquet").exists()


def test_names_of_items_do_not_matter(basketry: Basketry, tmp_path: Path) -> None:
    """Writers name the items of lists `item` or `element`."""
    lists = pa.table({"lists": [[1, 2], [], [3]], "nested": [[[1.5]], [], [[], [2.5]]]})
    files = [tmp_path / f"{compliant}.parquet" for compliant in (True, False)]
    for path in files:
        pq.write_table(lists, path, use_compliant_nested_type=path is files[0])
    basketry("merge", *files, "-o", tmp_path / "out.root")
    assert bk.verify(*files, tmp_path / "out.root").equal
    for array in (bk.concatenate(files), bk.open(tmp_path / "out.root:Events").arrays(["lists", "nested"])):
        assert array.tolist() == 2 * lists.to_pylist()


def test_python_has_missing_values(tmp_path: Path) -> None:
    values = {"n": [1, None, 3], "text": [None, "a", ""], "list": [[1.0, None], None, []]}
    pq.write_table(pa.table(values), tmp_path / "a.parquet")
    assert bk.open(tmp_path / "a.parquet").arrays(library="ak").tolist() == [
        dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)
    ]


def test_inspect_says_what_pyarrow_says(table: pa.Table, basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    codecs = dict.fromkeys(table.column_names, "snappy") | {"x": "zstd", "run": "gzip", "odd": "none", "text": "brotli"}
    nulls = pa.array([None if number % 3 else number for number in range(ENTRIES)], pa.int16())
    codecs["gaps"] = "lz4"
    table = table.append_column("gaps", nulls)
    pq.write_table(table, path, row_group_size=300, compression=codecs)
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]

    report = bk.inspect(path)
    assert (report.file.bytes, report.trees, report.ntuples, report.findings) == (path.stat().st_size, (), (), ())
    found = report.parquet
    assert found is not None
    assert (found.path, found.entries, found.created_by) == ("Events", ENTRIES, metadata.created_by)
    assert str(found.format_version) == metadata.format_version.split(".")[0]
    assert found.metadata_bytes == metadata.serialized_size
    sizes = [(group.num_rows, *sums(group.column(number) for number in range(group.num_columns))) for group in groups]
    assert [(group.entries, group.tot_bytes, group.zip_bytes) for group in found.row_groups] == sizes
    assert [group.first_entry for group in found.row_groups] == [0, 300, 600, 900]
    assert (found.tot_bytes, found.zip_bytes) == tuple(np.sum(sizes, axis=0)[1:])

    assert [column.name for column in found.columns] == table.column_names
    leaves = [leaf for column in found.columns for leaf in column.leaves]
    assert len(leaves) == metadata.num_columns
    for number, leaf in enumerate(leaves):
        chunks = [group.column(number) for group in groups]
        first = chunks[0]
        assert (leaf.path, leaf.physical_type) == (first.path_in_schema, first.physical_type)
        assert leaf.values == sum(chunk.num_values for chunk in chunks)
        assert (leaf.tot_bytes, leaf.zip_bytes) == sums(chunks)
        # pyarrow has one word for both forms of LZ4.
        assert {codec.removesuffix("_RAW"): count for codec, count in leaf.codecs.items()} == {first.compression: 4}
        assert set(leaf.encodings) == {encoding for chunk in chunks for encoding in chunk.encodings}
    for column in found.columns:
        assert all(leaf.path.split(".")[0] == column.name for leaf in column.leaves)
        assert column.tot_bytes == sum(leaf.tot_bytes for leaf in column.leaves)
        assert column.zip_bytes == sum(leaf.zip_bytes for leaf in column.leaves)
    types = {column.name: column.arrow_type for column in found.columns}
    assert (types["x"], types["run"], types["text"], types["gaps"]) == ("Float64", "UInt32", "LargeUtf8", "Int16")
    missing = {column.name: column.nullable for column in found.columns}
    assert (missing["x"], missing["gaps"]) == (False, True)

    text = basketry("inspect", path, "--all")
    assert all(
        name in text for name in [*table.column_names, "zstd", "gzip", "uncompressed", "brotli", "row groups: 4"]
    )
    assert "not searched for faults" in text
    assert "the largest 2 of 10 columns" in basketry("inspect", path, "-n", "2")


def sums(chunks: Iterable[pq.ColumnChunkMetaData]) -> tuple[int, int]:
    """Bytes before compression and in the file."""
    pairs = [(chunk.total_uncompressed_size, chunk.total_compressed_size) for chunk in chunks]
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def test_files_without_entries_or_columns_are_inspected(table: pa.Table, basketry: Basketry, tmp_path: Path) -> None:
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    pq.write_table(pa.table({}), tmp_path / "bare.parquet")
    for name, columns in (("empty", table.column_names), ("bare", [])):
        found = bk.inspect(tmp_path / f"{name}.parquet").parquet
        assert found is not None
        assert (found.entries, [column.name for column in found.columns]) == (0, columns)
        metadata = pq.ParquetFile(tmp_path / f"{name}.parquet").metadata
        assert len(found.row_groups) == metadata.num_row_groups
        basketry("inspect", tmp_path / f"{name}.parquet")


def test_inspect_refuses_what_is_no_whole_parquet_file(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    whole = file.read_bytes()
    damaged = tmp_path / "damaged.parquet"
    for length in (0, 3, 4, 11, len(whole) // 2, len(whole) - 9, len(whole) - 8, len(whole) - 4, len(whole) - 1):
        damaged.write_bytes(whole[:length])
        assert "damaged.parquet" in basketry.refuses("inspect", damaged)
    # Metadata with other bytes are refused, or say something else.
    (length,) = np.frombuffer(whole[-8:-4], "<u4").tolist()
    for at in np.linspace(len(whole) - 8 - length, len(whole) - 5, 40, dtype=int).tolist():
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        outcome = basketry.run("inspect", damaged, "--json")
        assert outcome.code in (0, 2), str(outcome)
        assert "panicked" not in outcome.err, str(outcome)
        assert outcome.code == 0 or "damaged.parquet" in outcome.err, str(outcome)
    for words in ([f"{file}:other"], [file, "--json", "--baskets"], [file, "--layout"]):
        assert "is a Parquet file" in basketry.refuses("inspect", *words)


@pytest.mark.parametrize("verb", ["tune", "sweep", "recover", "fileset", "check"])
def test_what_takes_no_parquet_files_says_what_does(verb: str, file: Path, basketry: Basketry, tmp_path: Path) -> None:
    output = ["-o", str(tmp_path / "out")]
    words = {"recover": output, "sweep": [*output, "--grid", "basket=2kB"]}.get(verb, [])
    outcome = basketry.run(verb, file, *words)
    assert outcome.code != 0
    assert "a Parquet file" in outcome.out + outcome.err
    assert "rewrite" in outcome.out + outcome.err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def differing(tmp_path: Path) -> list[Path]:
    """The second file has a column more, and the other way round."""
    pq.write_table(pa.table({"x": range(5)}), tmp_path / "few.parquet")
    pq.write_table(pa.table({"y": range(3), "x": range(5, 8)}), tmp_path / "more.parquet")
    return [tmp_path / "few.parquet", tmp_path / "more.parquet"]


@pytest.mark.parametrize("step", [1, -1])
def test_no_column_is_lost_in_silence(differing: list[Path], step: int, basketry: Basketry, tmp_path: Path) -> None:
    inputs, output = differing[::step], tmp_path / "out.root"
    for verb in ("merge", "rewrite"):
        for option in ([], ["--fill"] if verb == "merge" else []):
            message = basketry.refuses(verb, *inputs, "-o", output, *option)
            assert all(word in message for word in (inputs[1].name, "column y", "not ")), message
            assert ("--common" in message) == (verb == "merge"), "what the verb has"
    with pytest.raises(bk.SchemaDiffers, match="column y"):
        bk.merge(inputs, output)
    assert not output.exists()
    # What is left out is told, and refused where nothing may be lost.
    strict = basketry.refuses("merge", *inputs, "-o", output, "--common", "--strict")
    assert "left out: y" in strict
    done = bk.merge(inputs, output, common=True)
    assert [note for note in done.notes if note.endswith("left out: y")]
    numbers = [number for path in inputs for number in pq.read_table(path)["x"].to_pylist()]
    check(output, {"x": numbers})
    with uproot.open(f"{output}:Events") as found:
        assert found.keys() == ["x"]
    # A column that nobody asks for differs from nothing.
    bk.merge(inputs, output, keep="x", force=True)
    check(output, {"x": numbers})


def test_a_file_without_entries_takes_no_column_away(differing: list[Path], tmp_path: Path) -> None:
    pq.write_table(pa.table({"other": pa.array([], pa.string())}), tmp_path / "empty.parquet")
    for inputs in ([tmp_path / "empty.parquet", differing[0]], [differing[0], tmp_path / "empty.parquet"]):
        bk.merge(inputs, tmp_path / "out.root", force=True)
        check(tmp_path / "out.root", {"x": list(range(5))})


def test_columns_of_one_name_are_compared_one_by_one(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "one.parquet")
    for name, second in (("two", [3, 4]), ("other", [3, 5])):
        columns = pa.Table.from_arrays([pa.array([1, 2]), pa.array(second)], names=["x", "x"])
        pq.write_table(columns, tmp_path / f"{name}.parquet")
    one, two, other = (tmp_path / f"{name}.parquet" for name in ("one", "two", "other"))
    for sides, side in (((one, two), "second"), ((two, one), "first")):
        differences = bk.verify(*sides).differences
        assert [(found.branch, found.what) for found in differences] == [("x", f"only the {side} side has it")]
    assert bk.verify(two, two).equal
    assert [(found.branch, found.entry) for found in bk.verify(two, other).differences] == [("x", 1)]


def varint(number: int) -> bytes:
    """A number of 64 bits in the metadata of a Parquet file."""
    number, encoded = number << 1, b""
    while number > 0x7F:
        number, encoded = number >> 7, encoded + bytes([number & 0x7F | 0x80])
    return encoded + bytes([number])


@pytest.mark.parametrize("number", [2**62, 2**63 - 1])
@pytest.mark.parametrize("place", ["values", "bytes"])
def test_sizes_that_no_file_can_have(place: str, number: int, basketry: Basketry, tmp_path: Path) -> None:
    columns = pa.table({"x": range(100), "y": range(100)})
    pq.write_table(columns, tmp_path / "whole.parquet", compression="none")
    whole = (tmp_path / "whole.parquet").read_bytes()
    chunk = pq.ParquetFile(tmp_path / "whole.parquet").metadata.row_group(0).column(0)
    sizes = [chunk.num_values, chunk.total_uncompressed_size, chunk.total_compressed_size]
    claimed = [number if place == "values" else sizes[0], number if place == "bytes" else sizes[1], sizes[2]]
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    old, new = (b"".join(b"\x16" + varint(size) for size in all) for all in (sizes, claimed))
    assert old in whole[start:-8]
    footer = whole[start:-8].replace(old, new)
    hostile = tmp_path / "hostile.parquet"
    hostile.write_bytes(whole[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    verbs: list[list[Argument]] = [["rewrite", hostile, "-o", tmp_path / "out.root"], ["verify", hostile, hostile]]
    for verb in verbs:
        message = basketry.refuses(*verb)
        assert "hostile.parquet" in message
        assert f"{number} {place}" in message
        assert "panic" not in message


@pytest.mark.parametrize("fault", ["missing", "empty", "cut", "other"])
def test_bad_inputs_are_named_and_left_out(
    fault: str, file: Path, table: pa.Table, basketry: Basketry, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.parquet"
    content = {"empty": b"", "cut": file.read_bytes()[:100], "other": b"something else"}
    if fault in content:
        bad.write_bytes(content[fault])
    words = {"missing": "No such file", "empty": "too short", "cut": "does not end", "other": "does not end"}
    for inputs in ([file, bad], [bad, file], [bad]):
        message = basketry.refuses("merge", *inputs, "-o", tmp_path / "out.root")
        assert "bad.parquet" in message
        assert words[fault] in message
    for inputs in ([file, bad], [bad, file]):
        outcome = basketry.run("merge", "--skip-bad", "--json", "--force", *inputs, "-o", tmp_path / "out.root")
        assert [Path(skipped["path"]) for skipped in json.loads(outcome.out)["skipped"]] == [bad]
        check(tmp_path / "out.root", expected(table))


def test_the_least_memory_for_the_metadata_of_several_files(basketry: Basketry, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        pq.write_table(pa.table({f"column{number}": [1] for number in range(2000)}), tmp_path / f"{name}.parquet")
    inputs = [tmp_path / f"{name}.parquet" for name in ("a", "b", "c")]
    for more in ([], ["--skip-bad"], ["--where", "column7"]):
        output: list[Argument] = ["-o", tmp_path / "out.root", "--keep", "column7", "--force", *more]
        message = basketry.refuses("merge", *inputs, *output, "--memory", "2MB")
        # With --skip-bad each file is looked at first, and then all together.
        for _ in more[:1] * (more == ["--skip-bad"]):
            message = basketry.refuses("merge", *inputs, *output, "--memory", least_memory(message))
        basketry("merge", *inputs, *output, "-q", "--memory", least_memory(message))
    assert "metadata" in basketry.refuses("verify", inputs[0], inputs[1], "--memory", "2MB")


def least_memory(message: str) -> str:
    return message.split("--memory ")[1].split(" ")[0]


def test_options_of_hadd_that_say_nothing_of_parquet_files(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    for options, words in ((["-T"], "trees are to be left out"), (["-ff"], "compression")):
        outcome = basketry.run("hadd", *options, tmp_path / "out.root", file)
        assert outcome.code == 1
        assert words in outcome.err
        assert not (tmp_path / "out.root").exists()


@pytest.mark.parametrize("container", CONTAINERS)
def test_selected_entries_stay_in_their_row_groups(container: str, tmp_path: Path) -> None:
    """Though no entry at the end of a row group is selected, and others come between."""
    path, output = tmp_path / "long.parquet", tmp_path / "out.root"
    texts = [f"{number}" * 1000 for number in range(10_000)]
    pq.write_table(pa.table({"n": range(10_000), "text": texts}), path, row_group_size=5000, use_dictionary=False)
    done = bk.rewrite(path, output, container=container, entries="0:10,9990:10000", memory="120MB")
    assert (done.tables[0].entries, done.tables[0].clusters) == (20, 2)
    check(output, {"n": [*range(10), *range(9990, 10_000)]})
