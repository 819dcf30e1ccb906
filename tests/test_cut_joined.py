"""Conditions and computed columns in the command's language where Python joins files whose columns differ: what is
filled in is what `merge --fill --cut` tests, and plain Python's answer is the same for trees, RNTuples, both together,
and Parquet files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import basketry as bk
from referee.command import Basketry
from test_skipped_clusters import bytes_read

COUNTS = (40, 0, 25, 33)
KINDS = ("ttree", "rntuple", "mixed", "parquet")
Join = Literal["common", "fill"]
Columns = dict[str, Any]


def columns_of(number: int) -> Columns:
    """All files have x and y; some have `some`, lists and names, one has `one`, and typ is of two types."""
    random, count = np.random.default_rng(number), COUNTS[number]
    columns: Columns = {"x": np.arange(count) + 100 * number, "y": random.normal(size=count)}
    if number % 2 == 0:
        columns["some"] = random.normal(size=count)
        columns["jets"] = [random.normal(size=entry % 4).tolist() for entry in range(count)]
    if number == 2:
        columns["one"] = random.integers(-5, 5, count)
    columns["typ"] = columns["x"].astype("i4") if number != 3 else [str(x) for x in columns["x"]]
    return columns


def write(path: Path, kind: str, columns: Columns) -> None:
    if kind == "parquet":
        types = {"jets": pa.list_(pa.float64())}
        arrays = {name: pa.array(values, types.get(name)) for name, values in columns.items()}
        fields = [pa.field(name, array.type, nullable=False) for name, array in arrays.items()]
        pq.write_table(pa.table(list(arrays.values()), pa.schema(fields)), path, row_group_size=10)
        return
    texts = {"jets": "std::vector<double>"}
    with bk.recreate(path) as file:
        make = file.mkrntuple if kind == "rntuple" else file.mktree
        text = {"typ": "std::string"} if isinstance(columns["typ"], list) else {}
        table = make("t", {name: {**texts, **text}.get(name) or values.dtype for name, values in columns.items()})
        if len(columns["x"]):
            table.extend(columns)


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def files(kind: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, made = tmp_path_factory.mktemp(kind), []
    for number in range(len(COUNTS)):
        own = ("ttree", "rntuple")[number % 2] if kind == "mixed" else kind
        path = folder / f"{number}.{'parquet' if kind == 'parquet' else 'root'}"
        write(path, own, columns_of(number))
        made.append(str(path))
    return made


def joined(how: Join) -> Columns:
    """The columns of all files."""
    each = [columns_of(number) for number in range(len(COUNTS)) if COUNTS[number]]
    filled: Columns = {"x": None, "y": None}
    if how == "fill":
        filled |= {"some": 0.0, "one": 0, "jets": []}

    def of(columns: Columns, name: str) -> list[Any]:
        return list(columns[name]) if name in columns else [filled[name]] * len(columns["x"])

    return {name: [value for columns in each for value in of(columns, name)] for name in filled}


#: Of joined files: a cut that only the command's language has, and whether an entry passes, by its values and number.
CUTS: list[tuple[Join, str, Callable[[Columns, int], bool]]] = [
    ("common", "x > 10 and not y > 0", lambda e, _: e["x"] > 10 and not e["y"] > 0),
    ("common", "y > 0 && entry % 2 == 0", lambda e, entry: e["y"] > 0 and entry % 2 == 0),
    ("common", "100 < x < 220 || x < 5", lambda e, _: 100 < e["x"] < 220 or e["x"] < 5),
    ("fill", "some > 0.5 and x < 220", lambda e, _: e["some"] > 0.5 and e["x"] < 220),
    ("fill", "some == 0 || one < -2", lambda e, _: e["some"] == 0 or e["one"] < -2),
    ("fill", "not some != 0", lambda e, _: e["some"] == 0),
    ("fill", "one != 0 ? y > 0 : x % 3 == 0", lambda e, _: e["y"] > 0 if e["one"] else e["x"] % 3 == 0),
    ("fill", "any(jets > 0) and x >= 0", lambda e, _: any(jet > 0 for jet in e["jets"])),
    ("fill", "Sum$(jets) == 0 && Length$(jets) < 1", lambda e, _: not e["jets"]),
    ("fill", "entry < 50 and one <= 0", lambda e, entry: entry < 50 and e["one"] <= 0),
    ("fill", "some > 100 and y > -100", lambda *_: False),
    ("fill", "some < 100 and y > -100", lambda *_: True),
]


def kept(how: Join, passes: Callable[[Columns, int], bool]) -> list[int]:
    whole = joined(how)
    entries = [{name: column[row] for name, column in whole.items()} for row in range(len(whole["x"]))]
    return [row for row, entry in enumerate(entries) if passes(entry, row)]


def chained(steps: list[Any], name: str) -> list[Any]:
    return [value for step in steps for value in step[name].to_list()]


@pytest.mark.parametrize(("how", "cut", "passes"), CUTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_cut_keeps_what_python_keeps(
    how: Join, cut: str, passes: Callable[[Columns, int], bool], files: list[str]
) -> None:
    whole, rows = joined(how), kept(how, passes)
    expected = {name: [column[row] for row in rows] for name, column in whole.items()}
    tree = bk.open(files, join=how)
    # Later cuts know what the first has seen.
    for _ in range(2):
        assert tree.arrays(list(whole), cut).to_list() == [
            dict(zip(expected, values, strict=True)) for values in zip(*expected.values(), strict=True)
        ]
    for library in ("np", "arrow", "pd"):
        assert np.asarray(tree.arrays(["x"], cut, library=library)["x"]).tolist() == expected["x"]
    part = [row for row in rows if 7 <= row < 60]
    assert tree.arrays(["x"], cut, entry_start=7, entry_stop=60)["x"].to_list() == [whole["x"][row] for row in part]
    some = [row for row in rows if row % 3 == 1]
    assert tree.arrays(["x"], cut, selection=np.arange(1, len(whole["x"]), 3))["x"].to_list() == [
        whole["x"][row] for row in some
    ]
    assert bk.concatenate(files, ["x"], cut, join=how)["x"].to_list() == expected["x"]
    for size in (13, "1 kB", None):
        plain = list(tree.iterate(["x"], step_size=size, report=True))
        steps = list(tree.iterate(["x"], cut, step_size=size, report=True))
        assert chained([step for step, _ in steps], "x") == expected["x"]
        assert [(one.start, one.stop) for _, one in steps] == [(one.start, one.stop) for _, one in plain]
        assert [len(step) for step, _ in steps] == [
            sum(one.start <= row < one.stop for row in rows) for _, one in plain
        ]
    if "entry" not in cut:
        # Of a file by itself, entries are counted from its own first one.
        for size in (13, None):
            steps = list(bk.iterate(files, ["x", "y"], cut, join=how, step_size=size))
            assert chained(steps, "x") == expected["x"], size


@pytest.mark.parametrize("kind", ["ttree", "rntuple"], indirect=True)
@pytest.mark.parametrize(("how", "cut"), [(how, cut) for how, cut, _ in CUTS])
def test_the_command_keeps_the_same(
    how: Join, cut: str, kind: str, files: list[str], basketry: Basketry, tmp_path: Path
) -> None:
    del kind
    out = tmp_path / "out.root"
    basketry("merge", *files, "-o", out, f"--{how}", "--drop", "typ", "--cut", cut)
    names = list(joined(how))
    found = bk.open(files, join=how).arrays(names, cut)
    assert bk.open(f"{out}:t").arrays(names).to_list() == found.to_list()


COMPUTED: dict[str, Callable[[Columns, int], Any]] = {
    "sum(jets)": lambda e, _: sum(e["jets"]),
    "some > 0 ? some : -1.0": lambda e, _: e["some"] if e["some"] > 0 else -1.0,
    "one or some": lambda e, _: bool(e["one"] or e["some"]),
    "2 * entry": lambda _, entry: 2 * entry,
    "twice and x": lambda e, _: bool(e["some"] and e["x"]),
}


def is_some(entry: Columns, _: int) -> bool:
    return bool(entry["one"] < 0 or entry["some"] > 1)


def test_columns_are_computed(files: list[str]) -> None:
    whole = joined("fill")
    entries = [{name: column[row] for name, column in whole.items()} for row in range(len(whole["x"]))]
    tree = bk.open(files, join="fill")
    aliases = {"twice": "some && true ? 2 * some : 0"}
    for cut, rows in ((None, range(len(entries))), ("one < 0 or some > 1", kept("fill", is_some))):
        found = tree.arrays(list(COMPUTED), cut, aliases=aliases)
        steps = list(tree.iterate(list(COMPUTED), cut, aliases=aliases, step_size=17))
        for text, value in COMPUTED.items():
            expected = [value(entries[row], row) for row in rows]
            assert found[text].to_list() == pytest.approx(expected), (cut, text)
            assert chained(steps, text) == pytest.approx(expected), (cut, text)


def test_what_cannot_be_compared_is_named(files: list[str]) -> None:
    how: Join
    for how in ("common", "fill"):
        tree = bk.open(files, join=how)
        with pytest.raises(bk.SchemaDiffers, match="the files differ: typ is"):
            tree.arrays(["x"], "typ > 3 and x > 2")
        with pytest.raises(bk.KeyInFileError, match="did you mean"):
            tree.arrays(["x"], "xx > 3 and x > 2")
        with pytest.raises(SyntaxError):
            tree.arrays(["x"], "x > > 3")
    with pytest.raises(bk.KeyInFileError, match=r"some is in .*0\.\w+, and not in .*3\.\w+: join='fill'"):
        bk.open(files, join="common").arrays(["x"], "some > 3 and x > 2")


def test_of_a_file_that_lacks_the_column_no_other_is_read(tmp_path: Path) -> None:
    count = 100_000
    values = {"x": np.random.default_rng(3).normal(size=count)}
    paths = [str(tmp_path / "a.root"), str(tmp_path / "b.root")]
    for path, more in zip(paths, ({}, {"mark": np.ones(10)}), strict=True):
        with bk.recreate(path) as file:
            file["t"] = {"x": values["x"][: len(more.get("mark", values["x"]))], **more}
    tree = bk.open(paths, join="fill")
    tree.arrays(["x"], entry_stop=0)
    assert bytes_read(lambda: tree.arrays(["x"], "mark < 2 and x > -100")) > 4 * count
    tree = bk.open(paths, join="fill")
    found: list[Any] = []
    assert bytes_read(lambda: found.append(tree.arrays(["x"], "mark > 0 and x > -100"))) < count
    assert len(found[0]) == 10
    # NumPy's language as well.
    found.clear()
    assert bytes_read(lambda: found.append(tree.arrays(["x"], "(mark > 0) & (x > -100)"))) < count
    assert len(found[0]) == 10


def test_joined_lists_stay_within_the_memory(tmp_path: Path) -> None:
    """Steps of a condition count what is filled in: lists of as many items as others have."""
    paths = [str(tmp_path / "a.root"), str(tmp_path / "b.root")]
    n = np.full(50_000, 20, "i4")
    with bk.recreate(paths[0]) as file:
        file.mktree("t", {"jet": {"pt": "var * float64"}}).extend({"jet": {"pt": np.ones((len(n), 20))}})
    with bk.recreate(paths[1]) as file:
        file.mktree("t", {"jet": {"pt": "var * float64", "eta": "var * float64"}}).extend(
            {"jet": {"pt": np.ones((10, 20)), "eta": np.ones((10, 20))}}
        )
    tree = bk.open(paths, join="fill")
    names = tree.keys()
    name = next(name for name in names if "eta" in name)
    found = tree.arrays(names[:1], f"any({name} > 0) and all({name} < 2)", memory="30MB")
    assert len(found) == 10


def test_what_is_filled_in_may_be_absent(tmp_path: Path) -> None:
    """A value that an entry need not have is absent in a file without the column: it is neither 0 nor above it."""
    files = [str(tmp_path / name) for name in ("a.root", "b.root")]
    columns = ({"x": pa.array([1, 2])}, {"x": pa.array([4, 5, 6]), "o": pa.array([1, None, 0])})
    for path, own in zip(files, columns, strict=True):
        with bk.recreate(path) as file:
            types = {"x": "int64", "o": "std::optional<std::int64_t>"}
            file.mkrntuple("t", {name: types[name] for name in own}).extend(pa.table(own))
    tree = bk.open(files, join="fill")
    cuts = {"o > 0 and x > 0": [4], "not o and x > 0": [6], "isnull(o) and x > 0": [1, 2, 5]}
    for cut, expected in cuts.items():
        found = tree.arrays(["x", "o"], cut).to_list()
        assert [entry["x"] for entry in found] == expected, cut
        bk.merge(files, tmp_path / "out.root", fill=True, cut=cut, force=True)
        assert bk.open(f"{tmp_path}/out.root:t").arrays(["x", "o"]).to_list() == found, cut
