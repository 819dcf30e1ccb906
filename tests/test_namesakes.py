"""A tree and an RNTuple of one name in a file: the name means the same table in outputs. ROOT writes the files."""

import subprocess
import sys
from pathlib import Path

import pytest
import uproot

import basketry as bk
from referee.command import Basketry

CODE = """
import array, ROOT
def tree(file):
    tree = ROOT.TTree("events", "events")
    x = array.array("i", [0])
    tree.Branch("x", x, "x/I")
    for k in range(5):
        x[0] = k
        tree.Fill()
    tree.Write()
    # Otherwise it is written once more, with the RNTuple.
    tree.SetDirectory(ROOT.nullptr)
def rntuple(file):
    model = ROOT.RNTupleModel.Create()
    model.MakeField["int"]("y")
    writer = ROOT.RNTupleWriter.Append(model, "events", file)
    entry = writer.CreateEntry()
    for k in range(4):
        entry["y"] = k
        writer.Fill(entry)
    del writer
both = {"tree_last": (rntuple, tree), "rntuple_last": (tree, rntuple)}
for name, makers in (both | {"tree": (tree,), "rntuple": (rntuple,)}).items():
    file = ROOT.TFile(f"{name}.root", "RECREATE")
    for make in makers:
        make(file)
    file.Close()
"""
TREE, RNTUPLE = "TTree", "ROOT::RNTuple"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files."""
    folder = tmp_path_factory.mktemp("namesakes")
    words = [sys.executable, "-W", "ignore", "-c", CODE]
    subprocess.run(words, check=True, timeout=120, capture_output=True, cwd=folder)
    return folder


def meant(path: Path) -> tuple[str, int]:
    """The class and the number of entries of what uproot finds under the name."""
    with uproot.open(path) as file:
        name = file.key("events").fClassName
        assert bk.open(path)["events"].num_entries == file["events"].num_entries
        return name, file["events"].num_entries


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["tree_last"], (TREE, 5)),
        (["rntuple_last"], (RNTUPLE, 4)),
        (["tree_last", "tree_last"], (TREE, 10)),
        (["rntuple_last", "tree_last"], (RNTUPLE, 8)),
        (["tree_last", "rntuple_last"], (TREE, 10)),
        # No input has both: the name means what it means in the first.
        (["tree", "rntuple"], (TREE, 5)),
        (["rntuple", "tree"], (RNTUPLE, 4)),
    ],
)
def test_a_name_means_the_same_table(
    names: list[str], wanted: tuple[str, int], made: Path, basketry: Basketry, tmp_path: Path
) -> None:
    inputs, out = [made / f"{name}.root" for name in names], tmp_path / "out.root"
    basketry("merge" if len(inputs) > 1 else "rewrite", *inputs, "-o", out)
    basketry("verify", *inputs, out)
    assert meant(out) == wanted
    with uproot.open(out) as file:
        assert sorted(file.classnames(cycle=False, recursive=False).values()) in ([TREE], [RNTUPLE], [RNTUPLE, TREE])
        assert {key.fClassName for key in (file.key(f"events;{cycle}") for cycle in (1, 2))} == {TREE, RNTUPLE}


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
@pytest.mark.parametrize("name", ["tree_last", "rntuple_last"])
def test_one_container_has_no_room_for_both(
    name: str, container: str, made: Path, basketry: Basketry, tmp_path: Path
) -> None:
    source, out = made / f"{name}.root", tmp_path / "out.root"
    refused = basketry.run("rewrite", source, "-o", out, "--container", container)
    assert refused.code == 2
    assert "events: is a tree and an RNTuple" in refused.err
    assert "FILE:events;CYCLE" in refused.err
    assert not out.exists()
    with uproot.open(source) as file:
        entries = {cycle: file[f"events;{cycle}"].num_entries for cycle in (1, 2)}
    for cycle, count in entries.items():
        basketry("rewrite", "-f", f"{source}:events;{cycle}", "-o", out, "--container", container)
        wanted = TREE if container == "ttree" else RNTUPLE
        assert meant(out) == (wanted, count)
        with uproot.open(out) as file:
            assert file.keys() == ["events;1"]
