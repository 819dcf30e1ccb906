"""RNTuples through the Python package and the command: files that real ROOT writes here against what was written, and
files of the corpus against uproot."""

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

ENTRIES = 2500


def expected(first: int = 0) -> dict[str, list[Any]]:
    """The values that ROOT writes."""
    numbers = range(first, first + ENTRIES)
    return {
        "number": [i * 3 - 7 for i in numbers],
        "flag": [i % 3 == 0 for i in numbers],
        "text": [chr(ord("a") + i % 26) * (i % 5) for i in numbers],
        "items": [[0.5 * i] * (i % 4) for i in numbers],
        "nested": [[[i] * (i % 2)] * (i % 3) for i in numbers],
        "maybe": [i * 0.25 if i % 2 else None for i in numbers],
        "either": [i if i % 2 else str(i) for i in numbers],
        "pair": [(i % 100, 1.5 * i) for i in numbers],
        "fixed": [[i, -i, 2 * i] for i in numbers],
    }


@pytest.fixture(scope="module")
def folder() -> Path:
    """The folder with the RNTuples."""
    return make_files.made("rntuples")


@pytest.fixture
def made(folder: Path) -> Path:
    """A file with zstd and checksums."""
    return folder / "checked.root"


@pytest.mark.parametrize("name", ["none", "zlib", "lz4", "lzma", "zstd"])
def test_values_are_those_that_root_wrote(name: str, folder: Path) -> None:
    ntuple = bk.open(f"{folder}/{name}.root:events")
    assert isinstance(ntuple, bk.RNTuple)
    assert (ntuple.num_entries, ntuple.name, ntuple.description) == (ENTRIES, "events", "made by a test")
    for threads in (1, 2):
        arrays = ntuple.arrays(threads=threads)
        assert arrays.fields == list(expected())
        for field, values in expected().items():
            assert arrays[field].tolist() == values, field


def test_steps_selections_and_cuts(made: Path) -> None:
    ntuple = bk.open(f"{made}:events")
    values = expected()
    for step in (333, "20 kB", None):
        steps = list(ntuple.iterate(["nested", "either"], step_size=step))
        assert [value for one in steps for value in one["nested"].tolist()] == values["nested"]
        assert [value for one in steps for value in one["either"].tolist()] == values["either"]
    # The last entry has no items, so the range of the inner lists is empty and at their end.
    assert ntuple.arrays("nested", entry_start=-1)["nested"].tolist() == values["nested"][-1:] == [[]]
    chosen = [3, 4, 699, 700, 1401, 2499]
    arrays = ntuple.arrays(["items", "text", "either"], selection=np.array(chosen))
    for name in ("items", "text", "either"):
        assert arrays[name].tolist() == [values[name][i] for i in chosen]
    arrays = ntuple.arrays("number", cut="(number > 2000) & flag")
    assert arrays["number"].tolist() == [
        n for n, f in zip(values["number"], values["flag"], strict=True) if n > 2000 and f
    ]
    assert ntuple.arrays("items", entry_start=-10, library="np")["items"][-1].tolist() == values["items"][-1]


def test_fields_below_others_are_named_with_dots(made: Path) -> None:
    ntuple = bk.open(f"{made}:events")
    assert ntuple.keys(recursive=False) == list(expected())
    assert {"pair.0", "pair.1"} <= set(ntuple.keys())
    assert ntuple["pair._1"].array().tolist() == [second for _, second in expected()["pair"]]
    assert ntuple["items"].typename == "std::vector<float>"
    with pytest.raises(KeyError, match="number"):
        ntuple["nummber"]


def test_several_files_are_one(folder: Path) -> None:
    both = bk.concatenate([f"{folder}/checked.root:events", f"{folder}/more.root:events"])
    first, second = expected(), expected(ENTRIES)
    for name in first:
        assert both[name].tolist() == first[name] + second[name], name


def test_parquet_has_the_values(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "f.parquet"
    basketry("convert", f"{made}:events", "-o", out)
    table = pq.read_table(out)
    # Parquet has no unions.
    assert set(table.column_names) == set(expected()) - {"either"}
    wanted = expected() | {"pair": [{"first": first, "second": second} for first, second in expected()["pair"]]}
    for name in table.column_names:
        assert table[name].to_pylist() == wanted[name], name


def test_readspeed_reads_all_or_some_columns(made: Path, basketry: Basketry) -> None:
    whole = basketry.json("readspeed", f"{made}:events", "--repeat", "1")
    assert (whole["entries"], len(whole["columns"])) == (ENTRIES, len(expected()))
    some = basketry.json("readspeed", f"{made}:events", "--repeat", "1", "--branches", "items")
    assert [column["name"] for column in some["columns"]] == ["items"]
    assert 0 < some["compressed"] < whole["compressed"]
    # A pattern means the fields below only where it means no whole field.
    for pattern, names in {"pa*": ["pair"], "pair._1": ["pair._1"]}.items():
        read = basketry.json("readspeed", f"{made}:events", "--repeat", "1", "--branches", pattern)
        assert [column["name"] for column in read["columns"]] == names


def test_readspeed_reads_projected_fields_only_by_name(basketry: Basketry) -> None:
    file = make_files.made("inspected_ntuples") / "rich.root"
    whole = basketry.json("readspeed", file, "--repeat", "1")
    assert "shown" not in [column["name"] for column in whole["columns"]]
    assert any("1 projected field" in note for note in whole["notes"])
    some = basketry.json("readspeed", file, "--repeat", "1", "--branches", "shown")
    assert [column["name"] for column in some["columns"]] == ["shown"]


def test_streamed_objects_are_those_of_trees() -> None:
    ntuple = bk.open(f"{make_files.made('ntuple_features')}/streamed.root:events")
    arrays = ntuple.arrays()
    assert arrays["rich"].tolist() == [
        {
            "number": i,
            "text": "x" * (i % 4),
            "values": [i * 0.5] * (i % 3),
            "inner": [{"a": i, "b": 2.0 * i}] * (i % 2),
            "pointer": {"a": i, "b": 0.5} if i % 2 else None,
            "name": f"n{i}",
        }
        for i in range(100)
    ]
    assert arrays["named"].tolist() == [{"fName": f"name{i}", "fTitle": f"title{i}"} for i in range(100)]
    assert arrays["lorentz"].tolist() == [{"fP": {"fX": i, "fY": 2 * i, "fZ": 3 * i}, "fE": 4 * i} for i in range(100)]
    assert arrays["many"].tolist() == [[{"a": i, "b": 1.5 * i}] * (i % 3) for i in range(100)]


def test_floats_of_all_widths_are_as_root_reads_them() -> None:
    folder = make_files.made("ntuple_features")
    arrays = bk.open(f"{folder}/floats.root:events").arrays()
    lines = [line.split() for line in (folder / "floats.txt").read_text().splitlines()]
    assert arrays.fields == [name for name, *_ in lines]
    for name, *values in lines:
        assert arrays[name].tolist() == [float.fromhex(value) for value in values], name


def test_late_fields_cluster_groups_and_pages_in_several_keys() -> None:
    ntuple = bk.open(f"{make_files.made('ntuple_features')}/containers.root:events")
    numbers = range(ntuple.num_entries)
    assert len(numbers) == 3000
    assert ntuple.arrays().tolist() == [
        {
            "number": i,
            "maybe": [i] * (i % 4) if i % 3 else None,
            "atomic": i % 1000,
            "bits": [bool(i >> bit & 1) for bit in range(69)] + [bool(i % 2)],
            "constant": [1.5] * 8,
            "record": {"x": i, "y": i * 0.5},
            "items": [i % 500] * (i % 3),
            "late": -i if i >= 1100 else 0,
            "late_list": [7, 7] if i >= 1100 else [],
        }
        for i in numbers
    ]


def test_a_damaged_page_is_named(made: Path, tmp_path: Path) -> None:
    data = bytearray(made.read_bytes())
    with uproot.open(made) as file:
        locator = file["events"].page_link_list[0][0].pages[0].locator
    data[locator.offset + 5] ^= 0xFF
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(data)
    ntuple = bk.open(f"{damaged}:events")
    with pytest.raises(ValueError, match="page 0 of column 0 in cluster 0"):
        ntuple["number"].array()
    assert ntuple["items"].array().tolist() == expected()["items"]


def test_corpus_files_agree_with_uproot(corpus: Path) -> None:
    for name in ("test_int_5e4", "test_index_multicluster", "Run2012BC_DoubleMuParked_Muons_1000evts"):
        path = corpus / "files" / f"skhep--{name}_rntuple_v1-0-0-0.root"
        with uproot.open(path) as file:
            key = next(key for key, cls in file.classnames().items() if cls == "ROOT::RNTuple")
            theirs = file[key].arrays()
        ours = bk.open(f"{path}:{key.partition(';')[0]}").arrays()
        assert ak.array_equal(ak.values_astype(theirs, "float64"), ak.values_astype(ours, "float64")), name
