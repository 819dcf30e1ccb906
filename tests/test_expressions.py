"""Expressions, cuts, aliases and zipped lists in Python: the arrays of uproot, and refusals."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot

import basketry as bk
from basketry.reading.expressions import Expression, functions
from referee import make_files, oracle
from test_edit import by_root

# On the file of the fixture `made`: numbers, truth values, fixed arrays and lists.
EXPRESSIONS = (
    """
i*2|i+x|-x|+x|x**2|i//7|i%7|i/3|i>2000|(i>2000)&flag|flag|~flag|(x<0.1)|(x>0.9)^flag|i<<1|i>>2|x==x|i!=1003|x<=0.5
v*2|v+x|sqrt(v)|v>0.5|fixed*2|fixed[:, 0, 1]|v[:, :1]|get("x")+get('i')|where(flag, x, -1)|hypot(x, i)|abs(i-2000)
round(x*10)|atan2(x, i)|isfinite(x)|fmin(x, 0.5)|exp(v)|1 + 1 + x|trunc(100*x)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
CUTS = [None, "i > 2000", "i % 50 == 7", "flag", "x", "(x > 0.2) & ~flag", "i < 0", "i >= 0", "sqrt(x) < 0.5"]


@pytest.fixture
def trees(made: Path) -> tuple[bk.Tree, Any]:
    """The tree by basketry and by uproot."""
    return bk.open(f"{made}:dir/t"), uproot.open(f"{made}:dir/t")


def equal(ours: Any, theirs: Any) -> bool:
    """Equal names, types and values, up to rounding."""
    if ours.fields != theirs.fields or str(ours.type) != str(theirs.type):
        return False
    pairs = [(ours[name], theirs[name]) for name in ours.fields]
    return all(bool(ak.all(ak.isclose(a, b, rtol=1e-6, equal_nan=True), axis=None)) for a, b in pairs)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_give_the_arrays_of_uproot(expression: str, cut: str | None, trees: tuple[bk.Tree, Any]) -> None:
    ours, theirs = (tree.arrays([expression, "i", "v"], cut, entry_start=7, entry_stop=480) for tree in trees)
    assert equal(ours, theirs), f"{ours.type} {ours[:3].to_list()} {theirs.type} {theirs[:3].to_list()}"


@pytest.mark.parametrize("name", functions())
def test_functions_give_the_values_of_uproot(name: str, trees: tuple[bk.Tree, Any]) -> None:
    assert functions() == sorted(uproot.language.python.PythonLanguage.default_functions)
    two = ("atan2", "arctan2", "copysign", "fmax", "fmin", "hypot", "logical_and", "logical_or", "nextafter")
    arguments = "flag, x, i" if name == "where" else "x, v" if name in two else "v + 1" if "cosh" in name else "v"
    ours, theirs = (tree.arrays(f"{name}({arguments})") for tree in trees)
    if name in ("gamma", "lgamma", "tgamma", "erf", "erfc", "factorial"):
        # uproot's approximations have about six digits.
        field = ours.fields[0]
        assert str(ours.type) == str(theirs.type)
        assert bool(ak.all(ak.isclose(ours[field], theirs[field], rtol=1e-5, atol=1e-6), axis=None))
    else:
        assert equal(ours, theirs)


@pytest.mark.parametrize("cut", ["v > 0.5", "v[:, :1] > 0.2"])
def test_a_cut_on_lists_cuts_lists(cut: str, trees: tuple[bk.Tree, Any]) -> None:
    names = ["v"] if cut == "v > 0.5" else ["v[:, :1]"]
    ours, theirs = (tree.arrays(names, cut) for tree in trees)
    assert equal(ours, theirs)


@pytest.mark.parametrize("library", ["np", "pd"])
def test_libraries_give_what_uproot_gives(library: Any, trees: tuple[bk.Tree, Any]) -> None:
    names = ["x", "i*2"] if library == "pd" else ["x", "v", "i*2", "x + i"]
    for cut in ("flag", None):
        ours, theirs = (tree.arrays(names, cut, library=library, entry_start=20) for tree in trees)
        if library == "pd":
            pd.testing.assert_frame_equal(ours, theirs, check_index_type=False)
        else:
            assert ours.keys() == theirs.keys()
            for name in names:
                assert ours[name].dtype == theirs[name].dtype
                assert all(map(np.array_equal, ours[name], theirs[name])), name


def test_every_library_has_the_same_values(trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    names = ["i", "v", "fixed", "flag", "v*2", "i + 0", "flag | flag"]
    for chosen in (names, names[:4]):
        truth = tree.arrays(chosen, "x > 0.5").to_list()
        assert tree.arrays(chosen, "x > 0.5", library="arrow").to_pylist() == truth
        assert tree.arrays(chosen, "x > 0.5", library="pl")["v"].to_list() == [one["v"] for one in truth]
        found = tree.arrays(chosen, "x > 0.5", library="np")
        assert [list(one) for one in found["v"]] == [one["v"] for one in truth]
        assert tree.arrays("v*2", "x > 0.5", how=tuple)[0].to_list() == [[2 * v for v in one["v"]] for one in truth]
    frame = tree.arrays(["i", "x*2"], "x > 0.5", library="pd", selection=[1, 30, 31, 400])

    assert list(frame.index) == [n for n in (1, 30, 31, 400) if tree["x"].array()[n] > 0.5]


@pytest.mark.parametrize("library", ["ak", "pd"])
@pytest.mark.parametrize("step", [50, "1 kB", None])
def test_steps_together_give_all_entries(step: Any, library: Any, trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    choices: list[dict[str, Any]] = [{}, {"selection": range(0, 510, 3)}, {"entry_start": 33, "entry_stop": 300}]
    for options in choices:
        whole = tree.arrays(["i", "x*2"], "flag", library=library, **options)
        steps = list(tree.iterate(["i", "x*2"], "flag", library=library, step_size=step, **options))
        if library == "ak":
            assert ak.array_equal(ak.concatenate(steps), whole)
        else:
            pd.testing.assert_frame_equal(pd.concat(steps), whole)


def test_entries_that_a_cut_drops_are_not_read(made: Path, tmp_path: Path) -> None:
    with uproot.open(f"{made}:dir/t") as theirs:
        basket = theirs["v"].basket(0)
        start = theirs["v"].member("fBasketSeek")[0] + basket.member("fKeylen")
    spoilt = bytearray(made.read_bytes())
    spoilt[start + 20 : start + 60] = bytes(40)
    path = tmp_path / "spoilt.root"
    path.write_bytes(spoilt)
    tree, whole = bk.open(f"{path}:dir/t"), bk.open(f"{made}:dir/t")
    few = "(i >= 1000) & (i < 1030)"
    kept = tree.arrays(["i", "v"], few)
    assert kept["i"].to_list() == list(range(1000, 1030))
    assert ak.array_equal(kept, whole.arrays(["i", "v"], few))
    assert whole.arrays("1 + 1", few).to_list() == [{"1 + 1": 2}] * 30
    assert whole.arrays("1 + 1", "i >= 1000").to_list() == [{"1 + 1": 2}] * 410
    with pytest.raises(ValueError, match="v"):
        tree.arrays(["i", "v"], "i >= 0")


def test_aliases_work_as_in_uproot(trees: tuple[bk.Tree, Any]) -> None:
    aliases = {"r": "x**2", "twice": "2*r + i", "high": "twice > 4000"}
    ours, theirs = (tree.arrays(["twice", "r"], "high", aliases=aliases) for tree in trees)
    assert equal(ours, theirs)
    tree, _ = trees
    assert tree.aliases == {}
    with pytest.raises(ValueError, match="a -> b -> a"):
        tree.arrays("a", aliases={"a": "b", "b": "a+1"})


def test_a_tree_has_aliases_of_its_own() -> None:
    path = next(iter(sorted(make_files.made("aliases").glob("*.root"))))
    with uproot.open(path) as file:
        theirs = file["t"]
        ours = bk.open(path)["t"]
        assert (
            ours.aliases == theirs.aliases == {"r": "sqrt(x*x + y*y)", "far": "r > 1", "not_python": "x > 0 && y > 0"}
        )
        assert equal(ours.arrays(["r", "x"], "far"), theirs.arrays(["r", "x"], "far"))
        assert ours["x"].aliases == {}
        assert (
            ours.arrays("not_python", how=tuple)[0].to_list()
            == ours.arrays("(x > 0) & (y > 0)", how=tuple)[0].to_list()
        )


def test_zip_joins_lists_as_in_uproot(trees: tuple[bk.Tree, Any]) -> None:
    ours, theirs = (tree.arrays(["v", "i", "v*2"], "x > 0.3", how="zip") for tree in trees)
    assert ours.type == theirs.type
    assert ak.array_equal(ours, theirs)
    path = oracle.corpus_file("skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root")
    if path.is_file():
        wanted = ["Muon_*", "Jet_*", "nMuon", "MET_*", "SV_*"]
        zipped = bk.open(f"{path}:Events").arrays(filter_name=wanted, how="zip")
        truth = uproot.open(f"{path}:Events").arrays(filter_name=wanted, how="zip")
        assert zipped.type == truth.type
        assert ak.array_equal(zipped, truth)


def test_members_of_objects_are_named_with_a_dot() -> None:
    path = oracle.corpus_file("unroot--TLorentzVector.root")
    if not path.is_file():
        pytest.skip("the corpus is absent")
    tree = bk.open(f"{path}:t1")
    whole = tree["LV"].array()
    found = tree.arrays("hypot(LV.fP.fX, LV.fP.fY)", "LV.fE > 10", how=tuple)[0]
    assert ak.array_equal(found, np.hypot(whole.fP.fX, whole.fP.fY)[whole.fE > 10])
    with pytest.raises(KeyError, match="no member 'fQ'"):
        tree.arrays("LV.fQ")


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("xx + 1", KeyError, "no branch 'xx'"),
        ("sqr(x)", KeyError, "sqrt?"),
        ("x.real", KeyError, "no member 'real'"),
        ("v.__class__", KeyError, "no member"),
        ("anny(v > 1)", KeyError, "any?"),
        ("sum(xx)", KeyError, "no branch 'xx'"),
        ("flag and xx", KeyError, "no branch 'xx'"),
        ("sum(x, v)", ValueError, "sum"),
        ("__import__('os')", KeyError, "no function"),
        ("(lambda: 1)()", ValueError, "not allowed in an expression"),
        ("[y for y in x]", ValueError, "not allowed in an expression"),
        ("x = 1", SyntaxError, "not an expression"),
    ],
)
def test_invalid_expressions_are_refused(text: str, kind: type[Exception], says: str, trees: tuple[Any, Any]) -> None:
    tree, _ = trees
    with pytest.raises(kind) as refused:
        tree.arrays(text)
    assert says in str(refused.value)
    with pytest.raises(kind):
        tree.arrays(["x"], cut=text)


#: Conditions in the command's language that are not in Python's, and the same in Python's.
OF_THE_COMMAND = {
    "x > 0.5 && flag": "(x > 0.5) & flag",
    "x > 0.5 || flag": "(x > 0.5) | flag",
    "x and flag": "(x != 0) & flag",
    "not flag": "~flag",
    "0 < x < 1": "(x > 0) & (x < 1)",
}


@pytest.mark.parametrize("library", ["ak", "np", "arrow", "pd"])
@pytest.mark.parametrize("cut", OF_THE_COMMAND)
def test_cuts_may_be_in_the_commands_language(cut: str, library: Any, trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    for names in (["x"], ["i", "v"], ["x * 2", "v"], []):
        for more in ({}, {"entry_start": 20, "entry_stop": 400}, {"selection": list(range(3, 300, 2))}):
            ours, expected = (tree.arrays(names, one, library=library, **more) for one in (cut, OF_THE_COMMAND[cut]))
            _same(ours, expected, library)
    few = "entry % 37 == 5 and any(v > 0.5)"
    _same(
        tree.arrays(["i", "v"], few, library=library),
        tree.arrays(["i", "v"], selection=[e for e in tree_passing(tree) if e % 37 == 5], library=library),
        library,
    )


@pytest.fixture
def ntuple(made: Path, tmp_path: Path) -> Any:
    """The tree as an RNTuple."""
    bk.rewrite(made, tmp_path / "ntuple.root", container="rntuple", keep=["i", "x", "v", "flag"])
    found: Any = bk.open(f"{tmp_path / 'ntuple.root'}:dir/t")
    return found


@pytest.mark.parametrize("container", ["tree", "ntuple"])
def test_columns_may_be_in_the_commands_language(container: str, request: Any, trees: tuple[bk.Tree, Any]) -> None:
    tree: Any = trees[0] if container == "tree" else request.getfixturevalue("ntuple")
    theirs = trees[1].arrays(["i", "x", "v", "flag"])
    i, x, flag, v = theirs.i, theirs.x, theirs.flag, ak.values_astype(theirs.v, np.float64)
    truth = {
        "sum(v)": ak.sum(v, axis=1),
        "Sum$(v)": ak.sum(v, axis=1),
        "max(v)": ak.max(v, axis=1),
        "flag ? i : 0": ak.where(flag, i, 0),
        "v if flag else 2 * v": ak.where(flag, v, 2 * v),
        "v > 0.5 && flag": (v > 0.5) & flag,
        "entry": np.arange(len(i)),
        "x > pi / 6": x > np.pi / 6,
        **{text: tree.arrays(python, how=tuple)[0] for text, python in OF_THE_COMMAND.items()},
    }
    kept = ak.any(v > 0.5, axis=1) & (i % 3 == 1)
    for cut, mask in ((None, slice(None)), ("any(v > 0.5) and i % 3 == 1", kept), ("i % 3 == 1", i % 3 == 1)):
        found = tree.arrays([*truth, "i"], cut)
        for text, values in truth.items():
            same = ak.isclose(found[text], values[mask], rtol=1e-12) == True  # noqa: E712
            assert bool(ak.all(ak.is_none(values[mask]) == ak.is_none(found[text]), axis=None)), text
            assert bool(ak.all(ak.fill_none(same, True), axis=None)), text
        for step in (7, "1 kB", None):
            steps = tree.iterate([*truth], cut, step_size=step, entry_start=11, selection=range(0, 500, 3))
            whole = tree.arrays([*truth], cut, entry_start=11, selection=range(0, 500, 3))
            assert ak.concatenate(list(steps)).to_list() == whole.to_list()
        arrow = tree.arrays(["sum(v)", "i"], cut, library="arrow")
        assert arrow.to_pylist() == found[["sum(v)", "i"]].to_list()
        assert tree.arrays("sum(v)", cut, library="np")["sum(v)"].tolist() == found["sum(v)"].to_list()
    # A cut on lists cuts them.
    assert tree.arrays("v if flag else 2 * v", "v > 0.5", how=tuple)[0].to_list() == (
        ak.where(flag, v, 2 * v)[v > 0.5].to_list()
    )


def test_nothing_absent_is_no_missing_value(trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    found = tree.arrays(["sum(v)", "Alt$(v[0], -1)", "sum(v) > 1"], entry_stop=0)
    assert str(found.type.content) == '{"sum(v)": float64, "Alt$(v[0], -1)": float64, "sum(v) > 1": bool}'
    assert found.type.content == tree.arrays(["sum(v)", "Alt$(v[0], -1)", "sum(v) > 1"]).type.content


def test_several_files_take_expressions_of_the_command(made: Path, trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    for names, cut in ((["sum(v)", "flag ? i : 0"], "x > 0.2 and flag"), (["sum(v)"], None)):
        once = tree.arrays(names, cut).to_list()
        files = [f"{made}:dir/t"] * 2
        assert bk.concatenate(files, names, cut).to_list() == 2 * once
        assert [one for step in bk.iterate(files, names, cut, step_size=100) for one in step.to_list()] == 2 * once


def test_files_whose_columns_differ_have_both_languages(tmp_path: Path) -> None:
    for name, more in (("a", {}), ("b", {"y": np.arange(3.0)})):
        with bk.recreate(tmp_path / f"{name}.root") as file:
            file.mktree("t", {"x": np.arange(3), **more})
    tree = bk.open([f"{tmp_path / name}.root:t" for name in "ab"], join="common")
    assert tree.arrays(["x"], "x > 1", library="np")["x"].tolist() == [2, 2]
    assert tree.arrays(["x ? 1 : 0"], "!x || x == 2", library="np")["x ? 1 : 0"].tolist() == [0, 1, 0, 1]
    for names, cut in ((["x ? 1"], None), (["x"], "x >")):
        with pytest.raises(SyntaxError, match=r"invalid syntax$"):
            tree.arrays(names, cut)
    with pytest.raises(SyntaxError, match=r"invalid syntax$"):
        bk.open(tmp_path / "a.root:t").arrays("x >")


def test_threads_parse_at_once() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            text = "+".join(["(x * 2 - 1)"] * 40)
            found = list(pool.map(lambda _: Expression(text, lambda name: name == "x").names(), range(400)))
        assert found == [["x"]] * 400
    finally:
        sys.setswitchinterval(before)


def tree_passing(tree: bk.Tree) -> list[int]:
    """The entries with an item of v above a half."""
    return [entry for entry, values in enumerate(tree["v"].array().tolist()) if any(value > 0.5 for value in values)]


def _same(ours: Any, expected: Any, library: str) -> None:
    if library == "arrow":
        assert ours.equals(expected)
    elif library == "pd":
        assert str(ours.to_dict()) == str(expected.to_dict())
    elif library == "np":
        assert {name: str(one.tolist()) for name, one in ours.items()} == {
            name: str(one.tolist()) for name, one in expected.items()
        }
    else:
        assert ours.tolist() == expected.tolist()


def test_steps_take_cuts_in_the_commands_language(trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    # A step of bytes counts those of the columns that are read: the engine reads the cut's before.
    for step in (7, 100, None):
        ours, expected = (
            list(tree.iterate(["i", "v"], cut, step_size=step, entry_start=11))
            for cut in ("0 < x < 1 or not flag", "((x > 0) & (x < 1)) | ~flag")
        )
        assert [one.tolist() for one in ours] == [one.tolist() for one in expected]


def test_errors_of_the_commands_language_say_what_is_wrong(trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    with pytest.raises(KeyError, match="flag"):
        tree.arrays(["x"], cut="flagg and x > 1")
    with pytest.raises(ValueError, match="write any"):
        tree.arrays(["x"], cut="v > 1 and flag")
    with pytest.raises(KeyError, match="nosuch"):
        tree.arrays(["x"], cut="nosuch(x) > 1")
    assert tree.arrays(["x"], cut="big and flag", aliases={"big": "x > 0.5"}).tolist() == (
        tree.arrays(["x"], cut="(x > 0.5) & flag").tolist()
    )


def test_zip_needs_awkward(trees: tuple[bk.Tree, Any]) -> None:
    tree, _ = trees
    with pytest.raises(ValueError, match="zip"):
        tree.arrays(how="zip", library="np")
    with pytest.raises(ValueError, match="library"):
        tree.arrays("x", "flag", library="nothing")  # type: ignore[call-overload]


#: Functions by the names that ROOT and C++ have for them, of one number or two.
ROOTS_OWN = [
    *(f"TMath::{name}(x)" for name in ("Abs", "Sqrt", "Exp", "Log", "Log10", "Log2", "Sin", "Cos", "Tan", "ASin")),
    *(f"TMath::{name}(x)" for name in ("ACos", "ATan", "SinH", "CosH", "TanH", "ASinH", "Floor", "Ceil", "Nint", "Sq")),
    *(f"TMath::{name}(x)" for name in ("Erf", "Erfc", "LnGamma", "Finite", "IsNaN")),
    *(f"TMath::{name}(x, y)" for name in ("Power", "ATan2", "Hypot", "Min", "Max")),
    *(f"std::{name}(x)" for name in ("abs", "sqrt", "cbrt", "exp", "exp2", "expm1", "log1p", "floor", "ceil", "trunc")),
    *(f"std::{name}(x)" for name in ("round", "rint", "erf", "tgamma", "lgamma", "isnan", "isinf", "isfinite")),
    *(f"std::{name}(x, y)" for name in ("pow", "atan2", "hypot", "fmod", "copysign", "fmin", "fmax")),
    "ROOT::VecOps::DeltaPhi(x, y)",
    "ROOT::VecOps::DeltaR(x, y, y, x)",
]


def test_functions_with_roots_names_are_roots(tmp_path: Path) -> None:
    values = [-7.5, -3.0, -2.5, -1.0, -0.5, 0.0, 0.3, 0.5, 1.0, 1.5, 2.5, 3.0, 6.5]
    pairs = [(x, y) for x in values for y in values]
    calls = "\n".join(
        f"ROOT.gInterpreter.Declare('double f{number}(double x, double y) {{ return {text}; }}')"
        for number, text in enumerate(ROOTS_OWN)
    )
    said = by_root(f"""
import json
ROOT.gInterpreter.Declare("#include <cmath>\\n#include <TMath.h>\\n#include <ROOT/RVec.hxx>")
{calls}
functions = [getattr(ROOT, f"f{{number}}") for number in range({len(ROOTS_OWN)})]
print(json.dumps([[float(one(x, y)) for x, y in {pairs!r}] for one in functions]))
""")
    with bk.recreate(tmp_path / "pairs.root") as file:
        file["t"] = {"x": [x for x, _ in pairs], "y": [y for _, y in pairs]}
    tree = bk.open(tmp_path / "pairs.root:t")
    for text, expected in zip(ROOTS_OWN, json.loads(said), strict=True):
        ours = np.asarray(tree.arrays([text], library="np")[text], dtype="f8")
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-300, err_msg=text)
