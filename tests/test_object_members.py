"""Members of objects that are read from files: numbers in fewer bits, containers of the standard library, objects
behind pointers. Real ROOT writes the files, and is the referee of each value; trees give the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import basketry as bk
from referee.paths import FOUND

if TYPE_CHECKING:
    from pathlib import Path

ROOT = pytest.importorskip("ROOT")
opened: Any = bk.open

CLASSES = """
#include <Rtypes.h>
#include <vector>
#include <string>
struct PackedBase {
  Double32_t low; //[0,100,8]
  Float16_t lowest;
  virtual ~PackedBase() {}
  ClassDefInline(PackedBase, 1)
};
struct PackedPart {
  Float16_t part; //[0,0,10]
  Double32_t turn; //[-pi,pi,12]
  PackedPart(double p = 0, double t = 0) : part(p), turn(t) {}
  virtual ~PackedPart() {}
  ClassDefInline(PackedPart, 1)
};
struct Packed : PackedBase {
  Double32_t plain;
  Double32_t range; //[0,10]
  Double32_t bits; //[0,0,6]
  Float16_t half;
  Float16_t half_range; //[-1,1,14]
  Double32_t table[2][3]; //[0,60,16]
  Float16_t halves[3];
  Int_t n;
  Double32_t* counted; //[n][0,30,10]
  Float16_t* half_counted; //[n]
  std::vector<Double32_t> several;
  std::vector<Float16_t> half_several;
  std::vector<std::vector<Double32_t>> nested;
  PackedPart inner;
  PackedPart inners[2];
  std::vector<std::string> words;
  Int_t last;
  Packed() : n(0), counted(nullptr), half_counted(nullptr) {}
  ~Packed() { delete[] counted; delete[] half_counted; }
  ClassDefInline(Packed, 1)
};
Packed* make_packed(double x) {
  auto p = new Packed;
  p->low = 25 + x; p->lowest = 1.5 + x; p->plain = 70.25 + x; p->range = 2.5 + x / 10; p->bits = 1.25 + x;
  p->half = 3.14159 + x; p->half_range = 0.3333;
  for (int i = 0; i < 6; ++i) p->table[i / 3][i % 3] = 7.7 * i + x;
  for (int i = 0; i < 3; ++i) p->halves[i] = 0.7 * i - x;
  p->n = 3;
  p->counted = new Double32_t[3]; p->half_counted = new Float16_t[3];
  for (int i = 0; i < 3; ++i) { p->counted[i] = 4.4 * i + x; p->half_counted[i] = -1.1 * i; }
  p->several = {1.5, 2.25 + x}; p->half_several = {0.1f, 0.2f};
  p->nested = {{1, 2}, {}, {x}};
  p->inner = PackedPart(0.7, 1.234 + x); p->inners[0] = PackedPart(0.1, 0.5); p->inners[1] = PackedPart(0.2, -0.5);
  p->words = {"one", ""};
  p->last = 77;
  return p;
}
std::vector<double> values(const Packed& p) {
  std::vector<double> v;
  v.insert(v.end(), p.table[0], p.table[0] + 6);
  v.insert(v.end(), p.halves, p.halves + 3);
  v.insert(v.end(), p.counted, p.counted + p.n);
  v.insert(v.end(), p.half_counted, p.half_counted + p.n);
  return v;
}
"""
NUMBERS = ("low", "lowest", "plain", "range", "bits", "half", "half_range", "last")
ARRAYS = ("table", "halves", "counted", "half_counted")
LISTS = ("several", "half_several")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An object of a class with numbers in fewer bits as ROOT wrote it, alone, and as the entries of a tree."""
    source = tmp_path_factory.mktemp("packed") / "packed.h"
    source.write_text(CLASSES)
    assert ROOT.gInterpreter.Declare(f'#include "{source}"')
    path = str(source.with_name("packed.root"))
    file = ROOT.TFile(path, "recreate")
    file.WriteObject(ROOT.make_packed(0.5), "packed")
    tree = ROOT.TTree("t", "")
    thing = ROOT.make_packed(0.5)
    tree.Branch("p", "Packed", thing, 32000, 0)
    tree.Fill()
    tree.Write()
    file.Close()
    return path


def test_numbers_in_fewer_bits_are_those_that_root_reads(packed: str) -> None:
    ours = opened(packed)["packed"]
    file = ROOT.TFile(packed)
    theirs = file["packed"]
    members = ours.all_members
    assert {name: members[name] for name in NUMBERS} == {name: getattr(theirs, name) for name in NUMBERS}
    assert members["low"] == pytest.approx(25.5, abs=0.5)
    assert [one for name in ARRAYS for one in members[name].tolist()] == list(ROOT.values(theirs))
    for name in LISTS:
        assert members[name].tolist() == list(getattr(theirs, name)), name
    assert members["nested"].tolist() == [list(one) for one in theirs.nested]
    assert members["words"].tolist() == [str(one) for one in theirs.words] == ["one", ""]
    inner = members["inner"].members
    assert (inner["part"], inner["turn"]) == (theirs.inner.part, theirs.inner.turn)
    assert [one.member("turn") for one in members["inners"]] == [theirs.inners[i].turn for i in range(2)]
    file.Close()


def test_objects_and_trees_have_the_same_values(packed: str) -> None:
    alone = opened(packed)["packed"].all_members
    (entry,) = opened(packed)["t"]["p"].array(library="np")
    assert {name: alone[name] for name in NUMBERS} == {name: entry[name] for name in NUMBERS}
    for name in (*ARRAYS, *LISTS, "nested", "words"):
        one, other = alone[name], entry[name]
        assert one.tolist() == (other.ravel() if name == "table" else other).tolist(), name
        assert one.dtype == other.dtype, name
    assert alone["inner"].members == {name: entry["inner"][name] for name in ("part", "turn")}


def test_symmetric_matrices_are_whole_behind_pointers(tmp_path: Path) -> None:
    path = str(tmp_path / "matrices.root")
    file = ROOT.TFile(path, "recreate")
    # The array does not own them.
    things, kept = ROOT.TObjArray(), []
    for kind in (ROOT.TMatrixDSym, ROOT.TMatrixFSym):
        matrix = kind(3)
        for i in range(3):
            for j in range(3):
                matrix[i][j] = 10 * min(i, j) + max(i, j)
        kept += [matrix, ROOT.TNamed("after", "a matrix")]
    for one in kept:
        things.Add(one)
    file.WriteObject(things, "things")
    file.Close()
    first, after, second, last = opened(path)["things"]
    for matrix, kind in ((first, np.float64), (second, np.float32)):
        elements = matrix.member("fElements")
        assert (elements.tolist(), elements.dtype) == ([0, 1, 2, 11, 12, 22], kind)
        assert (matrix.member("fNrows"), matrix.member("fNelems")) == (3, 9)
    assert after.name == last.name == "after"


def test_dates_are_objects_of_their_own(tmp_path: Path) -> None:
    path = str(tmp_path / "dates.root")
    file = ROOT.TFile(path, "recreate")
    date = ROOT.TDatime(2006, 1, 2, 15, 4, 5)
    file.WriteObject(date, "date")
    file.Close()
    assert opened(path)["date"].to_datetime().isoformat() == "2006-01-02T15:04:05"


def test_roofit_results_are_read(tmp_path: Path) -> None:
    path = str(tmp_path / "fit.root")
    if not hasattr(ROOT, "RooFitResult"):
        pytest.skip("this ROOT has no RooFit")
    x, mean = ROOT.RooRealVar("x", "", -5, 5), ROOT.RooRealVar("mean", "", 0.5, -2, 2)
    width = ROOT.RooRealVar("width", "", 1, 0.1, 3)
    shape = ROOT.RooGaussian("shape", "", x, mean, width)
    result = shape.fitTo(shape.generate(ROOT.RooArgSet(x), 200), Save=True, PrintLevel=-1)
    file = ROOT.TFile(path, "recreate")
    result.Write("fit")
    file.Close()
    read = opened(path)["fit"]
    assert (read.member("_status"), read.member("_minNLL")) == (result.status(), result.minNll())
    covariance = read.member("_VM")
    theirs = result.covarianceMatrix()
    expected = [theirs(0, 0), theirs(0, 1), theirs(1, 1)]
    assert covariance.member("fElements").tolist() == pytest.approx(expected, rel=1e-15)


def test_every_object_of_the_files_that_showed_faults_is_read() -> None:
    if not FOUND.is_dir():
        pytest.skip(f"no files at {FOUND}")
    with opened(str(FOUND / "object-with-truncated-members.root")) as file:
        alone, entry = file["tr"].all_members, file["t"].arrays(library="np")
        assert (alone["b"], alone["c"], alone["d"], alone["last"]) == (50, 42, 12.5, 77)
        assert alone["f"].tolist() == [9.9609375, 20.01953125, 29.98046875]
        assert len(next(iter(entry.values()))) == 2
    with opened(str(FOUND / "roofitresult-struct-error.root")) as file:
        assert file["fit_full"].member("_VM").member("fElements").tolist() == [4, 3, 9]
        assert file["fit_nocov"].member("_VM") is None
