"""Files that Python writes: every kind of column read back by ROOT, uproot and ourselves, layouts, errors, threads."""

import hashlib
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import root_columns

CLASSES = """
class Vec { public: double fX; double fY; double fZ; };
class Event {
public:
   Vec fA;
   Vec fB;
   float fP[3];
   int fId;
   std::vector<float> fHits;
   std::string fName;
};
"""
ENTRIES = 300
NUMBERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
MEMBERS = ("fA.fX", "fB.fZ", "fP", "fId", "fHits")


def leaves() -> dict[str, Any]:
    """A column of each kind that has leaves, by uproot's conventions."""
    generator = np.random.default_rng(1)
    counts = generator.integers(0, 4, ENTRIES)
    jagged = ak.unflatten(generator.random(counts.sum()).astype(np.float32), counts)
    columns: dict[str, Any] = {name: np.arange(ENTRIES).astype(name) for name in NUMBERS}
    return columns | {
        "flag": generator.random(ENTRIES) < 0.5,
        "fixed": generator.random((ENTRIES, 2, 3)).astype(np.float32),
        "jagged": jagged,
        "pairs": ak.unflatten(generator.random((counts.sum(), 2)), counts),
        "text": ak.Array(["x" * (i * 9 % 300) + str(i) for i in range(ENTRIES)]),
        "one": ak.zip({"a": np.arange(ENTRIES), "b": np.arange(ENTRIES) * 0.5}),
        "muon": ak.zip({"pt": jagged, "charge": ak.values_astype(jagged > 0.5, np.int8)}),
    }


def objects() -> dict[str, Any]:
    """A column of each kind of C++ type."""
    generator = np.random.default_rng(2)
    counts = generator.integers(0, 4, ENTRIES)
    n = int(counts.sum())

    def vec() -> Any:
        return ak.zip({name: generator.random(n) for name in ("fX", "fY", "fZ")})

    hits = generator.integers(0, 3, n)
    event = ak.Array(
        {
            "fA": vec(),
            "fB": vec(),
            "fP": generator.random((n, 3)).astype(np.float32),
            "fId": np.arange(n, dtype=np.int32),
            "fHits": ak.unflatten(np.arange(hits.sum()).astype(np.float32), hits),
            "fName": [f"name {i}" for i in range(n)],
        }
    )
    events = ak.unflatten(event, counts)
    deep = ak.unflatten(ak.unflatten(np.arange(hits.sum(), dtype=np.int32), hits), counts)
    made = {"floats": events.fId * np.float32(0.5), "text": ak.Array([f"t{i}" for i in range(ENTRIES)]), "deep": deep}
    made |= {f"events{split}": events for split in ("99", "1", "0", "m", "c")}
    return made | {f"single{split}": event[:ENTRIES] for split in ("99", "1", "0")}


TYPES = {
    "floats": "vector<float>",
    "text": "std::string",
    "deep": "vector<vector<int>>",
    "events99": "vector<Event>",
    "events1": "vector<Event>",
    "events0": "std::vector<Event>",
    "eventsm": "vector<Event>",
    "eventsc": "TClonesArray<Event>",
    "single99": "Event",
    "single1": "Event",
    "single0": "Event",
}
SPLIT = {"*1": {"split_level": 1}, "*0": {"split_level": 0}, "*m": {"split_level": 0, "streaming": "member-wise"}}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with both, in clusters of 100 entries."""
    path = tmp_path_factory.mktemp("written") / "out.root"
    with bk.recreate(path, classes=CLASSES, cluster=100, column_set=SPLIT) as file:
        file["leaves"] = leaves()
        tree = file.mktree("dir/objects", TYPES, "a title")
        data = objects()
        for start in range(0, ENTRIES, 70):
            tree.extend({name: array[start : start + 70] for name, array in data.items()})
        assert tree.num_entries == ENTRIES
    return path
