"""Whether an installed wheel works: writes, reads, re-lays-out and compares small files in the current folder. It needs
nothing but the wheel and its dependencies."""

import platform
from pathlib import Path

import awkward as ak
import numpy as np

import basketry as bk

CODECS = {"zlib": "zlib:1", "lz4": "lz4:4", "zstd": "zstd:5", "lzma": "lzma:1"}
ENTRIES = 2000


def main() -> None:
    """Prints the processor, where the package is, and how many files are right."""
    number = np.arange(ENTRIES)
    columns = {"x": number / 3, "few": ak.unflatten(np.repeat(number, number % 4), number % 4)}
    columns["text"] = ak.Array([f"entry {n}" for n in range(ENTRIES)])
    with bk.recreate("made.root", cluster=500, threads=2) as file:
        file["tree"] = columns
        file.mkrntuple("ntuple", columns)
    for name in ("tree", "ntuple"):
        found = bk.open("made.root")[name].arrays()
        assert all(ak.to_list(found[column]) == ak.to_list(values) for column, values in columns.items()), name

    bk.generate("nano", output="nano.root", size="1MB")
    for name, codec in CODECS.items():
        bk.rewrite("nano.root", f"{name}.root", compression=codec)
        assert bk.verify("nano.root", f"{name}.root").equal, name
    bk.rewrite("nano.root", "rntuple.root", container="rntuple")
    one, other = (bk.open(f"{name}.root:Events")["Muon_pt"].array() for name in ("nano", "rntuple"))
    assert ak.array_equal(one, other)
    print(platform.machine(), Path(bk.__file__).parent, 3 + len(CODECS))


if __name__ == "__main__":
    main()
