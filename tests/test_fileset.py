"""`fileset`: the format of coffea's preprocess, with steps along clusters."""

import itertools
import json
from pathlib import Path

import pytest
import uproot

from referee.command import Basketry


def test_it_has_the_shape_of_coffea(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    output = tmp_path / "fileset.json"
    basketry("fileset", f"zmm={made}", "--step-size", "150", "-o", output)

    fileset = json.loads(output.read_text())

    assert list(fileset) == ["zmm"]
    assert fileset["zmm"].keys() == {"files", "form", "metadata"}
    with uproot.open(made) as theirs:
        tree = theirs["dir/t"]
        bounds = [int(bound) for bound in tree.common_entry_offsets()]
        entries, uuid = tree.num_entries, str(theirs.file.uuid)
    # As coffea does with align_clusters.
    ends = [0]
    for bound in bounds:
        if bound >= ends[-1] + 150:
            ends.append(bound)
    if ends[-1] != bounds[-1]:
        ends.append(bounds[-1])
    steps = [list(step) for step in itertools.pairwise(ends)]
    assert len(steps) > 1
    expected = {"object_path": "dir/t", "steps": steps, "num_entries": entries, "uuid": uuid}
    assert fileset["zmm"]["files"] == {str(made): expected}


def test_coffea_takes_it(basketry: Basketry, made: Path) -> None:
    util = pytest.importorskip("coffea.dataset_tools", reason="coffea is not installed")
    fileset = json.loads(basketry("fileset", made))
    assert util.max_chunks(fileset, 1)["dataset"]["files"]


def test_bad_files_are_listed_and_left_out(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.root"
    bad.write_text("no ROOT file")

    refused = basketry.run("fileset", made, bad)
    assert refused.code == 2
    assert "bad.root" in refused.err

    outcome = basketry.run("fileset", made, bad, "--skip-bad", "--json")
    report = json.loads(outcome.out)
    assert outcome.code == 1
    assert [file["path"] for file in report["skipped"]] == [str(bad)]
    assert list(report["fileset"]["dataset"]["files"]) == [str(made)]
