"""tune: what it decides is measured again after the rewrite, proven equal, and within the limits it was given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

from referee import schema_document
from referee.command import Basketry
from referee.paths import BUILD, REPO


@pytest.fixture(scope="module")
def nano() -> Path:
    """The demo's NanoAOD-like file with its bad layout, in small."""
    path = BUILD / "nano-like-8MB.root"
    if not path.exists():
        scratch = path.with_name(f".{os.getpid()}-{path.name}")
        command = [sys.executable, str(REPO / "demo" / "make_input.py"), str(scratch), "--megabytes", "8"]
        subprocess.run(command, check=True, capture_output=True)
        scratch.rename(path)
    return path


def test_the_tuned_file_is_smaller_cheaper_to_read_and_equal(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    report = basketry.json("tune", nano, "-o", out)
    assert report["schema"] == 1
    assert report["chosen"]["read"] < report["today"]["read"]
    assert out.stat().st_size <= nano.stat().st_size
    # Prediction and measurement are of sizes that the format fixes: they may differ by little.
    assert report["chosen"]["size"] == pytest.approx(out.stat().st_size, rel=0.02)
    assert report["proof"] is not None
    basketry("verify", nano, out)
    with uproot.open(nano) as before, uproot.open(out) as after:
        for name in ("event", "nJet", "Jet_pt", "HLT_IsoMu24"):
            assert before["Events"][name].array().tolist() == after["Events"][name].array().tolist()


@pytest.fixture(scope="module")
def objects(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four vectors of classes, split, in clusters of two entries."""
    folder = tmp_path_factory.mktemp("objects")
    layout = ("--split-level", "99", "--cluster", "2")
    basketry("generate", "aod", "--size", "5MB", *layout, "-o", folder / "aod.root")
    basketry("rewrite", folder / "aod.root", "--keep", "muon_*", "-o", folder / "muons.root")
    return folder / "muons.root"


def test_columns_of_objects_are_split_otherwise_if_asked(objects: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    report = basketry.json("tune", objects, "--recode", "--max-size", "1.2x", "-o", out)
    assert report["recasts"], report["why"]
    assert report["proof"]["equal"]
    assert report["proof"]["baskets"]["measured"] == pytest.approx(report["chosen"]["baskets"], rel=0.15)
    found = {recast["column"] for recast in report["recasts"]}
    with uproot.open(out) as file, uproot.open(objects) as before:
        for name in found:
            assert len(before["Events"][name].keys()) > 3
            assert not file["Events"][name].keys(), name
    as_it_is = basketry.json("tune", objects)
    assert not as_it_is["recasts"]
    assert any("--recode" in why for why in as_it_is["why"])


def test_the_documented_fields_are_those_printed(nano: Path, objects: Path, basketry: Basketry, tmp_path: Path) -> None:
    proven = basketry.json("tune", nano, "-o", tmp_path / "tuned.root")
    recast = basketry.json("tune", objects, "--recode", "--max-size", "1.2x")
    refused = basketry.run("tune", nano, "--max-size", "100kB", "--json")
    assert refused.code == 1, str(refused)
    found = schema_document.differences(REPO / "docs" / "tune-schema.md", [proven, recast, json.loads(refused.out)])
    assert not found, "\n".join(found)


def test_without_an_output_nothing_is_written(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    outcome = basketry.run("tune", nano, cwd=tmp_path)
    assert outcome.code == 0, str(outcome)
    assert not list(tmp_path.iterdir())
    for column in ("today", "chosen"):
        assert column in outcome.out


def test_the_decided_layout_can_be_given_to_rewrite(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    layout, tuned, rewritten = tmp_path / "layout.toml", tmp_path / "tuned.root", tmp_path / "rewritten.root"
    report = basketry.json("tune", nano, "--layout-out", layout)
    assert layout.read_text() == report["layout"]
    basketry("rewrite", nano, "-o", rewritten, "--layout", layout)
    assert report["chosen"]["size"] == pytest.approx(rewritten.stat().st_size, rel=0.02)
    assert not tuned.exists()


@pytest.mark.parametrize("share", [0.95, 1.1])
def test_a_size_limit_holds(share: float, nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    limit = int(nano.stat().st_size * share)
    basketry("tune", nano, "-o", out, "--max-size", f"{limit}B")
    assert out.stat().st_size <= limit


def test_a_limit_that_cannot_be_met_is_answered_with_no(nano: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "tuned.root"
    outcome = basketry.run("tune", nano, "-o", out, "--max-size", "100kB")
    assert outcome.code == 1, str(outcome)
    assert "max-size" in outcome.out + outcome.err
    assert not out.exists()


def test_the_workload_decides(nano: Path, basketry: Basketry) -> None:
    few = basketry.json("tune", nano, "--workload", "columns:MET_*")
    full = basketry.json("tune", nano, "--workload", "full")
    assert few["today"]["read"] < full["today"]["read"] / 5
    assert few["workload"] != full["workload"]


@pytest.mark.parametrize("workload", ["full", "columns:Jet_*,nJet", "sparse:1%"])
def test_what_is_read_is_predicted_stage_by_stage(
    workload: str, nano: Path, basketry: Basketry, tmp_path: Path
) -> None:
    report = basketry.json("tune", nano, "-o", tmp_path / "tuned.root", "--workload", workload)
    for cost in (report["today"], report["chosen"], *(group["today"] for group in report["groups"])):
        assert cost["read"] == pytest.approx(cost["fetch"] + cost["decompress"] + cost["decode"])
        assert cost["read"] == 0 or cost["decode"] > 0
    # A busy machine may be far off: this is no measurement of the model, only of its being about the same work.
    read = report["proof"]["read_today"]
    assert read["expected"] / 4 < read["measured"] < read["expected"] * 4
