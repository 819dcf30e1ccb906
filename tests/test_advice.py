"""Every command that inspect gives mends its finding, brings no worse one, and costs what is said."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry, run
from referee.paths import FOUND
from referee.steps import Steps, made

Finding = dict[str, Any]
MADE: dict[str, Steps] = {
    "tiny_baskets": [("generate", "nano", "--size", "1MB"), ("rewrite", "--basket", "300")],
    "tiny_clusters": [("generate", "nano", "--size", "2MB"), ("rewrite", "--cluster", "10")],
    "small_clusters": [("generate", "nano", "--size", "2MB", "--cluster", "100kB")],
    "few_entries": [("generate", "nano", "--size", "20kB")],
    "huge_baskets": [
        ("generate", "single", "--size", "32MB"),
        ("rewrite", "--cluster", "100000000", "--basket", "10MB"),
    ],
    "lzma": [("generate", "aod", "--size", "2MB", "--compression", "lzma:7")],
    "none": [("generate", "nano", "--size", "2MB", "--compression", "none")],
    "ntuple_clusters": [
        ("generate", "nano", "--size", "2MB"),
        ("rewrite", "--container", "rntuple", "--cluster", "10"),
    ],
    "ntuple_pages": [
        ("generate", "multi", "--size", "2MB"),
        ("rewrite", "--container", "rntuple", "--basket", "200"),
    ],
    "ntuple_bare": [
        ("generate", "nano", "--size", "1MB"),
        ("rewrite", "--container", "rntuple", "--page-checksums=false"),
    ],
    "ntuple_lzma": [
        ("generate", "aod", "--size", "2MB"),
        ("rewrite", "--container", "rntuple", "--compression", "lzma:7"),
    ],
    "ntuple_none": [
        ("generate", "nano", "--size", "1MB"),
        ("rewrite", "--container", "rntuple", "--compression", "none"),
    ],
}


def weight(finding: Finding) -> float:
    """What findings are sorted by."""
    cost = finding["cost"]
    seconds = cost["read_seconds"] + 10 * cost["entry_seconds"] + (cost["shared_seconds"] + cost["open_seconds"]) / 2
    return float(1e9 * cost["danger"] + cost["bytes"] / 200e6 + seconds + cost["memory"] / 1e8)


def kind(finding: Finding) -> tuple[str, str]:
    """What is wrong with which table."""
    return finding["fault"], finding["tree"]


def check(basketry: Basketry, path: Path, folder: Path, bar: float = 0.1, *, tried: bool = True) -> list[Finding]:
    """Runs the command of each finding, and inspects what it writes. Returns the findings.

    Prices of what was not `tried` are estimates, which are not held against the output.
    """
    report = basketry.json("inspect", path)
    for number, finding in enumerate(report["findings"]):
        assert (finding["command"] is None) == (finding["price"] is None)
        if finding["command"] is None or finding["fault"] == "codecs_by_branch":
            continue
        words = shlex.split(finding["command"])
        output = folder / f"{number}.root"
        words[words.index("-o") + 1] = str(output)
        outcome = run([basketry.binary, *words[1:]], cwd=folder)
        assert outcome.code == 0, str(outcome)
        after = basketry.json("inspect", output, "--no-trials")
        left = [other for other in after["findings"] if kind(other) == kind(finding)]
        assert not left, (finding["command"], left[0]["text"])
        had = {kind(other) for other in report["findings"]}
        new = [other for other in after["findings"] if kind(other) not in had and other["pays"] == "reader"]
        assert all(weight(other) < weight(finding) for other in new), (finding, new)
        assert ("expected_bytes" in finding) == tried
        if not tried:
            continue
        old, size = path.stat().st_size, output.stat().st_size
        assert abs(finding["expected_bytes"] - size) <= bar * size + 1000, (finding, size)
        assert finding["price"]["bytes"] == max(0, finding["expected_bytes"] - old)
        key = "trees" if report["trees"] else "ntuples"
        memory = [sum(table["memory"]["read"] for table in one[key]) for one in (report, after)]
        assert memory[1] <= 1.5 * (memory[0] + finding["price"]["memory"]) + 1_000_000, (finding, memory)
        output.unlink()
    return list(report["findings"])


@pytest.mark.parametrize("name", MADE)
def test_advice_holds(name: str, basketry: Basketry, tmp_path: Path) -> None:
    findings = check(basketry, made(basketry, MADE[name], tmp_path), tmp_path)
    if name not in ("few_entries", "ntuple_none", "none", "lzma"):
        assert any(finding["command"] for finding in findings), findings


def test_one_giant_entry_is_no_fault_of_the_layout(basketry: Basketry, tmp_path: Path) -> None:
    """It was told `--basket 32kB`, and told again afterwards, 2.59 times larger."""
    path = tmp_path / "giant.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"hits": "var * float32"})
        for entry in range(60):
            size = 5_000_000 if entry == 30 else 2000
            file["t"].extend({"hits": ak.Array([np.zeros(size, "f4")])})
    findings = check(basketry, path, tmp_path)
    assert "uneven_baskets" not in [finding["fault"] for finding in findings]


def test_giant_baskets_that_can_be_cut_are_a_fault(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "uneven.root"
    rng = np.random.default_rng(1)
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"hits": "f8"})
        for basket in range(20):
            file["t"].extend({"hits": rng.normal(size=1_500_000 if basket == 10 else 3000)})
    findings = check(basketry, path, tmp_path)
    assert any(finding["fault"] == "uneven_baskets" and finding["command"] for finding in findings), findings


@pytest.mark.skipif(not FOUND.is_dir(), reason="no corpus of found files")
@pytest.mark.parametrize("name", ["seeds-inspect-advice-giant-entry", "hugeent", "hugebasket", "manyclusters"])
def test_files_that_were_found(name: str, basketry: Basketry, tmp_path: Path) -> None:
    # Entries of very different sizes, of which few are sampled. A basket of 80 MB needs more memory than trials have.
    check(basketry, FOUND / f"{name}.root", tmp_path, 0.25, tried=name != "hugebasket")


def test_the_other_container_is_tried(basketry: Basketry, tmp_path: Path) -> None:
    path = made(basketry, MADE["small_clusters"], tmp_path)
    (moved,) = basketry.json("inspect", path)["moved"]
    out = tmp_path / "out.root"
    basketry("rewrite", path, "-o", out, "--container", "rntuple")
    ntuple = basketry.json("inspect", out)["ntuples"][0]
    size = ntuple["zip_bytes"] + 8 * ntuple["checked_pages"] + ntuple["metadata"]["bytes"]

    assert moved["container"] == "rntuple"
    assert moved["bytes"] == pytest.approx(size, rel=0.05)
    assert "As an RNTuple" in basketry("inspect", path)
    assert "moved" not in basketry.json("inspect", path, "--no-trials")
    assert "As a tree" in basketry("inspect", out)


def test_many_tables_with_one_fault_are_one_finding(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "many.root"
    with uproot.recreate(path) as file:
        for number in range(12):
            tree = file.mktree(f"d{number % 3}/t{number}", {"x": "float64", "y": "int32", "z": "int64"})
            for _ in range(60):
                tree.extend({"x": np.arange(3.0), "y": np.arange(3, dtype=np.int32), "z": np.arange(3)})
        file.mktree("good", {"x": "float64"}).extend({"x": np.arange(100.0)})
    findings = [finding for finding in check(basketry, path, tmp_path) if finding["pays"] == "reader"]
    assert len({finding["fault"] for finding in findings}) == len(findings) > 0
    assert {len(finding["also"]) for finding in findings} == {11}
    covered = {findings[0]["tree"], *findings[0]["also"]}
    assert covered == {f"d{number % 3}/t{number}" for number in range(12)}
    text = basketry("inspect", path, "-n", "1")
    assert f" 1. {findings[0]['tree']} and 11 others: " in text
    assert "So it is with 11 other tables; cost and command are of all." in text


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_thousands_of_columns(container: str, basketry: Basketry, tmp_path: Path) -> None:
    """One finding for all columns, in little memory: trials end where a plan alone takes more than they have."""
    path = tmp_path / "wide.root"
    names = [f"c{number:05}" for number in range(8_000)]
    with bk.recreate(path) as file:
        types = dict.fromkeys(names, "float32")
        table = file.mktree("t", types) if container == "ttree" else file.mkrntuple("t", types)
        values = np.zeros(20, np.float32)
        for _ in range(2):
            table.extend(dict.fromkeys(names, values))
    outcome = run([basketry.binary, "inspect", path])
    assert outcome.code == 0, str(outcome)
    bare = run([basketry.binary, "inspect", path, "--no-trials"])
    assert outcome.peak_rss < bare.peak_rss + 80_000_000, (outcome.peak_rss, bare.peak_rss)
    findings = basketry.json("inspect", path)["findings"]
    assert len(findings) == len({finding["fault"] for finding in findings}) <= 4
    assert all(len(finding["text"]) < 600 for finding in findings)
