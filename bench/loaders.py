"""Epochs of shuffled batches by a loader: times, memory, and how random the order is.

`python loaders.py basketry|root|root-eager FILE BATCH [COLUMN ...] [-- LIST ...]`: columns of one number, and of
lists, of which the first four items are taken. Each batch is one matrix of NumPy's, as a network takes it. The first
column is the number of the entry. Of three epochs the last two are timed together: in the first one ROOT compiles, and
reads the file if it is eager. Prints "inside WALL CPU", "memory BASE PEAK" in bytes, "samples N" of the timed epochs,
and "spread S": how much the means of batches spread, as a multiple of that of a list which is shuffled in memory.
"""

import math
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from readers import status

#: Makes the batches of an epoch.
Maker: TypeAlias = Callable[[], Iterable[Any]]

ITEMS = 4
EPOCHS = 3


def of_basketry(path: str, batch: int, columns: list[str], lists: list[str]) -> Maker:
    """Matrices of a loader's batches."""
    import basketry

    loader = basketry.loader(
        f"{path}:Events",
        [*columns, *lists],
        batch_size=batch,
        shuffle=True,
        seed=1,
        drop_last=True,
        pad=dict.fromkeys(lists, ITEMS) or None,
        workers=1,
    ).matrices()
    return lambda: loader


def of_root(path: str, batch: int, columns: list[str], lists: list[str], *, eager: bool = False) -> Maker:
    """The same by ROOT, which has ten batches in memory, or all."""
    import ROOT

    frame = ROOT.RDataFrame("Events", path)
    loader = ROOT.Experimental.ML.RDataLoader(
        frame,
        batch_size=batch,
        columns=[*columns, *lists],
        max_vec_sizes=dict.fromkeys(lists, ITEMS),
        shuffle=True,
        drop_remainder=True,
        set_seed=1,
        load_eager=eager,
    )
    epoch: Maker = loader.as_numpy
    return epoch


def main() -> None:
    """Runs what the module describes."""
    package, path, batch, *names = sys.argv[1:]
    end = names.index("--") if "--" in names else len(names)
    columns, lists = names[:end], names[end + 1 :]
    size = int(batch)
    base = status("VmRSS")
    if package == "basketry":
        epoch = of_basketry(path, size, columns, lists)
    else:
        epoch = of_root(path, size, columns, lists, eager=package == "root-eager")
    width = len(columns) + ITEMS * len(lists)
    means: list[float] = []
    samples, wall, cpu = 0, 0.0, 0.0
    for number in range(EPOCHS):
        if number == 1:
            wall, cpu = time.perf_counter(), time.process_time()
        for one in epoch():
            assert one.shape == (size, width), one.shape
            if number == 0:
                means.append(float(one[:, 0].mean()))
            else:
                samples += len(one)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    numbers = len(means) * size
    uniform = numbers / math.sqrt(12 * size)
    print(f"inside {wall} {cpu}\nmemory {base} {status('VmHWM')}\nsamples {samples}\nspread {np.std(means) / uniform}")


if __name__ == "__main__":
    main()
