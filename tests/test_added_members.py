"""`merge --fill` of inputs with two versions of a class, of which one adds members: in split objects, in collections,
in objects that are not split, and in RNTuples. ROOT's compiled classes write them, and say what they read of the
outputs."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import compiled
from referee.command import Basketry

NAME = "added_members"
ORDERS = ["old new", "new old", "old new old"]


@pytest.fixture(scope="session")
def made() -> Path:
    """The folder with the files of the macro, and with its libraries."""
    return compiled.compiled(NAME, {"": ['make("old.root")'], "NEW": ['make("new.root")']})


def joined(folder: Path, order: str) -> list[Path]:
    """The inputs in an order."""
    return [folder / f"{name}.root" for name in order.split()]


def filled(basketry: Basketry, inputs: list[Path], merged: Path) -> None:
    """Merges with --fill, and checks and verifies the output."""
    basketry("merge", "--fill", *inputs, "-o", merged)
    basketry("check", "--deep", merged)
    basketry("verify", "--fill", *inputs, merged)


def hit(e: int, is_new: bool) -> dict[str, Any]:
    """A hit as an entry has it, or with defaults of members that its version lacks."""
    return {"a": e, "b": 2.0 * e if is_new else 0.0, "l": [e] * (e % 3) if is_new else []}


def track(k: int, is_new: bool) -> dict[str, Any]:
    """A track."""
    if not is_new:
        empty: dict[str, Any] = {"late": 0.0, "list": [], "words": [], "text": "", "name": ""}
        return empty | {"i": k, "x": k / 2, "array": [0, 0, 0]}
    return {
        "i": k,
        "x": k / 2,
        "late": 3.0 * k,
        "list": [k] * (k % 3),
        "words": ["w"] * (k % 2),
        "text": f"t{k}",
        "name": f"s{k}",
        "array": [0, k, 0],
    }


def text_of_track(t: dict[str, Any]) -> str:
    """A track as the macro writes it."""
    lists = "".join(f"{one}," for one in [*t["list"], *t["words"]])
    array = "".join(map(str, t["array"]))
    return f" T{t['i']}:{t['x']:g}:{t['late']:g}[{lists}]{t['text']}/{t['name']}/{array}"


def text_of_hit(h: dict[str, Any]) -> str:
    """A hit as the macro writes it."""
    return f" H{h['a']}:{h['b']:g}[" + "".join(f"{one}," for one in h["l"]) + "]"


def expected_text(order: str) -> list[str]:
    """What ROOT must read: the lines of `dump`."""
    lines = []
    for name in order.split():
        new = name == "new"
        for e in range(6):
            tracks = "".join(text_of_track(track(10 * e + k, new)) for k in range(e % 4))
            hits = text_of_hit(hit(e, new)) * (e % 3)
            two = text_of_hit(hit(e if new else 0, new)) + (hits if new else "")
            one = text_of_hit(hit(e, new))
            of_track = text_of_track(track(e, new))
            event = f" | {e} {e + 100}{of_track}{hits} |{one}{two}"
            holder = f" | {e}{one}{hits}"
            bits = f" {e % 2}{int(e >= 3)}"
            lines.append(f"{tracks} |{of_track} |{hits} |{hits}{event * 2}{holder * 2} |{of_track}{bits}")
    return lines


@pytest.mark.parametrize("order", ORDERS)
def test_root_reads_what_is_filled_in(order: str, made: Path, basketry: Basketry, tmp_path: Path) -> None:
    merged = tmp_path / "merged.root"
    filled(basketry, joined(made, order), merged)

    found = compiled.ask(made, f"{NAME}NEW", f'dump("{merged}")')
    assert found.splitlines() == expected_text(order)
    with uproot.open(merged) as file:
        names = [word.decode() if isinstance(word, bytes) else word for word in file["t"]["track./track.text"].array()]
    assert names == [track(e, name == "new")["text"] for name in order.split() for e in range(6)]


@pytest.mark.parametrize("order", ORDERS[:2])
@pytest.mark.parametrize("branch", ["track0.", "holder0.", "holder1."])
def test_whole_objects_of_other_versions_are_not_joined_unasked(
    branch: str, order: str, made: Path, basketry: Basketry, tmp_path: Path
) -> None:
    # ROOT would read members that the older version lacks as those of the entry before.
    keep = ["--keep", branch, "--keep", f"{branch}/**"]
    inputs = joined(made, order)
    refused = basketry.run("merge", *keep, *inputs, "-o", tmp_path / "merged.root")
    assert refused.code == 2
    member = "late" if branch == "track0." else "b"
    for what in (f"member {member}", "version 3", "version 2 lacks", "--fill", inputs[1].name):
        assert what in refused.err
    basketry("merge", "--fill", *keep, *inputs, "-o", tmp_path / "merged.root")


@pytest.mark.parametrize("order", ORDERS)
def test_members_of_rntuples_are_filled_in(order: str, made: Path, basketry: Basketry, tmp_path: Path) -> None:
    # The objects with a TString are streamed, and their bytes say their version.
    only = [word for branch in ("hits", "whole") for word in ("--keep", branch, "--keep", f"{branch}/**")]
    for name in ("old", "new"):
        out = tmp_path / f"{name}.root"
        basketry("rewrite", made / f"{name}.root", "-o", out, "--container", "rntuple", *only)
    inputs, merged = joined(tmp_path, order), tmp_path / "merged.root"
    filled(basketry, inputs, merged)

    hits = [[hit(e, name == "new")] * (e % 3) for name in order.split() for e in range(6)]
    with uproot.open(merged) as file:
        for read in (bk.open(merged)["t"]["hits"].array(), file["t"]["hits"].array()):
            assert [[{key: one[key] for key in "abl"} for one in e] for e in read.to_list()] == hits
    text = "".join("[" + "".join(f"{h['a']} {h['b']:g} {len(h['l'])}," for h in e) + "]" for e in hits)
    assert read_by_root(merged) == text


def read_by_root(path: Path) -> str:
    """The hits of an RNTuple as ROOT reads them, member by member."""
    code = r"""
import sys, ROOT
ROOT.gInterpreter.Declare('''
std::string hits(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("t", path);
  auto hits = reader->GetCollectionView("hits");
  auto a = hits.GetView<int>("_0.a");
  auto b = hits.GetView<float>("_0.b");
  auto l = hits.GetView<std::vector<int>>("_0.l");
  std::string text;
  for (auto entry : reader->GetEntryRange()) {
    text += "[";
    for (auto k : hits.GetCollectionRange(entry)) text += Form("%d %g %zu,", a(k), b(k), l(k).size());
    text += "]";
  }
  return text;
}
''')
print(ROOT.hits(sys.argv[1]))
"""
    words = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    done = subprocess.run(words, check=True, timeout=120, capture_output=True, text=True)
    return done.stdout.strip()


def interpreted(path: Path, members: str, fill: str) -> None:
    """Writes a tree of a class without a version of its own, of which interpreted ROOT has only this description."""
    code = """
import sys, ROOT
path, members, fill = sys.argv[1:]
ROOT.gInterpreter.Declare("struct S { int a = 0; " + members + "};")
ROOT.gInterpreter.Declare(
    'void fill(const char *path) { TFile f(path, "RECREATE"); TTree t("t", "t"); S s; t.Branch("s.", &s);'
    "for (int e = 0; e < 5; e++) { s.a = e; " + fill + " t.Fill(); } t.Write(); }"
)
ROOT.fill(path)
"""
    words = [sys.executable, "-W", "ignore", "-c", code, str(path), members, fill]
    subprocess.run(words, check=True, timeout=120, capture_output=True)


def test_classes_without_versions(basketry: Basketry, tmp_path: Path) -> None:
    old, new, other = (tmp_path / f"{name}.root" for name in ("old", "new", "other"))
    interpreted(old, "float x = 0;", "s.x = e;")
    interpreted(new, "double late = 0; float x = 0; std::string t;", 's.x = e; s.late = 2 * e; s.t = Form("t%d", e);')
    interpreted(other, "float y = 0;", "s.y = e;")
    none, late = [0.0] * 5, [0.0, 2.0, 4.0, 6.0, 8.0]
    for names, values in {(old, new): none + late, (new, old): late + none}.items():
        out = tmp_path / "out.root"
        basketry("merge", "--fill", "-f", *names, "-o", out)
        with uproot.open(out) as file:
            tree = file["t"]
            assert tree["s./s.late"].array().to_list() == values
            assert tree["s./s.x"].array().to_list() == [0, 1, 2, 3, 4] * 2
        assert bk.open(out)["t"]["s./s.late"].array().to_list() == values
    refused = basketry.run("merge", "--fill", old, other, "-o", tmp_path / "none.root")
    assert refused.code == 2
    for what in ("class S", "member x", "member y", "old.root", "other.root", "no version has the members of both"):
        assert what in refused.err
    assert not (tmp_path / "none.root").exists()
    # Without --fill the way is named, but only where there is one.
    assert "--fill" in basketry.run("merge", old, new, "-o", tmp_path / "none.root").err
    pair = [f"{old}:t", f"{new}:t"]
    with pytest.raises(ValueError, match=r's\.late is in .*join="common".*join="fill"') as caught:
        bk.open(pair)
    assert "widen" not in str(caught.value)
    assert bk.open(pair, join="fill")["s./s.late"].array().to_list() == none + late
    assert bk.open(pair, join="common")["s./s.x"].array().to_list() == [0, 1, 2, 3, 4] * 2


WHOLE = """
import sys, ROOT
path, members = sys.argv[1:]
ROOT.gInterpreter.Declare("struct In { int i = 0; " + members + "}; struct Out { int a = 0; In in; };")
ROOT.gInterpreter.Declare(
    'void fill(const char *path) { TFile f(path, "RECREATE"); TTree t("t", "t"); In in; Out out;'
    ' t.Branch("in", &in, 32000, 0); t.Branch("out", &out, 32000, 0);'
    "for (int e = 0; e < 5; e++) { in.i = out.a = out.in.i = e; t.Fill(); } t.Write(); }"
)
ROOT.fill(path)
"""


def test_objects_of_classes_without_versions_keep_their_descriptions(basketry: Basketry, tmp_path: Path) -> None:
    """Two descriptions of one version cannot both be that of the bytes: such objects are refused, and not copied."""
    old, new = tmp_path / "old.root", tmp_path / "new.root"
    for path, members in {old: "int k = 0;", new: "double late = 0; int k = 0;"}.items():
        words = [sys.executable, "-W", "ignore", "-c", WHOLE, str(path), members]
        subprocess.run(words, check=True, timeout=120, capture_output=True)
    for branch in ("in", "out"):
        for inputs in ((old, new), (new, old)):
            for options in ([], ["--fill"]):
                refused = basketry.run("merge", *options, "--keep", branch, *inputs, "-o", tmp_path / "out.root")
                assert refused.code == 2, str(refused)
                assert f"branch {branch}" in refused.err
    assert not (tmp_path / "out.root").exists()


def maybe(values: list[Any]) -> list[Any]:
    """The members of that name, in records or in lists of them."""
    return [value["maybe"] if isinstance(value, dict) else maybe(value) for value in values]


@pytest.mark.parametrize("order", ORDERS)
def test_members_without_a_value(order: str, basketry: Basketry, tmp_path: Path) -> None:
    """Members that may be null are null in what is filled in, and variants hold nothing: reading does as the merge."""
    contents: dict[str, list[dict[str, Any]]] = {
        "old": [{"p": 1}, {"p": 2}],
        "new": [{"p": 3, "maybe": 7, "either": "x"}, {"p": 4, "maybe": None, "either": 1.5}],
    }
    for name, records in contents.items():
        with bk.recreate(tmp_path / f"{name}.root") as file:
            file.mkrntuple("t", {"one": ak.Array(records), "many": ak.Array([records, []])})
    inputs, merged = joined(tmp_path, order), tmp_path / "merged.root"
    filled(basketry, inputs, merged)

    whole = {
        name: [{"maybe": None, "either": None} | record for record in records] for name, records in contents.items()
    }
    wanted: dict[str, list[Any]] = {
        "one": [record for name in order.split() for record in whole[name]],
        "many": [entry for name in order.split() for entry in (whole[name], [])],
    }
    how: dict[str, Any] = {"join": "fill"}
    for name, values in wanted.items():
        assert bk.open(merged)["t"][name].array().to_list() == values
        assert bk.concatenate([f"{path}:t" for path in inputs], [name], **how)[name].to_list() == values
        assert uproot.open(merged)["t"][name].array()["maybe"].to_list() == maybe(values)


def test_any_number_of_records_lack_a_member(basketry: Basketry, tmp_path: Path) -> None:
    many = (1 << 20) + 1
    old, new, merged = (tmp_path / f"{name}.root" for name in ("old", "new", "merged"))
    with bk.recreate(old) as file:
        records = ak.zip({"p": ak.unflatten(np.ones(many, "i8"), [many])})
        file.mkrntuple("t", {"many": records})
    with bk.recreate(new) as file:
        file.mkrntuple("t", {"many": ak.Array([[{"p": 2, "r": 3.5}]])})
    found = bk.concatenate([f"{path}:t" for path in (new, old)], join="fill")["many"]
    assert ak.num(found).to_list() == [1, many]
    assert ak.sum(found["r"], axis=1).to_list() == [3.5, 0.0]
    basketry("merge", "--fill", new, old, "-o", merged)
    basketry("verify", "--fill", new, old, merged)
