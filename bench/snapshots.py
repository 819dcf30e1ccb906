"""One skim by RDataFrame, without its start: `python snapshots.py IN OUT TREE CUT THREADS CODEC LEVEL`.

All columns of the entries that pass are written, in the named codec. Prints "inside WALL CPU". Threads are ROOT's
implicit ones; with 1 there are none.
"""

import sys
import time

import ROOT


def main() -> None:
    """Runs what the module describes."""
    path, out, tree, cut, threads, algorithm, level = sys.argv[1:]
    wall, cpu = time.perf_counter(), time.process_time()
    if threads != "1":
        ROOT.EnableImplicitMT(int(threads))
    options = ROOT.RDF.RSnapshotOptions()
    options.fCompressionAlgorithm = getattr(ROOT.RCompressionSetting.EAlgorithm, f"k{algorithm.upper()}")
    options.fCompressionLevel = int(level)
    options.fLazy = False
    ROOT.RDataFrame(tree, path).Filter(cut).Snapshot(tree, out, "", options)
    print(f"inside {time.perf_counter() - wall} {time.process_time() - cpu}")


if __name__ == "__main__":
    main()
