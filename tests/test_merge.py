"""Merging: the content equals that of real hadd; differing inputs are refused, filled or cut."""

import subprocess
from pathlib import Path

import pytest
import uproot

from referee import entry_bytes, hadd, make_files, oracle, values
from referee.command import Basketry
from referee.root_server import RootServer

# Corpus files merged with themselves: each kind of branch and container, small enough to be quick.
CORPUS_FILES = [line["name"] for line in oracle.index() if line["n_branches"] and line["size"] < 1_000_000]
# Single-precision sums depend on the order of additions: the last bit may differ from hadd's.
TOLERANCE = 1e-6


@pytest.mark.skipif(not CORPUS_FILES, reason="the corpus is absent")
@pytest.mark.parametrize("name", [oracle.usual(name) for name in CORPUS_FILES])
def test_a_corpus_file_merged_with_itself_equals_hadd(
    name: str, basketry: Basketry, root_bytes: RootServer, tmp_path: Path
) -> None:
    source = oracle.corpus_file(name)
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    basketry("hadd", "-f", ours, source, source)
    if hadd.merge(theirs, source, source, flags=("-ff",)) is None:
        pytest.skip("real hadd fails on this file")
    found = list(entry_bytes.differences(root_bytes.of(theirs), root_bytes.of(ours), objects=False))

    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("pair", ["histograms", "unequal"])
@pytest.mark.parametrize(
    "flags", [("-f",), ("-ff",), ("-fk",), ("-f505",), ("-f", "-O"), ("-f", "-j", "2")], ids=" ".join
)
def test_histograms_and_trees_are_added_as_hadd_adds_them(
    pair: str, flags: tuple[str, ...], basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    sources = [make_files.made("histograms") / f"{pair}{part}.root" for part in (0, 1)]
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    basketry("hadd", *flags, ours, *sources)
    assert hadd.merge(theirs, *sources, flags=flags) is not None
    found = list(values.differences(root_values.of(theirs), root_values.of(ours), tolerance=TOLERANCE))

    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("flag", ["-f", "-ff", "-fk", "-f0", "-f101", "-f404", "-f505"])
def test_hadd_flags_choose_the_compression(
    flag: str, basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    sources = [make_files.made("chained") / f"part{part}.root" for part in (0, 1, 2)]
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    basketry("hadd", flag, ours, *sources)

    assert hadd.merge(theirs, *sources, flags=(flag,)) is not None
    assert not list(values.differences(root_values.of(theirs), root_values.of(ours)))
    with uproot.open(ours) as mine, uproot.open(theirs) as root:
        assert mine.file.compression == root.file.compression


def test_append_extends_the_target(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    parts = [make_files.made("chained") / f"part{part}.root" for part in (0, 1, 2)]
    out, theirs = tmp_path / "out.root", tmp_path / "theirs.root"
    basketry("hadd", out, parts[0], parts[1])
    basketry("hadd", "-a", out, parts[2])

    assert hadd.merge(theirs, *parts) is not None
    assert not list(values.differences(root_values.of(theirs), root_values.of(out)))


def test_option_T_leaves_out_trees(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    sources = [make_files.made("histograms") / f"histograms{part}.root" for part in (0, 1)]
    out = tmp_path / "out.root"
    basketry("hadd", "-T", out, *sources)
    found = root_values.of(out)

    assert not found["trees"]
    assert "h1f" in found["objects"]


def test_a_list_file_names_the_inputs(basketry: Basketry, tmp_path: Path) -> None:
    parts = [make_files.made("chained") / f"part{part}.root" for part in (0, 1, 2)]
    listing, out = tmp_path / "inputs.txt", tmp_path / "out.root"
    listing.write_text("".join(f"{part}\n" for part in parts))
    basketry("hadd", out, f"@{listing}")

    with uproot.open(out) as file:
        assert file["tree"].num_entries == 600
        assert file["tree"]["i"].array().tolist() == [1000 * k + i for k in range(3) for i in range(200)]


def test_small_inputs_become_good_clusters(basketry: Basketry, tmp_path: Path) -> None:
    part = make_files.made("chained") / "part1.root"
    out = tmp_path / "out.root"
    basketry("merge", *[part] * 50, "-o", out)

    with uproot.open(out) as file:
        assert file["tree"].num_entries == 50 * 200
        assert file["tree"]["i"].num_baskets < 50 * 3
        assert file["tree"]["s"].array().tolist() == [str(1000 + i) for _ in range(50) for i in range(200)]


def test_bad_file_is_refused_or_skipped(basketry: Basketry, tmp_path: Path) -> None:
    good = [make_files.made("chained") / f"part{part}.root" for part in (0, 1)]
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    bad.write_bytes(good[0].read_bytes()[:700])
    outcome = basketry.run("hadd", out, good[0], bad, good[1])
    assert outcome.code == 1, str(outcome)  # hadd knows 0 and 1 only
    assert basketry.run("merge", good[0], bad, "-o", out).code == 2
    assert "bad.root" in outcome.err
    assert not out.exists()
    outcome = basketry.run("hadd", "-k", out, good[0], bad, good[1])

    assert outcome.code == 0, str(outcome)
    assert "bad.root" in outcome.out + outcome.err
    with uproot.open(out) as file:
        assert file["tree"].num_entries == 400


def test_different_schemas_are_refused_with_the_differences(basketry: Basketry, tmp_path: Path) -> None:
    folder, out = make_files.made("schemas"), tmp_path / "out.root"
    outcome = basketry.run("merge", folder / "base.root", folder / "more.root", "-o", out)
    assert outcome.code == 2, str(outcome)
    assert "extra" in outcome.err
    assert not out.exists()
    outcome = basketry.run("merge", folder / "base.root", folder / "other.root", "-o", out)

    assert outcome.code == 2, str(outcome)
    assert "x" in outcome.err


def test_common_keeps_the_branches_of_all_inputs(basketry: Basketry, tmp_path: Path) -> None:
    folder, out = make_files.made("schemas"), tmp_path / "out.root"
    basketry("merge", "--common", folder / "base.root", folder / "more.root", folder / "less.root", "-o", out)
    with uproot.open(out) as file:
        assert file["tree"].keys() == ["i"]
        assert file["tree"]["i"].array().tolist() == list(range(100)) * 3


@pytest.mark.parametrize("order", [("more", "less"), ("less", "more")], ids="-".join)
def test_common_names_what_it_leaves_out_in_every_order(
    order: tuple[str, str], basketry: Basketry, tmp_path: Path
) -> None:
    folder = make_files.made("schemas")

    outcome = basketry.run(
        "merge", "--common", *(folder / f"{part}.root" for part in order), "-o", tmp_path / "out.root"
    )

    (note,) = [line for line in (outcome.out + outcome.err).splitlines() if "left out" in line]
    assert note.endswith((": extra, x", ": x, extra")), str(outcome)


def test_fill_fills_with_defaults(basketry: Basketry, tmp_path: Path) -> None:
    folder, out = make_files.made("schemas"), tmp_path / "out.root"
    basketry("merge", "--fill", folder / "base.root", folder / "more.root", folder / "less.root", "-o", out)
    with uproot.open(out) as file:
        tree = file["tree"]
        assert sorted(tree.keys()) == ["extra", "i", "x"]
        assert tree["x"].array().tolist() == [float(i) for i in range(100)] * 2 + [0.0] * 100
        assert tree["extra"].array().tolist() == [0.0] * 100 + [2.0 * i for i in range(100)] + [0.0] * 100


@pytest.mark.parametrize("order", [("none", "base"), ("base", "none"), ("bare", "base"), ("base", "bare")])
def test_an_empty_input_loses_nothing(order: tuple[str, str], basketry: Basketry, tmp_path: Path) -> None:
    folder, out = make_files.made("schemas"), tmp_path / "out.root"
    basketry("merge", *(folder / f"{name}.root" for name in order), "-o", out)
    with uproot.open(out) as file:
        assert file["tree"]["x"].array().tolist() == [float(i) for i in range(100)]


def test_relations_survive_a_merge(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    source = make_files.made("references") / "references.root"
    (tmp_path / "friend.root").symlink_to(source.parent / "friend.root")
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    basketry("hadd", "-f", ours, source, source)
    assert hadd.merge(theirs, source, source) is not None
    mine, root = root_values.of(ours)["trees"], root_values.of(theirs)["trees"]

    assert mine.keys() == root.keys()
    for fact in ("entries", "aliases", "friends", "user_info", "weight"):
        assert mine["tree"][fact] == root["tree"][fact], fact
    assert mine["inner"] == root["inner"]
    for name in ("run", "event"):
        assert mine["tree"]["branches"][name] == root["tree"]["branches"][name]


def test_class_tags_survive_a_merge(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    sources = [make_files.made("class_tags") / "class_tags.root"] * 2
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    assert hadd.merge(theirs, *sources) is not None
    for layout in ((), ("--cluster", "40"), ("--compression", "zstd:1", "--cluster", "1000", "--basket", "50kB")):
        basketry("merge", *sources, "-o", ours, "--force", *layout)
        found = list(values.differences(root_values.of(theirs), root_values.of(ours)))
        assert not found, f"{layout}: {found}"


def test_merging_the_result_again_only_copies(basketry: Basketry, tmp_path: Path) -> None:
    part = make_files.made("chained") / "part1.root"
    once, twice = tmp_path / "once.root", tmp_path / "twice.root"
    first = basketry.json("merge", *[part] * 30, "-o", once)
    assert first["tables"][0]["depths"]["regroup"]
    second = basketry.json("merge", once, "-o", twice)

    assert not second["tables"][0]["depths"]["regroup"]
    assert not second["tables"][0]["depths"]["recompress"]


def test_more_inputs_than_open_files_are_merged(basketry: Basketry, tmp_path: Path) -> None:
    part = make_files.made("chained") / "part1.root"
    for i in range(300):
        (tmp_path / f"in{i:03}.root").symlink_to(part)
    out = tmp_path / "out.root"
    for flags in ("", "-n 3"):
        command = f"ulimit -n 40; exec '{basketry.binary}' hadd -v 0 -f {flags} '{out}' '{tmp_path}/in*.root'"
        subprocess.run(["bash", "-c", command], check=True, timeout=120)
        with uproot.open(out) as file:
            assert file["tree"].num_entries == 300 * 200


@pytest.mark.parametrize("kind", ["SkipListed", "OnlyListed"])
def test_listed_objects_are_merged_or_skipped(
    kind: str, basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    sources = [make_files.made("histograms") / f"histograms{part}.root" for part in (0, 1)]
    names = tmp_path / "names.txt"
    names.write_text("# two of them\nh1f\nh2d\n")
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    flags = ("-f", "-L", str(names), "-Ltype", kind)
    basketry("hadd", *flags, ours, *sources)
    assert hadd.merge(theirs, *sources, flags=flags) is not None
    found = list(values.differences(root_values.of(theirs), root_values.of(ours), tolerance=TOLERANCE))

    assert not found, "\n".join(found[:20])
    assert ("h1f" in root_values.of(ours)["objects"]) == (kind == "OnlyListed")


def test_a_tree_of_some_inputs_is_kept(basketry: Basketry, tmp_path: Path) -> None:
    sources = [make_files.made("references") / "references.root", make_files.made("schemas") / "bare.root"]
    out = tmp_path / "out.root"
    outcome = basketry.json("merge", *sources, "-o", out)

    assert any("inner" in note and "1 of the 2 inputs" in note for note in outcome["notes"]), outcome["notes"]
