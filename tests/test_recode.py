"""Other split levels and streamings: real ROOT reads the same objects, and the report says what was recoded."""

import json
from pathlib import Path

import pytest

from referee import oracle
from referee.command import Basketry
from referee.root_server import RootServer

NTUPLE = "unroot--cms_ntuple_wjet.root"
# Number of recoded clusters of branches, by file and layout. ROOT turns all objects of these files into values.
RECODED = {
    (NTUPLE, "--split-level=0"): 81,
    ("roottest--TreeNestedVector.root", "--split-level=0"): 1,
    ("roottest--TreeNestedVector.root", "--streaming=object-wise"): 1,
    ("roottest--TreeTClonesArray0.root", "--split-level=99"): 5,
    ("roottest--TreeTClonesArray2.root", "--split-level=0"): 1,
    ("roottest--TreeVectorClass0.root", "--split-level=99"): 6,
    ("roottest--TreeVectorClass0.root", "--streaming=object-wise"): 1,
    ("roottest--TreeVectorClass2.root", "--split-level=0"): 1,
    ("roottest--fccSkim.root", "--split-level=0"): 58,
    ("skhep--uproot-issue-1221.root", "--split-level=0"): 40,
    ("skhep--uproot-small-evnt-tree-nosplit.root", "--split-level=99"): 164,
    ("unroot--edm4hep_266.root", "--split-level=0"): 19,
    ("unroot--issue377.root", "--split-level=0"): 62,
}


def recoded_clusters(report: str) -> int:
    """Clusters of branches that were recoded."""
    return sum(table["depths"]["recode"] for table in json.loads(report)["tables"])


@pytest.mark.parametrize(("name", "layout"), RECODED)
def test_root_reads_the_same_objects(
    name: str, layout: str, basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    source, out = oracle.corpus_file(name), tmp_path / "out.root"
    assert recoded_clusters(basketry("rewrite", source, "-o", out, layout, "--json")) == RECODED[name, layout]
    before, after = root_values.of(source)["trees"], root_values.of(out)["trees"]

    assert {path: tree["branches"] for path, tree in before.items()} == {
        path: tree["branches"] for path, tree in after.items()
    }


def test_threads_do_not_change_the_bytes(corpus: Path, basketry: Basketry, tmp_path: Path) -> None:
    outputs = []
    for threads in ("1", "8"):
        folder = tmp_path / threads
        folder.mkdir()
        out = folder / "out.root"
        basketry("rewrite", corpus / "files" / NTUPLE, "-o", out, "--split-level", "0", "-j", threads)
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]


def test_undecodable_columns_keep_their_layout(basketry: Basketry, tmp_path: Path) -> None:
    source = oracle.corpus_file("coffea--PHYSLITE_example.root")
    report = json.loads(basketry("rewrite", source, "-o", tmp_path / "out.root", "--split-level", "99", "--json"))
    assert any("METAssoc_AnalysisMET" in note and "keep" in note for note in report["notes"]), report["notes"]


def test_a_single_branch_can_be_recoded(corpus: Path, basketry: Basketry, tmp_path: Path) -> None:
    source = corpus / "files" / NTUPLE
    report = basketry("rewrite", source, "-o", tmp_path / "out.root", "--column-set", "b0", "split-level=0", "--json")
    assert recoded_clusters(report) == 3
