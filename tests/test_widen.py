"""`--widen`: leaves whose numbers have other types in some inputs are joined in the smallest type that holds all.
Real ROOT makes the inputs and reads the results; the expected types follow from the ranges of the types."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import basketry as package
from referee import number_leaves
from referee.command import Basketry
from referee.number_leaves import ENTRIES, NAMES, TYPES, counter, entry

PAIRS = list(itertools.permutations(TYPES, 2))
LEAVES = ("x", "a", "v", "q")


def referee(*arguments: str | Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(Path(number_leaves.__file__).resolve().parents[1])}
    command = [sys.executable, "-W", "ignore", "-m", "referee.number_leaves", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    referee("make", folder)
    return folder


def by_root(*files: Path) -> list[Any]:
    found = json.loads(referee("read", *files))
    return [found[str(file)] for file in files]


def limits(letter: str) -> tuple[float, float]:
    """Between these, the type has all whole numbers."""
    dtype = np.dtype(TYPES[letter])
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "f":
        return (-(2**24), 2**24) if letter == "F" else (-(2**53), 2**53)
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def joined(letters: Iterable[str]) -> str | None:
    """The letter of the smallest type that holds all values of some types."""
    letters = set(letters)
    if len(letters) == 1:
        return letters.pop()
    wanted = [limits(letter) for letter in letters]
    floats = letters & {"F", "D"}
    for letter in "FD" if floats else "OBbSsIiLl":
        low, high = limits(letter)
        if all(low <= first and last <= high for first, last in wanted):
            return letter
    return None


def expected(*letters: str) -> list[dict[str, list[Any]]]:
    return [entry(letter, k) for letter in letters for k in range(ENTRIES)]


def says(letters: Iterable[str], leaf: str, wanted: str) -> str:
    kinds = {"G": "L", "g": "l"}
    names = list(dict.fromkeys(NAMES[kinds.get(letter, letter)] for letter in letters))
    return f"{leaf} is written as {NAMES[wanted]}, since the inputs have {' and '.join(names)}"


def test_pairs_of_types_in_either_order(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    made: dict[Path, tuple[str, str]] = {}
    for number, (first, second) in enumerate(PAIRS):
        a, b = inputs / f"{first}.root", inputs / f"{second}.root"
        out = tmp_path / f"{first}_{second}.root"
        verbs: list[list[str | Path]] = [["merge", "--widen", a, b, "-o", out], ["hadd", "--widen", out, a, b]]
        verbs.append(["rewrite", "--widen", a, b, "-o", out, "--cluster", "3"])
        words = verbs[number % 3]
        done = basketry.run(*words)
        if joined([first, second]) is None:
            assert done.code == (1 if words[0] == "hadd" else 2), done
            assert "branch x: " in done.err, done
            assert b.name in done.err, done
            assert "--widen" not in done.err, done
            assert not out.exists()
            continue
        assert done.code == 0, done
        made[out] = (first, second)
        proof = basketry.run("verify", "--widen", a, b, out)
        assert proof.code == 0, (first, second, proof)
    assert len(made) > 100
    for (out, letters), found in zip(made.items(), by_root(*made), strict=True):
        assert found["entries"] == expected(*letters), out.name
        wanted, counts = joined(letters), joined(map(counter, letters))
        assert wanted is not None
        assert counts is not None
        leaves = found["leaves"]
        assert {leaf: leaves[leaf]["type"] for leaf in LEAVES} == dict.fromkeys(LEAVES, NAMES[wanted]), out.name
        assert leaves["n"]["type"] == NAMES[counts]
        assert leaves["n"]["maximum"] == 3
        assert {leaves[leaf]["size"] for leaf in LEAVES} == {np.dtype(TYPES[wanted]).itemsize}
        assert leaves["x"]["title"] == f"x/{wanted}"
        assert leaves["v"]["title"] == f"v[n][2]/{wanted}"
        assert leaves["q"]["title"] == f"p/I:q[2]/{wanted}:r/B"
        assert leaves["r"]["offset"] == 4 + 2 * leaves["q"]["size"]


@pytest.mark.parametrize("letters", ["IiF", "sBb", "OSD", "LGI", "BSIL"])
def test_the_order_of_several_inputs_does_not_matter(
    letters: str, basketry: Basketry, inputs: Path, tmp_path: Path
) -> None:
    wanted = joined(letters)
    assert wanted is not None
    orders = list(itertools.permutations(letters))[:6]
    made = []
    for order in orders:
        files = [inputs / f"{letter}.root" for letter in (*order, order[0])]
        out = tmp_path / f"{''.join(order)}.root"
        summary = basketry.json("merge", "--widen", *files, "-o", out)
        assert any(says(order, "x", wanted) in note for note in summary["notes"]), summary["notes"]
        assert any("s.q is written as" in note for note in summary["notes"]), summary["notes"]
        assert not any("keep" in note or " r " in note for note in summary["notes"])
        made.append(out)
    for order, found in zip(orders, by_root(*made), strict=True):
        assert found["entries"] == expected(*order, order[0]), order
        assert found["leaves"]["x"]["type"] == NAMES[wanted]


@pytest.mark.parametrize("letters", ["IiLF", "LiF", "BLl"])
def test_all_inputs_count(letters: str, basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    """Where no type holds all numbers it is refused, wherever the input with the large ones stands."""
    assert joined(letters) is None
    for order in itertools.permutations(letters):
        files = [inputs / f"{letter}.root" for letter in order]
        said = basketry.refuses("merge", "--widen", *files, "-o", tmp_path / "out.root")
        assert "branch x" in said
    assert list(tmp_path.iterdir()) == []


def test_without_the_option_it_is_the_way_out(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    a, b, out = inputs / "I.root", inputs / "S.root", tmp_path / "out.root"
    said = basketry.refuses("merge", a, b, "-o", out)
    assert "branch x: TBranch, TLeafS x instead of TBranch, TLeafI x" in said
    assert "--widen" in said
    assert "--widen" not in basketry.refuses("merge", inputs / "L.root", inputs / "l.root", "-o", out)
    with pytest.raises(ValueError, match="widen=True"):
        package.merge([a, b], out)
    assert not out.exists()
    assert basketry.run("verify", a, b).code == 1


def test_python(inputs: Path, tmp_path: Path) -> None:
    a, b, out = inputs / "F.root", inputs / "D.root", tmp_path / "out.root"
    summary = package.merge([a, b], out, widen=True)
    assert any("x is written as Double_t, since the inputs have Float_t and Double_t" in note for note in summary.notes)
    assert package.verify(a, b, out, widen=True).equal
    values = [float(values["x"][0]) for values in expected("F", "D")]
    assert package.open(f"{out}:t")["x"].array().to_list() == values
    again = tmp_path / "again.root"
    package.rewrite([a, b], again, widen=True, entries=":7")
    assert package.open(f"{again}:t")["x"].array().to_list() == values[:7]


def test_selected_entries_and_defaults(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    """Wider numbers beside defaults of branches that an input lacks, and in a selection by a column."""
    less, out, cut = tmp_path / "less.root", tmp_path / "out.root", tmp_path / "cut.root"
    basketry("rewrite", inputs / "S.root", "-o", less, "--drop", "x", "--drop", "v")
    files = [inputs / "B.root", less, inputs / "i.root"]
    basketry("merge", "--widen", "--fill", *files, "-o", out)
    basketry("merge", "--widen", inputs / "s.root", inputs / "I.root", "-o", cut, "--where", "x")
    filled, selected = by_root(out, cut)
    lacks = [{**values, "x": [0], "v": [0] * len(values["v"])} for values in expected("S")]
    assert filled["entries"] == [*expected("B"), *lacks, *expected("i")]
    assert filled["leaves"]["x"]["type"] == "Long64_t"
    assert selected["entries"] == [values for values in expected("s", "I") if values["x"] != [0]]


def test_an_rntuple_of_trees(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    a, b, out = inputs / "i.root", inputs / "S.root", tmp_path / "out.root"
    basketry("merge", "--widen", "--container", "rntuple", a, b, "-o", out)
    table = package.open(f"{out}:t")
    assert table["x"].array().to_list() == [values["x"][0] for values in expected("i", "S")]
    assert table["x"].typename == "int64_t"


def test_packed_numbers_are_widened_too(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    """Double32_t beside Float_t: both fit in Double_t."""
    program = (
        "import ROOT, array, sys\n"
        "file = ROOT.TFile(sys.argv[1], 'recreate'); tree = ROOT.TTree('t', 't'); x = array.array('d', [0])\n"
        "tree.Branch('x', x, 'x/d[0,64,16]')\n"
        "for k in range(5): x[0] = 8.5 * k; tree.Fill()\n"
        "tree.Write(); file.Close()\n"
    )
    packed, plain, out = tmp_path / "packed.root", tmp_path / "plain.root", tmp_path / "out.root"
    subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(packed)], check=True, capture_output=True)
    basketry("rewrite", inputs / "F.root", "-o", plain, "--keep", "x")
    basketry("merge", "--widen", plain, packed, plain, "-o", out)
    (found,) = by_root(out)
    floats = [values["x"] for values in expected("F")]
    assert [values["x"] for values in found["entries"]] == [*floats, *([8.5 * k] for k in range(5)), *floats]
    assert found["leaves"]["x"]["title"] == "x/D"


def test_a_counter_in_the_same_leaf_list(basketry: Basketry, tmp_path: Path) -> None:
    program = (
        "import ROOT, numpy as np, sys\n"
        "for name, n, x in (('a', 'uint8', 'int16'), ('b', 'int16', 'int32')):\n"
        "    letter = {'uint8': 'b', 'int16': 'S', 'int32': 'I'}\n"
        "    file = ROOT.TFile(name + '.root', 'recreate'); tree = ROOT.TTree('t', 't')\n"
        "    entry = np.zeros(1, [('n', n), ('x', x, (5,))])\n"
        "    tree.Branch('s', entry.view(np.uint8), 'n/%s:x[n]/%s' % (letter[n], letter[x]))\n"
        "    for k in range(5): entry['n'] = k; entry['x'] = np.iinfo(x).min + k; tree.Fill()\n"
        "    tree.Write(); file.Close()\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, capture_output=True, cwd=tmp_path)
    a, b, out = tmp_path / "a.root", tmp_path / "b.root", tmp_path / "out.root"
    basketry("merge", "--widen", a, b, "-o", out)
    basketry("verify", "--widen", a, b, out)
    (found,) = by_root(out)
    assert found["entries"] == [{"n": [k], "x": [low + k] * k} for low in (-(2**15), -(2**31)) for k in range(5)]
    assert found["leaves"]["x"]["title"] == "n/S:x[n]/I"


def test_fields_of_rntuples_are_refused_as_before(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    made = [tmp_path / f"{letter}.root" for letter in "IS"]
    for file in made:
        basketry("rewrite", "--container", "rntuple", inputs / file.name, "-o", file)
    said = basketry.refuses("merge", "--widen", *made, "-o", tmp_path / "out.root")
    assert "field x: " in said


def test_branches_that_are_left_out_get_no_note(basketry: Basketry, inputs: Path, tmp_path: Path) -> None:
    """`n` has other types in two inputs and is not in the third: `--common` leaves it out, with what it counts."""
    basketry("rewrite", inputs / "O.root", "-o", tmp_path / "keep.root", "--keep", "a")
    for letter in "IS":
        basketry("rewrite", inputs / f"{letter}.root", "-o", tmp_path / f"{letter}.root", "--keep", "[anv]")
    files = [tmp_path / f"{name}.root" for name in ("I", "S", "keep")]
    summary = basketry.json("merge", "--widen", "--common", *files, "-o", tmp_path / "out.root")
    assert [note for note in summary["notes"] if "is written as" in note] == [
        "tree t: a is written as Int_t, since the inputs have Int_t and Short_t and Bool_t"
    ]
    (found,) = by_root(tmp_path / "out.root")
    assert found["entries"] == [{"a": values["a"]} for values in expected("I", "S", "O")]
