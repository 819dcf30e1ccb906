"""Trees become RNTuples and trees again: `verify` and real ROOT judge values and everything else that a tree has."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import make_files, values
from referee.command import Basketry
from referee.paths import FOUND
from referee.root_server import RootServer

# Files of other tests, made by ROOT, in which all columns can be decoded.
OTHERS = {
    "aliases": "aliases.root",
    "friends": "main.root",
    "leaf_types": "leaves.root",
    "wide": "wide.root",
}
# What the name of an RNTuple is followed by in the name of the list beside it.
KEPT_SUFFIX = ".tree"


def there_and_back(basketry: Basketry, source: Path, folder: Path) -> tuple[Path, Path]:
    """The file with RNTuples, and the one with trees again."""
    there, back = folder / "there.root", folder / "back.root"
    basketry("rewrite", source, "-o", there, "--container", "rntuple")
    basketry("rewrite", there, "-o", back, "--container", "ttree")
    return there, back


def inspected(basketry: Basketry, path: Path) -> dict[str, Any]:
    """The report of `inspect`."""
    report: dict[str, Any] = basketry.json("inspect", path)
    return report


def ask_root(code: str, *arguments: str | Path) -> Any:
    """What a program with ROOT prints as JSON."""
    words = [sys.executable, "-W", "ignore", "-c", "import json, sys, ROOT\nROOT.gErrorIgnoreLevel = 3000\n" + code]
    done = subprocess.run([*words, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def known() -> Path:
    """The trees of the macro."""
    return make_files.made("round_trip") / "known.root"


@pytest.fixture(scope="session")
def trip(known: Path, basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The trees of the macro as RNTuples, and as trees again."""
    return there_and_back(basketry, known, tmp_path_factory.mktemp("trip"))


def test_trees_return_as_they_were(
    known: Path, trip: tuple[Path, Path], basketry: Basketry, root_values: RootServer
) -> None:
    there, back = trip
    basketry("verify", known, there)
    basketry("verify", known, back)

    found = list(values.differences(root_values.of(known), root_values.of(back)))

    assert not found, "\n".join(found[:20])


def test_branches_return_in_their_order_with_their_titles(known: Path, trip: tuple[Path, Path]) -> None:
    code = """
def shape(branch):
    leaves = [(leaf.ClassName(), leaf.GetName(), leaf.GetTitle()) for leaf in branch.GetListOfLeaves()]
    below = [shape(b) for b in branch.GetListOfBranches()]
    return [branch.ClassName(), branch.GetName(), branch.GetTitle(), leaves, below]
file = ROOT.TFile(sys.argv[1])
names = ["special", "bytes", "lists", "ntuple", "ntupled", "objects", "none", "folder/below", "plain", "friendly"]
print(json.dumps({n: [shape(b) for b in file.Get(n).GetListOfBranches()] for n in names}))
"""
    before, after = (ask_root(code, path) for path in (known, trip[1]))

    assert after == before


def test_root_reads_what_is_kept(trip: tuple[Path, Path]) -> None:
    code = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get("special.tree").At(0)
reader = ROOT.RNTupleReader.Open("special", sys.argv[1])
print(json.dumps({
    "weight": tree.GetWeight(), "entries": tree.GetEntries(), "aliases": [a.GetName() for a in tree.GetListOfAliases()],
    "user info": [o.GetName() for o in tree.GetUserInfo()], "friends": tree.GetListOfFriends().GetSize(),
    "class": file.Get("ntuple.tree").At(0).ClassName(), "rows": reader.GetNEntries(),
    "keys": sorted(k.GetName() for k in file.GetListOfKeys()),
}))
"""
    answer = ask_root(code, trip[0])

    names = ["bytes", "friendly", "lists", "none", "ntuple", "ntupled", "objects", "plain", "special", "folder"]
    assert {name for name in answer.pop("keys") if not name.endswith(KEPT_SUFFIX)} == set(names)
    assert answer == {
        "weight": 2.5,
        "entries": 0,
        "aliases": ["twice", "sum"],
        "user info": ["what", "lumi", "inside", "TMap"],
        "friends": 1,
        "class": "TNtuple",
        "rows": 30,
    }


def test_a_plain_tree_needs_nothing_beside(trip: tuple[Path, Path]) -> None:
    with uproot.open(trip[0]) as file:
        keys = file.keys(cycle=False)
    assert "plain" in keys
    assert "plain.tree" not in keys


def test_signed_bytes_keep_their_sign(known: Path, trip: tuple[Path, Path], basketry: Basketry) -> None:
    with uproot.open(known) as file, uproot.open(trip[0]) as there:
        for name in ("one", "small", "byte", "wide"):
            assert there["bytes"][name].array().tolist() == file["bytes"][name].array().tolist(), name
        assert there["bytes"]["one"].array().tolist()[0] == -15
    code = r"""
ROOT.gInterpreter.Declare('''
std::string read(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("bytes", path);
  auto one = reader->GetView<std::int8_t>("one");
  auto letters = reader->GetView<std::vector<char>>("letters");
  std::string numbers, lists;
  for (auto i : reader->GetEntryRange()) {
    numbers += (i ? "," : "") + std::to_string(int(one(i)));
    std::string list;
    for (char c : letters(i)) list += (list.empty() ? "" : ",") + std::to_string(int(c));
    lists += std::string(i ? "," : "") + "[" + list + "]";
  }
  return "[[" + numbers + "],[" + lists + "]]";
}
''')
one, letters = json.loads(str(ROOT.read(sys.argv[1])))
reader = ROOT.RNTupleReader.Open("bytes", sys.argv[1])
about = reader.GetDescriptor()
types = {n: str(about.GetFieldDescriptor(about.FindFieldId(n)).GetTypeName()) for n in ("one", "small", "n", "letters")}
print(json.dumps({"types": types, "one": one, "letters": letters}))
"""
    answer = ask_root(code, trip[0])

    assert answer["one"] == [-15 + k for k in range(20)]
    assert answer["letters"] == [[-k] * (k % 4) for k in range(20)]
    assert answer["types"] == {
        "one": "std::int8_t",
        "small": "std::array<std::int8_t,3>",
        "n": "std::int8_t",
        "letters": "std::vector<char>",
    }
    trees = {tree["path"]: tree for tree in inspected(basketry, trip[1])["trees"]}
    assert trees["bytes"]["entries"] == 20


def test_a_tree_without_a_name_returns(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    source = make_files.made("round_trip") / "unnamed.root"
    there, back = there_and_back(basketry, source, tmp_path)
    basketry("verify", source, there)
    basketry("verify", source, back)

    with uproot.open(there) as file:
        assert file["tree"].arrays(library="np")["i"].tolist() == list(range(7))
    assert not list(values.differences(root_values.of(source), root_values.of(back)))


@pytest.mark.parametrize("recipe", OTHERS)
def test_trees_of_other_tests_return(recipe: str, basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    source = make_files.made(recipe) / OTHERS[recipe]
    for companion in source.parent.iterdir():
        if companion != source:
            (tmp_path / companion.name).symlink_to(companion)
    there, back = there_and_back(basketry, source, tmp_path)
    basketry("verify", source, there)
    basketry("verify", source, back)

    found = list(values.differences(root_values.of(source), root_values.of(back)))

    assert not found, "\n".join(found[:20])


def test_what_is_kept_stays_with_an_rntuple(
    known: Path, trip: tuple[Path, Path], basketry: Basketry, tmp_path: Path
) -> None:
    there, _ = trip
    again, back = tmp_path / "again.root", tmp_path / "back.root"
    basketry("rewrite", there, "-o", again, "--cluster", "7", "--compression", "zstd:1")
    basketry("verify", there, again)
    basketry("rewrite", again, "-o", back, "--container", "ttree")

    basketry("verify", known, back)


def test_dropped_fields_are_left_out_of_the_tree(trip: tuple[Path, Path], basketry: Basketry, tmp_path: Path) -> None:
    back = tmp_path / "back.root"
    basketry("rewrite", f"{trip[0]}:special", "-o", back, "--container", "ttree", "--drop", "late", "--drop", "x")
    with uproot.open(back) as file:
        assert file["special"].keys() == ["i", "n"]
        assert file["special"]["n"].array().tolist() == [k % 5 for k in range(30)]
    answer = ask_root("file = ROOT.TFile(sys.argv[1]); print(file.Get('special').GetWeight())", back)
    assert answer == 2.5


def test_selected_entries_have_no_index_and_no_friends(
    trip: tuple[Path, Path], known: Path, basketry: Basketry, tmp_path: Path
) -> None:
    back = tmp_path / "back.root"
    out = basketry("rewrite", f"{trip[0]}:special", "-o", back, "--container", "ttree", "--first", "10")
    assert "its index (TTreeIndex) is left out" in out
    assert "its friends are left out" in out
    code = """
file = ROOT.TFile(sys.argv[1])
tree = file.Get("special")
print(json.dumps([tree.GetEntries(), tree.GetWeight(), bool(tree.GetTreeIndex()), bool(tree.GetListOfFriends())]))
"""
    assert ask_root(code, back) == [20, 2.5, False, False]
    basketry("verify", f"{known}:special", back, "--tree", "special", "--first", "10")


def test_merged_rntuples_keep_what_is_equal(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("round_trip")
    theres = []
    for number in range(2):
        theres.append(tmp_path / f"there{number}.root")
        basketry("rewrite", source / f"pair{number}.root", "-o", theres[-1], "--container", "rntuple")
    merged, back = tmp_path / "merged.root", tmp_path / "back.root"
    out = basketry("merge", *theres, "-o", merged)
    notes = [line for line in out.splitlines() if "differ" in line]
    assert len(notes) == 2
    assert "same" in notes[1] or "same" in notes[0]
    basketry("verify", *theres, merged)
    basketry("rewrite", merged, "-o", back, "--container", "ttree")
    code = """
file, found = ROOT.TFile(sys.argv[1]), {}
for name in ("same", "apart"):
    tree = file.Get(name)
    aliases = [a.GetTitle() for a in tree.GetListOfAliases()] if tree.GetListOfAliases() else []
    user = [o.GetTitle() for o in tree.GetUserInfo()]
    names = [b.GetName() for b in tree.GetListOfBranches()]
    found[name] = [tree.GetEntries(), tree.GetWeight(), aliases, user, bool(tree.GetTreeIndex()), names]
print(json.dumps(found))
"""
    assert ask_root(code, back) == {
        "same": [16, 3.0, ["i*2"], ["one"], False, ["n", "list", "i"]],
        "apart": [16, 1.0, [], [], False, ["n", "list", "i"]],
    }


def test_strict_refuses_what_would_not_return(
    known: Path, trip: tuple[Path, Path], basketry: Basketry, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    words = ("-o", out, "--container", "rntuple", "--strict")
    basketry("rewrite", f"{known}:special", *words)
    basketry("rewrite", f"{known}:ntuple", *words, "-f")
    out.unlink()
    for tree, options, what in [
        ("special", ("--first", "10"), "its index"),
        ("objects", (), "fUniqueID and fBits of the objects in"),
    ]:
        refused = basketry.run("rewrite", f"{known}:{tree}", *words, *options)
        assert refused.code == 2
        assert what in refused.err
        assert "--strict" in refused.err
        assert not out.exists()
    refused = basketry.run(
        "rewrite", f"{trip[0]}:special", "-o", out, "--container", "ttree", "--strict", "--first", "3"
    )
    assert refused.code == 2
    assert "its index" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_strict_in_python(known: Path, tmp_path: Path) -> None:
    import basketry

    out = tmp_path / "out.root"
    with pytest.raises(ValueError, match="strict=True"):
        basketry.rewrite(f"{known}:objects", out, container="rntuple", strict=True)
    assert not out.exists()
    summary = basketry.rewrite(f"{known}:objects", out, container="rntuple")
    assert any("fUniqueID and fBits" in note for note in summary.unmerged)


def test_a_changed_weight_is_seen_beside_an_rntuple(
    known: Path, trip: tuple[Path, Path], basketry: Basketry, tmp_path: Path
) -> None:
    other = tmp_path / "other.root"
    code = """
file, out = ROOT.TFile(sys.argv[1]), ROOT.TFile(sys.argv[2], "RECREATE")
tree = file.Get("ntuple").CloneTree(); tree.SetWeight(7); tree.Write(); out.Close(); print(1)
"""
    ask_root(code, known, other)
    outcome = basketry.run("verify", other, trip[0], "--tree", "ntuple")
    assert outcome.code == 1
    assert "the weight is 7 and 1" in outcome.out + outcome.err


REASONS = {"skhep--uproot-issue327": "its branches end before the tree does"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOUND.glob("roundtrip_*.root")) or ["none"])
def test_found_files_return(name: str, basketry: Basketry, tmp_path: Path) -> None:
    source = FOUND / f"{name}.root"
    if not source.is_file():
        pytest.skip(f"no files in {FOUND}")
    if any(reason in name for reason in REASONS):
        pytest.skip(REASONS[name.removeprefix("roundtrip_")])
    there, back = there_and_back(basketry, source, tmp_path)

    basketry("verify", source, there)
    basketry("verify", source, back)


def test_files_of_the_corpus_return(corpus: Path, full: bool, basketry: Basketry, tmp_path: Path) -> None:
    """Small files of the corpus that can become RNTuples return equal, but for the named ones."""
    known_reasons = {
        "roottest--TreeNestedClones.root": "a TClonesArray inside objects that is not split",
        "skhep--uproot-issue187.root": "truth values other than 0 and 1",
        "unroot--issue108_small.root": "a branch that ends early",
        "unroot--issue246.root": "branches that end early",
        "roottest--reduced.N00008257_0002.spill.sntp.R1_18.0.root": "fUniqueID and fBits of objects that are content",
        "skhep--uproot-issue513.root": "fUniqueID and fBits of objects that are content",
        "ship_ROOT_9674.root": "fUniqueID and fBits of objects that are content",
        "roottest--TreeEventTreeSimple1.root": "fUniqueID and fBits of objects that are content",
    }
    files = sorted(path for path in (corpus / "files").glob("*.root") if path.stat().st_size < (1 << 20))
    different = []
    for source in files if full else files[::12]:
        there, back = tmp_path / "there.root", tmp_path / "back.root"
        converted = basketry.run("rewrite", source, "-o", there, "--container", "rntuple", "-f")
        if converted.code or source.name in known_reasons:
            continue
        returned = basketry.run("rewrite", there, "-o", back, "--container", "ttree", "-f")
        if "a tree cannot hold these fields" in returned.err:
            # Of an RNTuple that was in the file before.
            continue
        equal = [basketry.run("verify", source, out).code for out in (there, back)] if returned.code == 0 else []
        if equal != [0, 0]:
            different.append(f"{source.name}: {returned.err or equal}")
    assert different == []
