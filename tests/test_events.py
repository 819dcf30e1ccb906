"""Events by their keys: duplicates, an index and picked events, judged by polars, uproot and RDataFrame, in trees,
RNTuples and Parquet files; what is damaged, has changed, or has no room."""

import fcntl
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee import root_filter
from referee.command import Argument, Basketry

KEY = ["run", "luminosityBlock", "event"]
WORDS = ",".join(KEY)
#: Files, entries of each, and how many the next one has as well.
FILES, ENTRIES, SHARED = 4, 1500, 200
MB = 1_000_000


@dataclass(frozen=True)
class Made:
    """Files with shared events, and all their entries in order."""

    files: list[Path]
    frame: pl.DataFrame

    def sorted(self) -> pl.DataFrame:
        """As an index has them."""
        return self.frame.select(*KEY, "file", "entry").sort(*KEY, "file", "entry")


def frame(rng: np.random.Generator) -> pl.DataFrame:
    """Entries of all files in their order, with the keys of whole files in no order."""
    all_events = rng.permutation(FILES * ENTRIES)
    parts = []
    for file in range(FILES):
        first = file * (ENTRIES - SHARED)
        event = all_events[first : first + ENTRIES].astype(np.uint64)
        columns = {
            "run": (1 + event % 3).astype(np.uint32),
            "luminosityBlock": (event // 50).astype(np.uint32),
            # 64 bits are needed.
            "event": event * 10**15,
            "x": np.arange(ENTRIES) + 10_000.0 * file,
            "file": np.full(ENTRIES, file, np.uint32),
            "entry": np.arange(ENTRIES, dtype=np.uint64),
        }
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


@pytest.fixture(scope="module", params=["ttree", "rntuple", "parquet"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make("ttree", tmp_path_factory.mktemp("trees"))


def make(container: str, folder: Path) -> Made:
    """Files of a container. Those of ROOT have a second table, of runs."""
    whole = frame(np.random.default_rng(11))
    files = []
    for number in range(FILES):
        own = whole.filter(pl.col("file") == number)
        columns = {name: own[name].to_numpy() for name in [*KEY, "x"]}
        path = folder / f"f{number}.{'parquet' if container == 'parquet' else 'root'}"
        files.append(path)
        if container == "parquet":
            pl.DataFrame(columns).write_parquet(path, row_group_size=300)
            continue
        with bk.recreate(path, container=container, cluster="300") as file:
            file["Events"] = columns
            file["Runs"] = {"run": np.arange(1, 4, dtype=np.uint32)}
    return Made(files, whole)


def values(path: Path, names: list[str] | None = None) -> pl.DataFrame:
    """The columns of the table of events, by uproot."""
    with uproot.open(path) as file:
        arrays = file["Events"].arrays([*KEY, "x"] if names is None else names, library="np")
    return pl.DataFrame(dict(arrays))


def lines(some: pl.DataFrame) -> str:
    return "".join(f"{run}:{lumi}:{event}\n" for run, lumi, event in some.select(KEY).rows())


# Duplicates.


def test_duplicates_are_those_that_polars_finds(made: Made, basketry: Basketry) -> None:
    if made.files[0].suffix == ".parquet":
        pytest.skip("check takes ROOT files")
    whole = made.frame
    outcome = basketry.run("check", *made.files, "--keys", WORDS, "--json")
    report = json.loads(outcome.out)

    assert outcome.code == 1
    assert report["whole"]
    repeated = whole.filter(~pl.struct(KEY).is_first_distinct())
    found = report["keys"]
    assert (found["path"], found["key"], found["entries"]) == ("Events", KEY, len(whole))
    assert found["duplicates"] == len(repeated) == (FILES - 1) * SHARED
    rows = {tuple(map(str, row[:3])): row[3:] for row in repeated.select(*KEY, "file", "entry").rows()}
    assert len(found["listed"]) == len(rows)
    for one in found["listed"]:
        file, entry = rows[tuple(one["key"])]
        assert one["entry"] == {"file": str(made.files[file]), "entry": entry}
        assert one["first"]["file"] == str(made.files[file - 1])
    assert basketry.run("check", made.files[0], "--keys", WORDS).code == 0


def test_a_merge_keeps_each_key_once(made: Made, basketry: Basketry, tmp_path: Path) -> None:
    whole, out = made.frame, tmp_path / "out.root"
    report = basketry.json("merge", *made.files, "-o", out, "--unique", WORDS)

    expected = whole.unique(KEY, keep="first", maintain_order=True)
    assert values(out).equals(expected.select(*KEY, "x"))
    (found,) = report["duplicates"]
    assert (found["duplicates"], found["entries"]) == (len(whole) - len(expected), len(whole))
    said = root_filter.values(out, "Events", {"x": ("double", "x")})["x"]
    assert said == expected["x"].to_list()
    if made.files[0].suffix == ".root":
        with uproot.open(out) as file:
            assert file["Runs"].num_entries == 3 * FILES


def test_duplicates_refuse_a_merge(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    why = basketry.refuses("merge", *trees.files, "-o", out, "--unique", WORDS, "--on-duplicate", "refuse")
    assert f"{(FILES - 1) * SHARED} of {FILES * ENTRIES}" in why
    assert str(trees.files[1]) in why
    assert list(tmp_path.iterdir()) == []
    basketry("merge", trees.files[0], trees.files[2], "-o", out, "--unique", WORDS, "--on-duplicate", "refuse")
    assert len(values(out)) == 2 * ENTRIES


def test_a_cut_comes_before_keys(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("merge", *trees.files, "-o", out, "--unique", WORDS, "--cut", "x >= 10000")
    whole = trees.frame.filter(pl.col("x") >= 10_000)
    assert values(out).equals(whole.unique(KEY, keep="first", maintain_order=True).select(*KEY, "x"))


def test_keys_may_be_expressions(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("merge", trees.files[0], "-o", out, "--unique", "max(run, 2), event // 10**17 % 7")
    own = trees.frame.filter(pl.col("file") == 0)
    key = pl.struct(pl.max_horizontal("run", pl.lit(2)), (pl.col("event") // 10**17 % 7).alias("e"))
    assert values(out)["x"].to_list() == own.filter(key.is_first_distinct())["x"].to_list()


@pytest.mark.parametrize("join", ["--fill", "--common"])
def test_a_merge_invents_no_keys(join: str, basketry: Basketry, tmp_path: Path) -> None:
    """A file without a column of the key would get zeros, or the tree would have no key."""
    files = [tmp_path / f"{name}.root" for name in ("with", "without", "empty")]
    whole = {"run": np.ones(3, np.int32), "event": np.array([1, 2, 2], np.int32)}
    for path, columns in zip(files, (whole, {"run": whole["run"]}, {"run": np.ones(0, np.int32)}), strict=True):
        with bk.recreate(path) as file:
            file["Events"] = columns
    why = basketry.refuses("merge", *files[:2], "-o", tmp_path / "out.root", "--unique", "run,event", join)
    assert str(files[1]) in why
    assert "run,event" in why
    assert not (tmp_path / "out.root").exists()
    basketry("merge", files[0], files[2], "-o", tmp_path / "out.root", "--unique", "run,event", "--fill")
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"]["event"].array().tolist() == [1, 2]


# Types that differ.

#: Keys of two files: types, values, and the type of both. `None` if one of them has a value that no type of both has.
MIXED: list[tuple[tuple[str, list[Any]], tuple[str, list[Any]], str | None]] = [
    (("int32", [1, 2]), ("float64", [2.5, 3.9]), "float64"),
    (("float32", [2.0**24]), ("int32", [2**24, 2**24 + 1]), "float64"),
    (("bool", [True, False]), ("int32", [1, 7]), "int32"),
    (("float64", [1.0]), ("int64", [2**53]), "float64"),
    (("float64", [1.0]), ("int64", [2**53 + 1]), None),
    (("int32", [-5, 7]), ("int64", [2**40, 7]), "int64"),
    (("uint8", [200]), ("int8", [-5]), "int16"),
    (("uint64", [2**63 - 1]), ("int8", [-5]), "int64"),
    (("uint64", [2**63]), ("int8", [-5]), None),
]


@pytest.mark.parametrize("container", ["parquet", "ttree"])
@pytest.mark.parametrize(("one", "other", "both"), MIXED)
def test_the_order_of_files_does_not_decide_types(
    container: str,
    one: tuple[str, list[Any]],
    other: tuple[str, list[Any]],
    both: str | None,
    basketry: Basketry,
    tmp_path: Path,
) -> None:
    files = []
    for number, (kind, values) in enumerate((one, other)):
        files.append(tmp_path / f"{number}.{'parquet' if container == 'parquet' else 'root'}")
        array = np.array(values, dtype=kind)
        if container == "parquet":
            pl.DataFrame({"k": array}).write_parquet(files[-1])
        else:
            with bk.recreate(files[-1]) as file:
                file["t"] = {"k": array}
    for order in (files, files[::-1]):
        index = tmp_path / f"{order[0].stem}.index"
        if both is None:
            why = basketry.refuses("index", *order, "--key", "k", "-o", index)
            assert any(str(path) in why for path in files)
            assert re.search(r"\bk is \w*Int\w* here", why)
            assert re.search("(Float64|Int64) in the key", why)
            continue
        report = basketry.json("index", *order, "--key", "k", "-o", index)
        keys = read(index)["k"].to_list()
        assert pq.read_schema(index).field("k").type == ("double" if both == "float64" else both)
        assert keys == sorted(one[1] + other[1])
        assert report["duplicates"] == len(keys) - len(set(keys))
        # What is added later says no more and no less.
        basketry("index", order[0], "--key", "k", "-o", tmp_path / "grown")
        basketry("index", order[1], "-o", tmp_path / "grown", "--extend")
        assert (tmp_path / "grown").read_bytes() == index.read_bytes()
        (tmp_path / "grown").unlink()


# Indices.


def read(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path)


def record(path: Path) -> dict[str, Any]:
    return json.loads(pq.read_metadata(path).metadata[b"basketry.index"])  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def index(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "events.parquet"
    report = bk.index(made.files, path, key=KEY)
    assert (report.files, report.entries, report.duplicates) == (FILES, len(made.frame), (FILES - 1) * SHARED)
    return path


def test_an_index_is_what_polars_sorts(made: Made, index: Path) -> None:
    assert read(index).equals(made.sorted())
    files = record(index)["files"]
    assert [file["path"] for file in files] == [str(path) for path in made.files]
    assert all((file["entries"], file["bytes"]) == (ENTRIES, Path(file["path"]).stat().st_size) for file in files)


@pytest.mark.parametrize("options", [("-j", "1"), ("-j", "3", "--memory", "64MB")])
def test_threads_and_memory_change_no_byte(
    options: tuple[str, ...], made: Made, index: Path, basketry: Basketry, tmp_path: Path
) -> None:
    basketry("index", *made.files, "--key", WORDS, "-o", tmp_path / "again.parquet", *options)
    assert (tmp_path / "again.parquet").read_bytes() == index.read_bytes()


def test_an_index_that_grows_is_the_same(made: Made, index: Path, basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "grown.parquet"
    basketry("index", made.files[0], "--key", WORDS, "-o", path)
    report = basketry.json("index", *made.files[:3], "-o", path, "--extend")
    assert (report["files_known"], report["files_read"], report["files_changed"]) == (1, 2, [])
    basketry("index", made.files[3], "-o", path, "--extend")
    assert path.read_bytes() == index.read_bytes()


def test_a_changed_file_is_read_anew_or_refused(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    files = [tmp_path / path.name for path in trees.files]
    for path, original in zip(files, trees.files, strict=True):
        path.write_bytes(original.read_bytes())
    path = tmp_path / "events.parquet"
    basketry("index", *files, "--key", WORDS, "-o", path)
    basketry("rewrite", trees.files[1], "-o", files[1], "--force", "--entries", ":700")
    (tmp_path / "list.txt").write_text(lines(trees.frame.filter(pl.col("file") == 1).tail(1)))

    why = basketry.refuses("pick", "--index", path, "--events", tmp_path / "list.txt", "-o", tmp_path / "out.root")
    report = basketry.json("index", *files, "-o", path, "--extend")

    assert str(files[1]) in why
    assert "changed" in why
    assert "index --extend" in why
    assert report["files_changed"] == [str(files[1])]
    assert report["files_known"] == FILES - 1
    keys = trees.frame.filter((pl.col("file") != 1) | (pl.col("entry") < 700))
    assert sorted(read(path).select(KEY).rows()) == sorted(keys.select(KEY).rows())


def test_a_moved_file_keeps_its_keys(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    """Also beside one that has changed, one that is new, and a copy of one that is still there."""
    files, (path, fresh) = (
        [tmp_path / path.name for path in trees.files],
        (tmp_path / "e.parquet", tmp_path / "f.parquet"),
    )
    for target, original in zip(files, trees.files, strict=True):
        target.write_bytes(original.read_bytes())
    basketry("index", *files[:3], "--key", WORDS, "-o", path)
    (tmp_path / "new").mkdir()
    moved = files[1].rename(tmp_path / "new" / "moved.root")
    copied = Path(shutil.copy(files[0], tmp_path / "copy.root"))
    basketry("rewrite", trees.files[2], "-o", files[2], "--force", "--entries", ":700")
    found = basketry.json("index", moved, files[2], files[3], copied, "-o", path, "--extend")
    assert (found["files_moved"], found["files_changed"]) == ([str(moved)], [str(files[2])])
    assert (found["files_known"], found["files_read"], found["files"]) == (1, 3, 5)
    basketry("index", files[0], moved, files[3], copied, files[2], "--key", WORDS, "-o", fresh)
    assert path.read_bytes() == fresh.read_bytes()
    again = basketry.json("index", moved, "-o", path, "--extend")
    assert (again["files_moved"], again["files_known"]) == ([], 1)


def test_a_parquet_file_of_the_same_size_has_changed(basketry: Basketry, tmp_path: Path) -> None:
    path, index = tmp_path / "a.parquet", tmp_path / "index.parquet"
    pl.DataFrame({"k": [1, 2, 3]}).write_parquet(path, compression="uncompressed")
    basketry("index", path, "--key", "k", "-o", index)
    size = path.stat().st_size
    assert basketry.json("index", path, "-o", index, "--extend")["files_changed"] == []
    pl.DataFrame({"k": [1, 2, 4]}).write_parquet(path, compression="uncompressed")
    assert path.stat().st_size == size
    why = basketry.refuses("pick", "--index", index, "--events", "3", "-o", tmp_path / "out.root")
    assert "has changed" in why
    assert basketry.json("index", path, "-o", index, "--extend")["files_changed"] == [str(path)]
    assert read(index)["k"].to_list() == [1, 2, 4]


def test_two_that_extend_an_index_lose_no_file(many: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    index = tmp_path / "events.parquet"
    basketry("index", many[0], "--key", WORDS, "-o", index)
    words = [[str(basketry.binary), "index", str(path), "-o", str(index), "--extend"] for path in many[1:]]
    started = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in words]
    added = []
    for path, process in zip(many[1:], started, strict=True):
        _, said = process.communicate(timeout=120)
        assert process.returncode in (0, 2), said
        assert process.returncode == 0 or "edit it when that is done" in said
        added += [str(path)] if process.returncode == 0 else []
    assert added
    assert sorted(file["path"] for file in record(index)["files"]) == sorted([str(many[0]), *added])
    assert list(tmp_path.iterdir()) == [index]


def test_an_index_that_is_being_extended_is_not_extended(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    index = tmp_path / "events.parquet"
    basketry("index", trees.files[0], "--key", WORDS, "-o", index)
    before = index.read_bytes()
    with index.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        why = basketry.refuses("index", trees.files[1], "-o", index, "--extend")
    assert str(index) in why
    assert "another process" in why
    assert index.read_bytes() == before
    basketry("index", trees.files[1], "-o", index, "--extend")


def test_an_index_has_a_name(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    outcome = basketry.run("index", *trees.files, "--key", WORDS, "-o", "-", cwd=tmp_path)
    assert outcome.code == 2
    assert "name one" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_types_too_wide_for_a_key_are_measured(basketry: Basketry, tmp_path: Path) -> None:
    """Frames of pandas have 64 bits in every column."""
    rng = np.random.default_rng(5)
    columns = {name: rng.integers(-most, most, 5000) for name, most in zip("abc", (3, 10**6, 2**40), strict=True)}
    both = pl.DataFrame(columns)
    for number, part in enumerate((both[:2000], both[2000:])):
        part.write_parquet(tmp_path / f"{number}.parquet")
    path = tmp_path / "index.parquet"
    basketry("index", tmp_path / "0.parquet", "--key", "a,b,c", "-o", path)
    basketry("index", tmp_path / "1.parquet", "--extend", "-o", path)
    assert read(path).select("a", "b", "c").equals(both.sort("a", "b", "c"))
    wide = pl.DataFrame({name: [-(2**62), 2**62] for name in "abc"})
    wide.write_parquet(tmp_path / "wide.parquet")
    why = basketry.refuses("index", tmp_path / "wide.parquet", "--key", "a,b,c", "-o", tmp_path / "no.parquet")
    assert "128 bits" in why


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--key", "rum,event"), "run"),
        (("--key", "run,run"), "twice"),
        (("--key", "event,entry"), "entry"),
        ((), "--key"),
    ],
)
def test_keys_that_mean_nothing_are_refused(
    words: tuple[str, ...], said: str, trees: Made, basketry: Basketry, tmp_path: Path
) -> None:
    outcome = basketry.run("index", *trees.files, "-o", tmp_path / "no.parquet", *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert "panicked" not in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_damaged_indices_are_refused(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    basketry("index", *trees.files, "--key", WORDS, "-o", path)
    whole = path.read_bytes()
    table, facts = pq.read_table(path), record(path)
    pick = ("pick", "--events", "1:0:3000000000000000", "-o", tmp_path / "out.root", "--index")

    def broken(name: str, changed: Any, facts: dict[str, Any]) -> Path:
        own = tmp_path / name
        pq.write_table(changed.replace_schema_metadata({"basketry.index": json.dumps(facts)}), own)
        return own

    damaged = [
        broken("files", table, {**facts, "files": facts["files"][:1]}),
        broken("key", table, {**facts, "key": ["event", "run", "luminosityBlock"]}),
        broken("firsts", table, {**facts, "firsts": []}),
        broken("spans", table, {**facts, "spans": [[0, 1]] * 2}),
        broken("version", table, {**facts, "version": 9}),
        broken("column", table.drop(["entry"]), facts),
        trees.files[0],
    ]
    for cut in (len(whole) // 2, len(whole) - 30):
        (tmp_path / f"cut{cut}").write_bytes(whole[:cut])
        damaged.append(tmp_path / f"cut{cut}")
    pq.write_table(table.replace_schema_metadata({}), tmp_path / "plain")
    damaged.append(tmp_path / "plain")
    for one in damaged:
        why = basketry.refuses(*pick, one)
        assert one.name in why, why
        assert not (tmp_path / "out.root").exists()
    basketry.run(*pick, path)


def test_any_damage_is_told_by_the_name_of_the_index(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    index, out = tmp_path / "events.parquet", tmp_path / "out.root"
    basketry("index", *trees.files, "--key", WORDS, "-o", index)
    whole = index.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    rng = np.random.default_rng(8)
    refused = 0
    for _ in range(60):
        bytes_ = bytearray(whole)
        # The record and what Parquet says of the file.
        at = int(rng.integers(footer, len(bytes_)))
        bytes_[at] ^= int(rng.integers(1, 256))
        index.write_bytes(bytes_)
        outcome = basketry.run("pick", "--index", index, "--events", "1", "-o", out, "--force")
        assert "panicked" not in outcome.err, str(outcome)
        if outcome.code == 2:
            refused += 1
            assert str(index) in outcome.err or "since it was indexed" in outcome.err or ".root" in outcome.err, (
                outcome.err
            )
            assert not re.search(r"\w+\(\w*\)|\w+ \{ \w+:", outcome.err), outcome.err
    assert refused > 10


# Picks.


@pytest.fixture
def asked(made: Made) -> pl.DataFrame:
    """Some entries of three of the files, in no order."""
    return made.frame.filter(pl.col("file") != 2).sample(40, seed=3, shuffle=True)


@pytest.mark.parametrize("by_index", [True, False])
def test_picked_entries_are_those_of_the_keys(
    by_index: bool, made: Made, index: Path, asked: pl.DataFrame, basketry: Basketry, tmp_path: Path
) -> None:
    listed, out = tmp_path / "list.txt", tmp_path / "out.root"
    listed.write_text("# mine\n" + lines(asked) + "9:9:9\n")
    where = ["--index", index] if by_index else made.files
    outcome = basketry.run("pick", *where, "--events", listed, "-o", out, "--json")
    report = json.loads(outcome.out)

    expected = made.frame.join(asked.select(KEY).unique(), on=KEY, how="semi").sort("file", "entry")
    assert values(out).equals(expected.select(*KEY, "x"))
    assert outcome.code == 1
    assert report["missing"] == ["9:9:9"]
    assert report["picked"] == len(expected)
    places = [(Path(one["file"]), one["entry"]) for one in report["events"]]
    assert places == [(made.files[file], entry) for file, entry in expected.select("file", "entry").rows()]
    assert all(0 < one["bytes"] <= report["bytes"] and one["pieces"] >= 4 for one in report["events"])
    assert report["files_picked"] == expected["file"].n_unique()


def test_picked_entries_are_those_of_rdataframe(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.root", tmp_path / "out.root"
    basketry("merge", *trees.files, "-o", whole)
    key = trees.frame.row(17, named=True)
    basketry("pick", *trees.files, "--events", f"{key['run']}:{key['luminosityBlock']}", "-o", out)
    cut = f"run == {key['run']} && luminosityBlock == {key['luminosityBlock']}"
    kept = root_filter.asked(whole, "Events", (cut,))[cut]
    assert values(out)["x"].to_list() == trees.frame["x"][kept].to_list()
    assert root_filter.values(out, "Events", {"x": ("double", "x")})["x"] == values(out)["x"].to_list()


def test_masks_are_luminosity_sections(made: Made, index: Path, basketry: Basketry, tmp_path: Path) -> None:
    mask, out = tmp_path / "mask.json", tmp_path / "out.root"
    mask.write_text(json.dumps({"1": [[3, 7], [90, 200]], "3": [[1, 1]], "8": [[1, 9]]}))
    outcome = basketry.run("pick", "--index", index, "--events", mask, "-o", out, "--json")
    run, lumi = pl.col("run"), pl.col("luminosityBlock")
    good = (run == 1) & (lumi.is_between(3, 7) | lumi.is_between(90, 200)) | (run == 3) & (lumi == 1)
    assert values(out).equals(made.frame.filter(good).select(*KEY, "x"))
    assert json.loads(outcome.out)["missing"] == ["8:1-9"]


def test_only_files_with_events_are_opened(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    files = [tmp_path / path.name for path in trees.files]
    for path, original in zip(files, trees.files, strict=True):
        path.write_bytes(original.read_bytes())
    basketry("index", *files, "--key", WORDS, "-o", tmp_path / "events.parquet")
    for path in (files[0], files[1], files[3]):
        path.unlink()
    only = trees.frame.filter((pl.col("file") == 2) & pl.col("entry").is_between(SHARED, ENTRIES - SHARED - 1))
    (tmp_path / "list.txt").write_text(lines(only))
    out = tmp_path / "out.root"
    basketry("pick", "--index", tmp_path / "events.parquet", "--events", tmp_path / "list.txt", "-o", out)
    assert values(out).equals(only.select(*KEY, "x"))
    with uproot.open(out) as file:
        assert file["Runs"].num_entries == 3


def test_cuts_pick_too(made: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    report = basketry.json("pick", *made.files, "--cut", "x >= 11490 && x < 20010", "-o", out)
    kept = made.frame.filter(pl.col("x").is_between(11_490, 20_009.5))
    assert values(out).equals(kept.select(*KEY, "x"))
    assert report["files_picked"] == 2
    event = kept.row(0, named=True)
    again = tmp_path / "again.root"
    words = ("--events", f"{event['run']}", "--cut", "x >= 11490 && x < 20010")
    basketry("pick", *made.files, *words, "-o", again)
    assert values(again).equals(kept.filter(pl.col("run") == event["run"]).select(*KEY, "x"))


def test_where_cuts_alone_pick_all_files_take_part(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    """The trees of runs have the sums of weights of all events, and not of files with events that pass."""
    out, merged = tmp_path / "out.root", tmp_path / "merged.root"
    report = basketry.json("pick", *trees.files, "--cut", "x >= 30000", "-o", out)
    basketry("merge", *trees.files, "--cut", "x >= 30000", "-o", merged)
    assert (report["files"], report["files_picked"], report["picked"]) == (FILES, 1, ENTRIES)
    with uproot.open(out) as picked, uproot.open(merged) as expected:
        assert picked["Runs"].num_entries == expected["Runs"].num_entries == 3 * FILES
    assert values(out).equals(values(merged))


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("option", ["--common", "--fill"])
def test_events_of_files_that_differ_are_picked_as_asked(
    option: str, container: str, basketry: Basketry, tmp_path: Path
) -> None:
    frames = [
        pl.DataFrame({"event": np.arange(10), "x": np.arange(10) * 0.5, "own": np.arange(10) + 1}),
        pl.DataFrame({"other": np.arange(5) + 1.5, "event": np.arange(10, 15), "x": np.arange(5) * 2.0}),
    ]
    files = [tmp_path / f"{n}.root" for n in range(2)]
    for path, one in zip(files, frames, strict=True):
        with bk.recreate(path, container=container) as file:
            file["Events"] = {name: one[name].to_numpy() for name in one.columns}
    events, out = [12, 3, 10, 7], tmp_path / "out.root"
    picked = [f"--events={event}" for event in events]
    words: list[str | Path] = ["pick", *files, "--key", "event", *picked, "-o", out]
    assert "--fill" in basketry.refuses(*words)
    expected = pl.concat(frames, how="diagonal").fill_null(0)
    if option == "--common":
        expected = expected.select("event", "x")
    for order, wanted in (("files", sorted(events)), ("asked", events)):
        basketry(*words, option, "--order", order, "--force")
        with uproot.open(out) as file:
            table = file["Events"]
            assert set(table.keys()) == set(expected.columns)
            rows = [table[name].array().tolist() for name in expected.columns]
        assert list(zip(*rows, strict=True)) == [expected.row(event) for event in wanted]


def test_cuts_of_a_pick_have_their_flow(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    """As in a merge: of the entries of all files, also of those without an entry that passes."""
    out, merged, cuts = tmp_path / "out.root", tmp_path / "merged.root", ("--cut", "x >= 11490", "--cut", "x < 20010")
    report = basketry.json("pick", *trees.files, *cuts, "-o", out)
    assert report["output"]["cut_flows"] == basketry.json("merge", *trees.files, *cuts, "-o", merged)["cut_flows"]
    with uproot.open(out) as picked, uproot.open(merged) as expected:
        names = [name for name in expected.keys(cycle=False) if name.endswith("_cutflow")]
        assert len(names) == 1
        assert picked[names[0]].values().tolist() == expected[names[0]].values().tolist()
        assert picked[names[0]].axis().labels() == expected[names[0]].axis().labels()


def test_what_lacks_a_column_names_those_that_there_are(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    for words in (("index", "--key"), ("pick", "--cut")):
        said = basketry.refuses(words[0], trees.files[0], words[1], "Zqqq", "-o", tmp_path / "out.root")
        assert "no column Zqqq; there are " in said
    assert "Events, Runs: " in basketry.refuses(
        "index", trees.files[0], "--key", "Zqqq", "-o", tmp_path / "out.parquet"
    )


@pytest.mark.parametrize("by_index", [True, False])
def test_events_that_a_cut_leaves_out_are_counted(
    by_index: bool, made: Made, index: Path, basketry: Basketry, tmp_path: Path
) -> None:
    listed, out = tmp_path / "list.txt", tmp_path / "out.root"
    some = made.frame.filter(pl.col("file") == 0).head(20)
    listed.write_text(lines(some))
    where = ["--index", index] if by_index else made.files
    found = made.frame.join(some.select(KEY), on=KEY, how="semi").sort("file", "entry")
    report = basketry.json("pick", *where, "--events", listed, "--cut", "x < 7", "-o", out)
    kept = found.filter(pl.col("x") < 7)
    assert (report["picked"], report["cut"]) == (len(kept), len(found) - len(kept))
    assert [one["entry"] for one in report["events"]] == kept["entry"].to_list()
    assert values(out).equals(kept.select(*KEY, "x"))
    none = tmp_path / "none.root"
    outcome = basketry.run("pick", *where, "--events", listed, "--cut", "x < 0", "-o", none)
    assert outcome.code == 1
    assert f"{len(found)} entries of these events do not pass" in outcome.out
    assert not none.exists()


def test_a_run_that_is_in_a_mask_twice_has_both_sections(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    mask, out = tmp_path / "mask.json", tmp_path / "out.root"
    mask.write_text('{"1": [[3, 4]], "1": [[9, 9]]}')
    basketry("pick", *trees.files, "--events", mask, "-o", out)
    good = (pl.col("run") == 1) & pl.col("luminosityBlock").is_in([3, 4, 9])
    assert values(out).equals(trees.frame.filter(good).select(*KEY, "x"))


@pytest.mark.parametrize("words", [("index", "--key", WORDS), ("pick", "--cut", "x > 0")])
def test_cycles_are_refused(words: tuple[str, ...], trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    why = basketry.refuses(words[0], f"{trees.files[0]}:Events;1", *words[1:], "-o", tmp_path / "out")
    assert "cycle" in why
    assert str(trees.files[0]) in why


def test_no_root_file_is_called_parquet(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    why = basketry.refuses("pick", *trees.files, "--cut", "x >= 0", "-o", tmp_path / "out.parquet")
    assert "convert" in why
    assert list(tmp_path.iterdir()) == []


def test_python_picks_values(made: Made, index: Path, tmp_path: Path) -> None:
    events = [tuple(row) for row in made.frame.select(KEY)[[5, 700]].rows()]
    picked = bk.pick([], tmp_path / "out.root", index=index, events=events, keep=[*KEY, "x"])
    assert not picked.missing
    assert {tuple(map(int, one.key)) for one in picked.events} == set(events)
    nothing = bk.pick(made.files, tmp_path / "none.root", events=[(9, 9, 9)])
    assert nothing.output is None
    assert [*nothing.missing] == ["9:9:9"]
    assert not (tmp_path / "none.root").exists()
    named = bk.pick(made.files[3], tmp_path / "one.root", index=index, events=str(events[0][0]))
    assert {Path(one.file) for one in named.events} == {made.files[3]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--events", "1:2:3:4"), "more values than the key"),
        (("--events", "no.txt"), "nor a file"),
        (("--events", "-1:2:3"), "no value of run"),
        ((), "--events"),
        (("--events", "1:2:3", "--key", "goood"), "goood"),
    ],
)
def test_events_that_mean_nothing_are_refused(
    words: tuple[str, ...], said: str, trees: Made, basketry: Basketry, tmp_path: Path
) -> None:
    outcome = basketry.run("pick", *trees.files, "-o", tmp_path / "no.root", *words)
    assert (outcome.code, said in outcome.err, "panicked" in outcome.err) == (2, True, False), str(outcome)
    assert list(tmp_path.iterdir()) == []


# Files: bad ones, links, what is taken out; entries that are counted; orders.


def with_bad(trees: Made, folder: Path) -> tuple[list[Path], list[Path]]:
    """Files of which three are bad: one has no such table, one no such column, and one is cut."""
    bad = [folder / f"bad{number}.root" for number in range(3)]
    with bk.recreate(bad[0]) as file:
        file["Other"] = {"x": np.arange(3)}
    with bk.recreate(bad[1]) as file:
        file["Events"] = {"run": np.arange(3, dtype=np.uint32)}
    bad[2].write_bytes(trees.files[0].read_bytes()[:3000])
    return [trees.files[0], bad[0], bad[1], trees.files[1], bad[2]], bad


@pytest.mark.parametrize("verb", ["index", "pick", "cut", "check"])
def test_bad_files_are_left_out_as_asked(verb: str, trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    files, bad = with_bad(trees, tmp_path)
    good = trees.frame.filter(pl.col("file") < 2)
    some = good[[3, ENTRIES + 700]]
    listed = tmp_path / "list.txt"
    listed.write_text(lines(some))
    out = tmp_path / "out"
    jobs: dict[str, tuple[Argument, ...]] = {
        "index": ("index", *files, "--key", WORDS, "-o", out),
        "pick": ("pick", *files, "--events", listed, "-o", out),
        "cut": ("pick", *files, "--cut", "luminosityBlock < 3", "-o", out),
        "check": ("check", *files, "--keys", WORDS),
    }
    words = jobs[verb]
    if verb != "check":
        assert any(str(path) in basketry.refuses(*words) for path in bad)
        assert not out.exists()
    outcome = basketry.run(*words, "--skip-bad", "--json")
    assert outcome.code == 1, str(outcome)
    report = json.loads(outcome.out)
    # `check` tells of damage by itself.
    told = bad[:2] if verb == "check" else bad
    # A column that the cut does not need is not missed.
    told = [bad[0], bad[1], bad[2]] if verb == "cut" else told
    assert {one["path"] for one in report["skipped"]} == set(map(str, told))
    assert all(one["reason"] for one in report["skipped"])
    if verb == "index":
        assert read(out).equals(trees.sorted().filter(pl.col("file") < 2))
    if verb == "pick":
        expected = good.join(some.select(KEY), on=KEY, how="semi").sort("file", "entry")
        assert values(out).equals(expected.select(*KEY, "x"))
    if verb == "cut":
        assert values(out).equals(good.filter(pl.col("luminosityBlock") < 3).select(*KEY, "x"))
    if verb == "check":
        assert report["keys"]["duplicates"] == SHARED
    only = basketry.run(words[0], bad[0], bad[2], *[word for word in words[1:] if word not in files], "--skip-bad")
    assert only.code == (1 if verb == "check" else 2) or "Other" in only.err, str(only)


def test_files_of_an_index_that_are_gone_are_left_out(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    files = [tmp_path / path.name for path in trees.files]
    for path, original in zip(files, trees.files, strict=True):
        path.write_bytes(original.read_bytes())
    index, out = tmp_path / "events.parquet", tmp_path / "out.root"
    basketry("index", *files, "--key", WORDS, "-o", index)
    files[1].unlink()
    words = ("pick", "--index", index, "--events", "1", "-o", out)
    assert str(files[1]) in basketry.refuses(*words)
    outcome = basketry.run(*words, "--skip-bad", "--json")
    assert outcome.code == 1
    assert [one["path"] for one in json.loads(outcome.out)["skipped"]] == [str(files[1])]
    left = trees.frame.filter((pl.col("run") == 1) & (pl.col("file") != 1))
    assert values(out).equals(left.select(*KEY, "x"))


def test_a_file_is_found_whatever_link_leads_to_it(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    link, index = tmp_path / "link.root", tmp_path / "events.parquet"
    link.symlink_to(trees.files[0])
    folder = tmp_path / "folder"
    folder.symlink_to(trees.files[1].parent)
    basketry("index", *trees.files, "--key", WORDS, "-o", index)
    before = index.read_bytes()
    report = basketry.json("index", link, folder / trees.files[1].name, "--extend", "-o", index)
    assert (report["files_known"], report["files_read"], report["files"]) == (2, 0, FILES)
    assert index.read_bytes() == before
    picked = basketry.json("pick", link, "--index", index, "--events", "1", "-o", tmp_path / "out.root")
    assert {one["file"] for one in picked["events"]} == {str(trees.files[0])}
    why = basketry.refuses("index", link, trees.files[0], "--key", WORDS, "-o", tmp_path / "twice.parquet")
    assert "twice" in why


def test_files_are_taken_out_of_an_index(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    index, fresh = tmp_path / "events.parquet", tmp_path / "fresh.parquet"
    gone = tmp_path / "gone.root"
    gone.write_bytes(trees.files[1].read_bytes())
    basketry("index", trees.files[0], gone, trees.files[2], "--key", WORDS, "-o", index)
    gone.unlink()
    report = basketry.json("index", gone, "--remove", "-o", index)
    assert (report["files_removed"], report["files"], report["files_read"]) == (1, 2, 0)
    basketry("index", trees.files[0], trees.files[2], "--key", WORDS, "-o", fresh)
    assert index.read_bytes() == fresh.read_bytes()
    assert "not in the index" in basketry.refuses("index", gone, "--remove", "-o", index)
    assert index.read_bytes() == fresh.read_bytes()
    assert bk.index(trees.files[0], index, remove=True).files == 1
    assert basketry.run("index", gone, "--remove", "--extend", "-o", index).code == 2


def test_entries_are_counted_through_all_files(made: Made, basketry: Basketry, tmp_path: Path) -> None:
    """As in a rewrite, and as `TChain` counts them."""
    cut = f"entry >= {ENTRIES - 5} && Entry$ < {2 * ENTRIES + 7}"
    # Any table has entries.
    files = [f"{path}:Events" if path.suffix == ".root" else path for path in made.files]
    whole = made.frame[ENTRIES - 5 : 2 * ENTRIES + 7].select(*KEY, "x")
    picked, merged = tmp_path / "picked.root", tmp_path / "merged.root"
    basketry("pick", *files, "--cut", cut, "-o", picked)
    basketry("merge", *files, "--cut", cut, "-o", merged)
    assert values(picked).equals(whole)
    assert values(merged).equals(whole)
    run = basketry.run("pick", *files, "--events", "1", "--key", "run", "--cut", cut, "-o", picked, "--force")
    assert run.code == 0, str(run)
    assert values(picked).equals(whole.filter(pl.col("run") == 1))
    report = basketry.json("merge", *files, "--unique", "entry // 2", "-o", merged, "--force")
    assert report["duplicates"][0]["duplicates"] == FILES * ENTRIES // 2
    if made.files[0].suffix == ".root":
        found = basketry.run("check", *files, "--keys", "entry + 0", "--json")
        assert json.loads(found.out)["keys"]["duplicates"] == 0
    basketry("pick", *files, "--key", "entry + 0", "--events", str(ENTRIES + 3), "-o", picked, "--force")
    assert values(picked).equals(made.frame[ENTRIES + 3 : ENTRIES + 4].select(*KEY, "x"))
    why = basketry.refuses("index", *files, "--key", "entry + 0", "-o", tmp_path / "i.parquet")
    assert "counts entries" in why


@pytest.mark.parametrize("by_index", [True, False])
def test_entries_are_picked_in_the_order_asked(
    by_index: bool, made: Made, index: Path, asked: pl.DataFrame, basketry: Basketry, tmp_path: Path
) -> None:
    listed, out = tmp_path / "list.txt", tmp_path / "out.root"
    # The last two are there again.
    listed.write_text(lines(asked) + lines(asked[:2]))
    where = ["--index", index] if by_index else made.files
    report = basketry.json("pick", *where, "--events", listed, "--order", "asked", "-o", out)
    found = asked.select(KEY).unique(maintain_order=True).with_row_index("rank")
    expected = made.frame.join(found, on=KEY).sort("rank", "file", "entry")
    assert values(out).equals(expected.select(*KEY, "x"))
    places = [(Path(one["file"]), one["entry"]) for one in report["events"]]
    assert places == [(made.files[file], entry) for file, entry in expected.select("file", "entry").rows()]
    assert any("several times" in note for note in report["notes"])
    if made.files[0].suffix == ".root":
        with uproot.open(out) as file:
            assert file["Runs"].num_entries == 3 * expected["file"].n_unique()
    said = root_filter.values(out, "Events", {"x": ("double", "x")})["x"]
    assert said == expected["x"].to_list()
    why = basketry.refuses("pick", *made.files, "--cut", "x > 0", "--order", "asked", "-o", tmp_path / "no.root")
    assert "--events" in why


def test_keys_of_parquet_files_have_another_way(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pl.DataFrame({"k": [1, 2, 2]}).write_parquet(path)
    why = basketry.refuses("check", path, "--keys", "k")
    assert "--dry-run" in why
    report = basketry.json("merge", path, "-o", tmp_path / "out.root", "--unique", "k", "--dry-run")
    assert report["duplicates"][0]["duplicates"] == 1


def test_a_tree_and_an_rntuple_of_one_name_are_not_merged_by_keys(basketry: Basketry, tmp_path: Path) -> None:
    files = []
    for container in ("ttree", "rntuple"):
        files.append(tmp_path / f"{container}.root")
        with bk.recreate(files[-1], container=container) as file:
            file["Events"] = {"k": np.array([1, 2])}
    why = basketry.refuses("merge", *files, "-o", tmp_path / "out.root", "--unique", "k")
    assert "--container" in why
    assert not (tmp_path / "out.root").exists()


# Memory and space.


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two million keys in no order: 48 MB of rows."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(2)
    files = []
    for number in range(4):
        files.append(folder / f"{number}.root")
        event = rng.integers(0, 2**40, 500_000, dtype=np.uint64)
        columns = {"run": (event % 50).astype(np.uint32), "luminosityBlock": (event // 50 % 900).astype(np.uint32)}
        with bk.recreate(files[-1], compression="lz4:1", basket="1MB") as file:
            file["Events"] = {**columns, "event": event}
    return files


@pytest.mark.parametrize("memory", [32, 64])
def test_keys_are_sorted_within_memory(memory: int, many: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    outcome = basketry.run("index", *many, "--key", WORDS, "-o", out, "--memory", f"{memory}MB", "-j", "2")
    assert outcome.code == 0, str(outcome)
    assert outcome.peak_rss <= (memory + 45) * MB, outcome.peak_rss
    keys = read(out)
    assert keys.equals(keys.sort(*KEY, "file", "entry"))
    assert len(keys) == 2_000_000
    outcome = basketry.run("check", *many, "--keys", WORDS, "--memory", f"{memory}MB", "-j", "2")
    assert outcome.code in (0, 1), str(outcome)
    assert outcome.peak_rss <= (memory + 45) * MB, str(outcome)


def test_a_full_disk_is_told_and_leaves_nothing(many: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    """Files of this process may have 1 MB: the keys that wait on disk have more."""
    out = tmp_path / "out.parquet"
    words = " ".join(map(str, [*many, "--key", WORDS, "-o", out, "--memory", "32MB"]))
    limited = f"ulimit -f 1000; exec {basketry.binary} index {words}"
    script = tmp_path / "limited.sh"
    script.write_text(limited)
    outcome = Basketry(Path("/bin/bash")).run(script)
    assert outcome.code == 2, str(outcome)
    assert re.search("a temporary file.*more memory", outcome.err), str(outcome)
    assert list(tmp_path.iterdir()) == [script]
