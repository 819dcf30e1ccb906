"""What arrays may lose on their way into a file: masks, digits, ranges, columns of one name. All of it is kept or
refused by the name of its column, in each form in which arrays come. uproot reads what was written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee.command import Basketry

#: An integer that no double holds.
ODD = 2**53 + 1
masked: Any = np.ma.masked_array

#: Columns of which some values are missing, and what an RNTuple has of them.
GAPS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "numpy": (lambda: masked([1.5, 2.0], mask=[0, 1]), [1.5, None]),
    "numpy integers": (lambda: masked([ODD, 2], mask=[0, 1]), [ODD, None]),
    "numpy text": (lambda: masked(["a", "b"], mask=[0, 1]), ["a", None]),
    "numpy arrays": (lambda: masked([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), [[1, None], [3, 4]]),
    "list of masked arrays": (lambda: [masked([1, 2], mask=[0, 1]), masked([3], mask=[0])], [[1, None], [3]]),
    "list with masked": (lambda: [ODD, np.ma.masked], [ODD, None]),
    "pandas Int64": (lambda: pd.Series([ODD, None], dtype="Int64"), [ODD, None]),
    "pandas array": (lambda: pd.array([ODD, None], dtype="Int64"), [ODD, None]),
    "pandas Float32": (lambda: pd.Series([1.5, None], dtype="Float32"), [1.5, None]),
    "pandas boolean": (lambda: pd.Series([True, None], dtype="boolean"), [True, None]),
    "pandas string": (lambda: pd.Series(["a", None], dtype="string"), ["a", None]),
    "pandas objects": (lambda: pd.Series(["a", np.nan], dtype=object), ["a", None]),
    "pandas NA": (lambda: pd.Series([ODD, pd.NA], dtype=object), [ODD, None]),
    "pandas category": (lambda: pd.Series(pd.Categorical([ODD, None])), [ODD, None]),
    "pandas Arrow": (lambda: pd.Series([ODD, None], dtype="int64[pyarrow]"), [ODD, None]),
    "Arrow": (lambda: pa.array([ODD, None]), [ODD, None]),
    "polars": (lambda: pl.Series([ODD, None]), [ODD, None]),
    "awkward": (lambda: ak.Array([ODD, None]), [ODD, None]),
    "list": (lambda: [ODD, None], [ODD, None]),
}

#: Columns that no container holds.
REFUSED: dict[str, Callable[[], Any]] = {
    "integers of two kinds": lambda: [2**63, -1],
    "scalars of two kinds": lambda: [np.uint64(2**63), np.int64(-1)],
    "integers among floats": lambda: [ODD, 0.5],
    "integers among floats in lists": lambda: [[ODD, 0.5], [1.0]],
    "large integers": lambda: [2**64],
    "times": lambda: np.array(["2020-01-01"], "M8[s]"),
    "times with a zone": lambda: pd.Series(pd.to_datetime(["2020-01-01"], utc=True)),
    "periods": lambda: pd.Series(pd.period_range("2020", periods=2)),
    "Arrow's times": lambda: pa.array([1], pa.timestamp("ms")),
    "complex": lambda: np.array([1j]),
}

#: Ways in which a column `x` comes in.
WAYS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda values: {"x": values},
    "pandas": lambda values: pd.DataFrame({"x": values}).rename_axis("index"),
    "Arrow": lambda values: pa.table({"x": values}),
    "polars": lambda values: pl.DataFrame({"x": values}),
    "awkward": lambda values: ak.Array({"x": values}),
    "NumPy": lambda values: np.array([(value,) for value in values], [("x", values.dtype)]),
    "lists": lambda values: {"x": list(values)},
}


def columns(path: Path) -> Any:
    with uproot.open(path) as file:
        return file["t"].arrays()


@pytest.mark.parametrize("how", GAPS)
def test_missing_values_are_kept_by_rntuples_and_refused_by_trees(tmp_path: Path, how: str) -> None:
    make, expected = GAPS[how]
    path = tmp_path / "out.root"
    with bk.recreate(path, container="rntuple") as file:
        file["t"] = {"x": make()}
    assert columns(path)["x"].to_list() == expected

    with bk.recreate(path) as file:
        with pytest.raises(ValueError, match="column x has 1 missing values"):
            file["t"] = {"x": make()}
        assert file.keys() == []
        file.mktree("u", {"x": "float64", "y": "int32"})


def test_masks_reach_columns_of_a_given_type(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with bk.recreate(path) as file:
        made = file.mkrntuple("t", {"x": "?float64", "r": {"a": "int32", "b": "?int64"}})
        record = masked([(1, ODD), (2, 3)], dtype=[("a", "i4"), ("b", "i8")], mask=[(0, 0), (0, 1)])
        made.extend({"x": masked([1.5, 2.5], mask=[1, 0]), "r": record})
        made.flush()
        with made.fill_context() as context:
            context.extend({"x": pd.Series([None, 7.5], dtype="Float64"), "r": record})
        made.add_columns({"late": "?int64"})
        made.extend({"x": [1.0], "r": record[:1], "late": masked([ODD], mask=[0])})
        tree = file.mktree("u", {"x": "float64"})
        with pytest.raises(ValueError, match=r"branch x.*nulls"):
            tree.extend({"x": masked([1.5, 2.5], mask=[1, 0])})
    read = columns(path)
    assert read["x"].to_list() == [None, 2.5, None, 7.5, 1.0]
    assert read["r"].to_list()[1] == {"a": 2, "b": None}
    assert read["r"].to_list()[0] == {"a": 1, "b": ODD}
    assert read["late"].to_list()[-1] == ODD


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("how", REFUSED)
def test_what_would_change_is_refused_by_name(tmp_path: Path, how: str, container: Any) -> None:
    with (
        pytest.raises((ValueError, TypeError), match=r"(column|field) x"),
        bk.recreate(tmp_path / "out.root", container=container) as file,
    ):
        file["t"] = {"x": REFUSED[how]()}
    assert not list(tmp_path.iterdir())


def test_texts_among_numbers_are_variants_or_refused(tmp_path: Path) -> None:
    path, mixed = tmp_path / "out.root", [1, "a", 2**53 + 1]
    with bk.recreate(path, container="rntuple") as file:
        file["t"] = {"x": mixed}
    assert columns(path)["x"].to_list() == mixed
    with pytest.raises(ValueError, match="field x"), bk.recreate(tmp_path / "tree.root") as file:
        file["t"] = {"x": mixed}


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("way", WAYS)
def test_values_beyond_the_range_of_a_column_are_refused(tmp_path: Path, way: str, container: Any) -> None:
    path = tmp_path / "out.root"
    types: Any = {"x": "float32"} if way != "pandas" else {"index": "int64", "x": "float32"}
    with bk.recreate(path) as file:
        make = file.mktree if container == "ttree" else file.mkrntuple
        made = make("t", types)
        given = WAYS[way]
        made.extend(given(np.array([0.1, np.inf, -np.inf, 3.4e38])))
        for beyond in (1e300, -3.41e38):
            with pytest.raises(ValueError, match=r"column x.*beyond the range"):
                made.extend(given(np.array([1.0, beyond])))
            with made.fill_context() as context, pytest.raises(ValueError, match=r"column x.*beyond the range"):
                context.extend(given(np.array([1.0, beyond])))
    assert columns(path)["x"].to_list() == np.array([0.1, np.inf, -np.inf, 3.4e38], "f4").tolist()


def test_ranges_hold_at_any_depth_and_in_late_columns(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with bk.recreate(path) as file:
        tree = file.mktree("t", {"l": "var * float32", "n": "int32", "u": "int64"})
        good = {"l": [[1.5], []], "n": [1, 2], "u": [1, 2]}
        tree.extend(good)
        for column, values in {
            "l": [[1e39], [2.0]],
            "n": np.array([1, 2**31]),
            "u": np.array([1, 2**63], "uint64"),
        }.items():
            with pytest.raises(ValueError, match=f"column {column}"):
                tree.extend({**good, column: values})
        with pytest.raises(ValueError, match="column n"):
            tree.extend({**good, "n": [1.0, np.nan]})
        tree.add_columns({"late": "float32"})
        with pytest.raises(ValueError, match=r"column late.*beyond"):
            tree.extend({**good, "late": [1.0, 1e39]})
        tree.extend({**good, "late": [1.0, 2.0]})
    assert columns(path)["n"].to_list() == [1, 2, 1, 2]


@pytest.mark.parametrize(("encoding", "beyond"), [("half", 7e4), ("truncated:16", 1e39), ("single", 1e39)])
def test_encodings_keep_finite_values_finite(tmp_path: Path, encoding: str, beyond: float) -> None:
    kind = "float32" if beyond < 1e38 else "float64"
    for values, fits in ((np.array([1.5, 100.0], kind), True), (np.array([1.5, beyond], kind), False)):
        path = tmp_path / f"{fits}.root"
        try:
            with bk.recreate(path, container="rntuple", encoding=encoding) as file:
                file["t"] = {"x": values}
        except ValueError as error:
            assert "beyond the range" in str(error) and not fits, error  # noqa: PT017, PT018
        else:
            assert fits
            assert columns(path)["x"].to_list() == [1.5, 100.0]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_columns_of_one_name_are_refused(tmp_path: Path, container: Any) -> None:
    frame = pd.DataFrame([[1, 2.5]], columns=["x", "x"])
    numbered = pd.DataFrame([[1, 2.5]], columns=[1, "1"])
    table = pa.table([pa.array([1]), pa.array([2.5])], names=["x", "x"])
    with bk.recreate(tmp_path / "out.root", container=container) as file:
        for twice in (frame, numbered, table, table.to_reader()):
            with pytest.raises(ValueError, match=r"two columns .*called [x1]"):
                file["t"] = twice
        assert file.keys() == []


def test_an_index_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    read = pd.DataFrame({"index": [5, 6], "x": [1.5, 2.5]})
    with bk.recreate(path) as file:
        file["t"] = read
        file["n"] = pd.DataFrame({"x": [1.5]}, index=pd.Index([ODD], dtype="Int64"))
        with pytest.raises(ValueError, match="index"):
            file["u"] = read.set_axis([7, 8])
    assert columns(path)["index"].to_list() == [5, 6]
    with uproot.open(path) as file:
        assert file["n"]["index"].array().to_list() == [ODD]


def test_parquet_columns_of_one_name_are_refused(tmp_path: Path, basketry: Basketry) -> None:
    table = pa.table([pa.array([1]), pa.array([2.5])], names=["x", "x"])
    pq.write_table(table, tmp_path / "twice.parquet")
    pq.write_table(pa.table({"x": pa.array([1, None], pa.int32())}), tmp_path / "gap.parquet")
    pq.write_table(pa.table({"a/b": pa.array([1]), "a.b": pa.array([2.5])}), tmp_path / "slash.parquet")
    output = ("-o", tmp_path / "out.root")
    assert "two columns of the name x" in basketry.refuses("convert", tmp_path / "twice.parquet", *output)
    assert "two columns of the name a.b" in basketry.refuses("convert", tmp_path / "slash.parquet", *output)
    for number in ("0.5", "1e300"):
        assert "is no Int32" in basketry.refuses("convert", tmp_path / "gap.parquet", *output, "--fill-null", number)
    assert not (tmp_path / "out.root").exists()


def test_updates_refuse_taken_names_where_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with bk.recreate(path) as file:
        file["t"] = {"x": [1, 2]}
        file["dir/n"] = {"x": [3]}
        file["text"] = "old"
    with bk.update(path) as file:
        file["new"] = {"y": [0.5]}
        for taken in ("t", "dir", "dir/n", "t/below"):
            for give in (
                lambda name: file.__setitem__(name, {"z": [1]}),
                lambda name: file.__setitem__(name, "text"),
                lambda name: file.mktree(name, {"z": "int32"}),
                lambda name: file.mkrntuple(name, {"z": "int32"}),
            ):
                with pytest.raises(ValueError, match="already has the") as refused:
                    give(taken)
                listed = ("t (TTree)", "dir/n (TTree)", "text (TObjString)", "new (TTree)")
                assert all(one in str(refused.value) for one in listed)
        with pytest.raises(ValueError, match="already has the TObjString text"):
            file["text"] = {"z": [1]}
        with pytest.raises(ValueError, match="already has"):
            file["dir"].mktree("n", {"z": "int32"})
        file["dir"]["more"] = {"y": [1.5]}
        assert file["text"] == "old"
        assert set(file.keys(cycle=False)) == {"t", "dir", "dir/n", "text", "new", "dir/more"}
    with uproot.open(path) as file:
        names = {name.partition(";")[0] for name in file.keys()}  # noqa: SIM118
        assert names == {"t", "dir", "dir/n", "text", "new", "dir/more"}
        assert [file[name]["x"].array().to_list() for name in ("t", "dir/n")] == [[1, 2], [3]]
        assert [file[name]["y"].array().to_list() for name in ("new", "dir/more")] == [[0.5], [1.5]]
    assert [one.name for one in tmp_path.iterdir()] == ["out.root"]


def test_an_update_that_fails_or_is_in_the_way_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    (tmp_path / "out.root.added").write_text("mine")
    with bk.recreate(path) as file:
        file["t"] = {"x": [1, 2]}
    before = path.read_bytes()
    with bk.update(path) as file:
        file["u"] = {"x": [3]}
        file.abandon()
    assert path.read_bytes() == before
    with bk.update(path) as file:
        file["u"] = {"x": [3]}
    assert columns(path)["x"].to_list() == [1, 2]
    assert (tmp_path / "out.root.added").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2
