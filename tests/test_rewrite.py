"""Every corpus file, rewritten with several layouts: `verify`, ROOT and uproot must all find the same content in it."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

from referee import compare, entry_bytes, oracle
from referee.command import Basketry
from referee.readers import Readers
from referee.root_server import RootServer

LAYOUTS: dict[str, tuple[str, ...]] = {
    "copy": (),
    "zstd-clusters": ("--compression", "zstd:1", "--cluster", "1000"),
    "lz4-one-basket": ("--compression", "lz4:4", "--basket", "8kB", "--one-basket-per-cluster"),
    "none-tiny": ("--compression", "none", "--cluster", "17", "--basket", "1kB"),
    "lzma-bytes": ("--compression", "lzma:1", "--cluster", "2MB", "--basket-memory", "4MB", "--memory-ratio", "1.1"),
}

# Read back by value in every layout even without --full: one of each kind that once broke a writer.
REPRESENTATIVE = {
    "skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root",
    "coffea--test_FCC_Winter2023.root",
    "roottest--EDM.root",
    "roottest--ver_40200.root",
    "skhep--uproot-HZZ-zlib.root",
    "skhep--uproot-issue-tbranch-of-th2.root",
    "skhep--uproot-nesteddirs.root",
    "gohep--embedded-std-vector.root",
    "gohep--leaves.root",
    "unroot--ttreeindex.root",
}

# ROOT and uproot take long to read their values: with --full alone. Their entries are compared as bytes.
READ_SLOWLY = {
    "roottest--small_aod.pool.root",
    "skhep--uproot-issue124.root",
    "gohep--std-containers-split00.root",
}

INDEX = oracle.index()
# test_ntuple_merge.py has those with RNTuples.
NAMES = [line["name"] for line in INDEX if "RNTuple" not in line["features"]]
# Files that basketry refuses, with a word of the reason.
REFUSED: dict[str, str] = {
    "generator--sample_dk2nu.root": "cut short",  # by one byte; ROOT does not open it under another name either
    "roottest--AliESDs-0.root": "AliESDfriends.root",  # the file that has some of its baskets is not in the corpus
}
# Files with another tree under an older cycle. A rewrite drops that tree by default, and `verify` counts it.
OTHER_TREES = ["km3net--orca6_sample.root", "roottest--p0dNuESearch.root"]
# Values that a reader misreads in the original, so that they differ in the rewritten file.
# The other reader and `verify` judge these.
MISREAD: dict[str, str] = {
    # An empty basket among others, as old versions of uproot wrote: ROOT misreads the next entry.
    "skhep--uproot-issue-750.root": ": root reads other values: ",
    # A counted array in a split TClonesArray whose counter ROOT has not read: it uses stale memory.
    "roottest--ver_40200.root": "NtpSt/clu.stp [0.12.12]: root's read_bytes was ",
    # uproot reads member-wise data as objects, which works if a basket's bytes happen to divide.
    "coffea--PHYSLITE_example.root": "jetLink [1.1]: uproot could read it and now cannot: ",
}


def rotation(name: str) -> int:
    """The number of the layout in which this file is read back by value without --full."""
    return hashlib.sha256(name.encode()).digest()[0] % len(LAYOUTS)


def is_usual(name: str, layout: int) -> bool:
    """Whether a usual run has a file in a layout.

    Files that together have every feature of the corpus are written in two layouts each, those that once broke a writer
    in all, and those with a story of their own in one.
    """
    if name in REPRESENTATIVE:
        return True
    turn = (layout - rotation(name)) % len(LAYOUTS)
    return turn in ((0, 2) if name in oracle.covering() else (0,) if name in {*REFUSED, *OTHER_TREES, *MISREAD} else ())


CASES = [
    pytest.param(name, layout, marks=() if is_usual(name, number) else pytest.mark.only_full)
    for number, layout in enumerate(LAYOUTS)
    for name in NAMES
]


@pytest.fixture(scope="module")
def known(root_bytes: RootServer) -> dict[str, dict[str, Any]]:
    """The entry bytes of the originals, computed once each."""

    class Cache(dict[str, dict[str, Any]]):
        def __missing__(self, name: str) -> dict[str, Any]:
            self[name] = root_bytes.of(oracle.corpus_file(name))
            return self[name]

    return Cache()


def value_differences(readers: Readers, name: str, rewritten: Path) -> list[str]:
    """The values that ROOT and uproot read differently than before.

    The stored oracle may come from other versions of the readers' libraries or from chance (a crash that depends on
    uninitialised memory). So after a disagreement the original is read again.
    """
    after = readers.describe(rewritten)
    found = compare.differences(oracle.load(name), after)
    if found:
        again = readers.describe(oracle.corpus_file(name))
        if (again.file.get("root") or {}).get("ok"):
            found = [line for line in compare.differences(again, after) if "'crash': True" not in line]
    return [line for line in found if name not in MISREAD or MISREAD[name] not in line]


def codec_differences(basketry: Basketry, rewritten: Path, layout: tuple[str, ...]) -> list[str]:
    """Baskets in another codec than requested; incompressible baskets may be stored."""
    if "--compression" not in layout:
        return []
    asked = layout[layout.index("--compression") + 1].partition(":")[0]
    return [
        f"{tree['path']}: asked for {asked}, has {tree['codecs']}"
        for tree in basketry.json("inspect", rewritten)["trees"]
        if not tree["codecs"].keys() <= {asked, "none"}
    ]


@pytest.mark.skipif(not NAMES, reason="the corpus is absent")
@pytest.mark.parametrize(("name", "layout"), CASES)
def test_rewritten_file_has_the_same_content(
    name: str,
    layout: str,
    full: bool,
    basketry: Basketry,
    readers: Readers,
    root_bytes: RootServer,
    known: dict[str, dict[str, Any]],
    tmp_path: Path,
) -> None:
    source, out = oracle.corpus_file(name), tmp_path / name
    if name in REFUSED:
        assert REFUSED[name] in basketry.refuses("rewrite", source, "-o", out, *LAYOUTS[layout])
        assert not out.exists()
        return
    kept = ["--all-cycles"] if name in OTHER_TREES else []
    basketry("rewrite", source, "-o", out, *LAYOUTS[layout], *kept)
    basketry("verify", source, out)
    found = list(entry_bytes.differences(known[name], root_bytes.of(out)))
    found += codec_differences(basketry, out, LAYOUTS[layout])
    if full or (name not in READ_SLOWLY and (name in REPRESENTATIVE or list(LAYOUTS)[rotation(name)] == layout)):
        found += value_differences(readers, name, out)
    assert not found, "\n".join(found[:40])
    out.unlink()


@pytest.mark.skipif(not NAMES, reason="the corpus is absent")
def test_a_usual_run_writes_every_feature_of_the_corpus_in_two_layouts() -> None:
    features = {line["name"]: set(line["features"]) for line in INDEX if line["name"] in NAMES}
    for feature in set().union(*features.values()):
        layouts = {
            number
            for name in NAMES
            if feature in features[name]
            for number in range(len(LAYOUTS))
            if is_usual(name, number)
        }
        assert len(layouts) >= 2, feature


def test_a_branch_in_an_absent_file_can_be_left_out(
    corpus: Path, basketry: Basketry, root_bytes: RootServer, tmp_path: Path
) -> None:
    source, out = corpus / "files" / "roottest--AliESDs-0.root", tmp_path / "out.root"
    basketry("rewrite", source, "-o", out, "--drop", "ESDfriend*")
    before, after = root_bytes.of(source)["trees"]["esdTree"], root_bytes.of(out)["trees"]["esdTree"]
    dropped = {branch for branch in before if branch.split(".")[0] == "24"}

    assert dropped
    assert {branch: line for branch, line in before.items() if branch not in dropped} == after


def test_a_wrong_codec_in_a_branch_is_ignored(basketry: Basketry, tmp_path: Path) -> None:
    """Branches by uproot claim no compression, whatever their baskets have."""
    source, out = tmp_path / "source.root", tmp_path / "out.root"
    with uproot.recreate(source, compression=uproot.ZLIB(1)) as file:
        file.mktree("tree", {"x": "int32"}).extend({"x": np.zeros(50_000, dtype=np.int32)})
    for options, codecs in ((("--cluster", "1000"), {"zlib"}), (("--compression", "none"), {"none"})):
        basketry("rewrite", source, "-o", out, "--force", *options)
        assert basketry.json("inspect", out)["trees"][0]["codecs"].keys() == codecs, options
        basketry("verify", source, out)


@pytest.mark.parametrize("text", ['container = "rntuple"', '[tree."t*"]\ncontainer = "rntuple"'])
def test_a_layout_makes_rntuples_wherever_it_is_taken(
    text: str, made: Path, basketry: Basketry, tmp_path: Path
) -> None:
    # The key was ignored once, and the output was a TTree.
    (tmp_path / "layout.toml").write_text(text + "\n")
    out = tmp_path / "out.root"
    for verb in (("rewrite", made), ("merge", made, made), ("generate", "multi", "--size", "1MB")):
        basketry(*verb, "-o", out, "--force", "--layout", tmp_path / "layout.toml")
        found = basketry.json("inspect", out)
        is_asked = verb[0] != "generate" or not text.startswith("[")
        assert (len(found["trees"]), len(found["ntuples"])) == ((0, 1) if is_asked else (1, 0))
        if verb[0] != "generate":
            basketry("verify", *verb[1:], out)
