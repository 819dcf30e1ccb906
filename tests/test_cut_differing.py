"""Cuts, keys, definitions and layouts where the inputs of a merge have other columns: trees and RNTuples do the
same, beside numpy."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry
from referee.frames_as_lists import read_by_root

CONTAINERS = ("ttree", "rntuple")
COUNTS = (40, 0, 25, 33)
Columns = dict[str, np.ndarray]


def columns_of(number: int) -> Columns:
    """All inputs have x and y; the second and the fourth lack some, only the third has one, and typ is of two types."""
    random, count = np.random.default_rng(number), COUNTS[number]
    columns = {"x": np.arange(count) + 100 * number, "y": random.normal(size=count)}
    if number % 2 == 0:
        columns["some"] = random.normal(size=count)
    if number == 2:
        columns["one"] = random.integers(-5, 5, count)
    columns["typ"] = np.arange(count, dtype="i4" if number != 3 else "i2")
    return columns


@pytest.fixture(scope="module", params=CONTAINERS)
def inputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp(request.param)
    paths = [folder / f"{number}.root" for number in range(len(COUNTS))]
    for number, path in enumerate(paths):
        columns = columns_of(number)
        with bk.recreate(path) as file:
            made = file.mkrntuple if request.param == "rntuple" else file.mktree
            table = made("t", {name: values.dtype for name, values in columns.items()})
            if COUNTS[number]:
                table.extend(columns)
    return paths


def joined(how: str) -> Columns:
    """The columns of a merge."""
    each = [columns_of(number) for number in range(len(COUNTS)) if COUNTS[number]]
    names = ("x", "y") if how == "--common" else ("x", "y", "some", "one")
    filled = {"some": np.float64(0), "one": np.int64(0)}

    def of(columns: Columns, name: str) -> np.ndarray:
        return columns[name] if name in columns else np.full(len(columns["x"]), filled[name])

    return {name: np.concatenate([of(columns, name) for columns in each]) for name in names}


def stored(path: Path) -> Columns:
    with uproot.open(path) as file:
        table = file["t"].arrays()
    return {name: np.asarray(table[name]) for name in table.fields}


def check(path: Path, expected: Columns) -> None:
    """By uproot, and by ROOT."""
    found = stored(path)
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert np.array_equal(found[name], values), name
    told = read_by_root(path, "t", sorted(expected))
    for name, values in expected.items():
        assert told[name] == values.tolist(), name


#: Of a merge by --common, or by --fill: a cut, and the same of numpy.
CUTS = [
    ("--common", "x % 3 == 0", lambda c: c["x"] % 3 == 0),
    ("--common", "y > 0 && entry % 2 == 0", lambda c: (c["y"] > 0) & (np.arange(len(c["y"])) % 2 == 0)),
    ("--fill", "x % 3 == 0", lambda c: c["x"] % 3 == 0),
    ("--fill", "some > 0.5", lambda c: c["some"] > 0.5),
    ("--fill", "some == 0 || one < -2", lambda c: (c["some"] == 0) | (c["one"] < -2)),
    ("--fill", "entry < 50", lambda c: np.arange(len(c["x"])) < 50),
]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("how", "cut", "passes"), CUTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_cut_keeps_what_numpy_keeps(
    how: str,
    cut: str,
    passes: Callable[[Columns], np.ndarray],
    container: str,
    inputs: list[Path],
    basketry: Basketry,
    tmp_path: Path,
) -> None:
    whole, out = joined(how), tmp_path / "out.root"
    kept = passes(whole)
    given = (how, "--drop", "typ", "--cut", cut)
    report = basketry.json("merge", *inputs, "-o", out, *given, "--container", container)
    assert [(step["before"], step["after"]) for step in report["cut_flows"][0]["cuts"]] == [(len(kept), kept.sum())]
    check(out, {name: values[kept] for name, values in whole.items()})
    basketry("verify", *inputs, out, *given)
    assert basketry.run("verify", *inputs, out, how, "--drop", "typ").code == 1


#: Of columns that only some inputs have, or that are of other types: the option that names them.
NAMED = {
    "a cut": ("--cut", "some > 0"),
    "one input": ("--cut", "one > 0"),
    "a type": ("--cut", "typ > 3"),
    "beside others": ("--cut", "x > 0", "--cut", "some > 0"),
    "a weight": ("--cut", "x > 0", "--weight", "some"),
    "a definition": ("--define", "twice=2 * some"),
    "an order": ("--by", "some"),
}


@pytest.mark.parametrize("given", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("how", [("--common",), ("--keep", "x", "--keep", "y")], ids=["common", "keep"])
def test_what_not_all_inputs_have_is_refused(
    how: tuple[str, ...], given: tuple[str, ...], inputs: list[Path], basketry: Basketry, tmp_path: Path
) -> None:
    """Entries of an input without the column would neither pass nor fail."""
    said = basketry.refuses("merge", *inputs, "-o", tmp_path / "out.root", *how, *given)
    name = next(name for name in ("some", "one", "typ") if any(name in word for word in given))
    assert "that expressions name must be alike in all inputs; --fill fills in missing ones" in said
    # Other columns may differ.
    assert set(re.findall(r"\b(some|one|typ)\b", said)) == {name}
    assert not (tmp_path / "out.root").exists()


@pytest.mark.parametrize("how", [("--common",), ("--fill", "--drop", "typ"), ("--keep", "x")])
def test_a_name_that_no_input_has_is_told_as_such(
    how: tuple[str, ...], inputs: list[Path], basketry: Basketry, tmp_path: Path
) -> None:
    """Not by how the inputs differ."""
    said = basketry.refuses("merge", *inputs, "-o", tmp_path / "out.root", *how, "--cut", "X > 3")
    assert "t: --cut: no column X; did you mean x" in said


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("how", ["--common", "--fill"])
def test_columns_are_defined_and_entries_sorted(
    how: str, container: str, inputs: list[Path], basketry: Basketry, tmp_path: Path
) -> None:
    whole, out = joined(how), tmp_path / "out.root"
    given = ("--drop", "typ", "--define", "z=2 * y", "--by=-z", "--container", container)
    basketry("merge", *inputs, "-o", out, how, *given)
    order = np.argsort(-whole["y"], kind="stable")
    check(out, {name: values[order] for name, values in (whole | {"z": 2 * whole["y"]}).items()})


@pytest.mark.parametrize("layout", [("--cluster", "7"), ("--container", "ttree"), ("--container", "rntuple")])
@pytest.mark.parametrize("how", ["--common", "--fill"])
def test_layouts_are_those_of_all(
    how: str, layout: tuple[str, str], inputs: list[Path], basketry: Basketry, tmp_path: Path
) -> None:
    """RNTuples that differ could only be moved."""
    out = tmp_path / "out.root"
    report = basketry.json("merge", *inputs, "-o", out, how, "--drop", "typ", *layout)
    check(out, joined(how))
    basketry("verify", *inputs, out, how, "--drop", "typ")
    missing = {"one", "some"} if how == "--common" else set()
    noted = [note for note in report["notes"] if "not in all inputs" in note]
    assert len(noted) == bool(missing)
    assert all(name in noted[0] for name in missing)


def test_the_same_bytes_for_any_number_of_threads(inputs: list[Path], basketry: Basketry, tmp_path: Path) -> None:
    made = []
    for threads in ("1", "3"):
        out = tmp_path / threads / "out.root"
        out.parent.mkdir()
        given = ("--fill", "--drop", "typ", "--cut", "some > 0", "--cluster", "5", "--threads", threads)
        basketry("merge", *inputs, "-o", out, *given)
        made.append(out.read_bytes())
    assert made[0] == made[1]
