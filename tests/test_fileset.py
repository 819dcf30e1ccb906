"""`fileset`: the format of coffea's preprocess, with steps along clusters."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
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
    tools = pytest.importorskip("coffea.dataset_tools", reason="coffea is not installed")
    fileset = json.loads(basketry("fileset", made))
    assert tools.max_chunks(fileset, 1)["dataset"]["files"]
    assert tools.DataGroupSpec.model_validate(fileset).steps["dataset"] == {
        path: file["steps"] for path, file in fileset["dataset"]["files"].items()
    }


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


@pytest.fixture(scope="module")
def files(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Trees of one and of several clusters, and an RNTuple."""
    folder = tmp_path_factory.mktemp("fileset")
    made = []
    for name, options in {
        "one": (),
        "several": ("--cluster", "20"),
        "ntuple": ("--cluster", "20", "--container", "rntuple"),
    }.items():
        made.append(folder / f"{name}.root")
        basketry("generate", "nano", "--size", "300kB", "-o", made[-1], *options)
    return made


@pytest.mark.parametrize("read_by", [uproot, bk], ids=lambda module: module.__name__)
def test_coffea_makes_the_same(
    read_by: Any, basketry: Basketry, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = pytest.importorskip("coffea.dataset_tools", reason="coffea is not installed")
    monkeypatch.setattr(uproot, "open", read_by.open)
    trees = files[:2]
    given = tools.DataGroupSpec.model_validate({"zmm": {"files": {str(path): "Events" for path in trees}}})
    # Its warning about large clusters is not about the result.
    how = {"step_size": 30, "step_size_safety_factor": 9, "save_form": False, "scheduler": "synchronous"}
    for aligned, options in ((True, ()), (False, ("--split-clusters",))):
        theirs = tools.preprocess(given, align_clusters=aligned, **how)[0].model_dump()
        ours = json.loads(basketry("fileset", *trees, "--dataset", "zmm", "--step-size", "30", *options))
        for path, file in ours["zmm"]["files"].items():
            assert {name: theirs["zmm"]["files"][path][name] for name in file} == file


def test_an_empty_tree_has_one_empty_step(basketry: Basketry, files: list[Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty.root"
    basketry("rewrite", files[0], "-o", empty, "--entries", "0:0", "--allow-no-match")
    file = json.loads(basketry("fileset", empty))["dataset"]["files"][str(empty)]
    assert (file["num_entries"], file["steps"]) == (0, [[0, 0]])


def test_a_file_is_once_in_a_data_set(basketry: Basketry, made: Path) -> None:
    assert "twice" in basketry.refuses("fileset", made, made)
    assert list(json.loads(basketry("fileset", f"one={made}", f"two={made}"))) == ["one", "two"]


def test_clusters_of_an_rntuple_end_steps(basketry: Basketry, files: list[Path]) -> None:
    path = files[2]
    file = json.loads(basketry("fileset", path, "--step-size", "1"))["dataset"]["files"][str(path)]
    with uproot.open(path) as opened:
        events = opened["Events"]
        ends = [*(cluster.num_first_entry for cluster in events.cluster_summaries), events.num_entries]
        assert (file["uuid"], file["num_entries"]) == (str(opened.file.uuid), ends[-1])
    assert file["steps"] == [[int(start), int(end)] for start, end in itertools.pairwise(ends)]
