"""Every branch of the corpus with a digest by ROOT or uproot has the same digest through the Python package."""

import collections
import hashlib
from collections.abc import Iterator
from typing import Any

import awkward as ak
import numpy as np
import pytest

import basketry as bk
from referee import oracle
from referee.oracle import Line

# One buffer of an array: role, type, number of items, and digest.
Flat = tuple[str, str, int, str]

# Digests that are wrong or have another form, by file and branch.
KNOWN = {
    ("coffea--PHYSLITE_example.root", "METAssoc_AnalysisMETAux.jetLink"): "uproot takes member-wise for object-wise",
    ("roottest--TreeEventTreeSimple1.root", "fParticles"): "uproot takes member-wise for object-wise",
    ("roottest--TreeVectorClass0.root", "vp"): "uproot takes member-wise for object-wise",
    ("gohep--tbase.root", "d1"): "uproot reads the frames of bases as members",
    ("skhep--uproot-issue433-splitlevel2.root", "timeslice_start"): "uproot reads a frame as members",
    ("uproot-custom--test_cstyle_array.root", "m_tarr_int[3]"): "uproot counts one object of each array",
    ("uproot-custom--test_cstyle_array.root", "m_simple_obj[3]"): "uproot counts one object of each array",
    ("km3net--gseagen.root", "EventGeneratorList"): "bytes that are no UTF-8 are Latin-1 here",
    ("km3net--gseagen.root", "PropCode"): "bytes that are no UTF-8 are Latin-1 here",
    ("km3net--gseagen.root", "GenMode"): "bytes that are no UTF-8 are Latin-1 here",
    ("km3net--gseagen.root", "RangeSW"): "uproot leaves out what is behind the pointers of a TGraph",
    ("km3net--gseagen.root", "RangeSR"): "uproot leaves out what is behind the pointers of a TGraph",
}


def flat(kind: str, array: Any) -> Flat:
    items = np.ascontiguousarray(array).reshape(-1)
    return (
        kind,
        "uint8" if items.dtype == bool else str(items.dtype),
        items.size,
        hashlib.sha256(items.tobytes()).hexdigest(),
    )


def buffers(layout: Any) -> Iterator[Flat]:
    """The buffers of an array, as the docstring of the corpus' make_oracle.py has them."""
    if layout.is_numpy:
        yield flat("data", layout.data)
    elif layout.is_regular:
        yield from buffers(layout.content[: layout.length * layout.size])
    elif layout.is_list:
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets.data)
        yield flat("offsets", offsets)
        yield from buffers(layout.content[: offsets[-1]])
    elif layout.is_record:
        for content in layout.contents:
            yield from buffers(content[: layout.length])
    elif layout.is_option:
        yield flat("mask", np.asarray(layout.mask_as_bool(valid_when=True)).astype(np.uint8))
        yield from buffers(layout.project())
    else:
        raise TypeError(type(layout))


def digests(line: Line) -> list[list[Flat]]:
    """The digests of both readers."""
    read = [(line.get(f"{reader}_read") or {}).get("digest") for reader in ("root", "uproot")]
    return [[(x["k"], x["dtype"].replace("bool", "uint8"), x["n"], x["sha256"]) for x in one] for one in read if one]


def excuse(name: str, branch: bk.Branch, line: Line) -> str | None:
    """The reason why another digest is right; none if it is wrong."""
    theirs = str((line.get("uproot") or {}).get("interpretation") or "")
    if branch.name.endswith("fBits"):
        return "fBits: ROOT sets bits in memory, uproot does not know of the bytes behind those of referenced objects"
    if theirs.startswith("AsStrings") and branch.interpretation != "string":
        return "uproot takes the strings of all objects of a collection for one"
    if theirs.startswith("AsGroup"):
        return "a group, whose members are compared on their own"
    if "AsBitSet" in theirs:
        return "uproot has bitsets as lists; their length is fixed"
    return KNOWN.get((name, branch.name))


@pytest.mark.skipif(not oracle.index(), reason="the corpus is absent")
def test_digests_equal_those_of_root_and_uproot(full: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --full of files that have every feature of the corpus; `decode_corpus` in Rust has all."""
    counts: collections.Counter[str] = collections.Counter()
    found: list[str] = []
    for entry in oracle.index():
        name = entry["name"]
        if not full and name not in oracle.covering():
            continue
        try:
            file = bk.open(oracle.corpus_file(name))
        except ValueError:
            continue
        for key, tree in oracle.load(name).trees.items():
            try:
                ours = file[key]
            except (KeyError, ValueError):
                continue
            for place, line in tree.branches.items():
                truths = digests(line)
                if not truths or not isinstance(ours, bk.Tree):
                    continue
                branch: Any = ours
                for number in place.split("."):
                    branch = branch[int(number)]
                read = [line.get(f"{reader}_read") or {} for reader in ("root", "uproot")]
                end = next((one["digest_entries"] for one in read if one.get("digest_entries")), None)
                try:
                    array = branch.array(entry_stop=end)
                except ValueError as problem:
                    if "which cannot be opened" not in str(problem):
                        raise
                    counts["its baskets lie in a file that is absent"] += 1
                    continue
                if list(buffers(ak.to_layout(array))) in truths:
                    counts["equal"] += 1
                elif branch.opaque:
                    counts["bytes, and it says why"] += 1
                elif why := excuse(name, branch, line):
                    counts[why] += 1
                else:
                    found.append(f"{name} {key} {branch.name}: {array.type}")
    with capsys.disabled():
        print("\n" + "\n".join(f"{n:7} {what}" for what, n in counts.most_common()))

    assert not found, "\n".join(found[:40])
    assert counts["equal"] > (29_000 if full else 10_000)
