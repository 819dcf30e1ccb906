"""Columns that expressions define: the values of RDataFrame's Define in all containers, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee import make_files, root_filter
from referee.command import Basketry

#: For a name an expression, and its type and text in C++.
DEFINES = {
    "two": ("d * 2 + n", "double", "double(d * 2 + n)"),
    "flag": ("good && !late", "bool", "good && !late"),
    "whole": ("event // 7 + stream", "Long64_t", "Long64_t(event / 7 + stream)"),
    "one": ("42", "Long64_t", "Long64_t(42)"),
    "place": ("entry", "Long64_t", "Long64_t(rdfentry_)"),
    "twice": ("x * 2", "ROOT::RVec<double>", "x * 2.0"),
    "large": ("x[x > 1000]", "ROOT::RVec<double>", "x[x > 1000] * 1.0"),
    "label": ("name", "std::string", "std::string(name)"),
    "chained": ("two - d", "double", "double(d * 2 + n) - d"),
    "first": ("Alt$(x[0], -1)", "double", "n > 0 ? double(x[0]) : -1.0"),
}
GIVEN = [word for name, (text, *_) in DEFINES.items() for word in ("--define", f"{name}={text}")]


@pytest.fixture(scope="module")
def source() -> Path:
    return make_files.made("selected") / "all.root"


@pytest.fixture(scope="module")
def ntuple(source: Path, basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as RNTuples."""
    path = tmp_path_factory.mktemp("define") / "ntuple.root"
    basketry("rewrite", source, "-o", path, "--container", "rntuple", "--drop", "objects")
    return path


@pytest.fixture(scope="module")
def plain(source: Path, basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as RNTuples that were not made of a tree."""
    path = tmp_path_factory.mktemp("plain") / "plain.root"
    parquet = path.with_suffix(".parquet")
    basketry("convert", f"{source}:events", "-o", parquet, "--drop", "objects")
    basketry("rewrite", parquet, "-o", path, "--container", "rntuple")
    return path


@pytest.fixture(scope="module")
def truth(source: Path) -> dict[str, list[Any]]:
    """The values that ROOT computes."""
    return root_filter.values(source, "events", {name: (kind, own) for name, (_, kind, own) in DEFINES.items()})


def by_uproot(path: Path, names: list[str]) -> dict[str, list[Any]]:
    with uproot.open(path) as file:
        arrays = file["events"].arrays(names, library="ak")
    return {name: arrays[name].to_list() for name in names}


def by_root(path: Path) -> dict[str, list[Any]]:
    # RDataFrame takes no texts of a leaf list as strings.
    columns = {name: (kind, name) for name, (_, kind, _) in DEFINES.items() if name != "label"}
    return root_filter.values(path, "events", columns)


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("of", ["source", "ntuple", "plain"])
def test_a_column_has_the_values_that_root_computes(
    of: str,
    container: str,
    truth: dict[str, list[Any]],
    basketry: Basketry,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    path, out = request.getfixturevalue(of), tmp_path / "out.root"
    basketry("rewrite", path, "-o", out, "--drop", "objects", "--container", container, *GIVEN, "--allow-no-match")
    assert by_uproot(out, list(DEFINES)) == truth
    assert by_root(out) == {name: values for name, values in truth.items() if name != "label"}
    # All that was there is as it was.
    basketry("verify", path, out, "--common", "--drop", "objects", "--allow-no-match")


def test_other_baskets_are_copied(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    report = json.loads(basketry("rewrite", source, "-o", out, *GIVEN, "--json"))
    (events,) = [table for table in report["tables"] if table["path"] == "events"]
    assert events["entries"] == 3000
    assert {depth: count for depth, count in events["depths"].items() if count} == {"copy": events["depths"]["copy"]}
    assert "tree few has no column d: two is not defined there" in report["notes"]
    with uproot.open(out) as file:
        assert "two" in file["events"]
        assert "two" not in file["few"]
        # What needs no column is everywhere.
        assert file["few"]["one"].array(library="np").tolist() == [42] * 10


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_entries_are_selected_by_what_is_defined(
    container: str, source: Path, truth: dict[str, list[Any]], basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    given = ("--cut", "two > 1 and sum(twice) < 9000", "--keep", "event", "--container", container)
    report = json.loads(basketry("rewrite", source, "-o", out, *GIVEN, *given, "--json"))
    rows = zip(truth["two"], truth["twice"], strict=True)
    kept = [entry for entry, (two, twice) in enumerate(rows) if two > 1 and sum(twice) < 9000]
    assert 0 < len(kept) < 3000
    assert by_uproot(out, list(DEFINES)) == {name: [values[entry] for entry in kept] for name, values in truth.items()}
    assert [flow["cuts"][0]["after"] for flow in report["cut_flows"] if flow["path"] == "events"] == [len(kept)]
    with uproot.open(out) as file:
        assert file["events"]["event"].array(library="np").tolist() == [7 * (2999 - entry) for entry in kept]
        assert "d" not in file["events"]


def test_python_takes_names_and_expressions(source: Path, truth: dict[str, list[Any]], tmp_path: Path) -> None:
    defines = {name: text for name, (text, *_) in DEFINES.items()}
    for verb, name in ((bk.rewrite, "rewritten.root"), (bk.merge, "merged.root")):
        out = tmp_path / name
        verb([source] if verb is bk.merge else source, out, define=defines, keep=["event"])
        assert by_uproot(out, list(DEFINES)) == truth
    shown = bk.show(f"{source}:events", "event", define={"two": DEFINES["two"][0]}, number=3)
    place = [column.name for column in shown.columns].index("two")
    assert [row.values[place] for row in shown.rows] == truth["two"][:3]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_only_entries_that_are_kept_are_computed(
    container: str, source: Path, basketry: Basketry, tmp_path: Path
) -> None:
    given = ("rewrite", source, "-o", tmp_path / "out.root", "--container", container, "--define", "third=x[2]")
    assert "entry 0 has no value" in basketry.refuses(*given, "--drop", "objects")
    basketry(*given, "--drop", "objects", "--cut", "n > 2")
    with uproot.open(tmp_path / "out.root") as file:
        arrays = file["events"].arrays(["x", "third"], library="np")
    assert [float(x[2]) for x in arrays["x"]] == arrays["third"].tolist()


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_several_inputs_and_threads_give_the_same_bytes(
    container: str, source: Path, truth: dict[str, list[Any]], basketry: Basketry, tmp_path: Path
) -> None:
    second = tmp_path / "second.root"
    shutil.copy(source, second)
    made = []
    for threads in ("1", "4"):
        out = tmp_path / threads / "out.root"
        out.parent.mkdir()
        given = (
            "--drop",
            "objects",
            "--container",
            container,
            "--cut",
            "place % 7 != 3 && event >= 0",
            "--threads",
            threads,
        )
        basketry("merge", source, second, "-o", out, *GIVEN, *given)
        made.append(out.read_bytes())
    assert made[0] == made[1]
    kept = [entry for entry in range(6000) if entry % 7 != 3]
    found = by_uproot(tmp_path / "1" / "out.root", ["place", "twice"])
    assert found == {"place": kept, "twice": [truth["twice"][entry % 3000] for entry in kept]}


def test_parquet_files_get_columns(
    source: Path, truth: dict[str, list[Any]], basketry: Basketry, tmp_path: Path
) -> None:
    parquet, root = tmp_path / "a.parquet", tmp_path / "a.root"
    basketry("convert", f"{source}:events", "-o", parquet, "--drop", "objects", "--define", "third=x[2]", *GIVEN)
    table = pq.read_table(parquet)
    assert {name: table[name].to_pylist() for name in DEFINES} == truth
    with uproot.open(source) as file:
        x = file["events"]["x"].array(library="np")
    assert table["third"].to_pylist() == [float(one[2]) if len(one) > 2 else None for one in x]
    # And from them.
    given = ("--define", "sum=two + chained", "--define", "again=twice * 0.5", "--cut", "sum > 3", "--drop", "third")
    done = json.loads(basketry("convert", parquet, "-o", root, *given, "--json"))
    both = np.asarray(truth["two"]) + np.asarray(truth["chained"])
    assert done["cuts"] == [
        {
            "cut": "sum > 3",
            "before": 3000,
            "after": int((both > 3).sum()),
            "weight_before": None,
            "weight_after": None,
            "clusters_skipped": 0,
        }
    ]
    found = by_uproot(root, ["sum", "again"])
    assert found["sum"] == both[both > 3].tolist()
    assert found["again"] == [[x / 2 for x in values] for values in np.asarray(truth["twice"], object)[both > 3]]


def test_show_computes_columns(source: Path, truth: dict[str, list[Any]], basketry: Basketry) -> None:
    lines = basketry(
        "show", f"{source}:events", "event", "--define", "two=d * 2 + n", "--jsonl", "--cut", "two > 5", "-n", "4"
    )
    rows = [json.loads(line) for line in lines.splitlines()]
    kept = [entry for entry, two in enumerate(truth["two"]) if two > 5][:4]
    assert [row["entry"] for row in rows] == kept
    assert [row["two"] for row in rows] == [truth["two"][entry] for entry in kept]
    text = basketry("show", f"{source}:events", "--define", "twice=x * 2")
    assert "twice" in text.splitlines()[0]


@pytest.mark.parametrize(
    ("define", "says"),
    [
        ("d=n", "there is a column or an alias of this name already"),
        ("two", "there is no ="),
        ("2x=n", "a name has letters"),
        ("two=dd * 2", "did you mean d?"),
        ("two=n[", "the expression ends where a value is expected"),
        ("two=objects", "expressions do not take"),
        ("two=n // (n - n)", "entry 0 has no value"),
        ("two=any(x > pt)", "lists of different lengths"),
    ],
)
def test_a_refusal_says_why(define: str, says: str, source: Path, basketry: Basketry, tmp_path: Path) -> None:
    assert says in basketry.refuses("rewrite", source, "-o", tmp_path / "out.root", "--define", define)
    assert not (tmp_path / "out.root").exists()


def test_a_name_is_given_once(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    twice = ("--define", "two=d", "--define", "two=n")
    assert "two is given twice" in basketry.refuses("rewrite", source, "-o", tmp_path / "out.root", *twice)


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("of", ["source", "plain"])
def test_verify_proves_what_is_defined(
    of: str, container: str, basketry: Basketry, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path: Path = request.getfixturevalue(of)
    out = tmp_path / "out.root"
    leave = ["--drop", "objects"] if of == "source" else []
    chosen = ["--cut", "two > 1", *GIVEN, *leave]
    basketry("rewrite", f"{path}:events", "-o", out, "--container", container, *chosen)
    found = basketry.json("verify", f"{path}:events", out, *chosen)
    assert found["equal"], found
    # What is not asked for is told, and so is another value.
    without = basketry.run("verify", f"{path}:events", out, "--cut", "d * 2 + n > 1", *leave)
    assert without.code == 1, str(without)
    assert "two: only the second side has" in without.out
    other = [word.replace("chained=two - d", "chained=two - d + (entry > 1500)") for word in chosen]
    differs = basketry.run("verify", f"{path}:events", out, *other)
    assert differs.code == 1, str(differs)
    assert "chained, entry 15" in differs.out
    lacks = basketry.run("verify", f"{path}:events", out, *chosen, "--define", "more=d")
    assert lacks.code == 1, str(lacks)
    assert "more: only the first side has it" in lacks.out
    assert "did you mean d?" in basketry.refuses("verify", f"{path}:events", out, *chosen, "--define", "more=dd")


def test_verify_proves_what_is_defined_in_parquet_files(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    chosen = ["--cut", "two > 1", "--drop", "objects", "--define", "third=x[2]", *GIVEN]
    basketry("convert", f"{source}:events", "-o", out, *chosen)
    assert basketry.json("verify", f"{source}:events", out, *chosen)["equal"]
    other = [word.replace("third=x[2]", "third=x[1]") for word in chosen]
    differs = basketry.run("verify", f"{source}:events", out, *other)
    assert differs.code == 1, str(differs)
    assert "column third, entry " in differs.out


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_tolerances_are_those_of_defined_columns_as_well(container: str, basketry: Basketry, tmp_path: Path) -> None:
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    with bk.recreate(path) as file:
        file["events"] = {"d": np.linspace(1, 2, 500)}
    basketry("rewrite", path, "-o", out, "--container", container, "--define", "near=d * 1.0001")
    words = ("verify", path, out, "--define", "near=d")
    assert "near, entry 0" in basketry.run(*words).out
    for tolerance in ("0.001", "near=0.1%"):
        found = basketry.json(*words, "--tolerance", tolerance)
        (error,) = [one for table in found["trees"] for one in table["errors"]]
        assert error["column"] == "near"
        assert error["largest"] == pytest.approx(0.0002)
    strict = basketry.run(*words, "--tolerance", "0.00001")
    assert (strict.code, "near, entry" in strict.out) == (1, True), str(strict)


def test_defined_columns_are_named_as_others_are(source: Path, basketry: Basketry) -> None:
    words = ("--define", "two=d * 2 + n", "--define", "more=two + 1", "-n", "3")
    for verb in ("show", "stats"):
        own = words[:4] if verb == "stats" else words
        found = basketry.json(verb, f"{source}:events", "n", "more", "d", *own)
        assert [column["name"] for column in found["columns"]] == ["two", "n", "more", "d"]
    shown = basketry.json("show", f"{source}:events", "n", "more", "d", "two", *words)
    for row in shown["rows"]:
        n, more, d, two = row["values"]
        assert (two, more) == (d * 2 + n, two + 1)
    assert "mor" in basketry.refuses("show", f"{source}:events", "mor", *words)


def test_every_verb_that_cuts_knows_what_is_defined(
    source: Path, truth: dict[str, list[Any]], basketry: Basketry
) -> None:
    events, defined = f"{source}:events", ("--define", "two=d * 2 + n", "--define", "more=two + 1")
    two = np.asarray(truth["two"])
    figures = basketry.json("stats", events, "event", *defined, "--cut", "more > 3")
    assert [column["name"] for column in figures["columns"]] == ["two", "more", "event"]
    assert figures["entries"] == int((two > 2).sum())
    for column, values in zip(figures["columns"], (two[two > 2], two[two > 2] + 1), strict=False):
        assert (column["values"], column["min"], column["max"]) == (len(values), values.min(), values.max())
        assert column["mean"] == pytest.approx(values.mean())
    (curve,) = basketry.json("draw", events, "more", *defined, "--cut", "two > 2")["curves"]
    assert curve["filled"] == figures["entries"]
    assert basketry.json("readspeed", events, *defined, "--cut", "more > 3")["entries"] == figures["entries"]


#: What each verb has of the language; `plan` hands options to its verb.
CUTS = {"rewrite", "merge", "sort", "convert", "verify", "readspeed", "show", "stats", "draw", "tune"}
#: It takes entries as they are.
ONLY_CUTS = {"pick"}


def test_verbs_have_the_options_of_the_language(basketry: Basketry) -> None:
    """A verb that takes conditions takes their other name, and definitions."""
    for verb, options in json.loads(basketry("options")).items():
        named = {option["name"] for option in options} & {"cut", "define"}
        cuts = {"cut"} if verb in ONLY_CUTS else set()
        assert named == ({"cut", "define"} if verb in CUTS else cuts), verb
        if named:
            assert "has no option" not in basketry.refuses(verb, "--where")
