"""Cuts: the entries that RDataFrame's Filter and uproot's cut keep, cut flows, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import uproot

import basketry as bk
from referee import make_files, oracle, root_filter
from referee.command import Basketry

#: A cut, and the same in C++ for RDataFrame, where it is written differently.
CUTS = {
    "good": "",
    "!late && stream == 1": "",
    "not late and stream != 1": "!late && stream != 1",
    "d > 0.5": "",
    "-1 <= d < 1": "-1 <= d && d < 1",
    "sqrt(d) > 1": "",
    "abs(d) < 0.1 || TMath::Abs(d) > 2": "",
    "d * d + 1 > 1.5 ? good : late": "",
    "run in [1, 2] && event % 21 == 0": "(run == 1 || run == 2) && event % 21 == 0",
    "event // 7 % 5 == 3": "(event / 7) % 5 == 3",
    "(run << 2 | stream) & 5": "bool(((run << 2) | stream) & 5)",
    "n": "n != 0",
    "name == '17' or name.endswith('99')": 'name == "17" || (name.size() > 1 && name.substr(name.size() - 2) == "99")',
    "'12' in name": 'name.find("12") != std::string::npos',
    "any(x > 100 && x < 900)": "Any(x > 100 && x < 900)",
    "all(x > 1500)": "All(x > 1500)",
    "sum(x) > 5000": "Sum(x) > 5000",
    "n > 2 && x[2] > 1000": "",
    "x[-1] > 2000": "n > 0 && x[n - 1] > 2000",
    "len(pt) == 3": "pt.size() == 3",
    "max(pt) > 2000": "pt.size() > 0 && Max(pt) > 2000",
    "count(x[x > 50]) >= 3": "x[x > 50].size() >= 3",
    "argmax(x) == n - 1": "n > 0 && ArgMax(x) == (unsigned long)(n - 1)",
    "Sum$(x > 2000) >= 2 && Length$(pt) < 3": "Sum(x > 2000) >= 2 && pt.size() < 3",
    "Entry$ >= 500 and entry < 2900 and event >= 0": "rdfentry_ >= 500 && rdfentry_ < 2900",
    "good && d > 100": "",
}
#: Cuts that uproot takes as they are.
OF_UPROOT = (
    "d > 0.5",
    "(d > 0.5) & good",
    "n % 3 == 1",
    "sqrt(d) < 0.5",
    "~late & (stream == 2) | (run > 1)",
    "event - 21",
    "d**2 > 2",
)


@pytest.fixture(scope="module")
def source() -> Path:
    return make_files.made("selected") / "all.root"


@pytest.fixture(scope="module")
def ntuple(source: Path, basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as RNTuples."""
    path = tmp_path_factory.mktemp("cut") / "ntuple.root"
    basketry("rewrite", source, "-o", path, "--container", "rntuple", "--drop", "objects")
    return path


@pytest.fixture(scope="module")
def truth(source: Path) -> dict[str, list[int]]:
    """The entries that ROOT keeps."""
    kept = root_filter.asked(source, "events", tuple(other or cut for cut, other in CUTS.items()))
    return {cut: kept[other or cut] for cut, other in CUTS.items()}


def kept(path: Path) -> list[int]:
    """The entries that a skim has, by their event numbers."""
    with uproot.open(path) as file:
        event = file["events"].arrays(["event"], library="np")["event"]
    return [int(entry) for entry in 2999 - event // 7]


@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_keeps_what_root_keeps(
    cut: str, source: Path, ntuple: Path, truth: dict[str, list[int]], basketry: Basketry, tmp_path: Path
) -> None:
    for path in (source, ntuple):
        out = tmp_path / path.name
        report = json.loads(basketry("rewrite", path, "-o", out, "--cut", cut, "--json"))
        assert kept(out) == truth[cut]
        (flow,) = [flow for flow in report["cut_flows"] if flow["path"] == "events"]
        assert [(step["cut"], step["before"], step["after"]) for step in flow["cuts"]] == [(cut, 3000, len(truth[cut]))]
        basketry("verify", path, out, "--cut", cut)


@pytest.mark.parametrize("cut", OF_UPROOT)
def test_a_cut_keeps_what_uproot_keeps(cut: str, source: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("rewrite", source, "-o", out, "--where", cut)
    with uproot.open(source) as file, np.errstate(invalid="ignore"):
        event = file["events"].arrays(["event"], cut=cut, library="np")["event"]
    assert kept(out) == [int(entry) for entry in 2999 - event // 7]


def test_trees_without_the_columns_come_whole(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    report = json.loads(basketry("rewrite", source, "-o", out, "--cut", "good && d > 100", "--json"))
    with uproot.open(out) as file:
        assert {name: file[name].num_entries for name in ("events", "more", "few")} == {
            "events": 0,
            "more": 3000,
            "few": 10,
        }
    assert "tree more has no column good" in " ".join(report["notes"])
    # A column is that of one tree where it stands behind its path.
    basketry("rewrite", source, "-o", out, "--force", "--cut", "`more/k` < 7")
    with uproot.open(out) as file:
        assert {name: file[name].num_entries for name in ("events", "more", "few")} == {
            "events": 3000,
            "more": 7,
            "few": 10,
        }


@pytest.mark.parametrize("cut", ["entry % 10 == 3", "false", "1 < 2"])
def test_a_cut_without_columns_is_about_one_tree(cut: str, source: Path, basketry: Basketry, tmp_path: Path) -> None:
    said = basketry.refuses("rewrite", source, "-o", tmp_path / "out.root", "--cut", cut)
    assert f"--cut {cut} names no column, so it would be about all of" in said
    assert "--entries" in said
    assert not (tmp_path / "out.root").exists()
    # Beside another cut it is about the trees of that one.
    basketry("rewrite", source, "-o", tmp_path / "two.root", "--cut", "late || !late", "--cut", cut)
    with uproot.open(tmp_path / "two.root") as file:
        expected = {"entry % 10 == 3": 300, "false": 0, "1 < 2": 3000}[cut]
        assert [file[name].num_entries for name in ("events", "more", "few")] == [expected, 3000, 10]
    # A table that is named is alone.
    shown = basketry("show", f"{source}:few", "k", "--cut", cut, "--jsonl").splitlines()
    assert len(shown) == {"entry % 10 == 3": 1, "false": 0, "1 < 2": 10}[cut]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_a_cut_without_columns_counts_the_trees_that_keep_some(
    container: str, basketry: Basketry, tmp_path: Path
) -> None:
    """A tree without a column in the output has nothing that the cut could be about."""
    source, out = tmp_path / "in.root", tmp_path / "out.root"
    columns: dict[str, dict[str, np.ndarray]] = {
        "few": {"x": np.arange(100), "y": np.arange(100.0)},
        "many": {"z": np.arange(50)},
        "d/more": {"x": np.arange(30)},
    }
    with bk.recreate(source) as file:
        for name, values in columns.items():
            made = file.mkrntuple if container == "rntuple" else file.mktree
            made(name, {column: array.dtype for column, array in values.items()}).extend(values)
    cut = ("--cut", "entry % 7 == 2")
    for kept in (("--keep", "y"), ("--drop", "many/*", "--drop", "d/more/*"), ("--drop", "z", "--drop", "/^x$/")):
        done = basketry.json("rewrite", source, "-o", out, "--force", *cut, *kept)
        assert [(flow["path"], flow["cuts"][0]["after"]) for flow in done["cut_flows"]] == [("few", 14)]
        with uproot.open(out) as file:
            assert file["few"]["y"].array().tolist() == [*range(2, 100, 7)]
            assert {name: file[name].num_entries for name in ("many", "d/more")} == {"many": 50, "d/more": 30}
        basketry("verify", source, out, *cut, *kept)
        basketry(
            "plan",
            "rewrite",
            source,
            "-o",
            tmp_path / "plan.json",
            "--force",
            "--name",
            tmp_path / "{n}.root",
            "--",
            *cut,
            *kept,
        )
    for verb in ("merge", "pick"):
        basketry(verb, source, "-o", out, "--force", *cut, "--keep", "y")
        with uproot.open(out) as file:
            assert file["few"]["y"].array().tolist() == [*range(2, 100, 7)]
    if container == "ttree":
        # It may be that nothing is better than what is there.
        assert basketry.run("tune", source, "-o", out, "--force", *cut, "--keep", "y").code in (0, 1)
    # What a tree keeps counts, and what is defined in it; a pattern of one tree says nothing of the others.
    for kept, trees in (
        (("--drop", "many/*"), "d/more, few"),
        (("--keep", "few/*"), "d/more, few, many"),
        (("--keep", "y", "--define", "w=z + 1"), "few, many"),
    ):
        said = basketry.refuses("rewrite", source, "-o", out, "--force", *cut, *kept)
        assert f"would be about all of {trees}: " in said
        assert "FILE:few" in said or "FILE:d/more" in said
        planned = basketry.refuses(
            "plan", "rewrite", source, "-o", tmp_path / "no.json", "--name", tmp_path / "{n}.root", "--", *cut, *kept
        )
        assert planned == said
    nothing = (*cut, "--drop", "*", "--allow-no-match")
    assert "no tree keeps a column" in basketry.refuses("rewrite", source, "-o", out, "--force", *nothing)
    # A tree that is named comes alone.
    basketry("rewrite", f"{source}:many", "-o", out, "--force", *cut)
    with uproot.open(out) as file:
        assert file["many"]["z"].array().tolist() == [*range(2, 50, 7)]


def test_a_damaged_tree_that_is_left_out_has_no_cut_flow(basketry: Basketry, tmp_path: Path) -> None:
    """Nor does it count among the trees that a cut without columns would be about."""
    source, out = tmp_path / "in.root", tmp_path / "out.root"
    with bk.recreate(source, compression="none") as file:
        for name in ("good", "bad"):
            file.mktree(name, {f"x_{name}": "i8"}).extend({f"x_{name}": np.arange(20)})
    with uproot.open(source) as file:
        key = file.key("bad")
        record = key.fSeekKey + key.fKeylen
    data = bytearray(source.read_bytes())
    data[record : record + 4] = b"\x40\0\0\5"
    source.write_bytes(data)
    done = basketry.run("rewrite", source, "-o", out, "-k", "--cut", "entry < 5", "--json")
    assert done.code == 1, str(done)
    report = json.loads(done.out)
    assert [damaged["object"] for damaged in report["damaged"]] == ["bad"]
    assert [flow["path"] for flow in report["cut_flows"]] == ["good"]
    with uproot.open(out) as file:
        assert (sorted(file.keys(cycle=False)), file["good"].num_entries) == (["good", "good_cutflow"], 5)


def test_a_tree_without_entries_is_told(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    for number, (entries, told) in enumerate([("100:200", ["few"]), ("events=100:200", []), ("5:200", [])]):
        out = tmp_path / f"{number}.root"
        report = json.loads(basketry("rewrite", source, "-o", out, "--entries", entries, "--json"))
        notes = [note for note in report["notes"] if "none of its entries left" in note]
        assert [note.split()[1] for note in notes] == told


def test_named_entries_are_cut(source: Path, truth: dict[str, list[int]], basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    named = [*range(3), *range(700, 1500), 2999]
    chosen = ("--entries", "events=:3,700:1500,-1:", "--cut", "d > 0.5", "--cut", "entry < 1000")
    report = json.loads(basketry("rewrite", source, "-o", out, *chosen, "--json"))
    expected = [entry for entry in truth["d > 0.5"] if entry in named]
    assert kept(out) == [entry for entry in expected if entry < 1000]
    (flow,) = [flow["cuts"] for flow in report["cut_flows"] if flow["path"] == "events"]
    assert [(step["before"], step["after"]) for step in flow] == [(804, len(expected)), (len(expected), len(kept(out)))]


def test_several_inputs_and_threads_give_the_same_bytes(
    source: Path, truth: dict[str, list[int]], basketry: Basketry, tmp_path: Path
) -> None:
    second = tmp_path / "second.root"
    shutil.copy(source, second)
    cut = "any(x > 100 && x < 900)"
    made = []
    for threads in ("1", "4"):
        # The name of a file is in its bytes.
        out = tmp_path / threads / "out.root"
        out.parent.mkdir()
        basketry("merge", source, second, "-o", out, "--cut", cut, "--threads", threads)
        made.append(out.read_bytes())
    assert made[0] == made[1]
    assert kept(tmp_path / "1" / "out.root") == truth[cut] * 2


def test_a_cut_flow_is_kept_and_adds_up(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    cuts = ("--cut", "good", "--cut", "d > 0", "--weight", "d * 2")
    outs = [tmp_path / "a.root", tmp_path / "b.root"]
    reports = [json.loads(basketry("rewrite", source, "-o", out, *cuts, "--json")) for out in outs]
    flow = reports[0]["cut_flows"][0]["cuts"]
    with uproot.open(source) as file:
        arrays = file["events"].arrays(["good", "d"], library="np")
    passed = [np.ones(3000, bool), arrays["good"], arrays["good"] & (arrays["d"] > 0)]
    entries = [int(one.sum()) for one in passed]
    weights = [float((2 * arrays["d"][one]).sum()) for one in passed]
    errors = [float(np.sqrt((4 * arrays["d"][one] ** 2).sum())) for one in passed]
    assert [(step["before"], step["after"]) for step in flow] == [(entries[0], entries[1]), (entries[1], entries[2])]
    assert [step["weight_after"] for step in flow] == pytest.approx(weights[1:])
    names = ("events_cutflow", "events_cutflow_weighted")
    labels = ["all", "good", "d > 0"]
    found = root_filter.asked(outs[0], histograms=names)
    assert found["said"] == []
    assert found[names[0]] == [[label, count] for label, count in zip(labels, entries, strict=True)]
    assert [value for _, value in found[names[1]]] == pytest.approx(weights)
    assert found[f"{names[1]} errors"] == pytest.approx(errors)
    basketry("merge", *outs, "-o", tmp_path / "sum.root")
    basketry("hadd", tmp_path / "added.root", *outs)
    for name in ("sum.root", "added.root"):
        summed = root_filter.asked(tmp_path / name, histograms=names)
        assert summed[names[0]] == [[label, 2 * count] for label, count in zip(labels, entries, strict=True)]
        assert [value for _, value in summed[names[1]]] == pytest.approx([2 * weight for weight in weights])
    # That of an earlier skim stays.
    again = tmp_path / "again.root"
    basketry("rewrite", outs[0], "-o", again, "--cut", "n > 1")
    assert set(names) | {"events_cutflow2"} <= {name.split(";")[0] for name in uproot.open(again)}
    text = basketry("rewrite", source, "-o", again, "--force", *cuts)
    assert "cut flow of events:" in text
    assert "weight after" in text


@pytest.mark.parametrize("of", ["source", "ntuple"])
def test_other_verbs_take_the_same_entries(
    of: str, truth: dict[str, list[int]], basketry: Basketry, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path, cut = f"{request.getfixturevalue(of)}:events", "any(x > 100 && x < 900)"
    expected = [7 * (2999 - entry) for entry in truth[cut]]
    step = {
        "cut": cut,
        "before": 3000,
        "after": len(expected),
        "weight_before": None,
        "weight_after": None,
        "clusters_skipped": 0,
    }
    # To Parquet, whatever is kept.
    out = tmp_path / "out.parquet"
    done = json.loads(basketry("convert", path, "-o", out, "--cut", cut, "--keep", "event", "--json"))
    assert (done["entries"], done["cuts"]) == (len(expected), [step])
    assert pq.read_table(out)["event"].to_pylist() == expected
    assert "cut flow of events:" in basketry("convert", path, "-o", out, "--where", cut, "--keep", "event", "--force")
    lines = basketry("show", path, "event", "--cut", cut, "--jsonl", "-n", "5000").splitlines()
    assert [json.loads(line)["event"] for line in lines] == expected
    lines = basketry("show", path, "event", "--cut", cut, "--jsonl", "-n", "3", "--entries", "1000:2000").splitlines()
    assert [json.loads(line)["event"] for line in lines] == [7 * (2999 - e) for e in truth[cut] if 1000 <= e < 2000][:3]
    assert "were tested pass" in basketry("show", path, "event", "--cut", cut)
    found = json.loads(basketry("stats", path, "event", "d", "--cut", cut, "--json"))
    assert (found["entries"], found["cuts"]) == (len(expected), [step])
    assert [column["values"] for column in found["columns"]] == [len(expected)] * 2
    assert found["columns"][0]["max"] == max(expected)
    read = json.loads(basketry("readspeed", path, "--branches", "event", "x", "--cut", cut, "--json"))
    assert (read["entries"], read["all_entries"], read["cuts"]) == (len(expected), 3000, [step])
    # The columns of the cut are read as well, each once.
    read = json.loads(basketry("readspeed", path, "--branches", "event", "--cut", cut, "--json", "--repeat", "2"))
    assert {column["name"].split(".")[-1] for column in read["columns"]} >= {"event", "x"}
    assert any("entries, the test of these" in note for note in read["notes"])


def test_parquet_files_are_cut(source: Path, truth: dict[str, list[int]], basketry: Basketry, tmp_path: Path) -> None:
    parquet, root = tmp_path / "a.parquet", tmp_path / "a.root"
    basketry("convert", f"{source}:events", "-o", parquet, "--drop", "objects")
    cut = "max(pt) > 2000"
    done = json.loads(basketry("convert", parquet, "-o", root, "--cut", cut, "--keep", "event", "--json"))
    assert kept(root) == truth[cut]
    assert (done["entries"], done["cuts"][0]["after"]) == (len(truth[cut]), len(truth[cut]))
    flow = root_filter.asked(root, histograms=("events_cutflow",))["events_cutflow"]
    assert flow == [["all", 3000], [cut, len(truth[cut])]]
    named = ("--entries", "10%", "--seed", "3", "--force", "--json")
    some = json.loads(basketry("convert", parquet, "-o", root, "--cut", cut, *named))
    assert 0 < some["entries"] < some["cuts"][0]["before"] < 3000


def test_plans_take_cuts(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    plan, name = tmp_path / "plan.json", tmp_path / "{stem}_good.root"
    basketry(
        "plan", "rewrite", source, "-o", plan, "--name", name, "--", "--cut", "good && d > 0", "--define", "two=d * 2"
    )
    basketry("run", plan, "--task", "0")
    with uproot.open(tmp_path / "all_good.root") as file:
        arrays = file["events"].arrays(["d", "two"], library="np")
    assert arrays["two"].tolist() == (2 * arrays["d"]).tolist()
    assert (arrays["d"] > 0).all()


def test_one_table_must_have_the_columns_of_a_cut(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    for verb in (("show",), ("stats",), ("readspeed",), ("convert", "-o", tmp_path / "out.parquet")):
        said = basketry.refuses(verb[0], f"{source}:events", *verb[1:], "--cut", "goof")
        assert "did you mean good?" in said
        assert "write any(...)" in basketry.refuses(verb[0], f"{source}:events", *verb[1:], "--cut", "x > 1")


def test_names_below_others_are_near(basketry: Basketry, tmp_path: Path) -> None:
    """Members of objects and columns of friends have no other name than their path."""
    ROOT = pytest.importorskip("ROOT")
    friend, file = tmp_path / "friend.root", tmp_path / "file.root"
    for path, tree, column in ((friend, "ft", "fy"), (file, "t", "y")):
        made = ROOT.TFile(str(path), "recreate")
        written = ROOT.TTree(tree, "")
        number, pair = np.zeros(1, "i4"), np.zeros(2, "i4")
        written.Branch(column, number, f"{column}/I")
        if tree == "t":
            written.Branch("lf", pair, "aa/I:bb/I")
            look = ROOT.TAttText()
            written.Branch("look", look)
            written.AddFriend("f=ft", str(friend))
        written.Fill()
        made.WriteTObject(written)
        made.Close()
    for name, meant in (("fy", "f.fy"), ("aa", "lf.aa")):
        assert f"did you mean {meant}" in basketry.refuses("show", f"{file}:t", "--cut", f"{name} > 45")
    assert "did you mean" not in basketry.refuses("show", f"{file}:t", "--cut", "q > 45")
    # look.fTextAngle, look/fTextAngle and fTextAngle are one column.
    assert "did you mean fTextAngle?" in basketry.refuses("show", f"{file}:t", "--cut", "fTextAnglee > 45")
    assert "has no member ab; did you mean aa or bb?" in basketry.refuses("show", f"{file}:t", "--cut", "lf.ab > 45")


def test_functions_are_named_once(basketry: Basketry, tmp_path: Path) -> None:
    """Many have a name in Python's spelling and one in ROOT's, often of the same letters."""
    with bk.recreate(tmp_path / "f.root") as made:
        made["t"] = {"x": np.arange(3.0), "Pt": np.arange(3), "pt": np.arange(3)}
    for name, meant in (
        ("anny", "any"),
        ("summ", "sum"),
        ("deltapi", "deltaphi or deltar"),
        ("DeltaPi", "DeltaPhi or DeltaR"),
    ):
        said = basketry.refuses("show", tmp_path / "f.root", "--cut", f"{name}(x) > 1")
        assert f"no function {name}; did you mean {meant}?" in said
    # Columns are others where only the case differs.
    assert "did you mean pt or Pt?" in basketry.refuses("show", tmp_path / "f.root", "--cut", "ptt > 1")


def test_a_cut_of_common_columns_needs_its_own(basketry: Basketry, tmp_path: Path) -> None:
    files = [tmp_path / "a.root", tmp_path / "b.root"]
    for path, columns in zip(files, ({"x": np.arange(3), "p": np.arange(3)}, {"x": np.arange(3)}), strict=True):
        with bk.recreate(path) as made:
            made["t"] = columns
    said = basketry.refuses("merge", *files, "-o", tmp_path / "o.root", "--common", "--cut", "p > 1")
    assert "--common keeps" not in said
    assert "p" in said
    basketry("merge", *files, "-o", tmp_path / "o.root", "--common", "--cut", "x > 1")


def test_a_dry_run_tells_the_cut_flow(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    text = basketry("rewrite", source, "-o", tmp_path / "out.root", "--cut", "good", "--dry-run")
    assert "cut flow of events:" in text


def test_aliases_of_a_tree_are_names(basketry: Basketry, tmp_path: Path) -> None:
    path = next(iter(sorted(make_files.made("aliases").glob("*.root"))))
    out = tmp_path / "out.root"
    for cut, own in (("far", "sqrt(x*x + y*y) > 1"), ("not_python", "x > 0 && y > 0")):
        expected = root_filter.asked(path, "t", (own,))[own]
        basketry("rewrite", path, "-o", out, "--force", "--cut", cut)
        with uproot.open(out) as file:
            assert file["t"].num_entries == len(expected)


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        ("gooood", "no column gooood"),
        ("goof", "did you mean good?"),
        ("x > 1", "write any(...) or all(...)"),
        ("name", "compare it, as in x == 'a'"),
        ("any(x > pt)", "lists of different lengths"),
        ("d >", "the expression ends where a value is expected"),
        ("d > 1 & good", "write parentheses"),
        ("event * 9000000000000000000 > 0", "does not fit into 64 bits"),
        ("objects", "expressions do not take"),
    ],
)
def test_a_refusal_names_the_place(cut: str, says: str, source: Path, basketry: Basketry, tmp_path: Path) -> None:
    arguments = ("rewrite", source, "-o", tmp_path / "out.root", "--cut", cut)
    assert says in basketry.refuses(*arguments)
    *_, drawn, marks = basketry.run(*arguments).err.splitlines()
    assert drawn == f"  {cut}"
    assert set(marks) == {" ", "^"}
    assert not (tmp_path / "out.root").exists()


def test_cuts_on_nanoaod(basketry: Basketry, tmp_path: Path) -> None:
    path = oracle.corpus_file("skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root")
    if not path.is_file():
        pytest.skip("the corpus is absent")
    cuts = {
        "any(Muon_pt > 20 && abs(Muon_eta) < 2.4)": "Any(Muon_pt > 20 && abs(Muon_eta) < 2.4)",
        "sum(Jet_pt > 30) >= 4": "Sum(Jet_pt > 30) >= 4",
        "MET_pt > 30 and nJet >= 2": "MET_pt > 30 && nJet >= 2",
    }
    truth = root_filter.asked(path, "Events", tuple(cuts.values()))
    with uproot.open(path) as file:
        event = file["Events/event"].array(library="np")
    for number, (cut, own) in enumerate(cuts.items()):
        out = tmp_path / f"{number}.root"
        basketry("rewrite", path, "-o", out, "--cut", cut)
        with uproot.open(out) as file:
            assert file["Events/event"].array(library="np").tolist() == event[truth[own]].tolist()
