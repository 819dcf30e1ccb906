"""A program as users write them, over all of the reading: `python reading.py FOLDER` makes its files there.

A type checker compares each result with the type that it knows for it, and the run with the class that it has.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, assert_type

import awkward as ak
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

import basketry as bk
from basketry.objects.histograms import Histogram
from basketry.reading.stepping import Report
from basketry.reports import Counts, Inspection, Listing, Rows, TableColumns, TableStatistics, Verdict

Value = TypeVar("Value")


def of(value: Value, kind: type) -> Value:
    """The value, which has that class."""
    assert isinstance(value, kind), f"{type(value)} is no {kind}"
    return value


def arrays(tree: bk.Tree) -> None:
    """Several branches, in each library and container."""
    assert_type(of(tree.arrays(), ak.Array), ak.Array)
    assert_type(of(tree.arrays(["x"], "x > 1", how="zip"), ak.Array), ak.Array)
    assert_type(of(tree.arrays(library="np"), dict), dict[str, NDArray[Any]])
    assert_type(of(tree.arrays(library="np")["x"], np.ndarray), NDArray[Any])
    assert_type(of(tree.arrays(library="numpy", entry_stop=1, threads=1), dict), dict[str, NDArray[Any]])
    assert_type(of(tree.arrays(library="pd"), pd.DataFrame), pd.DataFrame)
    assert_type(of(tree.arrays(library="arrow"), pa.Table), pa.Table)
    assert_type(of(tree.arrays(library="pl"), pl.DataFrame), pl.DataFrame)
    assert_type(of(tree.arrays(how=tuple), tuple), tuple[ak.Array, ...])
    assert_type(of(tree.arrays(how=list), list), list[ak.Array])
    assert_type(of(tree.arrays(how=dict), dict), dict[str, ak.Array])
    assert_type(of(tree.arrays(library="np", how=tuple), tuple), tuple[NDArray[Any], ...])
    assert_type(of(tree.arrays(library="np", how=list), list), list[NDArray[Any]])
    assert_type(of(tree.arrays(library="np", how=dict), dict), dict[str, NDArray[Any]])
    assert_type(of(tree.arrays(library="pd", how=tuple), tuple), tuple[pd.Series, ...])
    assert_type(of(tree.arrays(library="pd", how=list), list), list[pd.Series])
    assert_type(of(tree.arrays(library="pd", how=dict), dict), dict[str, pd.Series])
    assert_type(of(tree[:2], ak.Array), ak.Array)


def steps(tree: bk.Tree) -> None:
    """The same in steps."""
    assert_type(tree.iterate(), Iterator[ak.Array])
    assert_type(of(next(tree.iterate(library="np")), dict), dict[str, NDArray[Any]])
    assert_type(of(next(tree.iterate(library="pd")), pd.DataFrame), pd.DataFrame)
    assert_type(of(next(tree.iterate(library="arrow")), pa.Table), pa.Table)
    assert_type(of(next(tree.iterate(library="pl", step_size=1)), pl.DataFrame), pl.DataFrame)
    assert_type(of(next(tree.iterate(library="np", how=tuple)), tuple), tuple[NDArray[Any], ...])
    assert_type(of(next(tree.iterate(how=list)), list), list[ak.Array])
    for frame, report in tree.iterate(library="pd", report=True):
        assert_type(of(frame, pd.DataFrame), pd.DataFrame)
        assert_type(of(report, Report), Report)
        assert_type(of(report.start, int), int)


def branch(one: bk.Branch) -> None:
    """One branch."""
    assert_type(of(one.array(), ak.Array), ak.Array)
    assert_type(of(one.array(library="np"), np.ndarray), NDArray[Any])
    assert_type(of(one.array("u4", 0, 2, library="np"), np.ndarray), NDArray[Any])
    assert_type(of(one.array(library="pd"), pd.Series), pd.Series | pd.DataFrame)
    assert_type(of(one.array(library="arrow"), pa.ChunkedArray), pa.ChunkedArray)
    assert_type(of(one.array(library="pl"), pl.Series), pl.Series)
    assert_type(of(one[:3], ak.Array), ak.Array)
    assert_type(of(one.typename, str), str)
    assert_type(of(one.num_entries, int), int)


def names(tree: bk.Tree) -> None:
    """What a tree has."""
    assert_type(of(tree.keys(), list), list[str])
    assert_type(of(tree.values(filter_name="x"), list), list[bk.Branch])
    assert_type(of(tree.items(), list), list[tuple[str, bk.Branch]])
    assert_type(of(tree.typenames(), dict), dict[str, str])
    assert_type(of(tree["x"], bk.Branch), bk.Branch)
    assert_type(of(tree.num_entries, int), int)


def files(path: str, both: list[str]) -> None:
    """Several files."""
    assert_type(of(bk.concatenate(both), ak.Array), ak.Array)
    assert_type(of(bk.concatenate(both, "x", library="np", allow_missing=True), dict), dict[str, NDArray[Any]])
    assert_type(of(bk.concatenate(both, library="pl"), pl.DataFrame), pl.DataFrame)
    assert_type(of(bk.concatenate(both, library="np", how=tuple), tuple), tuple[NDArray[Any], ...])
    assert_type(of(next(bk.iterate(both, library="np", join="strict")), dict), dict[str, NDArray[Any]])
    for frame, report in bk.iterate(both, library="pl", report=True):
        assert_type(of(frame, pl.DataFrame), pl.DataFrame)
        assert_type(of(report, Report), Report)
    assert_type(of(bk.scan(path), pl.LazyFrame), pl.LazyFrame)
    assert_type(of(bk.sql("select x from t", t=path), duckdb.DuckDBPyRelation), duckdb.DuckDBPyRelation)
    for place, tree, entries in bk.num_entries(both):
        assert_type((of(place, str), of(tree, str), of(entries, int)), tuple[str, str, int])


def training(path: str) -> None:
    """Batches."""
    loader = of(bk.loader(path, ["x"], batch_size=2, shuffle=True), bk.Loader)
    assert_type(loader, bk.Loader[dict[str, Any]])
    assert_type(of(len(loader), int), int)
    for batch in loader:
        # A column without lists is an array, another one may be a `Jagged`.
        assert_type(of(batch, dict), dict[str, Any])
    assert_type(of(loader.matrices(), bk.Loader), bk.Loader[Any])


def histograms(one: Histogram) -> None:
    """Objects."""
    assert_type(of(one.values(), np.ndarray), NDArray[Any])
    assert_type(of(one.values(flow=True), np.ndarray), NDArray[Any])
    assert_type(of(one.variances(), np.ndarray), NDArray[np.float64])
    assert_type(of(one.errors(), np.ndarray), NDArray[np.float64])
    assert_type(of(one.to_numpy(), tuple), tuple[NDArray[Any], ...])
    assert_type(of(one.to_numpy(dd=True), tuple), tuple[NDArray[Any], tuple[NDArray[Any], ...]])
    assert_type(of(one.axis("x").edges(), np.ndarray), NDArray[np.float64])
    assert_type(of(one.axis().labels(), type(None)), list[str] | None)


def reports(path: str, other: str) -> None:
    """The verbs that look."""
    assert_type(of(bk.inspect(path), Inspection), Inspection)
    assert_type(of(bk.ls(path), Listing), Listing)
    assert_type(of(bk.count(path), Counts), Counts)
    assert_type(of(bk.schema(f"{path}:t"), TableColumns), TableColumns)
    assert_type(of(bk.show(f"{path}:t"), Rows), Rows)
    assert_type(of(bk.stats(f"{path}:t"), TableStatistics), TableStatistics)
    assert_type(of(bk.verify(path, other), Verdict), Verdict)
    assert_type(of(bk.inspect(path).file.bytes, int), int)


def opened(path: str) -> None:
    """What a path means only the file knows: it may be used as what it is, or be given to a variable."""
    assert_type(of(bk.open(f"{path}:t").arrays(library="np"), dict), dict[str, NDArray[Any]] | Any)
    assert_type(of(bk.open(path)["t"].arrays(library="pl"), pl.DataFrame), pl.DataFrame | Any)
    assert_type(of(bk.open(path)["t"]["x"].array(library="np"), np.ndarray), NDArray[Any] | Any)
    assert_type(of(bk.open(path).keys(cycle=False), list), list[str] | Any)
    of(bk.open(path).classnames(), dict)
    of(bk.open(path)["h"].values(flow=True).sum(), float)
    of(bk.open(path)["h"].to_hist().sum(), float)
    of(bk.open(f"{path}:n").fields, list)
    with bk.open(path) as file:
        tree: bk.Tree = of(file["t"], bk.Tree)
        assert_type(of(tree.arrays(library="np"), dict), dict[str, NDArray[Any]])
        ntuple = file["n"]
        assert isinstance(ntuple, bk.RNTuple)
        assert_type(of(ntuple["x"], bk.Field), bk.Field)
        assert_type(of(ntuple["x"].array(library="np"), np.ndarray), NDArray[Any])
        histogram = file["h"]
        assert isinstance(histogram, Histogram)
        histograms(histogram)
    assert_type(of(bk.File(path).keys(), list), list[str])


def main() -> None:
    """Makes files, and reads them in all ways."""
    folder = Path(sys.argv[1])
    both = [str(folder / name) for name in ("a.root", "b.root")]
    for name in both:
        with bk.recreate(name) as file:
            file["t"] = {"x": np.arange(3, dtype=np.float32), "y": np.arange(3)}
            file.mkrntuple("n", {"x": np.arange(3.0)})
            file["h"] = np.histogram([1.0, 2.0, 2.5], bins=4)
    path = f"{both[0]}:t"
    tree: bk.Tree = bk.open(path)
    arrays(tree)
    steps(tree)
    branch(tree["x"])
    names(tree)
    files(path, [f"{name}:t" for name in both])
    training(path)
    reports(*both)
    opened(both[0])


if __name__ == "__main__":
    main()
