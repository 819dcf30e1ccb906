"""write-bench and readspeed say how far repeats are apart, count the flush alike for all writers, and compare numbers
of threads."""

import importlib.util
import json
import os
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from referee.command import Argument, Basketry
from referee.paths import BINARY, REPO

#: The time that the library adds to each wait for the disk.
WAIT = 0.333


@pytest.fixture(scope="module")
def slow_sync(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which each wait for the disk takes longer."""
    library = tmp_path_factory.mktemp("slow") / "slow_sync.so"
    source = Path(__file__).with_name("native") / "slow_sync.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return os.environ | {"LD_PRELOAD": str(library)}


def test_the_flush_counts_for_itself(tmp_path: Path, slow_sync: dict[str, str]) -> None:
    options = ["--size", "1MB", "-j", "1", "--compression", "none", "--repeat", "1", "--container", "ttree,rntuple"]
    line = [str(BINARY), "write-bench", "single", *options, "--media", str(tmp_path), "--json"]
    report = json.loads(subprocess.check_output(line, env=slow_sync, timeout=120))
    for one in report["lines"]:
        # The data, and the end of the file: none of it is in the time of writing.
        assert one["sync"] >= 2 * WAIT, one["container"]
        assert one["to_disk"]["median"] == pytest.approx(one["wall"] + one["sync"])
        assert one["mb_per_s"] == pytest.approx(report["size"] / one["wall"] / 1e6)
        assert one["mb_per_s_to_disk"] == pytest.approx(report["size"] / one["to_disk"]["median"] / 1e6)


def test_the_flush_of_root_counts_for_itself(tmp_path: Path, slow_sync: dict[str, str]) -> None:
    found = importlib.util.find_spec("ROOT")
    if found is None or not found.submodule_search_locations:
        pytest.skip("no ROOT")
    home = Path(found.submodule_search_locations[0])
    program = tmp_path / "write_tree"
    source = REPO / "bench/native/write_tree.cxx"
    libraries = [f"-l{name}" for name in ("Core", "RIO", "Tree", "Hist", "MathCore", "Thread", "Imt", "ROOTVecOps")]
    paths = [f"-Wl,-rpath,{home}/lib", f"-Wl,-rpath-link,{home.with_name('root.libs')}"]
    words: list[str | Path] = [
        "g++",
        "-O0",
        "-std=c++17",
        "-pthread",
        "-isystem",
        home / "include",
        source,
        "-o",
        program,
    ]
    built = subprocess.run([*words, f"-L{home}/lib", *paths, *libraries], capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"ROOT's writer cannot be built here: {built.stderr[-300:]}")
    words = [program, "single", tmp_path / "out.root", "--size", "1MB"]
    ran = json.loads(subprocess.check_output(words, env=slow_sync, timeout=120).splitlines()[-1])
    # The keys and the header, as TFile::Flush and TFile::Close have it; the wait of this program itself comes after.
    assert ran["flushed_meanwhile"] >= WAIT
    assert ran["wall"] >= ran["flushed_meanwhile"]
    assert ran["flush"] >= WAIT


def test_the_spread_of_writing_is_that_of_all_runs(basketry: Basketry, tmp_path: Path) -> None:
    options: list[Argument] = [
        "--size",
        "1MB",
        "-j",
        "1",
        "--compression",
        "none",
        "--repeat",
        "3",
        "--media",
        tmp_path,
    ]
    (line,) = basketry.json("write-bench", "single", *options)["lines"]
    walls = [run["wall"] for run in line["runs"]]
    assert line["spread"] == {"median": line["wall"], "least": min(walls), "most": max(walls), "runs": 3} | {
        "noise": line["spread"]["noise"]
    }
    assert line["to_disk"]["median"] == pytest.approx(
        statistics.median(run["wall"] + run["sync"] for run in line["runs"])
    )
    said = basketry("write-bench", "single", *options)
    for head in ("MB/s", "to disk", "spread s", "to disk s"):
        assert head in said


def test_the_spread_of_reading_is_that_of_all_readings(basketry: Basketry, made: Path) -> None:
    report = basketry.json("readspeed", made, "--repeat", "5")
    times = [run["real"] for run in report["runs"]]
    deviation = statistics.median(abs(one - statistics.median(times)) for one in times)
    spread = report["spread"]
    assert (spread["least"], spread["median"], spread["most"], spread["runs"]) == (
        min(times),
        statistics.median(times),
        max(times),
        5,
    )
    assert spread["noise"] == pytest.approx(1.4826022 * deviation / statistics.median(times))
    assert report["scaling"] is None
    assert "one reading ±" in basketry("readspeed", made, "--repeat", "5")


def test_numbers_of_threads_are_compared(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    report = basketry.json("readspeed", made, "--threads", "1..2", "--repeat", "3", "--page", page)
    counts = [1, 2] if len(os.sched_getaffinity(0)) > 1 else [1]
    found: list[dict[str, Any]] = report["scaling"] or []
    if counts == [1]:
        assert not found
        return
    assert [one["threads"] for one in found] == counts
    one, two = found
    assert report["threads"] == 2
    assert len(report["runs"]) == 3
    assert two["real"]["median"] == report["spread"]["median"]
    assert one["speed_up"] == 1
    assert two["speed_up"] == pytest.approx(one["real"]["median"] / two["real"]["median"])
    assert two["of_possible"] == pytest.approx(two["speed_up"] / two["effective_cores"])
    assert two["throughput"] == pytest.approx(report["uncompressed"] / 1e6 / two["real"]["median"])
    assert two["effective_cores"] > 0
    for part in ("Speed-up over threads", "a loop that only computes"):
        assert part in page.read_text()
    said = basketry("readspeed", made, "-j", "1,2")
    assert "effective cores" in said
    assert [part.threads for part in bk.readspeed(made, threads="1..2").scaling or ()] == counts
    assert bk.readspeed(made, threads=2).scaling is None


def test_odd_numbers_of_threads_are_refused(basketry: Basketry, made: Path, tmp_path: Path) -> None:
    for odd in ("0..2", "2..1", "x", "1..", "1.5"):
        assert "1..8" in basketry.refuses("readspeed", made, "--threads", odd)
    assert "--threads" in basketry.refuses("readspeed", made, "--page", tmp_path / "page.html")
    many = basketry.json("readspeed", made, "--threads", "1..500")
    assert len(many["scaling"] or [1]) == len(os.sched_getaffinity(0))
    assert any("500 threads" in note for note in many["notes"])
