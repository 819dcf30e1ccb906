"""The questions of ROOT's own tests of hadd, TFileMerger and tree cloning, each as a command on inputs that ROOT makes
here.

The names are those of roottest and of io/io/test/TFileMergerTests.cxx; numbers are those of ROOT's issues. Inputs are
made anew by macros/merging.C; nothing of the tests themselves is copied. Where each is:

| ROOT's tests | here |
| --- | --- |
| root/io/hadd: test_hadd_args_* | test_hadd.py: DONE and REFUSED have their words |
| root/io/hadd: input_validation | test_inputs_are_validated_as_by_hadd |
| root/io/hadd: compression_settings, test_TreeChangeComp, test_MergeFilter* | AS_HADD |
| root/io/hadd: test_MergeNestedSameName | AS_HADD, test_nested_directories_of_one_name_are_merged |
| root/io/filemerger: execKeyOrder, execCreateAndMerge | AS_HADD, test_keys_keep_their_order_and_cycles |
| root/io/filemerger: execFileMerger, execMergeMulti and merged-* | AS_HADD (MERGED) |
| root/io/filemerger: simple*, hsimple* | AS_HADD (SIMPLE, KEPT), test_sizes_follow_the_codec |
| root/tree/cloning | AS_HADD, test_keep_selects_branches_by_pattern, test_counter_leaves_have_the_largest_value |
| root/tree/fastcloning: execmisstop, runbadmix, runSplitMismatch | test_entries_are_never_left_out |
| root/tree/fastcloning: execCheckClusterRange | AS_HADD, test_clusters_start_where_baskets_start |
| root/tree/fastcloning: runabstract | AS_HADD, test_classes_behind_base_pointers_are_described |
| root/tree/fastcloning: runfilemergererror | AS_HADD, test_the_output_opens_without_recovery |
| root/tree/fastcloning: runoutoforder, runcloneChain | AS_HADD |
| TFileMerger: MergeBranches, SingleHistFile, CreateWithUnwritableTFilePointer | tests of their own |
| TFileMerger: all others | AS_HADD |
| root/hist/th2PolyMerge, test/stressHistogram's merges | test_merged_classes.py |
| 7676 (cycles), 9022 (-n 2), 13359 (one input), 14558 (branches), 14910 (-j with a list) | among these |
| 20872, 21863, 22435 | tests of their own; test_merged_classes.py (unmerged) |

No command can state: test_MergeChangeComp_*, test_MergeCMSOpenDataRNTuples (as test_ntuple_merge.py does); regression
tests and runPlot, whose inputs are binary files of roottest; addresses of variables in memory (run.C and runEvent.C of
treeCloneTest, of which the copy of the chain is here); TTree::Scan and TTree::Print.
"""

import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import make_files, paths, values
from referee.command import Basketry
from referee.root_server import RootServer

# Sums in single precision depend on the order of additions.
TOLERANCE = 1e-6
# Codecs of equal level have other implementations; basketry's output exceeds ROOT's by at most this factor.
LARGER = 1.1
LISTS = {
    "listed.txt": "tree\n# comments are passed over\n#ntpl\n\ndir\nform\n\n\n",
    "folders.txt": "A\nHisto_F1\nHisto_F2\nHisto_F3\n",
    "two.txt": "hist1\nhist2\n",
    "only.txt": "hprof\nntuple\n",
    "skip.txt": "hprof\nfolder\n",
    "indirect.txt": "no_extension\nno_root_file\n",
}


@dataclass
class Side:
    """The result of one hadd in a folder of its own."""

    folder: Path
    code: int
    err: str

    @property
    def out(self) -> Path:
        """The output."""
        return self.folder / "o.root"

    def facts(self) -> dict[str, Any]:
        """Facts of the output's header and keys."""
        with uproot.open(self.out) as file:
            return {"compression": file.file.fCompress, "keys": sorted(file.keys())}

    def codecs(self, *names: str) -> set[bytes]:
        """How baskets of these files are compressed."""
        return {codec for name in names for codec in codecs(self.folder / name)}


def codecs(path: Path) -> set[bytes]:
    """How the baskets of a file are compressed: the letters that ROOT puts before them."""
    found = set()
    with uproot.open(path) as file, path.open("rb") as raw:
        trees = [file[key] for key, name in file.classnames().items() if name in {"TTree", "TNtuple"}]
        for branch in (branch for tree in trees for branch in tree.itervalues()):
            for place in branch.member("fBasketSeek")[: branch.member("fWriteBasket")]:
                raw.seek(place)
                size, _, before, _, key = struct.unpack(">iHIIH", raw.read(16))
                raw.seek(place + key)
                if size - key < before:
                    found.add(raw.read(2))
    return found


def inputs(folder: Path) -> Path:
    """A folder with all inputs."""
    shutil.copytree(make_files.made("merging"), folder)
    for name, text in LISTS.items():
        (folder / name).write_text(text)
    shutil.copy(folder / "saved0.root", folder / "no_extension")
    (folder / "no_root_file").touch()
    return folder


def side(command: list[str], folder: Path, calls: list[str]) -> Side:
    """Several calls of one hadd; the last one counts, those before must succeed."""
    inputs(folder)
    err = ""
    for i, arguments in enumerate(calls):
        words = command + arguments.split()
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
        err += done.stderr
        assert i + 1 == len(calls) or done.returncode == 0, done.stdout + done.stderr
    return Side(folder, done.returncode, err)


def ours_of(basketry: Basketry, folder: Path, calls: str) -> Side:
    """The result of `basketry hadd`; each line is a call."""
    return side([str(basketry.binary), "hadd"], folder, calls.strip().split("\n"))


def theirs_of(folder: Path, calls: str) -> Side:
    """The result of real hadd."""
    return side([str(paths.root_command("hadd"))], folder, calls.strip().split("\n"))


SIMPLE = {
    f"hsimple{setting}": f"-f{setting} o.root simple.root" for setting in (0, 9, 101, 106, 109, 209, 401, 404, 409, 505)
}
KEPT = """
-f209 s209.root simple.root
-f409 s409.root simple.root
-f9 s9.root simple.root
-f9 s9x2.root simple.root
-f9 -a s9x2.root simple.root
"""
MERGED = {
    f"merged-{codec}": f"""
-f{setting} one.root named0.root named1.root
-f{setting} two.root named2.root named3.root
-f{last} o.root one.root two.root"""
    for codec, setting, last in (("zlib", 101, 101), ("lzma", 209, 207), ("lz4", 404, 404), ("zstd", 505, 505))
}
AS_HADD = {
    # root/io/hadd
    "compression_settings-default": "o.root simple.root",
    "compression_settings-preserve": "-f505 five.root simple.root\n-ff o.root five.root",
    "test_TreeChangeComp": "-f401 o.root saved0.root",
    "test_MergeNestedSameName": "o.root named0.root named1.root",
    "test_MergeFilterBlacklist": "-L listed.txt -Ltype SkipListed -f o.root listed0.root listed1.root listed3.root",
    "test_MergeFilterWhitelist": "-L listed.txt -Ltype OnlyListed -f o.root "
    "listed0.root listed1.root listed2.root listed3.root",
    # root/io/filemerger
    "execKeyOrder": "o.root key_order.root",
    "execCreateAndMerge": "o.root named0.root named1.root named2.root named3.root",
    "execFileMerger": "o.root mixed0.root mixed1.root",
    "execFileMerger-few-open": "-n 2 o.root mixed0.root mixed1.root mixed2.root mixed3.root",
    **MERGED,
    **SIMPLE,
    "hsimple9x2": "-f9 o.root simple.root\n-f9 -a o.root simple.root",
    "hsimple109x2": "-f109 o.root simple.root\n-f109 -a o.root simple.root",
    "hsimpleK": KEPT + "-fk o.root s209.root s409.root simple.root s9.root s9x2.root",
    "hsimpleK209": KEPT
    + "-fk k.root s209.root s409.root simple.root\n-fk209 o.root k.root s209.root s9.root s9x2.root",
    "hsimpleK404": KEPT + "-fk209 k.root s209.root s9.root\n-fk404 o.root k.root s409.root simple.root s9x2.root",
    "hsimpleF": KEPT + "-fk404 k.root s209.root s9.root\n-ff o.root s9.root s209.root s409.root k.root simple.root",
    # root/tree/cloning
    "treeCloneTest": "-ff o.root indexed0.root indexed1.root",
    "treeCloneTest2": "-f o.root folders0.root folders1.root",
    "deepClass": "-ff o.root indexed0.root",
    "mergeWithDir": "o.root befriended0.root befriended1.root",
    "index": "o.root indexed0.root indexed1.root indexed2.root indexed3.root",
    "index-fast": "-fk o.root indexed3.root indexed1.root indexed2.root indexed0.root",
    "assertBranchCount": "-f0 o.root counted3.root counted5.root",
    "clone-friend-tear-down": "-f0 o.root befriended0.root befriended1.root",
    # root/tree/fastcloning
    "execCheckClusterRange": "o.root ranges50.root ranges30.root ranges50.root",
    "runabstract": "-ff o.root abstract.root",
    "runfilemergererror": "o.root saved0.root saved1.root",
    "runoutoforder": "-f o.root out_of_order0.root out_of_order1.root",
    "runcloneChain": "-fk o.root indexed0.root indexed0.root",
    # TFileMerger
    "CreateWithTFilePointer": "o.root folders0.root folders1.root",
    "MergeSingleOnlyListed": "-L two.txt -Ltype OnlyListed o.root folders0.root",
    "ChangeFile": "o.root changed.root changed_1.root changed_2.root",
    "SelectiveMergeWithDirectories": "-L folders.txt -Ltype OnlyListed o.root folders0.root folders1.root",
    "MergeSelectiveTutorial-only": "-L only.txt -Ltype OnlyListed o.root simple.root simple.root",
    "MergeSelectiveTutorial-skip": "-L skip.txt -Ltype SkipListed o.root simple.root simple.root",
}


@pytest.mark.parametrize("case", AS_HADD)
def test_the_output_equals_that_of_hadd(case: str, basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    ours, theirs = ours_of(basketry, tmp_path / "ours", AS_HADD[case]), theirs_of(tmp_path / "theirs", AS_HADD[case])
    assert (theirs.code, ours.code) == (0, 0), ours.err
    found = list(values.differences(root_values.of(theirs.out), root_values.of(ours.out), tolerance=TOLERANCE))
    assert not found, "\n".join(found[:20])
    assert ours.facts() == theirs.facts()
    last = AS_HADD[case].strip().split("\n")[-1].split()
    if last[0].startswith("-fk"):
        # Baskets stay unchanged, as hadd's help says; hadd 6.40 itself compresses all like the first source.
        assert ours.codecs("o.root") == ours.codecs(*last[2:])
    else:
        assert ours.codecs("o.root") == theirs.codecs("o.root")

    assert "not merged" not in ours.err


@pytest.mark.parametrize("setting", [9, 106, 109, 209, 401, 404, 409, 505])
def test_sizes_follow_the_codec(setting: int, basketry: Basketry, tmp_path: Path) -> None:
    call = f"-f{setting} o.root simple.root"
    ours, theirs = ours_of(basketry, tmp_path / "ours", call), theirs_of(tmp_path / "theirs", call)
    assert ours.out.stat().st_size < LARGER * theirs.out.stat().st_size


def test_nested_directories_of_one_name_are_merged(basketry: Basketry, tmp_path: Path) -> None:
    # test_MergeNestedSameName: hadd once took A/H1 for B/A/H1.
    ours = ours_of(basketry, tmp_path / "ours", "o.root named0.root named1.root")
    with uproot.open(ours.out) as file:
        sums = [file[f"{path}"].values().sum() for path in ("A/H1", "B/A/H2", "C/D/A/H3")]
    assert sums == [2, 4, 6]


def test_keys_keep_their_order_and_cycles(basketry: Basketry, tmp_path: Path) -> None:
    # execKeyOrder, execCreateAndMerge
    ours = ours_of(basketry, tmp_path / "one", "o.root key_order.root")
    with uproot.open(ours.out) as file:
        titles = {f"first;{n}": title for n, title in enumerate(("first", "second", "third", "fourth"), start=1)}
        assert list(dict.fromkeys(key.split(";")[0] for key in file)) == [
            "other_01", "first", "other_02", "other_03",
        ]  # fmt: skip
        assert {key: file[key].member("fTitle") for key in titles} == titles
    ours = ours_of(basketry, tmp_path / "many", "o.root named0.root named1.root named2.root named3.root")

    with uproot.open(ours.out) as file:
        assert [file[f"same;{n}"].member("fTitle") for n in (1, 2, 3, 4)] == [f"in file {n}" for n in range(4)]
        assert all(f"apart{n};1" in file for n in range(4))
        assert file["hist/Gaus"].values().sum() == 8


def test_counter_leaves_have_the_largest_value(basketry: Basketry, tmp_path: Path) -> None:
    # assertBranchCount: readers allocate by the leaf's maximum.
    ours = ours_of(basketry, tmp_path / "ours", "-f0 o.root counted3.root counted5.root")
    with uproot.open(ours.out) as file:
        tree = file["ntuple"]
        assert tree["count"].member("fLeaves")[0].member("fMaximum") == 5
        assert [len(row) for row in tree["values"].array()] == [3, 3, 5, 5]


def cluster_starts(tree: Any) -> list[int]:
    """The first entries of the clusters, by the rule of ROOT's cluster iterator."""
    ends, sizes = [], []
    if tree.member("fNClusterRange"):
        ends, sizes = list(tree.member("fClusterRangeEnd")), list(tree.member("fClusterSize"))
    starts, at = [], 0
    for end, size in [*zip(ends, sizes, strict=True), (tree.num_entries - 1, tree.member("fAutoFlush"))]:
        while at <= end:
            starts.append(at)
            at = min(at + (size if size > 0 else tree.num_entries), end + 1)
    return starts


@pytest.mark.parametrize("flag", ["-f", "-ff", "-fk", "-O"])
def test_clusters_start_where_baskets_start(flag: str, basketry: Basketry, tmp_path: Path) -> None:
    # execCheckClusterRange, for hadd's ways to choose clusters
    ours = ours_of(basketry, tmp_path / "ours", f"{flag} o.root ranges50.root ranges30.root ranges50.root")
    with uproot.open(ours.out) as file:
        starts = cluster_starts(file["t1"])
        assert starts[0] == 0
        assert set(starts) <= set(file["t1"]["v1"].entry_offsets)


def test_classes_behind_base_pointers_are_described(basketry: Basketry, tmp_path: Path) -> None:
    # runabstract: the class of an object behind a pointer to its base.
    ours = ours_of(basketry, tmp_path / "ours", "-ff o.root abstract.root")
    with uproot.open(ours.out) as file:
        assert {"MergedHolder", "MergedBase", "MergedMiddle", "MergedDerived"} <= set(file.file.streamers)


def test_the_output_opens_without_recovery(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    # runfilemergererror
    ours = ours_of(basketry, tmp_path / "ours", "o.root saved0.root saved1.root")
    assert root_values.of(ours.out)["recovered"] is False


@pytest.mark.parametrize(("pattern", "kept"), [("Hits", ["Hits"]), ("Hits*", ["Hits", "HitsX"])])
def test_keep_selects_branches_by_pattern(pattern: str, kept: list[str], basketry: Basketry, tmp_path: Path) -> None:
    # exectrim
    source, out = make_files.made("merging") / "hits.root", tmp_path / "out.root"
    basketry("rewrite", source, "-o", out, "--keep", pattern)
    with uproot.open(out) as file, uproot.open(source) as before:
        assert file["tree"].keys() == kept
        for name in kept:
            assert file["tree"][name].array().tolist() == before["tree"][name].array().tolist()


@pytest.mark.parametrize("sources", ["no_extension no_root_file", "@indirect.txt"])
def test_inputs_are_validated_as_by_hadd(sources: str, basketry: Basketry, tmp_path: Path) -> None:
    # Real hadd leaves an empty output, which roottest removes; basketry leaves none.
    ours = ours_of(basketry, tmp_path / "ours", f"o.root {sources}")
    theirs = theirs_of(tmp_path / "theirs", f"o.root {sources}")

    assert ours.code == theirs.code == 1
    assert "exiting due to error in no_root_file" in theirs.err
    assert "exiting due to error in no_root_file" in ours.err
    assert not ours.out.exists()


def test_an_unwritable_target_is_refused(basketry: Basketry, tmp_path: Path) -> None:
    # CreateWithUnwritableTFilePointer
    call = "nowhere/o.root saved0.root"
    ours, theirs = ours_of(basketry, tmp_path / "ours", call), theirs_of(tmp_path / "theirs", call)

    assert ours.code == theirs.code == 1
    assert "Error in <hadd>: " in ours.err
    assert "nowhere/o.root" in ours.err


def test_few_open_files_lose_nothing(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    # SingleHistFile. With objects in directories hadd 6.40 itself takes the first files only (-n 2).
    few = ours_of(basketry, tmp_path / "few", "-n 2 o.root folders0.root folders1.root")
    many = theirs_of(tmp_path / "many", "o.root folders0.root folders1.root")
    assert not list(values.differences(root_values.of(many.out), root_values.of(few.out)))


def test_entries_are_never_left_out(basketry: Basketry, tmp_path: Path) -> None:
    # execmisstop, runbadmix, runSplitMismatch: hadd 6.40 leaves the second file's entries out, with exit code 0.
    for i, (pair, said, schema) in enumerate(
        [
            ("unlike_j.root unlike_i.root", "no branch j", "--fill"),
            ("unlike_j.root unlike_i.root", "no branch j", "--common"),
            ("unlike_char.root unlike_int.root", "branch values", None),
            ("unlike_split1.root unlike_split99.root", "one split level first", None),
            ("unlike_split99.root unlike_split1.root", "one split level first", None),
        ]
    ):
        ours = ours_of(basketry, tmp_path / f"ours{i}", f"o.root {pair}")
        assert ours.code == 1
        assert said in ours.err
        assert not ours.out.exists()
        theirs = theirs_of(tmp_path / f"theirs{i}", f"o.root {pair}")
        assert theirs.code == 0
        entries = []
        for path in (theirs.out, *(theirs.folder / name for name in pair.split())):
            with uproot.open(path) as file:
                entries.append(file[file.keys()[0]].num_entries)
        assert entries[0] == entries[1]
        if schema:
            ours = ours_of(basketry, tmp_path / f"schema{i}", f"{schema} o.root {pair}")
            assert ours.code == 0
            with uproot.open(ours.out) as file:
                assert file["tree"].num_entries == sum(entries[1:])


@pytest.mark.parametrize("level", [0, 1, 99])
def test_advice_for_other_split_levels_works(level: int, basketry: Basketry, tmp_path: Path) -> None:
    folder = make_files.made("merging")
    parts = []
    for split in (1, 99):
        parts.append(tmp_path / f"{split}.root")
        basketry("rewrite", folder / f"unlike_split{split}.root", "-o", parts[-1], "--split-level", str(level))
    out = tmp_path / "out.root"
    basketry("hadd", out, *parts)
    with uproot.open(out) as file:
        assert file["T"].num_entries == 2
        if level:
            assert file["T"]["obj.a"].array().tolist() == [101, 199]


def test_inputs_without_entries_lose_no_branches(basketry: Basketry, tmp_path: Path) -> None:
    # MergeBranches. ROOT drops b, which the tree without entries lacks; hadd 6.40 gives an empty tree for the first
    # case.
    for i, names in enumerate((("none", "a", "ab"), ("a", "ab"), ("ab", "a"))):
        call = "o.root " + " ".join(f"branches_{name}.root" for name in names)
        ours = ours_of(basketry, tmp_path / f"ours{i}", call)
        assert ours.code == 0
        with uproot.open(ours.out) as file:
            assert file["tree"]["a"].array().tolist() == [11, 12]
            assert file["tree"]["b"].array().tolist() == [42, 43]


@pytest.mark.parametrize("kind", ["OnlyListed", "SkipListed"])
def test_listed_names_match_whole_names(kind: str, basketry: Basketry, tmp_path: Path) -> None:
    # 22435: a name that only shares a prefix or suffix with a listed name does not match.
    folder = make_files.made("merging")
    names, out = tmp_path / "names.txt", tmp_path / "out.root"
    names.write_text("hist\nist1\nhist11\nonly\nhist2\n")
    basketry("hadd", "-L", names, "-Ltype", kind, out, folder / "folders0.root", folder / "folders1.root")
    with uproot.open(out) as file:
        found = {key for key in file.keys(recursive=False, cycle=False) if key.startswith(("hist", "only"))}

    assert found == ({"hist2"} if kind == "OnlyListed" else {"hist1", "hist3", "hist4", "only0", "only1"})


@pytest.mark.parametrize("protocol", ["root", "http"])
def test_remote_sources_leave_the_target_unchanged(protocol: str, basketry: Basketry, tmp_path: Path) -> None:
    # 20872: hadd crashed when the target existed and the sources were remote. Without XRootD's library the error says
    # how to get it; with it, that there is no such host.
    url = f"{protocol}://nowhere.invalid//one.root"
    target, names = tmp_path / "out.root", tmp_path / "list.txt"
    target.write_text("as it was")
    names.write_text(f"{url}\n")
    for source in (f"@{names}", url):
        outcome = basketry.within(BASKETRY_REMOTE_RETRIES="0").run("hadd", "-f", target, source)
        assert outcome.code == 1
        assert f"Error in <hadd>: exiting due to error in {url}" in outcome.err
        assert f"Error in <hadd>: {url}: " in outcome.err

    assert target.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.txt", "out.root"]


def test_an_rntuple_is_merged_unless_excluded(basketry: Basketry, tmp_path: Path) -> None:
    # test_MergeFilterBlacklist: four files of which one has an RNTuple.
    call = "-L listed.txt -Ltype SkipListed -f o.root listed0.root listed1.root listed2.root listed3.root"
    ours, theirs = ours_of(basketry, tmp_path / "ours", call), theirs_of(tmp_path / "theirs", call)

    assert ours.code == theirs.code == 0
    [ntuple] = basketry.json("inspect", ours.out)["ntuples"]
    [other] = basketry.json("inspect", theirs.out)["ntuples"]
    assert (ntuple["path"], ntuple["entries"]) == (other["path"], other["entries"])
    basketry("verify", f"{ours.out}:{ntuple['path']}", f"{theirs.out}:{ntuple['path']}")
