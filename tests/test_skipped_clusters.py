"""Clusters that a cut does not read: what is known of their values decides it. The entries that pass are those that
pyarrow or NumPy tell, and the bytes that are read are counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import basketry as bk
from referee.command import Basketry

ENTRIES = 40_000
CLUSTERS = 20
EACH = ENTRIES // CLUSTERS


def columns() -> dict[str, Any]:
    """A number that grows, with NaN in the second cluster, others by chance, and lists that grow."""
    random = np.random.default_rng(5)
    x = np.sort(random.normal(size=ENTRIES)).astype("f4")
    x[EACH + 7] = np.nan
    run = np.arange(ENTRIES, dtype="u4") // EACH
    return {"x": x, "run": run, "energy": random.exponential(size=ENTRIES), "flag": run % 2 == 0}


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return columns()


@pytest.fixture(scope="module")
def parquet(values: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("skipped") / "t.parquet"
    lists = pa.array([[number // EACH] * (number % 3) for number in range(ENTRIES)], pa.list_(pa.int32()))
    some = pa.array([None if number % 5 == 0 or number < EACH else number for number in range(ENTRIES)], pa.uint64())
    names = pa.array([f"n{number}" for number in range(ENTRIES)])
    table = pa.table({**values, "jets": lists, "some": some, "names": names})
    pq.write_table(table, path, row_group_size=EACH)
    return path


@pytest.fixture(scope="module", params=["ttree", "rntuple"])
def root(parquet: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a tree and as an RNTuple, in the same clusters."""
    path = tmp_path_factory.mktemp(request.param) / "t.root"
    bk.convert(parquet, path, container=request.param, drop="some")
    assert len(bk.open(f"{path}:Events").clusters) == CLUSTERS + 1
    return path


def bytes_read(work: Callable[[], Any]) -> int:
    """Bytes that this process asks files for, in a step of its work."""

    def so_far() -> int:
        lines = Path("/proc/self/io").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("rchar:"))

    before = so_far()
    work()
    return so_far() - before


CUTS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "run == 7": (lambda t: pc.equal(t["run"], 7), CLUSTERS),
    "run > 17.5 or run < 1": (lambda t: pc.or_(pc.greater(t["run"], 17.5), pc.less(t["run"], 1)), CLUSTERS),
    "x > 1": (lambda t: pc.and_(pc.greater(t["x"], 1), pc.invert(pc.is_nan(t["x"]))), 16),
    "not x > -10": (lambda t: pc.is_nan(t["x"]), 0),
    "some >= 38000": (lambda t: pc.fill_null(pc.greater_equal(t["some"], 38000), False), 19),
    "isnull(some) and run < 1": (lambda t: pc.and_(pc.is_null(t["some"]), pc.less(t["run"], 1)), 19),
    "flag and run >= 2 and run < 6": (
        lambda t: pc.and_(t["flag"], pc.and_(pc.greater_equal(t["run"], 2), pc.less(t["run"], 6))),
        CLUSTERS,
    ),
    "any(jets == 3)": (lambda t: pa.array([3 in jets for jets in t["jets"].to_pylist()]), 19),
    "names == 'n77'": (lambda t: pc.equal(t["names"], "n77"), 0),
    "entry >= 100 and entry < 8000": (lambda t: pa.array((np.arange(len(t)) >= 100) & (np.arange(len(t)) < 8000)), 19),
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("threads", [1, 16])
def test_row_groups_of_parquet_files_are_skipped_by_their_statistics(
    parquet: Path, cut: str, threads: int, tmp_path: Path
) -> None:
    table = pq.read_table(parquet)
    kept, least = CUTS[cut]

    done = bk.rewrite(parquet, tmp_path / "out.root", cut=cut, keep=["run", "energy"], threads=threads)

    found = bk.open(f"{tmp_path}/out.root:Events").arrays(["run", "energy"], library="np")
    expected, step = table.filter(kept(table)), done.cut_flows[0].cuts[0]
    assert all(np.array_equal(found[name], expected[name].to_numpy()) for name in ("run", "energy"))
    assert (step.before, step.after) == (ENTRIES, len(expected))
    assert step.clusters_skipped >= least


def test_only_row_groups_that_may_pass_are_read(parquet: Path, tmp_path: Path) -> None:
    metadata = pq.read_metadata(parquet)
    place = metadata.schema.names.index("x")
    chunks = [metadata.row_group(group).column(place).total_compressed_size for group in range(CLUSTERS)]

    def rewrite(cut: str) -> Any:
        return bk.rewrite(parquet, tmp_path / "out.root", cut=cut, keep="x", force=True)

    none, some = rewrite("x > 100"), rewrite("x > 2")
    assert (none.tables[0].entries, none.cut_flows[0].cuts[0].clusters_skipped) == (0, CLUSTERS)
    assert some.cut_flows[0].cuts[0].clusters_skipped == CLUSTERS - 1
    # The last one is read for the cut, and once more for its values.
    assert some.bytes_read - none.bytes_read <= 2 * chunks[-1] + 1000 < sum(chunks) / 4


def test_a_file_without_statistics_is_read(values: dict[str, Any], tmp_path: Path) -> None:
    pq.write_table(pa.table(values), tmp_path / "t.parquet", row_group_size=EACH, write_statistics=False)
    done = bk.rewrite(tmp_path / "t.parquet", tmp_path / "out.root", cut="run == 7")
    assert (done.tables[0].entries, done.cut_flows[0].cuts[0].clusters_skipped) == (EACH, 0)


def test_a_cut_flow_counts_what_is_skipped(parquet: Path, basketry: Basketry, tmp_path: Path) -> None:
    cuts = ["run >= 3", "energy < 0", "run < 5"]
    options = [word for cut in cuts for word in ("--cut", cut)]
    text = basketry("rewrite", parquet, "-o", tmp_path / "out.root", "--keep", "run", *options)
    assert "clusters skipped" in text

    report = bk.rewrite(parquet, tmp_path / "json.root", cut=cuts, keep="run")
    steps = report.cut_flows[0].cuts
    assert [(step.before, step.after, step.clusters_skipped) for step in steps] == [
        (ENTRIES, ENTRIES - 3 * EACH, 3),
        (ENTRIES - 3 * EACH, 0, CLUSTERS - 3),
        (0, 0, 0),
    ]
    # Sums of weights are over all entries.
    weighted = (
        bk.rewrite(parquet, tmp_path / "w.root", cut="run >= 3", weight="energy", keep="run").cut_flows[0].cuts[0]
    )
    assert weighted.clusters_skipped == 0
    assert weighted.weight_before == pytest.approx(columns()["energy"].sum())


@pytest.mark.parametrize(
    "cut",
    [
        "x > 1.5",
        "(x > 1.5) & (energy < 0.5)",
        "x >= 0.1",
        "(run == 3) & flag",
        "1.5 < x",
        "run != 4",
        "x == x",
        "x > 1.5 and energy < 0.5",
        "any(jets == 3)",
    ],
)
def test_a_later_cut_of_an_open_table_keeps_the_same_entries(root: Path, cut: str) -> None:
    tree = bk.open(f"{root}:Events")
    fresh = [bk.open(f"{root}:Events").arrays(["energy", "run"], one, library="np") for one in ("run >= 0", cut)]

    for _ in range(3):
        found = tree.arrays(["energy", "run"], cut, library="np")
        assert all(np.array_equal(found[name], fresh[1][name]) for name in ("energy", "run"))
        again = tree.arrays(["energy", "run"], "run >= 0", library="np")
        assert np.array_equal(again["energy"], fresh[0]["energy"])


def test_a_later_cut_reads_less(root: Path, values: dict[str, Any]) -> None:
    tree = bk.open(f"{root}:Events")

    first = bytes_read(lambda: tree.arrays("run", "x > 2.5"))
    later = bytes_read(lambda: tree.arrays("run", "x > 2"))
    nothing = bytes_read(lambda: tree.arrays("run", "x > 200"))

    assert first > ENTRIES
    assert nothing < 1000 < later < first / 5
    assert len(tree.arrays("run", "x > 2")) == np.count_nonzero(values["x"] > 2)


def test_a_changed_file_is_read_again(parquet: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.root"
    bk.convert(parquet, path, drop="some")
    tree = bk.open(f"{path}:Events")
    first = bytes_read(lambda: tree.arrays("run", "x > 200"))
    assert bytes_read(lambda: tree.arrays("run", "x > 200")) < 1000

    path.touch()

    assert bytes_read(lambda: tree.arrays("run", "x > 200")) > first / 2


def test_single_precision_is_compared_as_numpy_does(tmp_path: Path) -> None:
    """0.1 as a float is larger than 0.1 as a double."""
    number = np.float32(0.1)
    with bk.recreate(tmp_path / "t.root") as file:
        file.mktree("t", {"x": "float32"}).extend({"x": np.full(10, number)})
    tree = bk.open(f"{tmp_path}/t.root:t")
    cuts = {"x == 0.1": 10, "x <= 0.1": 10, "x > 0.1": 0, "x < 0.1": 0, "0.1 >= x": 10, "x >= 16777217": 0}
    for cut, kept in cuts.items():
        for _ in range(2):
            assert len(tree.arrays("x", cut)) == kept, cut


def test_the_loader_skips_clusters_in_later_epochs(root: Path, values: dict[str, Any]) -> None:
    loader = bk.loader(f"{root}:Events", ["energy"], cut="x > 1.5", batch_size=500, shuffle=False)
    wanted = values["energy"][values["x"] > 1.5]

    def epoch() -> None:
        found = np.concatenate([batch["energy"] for batch in loader])
        assert np.array_equal(np.sort(found), np.sort(wanted))

    first, second = bytes_read(epoch), bytes_read(epoch)
    assert second < first / 2


@pytest.mark.parametrize("count", [0, 1])
def test_tables_with_hardly_an_entry(count: int, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([np.nan] * count, pa.float64())}), tmp_path / "t.parquet")
    for cut, kept in (("x > 0", 0), ("not x > 0", count), ("entry < 1", count), ("true", count)):
        done = bk.rewrite(tmp_path / "t.parquet", tmp_path / "out.root", cut=cut, force=True)
        assert done.tables[0].entries == kept, cut
        tree = bk.open(tmp_path / "out.root")["Events"]
        assert tree.num_entries == kept
        assert [len(tree.arrays("x", "x > 0")) for _ in range(2)] == [0, 0]


def test_a_later_condition_of_polars_reads_less(root: Path, values: dict[str, Any]) -> None:
    pl = pytest.importorskip("polars")
    tree = bk.open(f"{root}:Events")
    frame = bk.scan(tree).select("x", "run", "energy").collect()

    def found(condition: Any) -> int:
        kept = bk.scan(tree).filter(condition).select("energy", "run").collect()
        assert kept.equals(frame.filter(condition).select("energy", "run"))
        return len(kept)

    first = bytes_read(lambda: found(pl.col("x") > -100))
    later = bytes_read(lambda: found((pl.col("x") >= 2.5) & (pl.col("run") > 1)))
    assert later < first / 2
    # NaN is above all numbers here, and so its cluster is read as well.
    assert found(pl.col("x") >= 2.5) == np.count_nonzero(values["x"] >= 2.5) + 1
    assert found((pl.col("x") < 0.1) & (pl.col("run") == 3)) == EACH
    assert found(pl.col("x").is_nan() | (pl.col("run") > 100)) == 1


#: Cuts of NumPy's language, with the columns that steps have beside others, and of the command's alone.
STEPPED: dict[str, tuple[list[str], Callable[[Any], Any]]] = {
    "(x > 1.5) & (run > 1)": (["x", "run"], lambda t: (t["x"] > 1.5) & (t["run"] > 1)),
    "run == 7": (["run"], lambda t: t["run"] == 7),
    "x > 200": (["x"], lambda t: t["x"] > 200),
    "run == 7 and x > -100": ([], lambda t: (t["run"] == 7) & (t["x"] > -100)),
}


@pytest.mark.parametrize("size", [1500, "20 kB", None])
@pytest.mark.parametrize("cut", STEPPED)
def test_steps_do_not_read_what_cannot_pass(
    cut: str, size: int | str | None, parquet: Path, values: dict[str, Any]
) -> None:
    """The steps are those without a cut, also where none of their entries is read."""
    tree = bk.open(parquet)
    beside, passing = STEPPED[cut]
    plain = list(tree.iterate(["energy", *beside], step_size=size, report=True))
    found: list[Any] = []

    every = bytes_read(lambda: list(tree.iterate(["energy", "x", "run"], step_size=size)))
    some = bytes_read(lambda: found.extend(tree.iterate("energy", cut, step_size=size, report=True, library="np")))

    assert some < every / 3
    assert [(one.start, one.stop) for _, one in found] == [(one.start, one.stop) for _, one in plain]
    passes = passing(values)
    for step, one in found:
        part = slice(one.start, one.stop)
        assert np.array_equal(step["energy"], values["energy"][part][passes[part]])


def test_steps_of_a_selection_count_its_entries(root: Path, values: dict[str, Any]) -> None:
    chosen = np.flatnonzero(values["run"] % 3 == 0)
    for _ in range(2):
        tree = bk.open(f"{root}:Events")
        tree.arrays("run", "x > -100")
        steps = list(tree.iterate("run", "(run == 6) & (x < 100)", step_size=EACH, selection=chosen, report=True))
        found = np.concatenate([np.asarray(step["run"]) for step, _ in steps])
        assert found.tolist() == [6] * np.count_nonzero((values["run"] == 6) & (values["x"] < 100))
        assert steps[-1][1].stop == len(chosen)


QUERIES = {
    "run = 7": lambda t: t["run"] == 7,
    "run >= 3 and run < 5 and x < 100": lambda t: (t["run"] >= 3) & (t["run"] < 5) & (t["x"] < 100),
    "x < -2.25": lambda t: t["x"] < -2.25,
    "x < -200": lambda t: t["x"] < -200,
    "(run = 7 or run > 18) and run <> 19": lambda t: t["run"] == 7,
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_duckdb_does_not_read_what_cannot_pass(query: str, parquet: Path, values: dict[str, Any]) -> None:
    pytest.importorskip("duckdb")
    tree = bk.open(parquet)
    bk.sql("select count(*) from t", t=tree).fetchall()
    every = bytes_read(lambda: bk.sql("select sum(energy), sum(run), sum(x) from t", t=tree).fetchall())
    found: list[Any] = []
    some = bytes_read(lambda: found.extend(bk.sql(f"select energy from t where {query}", t=tree).fetchall()))
    assert [energy for (energy,) in found] == values["energy"][QUERIES[query](values)].tolist()
    # Of alternatives nothing is told.
    assert some < every / 3 or " or " in query


def test_the_text_of_a_condition_has_exact_numbers() -> None:
    """What cannot pass is known by the text: pyarrow tells nothing else of a condition."""
    random = np.random.default_rng(2)
    for of in ("f4", "f8"):
        values = [*np.frombuffer(random.bytes(4000), of), *random.normal(size=200).astype(of)]
        for value in filter(np.isfinite, values):
            text = str(pc.field("x") < pa.scalar(value))
            assert text.startswith("(x < ")
            assert np.dtype(of).type(float(text.removeprefix("(x < ").removesuffix(")"))) == value


def test_names_that_read_like_conditions_tell_nothing(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    columns = {"b": np.arange(10), "a and b": np.arange(10)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
    query = 'select count(*) from t where "a and b" > 5 and b < 3 or "a and b" > 5'
    for text, count in ((query, 4), ('select count(*) from t where "a and b" > 5 and b <= 7', 2)):
        assert bk.sql(text, t=str(tmp_path / "t.parquet")).fetchall() == [(count,)]
