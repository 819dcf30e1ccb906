"""Trees whose baskets have another form: with entry offsets where all entries have one length (Geant4 writes such), and
without. ROOT decides by the branch whether it reads offsets, so all baskets of a branch must be of one form: where
entries come from files of both forms, ROOT reads the values that were written, whatever way they came together."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry
from test_edit import by_root

#: Makes a tree of numbers and arrays, which ROOT writes without offsets.
MAKE = """
import numpy as np
def make(path, first, count):
    file = ROOT.TFile(path, "RECREATE", "", 0)
    x, e, a = np.zeros(1, "i4"), np.zeros(1, "f8"), np.zeros(3, "f4")
    tree = ROOT.TTree("t", "")
    tree.SetAutoFlush(0)
    tree.Branch("x", x, "x/I"), tree.Branch("e", e, "e/D"), tree.Branch("a", a, "a[3]/F")
    for entry in range(first, first + count):
        x[0], e[0], a[:] = entry, entry * 0.5, entry + np.arange(3)
        tree.Fill()
    tree.Write()
    file.Close()
"""

READ = """
import json
def read(path, more):
    file = ROOT.TFile(path)
    tree = file.Get("t")
    return [tree.ClassName(), [[e.x, e.e, *(list(e.a) if more else [])] for e in tree]]
"""

#: Entries of a file and of a cluster.
COUNT, CLUSTER = 3_000, 700


def values(*ranges: range) -> list[list[float]]:
    """The entries that `MAKE` writes."""
    return [[entry, entry * 0.5, entry, entry + 1, entry + 2] for some in ranges for entry in some]


def by_roots_reader(path: Path, *, more: bool = True) -> tuple[str, list[list[float]]]:
    """Class and entries of a tree."""
    name, entries = json.loads(by_root(READ + f"print(json.dumps(read({str(path)!r}, {more})))"))
    return name, entries


def promise(path: Path, *, offsets: bool) -> None:
    """Changes what the branches of a tree without compression say of their baskets: fEntryOffsetLen stands behind the
    title, fCompress and fBasketSize."""
    content = bytearray(path.read_bytes())
    before, after = ((0).to_bytes(4, "big"), (1000).to_bytes(4, "big"))[:: 1 if offsets else -1]
    for title in (b"\x03x/I", b"\x03e/D", b"\x06a[3]/F"):
        # The title, then TAttFill with its size, version, colour and style.
        at = content.rindex(title) + len(title) + 10 + 8
        assert content[at : at + 4] == before
        content[at : at + 4] = after
    path.write_bytes(content)


@pytest.fixture(scope="module")
def both(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, range]]:
    """A file with offsets and one without, each with the numbers of its entries. No writer of ROOT's makes the first:
    new baskets get offsets where the branch says that they have some."""
    folder = tmp_path_factory.mktemp("both")
    found = {}
    for number, name in enumerate(("with", "without")):
        some = range(number * COUNT, (number + 1) * COUNT)
        made, path = folder / f"{name}_made.root", folder / f"{name}.root"
        by_root(MAKE + f"make({str(made)!r}, {some.start}, {COUNT})")
        if name == "with":
            promise(made, offsets=True)
        basketry("rewrite", made, "-o", path, "--cluster", str(CLUSTER), "--compression", "zlib:1")
        assert by_roots_reader(path)[1] == values(some)
        with uproot.open(path) as file:
            keys = [file["t/e"].basket_key(n) for n in range(file["t/e"].num_baskets)]
            assert len(keys) > 1
            # Each entry has 8 bytes, and an offset of 4.
            lengths = {key.fObjlen - 8 * file["t/e"].basket(n).num_entries for n, key in enumerate(keys)}
            assert all(length > 0 if name == "with" else length == 0 for length in lengths)
        found[name] = (path, some)
    return found


WAYS = {
    "merge": "merge {a} {b} -fo {out}",
    "recompressed": "merge {a} {b} -fo {out} --compression zstd:3",
    "in clusters": "merge {a} {b} -fo {out} --cluster 1100",
    "one basket per cluster": "merge {a} {b} -fo {out} --cluster 500 --one-basket-per-cluster",
    "all clusters kept": "merge {a} {b} -fo {out} --pack 0B",
    "by a key": "merge {a} {b} -fo {out} --by x",
    "in place": "merge {b} -o {out} --append",
}


@pytest.mark.parametrize("first", ["with", "without"])
@pytest.mark.parametrize("way", WAYS)
def test_files_of_both_forms_come_together(
    way: str, first: str, both: dict[str, tuple[Path, range]], basketry: Basketry, tmp_path: Path
) -> None:
    second = "without" if first == "with" else "with"
    out = tmp_path / "out.root"
    if way == "in place":
        shutil.copy(both[first][0], out)
    words = WAYS[way].format(a=both[first][0], b=both[second][0], out=out).split()
    basketry(*words)
    ranges = [both[first][1], both[second][1]]
    expected = values(*(sorted(ranges, key=lambda some: some.start) if way == "by a key" else ranges))
    assert by_roots_reader(out)[1] == expected
    with uproot.open(out) as file:
        assert file["t/e"].array(library="np").tolist() == [entry[1] for entry in expected]
    basketry("check", "--deep", out)


@pytest.mark.parametrize("name", ["with", "without"])
def test_either_form_is_extended_in_python(name: str, both: dict[str, tuple[Path, range]], tmp_path: Path) -> None:
    path, own = both[name]
    out = Path(shutil.copy(path, tmp_path / "out.root"))
    new = range(own.stop, own.stop + 5)
    columns = {
        "x": np.array(new, "i4"),
        "e": np.array(new) * 0.5,
        "a": np.array([[n, n + 1, n + 2] for n in new], "f4"),
    }
    with bk.update(out) as file:
        file["t"].extend(columns)
    assert by_roots_reader(out)[1] == values(own, new)


@pytest.mark.parametrize("offsets", [True, False])
def test_a_basket_of_another_form_than_its_branch_is_found(offsets: bool, basketry: Basketry, tmp_path: Path) -> None:
    made, other, mended = (tmp_path / f"{name}.root" for name in ("made", "other", "mended"))
    by_root(MAKE + f"make({str(made)!r}, 0, 100)")
    promise(made, offsets=True)
    if not offsets:
        basketry("rewrite", made, "-o", other, "--cluster", "40")
        made = other
        basketry("check", "--deep", made)
        promise(made, offsets=False)
    if not offsets:
        # With offsets that are promised and lack ROOT may read anything, or beyond its memory.
        assert by_roots_reader(made)[1] != values(range(100))
    found = basketry.run("check", "--deep", made)
    assert found.code == 1
    assert "entry offsets, which its branch says" in found.out
    basketry("rewrite", made, "-o", mended, "--cluster", "30")
    assert by_roots_reader(mended)[1] == values(range(100))
    basketry("check", "--deep", mended)


@pytest.mark.parametrize("first", ["TTree", "TNtupleD"])
def test_trees_of_other_classes_are_parts_of_one_tree(first: str, basketry: Basketry, tmp_path: Path) -> None:
    tree, ntuple = tmp_path / "tree.root", tmp_path / "ntuple.root"
    by_root(f"""
import numpy as np
file = ROOT.TFile({str(ntuple)!r}, "RECREATE")
ntuple = ROOT.TNtupleD("t", "", "x:e")
ROOT.SetOwnership(ntuple, False)
for entry in range(20):
    ntuple.Fill(entry, entry * 0.5)
ntuple.Write()
file.Close()
file = ROOT.TFile({str(tree)!r}, "RECREATE")
x, e = np.zeros(1), np.zeros(1)
tree = ROOT.TTree("t", "")
tree.Branch("x", x, "x/D"), tree.Branch("e", e, "e/D")
for entry in range(20, 30):
    x[0], e[0] = entry, entry * 0.5
    tree.Fill()
tree.Write()
file.Close()
""")
    files = [tree, ntuple] if first == "TTree" else [ntuple, tree]
    ranges = [range(20, 30), range(20)] if first == "TTree" else [range(20), range(20, 30)]
    expected = [[entry, entry * 0.5] for some in ranges for entry in some]
    out = tmp_path / "out.root"
    basketry("merge", *files, "-o", out)
    assert by_roots_reader(out, more=False) == (first, expected)
    in_place = Path(shutil.copy(files[0], tmp_path / "in_place.root"))
    basketry("merge", files[1], "-o", in_place, "--append")
    assert by_roots_reader(in_place, more=False) == (first, expected)
    with bk.update(in_place) as file:
        file["t"].extend({"x": np.array([77.0]), "e": np.array([38.5])})
    assert by_roots_reader(in_place, more=False) == (first, [*expected, [77.0, 38.5]])
