"""The size that a dry run of rewrite and merge expects is the size that the output has, whatever is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import oracle
from referee.command import Basketry, run
from referee.paths import FOUND

# What is asked of a dry run on files that no sample was chosen for. Most are far nearer.
BAR = 0.10
MADE = {
    "small_clusters": ("nano", "--size", "2MB", "--cluster", "100kB", "--compression", "zlib:1"),
    "objects": ("aod", "--size", "2MB", "--compression", "zstd:5"),
    "large": ("multi", "--size", "40MB", "--compression", "lz4:4"),
}
LAYOUTS = (
    "",
    "--cluster 3MB",
    "--cluster 50kB --basket 4kB",
    "--compression zstd:9",
    "--compression none",
    "--compression lzma:2",
    "--container rntuple",
    "--container rntuple --compression lzma:2",
    "--split-level 0",
    "--last 300 --compression lz4:4",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, basketry: Basketry) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dry")
    files = {}
    for name, words in MADE.items():
        files[name] = folder / f"{name}.root"
        basketry("generate", *words, "-o", files[name])
    for name in ("small_clusters", "large"):
        files[f"{name}_rntuple"] = folder / f"{name}_rntuple.root"
        basketry("rewrite", files[name], "-o", files[f"{name}_rntuple"], "--container", "rntuple", "--cluster", "1MB")
    return files


def compare(basketry: Basketry, path: Path, words: list[str], output: Path, bar: float = BAR) -> None:
    """Compares what is expected with what comes out. What the rewrite refuses, the dry run may refuse as well."""
    expected = run([basketry.binary, "rewrite", path, "-o", output, "--dry-run", "--json", *words])
    assert not output.exists()
    outcome = run([basketry.binary, "rewrite", path, "-o", output, "--json", *words])
    if outcome.code > 1:
        assert expected.code > 0
        return
    assert expected.code == 0, str(expected)
    plan, done = json.loads(expected.out), json.loads(outcome.out)
    size = output.stat().st_size
    output.unlink()
    assert done["bytes_written"] == size
    assert plan["bytes_read"] == done["bytes_read"] == path.stat().st_size
    off = abs(plan["bytes_written"] - size)
    assert off <= bar * size + 1000, (path.name, words, plan["bytes_written"], size)
    for then, now in zip(done["tables"], plan["tables"], strict=True):
        assert (then["path"], then["entries"], then["container"]) == (now["path"], now["entries"], now["container"])


@pytest.mark.parametrize("name", [*MADE, "small_clusters_rntuple", "large_rntuple"])
def test_the_expected_size_is_that_of_the_output(
    name: str, made: dict[str, Path], basketry: Basketry, tmp_path: Path
) -> None:
    for layout in LAYOUTS if "large" not in name else LAYOUTS[1::3]:
        if "rntuple" in name and ("split-level" in layout or "lzma" in layout):
            continue
        compare(basketry, made[name], layout.split(), tmp_path / "out.root")
    if "rntuple" in name:
        compare(basketry, made[name], ["--container", "ttree"], tmp_path / "out.root")


def test_what_is_tried_as_a_whole_is_exact(made: dict[str, Path], tmp_path: Path) -> None:
    """The case of a file of small clusters: 3.05 MB were expected, 1.08 came out, as an RNTuple 0.83."""
    cases: list[dict[str, Any]] = [{"cluster": "3MB"}, {"container": "rntuple"}]
    for options in cases:
        out = tmp_path / "out.root"
        plan = bk.rewrite(made["small_clusters"], out, dry_run=True, **options)
        done = bk.rewrite(made["small_clusters"], out, force=True, **options)
        assert plan.uncertainty == 0 < plan.sampled
        # Pages are on disk with their checksums.
        written = sum(table.zip_bytes + table.checksum_bytes for table in done.tables)
        assert plan.bytes_after == pytest.approx(written, rel=1e-4)
        assert plan.bytes_written == pytest.approx(done.bytes_written, rel=0.01)
        assert sum(table.baskets for table in plan.tables) == pytest.approx(done.tables[0].baskets, rel=0.05)


@pytest.mark.parametrize("checksums", [True, False])
def test_bytes_before_and_after_are_counted_alike(checksums: bool, tmp_path: Path) -> None:
    """Of pages with their checksums, where they have any; pages that share their bytes are there once."""
    tree, first, out = (tmp_path / f"{name}.root" for name in ("tree", "first", "out"))
    rng = np.random.default_rng(7)
    with uproot.recreate(tree) as file:
        file["t"] = {"zero": np.zeros(20_000), "noise": rng.normal(size=20_000)}
    made = bk.rewrite(tree, first, container="rntuple", basket="4kB", page_checksums=checksums).tables[0]
    stored = made.zip_bytes + made.checksum_bytes
    with bk.open(first) as file:
        assert file["t"].compressed_bytes == made.zip_bytes
    # 4 kB are 500 numbers: 40 pages of each column, of which all but one of the zeros are the same.
    assert made.baskets == 80
    assert made.checksum_bytes == (8 * 41 if checksums else 0)
    copied = bk.rewrite(first, out, dry_run=True)
    assert copied.bytes_before == copied.bytes_after == stored
    assert sum(column.bytes_before for column in copied.tables[0].columns) == stored
    assert copied.tables[0].baskets == 80
    packed = bk.rewrite(first, out, dry_run=True, compression="lzma:1")
    done = bk.rewrite(first, out, compression="lzma:1").tables[0]
    assert packed.bytes_before == stored
    assert packed.bytes_after == done.zip_bytes + done.checksum_bytes
    assert packed.bytes_written == pytest.approx(out.stat().st_size, rel=0.01)


def test_a_merge_expects_its_size_too(made: dict[str, Path], basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    files = [made["small_clusters"], tmp_path / "again.root"]
    files[1].write_bytes(files[0].read_bytes())
    for words in ([], ["--cluster", "3MB"], ["--compression", "zstd:3"], ["--container", "rntuple"]):
        plan = basketry.json("merge", *files, "-o", out, "--dry-run", *words)
        basketry("merge", *files, "-o", out, "--force", *words)
        assert plan["bytes_written"] == pytest.approx(out.stat().st_size, rel=0.03), words


def test_baskets_in_the_record_and_wide_variance(basketry: Basketry, tmp_path: Path) -> None:
    """Content that changes along the file, entries of many sizes, and baskets that uproot left in no record."""
    rng = np.random.default_rng(3)
    path = tmp_path / "wide.root"
    n = 30_000
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        noise = np.concatenate([np.zeros(n // 2), rng.normal(size=n // 2)])
        file.mktree("t", {"noise": "f8", "step": "i8", "wide": "8f4"})
        for part in range(0, n, 3000):
            rows = slice(part, part + 3000)
            wide = rng.normal(size=(3000, 8)).astype("f4") * (part < 9000)
            file["t"].extend({"noise": noise[rows], "step": np.arange(n)[rows], "wide": wide})
    for layout in ("--basket 64kB", "--cluster 100kB", "--compression zstd:5", "--container rntuple"):
        compare(basketry, path, layout.split(), tmp_path / "out.root", 0.02)


@pytest.mark.skipif(not oracle.index(), reason="the corpus is absent")
@pytest.mark.parametrize("layout", ["", "--compression zstd:5", "--cluster 100kB", "--container rntuple"])
def test_files_of_others(layout: str, basketry: Basketry, tmp_path: Path) -> None:
    names = [line["name"] for line in oracle.index()[::29]]
    for path in [oracle.corpus_file(name) for name in names]:
        compare(basketry, path, layout.split(), tmp_path / "out.root")


@pytest.mark.skipif(not FOUND.is_dir(), reason="no corpus of found files")
@pytest.mark.parametrize("name", ["roundtrip_skhep--uproot-issue327.root", "manyclusters.root"])
def test_files_that_were_found(name: str, basketry: Basketry, tmp_path: Path) -> None:
    for layout in ("", "--compression zstd:5", "--container rntuple"):
        compare(basketry, FOUND / name, layout.split(), tmp_path / "out.root")
