"""Every type in every split level, streaming and codec, as Python writes it: real ROOT with the classes' dictionary and
without, uproot, groot and basketry read the same values; RDataFrame, TTree::Draw, hadd and ROOT's cluster iterator
work."""

import itertools
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import groot_values, hadd, root_columns
from referee.root_server import RootServer

# Texts are TStrings: without the dictionary ROOT 6.40 aborts on lists of objects with a std::string, even in its own
# files.
CLASSES = """
class Vec { public: double fX; double fY; };
class Base { public: int fId; };
class Event : public Base { public: Vec fA; float fP[3]; std::vector<float> fHits; TString fName; };
class Track : public TObject {
public: int fId; Vec fA; float fP[3]; std::vector<float> fHits; TString fName; ClassDef(Track, 2)
};
"""
HEADER = f"""
#include <map>
#include <string>
#include <vector>
#include "TObject.h"
#include "TString.h"
{CLASSES}
#ifdef __CLING__
#pragma link C++ class Vec+;
#pragma link C++ class Base+;
#pragma link C++ class Event+;
#pragma link C++ class Track+;
#pragma link C++ class vector<Event>+;
#pragma link C++ class map<int, Event>+;
#pragma link C++ class map<std::string, std::vector<int>>+;
#endif
"""
ENTRIES = 30
CLUSTER = 12
CODECS = ("none", "zlib:1", "lz4:4", "zstd:5", "lzma:5")
SPLITS = (99, 1, 0)
STREAMINGS = {"o": "object-wise", "m": "member-wise"}
COUNTS = np.arange(ENTRIES) % 4
N = int(COUNTS.sum())


def _events() -> Any:
    """The events of all lists."""
    i = np.arange(N)
    vectors = ak.zip({"fX": i * 0.5, "fY": -1.0 * i})
    hits = ak.unflatten(np.arange((i % 3).sum()).astype(np.float32), i % 3)
    names = ak.Array(["n" * (k % 300) for k in range(N)])
    points = (i[:, None] + np.arange(3)).astype(np.float32)
    return ak.Array({"fId": i.astype(np.int32), "fA": vectors, "fP": points, "fHits": hits, "fName": names})


EVENTS = _events()
TEXTS = [f"t{i}" * (i % 90) for i in range(ENTRIES)]
MEMBERS = ("fA.fX", "fP", "fHits")
# Type in C++, the values, and the expressions for TTree::Draw behind the column's name.
TYPES: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "text": ("std::string", ak.Array(TEXTS), (".size()",)),
    "floats": ("vector<float>", ak.unflatten(EVENTS.fP[:, 0], COUNTS), ("",)),
    "bools": ("vector<bool>", ak.unflatten(EVENTS.fId % 3 == 1, COUNTS), ("",)),
    "texts": ("vector<std::string>", ak.unflatten(ak.Array([f"x{i}" for i in range(N)]), COUNTS), (".size()",)),
    "deep": ("vector<vector<int>>", ak.values_astype(ak.unflatten(EVENTS.fHits, COUNTS), np.int32), ("",)),
    "map": (
        "map<int,double>",
        ak.unflatten(ak.zip({"key": EVENTS.fId, "value": EVENTS.fA.fX}), COUNTS),
        (".first", ".second"),
    ),
    "table": (
        "map<std::string,vector<int>>",
        ak.Array([[{"key": "a", "value": [i]}, {"key": "b", "value": [1, 2]}] for i in range(ENTRIES)]),
        (".second",),
    ),
    "mapped": (
        "map<int,Event>",
        ak.unflatten(ak.zip({"key": EVENTS.fId, "value": EVENTS}, depth_limit=1), COUNTS),
        (".first", ".second.fId"),
    ),
    "event": ("Event", EVENTS[:ENTRIES], tuple(f".{member}" for member in MEMBERS)),
    "events": ("vector<Event>", ak.unflatten(EVENTS, COUNTS), tuple(f".{member}" for member in MEMBERS)),
    "tracks": ("vector<Track>", ak.unflatten(EVENTS, COUNTS), tuple(f".{member}" for member in MEMBERS)),
    "clones": ("TClonesArray<Track>", ak.unflatten(EVENTS, COUNTS), tuple(f".{member}" for member in MEMBERS)),
}
LEAVES: dict[str, Any] = {
    "number": np.arange(ENTRIES) * 0.25,
    "flag": np.arange(ENTRIES) % 2 == 1,
    "fixed": np.arange(ENTRIES * 2, dtype=np.int16).reshape(ENTRIES, 2),
    "jagged": ak.unflatten(EVENTS.fId, COUNTS),
}
# Each type, and all its forms: events_99o, events_99m, ... events_0m.
WAYS = {
    name: [f"{name}_{split}{streaming}" for split, streaming in itertools.product(SPLITS, STREAMINGS)] for name in TYPES
}
LAYOUT: dict[str, dict[str, object]] = {
    f"*_{split}{streaming}": {"split_level": split, "streaming": word}
    for split, (streaming, word) in itertools.product(SPLITS, STREAMINGS.items())
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a tree for each codec, each with all columns."""
    path = tmp_path_factory.mktemp("combinations") / "out.root"
    write(path, [*TYPES])
    return path


def write(path: Path, names: list[str]) -> None:
    """Writes a tree for each codec, with leaves and all forms of some types."""
    rules = {name_of(codec): {"compression": codec} for codec in CODECS}
    with bk.recreate(path, classes=CLASSES, cluster=CLUSTER, column_set=LAYOUT, tree_set=rules) as file:
        types = {way: TYPES[name][0] for name in names for way in WAYS[name]}
        data = {way: TYPES[name][1] for name in names for way in WAYS[name]}
        for codec in CODECS:
            shapes = {"number": "float64", "flag": "bool", "fixed": np.dtype((np.int16, 2)), "jagged": "var * int32"}
            tree = file.mktree(name_of(codec), {**shapes, **types})
            tree.extend({**LEAVES, **data})


def flat(value: Any) -> list[float]:
    """All values, entry after entry; of a text its length."""
    if isinstance(value, str):
        return [float(len(value))]
    if isinstance(value, float | int):
        return [float(value)]
    return [one for part in (value.values() if isinstance(value, dict) else value) for one in flat(part)]


def expected() -> dict[str, list[float]]:
    """The expected result of TTree::Draw for each expression."""
    found = {name: flat(array.tolist()) for name, array in LEAVES.items()}
    for name, ways in WAYS.items():
        _, array, expressions = TYPES[name]
        for expression in expressions:
            part = array
            for step in expression.split(".")[1:]:
                part = part if step == "size()" else part[{"first": "key", "second": "value"}.get(step, step)]
            found |= {f"{way}{expression}": flat(part.tolist()) for way in ways}
    return found


def name_of(codec: str) -> str:
    """The name of the codec's tree."""
    return codec.partition(":")[0]


@pytest.mark.parametrize("code", ["", HEADER], ids=["without a dictionary", "with one"])
def test_root_draws_every_column(written: Path, code: str) -> None:
    wanted = expected()
    sums = [] if code else ["fixed", "jagged", "floats_99o", "floats_0m"]
    answer = root_columns.drawn(written, "zstd", [*wanted], sums, code)
    assert answer["entries"] == ENTRIES
    assert answer["read"] > 0
    assert not answer["said"]
    wrong = [expression for expression, found in wanted.items() if answer[expression] != found]
    assert not wrong
    for name in sums:
        assert answer[f"sum {name}"] == pytest.approx(sum(wanted[name])), name
    (tree,) = (tree for tree in bk.inspect(written).trees if tree.path == "zstd")

    assert answer["clusters"] == list(tree.clusters)[: len(answer["clusters"])]
    assert answer["clusters"] == list(range(0, ENTRIES, CLUSTER))


def test_root_reads_all_forms_of_a_type_alike_and_hadd_merges_them(
    written: Path, root_values: RootServer, tmp_path: Path
) -> None:
    merged = tmp_path / "merged.root"
    assert hadd.merge(merged, written, written, flags=()) is not None
    for path in (written, merged):
        trees = root_values.of(path)["trees"]
        assert [*trees] == sorted(map(name_of, CODECS))
        for name, ways in WAYS.items():
            # Maps cannot be written as JSON, which is how values are compared here.
            if TYPES[name][0].startswith("map"):
                continue
            digests = {trees[name_of(codec)]["branches"][way] for codec, way in itertools.product(CODECS, ways)}
            assert len(digests) == 1, name
            assert "error" not in digests.pop(), name
    for codec in CODECS:
        tree = bk.open(merged)[name_of(codec)]
        assert tree["deep_0m"].array().tolist() == 2 * TYPES["deep"][1].tolist()
        assert tree["events_0o"].array().tolist() == 2 * TYPES["events"][1].tolist()


@pytest.mark.parametrize("codec", CODECS)
def test_uproot_and_basketry_read_the_values(written: Path, codec: str) -> None:
    ours = bk.open(written)[name_of(codec)]
    with uproot.open(written) as file:
        theirs = file[name_of(codec)]
        for name, array in LEAVES.items():
            assert ours[name].array().tolist() == theirs[name].array().tolist() == array.tolist(), name
        for name, ways in WAYS.items():
            typename, array, _ = TYPES[name]
            values = array.tolist()
            # The items of a map are read as tuples.
            pairs = typename.startswith("map")
            read = [[(one["key"], one["value"]) for one in entry] for entry in values] if pairs else values
            for way in ways:
                if not ours[way].branches:
                    assert ours[way].array().tolist() == read, way
                # uproot knows neither member-wise streaming nor these nested classes.
                if typename.startswith(("std", "vector<f", "vector<b", "vector<std", "vector<v")):
                    assert theirs[way].array().tolist() == array.tolist(), way
            for split in (99, 1):
                found = theirs[f"{name}_{split}o"]
                if f"{name}_{split}o.fId" in found:
                    assert found[f"{name}_{split}o.fId"].array().tolist() == array.fId.tolist(), name


@pytest.mark.only_full  # to compile groot takes more than a minute
def test_groot_reads_the_values(tmp_path: Path) -> None:
    try:
        program = groot_values.built(tmp_path)
    except FileNotFoundError as why:
        pytest.skip(f"groot is not asked: {why}")
    path = tmp_path / "out.root"
    # groot 0.37 fails on other types, such as vectors of classes and maps, in ROOT's files as well. Of a class it reads
    # the split members.
    names = ["text", "floats", "bools", "texts", "event"]
    write(path, names)
    expected = {name: flat(array.tolist()) for name, array in LEAVES.items()}
    for name in names:
        ways = [way for way in WAYS[name] if name != "event" or "_99" in way]
        expected |= {way: flat(TYPES[name][1].tolist()) for way in ways}
    for codec in CODECS:
        found = groot_values.numbers(program, path, name_of(codec))
        wrong = [name for name, values in expected.items() if found.get(name) != values]
        assert not wrong, codec
