"""Batches for training: each entry once in each epoch, with the values that uproot reads, in an order that seed and
epoch give, also after a restart; parts and ranks that neither share nor lose entries; a shuffle as good as it says."""

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from basketry.training import columns, order, parts
from referee.paths import REPO

ENTRIES = 5000
# The key of a file with the UUID "1-2" and the tree t.
FIRST_KEY = 12126671997395296480


def made(first: int, entries: int = ENTRIES) -> dict[str, Any]:
    """Entries with their numbers."""
    generator = np.random.default_rng(first)
    counts = generator.integers(0, 5, entries)
    return {
        "event": np.arange(first, first + entries, dtype=np.int64),
        "run": np.full(entries, 7, np.uint32),
        "x": generator.normal(size=entries),
        "matrix": generator.random((entries, 2, 3)).astype(np.float32),
        "flag": generator.random(entries) < 0.3,
        "jets": ak.unflatten(generator.random(counts.sum()).astype(np.float32), counts),
        "cells": ak.unflatten(ak.unflatten(np.arange(2 * counts.sum()), np.repeat(2, counts.sum())), counts),
        "word": ak.Array(["w"] * entries),
    }


def write(path: Path, container: str, first: int, entries: int = ENTRIES) -> str:
    """A file of several clusters."""
    with bk.recreate(path, cluster="400") as file:
        (file.mktree if container == "tree" else file.mkrntuple)("t", made(first, entries))
    return f"{path}:t"


@pytest.fixture(scope="module", params=["tree", "ntuple"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two files, whose entries are numbered through."""
    folder = tmp_path_factory.mktemp("loader")
    return [write(folder / f"{number}.root", request.param, number * ENTRIES) for number in range(2)]


def events(loader: Any) -> list[int]:
    """The numbers of the entries of an epoch."""
    return [event for batch in loader for event in batch["event"].tolist()]


def small_windows(loader: Any, entries: int) -> Any:
    """The loader, as if its memory held so many entries."""
    loader._window = entries
    return loader


def test_values_are_those_of_uproot(files: list[str]) -> None:
    names = ["event", "x", "matrix", "flag", "jets"]
    theirs = [uproot.open(one).arrays(names) for one in files]
    loader = bk.loader(files, names, batch_size=999)
    found = list(loader)

    assert len(loader) == len(found) == -(-2 * ENTRIES // 999)
    assert [len(batch["x"]) for batch in found] == [999] * 10 + [10]
    for name in names[:-1]:
        whole = np.concatenate([batch[name] for batch in found])
        assert whole.tolist() == ak.to_list(ak.concatenate([one[name] for one in theirs]))
        assert whole.dtype == np.asarray(theirs[0][name]).dtype
        assert all(batch[name].flags.writeable for batch in found)
    lists = [
        jagged.values[a:b].tolist()
        for batch in found
        for jagged in [batch["jets"]]
        for a, b in zip(jagged.offsets[:-1], jagged.offsets[1:], strict=True)
    ]
    assert lists == ak.to_list(ak.concatenate([one["jets"] for one in theirs]))


@pytest.mark.parametrize("window", [None, 700, 3000])
def test_an_epoch_has_each_entry_once(files: list[str], window: int | None) -> None:
    loader = bk.loader(files, ["event"], batch_size=128, shuffle=True, seed=3)
    if window:
        small_windows(loader, window)
    first, second = events(loader), events(loader)

    assert sorted(first) == sorted(second) == list(range(2 * ENTRIES))
    assert first != second
    again = bk.loader(files, ["event"], batch_size=128, shuffle=True, seed=3, workers=1)
    again._window = loader._window
    assert [events(again), events(again)] == [first, second]
    again.set_epoch(0)
    assert events(again) == first
    other = bk.loader(files, ["event"], batch_size=128, shuffle=True, seed=4)
    assert events(other) != first


def test_rows_stay_together(files: list[str]) -> None:
    whole = bk.concatenate(files, ["event", "x", "matrix", "jets", "cells"])
    loader = small_windows(bk.loader(files, ["event", "x", "matrix", "jets", "cells"], shuffle=True), 900)
    for batch in loader:
        theirs = whole[batch["event"]]
        assert batch["x"].tolist() == theirs["x"].tolist()
        assert batch["matrix"].tolist() == theirs["matrix"].tolist()
        counts = ak.num(theirs["jets"]).tolist()
        assert np.diff(batch["jets"].offsets).tolist() == counts
        assert batch["jets"].values.tolist() == ak.flatten(theirs["jets"]).tolist()
        cells = batch["cells"]
        assert np.diff(cells.offsets).tolist() == counts
        assert cells.values.values.tolist() == ak.flatten(theirs["cells"], axis=None).tolist()


def test_lists_are_padded(files: list[str]) -> None:
    whole = bk.concatenate(files, ["jets"])["jets"]
    (batch,) = bk.loader(files, ["jets", "x"], batch_size=20_000, pad=3, fill=-1)
    expected = ak.fill_none(ak.pad_none(whole, 3, clip=True), -1)
    assert batch["jets"].shape == (2 * ENTRIES, 3)
    assert batch["jets"].dtype == np.float32
    assert batch["jets"].tolist() == expected.tolist()
    (batch,) = bk.loader(files, ["jets", "cells"], batch_size=20_000, pad={"jets": 1})
    assert batch["jets"].shape == (2 * ENTRIES, 1)
    assert isinstance(batch["cells"], bk.Jagged)


@pytest.mark.parametrize("tensors", ["np", "torch"])
@pytest.mark.parametrize("window", [None, 700])
def test_a_matrix_has_the_columns_side_by_side(
    files: list[str], monkeypatch: pytest.MonkeyPatch, window: int | None, tensors: Any
) -> None:
    torch = ModuleType("torch")
    torch.__dict__["from_numpy"] = lambda array: array
    monkeypatch.setitem(sys.modules, "torch", torch)
    options: dict[str, Any] = {"batch_size": 99, "shuffle": True, "pad": {"jets": 3}, "fill": -1, "weights": "x**2"}
    columns = ["flag", "x", "jets", "event", "matrix"]
    apart = bk.loader(files, columns, tensors=tensors, **options)
    apart, beside = (small_windows(one, window or 2 * ENTRIES) for one in (apart, apart.matrices()))
    for one, both in zip(apart, beside, strict=True):
        assert both.flags.c_contiguous
        assert both.dtype == np.float64
        assert both.tolist() == np.hstack([one[name].reshape(len(both), -1) for name in apart.columns]).tolist()
    (floats,) = bk.loader(files, ["jets", "matrix"], batch_size=2 * ENTRIES, pad=2).matrices()
    assert (floats.shape, floats.dtype) == ((2 * ENTRIES, 8), np.float32)
    assert not list(bk.loader(files, ["x"], "x > 100").matrices())
    with pytest.raises(ValueError, match=r"'jets' has lists.*pad"):
        next(iter(bk.loader(files, ["x", "jets"]).matrices()))


CUTS = [
    ("x > 0", lambda all_: all_["x"] > 0),
    ("(x > 2.5) & flag", lambda all_: (all_["x"] > 2.5) & all_["flag"]),
    ("flag", lambda all_: all_["flag"]),
    ("x > 100", lambda all_: all_["x"] > 100),
]


@pytest.mark.parametrize(("cut", "passes"), CUTS, ids=[one[0] for one in CUTS])
def test_a_cut_keeps_what_uproot_keeps(files: list[str], cut: str, passes: Any) -> None:
    theirs = ak.concatenate([uproot.open(one).arrays(["event", "x", "flag", "jets"]) for one in files])
    theirs = theirs[passes(theirs)]
    loader = bk.loader(files, ["event", "jets", "2*x"], cut, batch_size=100, weights="x**2")
    with pytest.raises(TypeError, match="first epoch"):
        len(loader)
    found = list(loader)

    assert len(loader) == len(found) == -(-len(theirs) // 100)
    assert [one for batch in found for one in batch["event"].tolist()] == theirs["event"].tolist()
    assert [one for batch in found for one in batch["2*x"].tolist()] == (2 * theirs["x"]).tolist()
    assert [one for batch in found for one in batch["weights"].tolist()] == (theirs["x"] ** 2).tolist()
    assert sum(len(batch["jets"].values) for batch in found) == len(ak.flatten(theirs["jets"]))
    shuffled = small_windows(bk.loader(files, ["event"], cut, shuffle=True), 1200)
    for _ in range(2):
        assert sorted(events(shuffled)) == theirs["event"].tolist()


def test_parts_neither_share_nor_lose_entries(files: list[str]) -> None:
    train = bk.loader(files, ["event"], split=0.2, shuffle=True, seed=1)
    valid = train.of("validation")
    ours, theirs = events(train), events(valid)

    assert sorted(ours + theirs) == list(range(2 * ENTRIES))
    assert theirs == sorted(theirs)
    assert abs(len(theirs) / (2 * ENTRIES) - 0.2) < 0.02
    assert len(valid) == -(-len(theirs) // 1024)
    # The halves of the files have their share, too: the hash has no pattern.
    for start in range(0, 2 * ENTRIES, 500):
        assert 50 < sum(start <= one < start + 500 for one in theirs) < 150
    three = {"train": 0.5, "validation": 0.25, "test": 0.25}
    several = [events(bk.loader(files, ["event"], split=three, part=name)) for name in three]
    assert sorted(itertools.chain(*several)) == list(range(2 * ENTRIES))


def test_parts_are_stable_when_files_are_added(files: list[str], tmp_path: Path) -> None:
    more = write(tmp_path / "more.root", "tree", 2 * ENTRIES, 700)
    before = set(events(bk.loader(files, ["event"], split=0.3, part="validation")))
    after = set(events(bk.loader([more, *reversed(files)], ["event"], split=0.3, part="validation", seed=9)))
    assert {one for one in after if one < 2 * ENTRIES} == before


def test_a_key_names_entries_whatever_their_file(files: list[str], tmp_path: Path) -> None:
    whole = tmp_path / "whole.root"
    bk.merge([one.removesuffix(":t") for one in files], whole, cluster="1000")
    options: dict[str, Any] = {"split": 0.3, "part": "validation", "key": ["run", "event"]}
    before, after = (events(bk.loader(one, ["event"], **options)) for one in (files, f"{whole}:t"))
    assert before == after
    assert 0.27 < len(before) / (2 * ENTRIES) < 0.33
    # By its file an entry has another name now.
    plain = [events(bk.loader(one, ["event"], split=0.3, part="validation")) for one in (files, f"{whole}:t")]
    assert plain[0] != plain[1]


@pytest.mark.parametrize("world", [2, 3])
def test_ranks_share_the_entries(files: list[str], world: int) -> None:
    loaders = [
        bk.loader(files, ["event"], batch_size=64, shuffle=True, rank=rank, world=world, split=0.1)
        for rank in range(world)
    ]
    lengths = {len(loader) for loader in loaders}
    found = [list(loader) for loader in loaders]

    assert len(lengths) == 1
    assert {len(one) for one in found} == lengths
    numbers = Counter(one for batches in found for batch in batches for one in batch["event"].tolist())
    train = events(bk.loader(files, ["event"], split=0.1))
    assert set(numbers.values()) == {1}
    assert numbers.keys() <= set(train)
    assert len(numbers) > 0.9 * len(train)
    cut = [events(bk.loader(files, ["event"], "flag", rank=rank, world=world)) for rank in range(world)]
    assert sorted(itertools.chain(*cut)) == sorted(events(bk.loader(files, ["event"], "flag")))


@pytest.mark.parametrize("cut", [None, "x > 1"])
@pytest.mark.parametrize("stop", [0, 7, 11, None])
def test_an_epoch_goes_on_in_another_process(files: list[str], cut: str | None, stop: int | None) -> None:
    def fresh() -> Any:
        return small_windows(bk.loader(files[:1], ["event"], cut, batch_size=50, shuffle=True, seed=5), 600)

    one = fresh()
    whole = [batch["event"].tolist() for batch in itertools.chain(one, one)]
    first, found = fresh(), []
    for number, batch in enumerate(first):
        if number == stop:
            break
        found.append(batch["event"].tolist())
        state = first.state_dict()
    if stop is None or not found:
        state = first.state_dict()
    if stop == 0:
        # The batch was taken.
        found = whole[:1]

    second = fresh()
    second.load_state_dict(state)
    found += [batch["event"].tolist() for batch in second]
    if stop is not None:
        found += [batch["event"].tolist() for batch in second]

    assert found == whole
    with pytest.raises(ValueError, match="other files or options"):
        bk.loader(files[:1], ["event"], cut, batch_size=51).load_state_dict(state)


def test_an_epoch_that_is_left_is_followed_by_another(files: list[str]) -> None:
    loader = bk.loader(files, ["event"], shuffle=True, batch_size=100)
    whole = [events(loader), events(loader)]
    loader.set_epoch(0)
    assert next(iter(loader))["event"].tolist() == whole[0][:100]
    assert events(loader) == whole[1]
    both = iter(loader)
    next(both)
    loader.set_epoch(0)
    with pytest.raises(RuntimeError, match="epoch ended"):
        next(both)


@pytest.mark.parametrize(("window", "reads_again"), [(None, False), (2000, True)])
def test_later_epochs_read_nothing_where_all_fits(
    files: list[str], monkeypatch: pytest.MonkeyPatch, window: int | None, reads_again: bool
) -> None:
    loader = bk.loader(files, ["event", "jets"], shuffle=True, batch_size=64, split=0.2, pad={"jets": 2})
    loader._window = window
    first = list(loader)
    # What users do to batches stays theirs.
    for batch in first:
        batch["jets"] += 1000
    reads: list[Any] = []
    read = loader._reader.read

    def noted(*asked: Any) -> Any:
        reads.append(asked)
        return read(*asked)

    monkeypatch.setattr(loader._reader, "read", noted)
    second = list(loader)

    assert bool(reads) == reads_again
    assert [batch["event"].tolist() for batch in first] != [batch["event"].tolist() for batch in second]
    assert sorted(event for batch in first for event in batch["event"].tolist()) == sorted(
        event for batch in second for event in batch["event"].tolist()
    )
    assert max(batch["jets"].max() for batch in second) < 1000


def test_the_last_batch_is_left_out_if_asked(files: list[str]) -> None:
    loader = bk.loader(files, ["event"], batch_size=999, drop_last=True)
    assert [len(batch["event"]) for batch in loader] == [999] * 10
    assert len(loader) == 10


def test_the_shuffle_is_that_of_a_list_where_all_fits(files: list[str]) -> None:
    """Ranks of entries and of their places do not correlate, and neighbours are parted; by chance a correlation of so
    many is 0.01, and one neighbour in 5000 stays."""
    loader = bk.loader(files, ["event"], shuffle=True)
    found = np.array(events(loader))
    assert len(loader._in_order(0)) == 1
    assert abs(np.corrcoef(found, np.arange(len(found)))[0, 1]) < 0.06
    assert np.count_nonzero(np.diff(found) == 1) < 12


def test_the_shuffle_mixes_the_clusters_of_a_window(files: list[str]) -> None:
    """The files have one label each. Batches of a window with k random clusters have shares of labels that spread by
    1/(2 sqrt(k)), if its entries are mixed well."""
    loader = small_windows(bk.loader(files, ["event"], batch_size=100, shuffle=True, seed=2), 2500)
    mixed = loader.clusters_mixed
    spread = np.std([np.mean(batch["event"] < ENTRIES) for epoch in range(6) for batch in loader])
    assert 6 <= mixed <= 30
    assert 0.3 * 0.5 / np.sqrt(mixed) < spread < 2 * 0.5 / np.sqrt(mixed)
    unmixed = np.std([np.mean(batch["event"] < ENTRIES) for batch in bk.loader(files, ["event"], batch_size=100)])
    assert unmixed > 0.45


def test_windows_keep_to_the_memory(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "wide.root", cluster="400") as file:
        file["t"] = {"x": np.random.default_rng(0).random((20_000, 100)), "i": np.arange(20_000)}
    loader = bk.loader(tmp_path / "wide.root", shuffle=True, memory="16MB")
    each = loader._reader.bytes_of_entry()
    assert 800 < each < 900
    windows = loader._in_order(0)
    assert len(windows) > 3
    assert all(sum(b - a for a, b in window) * each <= 3_200_000 for window in windows)
    assert sorted(one for batch in loader for one in batch["i"].tolist()) == list(range(20_000))


def test_windows_have_room_for_padded_lists(files: list[str]) -> None:
    """A thousand items of four bytes for each entry."""
    loader = bk.loader(files, ["jets"], shuffle=True, memory="20MB", pad=1000)
    assert 900 <= loader._window_entries() <= 1000
    assert all(len(window) <= 1000 for window, _ in loader._windows(loader._place))


PEAK = """
import resource, sys, basketry
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1000
options = {"shuffle": True, "batch_size": 1000, "memory": "48MB"}
list(basketry.loader(sys.argv[1], ["i"], **options))
before = peak()
entries = sum(len(batch["x"]) for batch in basketry.loader(sys.argv[1], pad={pad}, **options))
print(entries, peak() - before)
"""


@pytest.mark.parametrize("pad", [None, {"x": 200}])
def test_a_process_takes_the_memory_that_it_may(tmp_path: Path, pad: dict[str, int] | None) -> None:
    """The arrays would take 128 MB, and padded lists of two numbers 256 MB."""
    entries, width = 160_000, 2 if pad else 100
    with bk.recreate(tmp_path / "large.root", cluster="5000", compression="none") as file:
        tree = file.mktree("t", {"x": "var * float64" if pad else f"{width} * float64", "i": "int64"})
        for _ in range(8):
            ones = np.ones((entries // 8, width))
            tree.extend({"x": ak.from_regular(ones) if pad else ones, "i": np.arange(entries // 8)})
    command = [sys.executable, "-c", PEAK.replace("{pad}", repr(pad)), str(tmp_path / "large.root")]
    found, more = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(found) == entries
    assert int(more) < 1.25 * 48e6


def test_what_has_no_place_in_a_batch_is_said(files: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'word' has texts"):
        next(iter(bk.loader(files, ["word"])))
    with pytest.raises(KeyError, match="event"):
        bk.loader(files, ["events"])
    with pytest.raises(ValueError, match="one value for each entry"):
        next(iter(bk.loader(files, ["x"], "jets > 0.5")))
    with pytest.raises(ValueError, match="lists of lists"):
        next(iter(bk.loader(files, ["cells"], pad=2)))
    with pytest.raises(ValueError, match="no lists"):
        next(iter(bk.loader(files, ["x"], pad={"x": 2})))
    with pytest.raises(ValueError, match="no column"):
        bk.loader(files, ["x"], pad={"jets": 2})
    with pytest.raises(ValueError, match="one number for each entry"):
        next(iter(bk.loader(files, ["x"], split=0.5, key="jets")))
    for wrong in ({"rank": 1}, {"batch_size": 0}, {"split": 1.5}, {"part": "test"}, {"tensors": "jax"}):
        with pytest.raises(ValueError, match=r"rank|batch|split|part|tensors"):
            bk.loader(files, ["x"], **wrong)
    nothing = bk.loader(write(tmp_path / "none.root", "tree", 0, 0), ["x"])
    assert (len(nothing), list(nothing)) == (0, [])


def test_an_error_in_a_file_comes_to_the_batches(files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "damaged.root"
    content = bytearray(Path(files[0].removesuffix(":t")).read_bytes())
    middle = len(content) // 2
    content[middle - 20_000 : middle + 20_000] = bytes(40_000)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged\.root"):
        list(bk.loader(f"{path}:t", ["event", "x", "matrix", "jets"]))


def test_torch_is_imported_only_if_asked(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import sys, basketry; list(basketry.loader({files[0]!r}, ['x'])); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPO / "tests")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        bk.loader(files, ["x"], tensors="torch")
    stub = ModuleType("torch")
    stub.__dict__["from_numpy"] = lambda array: ("tensor", array)
    monkeypatch.setitem(sys.modules, "torch", stub)
    batch = next(iter(bk.loader(files, ["x", "jets"], tensors="torch", batch_size=10)))
    assert batch["x"][0] == batch["jets"].values[0] == batch["jets"].offsets[0] == "tensor"
    assert len(batch["x"][1]) == 10


def test_chunks_windows_and_ranks_have_each_entry_once() -> None:
    generator = np.random.default_rng(0)
    for _ in range(300):
        clusters = np.cumsum([0, *generator.integers(0, 50, generator.integers(0, 30))]).tolist()
        most = int(generator.integers(1, 60))
        chunks = order.chunks(clusters, int(generator.integers(1, most + 1)), most)
        assert [one for start, stop in chunks for one in range(start, stop)] == list(range(clusters[-1]))
        assert all(0 < stop - start <= most for start, stop in chunks)
        world = int(generator.integers(1, 5))
        ranks = [order.of_rank(chunks, rank, world) for rank in range(world)]
        assert sorted(itertools.chain(*ranks)) == chunks
        assert [*itertools.chain(*order.windows(chunks, 100))] == chunks
        assert all(sum(stop - start for start, stop in one) <= 100 for one in order.windows(chunks, 100))
        runs = order.runs([chunks[place] for place in generator.permutation(len(chunks))])
        assert runs == ([(0, clusters[-1])] if clusters[-1] else [])


def test_hashes_are_what_they_were() -> None:
    """Entries stay in their parts from one version to the next."""
    numbers = np.array([0, 1, 2**40, 2**64 - 1], np.uint64)
    assert parts._mixed(numbers).tolist() == [split_mix(one) for one in numbers.tolist()]
    # The first number that SplitMix64 makes of the seed 0.
    assert split_mix(0) == 0xE220A8397B1DCDAF
    keys = {"event": columns.Flat(np.array([5, 6])), "run": columns.Flat(np.array([1, 1], np.uint16))}
    assert parts.hashes_of(keys).tolist() == parts.hashes_of({"e": keys["event"], "r": keys["run"]}).tolist()
    assert parts._file_key("a/x.root", "t;3", "1-2") == parts._file_key("b/x.root", "/t", "1-2") == FIRST_KEY
    assert parts._file_key("a/x.root", "t", "0-0") == parts._file_key("b/x.root", "t", "")


def split_mix(number: int) -> int:
    """A step of SplitMix64, in whole numbers."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


def test_expressions_may_be_in_the_commands_language(files: list[str]) -> None:
    whole = uproot.concatenate(files, ["event", "x", "jets", "flag"])
    columns = ["event", "sum(jets)", "flag ? event : 0", "jets if flag else 2 * jets"]
    cut = "-1 < x < 2 and any(jets > 0.3)"
    kept = whole[(whole.x > -1) & (whole.x < 2) & ak.any(whole.jets > 0.3, axis=1)]
    jets = ak.values_astype(kept.jets, np.float64)
    batches = list(bk.loader(files, columns, cut, weights="len(jets) + 1", batch_size=100, pad=4, fill=-1))
    found = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    assert found["event"].tolist() == kept.event.to_list()
    assert np.allclose(found["sum(jets)"], ak.sum(jets, axis=1), rtol=1e-12)
    assert found["flag ? event : 0"].tolist() == np.where(kept.flag, kept.event, 0).tolist()
    padded = ak.fill_none(ak.pad_none(ak.where(kept.flag, jets, 2 * jets), 4, clip=True), -1)
    assert found["jets if flag else 2 * jets"].tolist() == padded.to_list()
    assert found["weights"].tolist() == (ak.num(jets) + 1).to_list()
    # An entry without a value does not pass.
    assert events(bk.loader(files, ["event"], "max(jets) > 0.9")) == (
        whole.event[ak.any(whole.jets > 0.9, axis=1)].to_list()
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"cut": "anny(jets > 1)"}, "did you mean .*any"),
        ({"cut": "jets > 1 and flag"}, "write any"),
        ({"columns": ["max(jets)"]}, "missing values"),
        ({"columns": ["flag and xx"]}, "no .* 'xx'"),
    ],
)
def test_expressions_of_the_command_are_refused(options: dict[str, Any], says: str, files: list[str]) -> None:
    with pytest.raises((KeyError, ValueError), match=says):
        list(bk.loader(files, **{"columns": ["event"], **options}))
