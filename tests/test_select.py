"""Selected entries: ROOT's own CopyTree keeps the same, and objects that count entries are updated or dropped."""

import json
from pathlib import Path

import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.command import Basketry
from referee.root_server import RootServer

GOOD = ("--where", "good")
BOTH = ("--where", "good", "--where", "events/stream", "--entries", "events=500:2900")
LAYOUTS = ("", "--compression=zstd:1", "--cluster=250", "--split-level=0")


@pytest.fixture(scope="module")
def source() -> Path:
    return make_files.made("selected") / "all.root"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("asked", "expected"), [(GOOD, "good.root"), (BOTH, "both.root")])
def test_selections_equal_those_of_root(
    asked: tuple[str, ...],
    expected: str,
    layout: str,
    source: Path,
    basketry: Basketry,
    root_values: RootServer,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out.root"
    report = json.loads(basketry("rewrite", source, "-o", out, *asked, *filter(None, [layout]), "--json"))
    ours, theirs = (root_values.of(path)["trees"]["events"] for path in (out, source.with_name(expected)))
    assert (ours["entries"], ours["branches"]) == (theirs["entries"], theirs["branches"])
    entries = {table["path"]: (table["input_entries"], table["entries"]) for table in report["tables"]}
    with uproot.open(out) as file:
        count = file["events"].num_entries
    assert entries == {"events": (3000, count), "more": (3000, 3000), "few": (10, 10)}
    basketry("verify", source, out, *asked)


def test_an_index_finds_the_same_entries(
    source: Path, basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    basketry("rewrite", source, "-o", out, *GOOD, "--entries", "events=1000:")
    with uproot.open(out) as file:
        tree = file["events"]
        run, event = (tree[name].array(library="np") for name in ("run", "event"))
    lines = root_values.of(out)["trees"]["events"]["index_lines"]

    assert [tuple(line) for line in lines] == sorted(zip(run.tolist(), event.tolist(), range(len(run)), strict=True))


def test_dropped_objects_that_count_entries_are_named(
    source: Path, basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    notes = json.loads(basketry("rewrite", source, "-o", out, *GOOD, "--json"))["notes"]
    printed = " ".join(notes)
    assert "tree more has no column good" in printed
    assert "tree few has no column good" in printed
    assert "tree events: its friends more, few are left out" in printed
    assert "entry lists are copied unchanged and keep the entry numbers of the input: list" in printed
    assert root_values.of(out)["trees"]["events"]["friends"] == []
    # A friend with the same selection is kept.
    together = basketry("rewrite", source, "-o", out, "-f", "--entries", "/events|more/=:7,-7:", "--json")

    assert "its friends few are left out" in " ".join(json.loads(together)["notes"])
    assert root_values.of(out)["trees"]["events"]["friends"] == ["more@"]
    with uproot.open(out) as file:
        assert file["more"]["k"].array().tolist() == [*range(7), *range(2993, 3000)]


def test_a_dry_run_counts_entries(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    text = basketry("rewrite", source, "-o", tmp_path / "out.root", "--entries", "events=:70,90:100", "--dry-run")
    assert "events: 80 of 3,000 entries in 1 cluster\n" in text
    refused = basketry.refuses("rewrite", source, "-o", tmp_path / "out.root", "--where", "pt")

    assert "events: --cut: a condition has one truth value for each entry, and this is a list of numbers" in refused


def test_entries_that_are_nothing_are_said_to_be_so(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    said = basketry.refuses("rewrite", source, "-o", out, "--entries", "many")
    assert "many is neither a range of entries (100:200), nor a share (1%), nor a file" in said
    with pytest.raises(FileNotFoundError, match="neither a range"):
        bk.rewrite(source, out, entries="many")
