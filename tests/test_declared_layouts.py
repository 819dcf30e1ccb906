"""A layout is declared, a file is written in it, and what is in the file is the layout that was declared."""

import tomllib
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import basketry as bk
from referee.command import Basketry

TREES = {
    "entries": 'cluster = "250"\ncompression = "zstd:5"',
    "bytes": 'cluster = "20kB"\ncompression = "lz4:4"',
    "columns": 'cluster = "400"\ncompression = "none"\n[column.x]\ncompression = "lzma:1"\n'
    '[column.v]\ncompression = "zlib:1"',
    "one basket": 'cluster = "300"\ncompression = "zlib:1"\none-basket-per-cluster = true\nbasket = "100B"',
}
NTUPLES = {
    "pages": 'cluster = "300"\nbasket = "1kB"\ncompression = "lz4:4"',
    "fields": 'cluster = "500"\ncompression = "none"\n[column.x]\ncompression = "zstd:5"',
}
CASES = [
    *(pytest.param("ttree", text, id=f"tree: {name}") for name, text in TREES.items()),
    *(pytest.param("rntuple", text, id=f"RNTuple: {name}") for name, text in NTUPLES.items()),
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An input whose layout is none of those declared."""
    path, random = tmp_path_factory.mktemp("declared") / "source.root", np.random.default_rng(1)
    lists = ak.unflatten(random.normal(size=6000).astype("f4"), np.arange(3000) % 5)
    with bk.recreate(path, compression="zlib:9") as file:
        file["t"] = {"x": random.random(3000), "y": np.arange(3000), "v": lists}
    return path


def codec(found: dict[str, Any], column: str) -> str:
    """The codec of a column: its own, or that of all."""
    return str(found.get("column", {}).get(column, {}).get("compression", found["compression"]))


@pytest.mark.parametrize(("container", "text"), CASES)
def test_what_is_written_is_what_was_declared(
    container: str, text: str, source: Path, basketry: Basketry, tmp_path: Path
) -> None:
    layout, out, again = (tmp_path / name for name in ("layout.toml", "out.root", "again.root"))
    layout.write_text(f'container = "{container}"\n{text}\n')
    declared = tomllib.loads(layout.read_text())
    basketry("rewrite", source, "-o", out, "--layout", layout)
    printed = basketry("inspect", out, "--layout")
    found = tomllib.loads(printed)
    report = basketry.json("inspect", out)
    [table] = report["trees"] + report["ntuples"]

    assert found["container"] == declared["container"]
    assert bool(report["ntuples"]) == (container == "rntuple")
    for column in ("x", "v", "y"):
        assert codec(found, column) == codec(declared, column), column
    if declared["cluster"].isdigit():
        step = int(declared["cluster"])
        assert table["clusters"] == list(range(0, table["entries"], step))
        assert found["cluster"] == declared["cluster"]
    if declared.get("one-basket-per-cluster"):
        assert table["baskets"] == len(table["clusters"]) * len(table["branches"])

    # What was printed writes the same layout.
    layout.write_text(printed)
    basketry("rewrite", source, "-o", again, "--layout", layout)
    assert basketry("inspect", again, "--layout") == printed


@pytest.fixture(scope="module")
def ntuple(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An RNTuple with small clusters and pages, with equal pages, without checksums."""
    path = tmp_path_factory.mktemp("declared") / "ntuple.root"
    settings: Any = {"cluster": 240, "basket": 400, "page_checksums": False, "compression": "none"}
    with bk.recreate(path, container="rntuple", share_pages=False, **settings) as file:
        file["n"] = {"x": np.arange(3000.0), "same": np.ones(3000, "i4"), "late": np.arange(3000) // 7}
    return path


def shown(path: Path) -> dict[str, Any]:
    """What shows of the settings of an RNTuple."""
    [found] = bk.inspect(path).ntuples
    return {
        "clusters": tuple(found.clusters),
        "checksums": found.checksums,
        "shared": found.shared_pages > 0,
        "pages": found.pages,
    }


GIVEN = [
    pytest.param({"page_checksums": True}, {"checksums": "all"}, id="checksums"),
    pytest.param({"share_pages": True}, {"shared": True}, id="sharing"),
    pytest.param({"encoding": "plain"}, {}, id="encoding"),
    pytest.param({"basket": "800B"}, {"pages": None}, id="pages"),
    pytest.param({"column_set": {"x": {"basket": "200B"}}}, {"pages": None}, id="pages of a column"),
    pytest.param({"cluster": 500}, {"clusters": tuple(range(0, 3000, 500)), "pages": None}, id="clusters"),
]


@pytest.mark.parametrize(("given", "changed"), GIVEN)
def test_settings_that_are_not_given_stay(
    given: dict[str, Any], changed: dict[str, Any], ntuple: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    bk.rewrite(ntuple, out, **given)
    before, after = shown(ntuple), shown(out)

    assert before["clusters"] == tuple(range(0, 3000, 240))
    assert (before["checksums"], before["shared"]) == ("none", False)
    for what in ("clusters", "checksums", "shared", "pages"):
        expected = changed.get(what, before[what])
        assert expected is None or after[what] == expected, what
    if "pages" in changed:
        assert after["pages"] != before["pages"]
    assert bk.verify(ntuple, out).equal


def test_clusters_that_stay_lose_only_entries(ntuple: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    bk.rewrite(ntuple, out, page_checksums=True, entries="100:500,1000:1001,2900:")
    assert shown(out)["clusters"] == (0, 140, 380, 400, 401)
    assert bk.concatenate(out, library="np")["x"].tolist() == [*range(100, 500), 1000, *range(2900, 3000)]


def test_pages_that_are_shared_stay_shared(ntuple: Path, tmp_path: Path) -> None:
    shared, out = tmp_path / "shared.root", tmp_path / "out.root"
    bk.rewrite(ntuple, shared, share_pages=True)
    bk.rewrite(shared, out, page_checksums=True)
    assert shown(out) == {**shown(shared), "checksums": "all"}


def test_a_dry_run_tells_what_a_conversion_does(source: Path, ntuple: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    asked: Any = {"container": "rntuple", "compression": "lz4:4", "column_set": {"x": {"compression": "none"}}}
    [expected] = bk.rewrite(source, out, dry_run=True, **asked).tables
    codecs = {one.name: one.compression for one in expected.columns}
    assert codecs == {"x": "none", "y": "lz4:4", "v": "lz4:4", "nv": "lz4:4"}
    # Where clusters will end is not known.
    assert expected.clusters is None
    assert "entries in" not in basketry("rewrite", source, "-o", out, "--container", "rntuple", "--dry-run")
    # Without a codec it is that of the input.
    [expected] = bk.rewrite(source, out, dry_run=True, container="rntuple").tables
    assert {one.compression for one in expected.columns} == {"zlib:9"}
    [expected] = bk.rewrite(ntuple, out, dry_run=True, page_checksums=True).tables
    assert (expected.clusters, {one.compression for one in expected.columns}) == (13, {"none"})
    bk.rewrite(ntuple, out, page_checksums=True)
    assert len(shown(out)["clusters"]) == 13


KEYS_OF_NTUPLES: dict[str, Any] = {
    "page_checksums": True,
    "share_pages": True,
    "unzipped_cluster": "1MB",
    "cluster_group": 2,
    "encoding": "plain",
    "column_set": {"x": {"encoding": "plain"}},
}


@pytest.mark.parametrize("key", KEYS_OF_NTUPLES)
def test_a_key_that_fits_no_table_is_refused(key: str, source: Path, ntuple: Path, tmp_path: Path) -> None:
    out, given = tmp_path / "out.root", {key: KEYS_OF_NTUPLES[key]}
    name = "encoding" if key == "column_set" else key.replace("_", "-")
    targets: list[tuple[Path, dict[str, Any]]] = [(source, {}), (ntuple, {"container": "ttree"})]
    for file, asked in targets:
        if (key, file) == ("column_set", ntuple):
            continue
        with pytest.raises(ValueError, match=f"{name} is for RNTuples only"):
            bk.rewrite(file, out, **asked, **given)
        assert not out.exists()
    # Beside an RNTuple it is a note.
    both = tmp_path / "both.root"
    with bk.recreate(both, tree_set={"n": {"container": "rntuple"}}) as made:
        made["t"] = made["n"] = {"x": np.arange(100)}
    notes = bk.rewrite(both, out, **given).notes
    assert [note for note in notes if "only" in note] == [f"tree t: {name} is for RNTuples only"]
    # Where the tree becomes one it fits.
    bk.rewrite(source, out, container="rntuple", force=True, **given)
