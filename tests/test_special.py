"""Files for one feature each that the corpus lacks: made by real ROOT, rewritten and read back by value."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import entry_bytes, make_files, values
from referee.command import Basketry
from referee.root_server import RootServer

LAYOUTS: dict[str, tuple[str, ...]] = {
    "copy": (),
    "zstd-clusters": ("--compression", "zstd:1", "--cluster", "100"),
    "lz4-one-basket": ("--compression", "lz4:4", "--basket", "8kB", "--one-basket-per-cluster"),
    "none-tiny": ("--compression", "none", "--cluster", "17", "--basket", "1kB"),
    "bytes": ("--compression", "zlib:1", "--cluster", "20kB", "--basket-memory", "1MB"),
}
SMALL = {
    "beyond_2gb": "beyond.root",
    "chained": "chained.root",
    "class_tags": "class_tags.root",
    "cluster_ranges": "clusters.root",
    "displaced": "displaced.root",
    "empty": "empty.root",
    "external_branch": "external.root",
    "histograms": "histograms0.root",
    "leaf_types": "leaves.root",
    "ntuples": "ntuples.root",
    "offset_map": "offset_map.root",
    "one_record": "one_record.root",
    "references": "references.root",
    "unclosed": "saved.root",
    "wide": "wide.root",
}


@functools.cache
def uproot_reads_original(recipe: str) -> dict[str, Any]:
    """The values of a recipe's file by uproot."""
    return uproot_reads(make_files.made(recipe) / SMALL[recipe])


def uproot_reads(path: Path) -> dict[str, Any]:
    """Every branch that uproot can turn into an array, as lists."""
    found: dict[str, Any] = {}
    with uproot.open(path) as file:
        for key, cls in file.classnames(recursive=True, cycle=False).items():
            if cls not in ("TTree", "TNtuple", "TNtupleD"):
                continue
            for name, branch in file[key].items(recursive=True):
                try:
                    found[f"{key}/{name}"] = branch.array().tolist()
                except Exception as error:  # uproot's refusals have many types; the rewritten file may have fewer
                    found[f"{key}/{name}"] = error
    return found


@pytest.fixture(scope="module")
def root_reads_original(root_bytes: RootServer, root_values: RootServer) -> Callable[[Path], tuple[Any, Any]]:
    """The bytes and the values of an original, asked once."""
    return functools.cache(lambda path: (root_bytes.of(path), root_values.of(path)))


# Each file takes three layouts and each layout three fifths of the files; all with --full.
@pytest.mark.parametrize(
    ("recipe", "layout"),
    [
        pytest.param(recipe, layout, marks=() if (r + n) % len(LAYOUTS) < 3 else pytest.mark.only_full)
        for r, recipe in enumerate(SMALL)
        for n, layout in enumerate(LAYOUTS)
    ],
)
def test_a_special_file_is_rewritten(
    recipe: str,
    layout: str,
    basketry: Basketry,
    root_bytes: RootServer,
    root_values: RootServer,
    root_reads_original: Callable[[Path], tuple[Any, Any]],
    tmp_path: Path,
) -> None:
    source = make_files.made(recipe) / SMALL[recipe]
    # Beside the source's companions, so that relative names of friends and external files work.
    for companion in source.parent.iterdir():
        if companion != source:
            (tmp_path / companion.name).symlink_to(companion)
    out = tmp_path / source.name
    basketry("rewrite", source, "-o", out, *LAYOUTS[layout])
    basketry("verify", source, out)
    # Readers misread the original; the true values are in a separate file.
    truth = source.with_name("plain.root") if recipe == "offset_map" else source
    entries, content = root_reads_original(truth)
    found = list(entry_bytes.differences(entries, root_bytes.of(out)))
    found += values.differences(content | {"recovered": False}, root_values.of(out))
    after = uproot_reads(out)
    true = uproot_reads_original(recipe) if truth == source else uproot_reads(truth)
    for name, array in uproot_reads_original(recipe).items():
        if (
            not isinstance(array, Exception)
            and repr(array) == repr(true[name])
            and repr(after.get(name)) != repr(array)
        ):
            found.append(f"uproot reads {name} differently")

    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize(
    ("codec", "layout"),
    [
        pytest.param(codec, layout, marks=() if (c + n) % 2 == 0 else pytest.mark.only_full)
        for c, codec in enumerate(make_files.CODECS)
        for n, layout in enumerate(("copy", "zstd-clusters", "none-tiny"))
    ],
)
def test_records_of_several_blocks(
    codec: str, layout: str, basketry: Basketry, root_bytes: RootServer, tmp_path: Path
) -> None:
    source = make_files.made(f"big_records_{codec}") / "big.root"
    out = tmp_path / "big.root"
    basketry("rewrite", source, "-o", out, *LAYOUTS[layout])
    basketry("verify", source, out)

    assert not list(entry_bytes.differences(root_bytes.of(source), root_bytes.of(out)))


@pytest.mark.parametrize("codec", ["lzma:1", "lz4:4", "zlib:1", "zstd:1"])
def test_writes_records_of_several_blocks(
    codec: str, basketry: Basketry, root_bytes: RootServer, tmp_path: Path
) -> None:
    source = make_files.made("big_records_zstd") / "big.root"
    out = tmp_path / "big.root"
    basketry("rewrite", source, "-o", out, "--compression", codec)
    found = list(entry_bytes.differences(root_bytes.of(source), root_bytes.of(out)))

    assert not found, "\n".join(found)


@pytest.mark.only_full  # writes 2.3 GB
def test_an_output_beyond_2gb_is_readable(basketry: Basketry, root_bytes: RootServer, tmp_path: Path) -> None:
    source = make_files.made("compressible_2gb") / "zeros.root"
    out = tmp_path / "zeros.root"
    basketry("rewrite", source, "-o", out, "--compression", "none", timeout=300)
    assert out.stat().st_size > 2_300_000_000
    basketry("verify", source, out, timeout=300)
    found = list(entry_bytes.differences(root_bytes.of(source), root_bytes.of(out)))
    out.unlink()

    assert not found, "\n".join(found)


def test_an_unreadable_file_is_refused(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("unclosed") / "unsaved.root"
    line = basketry.refuses("rewrite", source, "-o", tmp_path / "out.root")

    assert "unsaved.root" in line
    assert not list(tmp_path.iterdir())


def test_an_absent_external_file_is_named(basketry: Basketry, tmp_path: Path) -> None:
    source = tmp_path / "external.root"
    source.write_bytes((make_files.made("external_branch") / "external.root").read_bytes())
    line = basketry.refuses("rewrite", source, "-o", tmp_path / "out.root")

    assert "external_far.root" in line


@pytest.mark.parametrize(
    "patterns",
    [
        ("--keep", "n?", "--keep", "j1*", "--drop", "j11*"),
        ("--keep", "/n.$|J1/i", "--drop", "Events//j11/"),
    ],
)
def test_slimming_keeps_and_drops_branches(basketry: Basketry, tmp_path: Path, patterns: tuple[str, ...]) -> None:
    source = make_files.made("wide") / "wide.root"
    out = tmp_path / "slim.root"
    basketry("rewrite", source, "-o", out, *patterns)
    with uproot.open(source) as before, uproot.open(out) as after:
        names, known = after["Events"].keys(), before["Events"].keys()
        kept = {name for name in known if name.startswith("j1") and not name.startswith("j11")}
        assert kept <= set(names)
        assert not any(name.startswith(("j11", "s")) for name in names)
        assert after["Events"]["j10"].array().tolist() == before["Events"]["j10"].array().tolist()


def test_an_entry_range_is_kept(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("cluster_ranges") / "clusters.root"
    out = tmp_path / "range.root"
    basketry("rewrite", f"{source}:tree", "-o", out, "--first", "123", "--last", "1456")
    with uproot.open(source) as before, uproot.open(out) as after:
        for name in ("i", "d", "n", "x"):
            whole, part = before["tree"][name].array(), after["tree"][name].array()
            assert whole[123:1457].tolist() == part.tolist()


def test_verify_names_the_first_difference(basketry: Basketry) -> None:
    folder = make_files.made("schemas")
    outcome = basketry.run("verify", folder / "base.root", folder / "other.root")
    assert outcome.code == 1, str(outcome)
    assert "x" in outcome.out + outcome.err
    parts = make_files.made("chained")
    outcome = basketry.run("verify", parts / "part0.root", parts / "part1.root")

    assert outcome.code == 1, str(outcome)
    assert "tree" in outcome.out + outcome.err
    assert "entry 0" in outcome.out + outcome.err


def test_an_existing_output_is_kept_without_force(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("chained") / "part0.root"
    out = tmp_path / "out.root"
    out.write_text("mine")
    assert "out.root" in basketry.refuses("rewrite", source, "-o", out)
    assert out.read_text() == "mine"
    basketry("rewrite", source, "-o", out, "--force")
    basketry("verify", source, out)


def test_one_basket_per_cluster_is_written(basketry: Basketry, tmp_path: Path) -> None:
    source = make_files.made("wide") / "wide.root"
    out = tmp_path / "out.root"
    basketry("rewrite", source, "-o", out, "--cluster", "50", "--one-basket-per-cluster", "--basket", "100B")
    with uproot.open(out) as file:
        tree = file["Events"]
        assert {branch.num_baskets for branch in tree.branches} == {tree.num_entries // 50}
