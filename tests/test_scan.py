"""Tables for other engines: polars and DuckDB get the values that uproot reads, and of a file only the columns are read
that a query names. What is read is counted twice: columns and entries where the package asks for them, and bytes by
what a server sent."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import uproot

import basketry as bk
from basketry.engines import arrow, source
from basketry.reading import libraries
from servers.odd import Behaviour, OddServer

ENTRIES, CLUSTERS = 4000, 8
# Columns that no query names: nearly all bytes of the file.
UNUSED = 4


@dataclass
class Reads:
    """What the package reads for engines."""

    # Columns with the number of entries that are read of them.
    entries: dict[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> set[str]:
        """The columns of which entries are read."""
        return {name for name, count in self.entries.items() if count}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Counts what is read."""
    found = Reads()
    reading = source.Source._reading

    def counted(self: source.Source, wanted: Any, start: int, stop: int, chosen: Any = None) -> Any:
        for name in wanted:
            count = stop - start if chosen is None else len(chosen)
            found.entries[name] = found.entries.get(name, 0) + count
        return reading(self, wanted, start, stop, chosen)

    monkeypatch.setattr(source.Source, "_reading", counted)
    return found


def columns() -> dict[str, Any]:
    """Numbers, truth values, arrays, lists, texts."""
    generator = np.random.default_rng(35)
    counts = generator.integers(0, 4, ENTRIES)
    unused = {f"unused{number}": generator.random((ENTRIES, 64)) for number in range(UNUSED)}
    return {
        "i": np.arange(ENTRIES, dtype=np.int32),
        "x": generator.random(ENTRIES),
        "flag": generator.random(ENTRIES) < 0.5,
        "fixed": generator.random((ENTRIES, 3)).astype(np.float32),
        "v": ak.unflatten(generator.random(counts.sum()).astype(np.float32), counts),
        "word": ak.Array([f"w{number % 7}" for number in range(ENTRIES)]),
        **unused,
    }


MADE = columns()
NAMED = ["i", "x", "flag", "fixed", "v", "word"]


@pytest.fixture(scope="module", params=["tree", "ntuple"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with several clusters."""
    name = str(tmp_path_factory.mktemp("scan") / f"{request.param}.root")
    with bk.recreate(name, cluster=f"{ENTRIES // CLUSTERS}") as file:
        make = file.mktree if request.param == "tree" else file.mkrntuple
        make("t", MADE)
    return name


def values(name: str, start: int = 0, stop: int | None = None) -> list[Any]:
    """The values of a column."""
    listed: list[Any] = ak.to_list(ak.Array(MADE[name])[start:stop])
    return listed


CONDITIONS: list[tuple[str, set[str], Callable[[], Any]]] = [
    ("few", {"i"}, lambda: pl.col("i") % 997 == 3),
    ("none", {"x"}, lambda: pl.col("x") > 2),
    ("most", {"x", "flag"}, lambda: pl.col("flag") | (pl.col("x") > 0.2)),
    ("lists", {"v"}, lambda: pl.col("v").list.len() == 3),
    ("texts", {"word", "i"}, lambda: (pl.col("word") == "w3") & (pl.col("i") < 100)),
    ("arrays", {"fixed"}, lambda: pl.col("fixed").arr.get(1) > 0.9),
    ("of no column", set(), lambda: pl.lit(True)),
]


def test_the_file_has_several_clusters(path: str) -> None:
    assert len(bk.open(f"{path}:t").clusters) > CLUSTERS // 2


def test_polars_has_the_values_that_uproot_reads(path: str) -> None:
    frame = bk.scan(f"{path}:t").collect()
    theirs = uproot.open(f"{path}:t").arrays(NAMED)

    assert len(frame) == ENTRIES
    for name in NAMED:
        assert frame[name].to_list() == ak.to_list(theirs[name]) == values(name), name
    assert frame.schema["v"] == pl.List(pl.Float32)
    assert frame.schema["fixed"] == pl.Array(pl.Float32, 3)
    assert bk.scan(path).collect_schema() == frame.schema


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(("needs", "condition"), [pytest.param(*one[1:], id=one[0]) for one in CONDITIONS])
def test_a_condition_reads_its_columns_and_what_is_selected(
    path: str, reads: Reads, needs: set[str], condition: Callable[[], Any], engine: Any
) -> None:
    whole = pl.DataFrame({name: pl.Series(values(name)) for name in NAMED}).with_columns(
        pl.col("fixed").cast(pl.Array(pl.Float32, 3)), pl.col("v").cast(pl.List(pl.Float32))
    )
    expected = whole.filter(condition()).select("v", "i")

    found = bk.scan(f"{path}:t").filter(condition()).select("v", "i").collect(engine=engine)

    assert found.rows() == expected.rows()
    assert reads.columns <= needs | {"v", "i"}
    if len(expected) == 0:
        assert reads.columns == needs
    if 0 < len(expected) < ENTRIES / 20 and "v" not in needs:
        assert reads.entries["v"] == len(expected)


def test_any_query_gives_what_polars_gives_of_frames(path: str, reads: Reads) -> None:
    """Projections, conditions and limits in any order, against the same on a frame in memory."""
    lazy, whole = bk.scan(f"{path}:t"), bk.scan(f"{path}:t").select(NAMED).collect()
    generator = np.random.default_rng(8)
    for _ in range(60):
        reads.entries.clear()
        steps: list[Callable[[Any], Any]] = []
        wanted: list[str] = [*generator.permutation(NAMED)[: generator.integers(1, len(NAMED) + 1)]]
        for step in generator.permutation(4)[: generator.integers(0, 4)]:
            count, least = int(generator.integers(0, 3000)), float(generator.random())
            steps += [
                lambda frame, count=count: frame.head(count),
                lambda frame, least=least: frame.filter(pl.col("x") > least),
                lambda frame, count=count: frame.slice(count, 100),
                lambda frame, least=least: frame.filter(pl.col("flag"), pl.col("i") > 3000 * least),
            ][step : step + 1]

        def done(frame: Any, steps: Any = steps, wanted: Any = wanted) -> Any:
            for step in steps:
                frame = step(frame)
            return frame.select(wanted)

        assert done(lazy).collect().rows() == done(whole).rows()
        assert reads.columns <= {*wanted, "x", "flag", "i"}


def test_a_limit_ends_the_reading(path: str, reads: Reads) -> None:
    assert bk.scan(path).head(10).select("i").collect()["i"].to_list() == list(range(10))
    assert reads.entries["i"] == 10
    assert reads.columns == {"i"}
    # polars means the condition of the first ten.
    assert bk.scan(path).head(10).filter(pl.col("i") > 7).select("i").collect()["i"].to_list() == [8, 9]


def test_counting_reads_one_column_at_most(path: str, reads: Reads) -> None:
    # polars asks for some small column.
    assert bk.scan(path).select(pl.len()).collect().item() == ENTRIES
    assert len(reads.columns) <= 1
    reads.entries.clear()
    assert bk.sql("select count(*) from t", t=path).fetchall() == [(ENTRIES,)]
    assert len(reads.columns) <= 1


def test_a_scan_can_be_collected_again_and_written(path: str, tmp_path: Path) -> None:
    lazy = bk.scan(path, memory="40MB").select("i", "v").filter(pl.col("i") > 5)
    first = lazy.collect()
    lazy.sink_parquet(tmp_path / "out.parquet")

    assert lazy.collect().equals(first)
    assert pl.read_parquet(tmp_path / "out.parquet").equals(first)


def test_several_files_patterns_and_open_tables(path: str) -> None:
    folder = Path(path).parent
    many = [f"{path}:t", f"{path}:t"]
    for files in (many, {path: "t"}, str(folder / "*.root"), bk.open(f"{path}:t"), Path(path), bk.open(path)):
        count = 2 if files is many else 1
        assert bk.scan(files).select("i").collect()["i"].to_list() == list(range(ENTRIES)) * count
        assert bk.sql("select sum(i), count(*) from a", a=files).fetchall() == [
            (count * sum(range(ENTRIES)), count * ENTRIES)
        ]
    assert bk.scan(path, tree="t").select("i").collect().height == ENTRIES
    with pytest.raises(FileNotFoundError):
        bk.scan(str(folder / "absent.root"))
    with pytest.raises((KeyError, ValueError), match="T"):
        bk.scan(path, tree="T")
    with pytest.raises(ValueError, match="unknown join"):
        bk.scan(path, join="any")  # type: ignore[arg-type]


QUERIES: list[tuple[str, set[str]]] = [
    ("select avg(x) from t", {"x"}),
    ("select i, v from t where i % 500 = 0 order by i", {"i", "v"}),
    ("select i, v[1] from t where x > 0.99 order by i", {"i", "v", "x"}),
    ("select count(*) from t where flag", {"flag"}),
    (
        "select word, count(*), max(fixed[2]) from t where x between 0.2 and 0.3 group by 1 order by 1",
        {"word", "fixed", "x"},
    ),
    ("select a.i from t a join t b on a.i = b.i + 1 where a.x > 0.9 and b.flag order by 1", {"i", "x", "flag"}),
    ("select max(len(v)) from t where word in ('w1', 'w2') and not flag", {"v", "word", "flag"}),
    ("with big as (select * from t where x > 0.5) select sum(i) from big", {"x", "i"}),
    ("select i from t limit 5", {"i"}),
]


@pytest.mark.parametrize(("query", "needs"), QUERIES)
def test_duckdb_reads_the_columns_that_a_query_names(path: str, reads: Reads, query: str, needs: set[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    whole = pa.table(bk.open(path)["t"].arrays(NAMED, library="arrow"))
    reads.entries.clear()

    found = bk.sql(query, t=path).fetchall()

    connection = duckdb.connect()
    connection.register("t", whole)
    assert found == connection.sql(query).fetchall()
    assert len(found) > 0
    assert reads.columns == needs


def test_duckdb_conditions_reach_the_reading(path: str, reads: Reads) -> None:
    (row,) = bk.sql("select v, i from t where i = 1234", t=path).fetchall()
    assert row == (values("v")[1234], 1234)
    assert reads.entries["v"] == 1


@pytest.mark.parametrize(
    "condition",
    ["x > 0.5", "x > 0.5 and i < 300", "i in (3, 5, 7)", "flag", "not flag", "word = 'w1'", "word like 'w%'",
     "x is null", "i > 10 or x < 0.1", "i <> 3 and i >= 1", "x + i > 100", "fixed[1] > 0.5", "true", "false"],
)  # fmt: skip
def test_conditions_of_duckdb_keep_the_same_entries(path: str, condition: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("t", pa.table(bk.open(path)["t"].arrays(NAMED, library="arrow")))
    query = f"select i, word from t where {condition} order by i"
    assert bk.sql(query, t=path).fetchall() == connection.sql(query).fetchall()


def test_sql_takes_connections_parameters_and_several_tables(path: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.sql("create table cuts as select 0.5 as least")
    query = "select count(*) from ev, other, cuts where ev.i = other.i and ev.x > least and ev.i < ?"
    found = bk.sql(query, {"ev": path}, other=path, connection=connection, parameters=[100]).fetchall()
    assert found == [(sum(one > 0.5 for one in values("x", 0, 100)),)]
    # The tables stay.
    assert connection.sql("select max(i) from ev").fetchall() == [(ENTRIES - 1,)]
    with pytest.raises(ValueError, match="no table is named"):
        bk.sql("select 1")
    with pytest.raises(TypeError, match="dict"):
        bk.sql("select 1", path)  # type: ignore[arg-type]
    with pytest.raises(duckdb.Error, match="nothing"):
        bk.sql("select nothing from t", t=path)


def test_a_result_outlives_what_made_it(path: str) -> None:
    import gc

    relation = bk.sql("select sum(i) from t", t=path)
    gc.collect()
    assert relation.fetchall() == [(sum(range(ENTRIES)),)]


def test_the_needs_of_conditions_are_found() -> None:
    schema = pa.schema([(name, pa.int64()) for name in ["a", "b", "a.b", "odd )(", "'", *map(str, range(200))]])
    fields = {name: pa.compute.field(name) for name in schema.names}
    assert arrow.needs(fields["a"] > 1, schema) == ["a"]
    assert arrow.needs((fields["odd )("] > 1) & (fields["'"] < 3) | ~(fields["150"] == 3), schema) == [
        "odd )(",
        "'",
        "150",
    ]
    assert arrow.needs(pa.compute.scalar(True), schema) == []


def test_a_requested_schema_names_what_is_read(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = bk.open(path)["t"]
    asked: list[Any] = []
    steps = type(table._table).steps

    class Counted:
        """The table, which notes what is asked of it."""

        def __getattr__(self, name: str) -> Any:
            return getattr(table.__dict__["own"], name)

        def steps(self, reading: Any, *sizes: Any) -> Any:
            asked.append(reading.columns)
            return steps(table.__dict__["own"], reading, *sizes)

    table.__dict__["own"] = table._table
    monkeypatch.setattr(table, "_table", Counted())
    schema = pa.schema([("v", pa.large_list(pa.float32())), ("i", pa.int32())])
    found = pa.RecordBatchReader.from_stream(table, schema=schema).read_all()

    assert found.column_names == ["v", "i"]
    assert found["v"].to_pylist() == values("v")
    assert [len(one) for one in asked] == [2]
    with pytest.raises(KeyError, match="absent"):
        table.__arrow_c_stream__(pa.schema([("absent", pa.int32())]).__arrow_c_schema__())
    assert len(pa.table(bk.open(path)["t"]).column_names) >= len(MADE)


@pytest.fixture
def url(path: str, odd_server: OddServer) -> tuple[str, OddServer, str]:
    """The file on a server that counts bytes."""
    return odd_server.put("scan.root", Path(path).read_bytes(), Behaviour(ranges="several")), odd_server, path


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_bytes_that_are_sent_are_those_of_the_columns(url: tuple[str, OddServer, str], engine: str) -> None:
    place, server, path = url
    bk.open(place)["t"].keys()
    opening = server.sent
    table = bk.open(path)["t"]
    named = sum(table[name].compressed_bytes for name in ("x", "i"))
    assert table.compressed_bytes > 20 * named
    server.forget()

    if engine == "polars":
        found = bk.scan(place).filter(pl.col("x") > 0.5).select("i").collect()["i"].to_list()
    else:
        found = [one for (one,) in bk.sql("select i from t where x > 0.5", t=place).fetchall()]

    assert found == [number for number, one in enumerate(values("x")) if one > 0.5]
    # The file is opened, and its columns are read with the heads of the parts of replies.
    assert server.sent <= 2 * opening + 1.5 * named


def test_columns_that_are_unknown_or_have_no_type_are_left_out(path: str) -> None:
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="absent"):
        bk.scan(path).select("absent").collect()
    own = source.Source(bk.open(f"{path}:t"), 0, "1GB")
    own._variants = {"i"}
    assert "i" not in own.names


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("polars", lambda: bk.scan("absent.root")),
        ("duckdb", lambda: bk.sql("select 1", t="absent.root")),
        ("pyarrow", lambda: bk.sql("select 1", t="absent.root")),
        ("polars", lambda: libraries.grouper("pl", None)),
        ("pyarrow", lambda: libraries.grouper("arrow", None)),
        ("pandas", lambda: libraries.grouper("pd", list)),
    ],
)
def test_a_package_that_is_absent_is_named(
    monkeypatch: pytest.MonkeyPatch, package: str, call: Callable[[], object]
) -> None:
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        call()
