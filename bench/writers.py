"""One write of jagged awkward arrays by a Python package, which prints its times after the imports.

`python writers.py basketry|uproot OUT CODEC MEGABYTES`: two numbers an event, and two collections of eight and three
numbers for each of their objects, in ten calls of `extend`. Prints "inside WALL CPU".
"""

import sys
import time

import awkward as ak
import numpy as np

STEPS = 10
COLLECTIONS = {"jet": 8, "muon": 3}
MEAN = {"jet": 6.0, "muon": 1.5}


def events(rng: np.random.Generator, megabytes: float) -> dict[str, ak.Array]:
    """Columns with this many bytes of numbers, without counters. Their last bits are random, like those of measured
    values."""
    each = 4 * (2 + sum(fields * MEAN[name] for name, fields in COLLECTIONS.items()))
    entries = int(megabytes * 1e6 / each)

    def number(n: int) -> np.ndarray:
        return rng.normal(size=n).astype(np.float32)

    made = {"weight": ak.Array(number(entries)), "energy": ak.Array(number(entries))}
    for name, fields in COLLECTIONS.items():
        counts = rng.poisson(MEAN[name], entries)
        total = int(counts.sum())
        made[name] = ak.unflatten(ak.zip({f"f{i}": number(total) for i in range(fields)}), counts)
    return made


def main() -> None:
    """Runs what the module describes."""
    package, path, codec, megabytes = sys.argv[1:]
    rng = np.random.default_rng(1)
    steps = [events(rng, float(megabytes) / STEPS) for _ in range(STEPS)]
    if package == "basketry":
        import basketry

        wall, cpu = time.perf_counter(), time.process_time()
        with basketry.recreate(path, compression=codec, threads=1) as file:
            tree = file.mktree("Events", {name: array.type.content for name, array in steps[0].items()})
            for step in steps:
                tree.extend(step)
    else:
        import uproot

        algorithm, _, level = codec.partition(":")
        compression = None if codec == "none" else getattr(uproot, algorithm.upper())(int(level))
        wall, cpu = time.perf_counter(), time.process_time()
        with uproot.recreate(path, compression=compression) as file:
            tree = file.mktree("Events", {name: array.type.content for name, array in steps[0].items()})
            for step in steps:
                tree.extend(step)
    print(f"inside {time.perf_counter() - wall:.6f} {time.process_time() - cpu:.6f}")


main()
