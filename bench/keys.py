"""Events by their keys beside polars and DuckDB, on the same keys: an index, a sort and a join of `--keys` million of
them, in no order, in turns: `PYTHONPATH=tests:bench python bench/keys.py --keys 50`. With `--alone` the keys are one
column, the values compress, and nobody else runs: for more keys than the others' memory, or the disk, can take.

Ours reads trees and writes an index, or trees; the others read and write Parquet files. basketry and DuckDB get
`--memory`; polars has no such limit, so its peak says what it took. A package that is not installed is left out, and
said. Prints medians of wall and CPU seconds, peaks of memory, and times as multiples of the fastest other's.
"""

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from measure import Contender, basketry, compare, in_page_cache, inside, machine

KEY = ("run", "luminosityBlock", "event")
NAMES = ", ".join(KEY)
#: Entries that are made at once.
CHUNK = 1_000_000
HEAD = "| job | with | wall s | CPU s | peak RSS MB | output MB | wall / fastest other |\n" + "|---" * 7 + "|"
Columns = dict[str, np.ndarray]


def chunks(seed: int, entries: int, value: str, alone: bool) -> Iterator[Columns]:
    """All keys once, in an order of the seed, with a value of the entry."""
    chance = np.random.default_rng(seed)
    event = chance.permutation(np.arange(entries, dtype=np.uint32))
    for first in range(0, entries, CHUNK):
        own = event[first : first + CHUNK]
        if alone:
            yield {
                "event": own.astype(np.uint64) * np.uint64(12_345_678_901),
                value: chance.integers(1_000, size=len(own)).astype(np.float32),
            }
            continue
        yield {
            "run": 300_000 + own % np.uint32(97),
            "luminosityBlock": own // np.uint32(10_000),
            "event": own.astype(np.uint64) * np.uint64(12_345_678_901),
            value: chance.random(len(own)),
        }


def make(folder: Path, name: str, entries: int, alone: bool) -> tuple[Path, Path | None]:
    """A tree and, unless ours runs alone, a Parquet file of the same entries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import basketry as bk

    seed, value = (1, "x") if name == "left" else (2, "y")
    tree, parquet = folder / f"{name}.root", None if alone else folder / f"{name}.parquet"
    with bk.recreate(tree, compression="zstd:1") as file:
        table: Any = None
        writer: Any = None
        for columns in chunks(seed, entries, value, alone):
            if table is None:
                table = file.mktree("Events", {key: column.dtype for key, column in columns.items()})
                schema = pa.table(columns).schema
                writer = parquet and pq.ParquetWriter(parquet, schema, compression="zstd", compression_level=1)
            table.extend(columns)
            if writer:
                writer.write_table(pa.table(columns))
        if writer:
            writer.close()
    return tree, parquet


# What the others do, in a process of its own.


def by_polars(job: str, left: Path, right: Path, out: Path, memory: str) -> None:
    """`memory` is not for it."""
    del memory
    import polars as pl

    frame = pl.scan_parquet(left)
    made = {
        "index": lambda: frame.select(KEY).with_row_index("entry").sort(KEY),
        "sort": lambda: frame.sort(KEY, maintain_order=True),
        "join": lambda: frame.join(pl.scan_parquet(right), on=KEY, how="left", maintain_order="left"),
    }
    made[job]().sink_parquet(out, compression="zstd", compression_level=1)


def by_duckdb(job: str, left: Path, right: Path, out: Path, memory: str) -> None:
    """Spills go beside the output."""
    import duckdb

    base = duckdb.connect()
    base.execute(f"SET memory_limit = '{memory}'")
    base.execute(f"SET temp_directory = '{out}.spills'")
    rows = f"read_parquet('{left}', file_row_number = true)"
    query = {
        "index": f"SELECT {NAMES}, file_row_number FROM {rows} ORDER BY {NAMES}, file_row_number",
        "sort": f"SELECT * EXCLUDE file_row_number FROM {rows} ORDER BY {NAMES}, file_row_number",
        "join": (
            f"SELECT l.* EXCLUDE file_row_number, r.y FROM {rows} l LEFT JOIN read_parquet('{right}') r "
            f"USING ({NAMES}) ORDER BY l.file_row_number"
        ),
    }[job]
    base.execute(f"COPY ({query}) TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")


OTHERS: dict[str, Callable[[str, Path, Path, Path, str], None]] = {"polars": by_polars, "duckdb": by_duckdb}


def run_other(name: str, job: str, left: Path, right: Path, out: Path, memory: str) -> None:
    """The job without the import of the package."""
    importlib.import_module(name)
    start, cpu = time.perf_counter(), time.process_time()
    OTHERS[name](job, left, right, out, memory)
    print(f"inside {time.perf_counter() - start} {time.process_time() - cpu}")


def contenders(job: str, trees: list[Path], parquet: list[Path], folder: Path, memory: str) -> list[Contender]:
    """Ours and, where there are Parquet files, the others that are installed."""
    out = folder / f"{job}.{'parquet' if job == 'index' else 'root'}"
    key, limit = ",".join(KEY if parquet else KEY[-1:]), ("--memory", memory, "-q")
    ours = {
        "index": ("index", trees[0], "--key", key, "-o", out, *limit),
        "sort": ("sort", trees[0], "--by", key, "-o", out, *limit),
        "join": ("join", trees[0], "--with", trees[1], "--on", key, "-o", out, *limit),
    }[job]
    found = [basketry("basketry", *ours, outputs=[out])]
    for name in OTHERS if parquet else ():
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed: left out")
            continue
        other = folder / f"{job}-{name}.parquet"
        command: list[str | Path] = [sys.executable, __file__, "--run", name, job, *parquet, other, memory]
        found.append(Contender(name, command, [other], clock=inside))
    return found


def row(job: str, contender: Contender, fastest: float | None) -> str:
    """A row of the table."""
    ratio = "" if fastest is None else f"{contender.wall / fastest:.2f}"
    cells = [job, contender.name, f"{contender.wall:.2f}", f"{contender.cpu:.2f}", f"{contender.peak:.0f}"]
    return "| " + " | ".join([*cells, f"{contender.size / 1e6:.0f}", ratio]) + " |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=float, default=1, help="million keys on each side")
    parser.add_argument("--memory", default="512MB", help="for basketry and DuckDB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", default="index,sort,join")
    parser.add_argument("--alone", action="store_true", help="basketry alone, with one column of keys")
    parser.add_argument("--folder", type=Path, help="of the files, which stay there; a temporary one without it")
    parser.add_argument("--json", type=Path, help="a file for all samples")
    parser.add_argument("--run", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        name, job, left, right, out, memory = given.run
        run_other(name, job, Path(left), Path(right), Path(out), memory)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        entries = int(given.keys * 1e6)
        pairs = [make(folder, name, entries, given.alone) for name in ("left", "right")]
        trees, parquet = [tree for tree, _ in pairs], [other for _, other in pairs if other]
        in_page_cache(*trees, *parquet)
        key = KEY[-1] if given.alone else NAMES
        print(f"{given.keys:g} million keys ({key}) on each side, {given.memory}; {machine()['cpu']}\n")
        print(HEAD)
        samples = {}
        for job in given.jobs.split(","):
            done = compare(contenders(job, trees, parquet, folder, given.memory), given.rounds)
            others = [contender.wall for contender in done if contender.name != "basketry"]
            print("\n".join(row(job, contender, min(others, default=None)) for contender in done), flush=True)
            samples[job] = [contender.record() for contender in done]
        if given.json:
            given.json.write_text(json.dumps({"machine": machine(), "keys": entries, "jobs": samples}, indent=1))


if __name__ == "__main__":
    main()
