"""The same input and layout give the same bytes, whatever the number of threads and the folder."""

from pathlib import Path

import pytest

from referee import oracle
from referee.command import Basketry

NAMES = (
    "skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root",
    "skhep--uproot-HZZ-zlib.root",
    "roottest--EDM.root",
    "coffea--PHYSLITE_example.root",
)
LAYOUT = ("--compression", "zstd:1", "--cluster", "200", "--basket", "4kB")


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_the_bytes(name: str, corpus: Path, basketry: Basketry, tmp_path: Path) -> None:
    source = corpus / "files" / name
    outputs = []
    for threads in (1, 2, 4):
        folder = tmp_path / str(threads)
        folder.mkdir()
        basketry("rewrite", source, "-o", folder / "out.root", *LAYOUT, "-j", str(threads))
        outputs.append((folder / "out.root").read_bytes())

    assert outputs[0] == outputs[1]
    assert outputs[0] == outputs[2]


def test_a_merge_is_the_same_on_any_number_of_threads(corpus: Path, basketry: Basketry, tmp_path: Path) -> None:
    sources = [corpus / "files" / "skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root"] * 3
    outputs = []
    for threads in (1, 2, 4):
        out = tmp_path / str(threads) / "out.root"
        out.parent.mkdir()
        basketry("merge", *sources, "-o", out, "-j", str(threads))
        outputs.append(out.read_bytes())

    assert outputs[0] == outputs[1] == outputs[2]


def test_source_date_epoch_sets_the_dates(
    corpus: Path, basketry: Basketry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = oracle.corpus_file("skhep--uproot-HZZ-zlib.root")
    out = tmp_path / "out.root"
    assert corpus.is_dir()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    basketry("rewrite", source, "-o", out)
    first = out.read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    basketry("rewrite", source, "-o", out, "--force")

    assert len(first) == out.stat().st_size
    assert first != out.read_bytes()
