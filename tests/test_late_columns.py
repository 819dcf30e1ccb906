"""Columns that are added while a tree or an RNTuple is filled (`add_columns`): ROOT, uproot, and basketry's verbs
find zeros, empty strings and empty lists before them."""

import itertools
import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import root_columns, root_ntuples
from referee.command import Basketry

#: Numbers of entries before the first addition, between both, and behind.
PARTS = (10, 11, 9)


def entries(first: int, n: int) -> dict[str, Any]:
    """Entries of most kinds."""
    numbers = range(first, first + n)
    lists = ak.Array([[0.5 * i + k for k in range(i % 3)] for i in numbers])
    return {
        "n": np.array(numbers),
        "flag": np.array([i % 2 == 0 for i in numbers]),
        "half": np.array(numbers).astype("f4") / 2,
        "text": ak.Array(["entry " * (i % 4) for i in numbers]),
        "list": lists,
        "lists": ak.Array([[[i] * (i % 2), [i, i]][: i % 3] for i in numbers]),
        "fixed": np.arange(3 * first, 3 * (first + n)).reshape(n, 3).astype("i2"),
        "words": ak.Array([["w" * (i % 4)] * (i % 3) for i in numbers]),
        "vector": lists,
    }


def records(first: int, n: int) -> dict[str, Any]:
    """Entries of kinds that only RNTuples have."""
    data = entries(first, n)
    return {
        "record": ak.zip({"a": data["n"], "b": data["list"]}, depth_limit=1),
        "records": ak.zip({"pt": data["list"], "eta": -data["list"]}),
        "grid": np.arange(4 * first, 4 * (first + n)).reshape(n, 2, 2).astype("f4"),
        "maybe": ak.mask(data["n"], data["n"] % 3 > 0),
        "either": ak.Array([f"no {i}" if i == first or i % 3 == 0 else float(i) for i in range(first, first + n)]),
    }


#: What entries have without a value. The variant has none.
EMPTY: dict[str, Any] = {
    **dict.fromkeys(("n", "half", "second"), 0),
    **{name: [] for name in ("list", "lists", "words", "vector", "records", "never")},
    "flag": False,
    "text": "",
    "last": "",
    "fixed": [0, 0, 0],
    "record": {"a": 0, "b": []},
    "grid": [[0, 0], [0, 0]],
    "maybe": None,
    "either": None,
}


def types(data: dict[str, Any]) -> dict[str, Any]:
    """Their types, as NumPy or awkward has them, and one as C++ has it."""
    found = {
        name: np.dtype((a.dtype, a.shape[1:])) if isinstance(a, np.ndarray) else a.type.content
        for name, a in data.items()
    }
    return found | {"vector": "std::vector<float>"}


def write(path: Path, is_ntuple: bool, **layout: Any) -> dict[str, list[Any]]:
    """Writes three parts, of which the second has more columns, and the third more again. Returns all values."""

    def part(number: int) -> dict[str, Any]:
        first, n = sum(PARTS[:number]), PARTS[number]
        data: dict[str, Any] = {"x": np.arange(first, first + n), "y": ak.Array([[1.5] * (i % 3) for i in range(n)])}
        if number > 0:
            data |= entries(first, n) | (records(first, n) if is_ntuple else {})
        if number > 1:
            data |= {"second": np.arange(n) / 4, "last": ["last" * (i % 3) for i in range(n)]}
        return data

    parts = [part(number) for number in range(3)]
    with bk.recreate(path, **layout) as file:
        make = file.mkrntuple if is_ntuple else file.mktree
        table = make("t", {"x": "int64", "y": "var * float64"})
        table.extend(parts[0])
        table.add_columns(types({name: a for name, a in parts[1].items() if name not in parts[0]}))
        with pytest.raises(ValueError, match=r"without data: n, flag, half"):
            table.extend(parts[0])
        table.extend(parts[1])
        table.add_columns({"second": "float64", "last": "string"})
        table.extend(parts[2])
        # No entry has these.
        table.add_columns({"never": "var * int32"})
        assert table.num_entries == sum(PARTS)
        assert table.keys()[-3:] == ["second", "last", "never"]
    expected: dict[str, list[Any]] = {}
    for name in [*parts[2], "never"]:
        columns = (
            ak.to_list(part[name]) if name in part else [EMPTY[name]] * n for part, n in zip(parts, PARTS, strict=True)
        )
        expected[name] = list(itertools.chain.from_iterable(columns))
    return expected


def check_verbs(path: Path, basketry: Basketry) -> None:
    """Verbs find the same content, in the old clusters and in new ones."""
    folder = path.parent
    for options in ((), ("--cluster", "4")):
        basketry("rewrite", path, "-o", folder / "rewritten.root", "--force", *options)
        basketry("verify", path, folder / "rewritten.root")
    basketry("merge", path, path, "-o", folder / "merged.root")
    basketry("verify", path, path, folder / "merged.root")
    basketry("recover", path, "-o", folder / "recovered.root")
    basketry("verify", path, folder / "recovered.root")
    basketry("check", "--deep", path)


def lines_of(shown: str, name: str, n: int) -> list[str]:
    """What ROOT's view of a field shows of the first entries."""
    lines = shown.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f"{name}: ")) + 1
    return lines[first : first + n]


def test_late_fields_of_ntuples(basketry: Basketry, tmp_path: Path) -> None:
    small, plain, converted = (tmp_path / f"{name}.root" for name in ("small", "plain", "converted"))
    expected = write(small, is_ntuple=True, cluster=7, basket="32B")
    assert write(plain, is_ntuple=True, cluster="1kB", compression=None) == expected
    # Late lists with a counter are a late collection, and late projections that show it.
    with bk.recreate(converted, container="rntuple") as file:
        tree = file.mktree("t", {"x": "int64", "y": "var * float32"})
        tree.extend({"x": [0, 1], "y": [[1.5], []]})
        tree.add_columns({"z": "var * float32", "r": {"a": "int32", "b": "float64"}})
        tree.extend({"x": [2], "y": [[]], "z": [[2.5, 3.5]], "r": {"a": [1], "b": [0.5]}})
    of_tree: dict[str, list[Any]] = {
        "y": [[1.5], [], []],
        "nz": [0, 0, 2],
        "z": [[], [], [2.5, 3.5]],
        "r_a": [0, 0, 1],
        "r_b": [0, 0, 0.5],
    }
    answers = root_ntuples.show(*(f"{path}:t" for path in (small, plain, converted)))
    for path, shown, values in zip((small, plain, converted), answers, (expected, expected, of_tree), strict=True):
        opened = bk.open(f"{path}:t")
        assert {name: opened[name].array().tolist() for name in values} == values
        with uproot.open(path) as by_uproot:
            for name, wanted in values.items():
                # uproot 5.7 misreads variants of several clusters, in ROOT's files too.
                if name != "either":
                    assert by_uproot["t"][name].array().tolist() == wanted, name
                # ROOT prints neither variants nor numbers of items.
                if name not in ("either", "nz"):
                    assert [json.loads(line) for line in lines_of(shown, name, len(wanted))] == wanted, name
    check_verbs(small, basketry)
    [ntuple] = basketry.json("inspect", small)["ntuples"]
    late = {
        field["path"]: column.get("first_element")
        for field in ntuple["fields"]
        for column in field["columns"]
        if column.get("in_extension") and column["type"] != "Char"
    }
    assert {name: late[name] for name in ("n", "fixed._0", "grid._0._0", "second", "list._0")} == {
        "n": PARTS[0],
        "fixed._0": 3 * PARTS[0],
        "grid._0._0": 4 * PARTS[0],
        "second": sum(PARTS[:2]),
        "list._0": None,
    }
    assert "added later, and zero before" in basketry("inspect", small)


@pytest.mark.parametrize(
    "layout",
    [{"cluster": 7, "basket": "200B"}, {"cluster": "1kB", "compression": None, "one_basket_per_cluster": True}],
    ids=["small", "plain"],
)
def test_late_branches_of_a_tree(layout: dict[str, Any], basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "late.root"
    expected = write(path, is_ntuple=False, auto_save=6, **layout)
    opened = bk.open(f"{path}:t")
    assert {name: opened[name].array().tolist() for name in expected} == expected
    with uproot.open(path) as by_uproot:
        assert {name: by_uproot["t"][name].array().tolist() for name in expected} == expected
    # TTree::Draw reads arrays of bytes as text.
    texts = ("text", "last", "words")
    drawn = {name: ak.flatten(a, axis=None).tolist() for name, a in expected.items() if name not in texts}
    drawn |= {f"n{name}": [len(one) for one in expected[name]] for name in ("y", "list", "never")}
    answer = root_columns.drawn(path, "t", [*drawn], [])
    assert (answer["entries"], answer["said"]) == (sum(PARTS), [])
    assert {name: answer[name] for name in drawn} == drawn
    if "basket" in layout:
        check_verbs(path, basketry)
        basketry("rewrite", path, "-o", tmp_path / "ntuple.root", "--container", "rntuple")
        basketry("verify", path, tmp_path / "ntuple.root")


@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
def test_saved_files_contexts_and_errors(make: str, tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "out.root", order="tasks", auto_save=1) as file:
        table = getattr(file, make)("t", {"x": "int64"})
        contexts = [table.fill_context() for _ in range(3)]
        contexts[0].extend({"x": [0]})
        table.add_columns({"y": "float64", "s": "string"})
        # The first goes on with more columns, the second has none of them, and the third has them from the start.
        contexts[0].extend({"x": [1], "y": [1.5], "s": ["one"]})
        contexts[2].extend({"x": [3], "y": [3.5], "s": ["three"]})
        for data, name in (({"x": [1]}, "y, s"), ({"x": [1], "y": [1.5]}, "s")):
            with pytest.raises(ValueError, match=f"without data: {name}$"):
                contexts[2].extend(data)
        for context in contexts[:2]:
            context.finish()
        file.save()
        (hidden,) = tmp_path.iterdir()
        saved = bk.open(f"{hidden}:t").arrays(library="ak")
        assert saved.tolist() == [{"x": 0, "y": 0, "s": ""}, {"x": 1, "y": 1.5, "s": "one"}]
        contexts[2].finish()
        for wrong, error, said in (
            ({"new": "int32", "x": "int32"}, ValueError, "column x already"),
            ({"y": "int32"}, ValueError, "column y already"),
            ({"new": [1, 2]}, TypeError, "new: expected a type"),
            ({"new": "no::such"}, ValueError, "no::such"),
            ({}, TypeError, "expected types by name"),
        ):
            with pytest.raises(error, match=said):
                table.add_columns(wrong)
        table.extend({"x": [4], "y": [4.5], "s": [""]})
    assert bk.open(f"{tmp_path}/out.root:t")["y"].array().tolist() == [0, 1.5, 3.5, 4.5]
    with pytest.raises(ValueError, match="is closed"):
        table.add_columns({"z": "int32"})
