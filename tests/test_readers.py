"""tune for other readers: profiles and their effect, calibrations by real ROOT and uproot, and the proof."""

import importlib.util
import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from referee.command import Argument, Basketry, Outcome, run
from referee.paths import BINARY, REPO

SHIPPED = REPO / "crates" / "lab" / "src" / "decide" / "tune" / "reader"
CODECS = ("zlib", "lz4", "zstd", "lzma")


class Readers:
    """The command with its own folder of profiles, and a Python with or without the readers."""

    def __init__(self, folder: Path) -> None:
        self.profiles = folder / "config" / "basketry" / "readers"
        self.config = folder / "config"
        self.empty = folder / "empty"
        self.empty.mkdir()
        stand_in = self.empty / "python3"
        stand_in.write_text('#!/bin/sh\necho \'{"error": "No module named ROOT"}\'\n')
        stand_in.chmod(0o755)

    def __call__(self, *arguments: Argument, installed: bool = True, timeout: float = 300) -> Outcome:
        """Runs `tune`."""
        first = Path(sys.executable).parent if installed else self.empty
        env = {"PATH": f"{first}{os.pathsep}{os.environ['PATH']}", "XDG_CONFIG_HOME": str(self.config)}
        return run([BINARY, "tune", *arguments], timeout=timeout, env=env)

    def json(self, *arguments: Argument, installed: bool = True) -> Any:
        """The report of a `tune` that succeeds."""
        outcome = self(*arguments, "--json", installed=installed)
        assert outcome.code == 0, str(outcome)
        return json.loads(outcome.out)


@pytest.fixture
def tune(tmp_path: Path) -> Readers:
    return Readers(tmp_path)


@pytest.fixture(scope="module")
def flat(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some branches of a NanoAOD-like file, compressed so that another layout is better for any reader."""
    folder = tmp_path_factory.mktemp("flat")
    basketry("generate", "nano", "--size", "6MB", "--compression", "zlib:1", "-o", folder / "nano.root")
    keep = ("--keep", "nMuon", "--keep", "Muon_*", "--keep", "MET_*")
    basketry("rewrite", folder / "nano.root", *keep, "-o", folder / "flat.root")
    return folder / "flat.root"


def profile(path: Path, **changes: float) -> Path:
    """The shipped profile of ROOT under another name, with other numbers (`read__basket`)."""
    text = (SHIPPED / "root.toml").read_text().replace('reader = "root"', 'reader = "other"')
    section, lines = "", []
    for line in text.splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        key = line.partition(" =")[0]
        name = f"{section}.{key}".replace(".", "__").replace("-", "_")
        lines.append(f"{key} = {changes[name]!r}" if name in changes else line)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", ["root", "uproot"])
def test_shipped_profiles_record_their_origin(name: str) -> None:
    text = (SHIPPED / f"{name}.toml").read_text()
    found = tomllib.loads(text)

    assert f"basketry tune --calibrate {name}" in text.splitlines()[1]
    assert found["reader"] == name
    assert all(found["decompress"][codec]["seconds-per-byte"] > 0 for codec in CODECS)


def test_the_report_names_the_reader(flat: Path, tune: Readers) -> None:
    ours, root = tune.json(flat), tune.json(flat, "--reader", "root")
    assert (ours["reader"]["name"], ours["reader"]["profile"]) == ("basketry", None)
    assert (root["reader"]["name"], root["reader"]["profile"]) == ("root", "shipped")
    assert root["reader"]["proven_by"] is None
    assert root["today"]["read"] != ours["today"]["read"]
    assert root["today"]["size"] == ours["today"]["size"]
    said = tune(flat, "--reader", "root").out

    assert f"reading times: those of root {root['reader']['version']}, by the profile shipped with basketry" in said


def test_readers_get_different_layouts(flat: Path, tune: Readers, tmp_path: Path) -> None:
    """A reader with expensive zstd, and one with expensive zlib and LZ4."""
    no_zstd = profile(tmp_path / "a.toml", decompress__zstd__seconds_per_byte=2e-7)
    no_others = {f"decompress__{codec}__seconds_per_byte": 2e-7 for codec in ("zlib", "lz4")}
    only_zstd = profile(tmp_path / "b.toml", **no_others)

    def bytes_in(report: Any, *codecs: str) -> float:
        return sum(float(group["chosen"]["size"]) for group in report["groups"] if group["to"].startswith(codecs))

    a, b = tune.json(flat, "--reader", no_zstd), tune.json(flat, "--reader", only_zstd)
    assert a["reader"]["name"] == "other"
    assert bytes_in(a, "zlib", "lz4") > bytes_in(a, "zstd")
    assert bytes_in(b, "zstd") > bytes_in(b, "zlib", "lz4")
    assert a["layout"] != b["layout"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"read__basket": -1e-6}, "read.basket"),
        ({"read__branch": 1e9}, "read.branch"),
        ({"decompress__zstd__basketry": 0.0}, "decompress.zstd.basketry"),
        ({"values__object__entry": float("nan")}, "values.object.entry"),
    ],
)
def test_malformed_profiles_are_refused(change: dict[str, float], said: str, flat: Path, tune: Readers) -> None:
    wrong = profile(tune.config.parent / "wrong.toml", **change)
    outcome = tune(flat, "--reader", wrong)

    assert outcome.code == 2, str(outcome)
    assert said in outcome.err
    assert "wrong.toml" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_unknown_readers_are_refused(flat: Path, tune: Readers, tmp_path: Path) -> None:
    (tmp_path / "half.toml").write_text("format = 1\nreader = 'x'\n")
    for reader, said in (("groot", "root, uproot"), (tmp_path / "half.toml", "missing"), (tmp_path / "no.toml", "")):
        outcome = tune(flat, "--reader", reader)
        assert (outcome.code, said in outcome.err) == (2, True), str(outcome)
    outcome = tune(flat, "--reader", "uproot", "--workload", "sparse:1%")

    assert (outcome.code, "uproot" in outcome.err) == (2, True), str(outcome)
    assert tune(flat, "--calibrate", "root").code == 2
    assert tune("--calibrate", "groot").code == 2


def test_without_the_reader_basketry_makes_the_proof(flat: Path, tune: Readers, tmp_path: Path) -> None:
    options = ("--reader", "root", "--goal", "reading", "-o", tmp_path / "out.root")
    report = tune.json(flat, *options, installed=False)
    assert report["reader"]["proven_by"] == "basketry"
    assert "No module named ROOT" in report["reader"]["instead"]
    said = tune(flat, *options, "-f", installed=False).out

    assert "measured by basketry's reader instead of root's" in said


def test_a_reader_that_is_not_installed_is_not_calibrated(tune: Readers) -> None:
    outcome = tune("--calibrate", "root", installed=False)
    assert outcome.code == 2, str(outcome)
    assert "No module named ROOT" in outcome.err
    assert "install ROOT" in outcome.err
    assert not list(tune.profiles.glob("*"))


@pytest.mark.parametrize(
    ("name", "module"),
    # uproot takes minutes for it.
    [("root", "ROOT"), pytest.param("uproot", "uproot", marks=pytest.mark.only_full)],
)
def test_a_calibration_is_kept_and_used(name: str, module: str, flat: Path, tune: Readers, tmp_path: Path) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    kept = tune.profiles / f"{name}.toml"
    found = tune.json("--calibrate", name, "--quick-calibration")
    assert found["schema"] == 1
    assert found["output"] == str(kept)
    made = found["profile"]
    assert made["reader"] == name
    assert made["version"]
    assert all(made["decompress"][codec]["seconds-per-byte"] > 0 for codec in CODECS)
    assert all(row["measured"] > 0 and row["expected"] >= 0 for row in found["rows"])
    of_ntuples = [row["ntuple"] for row in found["rows"]]
    assert of_ntuples.count(False) == made["fit"]["files"] >= 20
    assert of_ntuples.count(True) == made["ntuple"]["fit"]["files"] >= 20
    assert tomllib.loads(kept.read_text()) == made
    # A kept profile is replaced only with --force; the refusal comes before measuring.
    before = kept.read_bytes()
    again = tune("--calibrate", name, "--quick-calibration")
    assert (again.code, "--force" in again.err) == (2, True), str(again)
    assert kept.read_bytes() == before
    written = tune(flat, "--reader", name, "-o", tmp_path / "out.root", "--max-size", "2x", "--json")
    report = json.loads(written.out)
    assert report["reader"]["profile"] == str(kept)
    # The input's layout may be the best by that profile: then there is no proof.
    if report["attempts"]:
        assert report["reader"]["proven_by"] == f"{name} {made['version']}"
        assert report["reader"]["instead"] is None

    assert written.code == (0 if report["delivered"] else 1), str(written)
    assert str(kept) in tune(flat, "--reader", name).out
