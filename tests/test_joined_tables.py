"""Joins by keys, judged by polars, uproot and real ROOT: trees, RNTuples and Parquet files on both sides, many to one,
keys on one side only, several tables, names that collide, friends; threads and memory; what is damaged, full or
ended."""

import json
import os
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import uproot

import basketry as bk
from referee import root_filter, root_friends
from referee.command import Basketry

CONTAINERS = ["ttree", "rntuple", "parquet"]
KEY = ["run", "event"]
MB = 1_000_000


def write(path: Path, container: str, frame: pl.DataFrame, name: str = "Events", cluster: str = "70") -> Path:
    """A file of a container, with the extension that it has."""
    path = path.with_suffix(".parquet" if container == "parquet" else ".root")
    if container == "parquet":
        frame.write_parquet(path, row_group_size=int(cluster))
        return path
    plain = pl.CompatLevel.oldest()
    is_nested = {name for name, kind in frame.schema.items() if kind == pl.String or isinstance(kind, pl.List)}
    columns = {
        name: frame[name].to_arrow(compat_level=plain) if name in is_nested else frame[name].to_numpy()
        for name in frame.columns
    }
    with bk.recreate(path, container=container, cluster=cluster) as file:
        file[name] = columns
        file["Runs"] = {"number": np.arange(3)}
    return path


def read(path: Path, tree: str = "Events", names: list[str] | None = None) -> pl.DataFrame:
    """The table by uproot, in polars' types; counters of lists are left out."""
    with uproot.open(path) as file:
        names = names or without_counters(file[tree].keys(recursive=False))
        arrays = file[tree].arrays(names)
    return pl.DataFrame({name: arrays[name].to_list() for name in names})


def without_counters(names: Iterable[str]) -> list[str]:
    """Names of columns without what counts lists: counters of a tree, and collections behind the fields of one."""
    known = list(names)
    return [
        name for name in known if not ((name.startswith("n") and name[1:] in known) or name.startswith("_collection"))
    ]


def left_join(left: pl.DataFrame, right: pl.DataFrame, on: list[str], how: str = "left") -> pl.DataFrame:
    """What polars makes of it, in the order of the left one, with zeros where there is no partner."""
    assert how in ("left", "inner")
    marked = left.with_row_index("_row").join(right, on=on, how=how, maintain_order="left").sort("_row").drop("_row")  # type: ignore[arg-type]
    for name, kind in marked.schema.items():
        if name not in right.columns or name in on:
            continue
        empty: Any = (
            [] if isinstance(kind, pl.List) else "" if kind == pl.String else False if kind == pl.Boolean else 0
        )
        fill = pl.lit(pl.Series([empty], dtype=kind)).first()
        marked = marked.with_columns(pl.when(pl.col(name).is_null()).then(fill).otherwise(pl.col(name)).alias(name))
    return marked


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """The same values, whatever the types of numbers are called, and the same columns in any order."""
    assert sorted(found.columns) == sorted(expected.columns)
    for name in expected.columns:
        assert found[name].to_list() == expected[name].to_list(), name


@dataclass(frozen=True)
class Made:
    """The files of a left table and of a right one, and their content."""

    left: list[Path]
    right: list[Path]
    frame: pl.DataFrame
    other: pl.DataFrame


def frames(seed: int, entries: int = 700, keys: int = 400) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A left table, many of whose entries have one key, and a right one that lacks some of its keys and has others."""
    rng = np.random.default_rng(seed)
    event = rng.integers(0, keys, entries)
    left = pl.DataFrame(
        {
            "run": (1 + event % 3).astype(np.uint32),
            "event": event.astype(np.uint64) * 10**15,
            "x": np.arange(entries, dtype=np.float64),
            "pt": [rng.normal(size=n).astype("f4").tolist() for n in rng.integers(0, 4, entries)],
        }
    ).with_columns(pl.col("pt").cast(pl.List(pl.Float32)))
    there = rng.permutation(np.arange(keys // 4, keys + keys // 4))
    right = pl.DataFrame(
        {
            "run": (1 + there % 3).astype(np.uint32),
            "event": there.astype(np.uint64) * 10**15,
            "score": rng.normal(size=len(there)).astype("f4"),
            "good": rng.integers(0, 2, len(there)).astype(bool),
            "weights": [rng.normal(size=n).tolist() for n in rng.integers(0, 5, len(there))],
            "label": [f"event {n}" for n in there],
        }
    )
    return left, right


def made(folder: Path, containers: tuple[str, str], seed: int = 5) -> Made:
    """Both tables in files: three on the left, two on the right."""
    frame, other = frames(seed)
    left = [write(folder / f"a{n}", containers[0], frame[n * 250 : (n + 1) * 250]) for n in range(3)]
    half = len(other) // 2
    right = [
        write(folder / f"b{n}", containers[1], part, "Scores", "53")
        for n, part in enumerate((other[:half], other[half:]))
    ]
    return Made(left, right, frame, other)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("trees"), ("ttree", "ttree"))


def joined(basketry: Basketry, made: Made, out: Path, *options: str | Path) -> dict[str, Any]:
    """The report of a join of both tables."""
    return basketry.json("join", *made.left, "--with", *made.right, "--on", "run,event", "-o", out, *options)  # type: ignore[no-any-return]


# Values.


@pytest.mark.parametrize("how", ["left", "inner"])
@pytest.mark.parametrize("right", CONTAINERS)
@pytest.mark.parametrize("left", CONTAINERS)
def test_a_join_is_that_of_polars(left: str, right: str, how: str, basketry: Basketry, tmp_path: Path) -> None:
    given, out = made(tmp_path, (left, right)), tmp_path / "out.root"
    report = joined(basketry, given, out, "--how", how)

    tree = "Events" if left != "parquet" else report["tree"]
    table = report["output"]["tables"][0]["path"]
    expected = left_join(given.frame, given.other, KEY, how)
    same(read(out, table), expected)
    (told,) = report["right"]
    keys = given.frame.select(KEY)
    matched = keys.join(given.other, on=KEY, how="semi")
    assert (report["entries"], report["written"]) == (len(keys), len(expected))
    assert (told["entries"], told["files"]) == (len(given.other), 2)
    assert sorted(without_counters(told["columns"])) == ["good", "label", "score", "weights"]
    assert (told["matched"], told["missing"]) == (len(matched), len(keys) - len(matched))
    unused = given.other.join(keys, on=KEY, how="anti")
    assert told["unused"] == len(unused) > 0
    assert {tuple(map(int, one["key"])) for one in told["unused_entries"]} == set(unused.select(KEY).rows())
    absent = keys.join(given.other, on=KEY, how="anti")
    assert sorted(tuple(map(int, one["key"])) for one in told["missing_entries"]) == sorted(absent.rows())
    for one in told["missing_entries"]:
        file, entry = Path(one["entry"]["file"]), one["entry"]["entry"]
        assert given.frame.select(KEY).row(given.left.index(file) * 250 + entry) == tuple(map(int, one["key"]))
    said = root_filter.values(out, table, {"score": ("float", "score"), "x": ("double", "x")})
    assert said["score"] == expected["score"].to_list()
    assert said["x"] == expected["x"].to_list()
    assert tree
    if left != "parquet":
        with uproot.open(out) as file:
            assert file["Runs"].num_entries == 9


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("seed", range(4))
def test_joins_of_any_shape(seed: int, container: str, basketry: Basketry, tmp_path: Path) -> None:
    """Types of keys, several tables, files without entries, keys that few or many have."""
    rng = np.random.default_rng(100 + seed)
    kind = ["i1", "u8", "f8", "bool"][seed]
    most = {"i1": 100, "u8": 50, "f8": 300, "bool": 2}[kind]
    sizes = [(0, 300), (411, 1), (90, 2), (200, 0)][seed]
    keys = [(rng.integers(0, most, n) - (most // 2 if kind in ("i1", "f8") else 0)).astype(kind) for n in sizes]
    left = pl.DataFrame({"k": np.concatenate(keys), "x": np.arange(sum(sizes))})
    tables, frames = [], []
    for number in range(2):
        own = rng.permutation(
            np.unique((rng.integers(0, most, most) - (most // 2 if kind in ("i1", "f8") else 0)).astype(kind))
        )
        frames.append(pl.DataFrame({"k": own, f"y{number}": rng.normal(size=len(own))}))
        tables.append(write(tmp_path / f"b{number}", CONTAINERS[(seed + number) % 3], frames[-1], f"t{number}", "17"))
    files = [write(tmp_path / f"a{n}", container, left[: sizes[0]] if n == 0 else left[sizes[0] :]) for n in range(2)]
    for how in ("left", "inner"):
        out = tmp_path / f"{how}.root"
        words = ("--with", tables[0], "--with", tables[1], "--on", "k", "--how", how)
        report = basketry.json("join", *files, *words, "-o", out)
        expected = left_join(left_join(left, frames[0], ["k"], how), frames[1], ["k"], how)
        assert report["written"] == len(expected)
        if len(expected):
            same(read(out), expected)
        else:
            with uproot.open(out) as file:
                assert file["Events"].num_entries == 0


def test_a_side_without_entries(basketry: Basketry, tmp_path: Path) -> None:
    frame, other = frames(3)
    full, none = write(tmp_path / "a", "ttree", frame), write(tmp_path / "b", "ttree", other[:0], "Scores")
    out = tmp_path / "out.root"
    report = basketry.json("join", full, "--with", none, "--on", "run,event", "-o", out)
    assert (report["written"], report["right"][0]["missing"]) == (len(frame), len(frame))
    found = read(out)
    assert found["score"].to_list() == [0] * len(frame)
    assert found["label"].to_list() == [""] * len(frame)
    assert (
        basketry.json("join", none, "--with", full, "--on", "run,event", "-o", tmp_path / "n.root", "--first")[
            "written"
        ]
        == 0
    )


@pytest.mark.parametrize("split", ["0", "99"])
def test_columns_of_classes_come_along(split: str, basketry: Basketry, tmp_path: Path) -> None:
    """Split, or streamed as a whole, from the right and from the left; their descriptions are in the output."""
    objects, plain, out = tmp_path / "objects.root", tmp_path / "plain.root", tmp_path / "out.root"
    basketry("generate", "aod", "--size", "300kB", "--seed", "4", "-o", tmp_path / "aod.root")
    basketry("rewrite", tmp_path / "aod.root", "-o", objects, "--split-level", split, "--define", "key=Entry$")
    basketry("rewrite", objects, "-o", tmp_path / "keys.root", "--keep", "key", "--define", "y=key * 0.5")
    basketry("sort", tmp_path / "keys.root", "--by", "key * 7 % 11", "-o", plain)
    order = read(plain, names=["key"])["key"]
    assert order.to_list() != sorted(order)
    basketry("join", plain, "--with", objects, "--on", "key", "-o", out)
    assert read(out, names=["key"])["key"].to_list() == order.to_list()
    basketry("check", out, "--deep")
    basketry("verify", out, objects, "--by", "key", "--drop", "y")
    back = tmp_path / "back.root"
    basketry("join", objects, "--with", plain, "--on", "key", "-o", back)
    basketry("verify", back, objects, "--drop", "y")
    said = root_filter.values(back, "Events", {"y": ("double", "y"), "key": ("Long64_t", "key")})
    assert said["y"] == [key * 0.5 for key in said["key"]]


# Keys.


def test_two_partners_are_refused_or_the_first_is_taken(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    frame = pl.concat([trees.other, trees.other[3:5].with_columns(pl.lit(99, pl.Float32).alias("score"))])
    double, out = write(tmp_path / "double", "ttree", frame, "Scores"), tmp_path / "out.root"
    words: tuple[str | Path, ...] = ("join", *trees.left, "--with", double, "--on", "run,event", "-o", out)
    why = basketry.refuses(*words)
    assert str(double) in why
    assert "--first" in why
    assert any(
        f"entry {entry} of" in why and f"entry {len(frame) - 2 + at} of" in why for at, entry in enumerate((3, 4))
    )
    assert not out.exists()
    report = basketry.json(*words, "--first")
    assert report["right"][0]["repeated"] == 2
    same(read(out), left_join(trees.frame, trees.other, KEY))


def test_keys_may_be_expressions(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    other = pl.DataFrame({"event": np.arange(3, dtype=np.uint64), "y": [5.0, 6.0, 7.0]})
    table = write(tmp_path / "few", "ttree", other, "few")
    why = basketry.refuses("join", *trees.left, "--with", table, "--on", "event // 10**15 % 3", "-o", out)
    assert "--suffix" in why
    basketry("join", *trees.left, "--with", table, "--on", "event % 3", "-o", out, "--suffix", "_few")
    keys = trees.frame["event"].to_numpy() % 3
    assert read(out)["y"].to_list() == [5.0 + key for key in keys]
    assert read(out)["event_few"].to_list() == keys.tolist()


def test_both_zeros_are_one_key_and_so_is_what_is_no_number(basketry: Basketry, tmp_path: Path) -> None:
    left, right, out = (tmp_path / f"{name}.root" for name in ("left", "right", "out"))
    for path, content in (
        (left, {"k": np.array([np.nan, -0.0, 1.0, 0.0]), "a": np.arange(4)}),
        (right, {"k": np.array([0.0, -np.float64("nan")]), "b": np.array([7, 8])}),
    ):
        with bk.recreate(path) as file:
            file["t"] = content
    basketry("join", left, "--with", right, "--on", "k", "-o", out)
    with uproot.open(out) as file:
        assert file["t"]["b"].array().tolist() == [8, 7, 0, 7]
    unique = basketry.json("merge", left, right, "-o", tmp_path / "unique.root", "--unique", "k", "--common")
    assert unique["tables"][0]["entries"] == 3
    picked = basketry.json("pick", left, "--key", "k", "--events", "0", "-o", tmp_path / "picked.root")
    assert picked["output"]["tables"][0]["entries"] == 2


def test_a_key_that_a_side_lacks_is_named(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    other = write(tmp_path / "other", "ttree", trees.other.rename({"event": "number"}), "Scores")
    why = basketry.refuses("join", *trees.left, "--with", other, "--on", "run,event", "-o", tmp_path / "out.root")
    assert str(other) in why
    assert "event" in why
    assert sorted(tmp_path.iterdir()) == [other]


# Names.


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_names_that_collide_get_a_suffix(container: str, basketry: Basketry, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    lists = [rng.normal(size=n).tolist() for n in rng.integers(0, 4, 50)]
    left = pl.DataFrame({"k": np.arange(50), "pt": lists, "x": np.arange(50.0)})
    right = left.select("k", pl.col("pt").reverse(), pl.col("x") * 2)
    a, b = (write(tmp_path / name, container, frame, cluster="7") for name, frame in (("a", left), ("b", right)))
    words, out = ("join", a, "--with", b, "--on", "k"), tmp_path / "out.root"
    why = basketry.refuses(*words, "-o", out)
    assert "pt" in why
    assert "--suffix _right" in why
    report = basketry.json(*words, "-o", out, "--suffix", "_b")
    renamed = {one["column"]: one["name"] for one in report["right"][0]["renamed"]}
    assert renamed.items() >= {"pt": "pt_b", "x": "x_b"}.items()
    expected = left.with_columns(right["pt"].alias("pt_b"), right["x"].alias("x_b"))
    same(read(out, names=["k", "pt", "x", "pt_b", "x_b"]), expected)
    said = root_filter.values(out, "Events", {"pt_b": ("ROOT::VecOps::RVec<double>", "pt_b"), "x_b": ("double", "x_b")})
    assert said["pt_b"] == right["pt"].to_list()
    # What is made of the output has its names, and so have the baskets in it.
    basketry("rewrite", out, "-o", tmp_path / "again.root")
    basketry("check", tmp_path / "again.root", "--deep")
    basketry("verify", out, tmp_path / "again.root")
    twice = tmp_path / "twice.root"
    basketry("join", a, "--with", b, "--with", b, "--on", "k", "-o", twice, "--suffix", "_b", "--suffix", "_c")
    assert read(twice, names=["x", "x_b", "x_c"]).row(3) == (3.0, 6.0, 6.0)
    assert "suffix" in basketry.refuses(
        "join", a, "--with", b, "--with", b, "--on", "k", "-o", twice, "-f", "--suffix", "_b"
    )


def test_columns_may_be_chosen(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    joined(basketry, trees, out, "--keep", "x", "--keep", "score", "--keep", "event")
    expected = left_join(trees.frame, trees.other, KEY)
    same(read(out), expected.select("event", "x", "score"))
    # Of one table alone: then names do not collide.
    joined_again = joined(basketry, trees, out, "-f", "--drop", "Events/x", "--drop", "Scores/*weights")
    assert "weights" not in joined_again["right"][0]["columns"]
    same(read(out), expected.drop("x", "weights"))
    twice = tmp_path / "twice.root"
    basketry(
        "join",
        trees.left[0],
        "--with",
        trees.left[1],
        "--on",
        "run,event",
        "--first",
        "-o",
        twice,
        "--drop",
        "pt",
        "--suffix",
        "_b",
    )
    assert {*without_counters(read(twice).columns)} - {"npt", "npt_b"} == {"run", "event", "x", "x_b"}


# Friends.


def test_a_friend_is_read_beside_its_tree(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "friend.root"
    report = joined(basketry, trees, out, "--friend")
    assert report["friend"] == "Scores"
    expected = left_join(trees.frame, trees.other, KEY)
    same(read(out, "Scores"), expected.select("score", "good", "weights", "label"))
    values = root_friends.beside(trees.left, "Events", "Scores", out, ["x", "Scores.score", "Scores.good"])
    assert values["x"] == expected["x"].to_list()
    assert values["Scores.score"] == expected["score"].to_list()
    assert values["Scores.good"] == expected["good"].cast(pl.Float64).to_list()
    text = basketry("join", *trees.left, "--with", *trees.right, "--on", "run,event", "-o", out, "--friend", "-f")
    assert f'AddFriend("Scores", "{out}")' in text
    assert "inner" in basketry.refuses(
        "join", *trees.left, "--with", *trees.right, "--on", "run,event", "-o", out, "-f", "--friend", "--how", "inner"
    )


def test_several_tables_are_one_friend(trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "friend.root"
    more = trees.other.select(*KEY, (pl.col("score") * 2).alias("double"))
    other = write(tmp_path / "more", "rntuple", more, "Events")
    words: tuple[str | Path, ...] = ("--with", *trees.right, "--with", other, "--on", "run,event", "--friend")
    basketry("join", *trees.left, *words, "-o", out)
    expected = left_join(left_join(trees.frame, trees.other, KEY), more, KEY)
    same(read(out, "Scores"), expected.select("score", "good", "weights", "label", "double"))


# Budgets and failures.


@pytest.mark.parametrize("containers", [("ttree", "ttree"), ("rntuple", "ttree"), ("ttree", "parquet")])
def test_threads_and_memory_change_no_byte(containers: tuple[str, str], basketry: Basketry, tmp_path: Path) -> None:
    given, seen = made(tmp_path, containers), set()
    out = tmp_path / "out.root"
    for options in (("-j", "1"), ("-j", "2"), ("-j", "8"), ("-j", "2", "--memory", "24MB")):
        joined(basketry, given, out, "-f", *options)
        seen.add(out.read_bytes())
    assert len(seen) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".parquet") == sorted(
        [out.name, *(path.name for path in [*given.left, *given.right] if path.suffix != ".parquet")]
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A million keys on each side, in no order."""
    folder, rng = tmp_path_factory.mktemp("many"), np.random.default_rng(2)
    keys = rng.integers(0, 2**60, 1_000_000)
    left = pl.DataFrame({"event": keys, "x": np.arange(len(keys), dtype="f8")})
    other = pl.DataFrame({"event": rng.permutation(keys), "y": rng.normal(size=len(keys))})
    paths = []
    for name, frame in (("a", left), ("b", other)):
        paths.append(folder / f"{name}.root")
        with bk.recreate(paths[-1], compression="lz4:1") as file:
            file["Events"] = {column: frame[column].to_numpy() for column in frame.columns}
    return Made(paths[:1], paths[1:], left, other)


def test_a_large_join_keeps_its_memory(many: Made, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    words: tuple[str | Path, ...] = (
        "join",
        *many.left,
        "--with",
        *many.right,
        "--on",
        "event",
        "-o",
        out,
        "--memory",
        "48MB",
        "-j",
        "2",
    )
    outcome = basketry.run(*words)
    assert outcome.code == 0, str(outcome)
    assert outcome.peak_rss <= (48 + 45) * MB, outcome.peak_rss
    expected = many.frame.join(many.other, on="event", how="left", maintain_order="left")
    with uproot.open(out) as file:
        assert np.array_equal(file["Events"]["y"].array(library="np"), expected["y"].to_numpy())
    assert list(tmp_path.iterdir()) == [out]


def test_a_full_disk_leaves_nothing(many: Made, basketry: Basketry, tmp_path: Path) -> None:
    out, script = tmp_path / "out.root", tmp_path / "limited.sh"
    words = " ".join(map(str, [*many.left, "--with", *many.right, "--on", "event", "-o", out, "--memory", "48MB"]))
    script.write_text(f"trap '' XFSZ; ulimit -f 1000; exec {basketry.binary} join {words}")
    outcome = Basketry(Path("/bin/bash")).run(script)
    assert outcome.code == 2, str(outcome)
    assert list(tmp_path.iterdir()) == [script]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_an_ended_join_leaves_no_output(how: signal.Signals, many: Made, basketry: Basketry, tmp_path: Path) -> None:
    """Killed outright it leaves scratch files at most, which the next one removes."""
    out = tmp_path / "out.root"
    words: list[str | Path] = [
        "join",
        "-q",
        *many.left,
        "--with",
        *many.right,
        "--on",
        "event",
        "-o",
        out,
        "--memory",
        "48MB",
        "-j",
        "1",
    ]
    process = subprocess.Popen([basketry.binary, *words])
    while process.poll() is None and not any(tmp_path.iterdir()):
        pass
    os.kill(process.pid, how)
    assert process.wait() != 0
    assert not out.exists()
    if how == signal.SIGTERM:
        assert list(tmp_path.iterdir()) == []
    basketry(*words)
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("side", ["left", "right"])
def test_damaged_files_are_named(side: str, trees: Made, basketry: Basketry, tmp_path: Path) -> None:
    whole = getattr(trees, side)[0]
    rng = np.random.default_rng(8)
    refused = 0
    for _ in range(12):
        content = bytearray(whole.read_bytes())
        at = int(rng.integers(100, len(content) - 50))
        content[at : at + 40] = rng.bytes(40)
        damaged, out = tmp_path / whole.name, tmp_path / "out.root"
        damaged.write_bytes(content)
        left = [damaged, *trees.left[1:]] if side == "left" else trees.left
        right = [damaged, *trees.right[1:]] if side == "right" else trees.right
        outcome = basketry.run("join", *left, "--with", *right, "--on", "run,event", "-o", out, "-f")
        assert "panicked" not in outcome.err, str(outcome)
        assert outcome.code in (0, 2), str(outcome)
        if outcome.code == 2:
            refused += 1
            assert not out.exists()
            assert [path.name for path in tmp_path.iterdir()] == [damaged.name]
        out.unlink(missing_ok=True)
    assert refused > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on", "run,event", "--suffix", "_a", "--suffix", "_b"), "one for each"),
        (("--on", "run,run"), "twice"),
        ((), "--on"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: tuple[str, ...], said: str, trees: Made, basketry: Basketry, tmp_path: Path
) -> None:
    outcome = basketry.run("join", *trees.left, "--with", *trees.right, "-o", tmp_path / "out.root", *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert list(tmp_path.iterdir()) == []


# Python.


def test_python_joins(trees: Made, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    done = bk.join(trees.left, trees.right, out, on=KEY)
    assert done.written == len(trees.frame)
    assert sorted(without_counters(done.right[0].columns)) == ["good", "label", "score", "weights"]
    same(read(out), left_join(trees.frame, trees.other, KEY))
    more = write(tmp_path / "more", "parquet", trees.other.select(*KEY, (pl.col("score") * 2).alias("double")))
    both = bk.join(trees.left, [trees.right, more], tmp_path / "both.root", on="run,event", how="inner")
    assert [table.files for table in both.right] == [2, 1]
    with pytest.raises(ValueError, match="suffix"):
        bk.join(trees.left, trees.left[0], tmp_path / "no.root", on="x")
    assert json.loads(json.dumps([entry.key for entry in done.right[0].unused_entries[:1]]))
