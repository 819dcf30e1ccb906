"""`cp`, `mv`, `rm` and `mkdir`: what is edited is what was asked for, all else is as it was, and nothing is lost."""

import ctypes
import fcntl
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import make_files, values
from referee.command import Basketry
from referee.root_server import RootServer

#: The objects of the input that ROOT and uproot name by path and cycle.
KEYS = [
    "fitted;1", "hprof;1", "hpx;1", "hpx;2", "hpxpy;1", "list;1", "pointed;1", "references;1", "tof/plane0/n;1",
    "tof/plane1/n;1", "tree;1", "tree;2",
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with something of each kind, to edit."""
    return Path(shutil.copy(make_files.made("edited") / "edited.root", tmp_path / "a.root"))


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    """A file with an RNTuple and a histogram, to edit."""
    return Path(shutil.copy(make_files.made("edited") / "entries.root", tmp_path / "n.root"))


@pytest.fixture(scope="module")
def before(root_values: RootServer) -> dict[str, Any]:
    """All values of the input, by ROOT."""
    found: dict[str, Any] = root_values.of(make_files.made("edited") / "edited.root")
    return found


def listed(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def keys(path: Path) -> list[str]:
    """The objects of a file that are no directories, by uproot."""
    with uproot.open(path) as file:
        found = file.keys(cycle=True, recursive=True)
        classes = file.classnames(cycle=True, recursive=True)
    return sorted(key for key in found if "TDirectory" not in classes[key] and classes[key] != "TProcessID")


def is_whole(basketry: Basketry, *paths: Path) -> None:
    """Every record of files is sound."""
    basketry("check", "--deep", *paths)


def named(facts: Any, name: str) -> Any:
    """What ROOT says of an object, without its name: that changes with the key's."""
    if isinstance(facts, dict):
        return {key: named(fact, name) for key, fact in facts.items()}
    if isinstance(facts, list):
        return [named(fact, name) for fact in facts]
    return "(its name)" if facts == name else facts


def same_as(before: dict[str, Any], after: dict[str, Any], moved: dict[str, str], gone: Set[str] = frozenset()) -> None:
    """All objects and trees have their values: under the new names, if they moved, and without those that are gone."""
    for kind in ("objects", "trees"):
        expected = {moved.get(path, path): (path, facts) for path, facts in before[kind].items() if path not in gone}
        # A file has the process identifiers of all its sources.
        own = {path for kinds in (after[kind], expected) for path in kinds if path.startswith("ProcessID")}
        assert after[kind].keys() - own == expected.keys() - own
        for path, (old, facts) in expected.items():
            if path in own:
                continue
            ours = named(facts, old.rsplit("/", 1)[-1])
            theirs = named(after[kind][path], path.rsplit("/", 1)[-1])
            assert list(values.differences(ours, theirs, path)) == []


def ntuple_of(path: Path, name: str = "ntuple") -> list[dict[str, Any]]:
    """The values of an RNTuple by uproot."""
    with uproot.open(path) as file:
        found: list[dict[str, Any]] = file[name].arrays().tolist()
    return found


def test_an_edit_leaves_all_else_as_it_was(
    basketry: Basketry, root_values: RootServer, file: Path, before: dict[str, Any]
) -> None:

    basketry("mkdir", f"{file}:new")

    is_whole(basketry, file)
    assert keys(file) == KEYS
    same_as(before, root_values.of(file), {})
    with uproot.open(file) as edited:
        assert edited.classname_of("new") == "TDirectory"
        assert edited.file.root_directory["tree"].title == "a tree"


def test_objects_are_renamed_with_their_keys(
    basketry: Basketry, root_values: RootServer, file: Path, before: dict[str, Any]
) -> None:
    new = {"fitted": "a fit of quite another length", "hpx": "dir/sub/renamed", "tree": "dir/events", "list": "l"}

    for old, name in new.items():
        basketry("mv", f"{file}:{old}", f"{file}:{name}")
    basketry("mv", f"{file}:tof", f"{file}:dir")

    is_whole(basketry, file)
    assert keys(file) == sorted(
        ("dir/" + key if key.startswith("tof") else new.get(name, name)) + cycle
        for key in KEYS
        for name, cycle in [(key.split(";")[0], "" if key.startswith("tof") else ";" + key.split(";")[1])]
    )
    places = {f"tof/plane{n}/n": f"dir/tof/plane{n}/n" for n in range(2)}
    same_as(before, root_values.of(file), new | places)


def test_an_object_is_called_as_its_key_by_root(basketry: Basketry, file: Path) -> None:
    basketry("mv", f"{file}:hpx", f"{file}:px")
    basketry("cp", f"{file}:tree", f"{file}:events")

    said = by_root(
        f"""
        f = ROOT.TFile("{file}")
        px, events = f.Get("px"), f.Get("events")
        function = f.Get("fitted").GetListOfFunctions().At(0).GetName()
        print(px.GetName(), px.GetEntries(), events.GetName(), events.GetEntries(), events.GetAlias("twice"), function)
        pointed = f.Get("pointed")
        print(f.Get("references").At(0).GetName())
        """
    )
    assert said.splitlines() == ["px 2001.0 events 1000 2*x gauss", "pointed"]


#: Objects with streamers of their own: canvases with all that is drawn, arrays of objects, references.
OWN_STREAMERS = """
file = ROOT.TFile(path, "RECREATE")
hist = ROOT.TH1D("drawn", "drawn", 4, 0, 4)
hist.Fill(1)
canvas = ROOT.TCanvas("canvas", "a canvas", 400, 300)
canvas.Divide(2, 2)
canvas.cd(1)
hist.Draw()
hist.DrawCopy("same")
legend = ROOT.TLegend(0.1, 0.1, 0.3, 0.3)
legend.AddEntry(hist, "drawn", "l")
legend.Draw()
canvas.cd(2)
function = ROOT.TF1("function", "sin(x)", 0, 3)
function.Draw()
text = ROOT.TPaveText(0.4, 0.4, 0.6, 0.6)
text.AddText("text")
text.Draw()
canvas.Update()
file.cd()
canvas.Write()
empty = ROOT.TCanvas("empty", "", 100, 100)
empty.Write()
array = ROOT.TClonesArray("TNamed", 3)
[array.ConstructedAt(number).SetNameTitle(f"n{number}", "t") for number in range(3)]
array.Write("array", ROOT.TObject.kSingleKey)
objects = ROOT.TObjArray()
both = ROOT.TNamed("both", "in two arrays")
objects.Add(both), objects.Add(array), objects.Add(both)
objects.Write("objects", ROOT.TObject.kSingleKey)
ROOT.TF1("linear", "1 ++ x ++ x*x", 0, 3).Write()
file.Close()
"""


def test_objects_with_their_own_streamers_are_renamed(basketry: Basketry, tmp_path: Path) -> None:
    """References in such objects count from the end of the key's name. ROOT itself streams them anew."""
    path, other = tmp_path / "own.root", tmp_path / "other.root"
    by_root(f"path = {str(path)!r}\nROOT.gROOT.SetBatch()\n{OWN_STREAMERS}")
    read = """
ROOT.gROOT.SetBatch()
def read(path, name):
    file = ROOT.TFile(path)
    return str(ROOT.TBufferJSON.ToJSON(file.Get(name), 3))
"""
    new = {"canvas": "canvas of a longer name", "empty": "e", "array": "an array", "objects": "objs", "linear": "some"}
    expected = by_root(f"{read}\nfor name in {list(new)}: print(read('{path}', name))")
    for old, name in new.items():
        basketry("cp", f"{path}:{old}", f"{other}:{name}")
        basketry("mv", f"{path}:{old}", f"{path}:{name}")
    assert "of more than 6 bytes" in basketry.refuses("mv", f"{path}:some", f"{path}:too many")

    is_whole(basketry, path, other)
    for file in (path, other):
        found = by_root(f"{read}\nfor name in {list(new.values())}: print(read('{file}', name))")
        assert found == expected
    # A file that is written anew has the same.
    basketry("rewrite", path, "-o", tmp_path / "anew.root")
    assert by_root(f"{read}\nprint(read('{tmp_path / 'anew.root'}', 'some'))") == expected.splitlines()[-1]


def test_an_rntuple_comes_with_its_pages_and_gets_its_name(basketry: Basketry, entries: Path, file: Path) -> None:
    rows = ntuple_of(entries)
    assert len(rows) == 300

    basketry("cp", f"{entries}:ntuple", f"{entries}:other")
    basketry("mv", f"{entries}:ntuple", f"{file}:dir/entries")
    basketry("rm", f"{entries}:hpxpy")

    is_whole(basketry, entries, file)
    assert keys(entries) == ["other;1"]
    assert ntuple_of(entries, "other") == ntuple_of(file, "dir/entries") == rows
    said = by_root(
        f"""
        for name, file in ("other", "{entries}"), ("dir/entries", "{file}"):
            reader = ROOT.RNTupleReader.Open(name, file)
            values = reader.GetView["std::vector<float>"]("values")
            print(reader.GetNEntries(), reader.GetDescriptor().GetName(), list(values(299)))
            del values
        """
    )
    last = f"{rows[299]['values']}"
    assert said.splitlines() == [f"300 other {last}", f"300 entries {last}"]


def by_root(code: str) -> str:
    """What a program with ROOT prints."""
    import textwrap

    program = "import ROOT\nROOT.gErrorIgnoreLevel = ROOT.kWarning\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Error in" not in done.stderr, done.stderr
    return "\n".join(line for line in done.stdout.splitlines() if line.strip())


def test_all_objects_are_copied_between_files(
    basketry: Basketry, root_values: RootServer, file: Path, before: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "new.root"

    basketry("cp", "-r", file, out)

    is_whole(basketry, out)
    # The newest cycle of each.
    assert {key.split(";")[0] for key in KEYS} == {key.split(";")[0] for key in keys(out)}
    assert all(key.endswith(";1") for key in keys(out))
    same_as(before, root_values.of(out), {})


def test_references_still_lead_to_their_objects_beside_those_of_another_file(
    basketry: Basketry, file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.root"
    by_root(
        f"""
        f = ROOT.TFile("{other}", "RECREATE")
        n, r = ROOT.TNamed("theirs", "t"), ROOT.TRefArray()
        r.Add(n)
        n.Write()
        r.Write("refs", ROOT.TObject.kSingleKey)
        f.Close()
        """
    )

    basketry("cp", f"{file}:pointed", f"{file}:references", other)

    is_whole(basketry, other)
    said = by_root(
        f"""
        f = ROOT.TFile("{other}")
        kept = [f.Get("theirs"), f.Get("pointed")]
        print(f.Get("refs").At(0).GetName(), f.Get("references").At(0).GetName())
        """
    )
    assert said == "theirs pointed"


def test_a_destination_may_be_a_source(basketry: Basketry, file: Path) -> None:
    basketry("cp", "-r", f"{file}:tof", f"{file}:hpx", f"{file}:tof")
    assert [key for key in keys(file) if key.startswith("tof")] == [
        "tof/hpx;1", "tof/plane0/n;1", "tof/plane1/n;1", "tof/tof/plane0/n;1", "tof/tof/plane1/n;1",
    ]  # fmt: skip
    is_whole(basketry, file)


def test_patterns_stay_within_a_directory(basketry: Basketry, file: Path) -> None:
    basketry("rm", f"{file}:*n*")
    gone = {"references;1", "pointed;1"}
    assert sorted(set(KEYS) - set(keys(file))) == sorted(
        key for key in KEYS if "/" not in key and "n" in key.split(";")[0]
    )
    assert gone <= set(KEYS) - set(keys(file))

    basketry("rm", f"{file}:tof/*/n")
    assert not [key for key in keys(file) if "tof" in key]


def test_cycles_are_named(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    with uproot.open(file) as one:
        counts = {cycle: one[f"hpx;{cycle}"].values().sum() for cycle in (1, 2)}
        entries = {cycle: one[f"tree;{cycle}"].num_entries for cycle in (1, 2)}
    assert counts[1] + 1 == counts[2]
    assert entries == {1: 500, 2: 1000}
    out = tmp_path / "b.root"

    basketry("cp", f"{file}:hpx;1", f"{file}:tree;1", out)
    basketry("cp", "--add-cycle", f"{file}:hpx", out)
    basketry("rm", f"{file}:hpx;1", f"{file}:tree;2")

    assert keys(out) == ["hpx;1", "hpx;2", "tree;1"]
    assert sorted(set(KEYS) - set(keys(file))) == ["hpx;1", "tree;2"]
    with uproot.open(out) as two, uproot.open(file) as one:
        assert [two[f"hpx;{cycle}"].values().sum() for cycle in (1, 2)] == [counts[1], counts[2]]
        assert two["tree"].num_entries == one["tree"].num_entries == 500
        assert one["hpx"].values().sum() == counts[2]


def test_a_name_that_is_taken_is_refused_replaced_or_an_older_cycle(basketry: Basketry, file: Path) -> None:
    taken = file.read_bytes()
    line = basketry.refuses("cp", f"{file}:hpx", f"{file}:hprof")
    assert "--replace" in line
    assert "--add-cycle" in line
    assert "hprof" in line
    assert file.read_bytes() == taken

    basketry("cp", "--replace", f"{file}:hpx", f"{file}:hprof")
    basketry("cp", "--add-cycle", f"{file}:hpxpy", f"{file}:fitted")

    with uproot.open(file) as edited:
        assert edited["hprof"].classname == "TH1F"
        assert [edited[f"fitted;{cycle}"].classname for cycle in (1, 2)] == ["TH1F", "TH2F"]
    assert "hprof;1" in keys(file)
    assert "hprof;2" not in keys(file)
    is_whole(basketry, file)


REFUSED = {
    "rm {f}:nothing": "has no object nothing",
    "rm {f}:hpx;7": "hpx has no cycle 7",
    "rm {f}:tof": "-r",
    "rm {f}": "-r",
    "rm -r {f}:": "behind the colon",
    "rm -rf {f}:/": "behind the colon",
    "rm -r {f}:hpx {f}://": "behind the colon",
    "rm {f}:hpx {f}:nothing": "has no object nothing",
    "cp {f}:tof {f}:other": "-r",
    "cp {f}:hpx {f}:hpx": "the same",
    "cp {f}:hpx {f}:hprof/x": "has this name already",
    "cp {f}:hp* {f}:nowhere": "is no directory",
    "cp -r {f}:tof {f}:hpx": "has this name already",
    "cp {f}:hpx {f}:p*": "no pattern",
    "mv {f}:hpx {f}:px;2": "no cycle",
    "mkdir -p {f}:../up": "begin at its top",
    "cp {f}:hpx {f}:tof/./px": "begin at its top",
    "cp {f}:hpx {f}:tof/plane0/n": "is there already",
    "cp {f}:hpx {f}:tof/plane0/n --replace --add-cycle": "cannot be used with",
    "cp --replace {f}:tof/plane0/n {f}:tof/plane1/n {f}:": "two sources",
    "mv --replace {f}:hpx {f}:hpx": "the same",
    "mv {f}:tof {f}:tof/plane0": "into itself",
    "mv {f}:tof {f}:tof": "into itself",
    "mv --replace {f}:tof/plane0/n {f}:tof/plane1/n {f}": "two sources",
    "cp -c 505 {f}:hpx {f}:px": "--recreate",
    "cp --recreate {f}:hpx {f}": "a source as well",
    "mkdir {f}:tof": "there already",
    "mkdir {f}:hpx": "has this name already",
    "mkdir {f}:x/y": "--parents",
    "mkdir {f}": "there already",
    "mkdir {d}/absent.root:x": "--parents",
    "cp {f}:hpx {d}/no/such.root": "does not exist",
    "cp {d}/absent.root:hpx {f}": "absent.root",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_changes_nothing(words: str, basketry: Basketry, file: Path) -> None:
    had = file.read_bytes()

    line = basketry.refuses(*(word.format(f=file, d=file.parent) for word in words.split()))

    said = REFUSED[words]
    assert said in line or (said == "-r" and "--recursive" in line), line
    assert file.read_bytes() == had
    assert listed(file.parent) == ["a.root"]


def test_directories_that_are_left_out_are_told(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    outcome = basketry.run("cp", file, tmp_path / "b.root")
    assert outcome.code == 1
    assert f"{file}:tof is a directory" in outcome.err
    assert {key.split(";")[0] for key in keys(tmp_path / "b.root")} == {
        key.split(";")[0] for key in KEYS if "/" not in key
    }


def test_a_move_between_files_leaves_nothing_behind_and_loses_nothing(
    basketry: Basketry, root_values: RootServer, file: Path, before: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "b.root"

    basketry("mv", f"{file}:tree", f"{file}:tof", f"{file}:hpx", out)

    is_whole(basketry, file, out)
    moved = [key for key in KEYS if key.startswith(("tree", "tof", "hpx;"))]
    assert keys(out) == moved
    assert keys(file) == [key for key in KEYS if key not in moved]
    paths = {key.split(";")[0] for key in moved}
    everything = {path for kind in ("objects", "trees") for path in before[kind]}
    same_as(before, root_values.of(file), {}, paths)
    same_as(before, root_values.of(out), {}, everything - paths)


def test_space_comes_back(basketry: Basketry, file: Path) -> None:
    size = file.stat().st_size
    basketry("rm", "-r", f"{file}:*")
    assert keys(file) == []
    # Gaps, until the file is written anew.
    assert file.stat().st_size <= size + 500
    is_whole(basketry, file)
    basketry("mkdir", f"{file}:x")
    basketry("rm", "-r", "--compact", f"{file}:x")
    # What is left describes classes.
    assert file.stat().st_size < size / 3
    is_whole(basketry, file)
    basketry("rm", "-r", file)
    assert not file.exists()


def test_classes_come_along_with_their_descriptions(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    """An object of a class that the destination does not describe can be read there."""
    out = tmp_path / "b.root"
    with uproot.recreate(out) as new:
        new["x"] = np.histogram([1, 2], bins=2)
    basketry("cp", f"{file}:hprof", f"{file}:fitted", out)
    with uproot.open(out) as there, uproot.open(file) as here:
        assert np.array_equal(there["hprof"].values(), here["hprof"].values())
        assert there["fitted"].member("fFunctions")[0].classname == "TF1"
    is_whole(basketry, out)


def test_a_new_destination_may_have_another_compression(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    basketry("cp", "-c", "lzma:4", f"{file}:tree", f"{file}:hpxpy", tmp_path / "b.root")
    with uproot.open(tmp_path / "b.root") as out, uproot.open(file) as own:
        assert type(out["tree"]["x"].compression).__name__ == "LZMA"
        assert out["tree"].arrays().tolist() == own["tree"].arrays().tolist()


def test_permissions_and_links_stay(basketry: Basketry, file: Path) -> None:
    file.chmod(0o640)
    link = file.with_name("link.root")
    link.symlink_to(file)
    basketry("mkdir", f"{link}:x")
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    with uproot.open(file) as edited:
        assert "x;1" in edited


def test_hard_links_are_one_file_and_links_to_nothing_are_refused(basketry: Basketry, file: Path) -> None:
    other, nowhere = file.with_name("other.root"), file.with_name("nowhere.root")
    other.hardlink_to(file)
    nowhere.symlink_to(file.with_name("absent.root"))
    basketry("mkdir", f"{file}:x")
    had = file.read_bytes()
    assert other.read_bytes() == had
    basketry("rm", "-r", "--compact", f"{file}:x")
    assert other.read_bytes() == had != file.read_bytes()
    for words in (["mkdir", str(nowhere)], ["cp", f"{file}:hpx", str(nowhere)]):
        assert "leads to no file" in basketry.refuses(*words)
    assert listed(file.parent) == ["a.root", "nowhere.root", "other.root"]
    assert nowhere.is_symlink()


def test_a_file_that_was_not_closed_is_not_edited(basketry: Basketry, tmp_path: Path) -> None:
    file = Path(shutil.copy(make_files.made("killed") / "killed1201.root", tmp_path / "k.root"))
    had = file.read_bytes()
    line = basketry.refuses("mkdir", f"{file}:x")
    assert "recover" in line
    assert file.read_bytes() == had


def test_a_damaged_object_refuses_the_edit(basketry: Basketry, file: Path) -> None:
    """What cannot be carried over would be lost."""
    data = bytearray(file.read_bytes())
    with uproot.open(file) as good:
        key = good.key("hpxpy")
        start = key.fSeekKey
    data[start : start + 2] = b"\xff\xff"
    file.write_bytes(data)
    line = basketry.refuses("rm", f"{file}:hprof")
    assert "hpxpy" in line
    assert file.read_bytes() == data


@pytest.mark.parametrize("seed", range(6))
def test_random_damage_loses_nothing(seed: int, basketry: Basketry, file: Path) -> None:
    """An edit of a damaged file either leaves the file as it is, or makes a sound one."""
    draw = random.Random(seed)
    data = bytearray(file.read_bytes())
    for _ in range(3):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    file.write_bytes(data)
    outcome = basketry.run("mv", f"{file}:hprof", f"{file}:tof/prof")
    assert outcome.code in (0, 2), str(outcome)
    assert "panicked" not in outcome.err
    if outcome.code == 2:
        assert file.read_bytes() == data
    assert listed(file.parent) == ["a.root"]


def test_a_full_disk_changes_nothing(file: Path, basketry: Basketry) -> None:
    had = file.read_bytes()
    done = subprocess.run(
        [basketry.binary, "cp", f"{file}:tree", f"{file}:again"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode != 0
    assert file.read_bytes() == had
    assert listed(file.parent) == ["a.root"]


def test_a_killed_edit_leaves_the_old_file_or_the_new_one(basketry: Basketry, tmp_path: Path) -> None:
    file = tmp_path / "big.root"
    with bk.recreate(file, compression="none") as out:
        out["tree"] = {"x": np.arange(4_000_000, dtype="f8")}
        out["h"] = np.histogram([1.0, 2.0], bins=4)
    had = file.read_bytes()
    whole = 0
    for name in range(8):
        words = ["cp", "-q", "--compact", f"{file}:h", f"{file}:d{name}"]
        process = subprocess.Popen([basketry.binary, *words])
        # The hidden file is there when the work has begun, and gone when it is done.
        while process.poll() is None and not list(tmp_path.glob(".big.root.*.tmp")):
            pass
        process.kill()
        process.wait()
        is_whole(basketry, file)
        whole += file.read_bytes() == had
        with uproot.open(file) as found:
            assert found["tree"].num_entries == 4_000_000
            assert "h;1" in found
        had = file.read_bytes()
    assert whole > 0


def test_the_same_edit_makes_the_same_bytes(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    made = []
    same = tmp_path / "same.root"
    for threads in (1, 3):
        shutil.copy(file, same)
        basketry("mv", "-j", str(threads), f"{same}:tree", f"{same}:dir/t")
        made.append(same.read_bytes())
    assert made[0] == made[1]


def test_what_an_rntuple_keeps_of_its_tree_goes_with_it(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    """The list beside an RNTuple has what it has no place for; without it the way back to a tree loses the aliases."""
    ntuple = tmp_path / "n.root"
    basketry("rewrite", f"{file}:tree", "-o", ntuple, "--container", "rntuple", "--keep", "x")

    basketry("mv", f"{ntuple}:tree", f"{ntuple}:dir/events")
    basketry("cp", f"{ntuple}:dir/events", tmp_path / "c.root")
    basketry("rm", f"{ntuple}:dir/events")

    assert [key for key in keys(ntuple) if "events" in key or "tree" in key] == []
    basketry("rewrite", tmp_path / "c.root", "-o", tmp_path / "back.root", "--container", "ttree")
    said = by_root(
        f"""
        f = ROOT.TFile("{tmp_path / "back.root"}")
        t = f.Get("events")
        print(t.GetName(), t.GetEntries(), t.GetAlias("twice"))
        """
    )
    assert said == "events 1000 2*x"


def test_what_changed_is_told(basketry: Basketry, file: Path) -> None:
    new = file.with_name("new.root")
    assert basketry("mkdir", new) == f"made {new}\n"
    assert basketry("rm", f"{file}:hpx;1") == f"removed {file}:hpx;1\n"
    assert basketry("rm", f"{file}:tree") == f"removed {file}:tree\n"


def test_of_edits_at_the_same_time_none_is_lost(basketry: Basketry, file: Path) -> None:
    """Each edit is done, or refused and then tried again."""
    out = file.with_name("out.root")
    refused = ("is being edited", "has changed since")

    def edit(worker: int) -> list[str]:
        names = [f"w{worker}n{number}" for number in range(5)]
        for name in names:
            for _ in range(2000):
                done = basketry.run("cp", f"{file}:hpx", f"{out}:{name}")
                if done.code == 0:
                    break
                assert any(word in done.err for word in refused), done.err
            assert done.code == 0
        return names

    with ThreadPoolExecutor(4) as workers:
        made = [name for names in workers.map(edit, range(4)) for name in names]

    assert keys(out) == sorted(f"{name};1" for name in made)
    is_whole(basketry, out)
    assert listed(file.parent) == ["a.root", "out.root"]


def test_a_file_that_is_being_edited_is_not_edited(basketry: Basketry, file: Path, entries: Path) -> None:
    had = file.read_bytes(), entries.read_bytes()
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for words in (
            ["cp", f"{entries}:hpxpy", f"{file}:other"],
            ["mv", f"{file}:hpx", entries],
            ["mv", f"{entries}:hpxpy", file],
            ["rm", "-r", file],
            ["mkdir", f"{file}:x"],
            ["cp", "--recreate", entries, file],
        ):
            assert "is being edited" in basketry.refuses(*words)
            assert (file.read_bytes(), entries.read_bytes()) == had
        # To read it is no edit.
        basketry("cp", f"{file}:hpx", f"{entries}:hpx")
    basketry("mkdir", f"{file}:x")


def test_names_are_as_long_as_keys_can_be(basketry: Basketry, file: Path) -> None:
    """ROOT reads the length of a key as a signed number of two bytes."""
    had = file.read_bytes()
    for words in (
        ["mkdir", "{f}:{n}"],
        ["cp", "{f}:hpx", "{f}:{n}"],
        ["mv", "{f}:tree", "{f}:{n}"],
        ["cp", "-r", "{f}:tof", "{f}:{n}"],
    ):
        line = basketry.refuses(*(word.format(f=file, n="n" * 32_760) for word in words))
        assert "too long for a key" in line
        assert file.read_bytes() == had

    name = "n" * 32_000
    basketry("cp", f"{file}:hprof", f"{file}:{name}")
    basketry("mv", f"{file}:tof", f"{file}:d{name}")

    is_whole(basketry, file)
    said = by_root(
        f"""
        f = ROOT.TFile("{file}")
        name = "n" * 32_000
        # `Get` takes no such names.
        found = {{k.GetName(): k.ReadObj() for k in f.GetListOfKeys() if "n" * 9 in k.GetName()}}
        print(found[name].GetEntries() == f.Get("hprof").GetEntries(), bool(found["d" + name].Get("plane0")))
        """
    )
    assert said == "True True"


def without_override() -> None:
    """Takes the right to write any file from a process that root starts. Others do not have it."""
    drop_from_bounding_set, dac_override = 24, 1
    ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0)


def denied(basketry: Basketry, *words: object) -> str:
    """The error of an edit by a user who may not write everything."""
    command = [str(basketry.binary), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=without_override)
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_what_the_user_may_not_write_stays(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    had = file.read_bytes()
    file.chmod(0o444)
    for words in (
        ["mkdir", f"{file}:x"],
        ["rm", f"{file}:hpx"],
        ["rm", "-rf", file],
        ["mv", f"{file}:hpx", tmp_path / "b.root"],
        ["cp", "--recreate", make_files.made("edited") / "entries.root", file],
    ):
        assert "is not writable" in denied(basketry, *words)
        assert file.read_bytes() == had
        assert listed(tmp_path) == ["a.root"]
    basketry("cp", f"{file}:hpx", tmp_path / "b.root")


def test_a_move_begins_only_if_it_can_end(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    """The destination is not written if the source cannot be replaced."""
    folder = tmp_path / "closed"
    folder.mkdir()
    source = Path(shutil.copy(file, folder / "s.root"))
    had = file.read_bytes()
    folder.chmod(0o555)
    try:
        assert "is not writable" in denied(basketry, "mv", f"{source}:hpx", f"{file}:moved")
    finally:
        folder.chmod(0o755)
    assert file.read_bytes() == source.read_bytes() == had


def test_a_move_that_fails_says_that_objects_are_in_both(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    """The destination fits, and what is left of the source does not."""
    had, out = file.read_bytes(), tmp_path / "b.root"
    done = subprocess.run(
        [basketry.binary, "mv", f"{file}:hprof", out],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000)),
    )
    assert done.returncode == 2, done.stderr
    assert f"still has the objects, and {out} has them by now as well" in done.stderr
    assert file.read_bytes() == had
    assert keys(out) == ["hprof;1"]


def test_a_directory_and_an_object_of_one_name_are_copied(basketry: Basketry, tmp_path: Path) -> None:
    source, out = tmp_path / "s.root", tmp_path / "new.root"
    by_root(
        f"""
        f = ROOT.TFile("{source}", "RECREATE")
        d = f.mkdir("same")
        d.WriteObject(ROOT.TNamed("deep", "below"), "deep")
        f.WriteObject(ROOT.TNamed("same", "beside"), "same")
        f.Close()
        """
    )

    basketry("cp", "-r", source, out)
    basketry("cp", "-r", f"{source}:same", f"{out}:", "--replace")

    is_whole(basketry, out)
    said = by_root(
        f"""
        f = ROOT.TFile("{out}")
        print(sorted((k.GetName(), k.GetCycle(), k.GetClassName()) for k in f.GetListOfKeys()))
        found = {{k.GetCycle(): k.ReadObj() for k in f.GetListOfKeys()}}
        print(found[2].GetTitle(), found[1].Get("deep").GetTitle())
        """
    )
    assert said.splitlines() == ["[('same', 1, 'TDirectoryFile'), ('same', 2, 'TNamed')]", "beside below"]


def test_questions_are_asked_for_each_object(basketry: Basketry, file: Path) -> None:
    done = subprocess.run(
        [basketry.binary, "rm", "-i", f"{file}:hpx", f"{file}:hprof"],
        input="n\ny\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"remove 'hprof' from '{file}' ? (y/n)" in done.stdout
    assert set(KEYS) - set(keys(file)) == {"hprof;1"}


def test_a_dry_run_only_tells(basketry: Basketry, file: Path) -> None:
    had = file.read_bytes()
    assert f"would remove {file}:hpx\n" in basketry("rm", "-n", f"{file}:hpx")
    assert f"would remove {file}:hprof;1\n" in basketry("rm", "-n", f"{file}:hprof")
    assert file.read_bytes() == had


def test_python_has_the_same_verbs(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.root"
    copied = bk.cp([f"{file}:hpx", f"{file}:tof"], out, recursive=True)
    assert [(change.kind, change.object, change.class_) for change in copied.changes] == [
        ("copied", "hpx", "TH1F"),
        ("copied", "tof", "TDirectory"),
    ]
    assert copied.files[0].bytes_before is None
    assert copied.files[0].bytes_after == out.stat().st_size
    with pytest.raises(ValueError, match="replace"):
        bk.cp(f"{file}:hpxpy", f"{out}:hpx")
    bk.cp(f"{file}:hpxpy", f"{out}:hpx", replace=True)
    moved = bk.mv(f"{out}:hpx", f"{out}:tof/xy")
    assert moved.changes[0].from_object == "hpx"
    assert moved.changes[0].cycles == (1,)
    made = bk.mkdir([f"{out}:a/b", f"{out}:c"], parents=True)
    assert [change.object for change in made.changes] == ["a", "a/b", "c"]
    bk.rm(f"{out}:tof/plane*", recursive=True)
    assert bk.rm(f"{out}:absent", force=True).changes == ()
    assert keys(out) == ["tof/xy;1"]
    with pytest.raises(FileNotFoundError):
        bk.rm(tmp_path / "absent.root", recursive=True)
