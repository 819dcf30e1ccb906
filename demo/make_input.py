"""Writes a NanoAOD-like file with an intentionally bad layout, with uproot and without ROOT.

Jagged collections (Jet, Muon, Electron, GenPart) and scalars, zlib-1, written in many uneven steps: every step is a
cluster of its own, so baskets are tiny and their sizes differ by a factor of hundreds.
"""

import argparse
from pathlib import Path

import awkward as ak
import numpy as np
import uproot
from numpy.typing import NDArray

Columns = dict[str, object]

COLLECTIONS = {
    # name: (mean multiplicity, float members, integer members)
    "Jet": (5.0, ("pt", "eta", "phi", "mass", "area", "btagDeepFlavB", "qgl", "muEF"), ("jetId", "nConstituents")),
    "Muon": (1.2, ("pt", "eta", "phi", "mass", "dxy", "dz", "pfRelIso03_all"), ("charge", "nStations")),
    "Electron": (1.0, ("pt", "eta", "phi", "mass", "dxy", "dz", "hoe", "r9"), ("charge", "cutBased")),
    "GenPart": (18.0, ("pt", "eta", "phi", "mass"), ("pdgId", "status", "genPartIdxMother")),
}
SCALARS = ("MET_pt", "MET_phi", "MET_significance", "PuppiMET_pt", "PuppiMET_phi", "PV_z", "PV_chi2", "genWeight")
FLAGS = tuple(f"HLT_{name}" for name in ("IsoMu24", "Ele32", "PFMET120", "PFHT1050", "DoubleMu", "Tau180", "AK8Jet400"))


def keep_bits(values: NDArray[np.float64], bits: int) -> NDArray[np.float32]:
    """Rounds the mantissa to `bits` bits, as NanoAOD does before it compresses."""
    mask = np.uint32((0xFFFFFFFF << (23 - bits)) & 0xFFFFFFFF)
    return (values.astype(np.float32).view(np.uint32) & mask).view(np.float32)


def step(rng: np.random.Generator, first: int, entries: int) -> Columns:
    """The columns of `entries` events, numbered from `first`."""
    columns: Columns = {
        "run": np.full(entries, 317_000 + first // 40_000, dtype=np.uint32),
        "luminosityBlock": (np.arange(first, first + entries) // 500).astype(np.uint32),
        "event": np.arange(first, first + entries, dtype=np.uint64) * 7919 % 1_000_003,
    }
    for name in SCALARS:
        columns[name] = keep_bits(rng.gamma(2.0, 20.0, entries), 12)
    for name in FLAGS:
        columns[name] = rng.random(entries) < 0.05
    for name, (mean, floats, integers) in COLLECTIONS.items():
        counts = rng.poisson(mean, entries)
        total = int(counts.sum())
        members: dict[str, NDArray[np.generic]] = {
            member: keep_bits(rng.exponential(30.0, total) if member == "pt" else rng.normal(0, 1.5, total), 10)
            for member in floats
        }
        members |= {member: rng.integers(-6, 24, total).astype(np.int32) for member in integers}
        columns[name] = ak.zip({member: ak.unflatten(values, counts) for member, values in members.items()})
    return columns


def main() -> None:
    """Parses the command line and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=float, default=10.0, help="stop once the file is this large")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    entries = 0
    with uproot.recreate(options.out, compression=uproot.ZLIB(1)) as file:
        tree = None
        while tree is None or options.out.stat().st_size < options.megabytes * 1e6:
            count = int(rng.choice([3, 20, 150, 1200, 4000], p=[0.3, 0.25, 0.2, 0.15, 0.1]))
            columns = step(rng, entries, count)
            if tree is None:
                tree = file.mktree("Events", {name: column_type(values) for name, values in columns.items()})
            tree.extend(columns)
            entries += count
    print(f"{options.out}: {entries} entries, {options.out.stat().st_size / 1e6:.1f} MB")


def column_type(values: object) -> object:
    """The type of a column for uproot's mktree."""
    return values.dtype if isinstance(values, np.ndarray) else ak.type(values).content


if __name__ == "__main__":
    main()
