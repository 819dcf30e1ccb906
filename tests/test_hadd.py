"""hadd's command line: exit codes, outputs and lines equal those of real hadd, which runs each time."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import uproot

from referee import make_files, paths
from referee.command import Basketry

# hadd's own lines; lines of other classes of ROOT have no counterpart.
SAID = re.compile(r"^(hadd (Source file|Target path|merging)|(Info|Warning|Error) in <hadd>: |usage: hadd)")
# Lines of one side only: subprocesses, caches, and the state of a half-written output.
OF_ROOT_ONLY = re.compile(r"each process should|Using cachesize|failure during the merge")
OF_OURS_ONLY = re.compile(r"changes nothing here")


# A copy of a file's tree without its index.
WITHOUT_INDEX = """
import sys, ROOT
source = ROOT.TFile.Open(sys.argv[1])
target = ROOT.TFile.Open(sys.argv[2], "RECREATE")
tree = source.Get("tree").CloneTree(-1)
tree.SetTreeIndex(ROOT.nullptr)
tree.Write()
target.Close()
"""


@dataclass
class HaddResult:
    """The result of a call."""

    code: int
    files: set[str]
    lines: list[str]


def call(command: list[str], folder: Path, arguments: list[str]) -> HaddResult:
    """Runs hadd in a folder with three sources, a file that is no ROOT file, and lists."""
    folder.mkdir()
    for name, part in (("a", 0), ("b", 1), ("c", 2)):
        source = make_files.made("chained") / f"part{part}.root"
        (folder / f"{name}.root").write_bytes(source.read_bytes())
    (folder / "there.root").write_bytes((folder / "c.root").read_bytes())
    (folder / "junk.root").write_text("junk")
    (folder / "empty.root").touch()
    (folder / "list.txt").write_text("a.root\n\nb.root\n")
    (folder / "nested.txt").write_text("@list.txt\nc.root\n")
    (folder / "bad_list.txt").write_text("a.root\nnone.root\n")
    (folder / "names.txt").write_text("tree\n")
    before = {path.name for path in folder.iterdir()}
    done = subprocess.run(command + arguments, cwd=folder, capture_output=True, text=True, timeout=120)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if SAID.match(line)]
    # ROOT counts a skipped source twice; only the rest is compared.
    return HaddResult(done.returncode, {path.name for path in folder.iterdir()} - before, lines)


def run_both(basketry: Basketry, tmp_path: Path, arguments: str) -> tuple[HaddResult, HaddResult]:
    """The same call of basketry and of real hadd."""
    words = arguments.split()
    ours = call([str(basketry.binary), "hadd"], tmp_path / "ours", words)
    return ours, call([str(paths.root_command("hadd"))], tmp_path / "theirs", words)


def compared(line: str) -> str:
    """A line without the parts that each side words differently."""
    line = re.sub(r"(skipping file with error: \S+?):.*", r"\1", line)
    line = re.sub(r"(error opening filter file '.*?'):.*", r"\1", line)
    line = re.sub(r"(seen a positional argument '.*?' after some flags\.).*", r"\1", line)
    line = re.sub(r"compression settings?\.?$", "compression setting", line)
    line = re.sub(r"(interpreting 9 as 109).*", r"\1", line)
    line = re.sub(r"parallelizing +with \d+ \w+", "parallelizing", line)
    line = re.sub(r"(found `--`).*", r"\1", line)
    line = re.sub(r"^usage: hadd.*", "usage: hadd", line)
    return line.rstrip(". ")


def lines_of(said: HaddResult, *without: re.Pattern[str]) -> list[str]:
    """The lines of a call: sorted, since they come from two streams, and unique, since ROOT may need several passes."""
    return sorted({compared(line) for line in said.lines if not any(p.search(line) for p in without)})


DONE = [
    "o.root a.root b.root",
    "-v o.root a.root",
    "-v 0 o.root a.root",
    "-v1 o.root a.root",
    "-v2 o.root a.root",
    "-v 3 o.root a.root",
    "-v=5 o.root a.root",
    "o.root a.root -v 0 -f",
    "-h",
    "--help",
    "-n0 o.root a.root -h",
    "-n0 o.root a.root -help",
    "-n0 o.root a.root --help",
    "-- -h a.root",
    "-- --o.root a.root",
    "-f0 -- --o.root a.root",
    "o.root a.root -x",
    "o.root a.root --x",
    "-Tx -V -1 o.root a.root",
    "-n0 o.root a.root",
    "-n=1 o.root a.root b.root",
    "-n 2 o.root a.root b.root c.root",
    "-j o.root a.root",
    "-j 2 o.root a.root b.root",
    "-j=2 o.root a.root b.root c.root",
    "-j 2 o.root @list.txt",
    "-ff o.root a.root a.root -dbg -j 2",
    "o.root a.root -cachesize 100M -f",
    "-cachesize=10MiB o.root a.root",
    "-f300 o.root a.root",
    "-ff -fk o.root a.root",
    "-ff -ff o.root a.root",
    "-f -f o.root a.root",
    "-fk -O o.root a.root",
    "-fk404 o.root a.root",
    "-fkf o.root a.root",
    "-f9 o.root a.root",
    "-f404 o.root a.root b.root",
    "-O o.root a.root b.root",
    "-T o.root a.root",
    "o.root @list.txt",
    "o.root a.root @list.txt",
    "-experimental-io-features nonsense o.root a.root",
    "-d . o.root a.root",
    "-a o.root a.root",
    "-a there.root a.root",
    "-f -O o.root a.root b.root",
    "-fk505 o.root a.root b.root",
    "o.root a.root a.root a.root",
    "o.txt a.root",
    "-f -a there.root a.root",
    "-f there.root a.root",
    "-k o.root a.root nonexist.root b.root",
    "-k o.root a.root @nolist b.root",
    "-k o.root @bad_list.txt b.root",
    "-L names.txt -Ltype SkipListed o.root a.root",
    "-Lnames.txt -Ltype=OnlyListed o.root a.root",
]

REFUSED = [
    "",
    "foo.root",
    "-f --o.root -- a.root",
    "-na o.root a.root",
    "-n -1 o.root a.root",
    "-n o.root a.root",
    "o.root a.root -n",
    "-jfa o.root a.root",
    "-j 10a o.root a.root",
    "-j-1 o.root a.root",
    "-v99x o.root a.root",
    "-v x o.root a.root",
    "-ff o.root -k a.root",
    "-cachesize 10Q o.root a.root",
    "o.root a.root -L names.txt -Ltype onlylisted",
    "o.root a.root -L names.txt",
    "o.root a.root -Ltype SkipListed",
    "-f110 o.root a.root",
    "-f777 o.root a.root",
    "-f10 o.root a.root",
    "-f600 o.root a.root",
    "-f-1 o.root a.root",
    "-fx o.root a.root",
    "-f 505 o.root a.root",
    "-f505 -f101 o.root a.root",
    "-ff -f101 o.root a.root",
    "o.root a.root nonexist.root",
    "-k o.root nonexist.root",
    "o.root @nolist",
    "o.root a.root:tree",
    "o.root @nested.txt",
    "o.root @bad_list.txt",
    "-d /nodir o.root a.root",
    "-dbgx o.root a.root",
    "a.root a.root",
    "-f a.root a.root b.root",
    "-a a.root a.root b.root",
    "there.root a.root",
    "o.root zzz*.root",
    "no/o.root a.root",
    "-x o.root a.root -L names.txt",
    "-x -f009 o.root a.root -Ltype Listed",
    "o.root a.root -V --",
]


@pytest.mark.parametrize("arguments", DONE)
def test_commands_end_as_with_hadd(arguments: str, basketry: Basketry, tmp_path: Path) -> None:
    ours, theirs = run_both(basketry, tmp_path, arguments)
    assert (theirs.code, ours.code) == (0, 0), str(ours)
    assert ours.files == theirs.files
    assert lines_of(ours, OF_OURS_ONLY) == lines_of(theirs, OF_ROOT_ONLY)


@pytest.mark.parametrize("arguments", REFUSED)
def test_refusals_are_those_of_hadd(arguments: str, basketry: Basketry, tmp_path: Path) -> None:
    ours, theirs = run_both(basketry, tmp_path, arguments)
    assert (theirs.code, ours.code) == (1, 1), str(ours)
    assert not ours.files
    assert lines_of(ours) == lines_of(theirs)


@pytest.mark.parametrize("bad", ["junk.root", "empty.root"])
@pytest.mark.parametrize("flag", ["", "-k "])
def test_a_source_that_is_no_root_file_is_refused_or_skipped(
    bad: str, flag: str, basketry: Basketry, tmp_path: Path
) -> None:
    ours, theirs = run_both(basketry, tmp_path, f"{flag}o.root a.root {bad}")
    assert ours.code == theirs.code == (0 if flag else 1)
    line = f"skipping file with error: {bad}" if flag else f"exiting due to error in {bad}"

    for side in (ours, theirs):
        assert any(line in said for said in side.lines), side.lines
    # On failure real hadd leaves an empty output; basketry leaves none.
    assert ours.files == ({"o.root"} if flag else set())


@pytest.mark.parametrize("arguments", ["-f list.txt @list.txt", "-f -L names.txt -Ltype SkipListed names.txt a.root"])
def test_the_target_is_never_a_list(arguments: str, basketry: Basketry, tmp_path: Path) -> None:
    ours = call([str(basketry.binary), "hadd"], tmp_path / "ours", arguments.split())
    assert ours.code == 1
    assert (tmp_path / "ours" / "list.txt").read_text() == "a.root\n\nb.root\n"
    assert (tmp_path / "ours" / "names.txt").read_text() == "tree\n"


def test_the_target_is_never_a_source(basketry: Basketry, tmp_path: Path) -> None:
    # Real hadd prints this with -k as well, and then overwrites the source.
    ours = call([str(basketry.binary), "hadd"], tmp_path / "ours", "-k -f a.root a.root b.root".split())
    assert ours.code == 1
    assert (tmp_path / "ours" / "a.root").read_bytes() == (make_files.made("chained") / "part0.root").read_bytes()


def test_a_directory_that_basketry_wrote_is_the_same_directory(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("objects") / "objects0.root"
    once, both = tmp_path / "once.root", tmp_path / "both.root"
    basketry("hadd", once, source)
    outcome = basketry.run("hadd", both, source, once)
    assert "classes" not in outcome.err
    with uproot.open(both) as file:
        names = file.keys(cycle=False)
        assert len(names) == len(set(names))
        assert file["folder/inside"].values().sum() == 2


def test_hadd_has_common_and_fill(basketry: Basketry, tmp_path: Path) -> None:
    folder, out = make_files.made("schemas"), tmp_path / "out.root"
    sources = [folder / f"{name}.root" for name in ("base", "more")]
    outcome = basketry.run("hadd", out, *sources)
    assert outcome.code == 1
    assert "Error in <hadd>: " in outcome.err
    assert "--common" in outcome.err
    for option, keys in (("--common", ["i", "x"]), ("--fill", ["extra", "i", "x"])):
        basketry("hadd", "-f", option, out, *sources)
        with uproot.open(out) as file:
            assert sorted(file["tree"].keys()) == keys


@pytest.mark.parametrize("level", [0, 1, 2, 99])
def test_unmerged_objects_are_named_and_fail_with_strict(level: int, basketry: Basketry, tmp_path: Path) -> None:
    sources = [make_files.made("objects") / f"objects{k}.root" for k in range(2)]
    out = tmp_path / "out.root"
    outcome = basketry.run("hadd", "-v", str(level), "-f", out, *sources)
    assert outcome.code == 0
    assert re.search(r"Warning in <hadd>: misfit: .*not merged", outcome.err), outcome.err
    assert basketry.run("hadd", "-v", str(level), "--strict", "-f", out, *sources).code == 1
    assert out.exists()
    good = [make_files.made("chained") / f"part{k}.root" for k in range(2)]
    outcome = basketry.run("hadd", "-v", str(level), "--strict", "-f", out, *good)

    assert outcome.code == 0
    assert level or not outcome.out + outcome.err


def test_strict_fails_on_skipped_sources(basketry: Basketry, tmp_path: Path) -> None:
    good, out = make_files.made("chained") / "part0.root", tmp_path / "out.root"
    junk = tmp_path / "junk.root"
    junk.write_text("junk")

    for bad in (junk, tmp_path / "absent.root"):
        assert basketry.run("hadd", "-f", "-k", out, good, good, bad).code == 0
        assert basketry.run("hadd", "-f", "-k", "--strict", out, good, good, bad).code == 1
        with uproot.open(out) as file:
            assert file["tree"].num_entries == 400


@pytest.mark.parametrize("level", [0, 2])
def test_a_dropped_index_is_named(level: int, basketry: Basketry, tmp_path: Path) -> None:
    with_index = make_files.made("merging") / "indexed0.root"
    without = tmp_path / "without.root"
    subprocess.run([sys.executable, "-c", WITHOUT_INDEX, with_index, without], check=True, timeout=120)
    outcome = basketry.run("hadd", "-v", str(level), "--strict", tmp_path / "out.root", with_index, without)

    assert outcome.code == 1
    assert "Warning in <hadd>: tree tree: its index (TTreeIndex) is left out" in outcome.err


def test_a_link_called_hadd_behaves_as_hadd(basketry: Basketry, tmp_path: Path) -> None:
    link, source, out = tmp_path / "hadd", make_files.made("chained") / "part0.root", tmp_path / "-out.root"
    link.symlink_to(basketry.binary.resolve())
    done = subprocess.run(
        [link, "-f", "--", out.name, source], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"hadd Source file 1: {source}", "hadd Target path: -out.root:/"]
    assert out.exists()
    done = subprocess.run([link, "-h"], capture_output=True, text=True, timeout=60)

    assert done.stdout.startswith("usage: hadd")


@pytest.mark.parametrize("source", ["named", "folders"])
def test_target_paths_are_printed_as_by_hadd(source: str, basketry: Basketry, tmp_path: Path) -> None:
    sources = [str(make_files.made("merging") / f"{source}{k}.root") for k in (0, 1)]
    said = []
    for command in ([str(basketry.binary), "hadd"], [str(paths.root_command("hadd"))]):
        words = [*command, "-f", "o.root", *sources]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
        said.append(done.stdout.splitlines())

    assert said[0] == said[1]
    assert any(line.endswith(":/C/D") for line in said[0])


def test_json_is_all_of_standard_output(basketry: Basketry, tmp_path: Path) -> None:
    sources = [make_files.made("objects") / f"objects{k}.root" for k in range(2)]
    report = basketry.json("hadd", tmp_path / "out.root", *sources)

    assert any(line.startswith("misfit: ") for line in report["unmerged"])
    assert set(report["unmerged"]) <= set(report["notes"])
