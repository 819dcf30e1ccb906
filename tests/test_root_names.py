"""The command under the names of ROOT's tools: the cases of roottest (roottest/main) by what they do, beside ROOT's
own tools."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.paths import BINARY, root_command

ROOT_BIN = root_command("rootls").parent
#: roottest's names for the objects of its input.
NAMES = ("hprof", "hpx", "hpxpy", "tof")


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links of all names to the command."""
    folder = tmp_path_factory.mktemp("links")
    for (
        name
    ) in "rootls rootprint rootcp rootmv rootrm rootmkdir rooteventselector rootslimtree hadd rootreadspeed".split():
        (folder / name).symlink_to(BINARY)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The input: histograms, a profile, directories in directories, a tree with an older cycle."""
    return Path(shutil.copy(make_files.made("edited") / "edited.root", tmp_path / "test.root"))


def listed(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def tool(folder: Path, cwd: Path, *words: object, code: int = 0) -> str:
    """What a tool prints, with its exit code."""
    done = subprocess.run(
        [folder / str(words[0]), *map(str, words[1:])], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert "panicked" not in done.stderr
    return done.stdout if code == 0 else done.stderr


def names(folder: Path, cwd: Path, place: str) -> list[str]:
    """The names that `rootls -1` prints."""
    return tool(folder, cwd, "rootls", "-1", place).split()


#: Listings that are compared with those of ROOT's rootls, byte by byte.
LISTINGS = [
    "-1 test.root",
    "-1 test.root:*",
    "-1 test.root:tof",
    "-1 test.root:tof/*",
    "-l test.root",
    "-l test.root:*",
    "-l test.root:tof",
    "-l test.root:tof/*",
    "-lr test.root",
    "-t test.root",
    "-t test.root:tree",
    "-1c test.root",
    "-1r test.root",
    "-1 test.root test.root:tof",
    "-R entries.root",
    "-l entries.root",
]


@pytest.mark.parametrize("words", LISTINGS)
def test_rootls_prints_what_roots_prints(words: str, links: Path, file: Path) -> None:
    shutil.copy(make_files.made("edited") / "entries.root", file.parent)
    ours = tool(links, file.parent, "rootls", *words.split())
    assert ours == tool(ROOT_BIN, file.parent, "rootls", *words.split())


#: Dates of objects: year, month, day, hour, minute, second. Whether each number has one digit or two is seen in print.
DATES = {
    "one digit": (2026, 1, 5, 3, 7, 9),
    "two digits": (2018, 12, 30, 23, 59, 59),
    "minute of one digit": (2026, 11, 29, 11, 9, 30),
    "hour of one digit": (2026, 11, 29, 1, 10, 0),
    "first that can be stored": (1995, 1, 1, 0, 0, 0),
    "last that can be stored": (2058, 12, 31, 23, 59, 59),
    "no month": (2026, 0, 1, 12, 0, 0),
    "a month too many": (2026, 13, 1, 12, 30, 0),
}


def redated(path: Path, date: tuple[int, int, int, int, int, int]) -> None:
    """Gives all objects of a file a date.

    Keys have it packed into 32 bits (ROOT's TDatime), behind the sizes of the record and of the object, before the
    lengths of the key and its cycle; the list of keys repeats them.
    """
    year, month, day, hour, minute, second = date
    packed = (year - 1995) << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second
    content = path.read_bytes()
    with uproot.open(path) as opened:
        directories = [opened, *(opened[name] for name, kind in opened.classnames().items() if kind == "TDirectory")]
        keys = [directory.key(name) for directory in directories for name in directory.keys(recursive=False)]
    assert keys
    for key in keys:
        before, after = (
            struct.pack(">ihi", key.fNbytes, key.fVersion, key.fObjlen),
            struct.pack(">hh", key.fKeylen, key.fCycle),
        )
        content = content.replace(
            before + struct.pack(">I", key._fDatime) + after, before + struct.pack(">I", packed) + after
        )
    path.write_bytes(content)


@pytest.mark.parametrize("date", DATES)
def test_rootls_prints_dates_as_root_does(date: str, links: Path, file: Path) -> None:
    redated(file, DATES[date])
    ours = tool(links, file.parent, "rootls", "-lr", file.name)
    assert str(DATES[date][0]) in ours
    assert ours == tool(ROOT_BIN, file.parent, "rootls", "-lr", file.name)


#: Trees whose clusters are declared, in one or several sizes, or not at all: then ROOT's readers make some that fit
#: their cache.
CLUSTERED = """
import array, ROOT, sys
file = ROOT.TFile(sys.argv[1], "recreate")
value = array.array("d", [0])
def fill(name, entries, flush, changes={}, flushed=()):
    tree = ROOT.TTree(name, name)
    tree.Branch("x", value, "x/D", 200)
    tree.SetAutoFlush(flush)
    for entry in range(entries):
        if entry in changes:
            tree.SetAutoFlush(changes[entry])
        if entry in flushed:
            tree.FlushBaskets()
        value[0] = entry
        tree.Fill()
    tree.Write()
for entries in (0, 1, 2, 4, 100):
    fill(f"never{entries}", entries, 0)
fill("entries", 95, 10)
fill("even", 90, 10)
fill("one", 30, 1)
fill("bytes", 5000, -2000)
fill("changed", 100, 10, {40: 25})
fill("twice", 100, 7, {21: 0, 50: 20})
fill("flushed", 100, 0, flushed=(30, 70))
"""


def test_rootls_prints_clusters_as_roots_readers_see_them(links: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", CLUSTERED, str(tmp_path / "trees.root")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    with bk.recreate(tmp_path / "ours.root") as out:
        out["undeclared"] = {"x": np.arange(64.0)}
    with uproot.recreate(tmp_path / "others.root") as out:
        out.mktree("extended", {"x": "f8"})
        for entries in (3, 5, 1):
            out["extended"].extend({"x": np.arange(entries) * 1.0})
    for name in ("trees.root", "ours.root", "others.root"):
        ours = tool(links, tmp_path, "rootls", "-t", name)
        assert "The total number of clusters is" in ours
        assert ours == tool(ROOT_BIN, tmp_path, "rootls", "-t", name)


def test_rootls_says_what_it_does_not_find(links: Path, file: Path) -> None:
    for folder in (links, ROOT_BIN):
        assert "'test.root:nope' matches no objects" in tool(folder, file.parent, "rootls", "test.root:nope", code=1)


#: The cases of roottest: commands on a copy of the input, the place that is listed, and its names.
CASES: dict[str, tuple[list[str], str, set[str] | None]] = {
    "SimpleRootrm1": (["rootrm {c}:hpx"], "{c}", {"-hpx"}),
    "SimpleRootrm2": (["rootrm {c}:hp*"], "{c}", {"-hpx", "-hprof", "-hpxpy"}),
    "SimpleRootrm3": (["rootrm -r {c}:tof/plane0"], "{c}:tof", {"plane1"}),
    "SimpleRootmkdir1": (["rootmkdir {c}:new_directory"], "{c}", {"+new_directory"}),
    "SimpleRootmkdir2": (["rootmkdir {c}:dir1 {c}:dir2"], "{c}", {"+dir1", "+dir2"}),
    "SimpleRootmkdir3": (["rootmkdir -p {c}:aa/bb/cc"], "{c}:aa/bb", {"cc"}),
    "SimpleRootcp1": (["rootcp {c}:hpx {c}:histo"], "{c}", {"+histo"}),
    "SimpleRootcp2": (["rootcp -r {c}:tof {c}:fot"], "{c}", {"+fot"}),
    "SimpleRootcp3": (["rootcp --replace {c}:hpx {c}:hpxpy"], "{c}", set()),
    "SimpleRootcp4": (["rootmkdir {c}:dir", "rootcp {c}:hpx {c}:dir"], "{c}:dir", {"hpx"}),
    "SimpleRootcp5": (["rootmkdir {c}:dir", "rootcp -r {c}:tof {c}:dir"], "{c}:dir", {"tof"}),
    "RootcpReplaceRecursive": (["rootcp --replace -r {c}:tof {c}:tof"], "{c}:tof", {"plane0", "plane1", "tof"}),
    "RootcpReplaceEntireFile": (["rootcp --replace test.root {c}"], "{c}", set()),
    "SimpleRootmv1": (["rootmv {c}:hpx {c}:histo"], "{c}", {"-hpx", "+histo"}),
    "SimpleRootmv2": (["rootmv {c}:tof {c}:fot"], "{c}", {"-tof", "+fot"}),
    "SimpleRootmv3": (["rootmv {c}:hpx {c}:hpxpy"], "{c}", {"-hpx"}),
    "SimpleRootmv4": (["rootmkdir {c}:dir", "rootmv {c}:hpx {c}:dir"], "{c}:dir", {"hpx"}),
    "SimpleRootmv5": (["rootmkdir {c}:dir", "rootmv {c}:tof {c}:dir"], "{c}:dir", {"tof"}),
    "NameCyclesRootmv": (["rootmv {c}:tree moved.root"], "moved.root", {"tree"}),
}


@pytest.mark.parametrize("case", CASES)
def test_cases_of_roottest(case: str, links: Path, file: Path) -> None:
    commands, place, expected = CASES[case]
    tool(links, file.parent, "rootcp", "--recreate", "-r", "test.root", "copy.root")
    had = set(names(links, file.parent, "copy.root"))
    assert had >= set(NAMES)

    for command in commands:
        tool(links, file.parent, *command.format(c="copy.root").split())

    assert expected is not None
    changes = {name for name in expected if name[0] in "+-"}
    whole = (had - {name[1:] for name in changes if name[0] == "-"}) | {n[1:] for n in changes if n[0] == "+"}
    found = names(ROOT_BIN, file.parent, place.format(c="copy.root"))
    # A file has the process identifiers of its sources.
    assert set(found) - {"ProcessID0"} == (whole if changes or not expected else expected) - {"ProcessID0"}
    subprocess.run([BINARY, "check", "--deep", file.parent / "copy.root"], check=True, capture_output=True)

    tool(links, file.parent, "rootrm", "-r", "copy.root")
    assert not (file.parent / "copy.root").exists()


#: Refusals, with words of the message; ROOT's tools fail as well.
REFUSED = {
    "rootrm test.root:tof": "-r",
    "rootrm test.root": "-r",
    "rootrm test.root:nope": "nope",
    "rootmkdir test.root:tof": "there already",
    "rootmkdir test.root:a/b": "--parents",
    "rootmkdir absent.root:a": "--parents",
    "rootcp absent.root:x test.root": "absent.root",
    "rootcp test.root:hpx test.root:hprof": "--replace",
    "rootcp test.root:tof/plane0/n test.root:tof/plane1/n test.root:": "two sources",
    "rootmv test.root:tof/plane0/n test.root:tof/plane1/n test.root:": "two sources",
    "rootcp --recreate test.root:hpx test.root": "a source as well",
    "rootcp -c 505 test.root:hpx test.root:new": "compression",
    "rootprint -f eps test.root:hpx": "pdf, png or svg",
    "rootprint -o all.pdf test.root:hpx": "-o",
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_are_told_in_roots_form(words: str, links: Path, file: Path) -> None:
    had = file.read_bytes()
    name = words.split()[0]
    said = tool(links, file.parent, *words.split(), code=1)
    assert said.startswith(f"Error in <{name}>: ")
    assert REFUSED[words] in said
    assert "--add-cycle" not in said
    assert file.read_bytes() == had
    assert listed(file.parent) == ["test.root"]


#: Flags of rooteventselector and rootslimtree, and what they keep: entries, and branches.
SUBSETS: list[tuple[str, Any, list[str]]] = [
    ("rooteventselector", lambda _: True, ["x", "v", "run"]),
    ("rooteventselector -f 101", lambda row: row["x"] >= 101, ["x", "v", "run"]),
    ("rooteventselector -l 100", lambda row: row["x"] <= 100, ["x", "v", "run"]),
    (
        "rooteventselector -f 10 -l 700 -s x%3==1&&x<650",
        lambda row: row["x"] % 3 == 1 and 10 <= row["x"] < 650,
        ["x", "v", "run"],
    ),
    ("rooteventselector -e v", lambda _: True, ["x", "run"]),
    ("rooteventselector -e * -i x,r*", lambda _: True, ["x", "run"]),
    ("rootslimtree -e * -i v", lambda _: True, ["v"]),
    ("rootslimtree -c 404 -e r*,v", lambda _: True, ["x"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "keeps", "branches"), SUBSETS, ids=[words for words, *_ in SUBSETS])
def test_subsets_of_trees(words: str, keeps: Any, branches: list[str], links: Path, file: Path) -> None:
    with uproot.open(file) as whole:
        rows = whole["tree"].arrays().tolist()

    tool(links, file.parent, *words.split(), "test.root:tree", "out.root")

    with uproot.open(file.parent / "out.root") as out:
        assert [key for key in out if "Process" not in key] == ["tree;1"]
        found = out["tree"].arrays().tolist()
    assert found == [{name: row[name] for name in branches} for row in rows if keeps(row)]
    assert listed(file.parent) == ["out.root", "test.root"]


def test_a_second_subset_is_a_new_cycle(links: Path, file: Path) -> None:
    for last in (9, 19):
        tool(links, file.parent, "rooteventselector", "-l", last, "test.root:tree", "out.root")
    with uproot.open(file.parent / "out.root") as out:
        assert [out[f"tree;{cycle}"].num_entries for cycle in (1, 2)] == [10, 20]
    tool(links, file.parent, "rooteventselector", "--recreate", "test.root:tree", "out.root")
    with uproot.open(file.parent / "out.root") as out:
        assert out["tree;1"].num_entries == 1000


def test_a_pattern_means_the_trees_of_a_directory(links: Path, file: Path) -> None:
    """Those in directories below have other places in ROOT's tools as well: they are not taken."""
    for place in ("test.root:tof/tree", "test.root:tof/plane0/tree"):
        tool(links, file.parent, "rooteventselector", "-l", 3, "test.root:tree", "few.root")
        tool(links, file.parent, "rootcp", "few.root:tree", place)
        (file.parent / "few.root").unlink()
    for tree, entries in [("test.root:*", 1000), ("test.root:tof/*", 4), ("test.root:t*/p*/tree", 4)]:
        tool(links, file.parent, "rooteventselector", "--recreate", tree, "out.root")
        with uproot.open(file.parent / "out.root") as out:
            assert [key for key in out.keys(recursive=True) if "Process" not in key] == ["tree;1"]
            assert out["tree"].num_entries == entries
    had = (file.parent / "out.root").read_bytes()
    said = tool(links, file.parent, "rooteventselector", "test.root:tree", "test.root:tof/tree", "out.root", code=1)
    assert "tof/tree" in said
    assert "one would hide the other" in said
    assert (file.parent / "out.root").read_bytes() == had


def test_the_usage_begins_with_the_name_of_the_tool(links: Path, file: Path) -> None:
    for name in ("rootcp", "rootls", "rootrm"):
        assert f"Usage: {name} [" in tool(links, file.parent, name, "--help")


def test_a_dry_run_says_what_it_would_remove(links: Path, file: Path) -> None:
    done = subprocess.run(
        [links / "rootrm", "-n", "test.root:hpx"], cwd=file.parent, capture_output=True, text=True, check=True
    )
    assert done.stderr == "Info in <rootrm>: would remove test.root:hpx\n"
    assert "hpx" in names(ROOT_BIN, file.parent, "test.root")


def test_rootprint_draws_histograms(links: Path, file: Path) -> None:
    done = subprocess.run(
        [links / "rootprint", "-d", "pictures", "-v", "test.root"],
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    made = listed(file.parent / "pictures")
    assert {"hpx.pdf", "hpxpy.pdf", "fitted.pdf"} <= set(made)
    assert "list of class TList is not drawn" in done.stderr
    assert (file.parent / "pictures/hpx.pdf").read_bytes().startswith(b"%PDF-")
    for name, begin in (("svg", b"<svg"), ("png", b"\x89PNG")):
        tool(links, file.parent, "rootprint", "-f", name, "-d", "pictures", "test.root:hpx")
        assert (file.parent / f"pictures/hpx.{name}").read_bytes().startswith(begin)


def test_hadd_and_rootreadspeed_are_among_the_names(links: Path, file: Path) -> None:
    tool(links, file.parent, "hadd", "sum.root", "test.root", "test.root")
    with uproot.open(file.parent / "sum.root") as out:
        assert out["tree"].num_entries == 2000
    said = tool(links, file.parent, "rootreadspeed", "--files", "test.root", "--trees", "tree", "--all-branches")
    assert "Uncompressed throughput" in said


def test_questions_are_asked(links: Path, file: Path) -> None:
    done = subprocess.run(
        [links / "rootrm", "-i", "test.root:hpx"],
        cwd=file.parent,
        input="n\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "remove 'hpx' from 'test.root' ? (y/n)" in done.stdout
    assert "hpx" in names(ROOT_BIN, file.parent, "test.root")
