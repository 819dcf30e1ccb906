"""Files that Python writes: every kind of column read back by ROOT, uproot and basketry; layouts, errors, threads."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import uproot

import basketry as bk
from referee import root_columns

CLASSES = """
class Vec { public: double fX; double fY; double fZ; };
class Event : public TObject {
public:
   Vec fA;
   Vec fB;
   float fP[3];
   int fId;
   std::vector<float> fHits;
   ClassDef(Event, 2)
};
class Named { public: std::string fName; int fId; };
"""
HEADER = f"""
#include <string>
#include <vector>
#include "TObject.h"
{CLASSES}
#ifdef __CLING__
#pragma link C++ class Vec+;
#pragma link C++ class Event+;
#pragma link C++ class vector<Event>+;
#pragma link C++ class Named+;
#endif
"""
ENTRIES = 300
NUMBERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
MEMBERS = ("fA.fX", "fB.fZ", "fP", "fId", "fHits")


def leaves() -> dict[str, Any]:
    """A column of each kind that has leaves, by uproot's conventions."""
    generator = np.random.default_rng(1)
    counts = generator.integers(0, 4, ENTRIES)
    jagged = ak.unflatten(generator.random(counts.sum()).astype(np.float32), counts)
    columns: dict[str, Any] = {name: np.arange(ENTRIES).astype(name) for name in NUMBERS}
    return columns | {
        "flag": generator.random(ENTRIES) < 0.5,
        "fixed": generator.random((ENTRIES, 2, 3)).astype(np.float32),
        "jagged": jagged,
        "pairs": ak.unflatten(generator.random((counts.sum(), 2)), counts),
        "text": ak.Array(["x" * (i * 9 % 300) + str(i) for i in range(ENTRIES)]),
        "one": ak.zip({"a": np.arange(ENTRIES), "b": np.arange(ENTRIES) * 0.5}),
        "muon": ak.zip({"pt": jagged, "charge": ak.values_astype(jagged > 0.5, np.int8)}),
    }


def objects() -> dict[str, Any]:
    """A column of each kind of C++ type."""
    generator = np.random.default_rng(2)
    counts = generator.integers(0, 4, ENTRIES)
    n = int(counts.sum())

    def vec() -> Any:
        return ak.zip({name: generator.random(n) for name in ("fX", "fY", "fZ")})

    hits = generator.integers(0, 3, n)
    event = ak.Array(
        {
            "fA": vec(),
            "fB": vec(),
            "fP": generator.random((n, 3)).astype(np.float32),
            "fId": np.arange(n, dtype=np.int32),
            "fHits": ak.unflatten(np.arange(hits.sum()).astype(np.float32), hits),
        }
    )
    events = ak.unflatten(event, counts)
    deep = ak.unflatten(ak.unflatten(np.arange(hits.sum(), dtype=np.int32), hits), counts)
    made = {
        "floats": ak.values_astype(events.fId, np.float32),
        "text": ak.Array([f"t{i}" for i in range(ENTRIES)]),
        "deep": deep,
    }
    made |= {f"events{split}": events for split in ("99", "1", "0", "m", "c")}
    made |= {f"single{split}": event[:ENTRIES] for split in ("99", "1", "0")}
    return made | {"named": ak.Array([{"fName": f"name {i}", "fId": i} for i in range(ENTRIES)])}


TYPES = {
    "floats": "vector<float>",
    "text": "std::string",
    "deep": "vector<vector<int>>",
    "events99": "vector<Event>",
    "events1": "vector<Event>",
    "events0": "std::vector<Event>",
    "eventsm": "vector<Event>",
    "eventsc": "TClonesArray<Event>",
    "single99": "Event",
    "single1": "Event",
    "single0": "Event",
    "named": "Named",
}
SPLIT: dict[str, dict[str, object]] = {
    "*1": {"split_level": 1},
    "*0": {"split_level": 0},
    "*m": {"split_level": 0, "streaming": "member-wise"},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with leaves and objects, in clusters of 100 entries."""
    path = tmp_path_factory.mktemp("written") / "out.root"
    with bk.recreate(path, classes=CLASSES, cluster=100, column_set=SPLIT) as file:
        file["leaves"] = leaves()
        tree = file.mktree("dir/objects", TYPES, "a title")
        data = objects()
        for start in range(0, ENTRIES, 70):
            tree.extend({name: array[start : start + 70] for name, array in data.items()})
        assert tree.num_entries == ENTRIES
    return path


def part(array: Any, path: str) -> Any:
    """A member of records, at any depth of lists."""
    for name in path.split("."):
        array = array[name]
    return array


def flat(array: Any) -> list[float]:
    """All values, entry after entry."""
    return list(map(float, ak.flatten(array, axis=None)))


def columns_of(table: str) -> Iterator[tuple[str, Any]]:
    """The columns as they appear in the file."""
    for name, array in (leaves() if table == "leaves" else objects()).items():
        if name in ("one", "muon"):
            yield from ((f"{name}_{field}", array[field]) for field in array.fields)
        else:
            yield name, array


def test_root_reads_leaves(written: Path) -> None:
    # TTree::Draw reads arrays of bytes as text.
    expected = {n: flat(a) for n, a in columns_of("leaves") if n not in ("text", "muon_charge")}
    expected["njagged"] = flat(ak.num(leaves()["jagged"]))
    sums = {name: sum(expected[name]) for name in ("jagged", "fixed")} | {
        "muon_charge": float(ak.sum(leaves()["muon"].charge))
    }
    answer = root_columns.drawn(written, "leaves", [*expected], [*sums])

    assert answer["entries"] == ENTRIES
    assert answer["read"] > 0
    assert not answer["said"]
    assert {name: answer[name] for name in expected} == expected
    assert {name: answer[f"sum {name}"] for name in sums} == pytest.approx(sums)


@pytest.mark.parametrize("code", ["", HEADER], ids=["without a dictionary", "with one"])
def test_root_reads_objects_however_they_are_split(written: Path, code: str) -> None:
    data = objects()
    expected = {"floats": flat(data["floats"]), "deep": flat(data["deep"]), "named.fId": flat(data["named"].fId)}
    expected["text.size()"] = [float(len(text)) for text in data["text"].tolist()]
    expected["named.fName.size()"] = [float(len(text)) for text in data["named"].fName.tolist()]
    for name in data:
        if name.startswith(("events", "single")):
            expected |= {f"{name}.{member}": flat(part(data[name], member)) for member in MEMBERS}
    answer = root_columns.drawn(written, "dir/objects", [*expected], ["floats"], code)

    assert answer["entries"] == ENTRIES
    assert answer["read"] > 0
    assert not answer["said"]
    assert {name: answer[name] for name in expected} == expected
    assert answer["sum floats"] == pytest.approx(sum(expected["floats"]))


def test_uproot_reads_written_columns(written: Path) -> None:
    with uproot.open(written) as file:
        for name, array in columns_of("leaves"):
            assert file["leaves"][name].array().tolist() == array.tolist(), name
        data = objects()
        # uproot knows neither member-wise streaming nor unsplit class members in split lists.
        for name in ("floats", "text", "deep", "named"):
            assert file["dir/objects"][name].array().tolist() == data[name].tolist(), name
        assert file["dir/objects/events0"].array()["fId"].tolist() == data["events0"].fId.tolist()
        assert file["dir/objects/events99/events99.fA.fX"].array().tolist() == data["events99"].fA.fX.tolist()
        assert file["dir/objects"].title == "a title"


def test_basketry_reads_written_columns(written: Path) -> None:
    file = bk.open(written)
    for name, array in columns_of("leaves"):
        assert file["leaves"][name].array().tolist() == array.tolist(), name
    tree, data = file["dir/objects"], objects()
    for name in data:
        if not name.endswith(("99", "1", "c")):
            assert tree[name].array().tolist() == data[name].tolist(), name

    assert tree["events99.fHits"].array().tolist() == data["events99"].fHits.tolist()
    assert tree["single1"]["fA"].array().tolist() == data["single1"].fA.tolist()


def test_inspect_shows_the_requested_layout(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    layout = {"compression": "zlib:1", "column": {"y": {"compression": "lz4:4", "basket": "1kB"}}}
    rules = {"z": {"compression": "zstd:5"}}
    with bk.recreate(path, layout=layout, cluster=2000, column_set=rules, title="mine") as file:
        file["t"] = {name: np.arange(10_000.0) for name in "xyz"}
    (tree,) = bk.inspect(path).trees

    assert {branch.name: branch.compression for branch in tree.branches} == {"x": 101, "y": 404, "z": 505}
    assert {branch.name: branch.basket_size for branch in tree.branches} == {"x": 32000, "y": 1000, "z": 32000}
    assert (tree.entries, tree.auto_flush, len(tree.clusters)) == (10_000, 2000, 5)
    with uproot.open(path) as file:
        assert file["t"]["y"].num_baskets > 80


def test_other_forms_of_data_are_written(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with bk.recreate(path) as file:
        file["structured"] = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
        file["records"] = ak.Array([{"a": 1, "l": [1.5]}, {"a": 2, "l": []}])
        file["lists"] = {"t": ["x", "yz"], "n": [1, 2], "j": [[1, 2], []], "none": [[], []]}
        file["stream"] = bk.open(written)["leaves"].arrays(["int32", "jagged"], library="ak")
        file["tree"] = bk.open(f"{written}:leaves")
        empty = file.mktree("empty", {"x": ">f4", "l": "var * var * string", "r": {"a": "int32"}, "c": "unsigned int"})
        assert empty.keys() == ["x", "l", "r_a", "c"]
        named = file.mkdir("deep/er").mktree(
            "t", {"v": "var * int16"}, counter_name=lambda _: "count", field_name=lambda a, b: a + b
        )
        named.extend({"v": [[1, 2], [3]], "count": [2, 1]})
        trees = ["structured", "records", "lists", "stream", "tree", "empty", "deep/er/t"]
        assert file.keys(cycle=False) == ["deep", "deep/er", *trees]
        assert list(file) == [f"{name};1" for name in file.keys(cycle=False)]
        assert file["deep/er/t"] is named
    read = bk.open(path)

    assert read["structured"]["b"].array().tolist() == [2.5, 4.5]
    assert read["records"]["l"].array().tolist() == [[1.5], []]
    assert read["lists"].arrays().tolist()[0] == {"t": "x", "n": 1, "nj": 2, "j": [1, 2], "nnone": 0, "none": []}
    assert read["tree"]["jagged"].array().tolist() == leaves()["jagged"].tolist()
    assert read["empty"].num_entries == 0
    assert read["deep/er/t"]["count"].array().tolist() == [2, 1]
    with uproot.open(path) as file:
        assert file["deep/er/t"]["v"].array().tolist() == [[1, 2], [3]]


WRONG: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda f: f["t"].extend({"x": [1.0], "l": [[1], [2]]}), ValueError, "l has 2 entries, where x has 1"),
    (lambda f: f["t"].extend({"x": [1.0], "l": [[1]], "X": [1.0]}), KeyError, "did you mean x"),
    (lambda f: f["t"].extend({"x": [1.0]}), ValueError, "columns without data: l"),
    (lambda f: f["t"].extend([1.0]), TypeError, "arrays by name"),
    (lambda f: f["t"].extend({"x": ["text"], "l": [[1]]}), ValueError, "column x"),
    (lambda f: f["t"].extend({"x": [1.0], "l": [[0.5]]}), ValueError, "cannot become Int32 without loss"),
    (lambda f: f["t"].extend({"x": [None, 1.0], "l": [[1], []]}), ValueError, "nulls"),
    (lambda f: f["t"].extend({"x": [1.0], "l": [[1]], "nl": [2]}), ValueError, "lengths"),
    (lambda f: f["T"], KeyError, "did you mean t"),
    (lambda f: f.mktree("t", {"x": "float64"}), ValueError, "already has the TTree t"),
    (lambda f: f.mktree("u", {}), ValueError, "a tree needs columns"),
    (lambda f: f.mktree("u", {"x": "vector<Unknown>"}), ValueError, "Unknown"),
    (lambda f: f.mktree("u", {"x": "complex128"}), ValueError, "complex128"),
    (lambda f: f.mktree("u", {"x": "float64", "nl": "float32", "l": "var * int32"}), ValueError, "integers"),
    (lambda _: bk.recreate("f.root", compresion="none"), TypeError, "compression"),  # type: ignore[call-arg]
    (lambda _: bk.recreate("f.root", compression="zip"), ValueError, "zlib:1"),
    (lambda _: bk.recreate("f.root", layout={"clutser": 1}), ValueError, "cluster"),
    (lambda _: bk.recreate("f.root", classes="class A { int f(); };"), ValueError, "line 1"),
    (lambda _: bk.recreate("f.root", memory="1kB"), ValueError, "smallest"),
]


def test_tables_and_columns_of_other_libraries_are_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.5, 2.5], "s": ["a", "bc"]})
    polars = pl.DataFrame({"x": [1, 2], "s": ["a", "bc"], "l": [[1.5], [2.5, 3.5]], "r": [{"a": 1}, {"a": 2}]})
    arrow = pa.table({"x": pa.chunked_array([[1], [2]]), "l": [[1, 2], []]})
    path = tmp_path / "out.root"
    with bk.recreate(path) as file:
        file["pandas"] = frame
        file["polars"] = polars
        file["arrow"] = arrow
        file["steps"] = arrow.to_reader()
        file["columns"] = {"a": arrow["x"], "p": polars["s"], "s": frame["x"], "l": polars["l"]}
    names = ("pandas", "polars", "arrow", "steps", "columns")
    read = {name: bk.open(f"{path}:{name}").arrays().tolist()[1] for name in names}

    assert read["pandas"] == {"index": 1, "x": 2.5, "s": "bc"}
    assert read["polars"] == {"x": 2, "s": "bc", "nl": 2, "l": [2.5, 3.5], "r_a": 2}
    assert read["arrow"] == read["steps"] == {"x": 2, "nl": 0, "l": []}
    assert read["columns"] == {"a": 2, "p": "bc", "s": 2.5, "nl": 2, "l": [2.5, 3.5]}


def write_and(call: Callable[[Any], Any]) -> None:
    """Calls a function in the middle of writing."""
    with bk.recreate("out.root") as file:
        file.mktree("t", {"x": "float64", "l": "var * int32"}).extend({"x": [1.0], "l": [[1]]})
        call(file)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_are_python_exceptions(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, kind, text = WRONG[number]
    with pytest.raises(kind) as caught:
        write_and(call)

    assert issubclass(caught.type, kind)
    assert text in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_exception_keeps_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    path.write_text("mine")
    with pytest.raises(ZeroDivisionError), bk.recreate(path) as file:  # noqa: PT012
        file["t"] = {"x": np.arange(100)}
        raise ZeroDivisionError
    assert file.closed
    assert path.read_text() == "mine"
    with pytest.raises(ValueError, match="closed"):
        file["u"] = {"x": np.arange(100)}

    assert [one.name for one in tmp_path.iterdir()] == ["out.root"]


def test_a_wrong_name_changes_nothing(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "out.root") as file:
        file["t"] = {"x": [1, 2]}
        with pytest.raises(KeyError):
            file["t"].extend({"y": [1]})
        file["t"].extend({"x": [3]})
    assert bk.open(f"{tmp_path}/out.root:t")["x"].array().tolist() == [1, 2, 3]


def test_the_same_date_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    counts = np.arange(300) % 3
    data = {"x": np.arange(300), "l": ak.unflatten(np.arange(counts.sum()), counts)}
    made = []
    for step in (7, 300):
        with bk.recreate(tmp_path / "out.root", cluster=50) as file:
            tree = file.mktree("t", {"x": "float64", "l": "var * int32"})
            for start in range(0, 300, step):
                tree.extend({name: array[start : start + step] for name, array in data.items()})
        made.append((tmp_path / "out.root").read_bytes())

    assert made[0] == made[1]


def test_threads_fill_one_tree(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with bk.recreate(path, cluster="100kB", memory="12MB", compression="zlib:1") as file:
        trees = [file.mktree(name, {"x": "int64", "l": "var * float32"}) for name in ("a", "b")]

        def fill(number: int) -> None:
            for step in range(20):
                x = np.arange(1000) + 1000 * (20 * number + step)
                for tree in trees:
                    tree.extend({"x": x, "l": ak.unflatten(np.repeat(x, x % 4).astype(np.float32), x % 4)})

        threads = [threading.Thread(target=fill, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert file.metrics()["peak_held_bytes"] <= 12_000_000
    for name in ("a", "b"):
        found = bk.open(f"{path}:{name}").arrays()
        order = np.argsort(found.x)
        assert found.x[order].tolist() == list(range(80_000))
        assert ak.all(found.l == found.x)
        assert ak.all(ak.num(found.l) == found.x % 4)


def test_saved_entries_are_readable_before_the_end(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "out.root", auto_save=1000) as file:
        tree = file.mktree("t", {"x": "int64"})
        tree.extend({"x": np.arange(500)})
        tree.flush()
        file.save()
        (hidden,) = tmp_path.iterdir()
        assert file.hidden_path == hidden
        assert bk.open(f"{hidden}:t")["x"].array().tolist() == list(range(500))
        tree.extend({"x": np.arange(500, 700)})
        assert tree.num_entries == 700
    assert file.hidden_path is None
    assert bk.open(f"{tmp_path}/out.root:t").num_entries == 700
