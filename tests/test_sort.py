"""Entries in the order of their keys: `sort`, `merge --by` and `verify --by`, judged by numpy, polars, uproot and real
ROOT, in trees, RNTuples and Parquet files, for columns of any kind; whatever the memory and the threads."""

import hashlib
import itertools
import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import polars as pl
import pytest
import uproot

import basketry as bk
from referee import entry_bytes, make_files, root_filter, values
from referee.command import Basketry
from referee.root_server import RootServer
from test_special import SMALL

MB = 1_000_000
CONTAINERS = ("ttree", "rntuple", "parquet")
#: Keys that are tried, each with the columns of a stable sort and whether they descend.
KEYS = {
    "run,event": [("run", False), ("event", False)],
    "-run,x": [("run", True), ("x", False)],
    "flag,-small,run": [("flag", False), ("small", True), ("run", False)],
    "-x": [("x", True)],
    "run": [("run", False)],
    "x,-event": [("x", False), ("event", True)],
}
BITS = {"run": "u4", "event": "u8", "x": "f8", "small": "i1", "flag": "?"}


def columns(rng: np.random.Generator, entries: int) -> dict[str, Any]:
    """Columns of a few types, with few values in some of them, and what compares oddly among floats."""
    x = rng.normal(size=entries).round(1)
    odd = rng.integers(0, 40, entries)
    x[odd == 0], x[odd == 1], x[odd == 2], x[odd == 3] = np.nan, -0.0, np.inf, -np.inf
    x[odd == 4] = -np.float64("nan")
    counts = rng.integers(0, 5, entries)
    return {
        "run": rng.integers(0, 4, entries).astype("u4"),
        "event": rng.integers(0, 2**63, entries, dtype="u8") * 2,
        "x": x,
        "small": rng.integers(-3, 3, entries).astype("i1"),
        "flag": rng.integers(0, 2, entries).astype("?"),
        "number": np.arange(entries, dtype="i8"),
        "items": ak.unflatten(rng.normal(size=int(counts.sum())).astype("f4"), counts),
        "text": ak.Array([str(number) * int(number % 3) for number in rng.integers(0, 999, entries)]),
    }


def expected(whole: dict[str, Any], by: list[tuple[str, bool]]) -> np.ndarray[Any, Any]:
    """The entries in their order: numpy's sort is stable, both zeros are one value, and NaN is last."""
    keys = []
    for name, descends in by:
        column = np.asarray(whole[name])
        if column.dtype.kind == "f":
            column = np.where(np.isnan(column), np.nan, -column if descends else column) + 0.0
        elif descends:
            column = ~column
        keys.append(column)
    return np.lexsort(keys[::-1])


def write(path: Path, container: str, content: dict[str, Any]) -> Path:
    """A file with a table `Events`, and with a histogram if it is of ROOT."""
    if container == "parquet":
        frame = {
            name: column.tolist() if name in ("items", "text") else np.asarray(column)
            for name, column in content.items()
        }
        pl.DataFrame(frame, schema_overrides={"items": pl.List(pl.Float32)}).write_parquet(path, row_group_size=700)
        return path
    with bk.recreate(path, container=container, cluster="700", basket="2kB", compression="zstd:1") as file:
        file["Events"] = content
        file["h"] = np.histogram(np.arange(5.0))
    return path


def files(folder: Path, container: str, seed: int, lengths: list[int]) -> tuple[list[Path], dict[str, Any]]:
    """Files of these numbers of entries, and all their entries."""
    whole = columns(np.random.default_rng(seed), sum(lengths))
    ends = np.cumsum([0, *lengths])
    made = []
    for number, (start, end) in enumerate(itertools.pairwise(ends)):
        part = {name: column[start:end] for name, column in whole.items()}
        suffix = "parquet" if container == "parquet" else "root"
        made.append(write(folder / f"f{number}.{suffix}", container, part))
    return made, whole


def compare(path: Path, whole: dict[str, Any], order: np.ndarray[Any, Any], names: list[str] | None = None) -> None:
    """By uproot, value by value."""
    with uproot.open(path) as file:
        table = file["Events"]
        for name in names or whole:
            found, wanted = ak.Array(table[name].array()), ak.Array(whole[name])[order]
            assert len(found) == len(order)
            if name == "x":
                assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes(), name
            else:
                assert found.tolist() == wanted.tolist(), name


# Order.


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("seed", range(3))
def test_entries_are_in_the_order_of_a_stable_sort(
    container: str, seed: int, basketry: Basketry, tmp_path: Path
) -> None:
    lengths = [[1500, 900, 1, 1100], [2000], [1, 0, 3000]][seed]
    made, whole = files(tmp_path, container, seed, lengths)
    for number, (key, by) in enumerate(KEYS.items()):
        out = tmp_path / f"{number}.root"
        report = basketry.json("sort", *made, "-o", out, f"--by={key}")
        order = expected(whole, by)
        compare(out, whole, order)
        (table,) = report["tables"]
        assert (table["entries"], table["input_entries"]) == (sum(lengths), sum(lengths))
    opposite = tmp_path / "opposite.root"
    basketry("sort", *made, "-o", opposite, "--by=-run,event", "--descending")
    compare(opposite, whole, expected(whole, [("run", False), ("event", True)]))


def test_polars_sorts_alike(basketry: Basketry, tmp_path: Path) -> None:
    """Where its order is one of numbers: it has NaN last as well."""
    made, whole = files(tmp_path, "ttree", 7, [2500, 2500])
    frame = pl.DataFrame({name: np.asarray(whole[name]) for name in [*BITS, "number"]})
    for number, (key, by) in enumerate(KEYS.items()):
        if ("x", True) in by:
            continue
        out = tmp_path / f"{number}.root"
        basketry("sort", *made, "-o", out, f"--by={key}")
        names, descending = [name for name, _ in by], [descends for _, descends in by]
        ordered = frame.sort(names, descending=descending, maintain_order=True)
        with uproot.open(out) as file:
            assert file["Events"]["number"].array().tolist() == ordered["number"].to_list(), key


def test_real_root_reads_it(basketry: Basketry, tmp_path: Path) -> None:
    made, whole = files(tmp_path, "ttree", 3, [1000, 700])
    out = tmp_path / "out.root"
    basketry("sort", *made, "-o", out, "--by", "small,event")
    order = expected(whole, [("small", False), ("event", False)])
    found = root_filter.values(out, "Events", {"number": ("Long64_t", "number"), "sum": ("float", "Sum(items)")})
    assert found["number"] == order.tolist()
    sums = np.asarray(ak.sum(whole["items"], axis=1))[order]
    assert np.allclose(found["sum"], sums, atol=1e-4)


def test_an_expression_is_a_key_and_a_selection_goes_first(basketry: Basketry, tmp_path: Path) -> None:
    made, whole = files(tmp_path, "ttree", 4, [800, 900])
    out = tmp_path / "out.root"
    basketry("sort", *made, "-o", out, "--by", "number % 7,-number", "--cut", "number < 1200", "--keep", "number")
    number = np.asarray(whole["number"])
    kept = number[number < 1200]
    with uproot.open(out) as file:
        assert file["Events"].keys() == ["number"]
        assert file["Events"]["number"].array().tolist() == kept[np.lexsort([-kept, kept % 7])].tolist()


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("entries", [0, 1])
def test_few_entries_are_sorted(container: str, entries: int, basketry: Basketry, tmp_path: Path) -> None:
    (path,), _ = files(tmp_path, container, 1, [entries])
    out = tmp_path / "out.root"
    basketry("sort", path, "-o", out, "--by", "run,event")
    basketry("verify", path, out)
    with uproot.open(out) as file:
        assert file["Events"].num_entries == entries


# Columns of any kind.


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("recipe", sorted(set(SMALL) - {"beyond_2gb", "external_branch", "chained", "unclosed"}))
def test_a_special_file_comes_back_when_it_is_turned_twice(
    recipe: str, basketry: Basketry, root_bytes: RootServer, root_values: RootServer, tmp_path: Path
) -> None:
    """From the last entry to the first, and again: real ROOT reads what it read before."""
    source = make_files.made(recipe) / SMALL[recipe]
    turned, back, own = tmp_path / "turned.root", tmp_path / "back.root", tmp_path / "own.root"
    outcome = basketry.run("sort", source, "-o", turned, "--by=-Entry$")
    if outcome.code == 2 and "there is no tree" in outcome.err:
        return
    assert outcome.code == 0, str(outcome)
    basketry("sort", turned, "-o", back, "--by=-Entry$", "--compression", "lz4:1")
    # What a sort leaves out, such as friends, is not compared.
    basketry("sort", source, "-o", own, "--by=Entry$")
    assert basketry.run("verify", own, back).code == 0
    truth = source.with_name("plain.root") if recipe == "offset_map" else own
    found = list(entry_bytes.differences(root_bytes.of(truth), root_bytes.of(back)))
    found += values.differences(root_values.of(truth) | {"recovered": False}, root_values.of(back))
    assert not found, "\n".join(found[:10])


@pytest.mark.parametrize("kind", ["nano", "lhcb", "aod", "esd", "multi"])
@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_bytes_do_not_depend_on_memory_or_threads(
    kind: str, container: str, basketry: Basketry, tmp_path: Path
) -> None:
    """With little memory columns are sorted in several runs, which are merged. As in a rewrite, an RNTuple needs memory
    for its clusters."""
    source, out, back = tmp_path / "source.root", tmp_path / "out.root", tmp_path / "back.root"
    basketry("generate", kind, "-o", source, "--size", "6MB", "--container", container)
    least = "64MB" if container == "ttree" else "400MB"
    for key in ("Entry$ * 7919 % 1009,Entry$", "-Entry$"):
        found = set()
        for threads, memory in (("1", "2GB"), ("2", least), ("8", "1GB"), ("1", least)):
            words = ("-j", threads, "--memory", memory)
            basketry("sort", source, "-o", out, "--force", f"--by={key}", *words)
            found.add(digest(out))
        assert len(found) == 1, key
    basketry("sort", out, "-o", back, "--by=-Entry$")
    outcome = basketry.run("verify", source, back)
    assert outcome.code == 0, str(outcome)


# Merging what is sorted.


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_sorted_files_are_merged(container: str, basketry: Basketry, tmp_path: Path) -> None:
    made, whole = files(tmp_path, container, 5, [1200, 0, 900, 1])
    key = "-run,event"
    for path in made:
        basketry("sort", path, "-o", path.with_suffix(".sorted.root"), f"--by={key}")
    one, other = tmp_path / "one.root", tmp_path / "other.root"
    basketry("merge", *[path.with_suffix(".sorted.root") for path in made], "-o", one, f"--by={key}", "--pack", "0B")
    compare(one, whole, expected(whole, [("run", True), ("event", False)]))
    told = " ".join(basketry.json("merge", *made, "-o", other, f"--by={key}")["notes"])
    assert re.search(r"f0\.root is not sorted: entry \d+ has the key \d:\d+, and the one before it", told), told
    compare(other, whole, expected(whole, [("run", True), ("event", False)]))


def test_equal_keys_stay_in_the_order_of_the_inputs(basketry: Basketry, tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"{number}.root")
        with bk.recreate(paths[-1]) as file:
            file.mktree("Events", {"k": "i4", "n": "i4"})
            file["Events"].extend(
                {"k": np.repeat(np.arange(4, dtype="i4"), 2), "n": 10 * number + np.arange(8, dtype="i4")}
            )
    out = tmp_path / "out.root"
    basketry("merge", *paths, "-o", out, "--by", "k", "--unique", "n")
    with uproot.open(out) as file:
        k, n = (file["Events"][name].array().tolist() for name in ("k", "n"))
    assert k == sorted(k)
    assert n == [10 * number + 2 * key + one for key in range(4) for number in range(3) for one in range(2)]


# Comparing.


@pytest.mark.parametrize("container", CONTAINERS)
def test_entries_are_compared_by_their_keys(container: str, basketry: Basketry, tmp_path: Path) -> None:
    made, whole = files(tmp_path, container, 6, [900, 600])
    shuffled = np.random.default_rng(1).permutation(1500)
    other = {name: column[shuffled] for name, column in whole.items()}
    suffix = made[0].suffix
    path = write(tmp_path / f"other{suffix}", container, other)
    assert basketry.run("verify", *made, path).code == 1
    outcome = basketry.run("verify", *made, path, "--by", "run,event", "--tree", "Events", "--json")
    if container == "parquet":
        outcome = basketry.run("verify", *made, path, "--by", "run,event", "--json")
    assert outcome.code == 0, str(outcome)

    changed = {name: np.array(column) if name == "small" else column for name, column in other.items()}
    place = 77
    changed["small"][place] += 1
    left_out = {name: column[: 1500 - 2] for name, column in changed.items()}
    path = write(tmp_path / f"changed{suffix}", container, left_out)
    report = basketry.run("verify", *made, path, "--by", "run,event", "--json")
    assert report.code == 1
    verdict = json.loads(report.out)
    (keys,) = verdict["keys"]
    lone = sorted(int(entry) for entry in shuffled[-2:])
    assert (keys["matched"], keys["only_second"]["entries"]) == (1498, 0)
    assert sorted(one["entry"] for one in keys["only_first"]["listed"]) == lone
    (values_,) = [one for one in verdict["differences"] if one.get("key")]
    entry = int(shuffled[place])
    assert values_["branch"] == "small"
    assert values_["entry"] == entry
    assert values_["key"] == [str(whole["run"][entry]), str(whole["event"][entry])]
    said = [one["what"] for one in verdict["differences"] if not one.get("key")]
    assert any("2 entries have keys that only the first side has" in what for what in said), said


def test_equal_keys_are_compared_in_their_order(basketry: Basketry, tmp_path: Path) -> None:
    def make(name: str, k: list[int], v: list[int]) -> Path:
        with bk.recreate(tmp_path / name) as file:
            file.mktree("Events", {"k": "i4", "v": "i4"})
            file["Events"].extend({"k": np.array(k, "i4"), "v": np.array(v, "i4")})
        return tmp_path / name

    one = make("one.root", [1, 2, 1, 3], [10, 20, 11, 30])
    same, turned = (
        make("same.root", [3, 1, 1, 2], [30, 10, 11, 20]),
        make("turned.root", [3, 1, 1, 2], [30, 11, 10, 20]),
    )
    more = make("more.root", [3, 1, 1, 1, 2], [30, 10, 11, 12, 20])
    assert basketry.run("verify", one, same, "--by", "k").code == 0
    assert basketry.run("verify", one, turned, "--by", "k").code == 1
    outcome = basketry.run("verify", one, more, "--by", "k")
    assert (outcome.code, "1 entry has a key that only the second side has: 1" in outcome.out) == (1, True), str(
        outcome
    )


# What cannot be kept, or is refused.


def test_friends_are_left_out_with_a_note(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("friends")
    notes = []
    for path in sorted(source.glob("*.root")):
        report = basketry.json("sort", path, "-o", tmp_path / path.name, "--by=-Entry$")
        notes += report["notes"] + report["unmerged"]
    assert any("friends" in note and "in another order" in note for note in notes), notes


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "goood"), "goood"),
        (("--by", "items"), "a key has one number for each entry"),
        (("--by", "run,run"), "twice"),
        (("--by=-",), "before the column"),
        ((), "--by"),
    ],
)
def test_keys_that_mean_nothing_are_refused(
    words: tuple[str, ...], said: str, basketry: Basketry, tmp_path: Path
) -> None:
    made, _ = files(tmp_path, "ttree", 1, [50])
    outcome = basketry.run("sort", *made, "-o", tmp_path / "no.root", *words)
    assert (outcome.code, said in outcome.err, "panicked" in outcome.err) == (2, True, False), str(outcome)
    assert not (tmp_path / "no.root").exists()


def test_python_has_the_same(tmp_path: Path) -> None:
    made, whole = files(tmp_path, "ttree", 2, [300, 200])
    out = tmp_path / "out.root"
    summary = bk.sort(made, out, by=["-run", "event"], compression="zstd:1")
    assert summary.tables[0].entries == 500
    compare(out, whole, expected(whole, [("run", True), ("event", False)]))
    verdict = bk.verify(*made, out, by="run,event")
    assert (verdict.equal, verdict.keys[0].matched) == (True, 500)
    assert not bk.verify(*made, out).equal
    bk.merge([out], tmp_path / "merged.root", by="-run,event")
    summary = bk.merge(made, tmp_path / "other.root", by="-run,event")
    assert [found.file for found in summary.unsorted] == [made[0]]
    assert summary.tables[0].order is not None
    assert not summary.tables[0].order.one_pass


# Memory, space, and jobs that end early.


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with columns of 16 MB, more than a run has at small memory."""
    path, rng = tmp_path_factory.mktemp("large") / "large.root", np.random.default_rng(2)
    entries = 2_000_000
    counts = rng.integers(0, 4, entries)
    with bk.recreate(path, compression="lz4:1", basket="256kB", cluster="100000") as file:
        file["Events"] = {
            "k": rng.permutation(entries).astype("u8"),
            "x": rng.normal(size=entries),
            "items": ak.unflatten(rng.normal(size=int(counts.sum())).astype("f4"), counts),
        }
    return path


@pytest.mark.parametrize(("memory", "threads"), [(64, "2"), (128, "1")])
def test_entries_are_sorted_within_memory(
    memory: int, threads: str, large: Path, basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    outcome = basketry.run("sort", large, "-o", out, "--by", "k", "--memory", f"{memory}MB", "-j", threads)
    assert outcome.code == 0, str(outcome)
    assert outcome.peak_rss <= (memory + 45) * MB, outcome.peak_rss
    with uproot.open(large) as before, uproot.open(out) as after:
        old, new = before["Events"].arrays(), after["Events"].arrays()
    order = np.argsort(np.asarray(old["k"]))
    assert np.array_equal(np.asarray(new["x"]), np.asarray(old["x"])[order])
    assert ak.all(new["items"] == old["items"][order])


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_columns_that_have_no_room_are_merged_of_runs(container: str, basketry: Basketry, tmp_path: Path) -> None:
    """Columns of several types that are larger than the memory for one: runs in a scratch file, which are merged."""
    draw = np.random.default_rng(8)
    key = draw.permutation(1_200_000)
    counts = draw.integers(0, 4, len(key))
    lists = ak.unflatten(np.repeat(key, counts), counts)
    texts = ak.Array([f"entry {number}" for number in key[:200_000]])
    source, out, short, short_out = (tmp_path / f"{name}.root" for name in ("in", "out", "short", "short_out"))
    for path, content in (
        (source, {"key": key, "x": key * 2.0, "lists": lists, "small": key.astype("u1")}),
        (short, {"key": key[:200_000], "text": texts}),
    ):
        with bk.recreate(path, container=container, compression="lz4:1") as file:
            file["Events"] = content
    basketry("sort", source, "--by", "key", "-o", out, "--memory", "48MB")
    with uproot.open(out) as file:
        found = file["Events"].arrays()
    assert np.array_equal(found["key"], np.arange(len(key)))
    assert np.array_equal(found["x"], 2.0 * np.arange(len(key)))
    assert np.array_equal(found["small"], np.arange(len(key)).astype("u1"))
    order = np.argsort(key)
    assert np.array_equal(ak.num(found["lists"]), counts[order])
    assert np.array_equal(ak.flatten(found["lists"]), np.repeat(np.arange(len(key)), counts[order]))
    basketry("sort", short, "--by", "-key", "-o", short_out, "--memory", "40MB")
    with uproot.open(short_out) as file:
        found = file["Events"].arrays()
    down = np.sort(key[:200_000])[::-1]
    assert np.array_equal(found["key"], down)
    assert ak.to_list(found["text"]) == [f"entry {number}" for number in down]


def test_a_full_disk_is_told_and_leaves_nothing(large: Path, basketry: Basketry, tmp_path: Path) -> None:
    """Files of this process may have 1 MB: the rows that wait on disk have more."""
    script = tmp_path / "limited.sh"
    words = f"sort {large} -o {tmp_path / 'out.root'} --by k --memory 64MB"
    script.write_text(f"ulimit -f 1000; exec {basketry.binary} {words}")
    outcome = Basketry(Path("/bin/bash")).run(script)
    assert outcome.code == 2, str(outcome)
    assert re.search("a temporary file.*more memory", outcome.err), str(outcome)
    assert list(tmp_path.iterdir()) == [script]


@pytest.mark.parametrize("told", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_that_ends_early_leaves_no_output_and_no_scratch(
    told: signal.Signals, large: Path, basketry: Basketry, tmp_path: Path
) -> None:
    words = ["sort", str(large), "-o", str(tmp_path / "out.root"), "--by", "k", "--memory", "64MB", "-j", "1"]
    job = subprocess.Popen([basketry.binary, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    descriptors = Path(f"/proc/{job.pid}/fd")
    # Until rows wait on disk, in a file without a name.
    while job.poll() is None:
        try:
            targets = [str(one.readlink()) for one in descriptors.iterdir()]
        except OSError:
            break
        if any(str(tmp_path) in one and "(deleted)" in one for one in targets):
            break
        time.sleep(0.001)
    job.send_signal(told)
    assert job.wait() != 0
    left = [path.name for path in tmp_path.iterdir()]
    assert "out.root" not in left
    assert left == [] or told == signal.SIGKILL
    # What a killed job left under a temporary name goes with the next one.
    basketry("sort", large, "-o", tmp_path / "out.root", "--by", "k")
    assert [path.name for path in tmp_path.iterdir()] == ["out.root"]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_damage_is_told_by_file_and_column(container: str, basketry: Basketry, tmp_path: Path) -> None:
    """A byte of a basket or page is changed: checksums of zstd and of pages find it."""
    rng = np.random.default_rng(3)
    path = tmp_path / "damaged.root"
    with bk.recreate(path, container=container, compression="zlib:1", cluster="500") as file:
        file["Events"] = {"k": rng.permutation(2000), "x": rng.normal(size=2000)}
    data = bytearray(path.read_bytes())
    told = 0
    for place in range(2000, len(data) - 2000, max((len(data) - 4000) // 25, 1)):
        changed = bytearray(data)
        changed[place] ^= 0x5A
        path.write_bytes(changed)
        outcome = basketry.run("sort", path, "-o", tmp_path / "out.root", "--by", "k", "--force")
        assert outcome.code in (0, 2), str(outcome)
        assert "panicked" not in outcome.err
        if outcome.code == 2:
            told += 1
            assert "damaged.root" in outcome.err, str(outcome)
    assert told > 0
