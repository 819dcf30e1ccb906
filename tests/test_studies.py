"""The studies in their quick form, without ROOT: tables reach the pages, and results are plausible."""

import itertools
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import awkward as ak
import pytest
import uproot

import native
from referee import command
from referee.c_programs import is_missing
from referee.command import Argument
from referee.frames_as_lists import read_by_root
from referee.paths import BINARY
from referee.studies import PAGES, quick, studies
from studies import framework
from studies.scaling import Job, simulated

BLOCK = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


def results_of(name: str, folder: Path) -> Any:
    """Runs a study, whose tables must be in the pages, and returns its results."""
    results, pages, done = quick(name, folder)
    before, page = (PAGES / f"{name}.md").read_text(), (pages / f"{name}.md").read_text()
    for key, lines in results["blocks"].items():
        assert f"<!-- measured: {key} -->\n\n" + "\n".join(lines) + "\n\n<!-- end -->" in page
        assert all(line in done.out for line in lines)
    drawn = [key for key in results["blocks"] if key.startswith("picture-")]
    assert drawn
    # Where names are depends on the measured times.
    assert not [fault for fault in results["faults"] if " is empty" in fault or " points high" in fault]
    for key in drawn:
        for theme in ("light", "dark"):
            picture = pages / "pictures" / f"{name}-{key.removeprefix('picture-')}-{theme}.svg"
            assert f"(pictures/{picture.name}#gh-{theme}-mode-only)" in page
            assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    # Everything else is unchanged.
    assert outside(page) == outside(before)
    assert page.count("<!-- measured: ") == len(results["blocks"])
    of_root = [lines for key, lines in results["blocks"].items() if key.endswith("-root")]
    assert all(lines == ["ROOT was not measured."] for lines in of_root)
    return results


def outside(page: str) -> list[str]:
    """The text outside the marks."""
    return [part.split("<!-- end -->")[-1] for part in page.split("<!-- measured: ")]


def rows_of(results: Any, block: str) -> list[str]:
    """The rows of a table, without its head and the noise below it."""
    return [line for line in results["blocks"][block] if line.startswith("|")][2:]


def figures(results: Any, label: str, figure: str, **settings: str) -> list[float]:
    """A figure of all points with these settings, or this name."""
    found = []
    for line in results["series"][f"{label}-basketry"]["lines"]:
        point = line["point"]
        known = {each["key"].replace("-", "_"): each["value"] for each in point["settings"]} | {
            "name": point.get("name")
        }
        if all(known.get(key) == value for key, value in settings.items()):
            found.append(line["figures"][figure]["median"])
    assert found
    return found


def test_the_memory_study_is_repeated(tmp_path: Path) -> None:
    results = results_of("memory", tmp_path)
    # An unsplit object has one branch: fewer baskets, and smaller ones with little memory.
    assert max(figures(results, "copying", "baskets", split_level="0")) < min(
        figures(results, "copying", "baskets", split_level="99")
    )
    whole = {"split_level": "0", "basket": "1kB"}
    assert figures(results, "small", "baskets", basket_memory="1MB", **whole) > figures(
        results, "small", "baskets", basket_memory="4MB", **whole
    )
    # Every layout has a cost for one more stream, between nothing and the stream's data.
    costs = [cost["slope"] for cost in results["series"]["streams-basketry"]["streams"] if cost["metric"] == "copy_rss"]

    assert len(costs) == 13
    assert all(0 < cost < 20e6 for cost in costs)


def test_the_baskets_study_is_repeated(tmp_path: Path) -> None:
    results = results_of("baskets", tmp_path)
    (plain,) = figures(results, "clusters", "baskets", name="50 MB")
    (one,) = figures(results, "clusters", "baskets", name="50 MB, one basket per cluster")
    (clusters,) = figures(results, "clusters", "clusters", name="50 MB, one basket per cluster")
    assert one == 248 * clusters < plain
    for cluster in ("2MB", "4MB", "6MB"):
        codecs = ("lzma:9", "zlib:9", "zlib:7", "none")
        sizes = [figures(results, "codecs", "size", cluster=cluster, compression=codec)[0] for codec in codecs]
        assert sizes == sorted(sizes)
        assert sizes[0] < 0.5 * sizes[-1]


def test_the_containers_study_is_repeated(tmp_path: Path) -> None:
    results = results_of("containers", tmp_path)
    for label, flushed in (("esd", 5), ("aod", 10)):
        entries = results["series"][f"{label}-basketry"]["head"]["subject"]["entries"]
        name = f"not split but for two, flush {flushed}" if label == "esd" else f"not split, flush {flushed}"
        assert figures(results, label, "clusters", name=name) == [math.ceil(entries / flushed)]
        # A selected event needs only its own cluster.
        (large,) = figures(results, label, "sparse_bytes", name="split, 30 MB")
        (small,) = figures(results, label, "sparse_bytes", name=name)
        assert small < 0.6 * large
    # The pages' tables have every point.
    for block, points in (("esd-reading-basketry", 3), ("aod-reading-basketry", 3)):
        rows = [line for line in results["blocks"][block] if line.startswith("| ")]
        assert len(rows) == 2 + points


def test_the_parallel_study_measures_trees_and_rntuples(tmp_path: Path) -> None:
    results = results_of("parallel", tmp_path)
    series = results["series"]
    trees = [label for label in series if not label.startswith("ntuple-")]
    assert {f"ntuple-{label}" for label in trees} == series.keys() - set(trees)
    for label in trees:
        for tree, ntuple in zip(series[label], series[f"ntuple-{label}"], strict=True):
            assert "ttree" in tree["command"]
            assert "rntuple" in ntuple["command"]
            # Columns byte by byte compress better.
            assert "lz4:4" not in label or ntuple["output_bytes"] < tree["output_bytes"]
    for label in ("live", "ntuple-live"):
        assert all(reading["right"] for run in series[label] for of in run["readings"].values() for reading in of)
    for label in ("timelines", "ntuple-timelines"):
        for run in series[label]:
            (facts,) = run["facts"]
            stages = {stretch["stage"] for stretch in facts["timeline"]}
            assert {"filling", "encoding", "writing"} <= stages
            # A thread does one thing at a time.
            for thread in {stretch["thread"] for stretch in facts["timeline"]}:
                own = sorted((s["begin"], s["end"]) for s in facts["timeline"] if s["thread"] == thread)
                assert all(one[1] <= later[0] + 1e-6 for one, later in itertools.pairwise(own))

    # Every table has its rows.
    for block in ("memory", "budgets", "limits"):
        assert len(rows_of(results, block)) in (4, 6)
        assert not any("| - |" in row for row in rows_of(results, block))
    for kind in ("single", "multi"):
        rows = rows_of(results, f"{kind}-speed")
        assert {"none", "lz4:4"} <= {row.split("|")[2].strip() for row in rows}
        assert all("→" in row for row in rows)
    assert [row.split("|")[1].strip() for row in rows_of(results, "branches-none")] == ["1 x 100", "50 x 2"]
    assert not list(tmp_path.rglob("write-bench-*")), "measured files are left behind"


needs_library = pytest.mark.skipif(bool(is_missing("g++")), reason=is_missing("g++"))


def cells_of(results: Any, block: str) -> list[list[str]]:
    """The cells of a table's rows."""
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows_of(results, block)]


@needs_library
def test_the_job_of_a_framework_is_measured(tmp_path: Path) -> None:
    results = results_of("framework", tmp_path)
    own = [way.label for way in framework.WAYS if not way.is_root]
    jobs = cells_of(results, "jobs")
    assert [tuple(row[:2]) for row in jobs] == [(label, str(n)) for n in framework.threads() for label in own]
    for label, count, *figures in jobs:
        utilisation, bytes_written = float(figures[2]), figures[4]
        assert 0 < utilisation < 1.1, (label, count)
        assert bool(bytes_written) == (label in ("addresses", "addresses, RNTuple"))
    assert [row[0] for row in cells_of(results, "checks")] == ["addresses", "addresses, RNTuple"]


@needs_library
def test_the_outputs_of_a_frameworks_job_are_its_events(tmp_path: Path) -> None:
    program = native.without_root("framework")
    for container in ("ttree", "rntuple"):
        (tmp_path / container).mkdir()
        words: list[Argument] = [program, "addresses", tmp_path / container, "--container", container]
        done = command.run([*words, "--events", "57", "--cluster", "10", "--work", "1", "--sums"])
        assert done.code == 0, str(done)
        sums = json.loads(done.out)["sums"]
    for tier, expected in zip(framework.TIERS, sums, strict=True):
        tree, ntuple = (tmp_path / container / f"{tier}.root" for container in ("ttree", "rntuple"))
        with uproot.open(tree) as file:
            leaves = [branch for branch in file["Events"].itervalues() if not branch.branches]
            assert sum(float(ak.sum(branch.array())) for branch in leaves) == expected
        numbers = list(range(57))
        assert (
            read_by_root(tree, "Events", ["number"])
            == read_by_root(ntuple, "Events", ["number"])
            == {"number": numbers}
        )
        assert command.run([BINARY, "verify", tree, ntuple]).code == 0


@needs_library
@pytest.mark.only_full
def test_root_reads_what_every_job_of_a_framework_wrote(tmp_path: Path) -> None:
    done = studies("--only", "framework", "--quick", "-o", tmp_path, timeout=1200.0)
    assert done.code == 0, str(done)
    results = json.loads((tmp_path / "framework" / "results.json").read_text())
    checks = cells_of(results, "checks")
    assert [row[0] for row in checks] == [way.label for way in framework.WAYS if way.writes]
    assert all(cell.startswith("the same in ") for row in checks for cell in row[2:])


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    for options, expected in ((["--only", "fame"], "no study fame"), (["--scale", "0"], "--scale is more than 0")):
        done = studies(*options, "-o", tmp_path)
        assert done.code == 2
        assert expected in done.err


def test_results_that_are_kept_are_published_again_and_a_failure_stops_nothing(tmp_path: Path) -> None:
    pages, kept = tmp_path / "pages", tmp_path / "out"
    shutil.copytree(PAGES, pages)
    blocks = {key: lines.strip().splitlines() for key, lines in BLOCK.findall((pages / "memory.md").read_text())}
    # Another run.
    blocks["streams"] = [line.replace("|  |", "| again |", 1) for line in blocks["streams"]]
    (kept / "memory").mkdir(parents=True)
    (kept / "memory" / "results.json").write_text(json.dumps({"blocks": blocks}))
    done = studies("--only", "memory", "--kept", "-o", kept, "--pages", pages)
    assert done.code == 0, str(done)
    assert "| again |" in (pages / "memory.md").read_text()
    assert outside((pages / "memory.md").read_text()) == outside((PAGES / "memory.md").read_text())

    # A file where a study wants to make a folder: it fails, the other one is measured and published.
    (kept / "predictions").write_text("")
    options: list[Argument] = [
        "--only",
        "predictions",
        "--only",
        "bottlenecks",
        "--quick",
        "--no-root",
        "-o",
        kept,
        "--pages",
        pages,
    ]
    done = studies(*options, timeout=1200.0)
    assert done.code == 1
    assert "failed: predictions" in done.err
    assert "(quick form)" in (pages / "bottlenecks.md").read_text()
    assert "(quick form)" not in (pages / "predictions.md").read_text()


def test_large_files_stay_within_the_bar(tmp_path: Path) -> None:
    results = results_of("large", tmp_path)
    rows = rows_of(results, "clusters")
    assert len(rows) == 26
    assert {row.split("|")[-2].strip() for row in rows_of(results, "file")} == {"yes", ""}
    assert len(rows_of(results, "entries")) == 6


def test_sparse_files_stay_within_the_bar(tmp_path: Path) -> None:
    results = results_of("sparse", tmp_path)
    for block in ("zeros-ttree", "zeros-rntuple"):
        assert {row.split("|")[-2].strip() for row in rows_of(results, block)} == {"yes", ""}
    if shutil.which("g++"):
        (what,) = (line for line in results["blocks"]["zeros-ttree"] if line.startswith("24 entries"))
        # Zeros take no space on the disk.
        assert "(0.00 GB on the disk)" in what


def test_the_simulation_of_threads_has_its_check(tmp_path: Path) -> None:
    results = results_of("scaling", tmp_path)
    jobs = [job["name"] for job in results["jobs"]]
    for block in ("services", "check", "threads"):
        assert [row.split("|")[1].strip() for row in rows_of(results, block)] == jobs
    for row in rows_of(results, "threads"):
        gains = [float(cell) for cell in row.split("|")[2:7]]
        assert gains[0] == 1
        assert all(1 <= gain <= threads + 0.01 for gain, threads in zip(gains, (1, 2, 4, 8, 16), strict=True))


@pytest.mark.parametrize(
    ("job", "seconds"),
    [
        # All of the work can be divided, but for the beginning of the first and the end of the last task.
        (Job(tasks=100, make=1.0, finish=0.0, pieces=10, commit=0.0), {1: 100.0, 2: 50.0, 4: 25.0}),
        (Job(tasks=1, make=0.0, finish=8.0, pieces=8, commit=0.0), {1: 8.0, 2: 4.0, 16: 1.0}),
        # One after the other.
        (Job(tasks=10, make=0.0, finish=0.0, pieces=1, commit=2.0), {1: 20.0, 8: 20.0}),
        (Job(tasks=10, make=1.0, finish=0.0, pieces=1, commit=1.0, in_flight=1), {1: 20.0, 8: 20.0}),
        # The order sets the pace, once the first task is there.
        (Job(tasks=10, make=1.0, finish=0.0, pieces=1, commit=1.0), {1: 20.0, 2: 11.0, 8: 11.0}),
        # Two orders beside each other.
        (Job(tasks=10, make=0.0, finish=0.0, pieces=1, commit=2.0, lanes=2), {1: 20.0, 2: 10.0, 8: 10.0}),
        (Job(tasks=4, make=1.0, finish=0.0, pieces=1, commit=0.0, before=3.0), {1: 7.0, 4: 4.0}),
    ],
)
def test_simulated_threads_take_the_time_that_their_work_takes(job: Job, seconds: dict[int, float]) -> None:
    assert {threads: simulated(job, threads) for threads in seconds} == pytest.approx(seconds)
