"""Inputs that are sorted by a key already: `sort` and `merge --by` merge them in one pass, into the bytes that sorting
gives. Keys that `--define` makes, and comparisons by keys across containers."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import root_filter
from referee.command import Basketry
from test_sort import CONTAINERS, MB, columns, compare, digest, expected, write

KEY = "run,event"
BY = [("run", False), ("event", False)]


def part(whole: dict[str, Any], entries: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {name: column[entries] for name, column in whole.items()}


def deal(rng: np.random.Generator, entries: int, files: int) -> list[np.ndarray[Any, Any]]:
    """Entries for each file, some of which may get none."""
    owner = rng.integers(0, files, entries)
    return [np.flatnonzero(owner == file) for file in range(files)]


def sorted_files(
    folder: Path, container: str, whole: dict[str, Any], parts: list[np.ndarray[Any, Any]], by: list[tuple[str, bool]]
) -> tuple[list[Path], np.ndarray[Any, Any]]:
    """Files whose entries are sorted, and the entries of all in the order of a stable sort."""
    suffix = "parquet" if container == "parquet" else "root"
    made, entries = [], []
    for number, own in enumerate(parts):
        mine = own[expected(part(whole, own), by)]
        made.append(write(folder / f"f{number}.{suffix}", container, part(whole, mine)))
        entries.append(mine)
    one_by_one = np.concatenate(entries)
    return made, one_by_one[expected(part(whole, one_by_one), by)]


# The order.


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("seed", range(4))
def test_sorted_inputs_are_merged_in_one_pass(container: str, seed: int, basketry: Basketry, tmp_path: Path) -> None:
    """Few values, so that many keys are equal: entries of the first input come first, in either order of the inputs."""
    rng = np.random.default_rng(seed)
    whole = columns(rng, 2500)
    key, by = [
        ("run,event", BY),
        ("-run", [("run", True)]),
        ("flag,-small", [("flag", False), ("small", True)]),
        ("-x,run", [("x", True), ("run", False)]),
    ][seed]
    parts = deal(rng, 2500, [1, 2, 5, 9][seed])
    for turned in (parts, parts[::-1]):
        folder = tmp_path / str(turned is parts)
        folder.mkdir()
        made, order = sorted_files(folder, container, whole, turned, by)
        out = folder / "out.root"
        for verb in ("sort", "merge"):
            found = set()
            for threads in ("1", "3", "16"):
                report = basketry.json(verb, *made, "-o", out, f"--by={key}", "-j", threads, "--force")
                (table,) = report["tables"]
                assert (table["order"]["one_pass"], report["unsorted"]) == (True, [])
                found.add(digest(out))
            assert len(found) == 1
            compare(out, whole, order)


def test_real_root_reads_what_is_merged(basketry: Basketry, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    whole = columns(rng, 3000)
    made, order = sorted_files(tmp_path, "ttree", whole, deal(rng, 3000, 4), BY)
    out = tmp_path / "out.root"
    basketry("merge", *made, "-o", out, "--by", KEY)
    found = root_filter.values(out, "Events", {"number": ("Long64_t", "number"), "sum": ("float", "Sum(items)")})
    assert found["number"] == order.tolist()
    assert np.allclose(found["sum"], np.asarray(ak.sum(whole["items"], axis=1))[order], atol=1e-4)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("lengths", [[0], [1], [0, 0], [1, 1, 0]])
def test_few_entries_are_merged(container: str, lengths: list[int], basketry: Basketry, tmp_path: Path) -> None:
    whole = columns(np.random.default_rng(1), sum(lengths))
    # Without a text Polars writes no type of texts.
    del whole["text"]
    bounds = np.cumsum([0, *lengths])
    parts = [np.arange(start, end) for start, end in itertools.pairwise(bounds)]
    made, order = sorted_files(tmp_path, container, whole, parts, BY)
    out = tmp_path / "out.root"
    basketry("merge", *made, "-o", out, "--by", KEY)
    with uproot.open(out) as file:
        assert file["Events"]["number"].array().tolist() == order.tolist()


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_a_selection_goes_first(container: str, basketry: Basketry, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    whole = columns(rng, 4000)
    made, order = sorted_files(tmp_path, container, whole, deal(rng, 4000, 3), BY)
    out = tmp_path / "out.root"
    report = basketry.json("merge", *made, "-o", out, "--by", KEY, "--cut", "number % 5 == 1", "--drop", "text")
    assert report["tables"][0]["order"]["one_pass"]
    kept = order[order % 5 == 1]
    compare(out, whole, kept, [name for name in whole if name != "text"])


# Bytes.


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("words", [(), ("--compression", "lz4:1", "--basket", "700B"), ("--container", "other")])
def test_the_bytes_are_those_of_sorting(
    container: str, words: tuple[str, ...], basketry: Basketry, tmp_path: Path
) -> None:
    """The same files with their entries shuffled go through a scratch file."""
    other = "rntuple" if container == "ttree" else "ttree"
    words = tuple(word.replace("other", other) for word in words)
    rng = np.random.default_rng(5)
    whole = columns(rng, 6000)
    parts = deal(rng, 6000, 3)
    (tmp_path / "sorted").mkdir()
    (tmp_path / "shuffled").mkdir()
    made, _ = sorted_files(tmp_path / "sorted", container, whole, parts, BY)
    shuffled = [
        write(tmp_path / "shuffled" / path.name, container, part(whole, rng.permutation(own)))
        for path, own in zip(made, parts, strict=True)
    ]
    out, found = tmp_path / "out.root", []
    dated = basketry.within(SOURCE_DATE_EPOCH="1700000000")
    for verb, (inputs, one_pass) in itertools.product(("sort", "merge"), ((made, True), (shuffled, False))):
        report = dated.json(verb, *inputs, "-o", out, "--by", KEY, "--force", *words)
        assert report["tables"][0]["order"]["one_pass"] == one_pass
        found.append(digest(out))
    assert (found[0], found[2]) == (found[1], found[3])


@pytest.mark.parametrize("kind", ["nano", "lhcb", "aod", "esd", "multi"])
@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_columns_of_all_kinds_are_merged(kind: str, container: str, basketry: Basketry, tmp_path: Path) -> None:
    """Without a key that the files have: by the number of the entry, modulo the length of the first."""
    source, halves, whole = tmp_path / "source.root", [], tmp_path / "whole.root"
    basketry("generate", kind, "-o", source, "--size", "4MB", "--container", container)
    with uproot.open(source) as file:
        (name,) = {key.split(";")[0] for key in file.keys(recursive=False)} & {"Events", "events", "tree", "t"} or {
            file.keys(recursive=False)[0].split(";")[0]
        }
        entries = file[name].num_entries
    half = (entries + 1) // 2
    for number, span in enumerate((f"0:{half}", f"{half}:{entries}")):
        halves.append(tmp_path / f"half{number}.root")
        basketry("rewrite", source, "-o", halves[-1], "--entries", span)
    key = f"Entry$ % {half}, Entry$"
    one, many = tmp_path / "one.root", tmp_path / "many.root"
    report = basketry.json("merge", *halves, "-o", one, "--by", key)
    assert any((table["order"] or {}).get("one_pass") for table in report["tables"])
    # What sorting gives.
    basketry("merge", *halves, "-o", whole)
    basketry("sort", whole, "-o", many, "--by", key)
    outcome = basketry.run("verify", many, one)
    assert outcome.code == 0, str(outcome)


# What is not sorted.


def test_an_input_that_is_not_sorted_is_told(basketry: Basketry, tmp_path: Path) -> None:
    paths = []
    for number, keys in enumerate(([1, 2, 2, 9], [4, 5, 3, 8], [1, 0, 3, 2])):
        paths.append(tmp_path / f"{number}.root")
        with bk.recreate(paths[-1]) as file:
            file["Events"] = {"k": np.array(keys, "i4")}
    out = tmp_path / "out.root"
    report = basketry.json("merge", *paths, "-o", out, "--by", "k")
    (found,) = report["unsorted"]
    assert (found["path"], found["file"], found["entry"]) == ("Events", str(paths[1]), 2)
    assert (found["key"], found["before"]) == (["3"], ["5"])
    assert report["tables"][0]["order"] == {"one_pass": False, "one_pass_memory": None}
    assert any(
        re.search(r"1\.root is not sorted: entry 2 has the key 3.*temporary file", note) for note in report["notes"]
    )
    with uproot.open(out) as file:
        assert file["Events"]["k"].array().tolist() == [0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 9]
    # Nobody says that the inputs of a sort are sorted.
    report = basketry.json("sort", *paths, "-o", out, "--by", "k", "--force")
    assert (len(report["unsorted"]), report["notes"]) == (1, [])
    with_nan = tmp_path / "nan.root"
    with bk.recreate(with_nan) as file:
        file["Events"] = {"x": np.array([-1.0, -0.0, 0.0, np.inf, np.nan, np.nan])}
    report = basketry.json("merge", with_nan, "-o", out, "--by", "x", "--force")
    assert report["tables"][0]["order"]["one_pass"]


# Memory.


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """120 sorted files with 200 MB of numbers and lists together."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(2)
    made = []
    for number in range(120):
        entries = 40_000
        counts = rng.integers(0, 4, entries)
        made.append(folder / f"f{number}.root")
        with bk.recreate(made[-1], compression="none", basket="16kB", cluster="20000") as file:
            file["Events"] = {
                "k": np.sort(rng.integers(0, 2**40, entries)),
                "x": rng.normal(size=entries),
                "y": rng.normal(size=entries),
                "items": ak.unflatten(rng.normal(size=int(counts.sum())).astype("f4"), counts),
            }
    return made


def test_many_inputs_are_read_once_within_memory(many: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    words = ("--by", "k", "--memory", "64MB", "-j", "2", "--compression", "none", "--json")
    outcome = basketry.run("merge", *many, "-o", out, *words)
    assert outcome.code == 0, str(outcome)
    assert json.loads(outcome.out)["tables"][0]["order"]["one_pass"]
    assert outcome.peak_rss <= (64 + 45) * MB, outcome.peak_rss
    # The key is read twice. Keys with their places and the order of the entries wait on disk; the entries do not.
    size, rows = sum(path.stat().st_size for path in many), 40_000 * len(many)
    # The order is read for each column.
    assert outcome.bytes_read <= 1.05 * size + (8 + 24 + 5 * 4) * rows, (outcome.bytes_read, size)
    with uproot.open(out) as file:
        found = file["Events"].arrays(["k", "x"])
    whole = [uproot.open(path)["Events"].arrays(["k", "x"]) for path in many]
    k, x = (np.concatenate([np.asarray(one[name]) for one in whole]) for name in ("k", "x"))
    order = np.argsort(k, kind="stable")
    assert np.array_equal(np.asarray(found["k"]), k[order])
    assert np.array_equal(np.asarray(found["x"]), x[order])


def test_little_memory_takes_the_other_way_with_a_word(many: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    """And gives the same bytes."""
    out, found = tmp_path / "out.root", set()
    report = basketry.json("merge", *many, "-o", out, "--by", "k", "--memory", "28MB")
    found.add(digest(out))
    order = report["tables"][0]["order"]
    assert not order["one_pass"]
    assert 28 * MB < order["one_pass_memory"] < 64 * MB
    (note,) = [note for note in report["notes"] if "one pass would do" in note]
    (least,) = re.findall(r"--memory (\d+MB)", note)
    for memory in (least, "1GB"):
        report = basketry.json("merge", *many, "-o", out, "--by", "k", "--memory", memory, "--force")
        assert report["tables"][0]["order"]["one_pass"]
        found.add(digest(out))
    assert len(found) == 1


def test_clusters_that_have_no_room_are_told(basketry: Basketry, tmp_path: Path) -> None:
    """The clusters of a sorted RNTuple are those of the input, unless memory cuts them."""
    rng = np.random.default_rng(4)
    source, out = tmp_path / "source.root", tmp_path / "out.root"
    with bk.recreate(source, container="rntuple", compression="none", cluster="2000000") as file:
        file["Events"] = {"k": rng.permutation(1_500_000), "x": rng.normal(size=1_500_000)}
    for memory, cut in (("2GB", False), ("64MB", True)):
        report = basketry.json("sort", source, "-o", out, "--by", "k", "--memory", memory, "--force")
        (table,) = report["tables"]
        assert (table["clusters_cut"] > 0, table["clusters"] > 1) == (cut, cut)
        assert any("depend on --memory" in note for note in report["notes"]) == cut


# Keys that are defined.


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_key_may_be_defined_in_the_same_command(
    container: str, is_sorted: bool, basketry: Basketry, tmp_path: Path
) -> None:
    rng = np.random.default_rng(6)
    whole = columns(rng, 2000)
    number = np.asarray(whole["number"])
    distance = np.abs(number - 900)
    if is_sorted:
        whole = part(whole, np.argsort(distance, kind="stable"))
        number = np.asarray(whole["number"])
        distance = np.abs(number - 900)
    path, out = write(tmp_path / "in.root", container, whole), tmp_path / "out.root"
    defines = ("--define", "shift=number - 900", "--define", "distance=abs(shift)")
    report = basketry.json("sort", path, "-o", out, "--by", "distance", *defines)
    assert report["tables"][0]["order"]["one_pass"] == is_sorted
    order = np.argsort(distance, kind="stable")
    compare(out, whole, order)
    with uproot.open(out) as file:
        assert file["Events"]["distance"].array().tolist() == distance[order].tolist()
        assert file["Events"]["shift"].array().tolist() == (number - 900)[order].tolist()
    basketry("verify", path, out, "--tree", "Events", "--by=number", *defines)
    basketry("verify", path, out, "--tree", "Events", "--by", "distance,number", *defines)
    wrong = ("--define", "shift=number - 901", "--define", "distance=abs(number - 900)")
    outcome = basketry.run("verify", path, out, "--tree", "Events", "--by", "distance,number", *wrong)
    assert (outcome.code, "shift" in outcome.out) == (1, True), str(outcome)
    report = basketry.json("merge", path, path, "-o", out, "--unique", "distance", *defines, "--force")
    assert report["tables"][0]["entries"] == len(np.unique(distance))


# Comparisons across containers.


@pytest.mark.parametrize(("one", "other"), [(a, b) for a in CONTAINERS for b in CONTAINERS if a != b])
def test_containers_are_compared_by_keys(one: str, other: str, basketry: Basketry, tmp_path: Path) -> None:
    def made(name: str, container: str, content: dict[str, Any]) -> Path:
        if container == "parquet":
            return write(tmp_path / f"{name}.parquet", container, content)
        tree, path = write(tmp_path / f"{name}.tree.root", "ttree", content), tmp_path / f"{name}.root"
        basketry("rewrite", tree, "-o", path, "--container", container)
        return path

    rng = np.random.default_rng(8)
    whole = columns(rng, 1200)
    first, shuffled = made("first", one, whole), rng.permutation(1200)
    second = made("second", other, part(whole, shuffled))
    words = ("--by", KEY) if "parquet" in (one, other) else ("--by", KEY, "--tree", "Events")
    outcome = basketry.run("verify", first, second, *words)
    assert outcome.code == 0, str(outcome)
    assert basketry.run("verify", first, second, *words[2:]).code == 1

    changed = part(whole, shuffled)
    changed["number"] = np.array(changed["number"])
    changed["number"][33] += 1
    changed = {name: column[:-1] for name, column in changed.items()}
    second = made("changed", other, changed)
    outcome = basketry.run("verify", first, second, *words, "--json")
    assert outcome.code == 1, str(outcome)
    verdict = json.loads(outcome.out)
    (found,) = [one for one in verdict["differences"] if one.get("key")]
    assert (found["branch"], found["entry"]) == ("number", int(shuffled[33]))
    (keys,) = verdict["keys"]
    assert (keys["matched"], keys["only_first"]["entries"], keys["only_second"]["entries"]) == (1199, 1, 0)


@pytest.mark.parametrize("kind", ["nano", "aod"])
def test_objects_are_compared_across_containers(kind: str, basketry: Basketry, tmp_path: Path) -> None:
    """Split objects, lists of objects, arrays: what `verify` compares of a tree and the RNTuple that is made of it."""
    tree, ntuple, turned = (tmp_path / f"{name}.root" for name in ("tree", "ntuple", "turned"))
    basketry("generate", kind, "-o", tree, "--size", "2MB")
    basketry("rewrite", tree, "-o", ntuple, "--container", "rntuple")
    basketry("verify", tree, ntuple)
    basketry("sort", ntuple, "-o", turned, "--by=-Entry$")
    with uproot.open(tree) as file:
        tables = [key.split(";")[0] for key, of in file.classnames(recursive=False).items() if of == "TTree"]
    for key in ("event", "eventNumber", "EventNumber", "Entry$"):
        outcome = basketry.run("verify", tree, turned, "--by", key, "--tree", tables[0])
        if "there is no" not in outcome.err and outcome.code != 2:
            break
    assert outcome.code == (1 if key == "Entry$" else 0), str(outcome)
