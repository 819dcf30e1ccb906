"""Keys of joins whose columns have other names and types on the two sides, judged by polars: values decide, whatever
type has them, and what has no common value is refused with a word. Containers that the output is asked for."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
import uproot

import basketry as bk
from referee import make_files, root_filter
from referee.command import Basketry

CONTAINERS = ["ttree", "rntuple", "parquet"]
KINDS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"]


def write(path: Path, container: str, columns: dict[str, npt.NDArray[Any]]) -> Path:
    """A file of a container with a table t."""
    path = path.with_suffix(".parquet" if container == "parquet" else ".root")
    if container == "parquet":
        pl.DataFrame(columns).write_parquet(path, row_group_size=53)
    else:
        with bk.recreate(path, container=container, cluster="41") as file:
            file["t"] = columns
    return path


def values(kind: str, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Different values of a type, of which many are those of other types as well."""
    found: list[float] = [*range(40)]
    if kind[0] == "f":
        found += [-0.5, 0.1, 2.0**24, -(2.0**31), 2.0**53, np.inf, np.nan, *range(-9, 0)]
    elif kind != "?":
        limits = np.iinfo(kind)
        found += [max(int(limits.min), -(2**53)), min(int(limits.max), 2**53), *range(max(int(limits.min), -9), 0)]
    return rng.permutation(np.unique(np.array(found).astype(kind)))


@pytest.mark.parametrize("seed", range(24))
def test_keys_are_equal_by_value(seed: int, basketry: Basketry, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(KINDS, (2, 2))
    # Pairs of a key that no other entry has; values that all types have are among them.
    pools = [values(str(kind), rng) for kind in kinds[:, 1]]
    pairs = rng.permutation([(one, other) for one in range(len(pools[0])) for other in range(len(pools[1]))])
    is_small = [pools[0][one] in (0, 1) and pools[1][other] in (0, 1) for one, other in pairs]
    pairs = rng.permutation(pairs[np.argsort(is_small)[::-1]][:120])
    right = {"Run": pools[0][pairs[:, 0]], "number": pools[1][pairs[:, 1]], "y": rng.normal(size=len(pairs))}
    # Entries on the left have a key of the right, if their types have its values.
    left = {}
    for name, kind, other in zip(("run", "event"), kinds[:, 0], ("Run", "number"), strict=True):
        pool, known = values(str(kind), rng), right[other][np.arange(150) % len(pairs)]
        fits = [value in pool for value in known]
        with np.errstate(invalid="ignore", over="ignore"):
            left[name] = np.where(fits, known.astype(pool.dtype), rng.choice(pool, 150))
    left["x"] = np.arange(150.0)
    here = write(tmp_path / "a", CONTAINERS[seed % 3], left)
    there = write(tmp_path / "b", CONTAINERS[seed // 3 % 3], right)
    out = tmp_path / "out.root"

    report = basketry.json("join", here, "--with", there, "--on", "run=Run,event=number", "-o", out)

    as_numbers = pl.col("run", "event").cast(pl.Float64)
    keys = pl.DataFrame(right).rename({"Run": "run", "number": "event"}).with_columns(as_numbers)
    expected = (
        pl.DataFrame(left).with_columns(as_numbers).join(keys, on=["run", "event"], how="left", maintain_order="left")
    )
    with uproot.open(out) as file:
        (table,) = (file[name] for name in file.keys(recursive=False, cycle=False))
        found = {name: np.asarray(table[name].array()) for name in ("run", "event", "x", "y")}
        assert {"Run", "number"}.isdisjoint(table.keys())
    assert found["x"].tolist() == left["x"].tolist()
    assert np.array_equal(found["run"], left["run"], equal_nan=True)
    assert found["y"].tolist() == expected["y"].fill_null(0).to_list()
    (told,) = report["right"]
    assert told["matched"] == expected["y"].is_not_null().sum() > 0
    assert (report["key"], told["key"]) == (["run", "event"], ["Run", "number"])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.array([2**64 - 1], "u8"), np.array([-1], "i8")),
        (np.array([2**53 + 1], "i8"), np.array([2.0**53])),
        (np.array([2**53], "i8"), np.array([2**64 - 1], "u8")),
    ],
)
def test_values_that_no_type_of_both_has_are_refused(
    left: npt.NDArray[Any], right: npt.NDArray[Any], basketry: Basketry, tmp_path: Path
) -> None:
    a = write(tmp_path / "a", "ttree", {"run": left, "x": np.ones(1)})
    b = write(tmp_path / "b", "rntuple", {"Run": right, "y": np.ones(1)})
    why = basketry.refuses("join", a, "--with", b, "--on", "run=Run", "-o", tmp_path / "out.root")
    assert "run=Run" in why
    assert str(a) in why or str(b) in why
    assert sorted(tmp_path.iterdir()) == [a, b]


@pytest.mark.parametrize("container", CONTAINERS)
def test_texts_and_lists_are_no_keys(container: str, basketry: Basketry, tmp_path: Path) -> None:
    path = (tmp_path / "a").with_suffix(".parquet" if container == "parquet" else ".root")
    frame = pl.DataFrame({"name": ["a", "b"], "many": [[1], [2, 3]], "x": [1.0, 2.0]})
    if container == "parquet":
        frame.write_parquet(path)
    else:
        with bk.recreate(path, container=container) as file:
            file["t"] = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    for key in ("name", "many"):
        why = basketry.refuses("join", path, "--with", path, "--on", key, "--suffix", "_b", "-o", tmp_path / "out.root")
        assert f"--on {key}: a key has one number for each entry" in why
        assert str(path) in why


def test_a_key_of_another_name_may_be_an_expression(basketry: Basketry, tmp_path: Path) -> None:
    numbers = np.arange(60)
    a = write(tmp_path / "a", "ttree", {"event": numbers, "a,b": numbers % 5, "x": numbers * 0.5})
    b = write(tmp_path / "b", "rntuple", {"rest": numbers[:7], "five": numbers[:7] % 5, "y": numbers[:7] * 2.0})
    out = tmp_path / "out.root"
    basketry("join", a, "--with", b, "--on", "event % 7 = rest", "-o", out)
    with uproot.open(out) as file:
        # What no column of the left has comes along.
        assert file["t"]["rest"].array().tolist() == (numbers % 7).tolist()
        assert file["t"]["y"].array().tolist() == (numbers % 7 * 2.0).tolist()
    words = ("join", a, "--with", b, "--on", "`a,b`=five", "--first", "--how=inner", "-f", "-o", out)
    assert "by five" in basketry(*words)
    with uproot.open(out) as file:
        assert sorted(file["t"].keys()) == ["a,b", "event", "rest", "x", "y"]
        assert file["t"]["rest"].array().tolist() == (numbers % 5).tolist()


def test_entries_are_counted_in_each_table(basketry: Basketry, tmp_path: Path) -> None:
    numbers = np.arange(100)
    left = [write(tmp_path / f"a{n}", "ttree", {"x": numbers[n * 50 : n * 50 + 50]}) for n in range(2)]
    right = [write(tmp_path / f"b{n}", "rntuple", {"y": numbers[n * 30 : n * 30 + 30] + 7}) for n in range(3)]
    other = write(tmp_path / "c", "parquet", {"z": numbers[:40] * 2})
    report = basketry.json(
        "join", *left, "--with", *right, "--with", other, "--on", "entry", "-o", tmp_path / "out.root"
    )
    assert [table["matched"] for table in report["right"]] == [90, 40]
    with uproot.open(tmp_path / "out.root") as file:
        assert file["t"]["y"].array().tolist() == [*range(7, 97), *[0] * 10]
        assert file["t"]["z"].array().tolist() == [*range(0, 80, 2), *[0] * 60]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("run=rum", ["b.root", "no column rum", "did you mean Run", "--on LEFT=RIGHT"]),
        ("rum=Run", ["a.root", "no column rum", "did you mean run", "--on LEFT=RIGHT"]),
        ("run", ["b.root", "no column run", "did you mean Run", "--on LEFT=RIGHT"]),
        ("run=", ["run= has no name on one side", "--on run=Run"]),
        ("run=Run,run=y", ["run twice"]),
        ("run=Run,x=Run", ["Run twice"]),
        ("run==Run", ["b.root", "no column run"]),
    ],
)
def test_keys_that_a_side_lacks_are_named(key: str, said: list[str], basketry: Basketry, tmp_path: Path) -> None:
    a = write(tmp_path / "a", "ttree", {"run": np.arange(4), "x": np.ones(4)})
    b = write(tmp_path / "b", "ttree", {"Run": np.arange(4), "y": np.ones(4)})
    why = basketry.refuses("join", a, "--with", b, "--on", key, "-o", tmp_path / "out.root")
    assert [word for word in said if word not in why] == [], why
    assert sorted(tmp_path.iterdir()) == [a, b]


def test_a_table_that_is_not_there_is_named_with_those_that_are(basketry: Basketry, tmp_path: Path) -> None:
    a = write(tmp_path / "a", "ttree", {"run": np.arange(4), "x": np.ones(4)})
    b = write(tmp_path / "b", "rntuple", {"run": np.arange(4), "y": np.ones(4)})
    for left, right, file in ((a, f"{b}:nope", b), (f"{a}:T", b, a)):
        why = basketry.refuses("join", left, "--with", right, "--on", "run", "-o", tmp_path / "out.root")
        assert f"{file}: has no tree or RNTuple" in why
        assert "t" in why.split("there are: ")[-1] or "near it: t" in why


def test_files_of_one_table_that_differ_are_named(basketry: Basketry, tmp_path: Path) -> None:
    ones, out = np.ones(4), tmp_path / "out.root"
    tables = {"a": {"x": ones}, "more": {"x": ones, "more": ones}, "b": {"y": ones}, "other": {"y": ones, "more": ones}}
    paths = {
        name: write(tmp_path / name, "ttree", {"run": np.arange(4) + at * 4, **columns})
        for at, (name, columns) in enumerate(tables.items())
    }
    ntuples = {
        name: write(tmp_path / f"{name}_ntuple", "rntuple", {"run": np.arange(4), **tables[name]}) for name in "ab"
    }
    a, b = paths["a"], paths["b"]
    for left, right, file, said in (
        ([a, paths["more"]], [b], paths["more"], "branch more"),
        ([a], [b, paths["other"]], paths["other"], "--fill"),
        ([a, ntuples["a"]], [b], ntuples["a"], "`basketry rewrite --container ttree`"),
        ([a], [b, ntuples["b"]], ntuples["b"], "`basketry rewrite --container ttree`"),
        ([f"{a}:t", paths["more"]], [b], paths["more"], "name the same tree in all inputs"),
    ):
        why = basketry.refuses("join", *left, "--with", *right, "--on", "run", "--first", "-o", out)
        assert str(file) in why
        assert said in why
        assert "joined0" not in why
    assert not out.exists()


def differing(folder: Path, left: str, right: str) -> tuple[list[Path], list[Path], list[pl.DataFrame]]:
    """Two files on each side, of which each has a column that the other lacks."""
    rng = np.random.default_rng(9)
    keys = rng.permutation(120)
    lefts = [
        {"k": keys[:50], "x": rng.normal(size=50), "flat": rng.normal(size=50)},
        {"extra": rng.integers(1, 9, 40), "x": rng.normal(size=40), "k": keys[50:90]},
    ]
    rights = [
        {"y": rng.normal(size=60), "k": rng.permutation(60), "p": rng.integers(1, 9, 60).astype("i2")},
        {"k": 60 + rng.permutation(40), "y": rng.normal(size=40), "q": rng.normal(size=40).astype("f4")},
    ]
    paths = [
        [write(folder / f"{name}{n}", container, columns) for n, columns in enumerate(parts)]
        for name, container, parts in (("a", left, lefts), ("b", right, rights))
    ]
    return paths[0], paths[1], [*map(pl.DataFrame, lefts), *map(pl.DataFrame, rights)]


@pytest.mark.parametrize("how", ["left", "inner"])
@pytest.mark.parametrize("option", ["--common", "--fill"])
@pytest.mark.parametrize("right", CONTAINERS)
@pytest.mark.parametrize("left", CONTAINERS)
def test_files_that_differ_are_joined_as_asked(
    left: str, right: str, option: str, how: str, basketry: Basketry, tmp_path: Path
) -> None:
    a, b, frames = differing(tmp_path, left, right)
    out = tmp_path / "out.root"
    words: list[str | Path] = ["join", *a, "--with", *b, "--on", "k", "--how", how, "-o", out]
    assert "--fill" in basketry.refuses(*words) or "parquet" in (left, right)
    if option == "--fill" and "parquet" in (left, right):
        # As in a merge.
        assert "columns of Parquet files are not filled in" in basketry.refuses(*words, option)
        return
    basketry(*words, option)
    both = [
        pl.concat(frames[at : at + 2], how="diagonal")
        if option == "--fill"
        else pl.concat([frame.select("k", name) for frame in frames[at : at + 2]])
        for at, name in ((0, "x"), (2, "y"))
    ]
    expected = both[0].join(both[1], on="k", how=how, maintain_order="left").fill_null(0)  # type: ignore[arg-type]
    with uproot.open(out) as file:
        (table,) = (file[name] for name in file.keys(recursive=False, cycle=False))
        assert set(table.keys()) == set(expected.columns)
        for name in expected.columns:
            assert np.array_equal(np.asarray(table[name].array()), expected[name].to_numpy()), name


def test_a_friend_of_files_that_differ_is_filled(basketry: Basketry, tmp_path: Path) -> None:
    a, b, frames = differing(tmp_path, "ttree", "ttree")
    out = tmp_path / "friend.root"
    basketry("join", a[0], "--with", *b, "--on", "k", "--friend", "--fill", "-o", out, "--drop", "y")
    other = pl.concat(frames[2:], how="diagonal")
    expected = frames[0].select("k").join(other, on="k", how="left", maintain_order="left").fill_null(0)
    with uproot.open(out) as file:
        (table,) = (file[name] for name in file.keys(recursive=False, cycle=False))
        assert sorted(table.keys()) == ["p", "q"]
        assert all(table[name].array().tolist() == expected[name].to_list() for name in ("p", "q"))


def test_numbers_of_other_types_are_widened_as_asked(basketry: Basketry, tmp_path: Path) -> None:
    numbers = np.arange(10)
    a = write(tmp_path / "a", "ttree", {"k": np.arange(20), "x": np.ones(20)})
    b = [
        write(tmp_path / f"b{kind}", "ttree", {"k": numbers + 10 * n, "y": (numbers - 5).astype(kind)})
        for n, kind in enumerate(("i2", "i8"))
    ]
    words: list[str | Path] = ["join", a, "--with", *b, "--on", "k", "-o", tmp_path / "out.root"]
    assert "--widen" in basketry.refuses(*words)
    assert "--widen" in basketry.refuses(*words, "--fill")
    basketry(*words, "--widen")
    with uproot.open(tmp_path / "out.root") as file:
        found = file["t"]["y"].array()
        assert (str(found.type), found.tolist()) == ("20 * int64", [*range(-5, 5)] * 2)


@pytest.mark.parametrize("memory", ["1MB", "4MB"])
def test_the_memory_that_a_message_names_suffices(memory: str, basketry: Basketry, tmp_path: Path) -> None:
    a = write(tmp_path / "a", "ttree", {"run": np.arange(4), "x": np.ones(4)})
    b = write(tmp_path / "b", "rntuple", {"run": np.arange(4), "y": np.ones(4)})
    words = ("join", a, "--with", b, "--on", "run", "-f", "-o", tmp_path / "out.root", "-j", "1", "--memory")
    named = []
    while (outcome := basketry.run(*words, memory)).code != 0:
        (memory,) = re.findall(r"the smallest that would do is --memory (\d+MB)", outcome.err)
        # Each step of the work may need more than the one before.
        assert memory not in named
        named.append(memory)
    assert 0 < len(named) < 5


#: Names of a key in two tables on the right, in one option or several.
NAMED = [
    ["run=Run=run,event=event=number"],
    ["run=Run=run", "event=event=number"],
    ["run = Run = run, event = event + 0 = number"],
]


@pytest.mark.parametrize("words", NAMED)
@pytest.mark.parametrize("containers", [("ttree", "rntuple", "parquet"), ("rntuple", "parquet", "ttree")])
def test_each_table_may_call_the_key_otherwise(
    containers: tuple[str, str, str], words: list[str], basketry: Basketry, tmp_path: Path
) -> None:
    rng, out = np.random.default_rng(4), tmp_path / "out.root"
    keys = [rng.permutation(90), rng.permutation(120)[:70], rng.permutation(100)[:80]]
    # Columns with the name of a column of the key of another table are no key here.
    columns: list[dict[str, npt.NDArray[Any]]] = [
        {"run": keys[0] // 10, "event": keys[0], "x": rng.normal(size=90)},
        {"Run": keys[1] // 10, "event": keys[1], "y": rng.normal(size=70), "number": rng.normal(size=70)},
        {"run": keys[2] // 10, "number": keys[2], "z": rng.normal(size=80), "Run": rng.normal(size=80)},
    ]
    a, b, c = (write(tmp_path / name, kind, part) for name, kind, part in zip("abc", containers, columns, strict=True))
    on = [word for text in words for word in ("--on", text)]
    report = basketry.json("join", a, "--with", b, "--with", c, *on, "-o", out, "--suffix", "_b", "--suffix", "_c")

    frames = [pl.DataFrame(part) for part in columns]
    left_out = "event + 0" not in words[0]
    first = frames[1] if left_out else frames[1].with_columns(event_b="event")
    expected = (
        frames[0]
        .join(first, left_on=["run", "event"], right_on=["Run", "event"], how="left", maintain_order="left")
        .join(frames[2], left_on=["run", "event"], right_on=["run", "number"], how="left", maintain_order="left")
        .fill_null(0)
    )
    with uproot.open(out) as file:
        (table,) = (file[name] for name in file.keys(recursive=False, cycle=False))
        assert set(table.keys()) == set(expected.columns)
        for name in expected.columns:
            assert table[name].array().tolist() == expected[name].to_list(), name
    assert [told["key"] for told in report["right"]] == [
        ["Run", "event" if left_out else "event + 0"], ["run", "number"]
    ]  # fmt: skip
    assert report["key"] == ["run", "event"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("run=Run=run=r,event", "names of 3 tables on the right, and there are 2"),
        ("run=Run=run,event=a=b=c", "run=Run=run has names of 2 tables on the right"),
        ("run=Run=,event", "no name on one side"),
        ("run=Run=number,event=event=number", "number twice"),
    ],
)
def test_names_for_other_numbers_of_tables_are_refused(key: str, said: str, basketry: Basketry, tmp_path: Path) -> None:
    a = write(tmp_path / "a", "ttree", {"run": np.arange(4), "event": np.arange(4)})
    why = basketry.refuses("join", a, "--with", a, "--with", a, "--on", key, "-o", tmp_path / "out.root")
    assert said in why


def test_python_takes_names_of_each_table(tmp_path: Path) -> None:
    numbers = np.arange(60)
    a = write(tmp_path / "a", "ttree", {"run": numbers // 10, "event": numbers, "x": np.ones(60)})
    b = write(tmp_path / "b", "rntuple", {"Run": numbers // 10, "event": numbers, "y": numbers * 0.5})
    c = write(tmp_path / "c", "parquet", {"run": numbers // 10, "number": numbers, "z": numbers * 2.0})
    on = {"run": ["Run", "run"], "event": ["event", "number"]}
    done = bk.join(a, [[b], [c]], tmp_path / "out.root", on=on)
    assert [table.key for table in done.right] == [("Run", "event"), ("run", "number")]
    assert [table.columns for table in done.right] == [("y",), ("z",)]
    name = f"{tmp_path}/part{{n}}.root"
    jobs = bk.plan("join", a, tmp_path / "jobs.json", name=name, others=[[b], [c]], on=on, target_events=20)
    assert all(bk.run_task(tmp_path / "jobs.json", n).whole for n in range(len(jobs.tasks)))
    bk.merge([f"{tmp_path}/part{n}.root" for n in range(3)], tmp_path / "merged.root")
    assert bk.verify(tmp_path / "out.root", tmp_path / "merged.root").equal


def test_python_takes_names_of_two_sides(tmp_path: Path) -> None:
    numbers = np.arange(90)
    a = write(tmp_path / "a", "ttree", {"run": numbers // 10, "event": numbers, "x": np.ones(90)})
    b = write(tmp_path / "b", "parquet", {"Run": numbers // 10, "event": numbers, "y": numbers[::-1] * 1.0})
    out = tmp_path / "out.root"
    done = bk.join(a, b, out, on={"run": "Run", "event": "event"})
    assert (done.key, done.right[0].key, done.right[0].columns) == (("run", "event"), ("Run", "event"), ("y",))
    jobs = bk.plan(
        "join", a, tmp_path / "jobs.json", name=f"{tmp_path}/part{{n}}.root", others=b,
        on={"run": "Run", "event": "event"}, target_events=30,
    )  # fmt: skip
    assert len(jobs.tasks) == 3
    parts = [bk.run_task(tmp_path / "jobs.json", n) for n in range(3)]
    assert all(part.whole for part in parts)
    bk.merge([f"{tmp_path}/part{n}.root" for n in range(3)], tmp_path / "merged.root")
    assert bk.verify(out, tmp_path / "merged.root").equal


# Containers.


def frame(entries: int, rng: np.random.Generator) -> pl.DataFrame:
    """Numbers, lists, lists of lists, texts and truth values."""
    lists = [rng.normal(size=n).tolist() for n in rng.integers(0, 4, entries)]
    return pl.DataFrame(
        {
            "k": rng.permutation(entries),
            "x": rng.normal(size=entries).astype("f4"),
            "list": pl.Series(lists, dtype=pl.List(pl.Float64)),
            "deep": pl.Series([[one, one[:1]] for one in lists], dtype=pl.List(pl.List(pl.Float64))),
            "text": [f"text {n}" * (n % 3) for n in range(entries)],
            "good": rng.integers(0, 2, entries).astype(bool),
        }
    )


def tables(folder: Path, left: str, right: str) -> tuple[pl.DataFrame, pl.DataFrame, list[Path], Path]:
    """A table in two files with another beside it, and one with columns of the same kinds."""
    rng = np.random.default_rng(11)
    one, other = frame(140, rng), frame(90, rng).rename({"list": "l", "deep": "d", "text": "s", "good": "g", "x": "y"})
    plain = pl.CompatLevel.oldest()
    paths = [folder / "a0.root", folder / "a1.root", folder / "b.root"]
    for path, part, container in zip(paths, (one[:60], one[60:], other), (left, left, right), strict=True):
        with bk.recreate(path, container=container, cluster="33") as file:
            file["t"] = part.to_arrow(compat_level=plain)
            if path != paths[2]:
                file["Runs"] = {"number": np.arange(3)}
    return one, other, paths[:2], paths[2]


@pytest.mark.parametrize("friend", [False, True])
@pytest.mark.parametrize("becomes", ["ttree", "rntuple"])
@pytest.mark.parametrize("right", ["ttree", "rntuple"])
@pytest.mark.parametrize("left", ["ttree", "rntuple"])
def test_the_output_has_the_container_that_is_asked_for(
    left: str, right: str, becomes: str, friend: bool, basketry: Basketry, tmp_path: Path
) -> None:
    one, other, files, beside = tables(tmp_path, left, right)
    out, words = tmp_path / "out.root", ["--friend"] * friend
    report = basketry.json("join", *files, "--with", beside, "--on", "k", "-o", out, "--container", becomes, *words)
    assert {table["container"] for table in report["output"]["tables"]} == {becomes}
    basketry("check", out, "--deep")
    expected = one.select("k").join(other, on="k", how="left", maintain_order="left")
    empty = {"y": 0, "l": [], "d": [], "s": "", "g": False}
    path = report["friend"] or "t"
    with uproot.open(out) as file:
        assert friend or file["Runs"].num_entries == 6
        for name, none in empty.items():
            values = file[path][name].array().to_list()
            assert values == [none if value is None else value for value in expected[name].to_list()], name
        if not friend:
            assert file[path]["deep"].array().to_list() == one["deep"].to_list()
            assert file[path]["text"].array().to_list() == one["text"].to_list()
    said = root_filter.values(out, path, {"y": ("float", "y")})
    assert said["y"] == [0 if value is None else value for value in expected["y"].to_list()]


def test_only_the_named_table_becomes_a_tree(basketry: Basketry, tmp_path: Path) -> None:
    one, _, files, beside = tables(tmp_path, "rntuple", "ttree")
    out = tmp_path / "out.root"
    words = ("--tree-set", "t", "container=ttree", "--drop", "t/deep", "--drop", "d")
    report = basketry.json("join", *files, "--with", beside, "--on", "k", "-o", out, *words)
    assert {table["path"]: table["container"] for table in report["output"]["tables"]} == {
        "t": "ttree",
        "Runs": "rntuple",
    }
    with uproot.open(out) as file:
        assert file["t"]["list"].array().to_list() == one["list"].to_list()
        assert {"deep", "d"}.isdisjoint(file["t"].keys())
    only = basketry.json(
        "join", *(f"{path}:t" for path in files), "--with", beside, "--on", "k", "-o", out, "-f", *words
    )
    assert [table["path"] for table in only["output"]["tables"]] == ["t"]


@pytest.mark.parametrize("left", ["ttree", "rntuple"])
def test_types_that_do_not_convert_are_named_and_may_be_dropped(left: str, basketry: Basketry, tmp_path: Path) -> None:
    numbers = np.arange(5)
    a = write(tmp_path / "a", left, {"k": numbers, "x": numbers * 1.0})
    b, out = tmp_path / "b.parquet", tmp_path / "out.root"
    frame = pl.DataFrame({"k": numbers, "money": numbers, "y": numbers * 0.5})
    frame.with_columns(pl.col("money").cast(pl.Decimal(9, 2))).write_parquet(b)
    words = ("join", a, "--with", b, "--on", "k", "-o", out)
    why = basketry.refuses(*words)
    assert "money" in why
    assert "--drop" in why
    assert str(b) in why
    basketry(*words, "--drop", "money")
    with uproot.open(out) as file:
        assert file["t"]["y"].array().tolist() == (numbers * 0.5).tolist()
    assert sorted(tmp_path.iterdir()) == sorted([a, b, out])


def test_fields_that_trees_cannot_hold_are_named_and_may_be_dropped(basketry: Basketry, tmp_path: Path) -> None:
    right, out = make_files.made("rntuples") / "zstd.root", tmp_path / "out.root"
    numbers = np.arange(2500) * 3 - 7
    a = write(tmp_path / "a", "ttree", {"id": numbers, "x": numbers * 0.5})
    words = ("join", a, "--with", right, "--on", "id=number", "-o", out)
    why = basketry.refuses(*words)
    assert all(word in why for word in (str(right), "either", "maybe", "--drop")), why
    basketry(*words, "--drop", "either", "--drop", "maybe")
    with uproot.open(out) as file, uproot.open(right) as given:
        assert file["t"]["items"].array().to_list() == given["events"]["items"].array().to_list()
    assert sorted(tmp_path.iterdir()) == [a, out]
