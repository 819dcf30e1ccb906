"""The data sets of the benchmarks, written from threads, read by ROOT, uproot and basketry; and the metrics of
writing."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Argument, Basketry, run
from referee.paths import BINARY
from referee.root_server import RootServer

KINDS = ("single", "multi", "nano", "lhcb", "aod", "esd")
COUNT_WRITES = Path(__file__).with_name("native") / "count_writes.c"
DATED = {"SOURCE_DATE_EPOCH": "1000000000"}

# Sums of all numbers of every column, by RDataFrame, which has no dictionary of the classes.
SUMS = """
import sys, json, ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError
for path in sys.argv[1:]:
    frame = ROOT.RDataFrame("Events", path)
    names = [str(name) for name in frame.GetColumnNames()]
    sums = {}
    for name in names:
        kind = frame.GetColumnType(name)
        if "RVec" in kind:
            kind = kind[kind.index("<") + 1 : -1]
        if kind.split("::")[-1].lower() in ("double", "float", "int", "double_t", "float_t", "int_t", "unsigned int"):
            sums[name] = frame.Sum(name)
    print(json.dumps({"entries": frame.Count().GetValue(), "sums": {n: float(s.GetValue()) for n, s in sums.items()}}))
"""


def generate(basketry: Basketry, kind: str, path: Path, *options: Argument) -> Any:
    """Writes a small data set."""
    return basketry.json("generate", kind, "--size", "1MB", "-o", path, *options)


@pytest.fixture(scope="module")
def written(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each kind."""
    folder = tmp_path_factory.mktemp("generated")
    for kind in KINDS:
        generate(basketry, kind, folder / f"{kind}.root", "--compression", "zstd:1", "--cluster", "200kB")
    return {kind: folder / f"{kind}.root" for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_uproot_and_basketry_read_the_same(written: dict[str, Path], kind: str) -> None:
    ours = bk.open(written[kind])["Events"]
    assert isinstance(ours, bk.Tree)
    compared = 0
    with uproot.open(f"{written[kind]}:Events") as theirs:
        assert theirs.num_entries == ours.num_entries > 0
        for name, branch in theirs.items():
            if branch.branches or "Objects" in str(branch.interpretation):
                # Groups, and unsplit collections of objects, which uproot misreads.
                continue
            assert ak.array_equal(ours[name].array(), branch.array(), dtype_exact=False), name
            compared += 1

    assert compared


def test_root_and_basketry_compute_the_same_sums(written: dict[str, Path]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", SUMS, *map(str, written.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for (kind, path), answer in zip(written.items(), answers, strict=True):
        tree = bk.open(path)["Events"]
        assert isinstance(tree, bk.Tree)
        assert answer["entries"] == tree.num_entries
        by_name = {name.rsplit("/", 1)[-1]: name for name in tree.keys()}  # noqa: SIM118
        compared = 0
        for name, theirs in answer["sums"].items():
            if name not in by_name:
                continue
            values = ak.to_numpy(ak.flatten(tree[by_name[name]].array(), axis=None)).astype(np.float64)
            assert np.isclose(values.sum(), theirs, rtol=1e-4, atol=1e-2), f"{kind} {name}"
            compared += 1
        assert compared >= {"single": 1, "esd": 4}.get(kind, 10), kind


# Also with clusters that end early for lack of memory.
@pytest.mark.parametrize(
    ("kind", "options"),
    [*((kind, "--size 1MB --cluster 100kB") for kind in KINDS), ("multi", "--size 20MB --cluster 8MB --memory 16MB")],
)
def test_threads_change_no_byte(basketry: Basketry, tmp_path: Path, kind: str, options: str) -> None:
    files = []
    for threads in (1, 2, 8):
        # The name of a file is part of it.
        path = tmp_path / str(threads) / "out.root"
        path.parent.mkdir()
        where: list[str | Path] = ["-o", path, "-j", str(threads), "-q"]
        assert run([basketry.binary, "generate", kind, *options.split(), *where], env=DATED).code == 0
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_several_files_at_once_share_memory(basketry: Basketry, tmp_path: Path) -> None:
    memory = 16_000_000
    options = ["--outputs", "3", "-j", "4", "--memory", str(memory), "--cluster", "1MB"]
    ran = generate(basketry, "multi", tmp_path / "out.root", *options)
    paths = [tmp_path / name for name in ("out.root", "out-1.root", "out-2.root")]
    trees = [bk.open(path)["Events"] for path in paths]
    assert len(ran["written"]) == 3
    assert all(metrics["peak_held_bytes"] <= memory for metrics in ran["metrics"])
    arrays = [tree.arrays() for tree in trees if isinstance(tree, bk.Tree)]

    assert ak.array_equal(arrays[0], arrays[1])
    assert ak.array_equal(arrays[0], arrays[2])


def test_no_write_and_no_fill_write_nothing(basketry: Basketry, tmp_path: Path) -> None:
    ran = generate(basketry, "single", tmp_path / "out.root", "--no-write")
    assert ran["written"][0]["bytes"] > 500_000
    ran = generate(basketry, "single", tmp_path / "out.root", "--no-fill", "--no-write")

    assert ran["written"][0]["trees"][0]["entries"] == 0
    assert not list(tmp_path.iterdir())


def test_write_bench_measures_every_combination(basketry: Basketry, tmp_path: Path) -> None:
    options: list[Argument] = [
        "--size",
        "2MB",
        "--threads",
        "1,2",
        "--compression",
        "none,lz4:4",
        "--repeat",
        "2",
        "--media",
        tmp_path,
    ]
    report = basketry.json("write-bench", "multi", *options, "--shapes", "1x100,10x10")
    assert len(report["lines"]) == 8
    for line in report["lines"]:
        assert len(line["runs"]) == 2
        assert all(run["cpu"] > 0 and run["peak_rss"] > 1_000_000 and run["vsize"] > 0 for run in line["runs"])
        assert line["bytes"] > 100_000
    none, packed = (next(x for x in report["lines"] if x["compression"] == c) for c in ("none", "lz4:4"))

    assert none["bytes"] > packed["bytes"]
    assert "speed-up" in basketry("write-bench", "single", *options)
    assert not list(tmp_path.iterdir())


def test_write_bench_measures_both_containers(basketry: Basketry, tmp_path: Path) -> None:
    def measured(page: str) -> list[dict[str, Any]]:
        options: list[Argument] = ["--size", "2MB", "--threads", "1,2", "--compression", "zstd:5", "--repeat", "1"]
        options += ["--container", "ttree,rntuple", "--page-size", page, "--media", tmp_path]
        report = basketry.json("write-bench", "multi", *options)
        return list(report["lines"])

    large, small = measured("256kB"), measured("4kB")

    order = [("ttree", 1), ("rntuple", 1), ("ttree", 2), ("rntuple", 2)]
    assert [(line["container"], line["threads"]) for line in large] == order
    assert all(line["writer"] == "basketry" for line in large)
    # Columns byte by byte compress better, and more pages or baskets cost bytes.
    assert large[1]["bytes"] < large[0]["bytes"]
    assert all(many["bytes"] > few["bytes"] for many, few in zip(small, large, strict=True))
    assert "one of: ttree, rntuple" in basketry.refuses("write-bench", "multi", "--container", "parquet")


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_a_preloaded_library_sees_every_write(tmp_path: Path, container: str) -> None:
    """As Darshan and the like do: all writes are calls of the C library."""
    library, out = tmp_path / "count_writes.so", tmp_path / "out.root"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, COUNT_WRITES, "-ldl"], check=True)
    command: list[Argument] = [BINARY, "generate", "multi", "--size", "3MB", "--container", container]
    done = run([*command, "--compression", "none", "-q", "-o", out], env={"LD_PRELOAD": str(library)})

    assert done.code == 0, done
    assert out.stat().st_size > 3_000_000
    assert int(done.err.split(" bytes written")[0].split()[-1]) >= out.stat().st_size


def unfinished(folder: Path) -> int:
    """Bytes of the hidden file in work; 0 if there is none."""
    try:
        return sum(path.stat().st_size for path in folder.glob(".*"))
    except FileNotFoundError:
        return 0


def test_a_killed_writer_leaves_the_saved_entries(tmp_path: Path, root_values: RootServer, full: bool) -> None:
    """After each AutoSave ROOT can read the unfinished file, under its hidden name."""
    chance = random.Random(4)
    command: list[Argument] = [
        BINARY,
        "generate",
        "multi",
        "--size",
        "100MB",
        "--cluster",
        "1MB",
        "--autosave",
        "2MB",
        "-j",
        "2",
        "-q",
    ]
    subprocess.run([*command, "-o", tmp_path / "whole.root"], check=True)
    whole, size = bk.open(tmp_path / "whole.root:Events"), (tmp_path / "whole.root").stat().st_size
    killed = 0
    for number in range(50 if full else 4):
        folder = tmp_path / str(number)
        folder.mkdir()
        # Two AutoSaves and a cluster prove that the first is complete; the last tenth may be in work.
        enough = chance.uniform(6_000_000, 0.9 * size)
        with subprocess.Popen([*command, "-o", folder / "out.root"]) as job:
            while unfinished(folder) < enough and job.poll() is None:
                time.sleep(0.001)
            job.kill()
        if job.returncode == 0:
            # The job ended before the signal.
            continue
        killed += 1
        assert not (folder / "out.root").exists()
        for left in folder.iterdir():
            answer = root_values.of(left)
            assert "error" not in answer, answer
            assert answer["trees"]
            tree = bk.open(f"{left}:Events")
            n = tree.num_entries
            assert 0 < n <= whole.num_entries
            name = "ev0/ev0.energy"
            assert ak.array_equal(tree[name].array(), whole[name].array(entry_stop=n))
            left.unlink()

    assert killed > 2
