"""Mergeable classes: the same files merged by basketry and by real hadd, compared value by value.

| classes | recipe (macros/) |
| --- | --- |
| TH1, TH2, TH3 (C, S, I, L, F, D), TProfile, TProfile2D, TProfile3D | histograms, objects, axes, random_axes, waiting |
| what hangs on them: functions, fits, contours, averages, options | attached |
| TH2Poly, TProfile2Poly | poly |
| THn and THnSparse of every type of contents | sparse, attached |
| TGraph, TGraphErrors, TGraphAsymmErrors, TGraphBentErrors, TGraphPolar, TCutG | objects, attached |
| TEfficiency, THStack, TParameter | objects, attached |
| TList, THashList, TSortedList, TOrdCollection, TObjArray, TClonesArray | objects, lists, attached |
| TEntryList, TEntryListArray, TEventList, TStatistic | entries, lists |
| TNamed, TObjString, TMap: all are kept, as with hadd | objects (test_objects) |
| TTree, TNtuple | merging (test_hadd_cases), test_merge |
| merged by ROOT alone, and names of several classes: kept, and said | unmerged |
"""

import random
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uproot

from referee import entry_lists, hadd, make_files, values
from referee.command import Basketry, Outcome
from referee.root_server import RootServer

# Recipe, files, and objects that ROOT refuses to merge, or merges only in part: both say so.
RECIPES = {
    "sparse": [
        f"{kind}_{letter}_other_{what}"
        for kind in ("sparse", "dense")
        for letter in "df"
        for what in ("bins", "dimensions", "limits")
    ],
    "entries": [],
    "lists": ["list_longer", "list_mixed"],
    "poly": ["poly_limits", "poly_bins"],
}
# Histograms that hadd refuses after merging half; basketry leaves them as in the first input.
LEFT = {"outside", "misfit"}
# ROOT adds the contents of an unweighted profile to the sums of squares of weights of another.
SQUARES_FIRST = {"p1_squares_first", "p2_squares_first", "p3_squares_first"}
# ROOT merges these and basketry does not, or their classes differ from input to input.
UNMERGED = [
    *("graph_errors", "line", "line_3d", "marker", "marker_3d", "files", "scalar", "sorted", "references", "chain"),
    *("other_type", "other_dimension", "no_object", "folder"),
]
# The sums of an input that keeps no squares are 0 and -1, and ROOT adds them. test_half_weighted has what is right.
WITHOUT_SQUARES = ("weights_first", "weights_later")
SUMS = {"fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"}


# Buffered entries of profiles with limits; in others ROOT confuses positions and weights (recipe waiting).
PROFILES_WITH_LIMITS = {"limits", "limits_weights", "grow", "range"}
# hadd doubles an axis that grew in one input and not in another once more than it needs to, and leaves it so where the
# limits do not fit. Of the profiles nothing says what is right.
SPOILT_BY_HADD = {"h2_grow", "h3_grow", "p1_over_later", "p2_over_later", "p3_over_later"}


def sources(recipe: str) -> list[Path]:
    """The files of a recipe."""
    return sorted(make_files.made(recipe).glob(f"{recipe}?.root"))


def unmerged_names(said: str) -> set[str]:
    """Names of objects that hadd reports as unmerged or partly merged; real hadd and basketry print alike."""
    return set(re.findall(r"(?:hadd>: |Merge\(\) on ')([^':]+)(?:: the one of|' with)", said))


@dataclass(frozen=True)
class Merged:
    """The files of a recipe, merged by `basketry hadd` and by real hadd."""

    ours: Path
    theirs: Path
    outcome: Outcome
    #: The stderr of real hadd.
    errors: str


def merged_by_both(basketry: Basketry, folder: Path, recipe: str) -> Merged:
    """Merges the files of a recipe; both programs must succeed."""
    ours, theirs = folder / "ours.root", folder / "theirs.root"
    outcome = basketry.run("hadd", "-f", ours, *sources(recipe))
    assert outcome.code == 0, str(outcome)
    errors = hadd.merge(theirs, *sources(recipe))
    assert errors is not None
    return Merged(ours, theirs, outcome, errors)


def without_sums(name: str, found: Any) -> Any:
    """A merged object without the sums that ROOT does not know."""
    if name.endswith(WITHOUT_SQUARES) and found["_typename"].startswith("THn"):
        return {member: value for member, value in found.items() if member not in SUMS}
    return found


@pytest.mark.parametrize("recipe", RECIPES)
def test_merged_objects_equal_those_of_hadd(
    basketry: Basketry, root_values: RootServer, tmp_path: Path, recipe: str
) -> None:
    merged = merged_by_both(basketry, tmp_path, recipe)
    both = (merged.theirs, merged.ours)
    expected, found = (entry_lists.numbered(root_values.of(path)["objects"]) for path in both)
    expected, found = ({name: without_sums(name, value) for name, value in of.items()} for of in (expected, found))
    different = list(values.differences(expected, found))

    assert not different, "\n".join(different[:20])
    for name in RECIPES[recipe]:
        assert f"{name}: the one of" in merged.outcome.out + merged.outcome.err, name


@pytest.mark.parametrize("recipe", ["axes", "attached"])
def test_histograms_and_attached_objects_equal_those_of_hadd(
    basketry: Basketry, root_values: RootServer, tmp_path: Path, recipe: str
) -> None:
    merged = merged_by_both(basketry, tmp_path, recipe)
    files = (sources(recipe)[0], merged.theirs, merged.ours)
    first, expected, found = (root_values.of(path)["objects"] for path in files)
    assert expected.keys() == found.keys()
    for name, value in found.items():
        if name.split("_", 1)[-1] in LEFT:
            assert f"{name}: the one of" in merged.outcome.err
            assert not list(values.differences(first[name], value, name)), name
        elif name in SQUARES_FIRST:
            # All entries had the weight 1.
            assert value["fBinSumw2"] == value["fBinEntries"]
            assert value["fArray"] == expected[name]["fArray"]
        else:
            different = list(values.differences(expected[name], value, name, tolerance=1e-12))
            assert not different, "\n".join(different[:20])
    in_underflow = {f"{kind}_labels_{which}" for kind in ("h1d", "p2") for which in ("some", "some_order")}

    for name in in_underflow & found.keys():
        assert f"{name}: the one of" in merged.outcome.err


def test_random_histograms_equal_those_of_hadd(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    merged = merged_by_both(basketry, tmp_path, "random_axes")
    left = unmerged_names(merged.errors)
    assert unmerged_names(merged.outcome.err) == left
    expected, found = (root_values.of(path)["objects"] for path in (merged.theirs, merged.ours))
    for names in (expected, found):
        for name in left:
            del names[name]
    assert len(found) > 400
    different = list(values.differences(expected, found, tolerance=1e-12))

    assert not different, "\n".join(different[:20])


@pytest.mark.parametrize("level", [0, 1, 2])
def test_unmerged_objects_are_kept_and_named(basketry: Basketry, tmp_path: Path, level: int) -> None:
    out = tmp_path / "out.root"
    for strict in (False, True):
        outcome = basketry.run(
            "hadd", "-v", str(level), *(["--strict"] if strict else []), "-f", out, *sources("unmerged")
        )
        assert outcome.code == int(strict), str(outcome)
        for name in UNMERGED:
            assert f"Warning in <hadd>: {name}: " in outcome.err, name
        assert "Warning in <hadd>: named: " not in outcome.err
    with uproot.open(out) as file:
        keys = file.keys()

    for name in UNMERGED:
        assert len([key for key in keys if key.split(";")[0] == name]) == 2, name


# Runs for each class with damage in its records, and the memory that may be asked for.
DAMAGES = 24
ADDRESS_SPACE = 2 << 30
# Values of a damaged count.
WRONG = [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x40\0\0\1", b"\x10\0\0\0", b"\0\x7f\xff\xff"]
DAMAGED = {
    "sparse": ["sparse_d_weighted", "sparse_four", "dense_f_weighted", "dense_variable"],
    "entries": ["entries_mixed", "entries_chain", "entries_most", "elements", "elements_files"],
    "lists": ["events", "statistic", "clones_histograms", "ordered", "sorted", "list_nested"],
    "poly": ["poly_weights", "poly_comb", "profile_weights"],
    "waiting": ["h1_full", "h3_limits_weights", "p1_full", "p2_grow"],
    "axes": ["h1d_labels", "h2f_grows", "h3d_weights", "p1_apart", "p3_same"],
    "attached": ["functions", "graph_bent", "cut", "efficiency_2", "list_all", "stack", "parameter_43", "profile_s"],
}


def counts(record: bytes) -> list[int]:
    """Positions in a record that may be a count: four bytes with a small number above 0."""
    numbers = ((at, int.from_bytes(record[at : at + 4], "big")) for at in range(len(record) - 4))
    return [at for at, number in numbers if 0 < number < 100_000]


def cut(content: bytes, header: bytes, length: int) -> bytes:
    """A file with a record of this length: its key says so, at the record and in the list of keys."""
    _, version, _ = struct.unpack(">ihi", header[:10])
    return content.replace(header, struct.pack(">ihi", len(header) + length, version, length) + header[10:])


@pytest.mark.parametrize(("recipe", "name"), [(recipe, name) for recipe, names in DAMAGED.items() for name in names])
def test_damaged_records_are_refused_or_kept(basketry: Basketry, tmp_path: Path, recipe: str, name: str) -> None:
    bare, names = [tmp_path / f"bare{i}.root" for i in range(2)], tmp_path / "names.txt"
    names.write_text(name)
    for source, target in zip(sources(recipe), bare, strict=False):
        basketry("hadd", "-f0", "-L", names, "-Ltype", "OnlyListed", target, source)
    whole = bare[1].read_bytes()
    with uproot.open(bare[1]) as file:
        key = file.key(name)
        begin, end = key.fSeekKey + key.fKeylen, key.fSeekKey + key.fNbytes
        header = whole[key.fSeekKey : begin]
    places = counts(whole[begin:end])
    chosen = random.Random(13)
    broken, out = tmp_path / "broken.root", tmp_path / "out.root"
    for n in range(DAMAGES):
        content = bytearray(whole)
        for at in chosen.sample(places, min(len(places), 1 + n % 3)):
            content[begin + at : begin + at + 4] = chosen.choice(WRONG)
        if n % 8 == 7:
            content = bytearray(cut(whole, header, chosen.randrange(1, end - begin)))
        broken.write_bytes(content)
        inputs = [str(bare[0]), str(broken)]
        words = [basketry.binary, "hadd", "-v", "0", "-k", "-f", str(out), *(inputs if n % 2 else inputs[::-1])]
        limited = ["bash", "-c", f'ulimit -v {ADDRESS_SPACE >> 10}; exec "$@"', "bash", *map(str, words)]
        done = subprocess.run(limited, capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1), done.stderr
        assert "panicked" not in done.stderr
        assert done.returncode == 0 or "in <hadd>" in done.stderr


def with_buffer(found: dict[str, Any]) -> dict[str, Any]:
    """A histogram with its buffer cut to its entries, and without a buffer whose entries were filled in."""
    kind = found["_typename"]
    dimensions = next((n for n in (3, 2) if f"{n}D" in kind or kind.startswith(f"TH{n}")), 1)
    kept = {name: value for name, value in found.items() if name not in ("fBuffer", "fBufferSize")}
    buffer = found.get("fBuffer") or [0]
    if buffer[0] > 0:
        kept["fBuffer"] = buffer[: 1 + (1 + dimensions + ("Profile" in kind)) * int(buffer[0])]
    return kept


def test_buffered_entries_are_filled_as_by_hadd(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    merged = merged_by_both(basketry, tmp_path, "waiting")
    assert "not merged" not in merged.outcome.err
    assert "Cannot merge" not in merged.errors
    together = root_values.of(make_files.made("waiting") / "together.root")["objects"]
    expected, found = (root_values.of(path)["objects"] for path in (merged.theirs, merged.ours))
    assert expected.keys() == found.keys()
    compared = 0
    for name in expected.keys() - SPOILT_BY_HADD:
        by_hadd = name[0] != "p" or name[3:] in PROFILES_WITH_LIMITS
        reference, tolerance = (expected, 0.0) if by_hadd else (together, 1e-12)
        filled = with_buffer(found[name])
        different = list(values.differences(with_buffer(reference[name]), filled, name, tolerance))
        if not by_hadd:
            # A merge that redefines an axis selects all its bins.
            different = [line for line in different if "/fFirst:" not in line and "/fLast:" not in line]
        assert not different, "\n".join(different[:20])
        compared += 1

    assert compared > 120


def test_blocks_with_all_entries_are_merged_though_hadd_crashes(
    basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    ours = tmp_path / "ours.root"
    inputs = sorted(make_files.made("entries").glob("full?.root"))
    basketry("hadd", "-f", ours, *inputs)
    found = entry_lists.numbered(root_values.of(ours)["objects"])
    parts = [entry_lists.numbered(root_values.of(path)["objects"]) for path in inputs]
    for name in ("entries_full", "entries_full_later"):
        expected = sorted({entry for part in parts for entry in part[name]["fBlocks"]})
        assert found[name]["fBlocks"] == expected
        assert found[name]["fN"] == len(expected) > 64_000


def test_all_clones_arrays_are_kept_and_the_first_is_found(
    basketry: Basketry, root_values: RootServer, tmp_path: Path
) -> None:
    ours = tmp_path / "ours.root"
    outcome = basketry.run("hadd", "-f", ours, *sources("lists"))
    assert "clones_names: of a TClonesArray" in outcome.err
    first = root_values.of(sources("lists")[0])["objects"]["clones_names"]
    found = root_values.of(ours)["objects"]["clones_names"]
    assert list(values.differences(first, found)) == []
    with uproot.open(ours) as file:
        cycles = [name for name in file if name.startswith("clones_names;")]

    assert cycles == ["clones_names;3", "clones_names;2", "clones_names;1"]
