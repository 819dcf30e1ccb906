"""Files that are changed in place: `merge --append`, `hadd -a`, `update`, `rm`. Old entries and new ones are there,
what is not named stays where it was, a kill at any write leaves the old file or the new one; gaps are used again."""

import itertools
import json
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.command import Argument, Basketry
from referee.root_server import RootServer
from test_edit import by_root, is_whole, same_as

#: Makes a file whose entries begin with a number: trees of numbers, vectors, strings and classes, also in a directory,
#: an RNTuple, objects.
MAKE = """
import numpy as np
def make(path, first, count):
    file = ROOT.TFile(path, "RECREATE")
    x, n, fixed = np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(3, "f4")
    counted, vector, text = np.zeros(8, "f8"), ROOT.std.vector("float")(), ROOT.std.string()
    tree = ROOT.TTree("t", "a tree")
    tree.SetAutoFlush(64)
    tree.Branch("x", x, "x/I"), tree.Branch("n", n, "n/I"), tree.Branch("fixed", fixed, "fixed[3]/F")
    tree.Branch("counted", counted, "counted[n]/D"), tree.Branch("vector", vector), tree.Branch("text", text)
    hist = ROOT.TH1F("in_tree", "", 3, 0, 3)
    hist.SetDirectory(ROOT.nullptr)
    tree.Branch("hist", hist)
    for entry in range(first, first + count):
        x[0], n[0], fixed[:] = entry, entry % 5, entry + np.arange(3)
        counted[: n[0]] = entry + np.arange(n[0])
        vector.clear()
        for one in range(entry % 3):
            vector.push_back(entry + one)
        text.assign(f"entry {entry}")
        hist.Reset()
        hist.Fill(entry % 3)
        tree.Fill()
    tree.Write()
    folder = file.mkdir("folder")
    folder.cd()
    small = ROOT.TTree("small", "")
    small.Branch("x", x, "x/I")
    for entry in range(first, first + count):
        x[0] = entry
        small.Fill()
    small.Write()
    h = ROOT.TH1D("h", "", 4, 0, 4)
    h.Fill(first % 4)
    h.Write()
    deep = folder.mkdir("deep")
    deep.cd()
    ROOT.TObjString(f"{first}").Write("text")
    file.Close()
    file = ROOT.TFile(path, "UPDATE")
    model = ROOT.RNTupleModel.Create()
    model.MakeField["int"]("a")
    model.MakeField["std::vector<float>"]("b")
    writer = ROOT.RNTupleWriter.Append(model, "r", file)
    entry = writer.CreateEntry()
    for number in range(first, first + count):
        entry["a"], entry["b"] = number, [number, number + 0.5]
        writer.Fill(entry)
    del writer
    file.Close()
"""


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Files of 500, 150 and 9 entries, by ROOT."""
    folder = tmp_path_factory.mktemp("three")
    calls = "\n".join(f'make("{folder}/{name}.root", {first}, {count})' for name, first, count in
                      (("a", 0, 500), ("b", 1000, 150), ("c", 2000, 9)))  # fmt: skip
    by_root(MAKE + calls)
    return folder / "a.root", folder / "b.root", folder / "c.root"


@pytest.fixture
def target(three: tuple[Path, ...], tmp_path: Path) -> Path:
    """A copy of the first file, to be changed."""
    return Path(shutil.copy(three[0], tmp_path / "target.root"))


@pytest.fixture(scope="session")
def cutter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that ends a program at one of its writes."""
    out = tmp_path_factory.mktemp("cutter") / "cut_writes.so"
    source = Path(__file__).resolve().parent / "referee/cut_writes.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", out, source, "-ldl"], check=True)
    return out


def trees_of(path: Path) -> dict[str, list[Any]]:
    """The entries of the trees and the RNTuple, by uproot."""
    with uproot.open(path) as file:
        tree = {name: file["t"][name].array().tolist() for name in ("x", "n", "fixed", "counted", "vector", "text")}
        return {
            "t": [dict(zip(tree, entry, strict=True)) for entry in zip(*tree.values(), strict=True)],
            "small": file["folder/small"]["x"].array().tolist(),
            "r": file["r"].arrays().tolist(),
        }


def joined(*paths: Path) -> dict[str, list[Any]]:
    """The entries of several files, one after the other."""
    all_ = [trees_of(path) for path in paths]
    return {name: [entry for one in all_ for entry in one[name]] for name in all_[0]}


#: What ROOT finds in a file that `MAKE` began.
READ = """
import json
def read(path):
    file = ROOT.TFile(path)
    found = {"recovered": bool(file.TestBit(ROOT.TFile.kRecovered)), "zombie": file.IsZombie()}
    has = lambda name: bool(file.Get(name))
    if has("t"):
        tree = file.Get("t")
        values = lambda e: [e.x, list(e.fixed), list(e.counted), list(e.vector), str(e.text), e.hist.GetEntries()]
        found["t"] = [values(entry) for entry in tree]
    for name in ("folder/small", "other/tiny"):
        if has(name):
            found[name] = [entry.x for entry in file.Get(name)]
    if has("folder/h"):
        found["h"] = [file.Get("folder/h").GetBinContent(number) for number in range(6)]
    found["r"] = ROOT.RDataFrame("r", path).AsNumpy(["a"])["a"].tolist()
    found["keys"] = [f"{key.GetName()};{key.GetCycle()}" for key in file.GetListOfKeys()]
    file.Close()
    return found
"""


def root_reads(*paths: Path) -> list[dict[str, Any]]:
    """What ROOT finds in files."""
    said = by_root(READ + f"print(json.dumps([read(path) for path in {[str(path) for path in paths]!r}]))")
    found: list[dict[str, Any]] = json.loads(said)
    assert not any(one["recovered"] or one["zombie"] for one in found)
    return found


def test_trees_rntuples_and_objects_are_added_to(
    basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path
) -> None:
    before = target.read_bytes()
    with uproot.open(target) as file:
        baskets = {name: [file["t"][name].basket_key(n).fSeekKey for n in range(file["t"][name].num_baskets)]
                   for name in ("x", "counted", "vector")}  # fmt: skip
    a, b, c = three

    report = basketry.json("merge", b, c, "-o", target, "--append")

    is_whole(basketry, target)
    assert trees_of(target) == joined(a, b, c)
    with uproot.open(target) as file:
        for name, seeks in baskets.items():
            now = [file["t"][name].basket_key(n).fSeekKey for n in range(file["t"][name].num_baskets)]
            assert now[: len(seeks)] == seeks
        assert file["folder/h"].member("fEntries") == 3
        assert file.keys(recursive=False, cycle=False).count("t") == 1
    after = target.read_bytes()
    # Baskets and pages that were there have their bytes.
    assert report["appended"]["bytes_before"] == len(before)
    assert report["appended"]["bytes_new"] < len(before)
    # A merge into a new file has the same, by ROOT.
    whole = tmp_path / "whole.root"
    basketry("merge", a, b, c, "-o", whole, "--pack", "0B")
    expected, found = root_reads(whole, target)
    assert found == expected
    assert basketry.run("verify", a, b, c, target).code == 0
    assert after != before
    assert [path.read_bytes() for path in three[:1]] == [before]


def test_older_cycles_of_the_target_stay(basketry: Basketry, tmp_path: Path) -> None:
    make = """
import numpy as np
def make(path, *trees):
    file = ROOT.TFile(path, "RECREATE")
    for values in trees:
        x = np.zeros(1, "i4")
        tree = ROOT.TTree("t", "")
        tree.Branch("x", x, "x/I")
        for x[0] in values:
            tree.Fill()
        tree.Write()
        h = ROOT.TH1D("h", "", 2, 0, 2)
        h.Fill(0, len(values))
        h.Write()
    file.Close()
"""
    target, more = tmp_path / "target.root", tmp_path / "more.root"
    by_root(make + f'make("{target}", [10, 11, 12], [20, 21]); make("{more}", [30])')
    for times in (1, 2):
        basketry("merge", more, "-o", target, "--append")
        read = """
import json
file = ROOT.TFile(path)
names = [f"{key.GetName()};{key.GetCycle()}" for key in file.GetListOfKeys()]
of = lambda name: [e.x for e in file.Get(name)] if name[0] == "t" else file.Get(name).GetBinContent(1)
print(json.dumps({name: of(name) for name in names}))
"""
        found = json.loads(by_root(f"path = {str(target)!r}\n{read}"))
        assert found == {"t;1": [10, 11, 12], "t;2": [20, 21] + [30] * times, "h;1": 3, "h;2": 2 + times}
    with bk.update(target) as update:
        update["t;2"].extend({"x": np.array([40], "i4")})
        with pytest.raises(ValueError, match="cycles 1, 2 of t"):
            update["t;1"].extend({"x": np.array([40], "i4")})
        with pytest.raises(ValueError, match="basketry rm"):
            del update["t;1"]
    with uproot.open(target) as file:
        assert file["t;1"]["x"].array().tolist() == [10, 11, 12]
        assert file["t"]["x"].array().tolist() == [20, 21, 30, 30, 40]
        assert file.classnames() == {"t;2": "TTree", "t;1": "TTree", "h;2": "TH1D", "h;1": "TH1D"}
    basketry("check", target)


def test_an_end_that_is_too_small_is_not_believed(basketry: Basketry, three: tuple[Path, ...], tmp_path: Path) -> None:
    """ROOT leaves such a header where a file shrank and grew again, and reads what lies behind."""
    path = tmp_path / "short.root"
    by_root(f"""
import numpy as np
path = {str(path)!r}
file = ROOT.TFile(path, "RECREATE"); ROOT.TNamed("n", "x" * 50).Write(); file.Close()
file = ROOT.TFile(path, "UPDATE"); file.Delete("n;*"); file.Close()
file = ROOT.TFile(path, "UPDATE")
x = np.zeros(1, "i4")
tree = ROOT.TTree("long", "")
tree.Branch("x", x, "x/I")
for x[0] in range(1000):
    tree.Fill()
tree.Write()
file.Close()
""")
    for words in (["mkdir", f"{path}:d"], ["merge", three[1], "-o", path, "--append"], ["rm", "-r", f"{path}:d"]):
        basketry(*words)
        basketry("check", path)
        read = f"file = ROOT.TFile({str(path)!r})\nprint([e.x for e in file.Get('long')] == list(range(1000)))"
        assert by_root(read).split() == ["True"]


def test_a_file_that_changes_during_an_update_stays_as_it_is(tmp_path: Path) -> None:
    path, other = tmp_path / "file.root", tmp_path / "other.root"
    for made, first in ((path, 0), (other, 50)):
        with bk.recreate(made) as file:
            file["t"] = {"x": np.arange(first, first + 3)}
    before = other.read_bytes()
    opened = bk.update(path)
    opened["t"].extend({"x": np.arange(2)})
    shutil.copy(other, path)
    with pytest.raises(ValueError, match="has changed since"):
        opened.close()
    assert path.read_bytes() == before
    with bk.update(path) as again, pytest.raises(ValueError, match="no cycle"):
        again["x;2"] = "text"
    gone = bk.update(path)
    gone["t"].extend({"x": np.arange(2)})
    path.unlink()
    with pytest.raises(FileNotFoundError):
        gone.close()
    assert sorted(found.name for found in tmp_path.iterdir()) == ["other.root"]


def test_hadd_appends_as_hadd_does(basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path) -> None:
    theirs = Path(shutil.copy(target, tmp_path / "theirs.root"))
    inode = target.stat().st_ino
    basketry("hadd", "-a", target, three[1])
    assert target.stat().st_ino == inode
    hadd = Path(sys.executable).parent / "hadd"
    if hadd.exists():
        subprocess.run([sys.executable, "-W", "ignore", hadd, "-a", theirs, three[1]], check=False, capture_output=True)
    is_whole(basketry, target)
    assert trees_of(target) == joined(*three[:2])
    with uproot.open(target) as ours, uproot.open(theirs) as other:
        if other["t"].num_entries == 650:
            assert ours["folder/h"].values().tolist() == other["folder/h"].values().tolist()


def test_root_goes_on_and_we_after_it(basketry: Basketry, three: tuple[Path, ...], target: Path) -> None:
    basketry("merge", three[1], "-o", target, "--append")
    by_root(f"""
        import numpy as np
        file = ROOT.TFile("{target}", "UPDATE")
        tree = file.Get("folder/small")
        x = np.array([77], "i4")
        tree.SetBranchAddress("x", x)
        tree.Fill()
        file.cd("folder")
        tree.Write("", ROOT.TObject.kOverwrite)
        file.cd()
        ROOT.TObjString("by ROOT").Write("more")
        file.Delete("folder/h;*")
        file.Close()
    """)
    is_whole(basketry, target)
    basketry("merge", three[2], "-o", target, "--append")
    is_whole(basketry, target)
    found, expected = trees_of(target), joined(*three)
    small = expected["small"]
    assert found == {**expected, "small": [*small[:650], 77, *small[650:]]}
    with uproot.open(target) as file:
        assert str(file["more"]) == "by ROOT"


def test_the_rest_stays_as_it_is(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    """Objects, cycles, references and trees that no input has keep their records, byte by byte."""
    target = Path(shutil.copy(make_files.made("edited") / "edited.root", tmp_path / "e.root"))
    before = root_values.of(target)
    with uproot.open(target) as file:
        had = {name: (key.fSeekKey, key.fNbytes) for name, key in
               ((name, file.key(name)) for name in file.keys(recursive=False))}  # fmt: skip
    with bk.recreate(tmp_path / "new.root") as new:
        new["added"] = {"x": np.arange(5)}
    data = target.read_bytes()
    basketry("merge", tmp_path / "new.root", "-o", target, "--append")
    is_whole(basketry, target)
    now = target.read_bytes()
    with uproot.open(target) as file:
        for name, (seek, size) in had.items():
            if "TDirectory" in file.key(name).fClassName:
                continue
            assert (file.key(name).fSeekKey, file.key(name).fNbytes) == (seek, size), name
            assert now[seek : seek + size] == data[seek : seek + size], name
        assert file["added"]["x"].array().tolist() == [0, 1, 2, 3, 4]
    after = root_values.of(target)
    del after["trees"]["added"]
    same_as(before, after, {})


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(
    "words", [["merge", "{b}", "-o", "{t}", "--append", "-q"], ["rm", "-q", "{t}:t", "{t}:folder/h"],
              ["rm", "-q", "{t}:last"], ["mv", "-q", "{t}:folder/small", "{t}:other/tiny"]]
)  # fmt: skip
def test_a_kill_at_any_write_leaves_the_old_file_or_the_new_one(
    words: list[str], half: bool, basketry: Basketry, cutter: Path, three: tuple[Path, ...], tmp_path: Path
) -> None:
    target, states = tmp_path / "in/t.root", tmp_path / "states"
    target.parent.mkdir()
    states.mkdir()
    said = [word.format(b=three[1], t=target) for word in words]
    shutil.copy(three[0], target)
    # A file that was changed before has gaps, and one is made shorter without what it has at its end.
    basketry("rm", "-q", f"{target}:folder/deep/text")
    with bk.update(target) as file:
        file["last"] = {"y": np.random.default_rng(1).random(4000)}
    had = Path(shutil.copy(target, states / "old.root"))
    basketry(*said)
    shutil.copy(target, states / "new.root")
    codes, again = [], []
    for number in itertools.count(1):
        assert number < 300
        shutil.copyfile(had, target)
        cut = {"LD_PRELOAD": str(cutter), "CUT_IN": str(target.parent), "CUT_AT": str(number)}
        outcome = basketry.within(**cut, **({"CUT_HALF": "1"} if half else {})).run(*said)
        assert [path.name for path in target.parent.iterdir()] == ["t.root"]
        codes.append(outcome.code)
        shutil.copy(target, states / f"{number}.root")
        is_whole(basketry, target)
        if target.read_bytes()[:300] == had.read_bytes()[:300] and number % 3 == 0:
            # What was cut is done again.
            basketry(*said)
            is_whole(basketry, target)
            again.append(Path(shutil.copy(target, states / f"again{number}.root")))
        if outcome.code == 0:
            break
    assert set(codes[:-1]) == {137}
    assert len(codes) > 5
    numbered = [states / f"{number}.root" for number in range(1, len(codes) + 1)]
    old, new, *found = root_reads(had, states / "new.root", *numbered, *again)
    assert old != new
    kinds = [one == new for one in found[: len(codes)]]
    assert all(one in (old, new) for one in found)
    # Once it is the new one it stays so.
    assert kinds == sorted(kinds)
    assert not kinds[0]
    assert kinds[-1]
    assert all(one == new for one in found[len(codes) :])


def size_by_root(path: Path) -> int:
    """Where a file ends, by ROOT."""
    return int(by_root(f"print(ROOT.TFile('{path}').GetEND())"))


def test_a_file_ends_before_what_went_from_its_end(basketry: Basketry, tmp_path: Path) -> None:
    """As ROOT's does. Only what readers begin with moves before the new end."""
    target, chance = tmp_path / "target.root", np.random.default_rng(2)

    def entries() -> list[Any]:
        is_whole(basketry, target)
        with uproot.open(target) as file:
            found: list[Any] = file["t"]["x"].array().tolist()
            assert file["folder/deep/text"] == "there"
        return found

    with bk.recreate(target) as file:
        file["t"] = {"x": np.arange(500)}
        file["folder/deep/text"] = "there"
    with bk.recreate(tmp_path / "more.root") as file:
        file["deep/er/last"] = {"y": chance.random(50_000)}
        file["folder/deep/array"] = np.histogram(chance.random(50_000), bins=2_000)
    smallest = target.stat().st_size
    basketry("merge", tmp_path / "more.root", "-o", target, "--append")
    full = target.stat().st_size

    report = basketry.json("rm", f"{target}:deep/er/last", f"{target}:folder/deep/array")

    size = target.stat().st_size
    assert size == size_by_root(target) == report["files"][0]["bytes_after"]
    assert size < smallest + 10_000 < full - 300_000
    assert entries() == list(range(500))
    # What is left is used as before.
    basketry("merge", tmp_path / "more.root", "-o", target, "--append")
    assert entries() == list(range(500))
    with bk.update(target) as update:
        update["t"].extend({"x": np.arange(3)})
        update["end"] = {"y": chance.random(5_000)}
    had = target.stat().st_size
    # Baskets of other trees do not move.
    basketry("rm", f"{target}:deep/er/last")
    assert had - 10_000 < target.stat().st_size
    assert entries() == [*range(500), 0, 1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_used_again(
    seed: int, basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path
) -> None:
    """Twenty changes that add as much as they remove do not let the file grow."""
    chance = random.Random(seed)
    extra = tmp_path / "extra.root"
    sizes = []
    for turn in range(20):
        with bk.recreate(extra, compression="none") as new:
            new["big"] = {"y": np.arange(20_000 + chance.randrange(2_000), dtype="f8")}
            new["text"] = "x" * chance.randrange(2_000)
            if chance.random() < 0.5:
                new["dir/text"] = "y" * chance.randrange(500)
        words = ["--replace", "big", "--replace", "text"] if turn else []
        with uproot.open(target) as file:
            words += ["--replace", "dir"] if "dir" in file else []
        basketry("merge", extra, "-o", target, "--append", "-q", *words)
        if turn % 5 == 4:
            is_whole(basketry, target)
        sizes.append(target.stat().st_size)
    assert max(sizes[10:]) <= max(sizes[:10]) + 22_000 * 8 // 4
    assert trees_of(target) == joined(three[0])


@pytest.mark.parametrize("seed", range(6))
def test_any_changes_one_after_the_other(
    seed: int, basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path
) -> None:
    """What a file has after random changes in place is what the same changes of a copy give, written anew."""
    chance = random.Random(seed)
    anew = Path(shutil.copy(target, tmp_path / "anew.root"))
    for turn in range(8):
        words: list[str | Path]
        match chance.randrange(4):
            case 0 | 1:
                source = three[1 + chance.randrange(2)]
                made = tmp_path / f"made{turn}.root"
                basketry("merge", anew, source, "-o", made, "-q", "--pack", "0B")
                made.replace(anew)
                words = ["merge", source, "-o", target, "--append", "-q"]
                basketry(*words)
            case 2:
                for file, more in ((target, []), (anew, ["--compact"])):
                    basketry("cp", "-q", f"{file}:folder/h", f"{file}:copies/h{turn}", *more)
            case _:
                with uproot.open(anew) as found:
                    there = [name for name in found.keys(cycle=False) if name.startswith("copies/")]
                if there:
                    name = chance.choice(there)
                    for file, more in ((target, []), (anew, ["--compact"])):
                        basketry("rm", "-q", f"{file}:{name}", *more)
        is_whole(basketry, target)
    assert basketry.run("verify", anew, target).code == 0, basketry.run("verify", anew, target).out
    assert trees_of(target) == trees_of(anew)


def test_threads_change_no_byte(basketry: Basketry, three: tuple[Path, ...], tmp_path: Path) -> None:
    made = []
    for threads in (1, 2, 5):
        out = Path(shutil.copy(three[0], tmp_path / "same.root"))
        basketry("merge", *three[1:], "-o", out, "--append", "-q", "--threads", str(threads))
        made.append(out.read_bytes())
    assert made[0] == made[1] == made[2]


def test_what_is_refused_changes_nothing(
    basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path
) -> None:
    had = target.read_bytes()
    with bk.recreate(tmp_path / "other.root") as other:
        other["t"] = {"x": np.arange(3.0), "z": np.arange(3)}
    for words, why in (
        ([tmp_path / "other.root"], "t"),
        ([target], "is an input as well"),
        ([three[1], "--compression", "zstd:5"], "keeps the layout"),
        ([three[1], "--drop", "x"], "keeps the layout"),
        ([three[1], "--replace", "nothing"], "no such object"),
        ([three[1], "-f"], "cannot be used with"),
    ):
        outcome = basketry.run("merge", *words, "-o", target, "--append")
        assert outcome.code == 2, str(outcome)
        assert why in outcome.err
        assert target.read_bytes() == had
    plan: list[Argument] = ["plan", "merge", three[1], "-o", tmp_path / "plan.json", "--", "--append"]
    assert "would add its inputs again" in basketry.refuses(*plan)
    # There is no such file yet: it is made.
    basketry("merge", three[1], "-o", tmp_path / "new.root", "--append", "-q")
    assert trees_of(tmp_path / "new.root") == joined(three[1])


def forged(target: Path, at: int, number: int) -> None:
    data = bytearray(target.read_bytes())
    data[at : at + 4] = number.to_bytes(4, "big")
    target.write_bytes(data)


def free_list(target: Path) -> int:
    """The offset of the first segment of the free list of a small file."""
    data = target.read_bytes()
    seek = int.from_bytes(data[16:20], "big")
    return seek + int.from_bytes(data[seek + 14 : seek + 16], "big")


@pytest.mark.parametrize("damage", ["gap in use", "gap of baskets", "list of keys", "header"])
def test_a_damaged_target_is_refused(damage: str, basketry: Basketry, three: tuple[Path, ...], target: Path) -> None:
    basketry("rm", "-q", f"{target}:folder/h")
    with uproot.open(target) as file:
        record = file.key("t").fSeekKey
        basket = file["t"]["x"].basket_key(1).fSeekKey
    at = free_list(target)
    match damage:
        case "gap in use":
            forged(target, at + 2, record)
            forged(target, at + 6, record + 3)
        case "gap of baskets":
            forged(target, at + 2, basket)
            forged(target, at + 6, basket + 99)
        case "list of keys":
            data = target.read_bytes()
            key = record.to_bytes(4, "big") + (100).to_bytes(4, "big") + b"\x05TTree\x01t"
            places = [at for at in range(len(data)) if data.startswith(key, at) and at != record + 18]
            for place in places:
                forged(target, place, record + 1)
            assert places
        case "header":
            forged(target, 12, target.stat().st_size + 999)
    had = target.read_bytes()
    outcome = basketry.run("merge", three[2], "-o", target, "--append")
    assert outcome.code == 2, str(outcome)
    now = target.read_bytes()
    if damage == "gap of baskets":
        # Found with the baskets, when bytes in other gaps were written.
        assert (len(now), now[:300]) == (len(had), had[:300])
        assert trees_of(target) == joined(three[0])
    else:
        assert now == had


def test_a_full_disk_leaves_the_file_as_it_was(basketry: Basketry, three: tuple[Path, ...], target: Path) -> None:
    import resource

    had = target.read_bytes()
    limit = len(had) + 2_000
    done = subprocess.run(
        [basketry.binary, "merge", three[1], "-o", target, "--append"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 2
    assert "no space left" in done.stderr
    # Bytes in gaps may be others.
    assert (target.stat().st_size, target.read_bytes()[:300]) == (len(had), had[:300])
    is_whole(basketry, target)
    assert trees_of(target) == joined(three[0])


def test_columns_of_several_forms_are_extended_in_python(
    basketry: Basketry, three: tuple[Path, ...], target: Path
) -> None:
    with bk.update(target) as file:
        with pytest.raises(ValueError, match="cannot be extended"):
            file["t"]
        file["folder/small"].extend({"x": np.array([7, 8], "i4")})
        file["r"].extend({"a": np.array([5], "i4"), "b": ak.Array([[1.5, 2.5]])})
        assert file["folder/small"].num_entries == 502
    is_whole(basketry, target)
    found, first = trees_of(target), trees_of(three[0])
    assert found["small"] == [*first["small"], 7, 8]
    assert found["r"] == [*first["r"], {"a": 5, "b": [1.5, 2.5]}]
    assert found["t"] == first["t"]
    assert root_reads(target)[0]["folder/small"] == found["small"]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_tables_of_few_entries_are_extended(count: int, tmp_path: Path) -> None:
    path, values = tmp_path / "few.root", list(map(float, range(count)))
    with bk.recreate(path) as file:
        file.mktree("t", {"x": "f8"}).extend({"x": np.array(values)})
        file.mkrntuple("r", {"x": "f8"}).extend({"x": np.array(values)})
    with bk.update(path) as updated:
        for name in ("t", "r"):
            updated[name].extend({"x": np.array([9.0])})
    with uproot.open(path) as found:
        assert all(found[name]["x"].array().tolist() == [*values, 9.0] for name in ("t", "r"))


def test_what_uproot_and_we_wrote_is_extended_and_read_by_root(basketry: Basketry, tmp_path: Path) -> None:
    entries = {
        "i": np.arange(4, dtype="i2"),
        "f": np.linspace(0, 1, 12).reshape(4, 3),
        "j": ak.Array([[1], [], [2, 3], [4]]),
    }
    makers: dict[str, Callable[[Path], Any]] = {"uproot": uproot.recreate, "basketry": bk.recreate}
    for name, maker in makers.items():
        path = tmp_path / f"{name}.root"
        types = {"i": "int16", "f": np.dtype(("f8", (3,))), "j": "var * int64"}
        with maker(path) as new:
            new.mktree("dir/t", types).extend(entries)
            new.mkrntuple("n", {"x": np.arange(3)})
            new["text"] = "there"
        for _ in range(3):
            with bk.update(path) as file:
                file["dir"]["t"].extend(entries)
                file["n"].extend({"x": np.arange(2)})
        is_whole(basketry, path)
        with uproot.open(path) as file:
            for column, array in entries.items():
                assert file["dir/t"][column].array().tolist() == ak.to_list(array) * 4
            assert file["text"] == "there"
            assert file["n"].arrays()["x"].tolist() == [0, 1, 2, *[0, 1] * 3]
        counted = by_root(f'file = ROOT.TFile("{path}")\nprint([list(entry.j) for entry in file.Get("dir/t")])')
        assert json.loads(counted) == ak.to_list(entries["j"]) * 4


def test_objects_are_replaced_and_deleted_beside_tables(
    basketry: Basketry, target: Path, three: tuple[Path, ...]
) -> None:
    with bk.update(target) as file:
        assert {"t", "r", "folder/small", "folder/h", "folder/deep/text"} <= set(file.keys(cycle=False))
        assert dict(file.items(cycle=False))["t"].num_entries == 500
        file["folder/h"] = np.histogram([0.5, 1.5], bins=2, range=(0, 2))
        file["folder/more"] = "text"
        file["new/u"] = {"y": np.arange(3.0)}
        del file["r"]
        file.delete("folder/deep")
        with pytest.raises(ValueError, match="already has the TTree t"):
            file.mktree("t", {"x": "int32"})
        with pytest.raises(ValueError, match="already has the TTree t"):
            file["t"] = "text"
        assert "r" not in file
        file["r"] = "not an RNTuple"
    is_whole(basketry, target)
    with uproot.open(target) as found:
        assert found["folder/h"].values().tolist() == [1, 1]
        assert (found["folder/more"], found["r"]) == ("text", "not an RNTuple")
        assert found["new/u"]["y"].array().tolist() == [0, 1, 2]
        assert "folder/deep" not in found
        assert found["t"]["x"].array().tolist() == [entry["x"] for entry in trees_of(three[0])["t"]]


def test_a_block_that_fails_changes_nothing(target: Path) -> None:
    had = target.read_bytes()

    def change() -> None:
        with bk.update(target) as file:
            file["folder/small"].extend({"x": np.arange(5, dtype="i4")})
            del file["t"]
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        change()
    assert target.read_bytes() == had
    assert [path.name for path in target.parent.iterdir()] == ["target.root"]


def test_what_a_killed_block_leaves_goes_with_the_next_one(target: Path) -> None:
    had = target.read_bytes()
    program = f"""
    import os, signal, numpy as np, basketry as bk
    with bk.update({str(target)!r}) as file:
        file["more"] = {{"x": np.arange(1000.0)}}
        os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert target.read_bytes() == had
    names = [path.name for path in target.parent.iterdir()]
    assert len(names) == 2
    assert all(name.startswith(".") or name == target.name for name in names)
    with bk.update(target) as first:
        # The folder of a block that goes on stays.
        with bk.recreate(target.with_name("other.root")) as made:
            made["t"] = {"x": np.arange(3)}
        with bk.update(target.with_name("other.root")) as second:
            second["text"] = "there"
        first["more"] = {"x": np.arange(5)}
    assert sorted(path.name for path in target.parent.iterdir()) == ["other.root", target.name]
    with uproot.open(target) as file:
        assert file["more"]["x"].array().tolist() == [0, 1, 2, 3, 4]


def test_the_file_that_is_added_to_is_no_input(
    basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.root"
    with bk.recreate(other) as file:
        file["u"] = {"y": np.arange(3)}
    assert "only in" not in basketry("merge", other, "-o", target, "--append")
    said = basketry("merge", three[1], other, "-o", target, "--append")
    assert "RNTuple r is only in 1 of the 2 inputs" in said
    assert "tree u is only in 1 of the 2 inputs" in said


def test_what_is_no_file_is_not_added_to(basketry: Basketry, three: tuple[Path, ...], target: Path) -> None:
    had = target.read_bytes()
    link = target.with_name("link.root")
    link.symlink_to("nowhere.root")
    verbs: list[list[Argument]] = [
        ["merge", three[1], "--append"], ["merge", three[1]], ["rewrite", three[1]], ["rewrite", three[1], "-f"],
    ]  # fmt: skip
    for verb in verbs:
        said = basketry.refuses(*verb, "-o", f"{target}:t")
        assert f"name {target} alone" in said
        if "-f" not in verb:
            said = basketry.refuses(*verb, "-o", link)
            assert "leads to no file" in said
            assert "--force" not in said
    for words in (["mkdir", "-p", f"{link}:d"], ["cp", f"{target}:t", link]):
        assert "leads to no file" in basketry.refuses(*words)
    with pytest.raises(ValueError, match="alone"):
        bk.recreate(f"{target}:t")
    assert target.read_bytes() == had
    assert sorted(path.name for path in target.parent.iterdir()) == ["link.root", target.name]


def test_what_is_said_of_a_cut_file_leads_to_recover(
    basketry: Basketry, three: tuple[Path, ...], target: Path, tmp_path: Path
) -> None:
    target.write_bytes(target.read_bytes()[:-2000])
    place, copy = f"{target}:t", f"{tmp_path / 'new.root'}:t"
    for words in (
        ["rm", place], ["mv", place, f"{target}:u"], ["cp", place, copy], ["mkdir", f"{target}:d"],
        ["merge", three[1], "-o", target, "--append"], ["merge", target, three[1], "-o", tmp_path / "out.root"],
        ["fileset", target],
    ):  # fmt: skip
        said = basketry.refuses(*words)
        assert "is cut short" in said
        assert "`basketry recover`" in said
    basketry.run("recover", target, "-o", tmp_path / "whole.root")
    basketry("check", tmp_path / "whole.root")


def test_readers_see_that_the_file_is_another(basketry: Basketry, three: tuple[Path, ...], target: Path) -> None:
    """The UUID changes with the content, so that what is kept of a file by its UUID is not taken for the new one."""
    with uproot.open(target) as file:
        before = file.file.uuid
    basketry("merge", three[2], "-o", target, "--append", "-q")
    with uproot.open(target) as file:
        assert file.file.uuid != before
