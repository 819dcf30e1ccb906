"""Writing from many threads of one Python program: its peak RSS above what it took before, in MB.

`python writing_threads.py ttree|rntuple THREADS CODEC MEMORY OUT`: 20 columns of floats and 10 of lists, 2 million
entries (370 MB) in a hundred calls of `extend`.
"""

import sys
import threading

import awkward as ak
import numpy as np

import basketry as bk
from readers import status

ROWS = 20_000
CALLS = 100


def columns() -> dict[str, object]:
    """The entries of one call."""
    chance = np.random.default_rng(1)
    counts = chance.integers(0, 6, ROWS)
    flat = {f"flat{number}": chance.random(ROWS, dtype=np.float32) for number in range(20)}
    lists = {f"list{n}": ak.unflatten(chance.random(counts.sum(), dtype=np.float32), counts) for n in range(10)}
    return {**flat, **lists}


def main() -> None:
    """Writes the file, and prints the MB."""
    container, threads, codec, memory, out = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
    with bk.recreate(out, container=container, compression=codec) as file:
        # Its libraries are loaded.
        file["t"] = {"x": np.arange(10)}
    data = columns()
    before = status("VmHWM")
    with bk.recreate(out, container=container, compression=codec, memory=memory, threads=threads) as file:
        tree = (file.mkrntuple if container == "rntuple" else file.mktree)("t", data)

        def work() -> None:
            for _ in range(CALLS // threads):
                tree.extend(data)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    print(f"{(status('VmHWM') - before) / 1e6:.0f}")


main()
