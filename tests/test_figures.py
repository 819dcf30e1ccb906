"""One file, one figure: the numbers of clusters, baskets, pages, bytes and keys that verbs show of the same file are
the same, and those that real ROOT and uproot find in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry
from referee.steps import Steps, made

Report = dict[str, Any]
TREES: dict[str, Steps] = {
    "nano": [("generate", "nano", "--size", "1MB")],
    "nano-none": [("generate", "nano", "--size", "500kB", "--compression", "none")],
    "nano-clusters": [("generate", "nano", "--size", "500kB", "--cluster", "20")],
    "nano-baskets": [("generate", "nano", "--size", "500kB"), ("rewrite", "--basket", "300")],
    "lhcb": [("generate", "lhcb", "--size", "1MB", "--compression", "zstd:5", "--cluster", "200kB")],
    "aod": [("generate", "aod", "--size", "1MB", "--compression", "lz4:4")],
    "esd": [("generate", "esd", "--size", "1MB", "--compression", "lzma:1")],
    "single": [("generate", "single", "--size", "2MB", "--cluster", "300kB")],
}
NTUPLES: dict[str, Steps] = {
    "nano-rntuple": [("generate", "nano", "--size", "1MB"), ("rewrite", "--container", "rntuple")],
    "nano-rntuple-clusters": [
        ("generate", "nano", "--size", "500kB"),
        ("rewrite", "--container", "rntuple", "--cluster", "50"),
    ],
    "aod-rntuple": [
        ("generate", "aod", "--size", "1MB"),
        ("rewrite", "--container", "rntuple", "--compression", "none"),
    ],
    "single-rntuple": [
        ("generate", "single", "--size", "1MB"),
        ("rewrite", "--container", "rntuple", "--basket", "4kB", "--page-checksums=false"),
    ],
}
# What ROOT writes: baskets that stay in the record of their tree, clusters that it does not record, and a giant entry.
ROOTS = """
import ROOT, array
for name, flushed in (("root-embedded", False), ("root-silent", True)):
    file = ROOT.TFile(name + ".root", "RECREATE", "", 101)
    tree = ROOT.TTree("t", "a tree")
    tree.SetAutoFlush(0)
    x, n, v = array.array("d", [0]), array.array("i", [0]), array.array("f", [0] * 8)
    tree.Branch("x", x, "x/D", 2000)
    tree.Branch("n", n, "n/I", 3000)
    tree.Branch("v", v, "v[n]/F", 4000)
    for entry in range(5400):
        x[0], n[0] = entry * 1.37, entry % 8
        for k in range(8):
            v[k] = entry + k
        tree.Fill()
        if flushed and entry % 50 == 49:
            tree.FlushBaskets(False)
    # Tree.Write would write the baskets that are being filled.
    file.WriteTObject(tree)
    file.Close()
"""


@dataclass(frozen=True)
class Branch:
    """The baskets on disk of a branch, by their keys; each of them in bytes."""

    contents: list[int]
    keys: list[int]
    records: list[int]
    tot: int
    zip: int


def by_uproot(tree: Any) -> dict[str, Branch]:
    """The branches of a tree that have baskets on disk, by their paths."""
    found = {}
    for path, branch in tree.iteritems(recursive=True):
        baskets = [n for n in range(branch.member("fWriteBasket")) if branch.member("fBasketSeek")[n] > 0]
        keys = [branch.basket_key(n) for n in baskets]
        if keys:
            found[path] = Branch(
                [key.fObjlen for key in keys],
                [key.fKeylen for key in keys],
                [key.fNbytes for key in keys],
                branch.member("fTotBytes"),
                branch.member("fZipBytes"),
            )
    return found


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what ROOT writes."""
    folder = tmp_path_factory.mktemp("roots")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(ROOTS)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = np.array([3, 2, 400_000, 1] + [5] * 200)
    with uproot.recreate(folder / "giant.root", compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"v": "var * float32", "i": "int64"})
        for part in np.array_split(np.arange(len(counts)), 20):
            values = ak.unflatten(np.arange(counts[part].sum(), dtype=np.float32), counts[part])
            file["t"].extend({"v": values, "i": part.astype(np.int64)})
    return folder


def bytes_of(text: str) -> tuple[float, float]:
    """A printed size and half of its last digit."""
    number, unit = re.fullmatch(r"([\d.]+) (B|kB|MB|GB)", text).groups()  # type: ignore[union-attr]
    scale = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    digits = len(number.partition(".")[2])
    return float(number) * scale, 0.51 * scale / 10**digits


def is_shown(text: str, size: float) -> bool:
    """Whether a printed size is that number of bytes."""
    value, half = bytes_of(text.strip())
    return abs(value - size) <= half


def rows(text: str, first: str) -> list[dict[str, str]]:
    """The rows of a printed table whose header begins with a word."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if re.match(rf"{first}\s\s", line))
    # Columns are two blanks apart, and a number may have one inside.
    spans = [match.span() for match in re.finditer(r"\S+(?: \S+)*", lines[start])]
    names = [lines[start][a:b] for a, b in spans]
    found = []
    for line in lines[start + 1 :]:
        if len(re.findall(r"\S+(?: \S+)*", line)) < 2:
            break
        row = {}
        for name, (a, b) in zip(names, spans, strict=True):
            # A cell overlaps its header: numbers end below it, texts begin below it.
            cells = [cell for cell in re.finditer(r"\S+(?: \S+)*", line) if cell.start() < b and cell.end() > a]
            row[name] = cells[0].group() if cells else ""
        found.append(row)
    return found


def clusters_by_root(path: Path, tree: str) -> int:
    """The clusters of ROOT's own iterator."""
    script = f"""
import ROOT
file = ROOT.TFile.Open({str(path)!r})
tree = file.Get({tree!r})
iterator, found = tree.GetClusterIterator(0), 0
while iterator.Next() < tree.GetEntries():
    found += 1
print(found)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def check_tree(basketry: Basketry, path: Path, folder: Path, *, declared: bool = True) -> None:
    """Compares what all verbs say of the one tree of a file with what uproot finds in the file."""
    report = basketry.json("inspect", path, "--no-trials")
    (tree,) = report["trees"]
    with uproot.open(path) as file:
        truth = file[tree["path"]]
        branches = by_uproot(truth)
        common = len(truth.common_entry_offsets()) - 1
        member = {name: truth.member(name) for name in ("fTotBytes", "fZipBytes", "fEntries")}
    # inspect --json.
    mine = {one["id"]: one for one in tree["branches"]}

    def name(one: Report) -> str:
        above = one["id"].rpartition(".")[0]
        return f"{name(mine[above])}/{one['name']}" if above else str(one["name"])

    held = {name(one): one for one in tree["branches"] if one["basket_summary"]["count"] > 0}
    assert held.keys() == branches.keys()
    for where, branch in branches.items():
        one, summary = held[where], held[where]["basket_summary"]
        assert (one["tot_bytes"], one["zip_bytes"]) == (branch.tot, branch.zip), where
        assert one["key_bytes"] == sum(branch.keys), where
        assert one["tot_bytes"] - one["key_bytes"] == sum(branch.contents), where
        for key, sizes in (("raw", branch.contents), ("disk", branch.records)):
            spread = {"min": min(sizes), "mean": sum(sizes) // len(sizes), "max": max(sizes)}
            assert {k: v for k, v in summary[key].items() if k != "median"} == spread, (where, key)
        assert summary["count"] == len(branch.records), where
    contents = [size for branch in branches.values() for size in branch.contents]
    records = [size for branch in branches.values() for size in branch.records]
    keys = sum(sum(branch.keys) for branch in branches.values())
    assert (tree["tot_bytes"], tree["zip_bytes"]) == (member["fTotBytes"], member["fZipBytes"])
    assert (tree["entries"], tree["baskets"], tree["key_bytes"]) == (member["fEntries"], len(records), keys)
    clusters = clusters_by_root(path, tree["path"])
    assert len(tree["clusters"]) == clusters
    assert tree["cluster_count"] == (clusters if declared else common)
    # inspect, printed: once with all headers, once with those of some baskets.
    for words in (["--codecs"], []):
        text = basketry("inspect", path, "--no-trials", "-n", "5", *words)
        (line,) = rows(text, "tree")
        assert line["entries"].replace(",", "") == str(tree["entries"])
        assert line["clusters"].replace(",", "") == str(tree["cluster_count"])
        assert line["baskets"].replace(",", "") == str(len(records))
        for column, size in (("in memory", sum(contents)), ("keys", keys), ("on disk", sum(records))):
            assert is_shown(line[column], size), (column, line, size)
        assert float(line["ratio"]) == pytest.approx((sum(contents) + keys) / sum(records), abs=0.0051)
        for line in rows(text, "branch"):
            (where,) = [one for one in branches if one.rpartition("/")[2] == line["branch"].strip()][:1]
            branch = branches[where]
            if sum(one.rpartition("/")[2] == line["branch"].strip() for one in branches) > 1:
                continue
            assert is_shown(line["in memory"], sum(branch.contents)), line
            assert is_shown(line["keys"], sum(branch.keys)), line
            assert is_shown(line["on disk"], sum(branch.records)), line
            assert is_shown(line["mean"], sum(branch.contents) // len(branch.contents)), line
            assert bytes_of(line["mean"])[0] <= bytes_of(line["largest"])[0] * 1.01, line
            if words:
                assert is_shown(line["largest"], max(branch.contents)), line
        said = re.search(
            r"baskets: .*?, (.*?) in memory and (.*?) on disk on average, (.*?) to (.*?); keys (.*?)[;\n]", text
        )
        assert said
        for shown, figure in zip(
            said.groups(),
            (sum(contents) / len(contents), sum(records) / len(records), min(records), max(records), keys),
            strict=True,
        ):
            # Means are rounded down, branch by branch.
            value, half = bytes_of(shown)
            assert value - half <= figure <= value + half + 2, (shown, figure)
        for line in rows(text, "codec"):
            assert bytes_of(line["in memory"])[0] <= sum(contents) * 1.01
    # rewrite: a copy has the same records, and says what inspect says of it.
    copy = folder / "copy.root"
    (summary,) = basketry.json("rewrite", path, "-o", copy)["tables"]
    (after,) = basketry.json("inspect", copy, "--no-trials")["trees"]
    assert summary["clusters"] == after["cluster_count"]
    for key in ("entries", "baskets", "tot_bytes", "zip_bytes", "key_bytes"):
        assert summary[key] == after[key], key
    again = basketry("rewrite", copy, "-o", folder / "again.root")
    (line,) = rows(again, "tree")
    assert is_shown(line["before compression"], after["tot_bytes"] - after["key_bytes"]), line
    assert is_shown(line["on disk"], after["zip_bytes"]), line
    plan = basketry.json("rewrite", copy, "-o", folder / "third.root", "--dry-run")
    (forecast,) = plan["tables"]
    assert (forecast["bytes_before"], forecast["baskets"]) == (after["zip_bytes"], after["baskets"])
    assert forecast["clusters"] == after["cluster_count"]
    # readspeed reads all records, and merge counts as rewrite does.
    speed = basketry.json("readspeed", copy)
    assert (speed["clusters"], speed["all_entries"]) == (after["cluster_count"], after["entries"])
    assert speed["compressed"] == after["zip_bytes"]
    assert speed["uncompressed"] <= after["tot_bytes"] - after["key_bytes"]
    # Python, and uproot beside it.
    with uproot.open(copy) as theirs:
        of_uproot = theirs[tree["path"]]
        own: Any = bk.open(copy)[tree["path"]]
        assert own.num_entries == of_uproot.num_entries
        assert (own.uncompressed_bytes, own.compressed_bytes) == (after["tot_bytes"], after["zip_bytes"])
        assert own.compressed_bytes == sum(branch.compressed_bytes for branch in of_uproot.itervalues())
        assert len(own.clusters) - 1 == after["cluster_count"]


@pytest.mark.parametrize("name", TREES)
def test_trees(name: str, basketry: Basketry, tmp_path: Path) -> None:
    check_tree(basketry, made(basketry, TREES[name], tmp_path), tmp_path)


@pytest.mark.parametrize("name", ["root-embedded", "root-silent", "giant"])
def test_trees_that_declare_no_clusters(name: str, basketry: Basketry, roots: Path, tmp_path: Path) -> None:
    check_tree(basketry, roots / f"{name}.root", tmp_path, declared=False)


def test_clusters_are_counted_as_they_are_kept(basketry: Basketry, roots: Path) -> None:
    """Where a tree declares none, its clusters are where all branches begin a basket, for all verbs."""
    text = basketry("inspect", roots / "root-silent.root", "--no-trials")
    assert "clusters: 108 (none declared: all branches begin a basket there)" in text
    assert "ROOT would take 1, the largest" in text
    assert basketry.json("readspeed", roots / "root-silent.root")["clusters"] == 108


def pages_of(report: Report) -> list[tuple[int, int, int]]:
    """Offset, bytes on disk and bytes before compression of all pages."""
    return [
        (page["seek"], page["bytes"], -(-page["elements"] * column["bits"] // 8))
        for field in report["fields"]
        for column in field["columns"]
        for page in column["page_list"]
    ]


@pytest.mark.parametrize("name", NTUPLES)
def test_rntuples(name: str, basketry: Basketry, tmp_path: Path) -> None:
    path = made(basketry, NTUPLES[name], tmp_path)
    (report,) = basketry.json("inspect", path, "--baskets", "--no-trials")["ntuples"]
    # Pages are compared with ROOT's inspector in test_inspect_ntuple.py.
    pages = pages_of(report)
    stored = {(seek, size): raw for seek, size, raw in pages if size > 0}
    assert report["pages"] == len(pages)
    assert report["zip_bytes"] == sum(size for _, size in stored)
    assert report["tot_bytes"] == sum(stored.values())
    for field in report["fields"]:
        for column in field["columns"]:
            if not column["page_list"]:
                continue
            raw = [-(-page["elements"] * column["bits"] // 8) for page in column["page_list"]]
            disk = [page["bytes"] for page in column["page_list"]]
            for key, sizes in (("raw", raw), ("disk", disk)):
                spread = {"min": min(sizes), "mean": sum(sizes) // len(sizes), "max": max(sizes)}
                assert {k: v for k, v in column[key].items() if k != "median"} == spread, (field["path"], key)
    text = basketry("inspect", path, "--no-trials", "-n", "5")
    (line,) = rows(text, "RNTuple")
    assert line["clusters"].replace(",", "") == str(report["cluster_count"])
    assert line["pages"].replace(",", "") == str(report["pages"])
    assert is_shown(line["in memory"], report["tot_bytes"])
    assert is_shown(line["on disk"], report["zip_bytes"])
    for line in rows(text, "field"):
        assert bytes_of(line["mean"])[0] <= bytes_of(line["largest"])[0] * 1.01, line
    # The verb that wrote it, one that moves its pages, and one that makes them anew say the same of their outputs.
    for number, words in enumerate([[], ["--compression", "zstd:1"], ["--cluster", "70"]]):
        output = tmp_path / f"out{number}.root"
        (summary,) = basketry.json("rewrite", path, "-o", output, *words)["tables"]
        (after,) = basketry.json("inspect", output, "--no-trials")["ntuples"]
        assert summary["clusters"] == after["cluster_count"]
        assert summary["baskets"] == after["pages"]
        for key in ("entries", "tot_bytes", "zip_bytes"):
            assert summary[key] == after[key], (words, key)
        assert summary["key_bytes"] == 0
    speed = basketry.json("readspeed", path)
    assert speed["clusters"] == report["cluster_count"]
    own: Any = bk.open(path)[report["path"]]
    assert len(own.clusters) - 1 == report["cluster_count"]
    assert (own.uncompressed_bytes, own.compressed_bytes) == (report["tot_bytes"], report["zip_bytes"])
    assert own.compression_ratio == report["tot_bytes"] / report["zip_bytes"]
    fields = {field["id"]: field for field in report["fields"]}
    for one in own.values():
        field = fields[one.field_id]
        assert field["path"].endswith(one.name), one
        assert one.num_baskets == field["pages"], one
        assert (one.uncompressed_bytes, one.compressed_bytes) == (
            field["with_subfields"]["raw_bytes"],
            field["with_subfields"]["bytes"],
        ), one


def test_generate_says_what_it_wrote(basketry: Basketry, tmp_path: Path) -> None:
    for container in ("ttree", "rntuple"):
        path = tmp_path / f"{container}.root"
        words = ("generate", "nano", "--size", "500kB", "--container", container, "-o", path)
        (table,) = json.loads(basketry(*words, "--json"))["written"][0]["trees"]
        path.unlink()
        text = basketry(*words)
        report = basketry.json("inspect", path, "--no-trials")
        (one,) = report["trees"] or report["ntuples"]
        for key in ("entries", "tot_bytes", "zip_bytes"):
            assert table[key] == one[key], (container, key)
        shown = re.search(r"\((.*) before compression\)", text)
        assert shown
        assert is_shown(shown.group(1), one["tot_bytes"] - one.get("key_bytes", 0))
