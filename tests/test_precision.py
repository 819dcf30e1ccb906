"""precision: errors are those that ROOT reads back, in trees and RNTuples; nothing is lost silently; sentinels stay."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import basketry as bk
from referee import schema_document
from referee.command import Basketry
from referee.paths import REPO

ENTRIES = 3000
#: Made by ROOT: numbers of all shapes, with values that stand for none.
MAKE = """
import sys
import numpy as np, ROOT
ROOT.gROOT.SetBatch()
ROOT.gInterpreter.Declare('''
void fill(const char *path, int entries) {
   TFile file(path, "RECREATE", "", 505);
   TTree tree("t", "numbers");
   TRandom3 random(7);
   float f, s, x, p, h; double d, e, fix[3]; int n; float a[8];
   std::vector<float> v; std::vector<std::vector<double>> w;
   tree.Branch("f", &f, "f/F"); tree.Branch("d", &d, "d/D"); tree.Branch("s", &s, "s/F"); tree.Branch("x", &x, "x/F");
   tree.Branch("p", &p, "p/F"); tree.Branch("e", &e, "e/D"); tree.Branch("n", &n, "n/I"); tree.Branch("a", a, "a[n]/F");
   tree.Branch("fix", fix, "fix[3]/D"); tree.Branch("v", &v); tree.Branch("w", &w);
   tree.Branch("h", &h, "h/f[0,10,12]");
   for (int i = 0; i < entries; ++i) {
      f = random.Exp(30); d = random.Gaus(5, 2); s = i % 7 ? random.Uniform(0, 100) : -999;
      p = random.Uniform(-3.14159, 3.14159);
      x = i % 11 ? random.Gaus() : (i % 2 ? NAN : INFINITY); e = random.Uniform(1, 2); h = random.Uniform(0, 10);
      n = random.Integer(8); v.clear(); w.clear();
      for (int k = 0; k < n; ++k) {
         a[k] = random.Gaus(0, 50); v.push_back(random.Exp(3)); w.push_back({random.Rndm(), 3.});
      }
      for (auto &one : fix) one = random.Uniform(0, 1);
      tree.Fill();
   }
   tree.Write();
}''')
ROOT.fill(sys.argv[1], int(sys.argv[2]))
"""
#: Reads with ROOT: the flat numbers of columns of files, each into a file of NumPy.
READ = """
import json, sys
import numpy as np, ROOT
ROOT.gInterpreter.Declare('''
template <class T> void flatten(ROOT::RVecD &out, const T &value) {
   if constexpr (std::is_arithmetic_v<T>) out.push_back(value);
   else for (const auto &one : value) flatten(out, one);
}
template <class T> ROOT::RVecD flat(const T &value) { ROOT::RVecD out; flatten(out, value); return out; }
''')
for path, names, out in json.loads(sys.argv[1]):
    frame = ROOT.RDataFrame("t", path)
    for name in names:
        frame = frame.Define("flat_" + name, f"flat({name})")
    found = frame.AsNumpy(["flat_" + name for name in names])
    np.savez(out, **{name: np.concatenate([np.asarray(one) for one in found["flat_" + name]]) for name in names})
"""
COLUMNS = ["f", "d", "s", "x", "p", "e", "a", "fix", "v", "w"]


def by_root(script: str, *arguments: object) -> str:
    """What a script prints that runs in a process with ROOT."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_all(asked: list[tuple[Path, list[str]]]) -> list[dict[str, np.ndarray]]:
    """The numbers of columns of files, as ROOT reads them."""
    with tempfile.TemporaryDirectory() as folder:
        outs = [f"{folder}/{number}.npz" for number in range(len(asked))]
        by_root(READ, json.dumps([(str(path), names, out) for (path, names), out in zip(asked, outs, strict=True)]))
        read = []
        for out in outs:
            with np.load(out) as found:
                read.append({name: found[name] for name in found.files})
        return read


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tree by ROOT, and an RNTuple of the same numbers."""
    folder = tmp_path_factory.mktemp("precision")
    tree, ntuple = folder / "tree.root", folder / "ntuple.root"
    by_root(MAKE, tree, ENTRIES)
    bk.rewrite(tree, ntuple, container="rntuple", drop=["h"])
    return {"ttree": tree, "rntuple": ntuple}


@pytest.fixture(scope="module")
def numbers(files: dict[str, Path]) -> dict[str, np.ndarray]:
    """What ROOT reads before."""
    return read_all([(files["ttree"], COLUMNS)])[0]


def largest(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The largest absolute and relative error; what is no number, or infinite, must stay so."""
    same = ~np.isfinite(before)
    assert np.array_equal(before[same], after[same], equal_nan=True)
    error = np.abs(after[~same] - before[~same])
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(error > 0, error / np.abs(before[~same]), 0)
    return float(error.max()), float(relative.max())


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_errors_that_are_stated_are_those_that_root_reads(
    basketry: Basketry, files: dict[str, Path], numbers: dict[str, np.ndarray], tmp_path: Path, container: str
) -> None:
    layout, out = tmp_path / "layout.toml", tmp_path / "out.root"
    limits = ["--max-error", "1e-3", "--max-abs", "p=0.001", "--max-abs", "fix=1e-4", "--max-error", "d=1e-5"]
    report = basketry.json("precision", files[container], *limits, "-o", layout)
    assert schema_document.differences(REPO / "docs/precision-schema.md", [report]) == []
    [table] = report["tables"]
    columns = {column["name"]: column for column in table["columns"]}
    basketry("rewrite", files[container], "-o", out, "--layout", layout)
    [after] = read_all([(out, COLUMNS)])
    for name in COLUMNS:
        column = columns[name]
        assert column["values"] == len(numbers[name])
        assert column["proposed"], column
        choice = next(one for one in column["choices"] if one["encoding"] == column["proposed"])
        absolute, relative = largest(numbers[name], after[name])
        assert absolute == pytest.approx(choice["largest_absolute"], rel=1e-6, abs=0), name
        if choice["largest_relative"] is not None:
            assert relative == pytest.approx(choice["largest_relative"], rel=1e-6, abs=0), name
        limit = {"p": (0.001, None), "fix": (1e-4, None), "d": (None, 1e-5)}.get(name, (None, 1e-3))
        assert limit[0] is None or absolute <= limit[0]
        assert limit[1] is None or relative <= limit[1]
        kept = [one["value"] for one in column["kept"]]
        ordinary = np.isfinite(numbers[name]) & ~np.isin(numbers[name], kept)
        before, now = numbers[name][ordinary], after[name][ordinary]
        assert column["mean"] == pytest.approx(before.mean(), rel=1e-9, abs=1e-9)
        assert column["width"] == pytest.approx(before.std(), rel=1e-9)
        shift, change = (now.mean() - before.mean()) / before.std(), now.std() / before.std() - 1
        assert choice["mean_shift"] == pytest.approx(shift, rel=1e-3, abs=1e-12)
        assert choice["width_change"] == pytest.approx(change, rel=1e-3, abs=1e-12)
    sentinel = columns["s"]
    assert sentinel["kept"] == [{"value": -999.0, "count": int((numbers["s"] == -999).sum())}]
    assert (after["s"] == -999).sum() == (numbers["s"] == -999).sum() > 0
    assert columns["x"]["nans"] == np.isnan(numbers["x"]).sum() > 0
    assert columns["x"]["infinite"] == np.isinf(numbers["x"]).sum() > 0
    assert not [one for one in columns["x"]["choices"] if one["encoding"].startswith("quantized")]
    # The commands that the report prints prove it; a tenth of the limit is too little.
    verify: list[str | Path] = ["verify", files[container], out]
    for given in report["commands"][1].split(" --tolerance ")[1:]:
        verify += ["--tolerance", given.strip("'")]
    verdict = basketry.json(*verify)
    assert verdict["equal"], verdict["differences"]
    errors = {one["column"]: one for table in verdict["trees"] for one in table["errors"]}
    assert set(errors) >= {"f", "d", "p", "v"}
    assert errors["f"]["largest"] == pytest.approx(largest(numbers["f"], after["f"])[0], rel=1e-6)
    assert 0 < errors["f"]["relative"] <= 1e-3
    assert basketry.run("verify", files[container], out).code == 1
    assert basketry.run("verify", files[container], out, "--tolerance", "0.01%").code == 1
    # Sizes are expected well.
    before_bytes, after_bytes = files[container].stat().st_size, out.stat().st_size
    saved = report["stored"] - report["expected"]
    assert before_bytes - after_bytes == pytest.approx(saved, rel=0.1)


ENCODINGS = [
    ("f", "half", 2.0**-11, None),
    ("f", "mantissa:7", 2.0**-8, None),
    ("f", "truncated:16", 2.0**-8, None),
    ("p", "quantized:12:-3.2:3.2", None, 6.4 / 4095 / 2 * 1.001),
    ("e", "quantized:20:1:2", None, 2.0**-20),
    ("d", "single", 2.0**-24, None),
    ("d", "mantissa:30", 2.0**-31, None),
    ("e", "half", 2.0**-11, None),
    ("fix", "quantized:10:0:1", None, 1 / 1023 / 2 * 1.001),
    ("fix", "single", 2.0**-24, None),
    ("a", "half", 2.0**-11, None),
    ("a", "quantized:16:-500:500", None, 1000 / 65535 / 2 * 1.001),
    ("v", "mantissa:8", 2.0**-9, None),
    ("w", "mantissa:8", 2.0**-9, None),
    ("w", "truncated:18", 2.0**-10, None),
]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_root_reads_each_encoding_within_its_error(
    files: dict[str, Path], numbers: dict[str, np.ndarray], tmp_path: Path, container: str
) -> None:
    # Each round has one encoding for a column.
    rounds: list[list[tuple[str, str, float | None, float | None]]] = []
    for one in ENCODINGS:
        free = next((have for have in rounds if one[0] not in {other[0] for other in have}), None)
        rounds.append([one]) if free is None else free.append(one)
    asked = []
    for number, encodings in enumerate(rounds):
        out = tmp_path / f"{number}.root"
        rules = {name: {"encoding": encoding} for name, encoding, *_ in encodings}
        bk.rewrite(files[container], out, column_set=rules)
        asked.append((out, [name for name, *_ in encodings]))
        # The same layout again changes nothing.
        again = tmp_path / f"{number}-again.root"
        bk.rewrite(out, again, column_set=rules)
        assert bk.verify(out, again).equal
    for encodings, after in zip(rounds, read_all(asked), strict=True):
        for name, encoding, share, limit in encodings:
            absolute, relative = largest(numbers[name], after[name])
            if share is not None:
                small = (np.abs(numbers[name]) < 2.0**-14) if encoding == "half" else np.zeros(len(numbers[name]), bool)
                _, relative = largest(numbers[name][~small], after[name][~small])
                # What ROOT rounds up to the next power of two in Float16_t it leaves below.
                assert 0 < relative <= share * (2 if encoding == "half" and container == "ttree" else 1), (
                    name,
                    encoding,
                )
            if limit is not None:
                assert 0 < absolute <= limit, (name, encoding)


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_numbers_outside_of_a_range_are_refused_by_name(
    basketry: Basketry, files: dict[str, Path], numbers: dict[str, np.ndarray], tmp_path: Path, container: str
) -> None:
    out = tmp_path / "out.root"
    for name, value in (("s", "-999"), ("x", "inf")):
        done = basketry.run(
            "rewrite", files[container], "-o", out, "--column-set", name, "encoding=quantized:16:-100:100"
        )
        assert done.code == 2
        assert value in done.err, done.err
        assert f"branch {name}" in done.err or f"field {name}" in done.err
        assert not out.exists()
    first = int(np.flatnonzero(numbers["s"] == -999)[0])
    done = basketry.run("rewrite", files[container], "-o", out, "--column-set", "s", "encoding=quantized:16:0:100")
    assert f"entry {first}" in done.err, done.err


def test_numbers_of_fewer_bits_are_left_alone_and_said_so(
    basketry: Basketry, files: dict[str, Path], tmp_path: Path
) -> None:
    report = basketry.json("precision", files["ttree"], "--columns", "h")
    [column] = report["tables"][0]["columns"]
    assert column["reduced"] == "Float16_t[0,10,12]"
    assert (column["choices"], column["proposed"], report["layout"]) == ([], None, None)
    narrow = tmp_path / "narrow.root"
    bk.rewrite(files["rntuple"], narrow, column_set={"f": {"encoding": "half"}, "d": {"encoding": "truncated:20"}})
    found = {column.name: column for column in bk.precision(narrow, columns=["f", "d"]).tables[0].columns}
    assert {name: column.reduced for name, column in found.items()} == {"f": "half", "d": "truncated:20"}


def test_numbers_that_cannot_be_packed_stay_with_a_note(
    basketry: Basketry, files: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    done = basketry.run("rewrite", files["ttree"], "-o", out, "--column-set", "{v,w}", "encoding=half")
    assert done.code == 0
    assert "v, w keep their numbers" in done.out + done.err
    assert bk.verify(files["ttree"], out).equal


def test_tolerances_of_trees_are_by_column_and_beyond_them_a_difference_is_named(
    files: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    bk.rewrite(files["ttree"], out, column_set={"f": {"encoding": "half"}, "v": {"encoding": "mantissa:8"}})
    assert not bk.verify(files["ttree"], out).equal
    assert bk.verify(files["ttree"], out, tolerance="1%").equal
    verdict = bk.verify(files["ttree"], out, tolerance=["1%", "v=0"])
    assert not verdict.equal
    [difference] = verdict.differences
    assert difference.branch == "v"
    assert difference.entry is not None
    only_f = bk.verify(files["ttree"], out, tolerance="f=1%")
    assert {one.branch for one in only_f.differences} == {"v"}


def test_the_layout_and_the_page_are_written_where_they_are_asked_for(
    basketry: Basketry, files: dict[str, Path], tmp_path: Path
) -> None:
    layout, page = tmp_path / "layout.toml", tmp_path / "page.html"
    done = basketry("precision", files["ttree"], "-o", layout, "--report", page)
    assert "mantissa:" in layout.read_text()
    assert str(layout) in done
    text = page.read_text()
    assert "Size by bits of mantissa" in text
    assert "rewrite" in text
    assert basketry.run("precision", files["ttree"], "-o", layout).code == 2
    assert basketry.run("precision", files["ttree"], "-o", files["ttree"], "--force").code == 2
    assert basketry.run("precision", files["ttree"], "--columns", "nothing*").code == 2
    assert basketry.run("precision", files["ttree"], "--max-error", "f=big").code == 2


def test_several_tables_and_files_are_looked_at(tmp_path: Path) -> None:
    values = np.linspace(1, 2, 4000, dtype="f4")
    paths = []
    for number in range(2):
        paths.append(tmp_path / f"{number}.root")
        with bk.recreate(paths[-1]) as file:
            file.mktree("a", {"x": values + number})
            file.mkrntuple("b", {"y": values, "r": [{"x": value} for value in values[:4000]]})
            file.mktree("empty", {"x": values[:0]})
    report = bk.precision(*paths)
    found = {(table.path, column.name): column for table in report.tables for column in table.columns}
    assert {("a", "x"), ("b", "y"), ("b", "x")} <= set(found)
    assert found["a", "x"].values == 8000
    assert (found["a", "x"].least, found["a", "x"].most) == (1.0, 3.0)
    assert [table.path for table in report.tables] == ["a", "b", "empty"]
    assert {table.path for table in bk.precision(f"{paths[0]}:b").tables} == {"b"}


#: Made by ROOT: variants, which a rewrite can round, and numbers near which others are planted.
PLANT = """
import sys, ROOT
ROOT.gInterpreter.Declare('''
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
void write(const char *tree_path, const char *ntuple_path, float planted) {
   TFile file(tree_path, "RECREATE");
   TTree tree("t", "");
   float x; std::vector<double> v; tree.Branch("x", &x); tree.Branch("v", &v);
   auto model = ROOT::RNTupleModel::Create();
   auto rx = model->MakeField<float>("x"); auto rv = model->MakeField<std::vector<double>>("v");
   auto either = model->MakeField<std::variant<int, float>>("either");
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", ntuple_path);
   for (int i = 0; i < 500; ++i) {
      x = i == 400 ? planted : 100.1f + i; v = {i * 0.3, -INFINITY, i == 300 ? planted : i * 7.7};
      *rx = x; *rv = v;
      if (i % 3) *either = i * 0.7f; else *either = i;
      tree.Fill(); writer->Fill();
   }
   file.cd(); tree.Write();
}''')
for number, planted in enumerate([1.5, 1.5003, float("inf"), float("-inf"), float("nan")]):
    ROOT.write(f"{sys.argv[1]}/tree{number}.root", f"{sys.argv[1]}/ntuple{number}.root", planted)
"""


def test_an_infinity_is_within_no_tolerance(basketry: Basketry, tmp_path: Path) -> None:
    by_root(PLANT, tmp_path)
    for kind in ("tree", "ntuple"):
        files = [tmp_path / f"{kind}{number}.root" for number in range(5)]
        for a in range(5):
            for b in range(5):
                equal = a == b or {a, b} == {0, 1}
                done = basketry.run("verify", files[a], files[b], "--tolerance", "0.1%", "-q")
                assert done.code == (0 if equal else 1), (kind, a, b, str(done))
    # Without a tolerance the small difference counts as well.
    assert basketry.run("verify", tmp_path / "tree0.root", tmp_path / "tree1.root", "-q").code == 1


def test_variants_are_proven_as_they_are_proposed(basketry: Basketry, tmp_path: Path) -> None:
    by_root(PLANT, tmp_path)
    source, layout, out = tmp_path / "ntuple0.root", tmp_path / "layout.toml", tmp_path / "out.root"
    basketry("precision", source, "-o", layout, "--max-error", "1%")
    assert "t/either" in layout.read_text()
    # Clusters of other sizes: alternatives lie at other places.
    basketry("rewrite", source, "-o", out, "--layout", layout, "--cluster", "37")
    said = basketry("verify", source, out, "--tolerance", "1%")
    assert "numbers of either within the tolerance differ by at most" in said
    assert basketry.run("verify", source, out, "--tolerance", "0.001%", "-q").code == 1
