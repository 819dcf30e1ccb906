"""coffea's NanoEvents on basketry's reader, beside coffea's own on uproot: trees and RNTuples, several schemas."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import basketry as bk
from basketry import _core

nanoevents = pytest.importorskip("coffea.nanoevents", reason="no coffea here (tests/requirements-coffea.txt)")

# coffea warns of cross references that a file lacks, and uproot of branches that it cannot read.
pytestmark = pytest.mark.filterwarnings("ignore")

NANO = "coffea--nano_tree.root"
# Files of coffea's own tests and of CMS Open Data, with their schemas.
SAMPLES = [
    (NANO, "Events", "NanoAODSchema"),
    (NANO, "Events", "BaseSchema"),
    ("coffea--nano_tt_v12.root", "Events", "NanoAODSchema"),
    ("skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events", "NanoAODSchema"),
    ("coffea--nano_dy_rntuple.root", "Events", "NanoAODSchema"),
    ("coffea--treemaker_rntuple.root", "PreSelection", "TreeMakerSchema"),
    ("coffea--PHYSLITE_example.root", "CollectionTree", "PHYSLITESchema"),
    ("coffea--pduneana.root", "pduneana/beamana", "PDUNESchema"),
    ("coffea--test_FCC_Spring2021.root", "events", "FCCSchema"),
]
# uproot needs five seconds for each.
SLOW_SAMPLES = [
    ("coffea--nano_dy_empty_rntuple.root", "Events", "NanoAODSchema"),
    ("skhep--cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root", "Events", "NanoAODSchema"),
    ("coffea--pfnano_rntuple.root", "Events", "PFNanoAODSchema"),
]
# uproot reads these bytes at a wrong place; ROOT's TTree::Draw gives the values of basketry.
MISREAD = {("METAssoc_MET", "jetLink")}
# uproot cannot read these.
MORE = {("EventInfo", "hardScatterVertexLink"), ("egammaClusters", "")}


@pytest.fixture
def sample(corpus: Path) -> Path:
    """A NanoAOD tree of 10 entries."""
    return corpus / "files" / NANO


def schema(name: str) -> Any:
    """A schema of coffea."""
    return nanoevents.FCC.get_schema("pre-edm4hep1") if name == "FCCSchema" else getattr(nanoevents, name)


def equal(ours: Any, theirs: Any) -> bool:
    """Whether arrays have the same structure and values. uproot reads counters of RNTuples as int64."""
    options = {"equal_nan": True, "dtype_exact": False, "same_content_types": False, "check_parameters": False}
    return bool(ak.array_equal(ours, theirs, **options))


def parts(events: Any, name: str) -> dict[tuple[str, ...], Any]:
    """A collection by field, without the behaviour of coffea's classes, which some samples contradict."""
    layout = ak.materialize(events.layout.content(name), highlevel=False)
    inside = layout.content if isinstance(layout, ak.contents.ListOffsetArray) else layout
    if not inside.is_record:
        return {(name,): ak.Array(layout)}
    return {(name, field): ak.Array(layout[field]) for field in inside.fields}


@pytest.mark.parametrize(
    ("name", "tree", "schemaclass"),
    [*SAMPLES, *(pytest.param(*sample, marks=pytest.mark.only_full) for sample in SLOW_SAMPLES)],
)
def test_events_equal_those_of_coffea(
    name: str, tree: str, schemaclass: str, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nanoevents.NanoAODSchema, "error_missing_event_ids", False)
    path, kind = corpus / "files" / name, schema(schemaclass)
    theirs = nanoevents.NanoEventsFactory.from_root({path: tree}, schemaclass=kind, mode="eager").events()

    both = [bk.nanoevents(path, tree, schemaclass=kind, mode=mode) for mode in ("virtual", "eager")]

    for ours in both:
        assert len(ours) == len(theirs)
        assert set(ours.fields) == set(theirs.fields)
        assert type(ours) is type(theirs)
        compared = 0
        for collection in theirs.fields:
            mine, other = parts(ours, collection), parts(theirs, collection)
            assert mine.keys() - MORE == other.keys() - MORE
            for field in other.keys() - MISREAD:
                assert equal(mine[field], other[field]), field
                compared += 1
        assert compared >= len(theirs.fields) > 0


def test_cross_references_and_behaviour_work(sample: Path) -> None:
    theirs = nanoevents.NanoEventsFactory.from_root({sample: "Events"}).events()

    ours = bk.nanoevents(sample, metadata={"dataset": "dy"})

    assert ours.metadata["dataset"] == "dy"
    assert equal(ours.Jet.matched_gen.pt, theirs.Jet.matched_gen.pt)
    assert equal((ours.Muon + ours.Muon).mass, (theirs.Muon + theirs.Muon).mass)
    assert equal(ours.GenPart.parent.pdgId, theirs.GenPart.parent.pdgId)
    assert equal(ours.Jet[ours.Jet.pt > 30].eta, theirs.Jet[theirs.Jet.pt > 30].eta)


@pytest.mark.parametrize(("name", "tree", "schemaclass"), [SAMPLES[0], SAMPLES[-1]])
def test_coffea_s_own_factory_reads_with_basketry(
    name: str, tree: str, schemaclass: str, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, factory = corpus / "files" / name, nanoevents.NanoEventsFactory
    ours = bk.nanoevents(path, tree, schemaclass=schema(schemaclass), mode="eager")
    # coffea uses uproot's private helpers as well: these stay.
    monkeypatch.setattr(uproot, "open", bk.open)

    theirs = factory.from_root({path: tree}, schemaclass=schema(schemaclass), mode="eager").events()

    assert set(ours.fields) == set(theirs.fields)
    for collection in ours.fields:
        mine, other = parts(ours, collection), parts(theirs, collection)
        assert all(equal(mine[field], other[field]) for field in mine)


@pytest.mark.parametrize(("start", "stop"), [(3, 7), (None, 4), (8, 99), (5, 5), (-2, None)])
def test_a_range_of_entries(start: int | None, stop: int | None, sample: Path) -> None:
    whole = bk.nanoevents(sample)
    part = bk.nanoevents(sample, entry_start=start, entry_stop=stop)
    assert equal(part.Muon.pt, whole.Muon.pt[start:stop])
    assert equal(part.event, whole.event[start:stop])


class Counted:
    """The readings of a table: how many columns and entries each had."""

    def __init__(self, table: Any, log: list[tuple[tuple[str, ...], int]]) -> None:
        self.table, self.log = table, log
        self.names = {line[3]: line[0] for line in table.branches() if line[3] is not None}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def read(self, reading: Any, told: Any = None) -> Any:
        """Reads, and notes it."""
        self.log.append((tuple(self.names[column] for column in reading.columns), reading.stop - reading.start))
        return self.table.read(reading, told)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[str, ...], int]]:
    """All readings of tables from now on: columns and number of entries."""
    log: list[tuple[tuple[str, ...], int]] = []
    table = _core.Table
    monkeypatch.setattr(_core, "Table", lambda *arguments: Counted(table(*arguments), log))
    return log


def test_only_touched_columns_are_read(sample: Path, readings: list[tuple[tuple[str, ...], int]]) -> None:
    touched: list[Any] = []
    events = bk.nanoevents(sample, access_log=touched)
    # The types of all columns come from a reading of no entry.
    assert [entries for _, entries in readings] == [0]
    readings.clear()

    ak.materialize(events.Muon.pt)
    ak.materialize(events.Muon.pt)
    ak.materialize(events.Muon.eta)

    assert sorted(readings) == [(("Muon_eta",), 10), (("Muon_pt",), 10), (("nMuon",), 10)]
    assert {one.branch for one in touched} == {"Muon_eta", "Muon_pt", "nMuon"}


def test_untouched_columns_may_be_damaged(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.root"
    bk.rewrite(sample, path)
    expected = bk.nanoevents(path).Muon.pt.to_list()
    (tree,) = bk.inspect(f"{path}:Events", baskets=True).trees
    (column,) = [branch for branch in tree.branches if branch.name == "Muon_eta"]
    (basket,) = column.baskets or ()
    with path.open("r+b") as file:
        file.seek(basket.seek + basket.bytes - 8)
        file.write(b"\xff" * 8)

    events = bk.nanoevents(path)

    assert events.Muon.pt.to_list() == expected
    with pytest.raises(ValueError, match="Muon_eta"):
        ak.materialize(events.Muon.eta)


def test_columns_are_read_at_once_if_asked(sample: Path, readings: list[tuple[tuple[str, ...], int]]) -> None:
    events = bk.nanoevents(sample, preload=["Muon_pt", "nMuon"])
    assert readings[1:] == [(("Muon_pt", "nMuon"), 10)]
    ak.materialize(events.Muon.pt)
    assert len(readings) == 2
    readings.clear()

    bk.nanoevents(sample, mode="eager")

    assert [entries for _, entries in readings] == [0, 10]


def test_buffers_go_into_a_given_cache(sample: Path, readings: list[tuple[tuple[str, ...], int]]) -> None:
    cache: dict[str, Any] = {}
    first = bk.nanoevents(sample, buffer_cache=cache).Muon.pt.to_list()
    readings.clear()
    assert bk.nanoevents(sample, buffer_cache=cache).Muon.pt.to_list() == first
    assert [entries for _, entries in readings] == [0]


def test_several_files_are_one(sample: Path, tmp_path: Path) -> None:
    bk.rewrite(sample, tmp_path / "one.root", last=3)
    bk.rewrite(sample, tmp_path / "two.root", first=4)

    events = bk.nanoevents([tmp_path / "one.root", f"{tmp_path}/two.root:Events"])

    assert equal(events.Jet.pt, bk.nanoevents(sample).Jet.pt)


def test_what_is_opened_is_not_opened_again(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file: Any = bk.open(sample)
    tree = file["Events"]
    expected = bk.nanoevents(file).Jet.pt
    monkeypatch.setattr(_core, "Table", None)

    events = bk.nanoevents(tree)

    assert equal(events.Jet.pt, expected)
    # In another process it is.
    monkeypatch.undo()
    assert equal(pickle.loads(pickle.dumps(events.attrs["@events_factory"])).events().Jet.pt, expected)


def test_titles_and_uuids_are_those_of_coffea(sample: Path) -> None:
    events = nanoevents.NanoEventsFactory.from_root({sample: "Events"}).events()

    ours = bk.nanoevents(sample)

    key = [one.attrs["@events_factory"]._partition_key.split("/") for one in (ours, events)]
    assert key[0][0] == key[1][0]
    for collection in ("Muon", "Jet"):
        mine, other = ours[collection], events[collection]
        assert mine.__doc__ == other.__doc__
        assert {field: mine[field].__doc__ for field in mine.fields} == {
            field: other[field].__doc__ for field in other.fields
        }
    assert "" not in {ours.Muon.pt.__doc__, ours.Muon.eta.__doc__}


def test_a_factory_can_be_sent_to_another_process(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "events.root"
    path.write_bytes(sample.read_bytes())
    factory = bk.nanoevents(path).attrs["@events_factory"]
    sent = pickle.dumps(factory)
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer).events().Muon.pt.to_list())"

    done = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, check=True)

    assert done.stdout.decode().strip() == str(bk.nanoevents(path).Muon.pt.to_list())
    bk.rewrite(sample, path, last=3, force=True)
    with pytest.raises(ValueError, match="changed since"):
        pickle.loads(sent).events().Muon.pt.to_list()


def test_what_cannot_work_is_refused(sample: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'virtual' or 'eager'"):
        bk.nanoevents(sample, mode="dask")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="podio"):
        bk.nanoevents(sample, schemaclass=nanoevents.EDM4HEPSchema)
    with pytest.raises(KeyError, match="Events"):
        bk.nanoevents(sample, "Event")
    with pytest.raises(FileNotFoundError):
        bk.nanoevents(tmp_path / "none.root")


def test_coffea_is_imported_only_when_asked_for(sample: Path) -> None:
    program = (
        "import sys, basketry\n"
        "assert 'coffea' not in sys.modules\n"
        "sys.modules['coffea'] = None\n"
        f"try: basketry.nanoevents({str(sample)!r})\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'coffea" in done.stdout
