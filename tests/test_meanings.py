"""Pairs of files that differ in one property each, through every verb that joins files: the result has the values of
each file read alone, or nothing is written and the message names what differs and where. No outcome is silent."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import basketry as package
from referee import differing_pairs, make_files, paths
from referee.command import Basketry

# What joins files, as options of `merge`, or as the verb with ROOT's flags.
VERBS: dict[str, Callable[[Path, Path, Path], list[str | Path]]] = {
    "merge": lambda a, b, out: ["merge", a, b, "-o", out],
    "hadd": lambda a, b, out: ["hadd", out, a, b],
    "common": lambda a, b, out: ["merge", "--common", a, b, "-o", out],
    "fill": lambda a, b, out: ["merge", "--fill", a, b, "-o", out],
    "rntuple": lambda a, b, out: ["merge", "--container", "rntuple", a, b, "-o", out],
}
# Pairs that are joined; all others are refused, or lose the branch that differs under --common.
LEAVES = ["branch-order", "title", "codec", "index", "text"]
PACKED = [name for name in differing_pairs.LEAVES if name.startswith(("range", "bits"))]
CLASSES = [f"{use}-{side}" for use in ("nested", "vector") for side in ("order", "foreign-order", "version", "same")]
JOINED = {*LEAVES, *PACKED, *CLASSES, "deep-order", "streaming", "object-version", "object-same"}
# Of those, pairs that only --fill writes as one: ROOT would read members that the older version of a class lacks as
# those of the entry before.
GROWN = {"nested-version", "vector-version"}
# Pairs whose values are of other types, or in other branches: no array has both.
OTHER_TYPES = {
    *("length", "shape", "scalar", "type", "sign", "container-items", "split-level"),
    *(f"{use}-{side}" for use in ("nested", "vector") for side in ("member-type", "member-shape")),
}
JOINS: list[Any] = ["common", "fill"]
# The messages name the class.
CLASS_OF = {
    **{
        f"{use}-{side}": f"P_{differing_pairs.ident(side)}"
        for use in ("nested", "vector")
        for side in differing_pairs.SIDES
    },
    "deep-member": "P_member",
    "base-order": "Derived_order",
    "base-member": "Derived_member",
    "clones-class": "Clone_other",
    "clones-order": "Clone_order",
    "object-order": "P_order",
    "object-member": "P_member",
}


@pytest.fixture(scope="module")
def pairs() -> Path:
    """The folder with all pairs, kept until the program that makes them changes."""
    programs = [["referee.differing_pairs", side] for side in "ab"]
    return make_files.made_once("pairs", programs, Path(differing_pairs.__file__))


def read(file: Path) -> list[dict[str, Any]]:
    """The entries of a file, with names as an RNTuple has them, without its collections of counted fields."""
    entries = package.open(f"{file}:t").arrays(library="ak").to_list()
    return [
        {name.rstrip("."): value for name, value in entry.items() if not name.startswith("_collection")}
        for entry in entries
    ]


def evolved(value: Any, like: Any) -> Any:
    """A value of one version of a class with the members of another, as readers have it: what is missing is 0."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {name: evolved(value[name], like[name]) if name in value else 0 for name in {**value, **like}}
    if isinstance(value, list) and like:
        return [evolved(item, like[0] if isinstance(like, list) else like) for item in value]
    return value


def members(values: list[Any]) -> Any:
    """The members of the records in some values, at any depth."""
    if values and isinstance(values[0], dict):
        return {name: members([value[name] for value in values]) for name in values[0]}
    if values and isinstance(values[0], list):
        return members([item for value in values for item in value])
    return None


def joined(value: Any, ours: Any, theirs: Any, join: str) -> Any:
    """A value with the members that two sides share, or with those of any side, where zeros are missing ones."""
    if isinstance(value, list):
        return [joined(item, ours, theirs, join) for item in value]
    if not isinstance(value, dict):
        return value
    names = [name for name in {**ours, **theirs} if join == "fill" or (name in ours and name in theirs)]
    return {name: joined(value[name], ours.get(name), theirs.get(name), join) if name in value else 0 for name in names}


def expected(pair: str, a: Path, b: Path) -> list[dict[str, Any]]:
    first, second = read(a), read(b)
    if pair in GROWN:
        # One entry of each has the members of all.
        first = [evolved(entry, second[2]) for entry in first]
    return first + second


@pytest.mark.parametrize("pair", differing_pairs.names())
def test_files_are_joined_by_value_or_refused(pair: str, pairs: Path, basketry: Basketry, tmp_path: Path) -> None:
    a, b = pairs / f"{pair}-a.root", pairs / f"{pair}-b.root"
    values = expected(pair, a, b)
    for verb, words in VERBS.items():
        out = tmp_path / f"{verb}.root"
        done = basketry.run(*words(a, b, out))
        if pair in JOINED and (pair not in GROWN or verb == "fill"):
            assert done.code == 0, done
            assert read(out) == values, verb
            assert basketry.run("verify", *(["--fill"] if pair in GROWN else []), a, b, out).code == 0, verb
        elif verb == "common" and not pair.startswith("object"):
            # Branches that differ are left out, and named.
            assert done.code == 0, done
            kept = read(out)
            assert kept == [{name: entry[name] for name in kept[0]} for entry in values]
            assert "keep" in kept[0]
            assert "are left out: x" in done.out, done
        else:
            # As ROOT's hadd does, `hadd` says 1.
            assert done.code == (1 if verb == "hadd" else 2), done
            assert not out.exists()
            assert b.name in done.err, done
            assert CLASS_OF.get(pair, "branch x") in done.err, done
            if pair in CLASS_OF and not pair.startswith(("base", "clones-class")):
                assert "version" in done.err, done
                assert a.name in done.err, done


@pytest.mark.parametrize("pair", [name for name in differing_pairs.names() if not name.startswith("object")])
def test_several_files_are_read_by_value(pair: str, pairs: Path) -> None:
    files = [f"{pairs / f'{pair}-{side}.root'}:t" for side in "ab"]
    values = expected(pair, *(pairs / f"{pair}-{side}.root" for side in "ab"))

    def plain(entries: ak.Array) -> list[dict[str, Any]]:
        return [{name.rstrip("."): value for name, value in entry.items()} for entry in entries.to_list()]

    if pair in JOINED:
        assert plain(package.open(files).arrays(library="ak")) == values
    else:
        with pytest.raises(ValueError, match=f"{pair}-b.root"):
            package.open(files)
    if pair in OTHER_TYPES:
        # They are refused by name, and the others are read.
        for join in JOINS:
            with pytest.raises(package.SchemaDiffers, match=rf"x\.? is .*{pair}-a.root, and .*{pair}-b.root"):
                package.concatenate(files, library="ak", join=join)
        assert plain(package.concatenate(files, ["keep"])) == [{"keep": entry["keep"]} for entry in values]
        return
    # Records have the members that both share, or those of any of them.
    half = len(values) // 2
    ours, theirs = members(values[:half]), members(values[half:])
    for join in JOINS:
        wanted = values if pair in JOINED else [joined(entry, ours, theirs, join) for entry in values]
        assert plain(package.concatenate(files, library="ak", join=join)) == wanted
        assert [entry for step in package.iterate(files, join=join) for entry in plain(step)] == wanted


@pytest.mark.parametrize("pair", differing_pairs.names())
def test_equal_bytes_of_other_meaning_are_not_equal(pair: str, pairs: Path, basketry: Basketry) -> None:
    done = basketry.run("verify", pairs / f"{pair}-a.root", pairs / f"{pair}-b.root")
    same = {"codec", "branch-order", "nested-same", "vector-same", "split-level", "streaming"}
    assert done.code == (0 if pair in same else 1), done


@pytest.mark.parametrize("pair", PACKED)
def test_uproot_reads_the_joined_values(pair: str, pairs: Path, basketry: Basketry, tmp_path: Path) -> None:
    """Numbers that were packed differently are written as they are in memory, which every reader understands."""
    a, b, out = pairs / f"{pair}-a.root", pairs / f"{pair}-b.root", tmp_path / "out.root"
    basketry("merge", a, b, "-o", out)
    found = uproot.open(out)["t"].arrays(library="ak").to_list()

    assert found == read(a) + read(b)
    # The writer packed 20, 23, .. with steps of 0.2 at most.
    first = [entry["x"] for entry in found]
    numbers = [next(iter(x.values())) if isinstance(x, dict) else x for x in first]
    flat = [x[0] if isinstance(x, list) else x for x in numbers if x != []]
    meant = [20 + 3 * (k % 6) for k, x in enumerate(numbers) if x != []]
    assert flat == pytest.approx(meant, abs=0.13)


def test_root_reads_the_joined_objects(pairs: Path, basketry: Basketry, tmp_path: Path) -> None:
    """In a process of its own, without dictionaries, as a reader of the file is."""
    merged = [
        "nested-order",
        "nested-foreign-order",
        "vector-order",
        "vector-foreign-order",
        "nested-version",
        "deep-order",
    ]
    for pair in merged:
        inputs = [pairs / f"{pair}-{side}.root" for side in "ab"]
        basketry("merge", *(["--fill"] if pair in GROWN else []), *inputs, "-o", tmp_path / f"{pair}.root")
    drawn = {"nested": ["x.p.i", "x.p.f"], "vector": ["x.v.i", "x.v.f"], "deep": ["x.o.p.i", "x.o.p.f"]}
    asked = [(pair, what) for pair in merged for what in drawn[pair.split("-")[0]]]
    script = f"""
import ROOT
for pair, what in {asked!r}:
    file = ROOT.TFile(pair + ".root")
    tree = file.Get("t")
    found = tree.Draw(what, "", "goff")
    print(pair, what, [tree.GetV1()[k] for k in range(found)])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    found = {tuple(line.split(" ", 2)[:2]): eval(line.split(" ", 2)[2]) for line in done.stdout.splitlines()}
    for pair, what in asked:
        use, member = pair.split("-")[0], what[-1]
        if use == "nested":
            each = [[k] for k in range(6)]
        elif use == "vector":
            each = [[k] * (1 + k % 3) for k in range(6)]
        else:
            each = [[k] * (1 + k % 2) for k in range(6)]
        values = [100 + k if member == "i" else 2 * k for entry in each for k in entry]
        assert found[pair, what] == values * 2, (pair, what, done.stderr)


def test_a_range_of_a_third_file_is_joined_too(pairs: Path, basketry: Basketry, tmp_path: Path) -> None:
    """Each file has its own form, wherever it stands among the inputs, also where a cluster is cut or selected."""
    inputs = [
        pairs / f"{name}.root" for name in ("range-a", "range-b", "range-none-b", "bits-a", "range-a", "range-plain-b")
    ]
    out, cut = tmp_path / "out.root", tmp_path / "cut.root"
    values = [entry for file in inputs for entry in read(file)]
    basketry("merge", *inputs, "-o", out)
    assert read(out) == values
    basketry("merge", *inputs, "-o", cut, "--cluster", "7", "--entries", "3:29")
    assert read(cut) == values[3:29]
    assert package.open([f"{file}:t" for file in inputs]).arrays(entry_start=5, entry_stop=27).to_list() == values[5:27]


@pytest.mark.skipif(not paths.FOUND.is_dir(), reason="the files are in the corpus")
@pytest.mark.parametrize(
    ("first", "second", "joins"),
    [
        ("double32-range-0-100", "double32-range-0-200", True),
        ("nested-class-i-x", "nested-class-x-i", False),
        ("nested-class-range-0-100", "nested-class-range-0-200", False),
        ("vector-of-class-pa", "vector-of-class-pb", False),
        ("vector-of-class-s3", "vector-of-class-v1", False),
    ],
)
def test_found_pairs(first: str, second: str, joins: bool, basketry: Basketry, tmp_path: Path) -> None:
    a, b, out = paths.FOUND / f"{first}.root", paths.FOUND / f"{second}.root", tmp_path / "out.root"
    done = basketry.run("merge", a, b, "-o", out)
    verified = basketry.run("verify", a, b)

    assert verified.code == 1, verified
    if joins:
        assert done.code == 0, done
        assert read(out) == read(a) + read(b)
    else:
        assert done.code == 2, done
        assert not out.exists()
        assert b.name in done.err, done
        assert "version 1" in done.err, done
