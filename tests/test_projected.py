"""Projected fields of RNTuples, which show the values of others: what a filter keeps of them is whole. ROOT's importer
makes the files."""

from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import root_ntuples
from referee.command import Basketry

COUNTS = np.arange(60) % 4


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An RNTuple with a collection of muons: projected fields show each of their members, and their number."""
    folder = tmp_path_factory.mktemp("projected")
    numbers = np.arange(COUNTS.sum(), dtype=np.float32)
    muons = {"pt": numbers, "eta": numbers / 8}
    with bk.recreate(folder / "tree.root") as file:
        file.mktree("Events", {"MET": np.arange(60.0), "Muon": ak.unflatten(ak.zip(muons), COUNTS)})
    return root_ntuples.imported(folder / "tree.root", "Events", folder / "imported.root")


def collection(path: Path) -> str:
    """The name of the field of the muons."""
    with uproot.open(path) as file:
        names = file["Events"].keys()
    return next(str(name) for name in names if name.startswith("_collection") and "." not in name)


@pytest.mark.parametrize("keep", [["Muon_pt"], ["nMuon"], ["nMuon", "MET"], ["Muon_*"], ["Muon_eta", "nMuon"]])
def test_what_is_kept_of_projected_fields_has_its_values(
    keep: list[str], imported: Path, basketry: Basketry, tmp_path: Path
) -> None:
    whole, out, twice = bk.open(imported)["Events"], tmp_path / "out.root", tmp_path / "twice.root"
    every = whole.keys()
    names = [name for name in every if name in keep or (keep == ["Muon_*"] and name.startswith("Muon_"))]
    assert len(names) == (2 if keep == ["Muon_*"] else len(keep))
    words = [word for pattern in keep for word in ("--keep", pattern)]
    report = basketry.json("rewrite", imported, "-o", out, *words)
    # A pattern matches the members themselves as well, and then all that shows them is there.
    told = [note for note in report["notes"] if "projected ones show them" in note and collection(imported) in note]
    assert bool(told) == (not any("Muon_" in pattern for pattern in keep))
    basketry("merge", imported, imported, "-o", twice, *words, "--compression", "zstd:3")
    if told:
        basketry("verify", imported, out, *words)
    for path, times in ((out, 1), (twice, 2)):
        found = bk.open(path)["Events"]
        for name in names:
            expected = whole[name].array().to_list() * times
            assert found[name].array().to_list() == expected
            with uproot.open(path) as file:
                assert file["Events"].arrays([name])[name].to_list() == expected
    # Nothing else at the top but what they show.
    left = bk.open(out)["Events"].keys()
    assert {name for name in left if "." not in name} == {*names, collection(imported)}


def test_what_is_shown_can_be_dropped(imported: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    words = ("--keep", "MET", "--keep", "nMuon", "--drop", collection(imported))
    report = basketry.json("rewrite", imported, "-o", out, *words)
    assert any("go with the fields that they show: nMuon" in note for note in report["notes"])
    assert bk.open(out)["Events"].keys() == ["MET"]
