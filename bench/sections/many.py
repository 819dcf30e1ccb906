"""Many files through Dask, beside one local run with as many threads. Starting the cluster does not count;
the CPU of its workers does."""

import importlib.util
import sys

import inputs
from harness import Bench, section
from measure import SCRATCH, Contender, in_page_cache, inside

FILES = 8
WORKERS = 2

#: Rewrites files through Dask's workers, or here; prints the time of the call alone.
PROGRAM = """
import sys, time
from basketry import distributed

def main(kind, workers, out, *files):
    workers = int(workers)
    options = {"output": out + "/{n}.root", "force": True, "compression": "zstd:5", "errors": "raise"}
    if kind == "local":
        timed(lambda: distributed.map("rewrite", list(files), threads=workers, **options), lambda: 0)
        return
    from dask.distributed import Client, LocalCluster
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            # Imports on the workers are part of their start.
            client.run(__import__, "basketry.distributed.tasks")
            theirs = lambda: sum(client.run(time.process_time).values())
            timed(lambda: distributed.map("rewrite", list(files), client=client, **options), theirs)

def timed(call, elsewhere):
    wall, cpu = time.perf_counter(), time.process_time() + elsewhere()
    call()
    print("inside", time.perf_counter() - wall, time.process_time() + elsewhere() - cpu)

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


@section
def dask(bench: Bench) -> None:
    """Two workers of Dask reach 0.9 of the throughput of one local run of two threads."""
    if importlib.util.find_spec("distributed") is None:
        bench.say("no dask here (tests/requirements.txt)")
        return
    size = 5 if bench.quick else 25
    files = [inputs.nano(size, seed + 1) for seed in range(FILES)]
    in_page_cache(*files)
    out = SCRATCH / "many"
    out.mkdir(parents=True, exist_ok=True)
    outputs = [out / f"{number}.root" for number in range(FILES)]
    contenders = [
        Contender(kind, [sys.executable, "-c", PROGRAM, kind, str(WORKERS), out, *files], outputs, clock=inside)
        for kind in ("local", "dask")
    ]
    done = bench.compare("rewrite to zstd-5", contenders, 1 if bench.quick else 3)
    bytes_read = sum(file.stat().st_size for file in files)
    bench.say("", "| run | wall s | cpu s | MB/s | of the local run |", "|---|---|---|---|---|")
    for name, one in done.items():
        share = done["local"].wall / one.wall if "local" in done else float("nan")
        bench.say(f"| {name} | {one.wall:.2f} | {one.cpu:.2f} | {bytes_read / 1e6 / one.wall:.0f} | {share:.2f} |")
