"""Sweeps: every job of a small grid runs, by basketry and by ROOT; a stopped sweep resumes; refusals."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from basketry import reports
from basketry.reports.parse import parse
from referee.command import Argument, Basketry
from referee.paths import BINARY, root_command

GRID = ("--grid", "compression=as-is,lz4:4", "--grid", "basket=2kB,32kB", "--streams", "1,2")


@pytest.fixture(scope="module")
def data(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file."""
    path = tmp_path_factory.mktemp("sweep") / "in.root"
    basketry("generate", "multi", "--size", "2MB", "--branches", "20", "--compression", "zlib:1", "-o", path)
    return path


def lines(folder: Path) -> list[dict[str, Any]]:
    """The journal."""
    journal = folder / "journal.jsonl"
    return [json.loads(line) for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]


def test_every_job_is_run_and_recorded(basketry: Basketry, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = basketry.json("sweep", data, "-o", out, *GRID, "--repeat", "2", "--columns", "ev1*", "--keep")
    # The grid's, and today's layout.
    assert len(result["lines"]) == 8 + 1
    assert result["lines"][8]["point"]["name"] == "today"
    # A copy for each in a round; points that differ only in streams share four kinds of reading.
    assert len(lines(out)) == 2 * (9 + 5 * 4)
    for line in result["lines"]:
        figures = {name: figure["median"] for name, figure in line["figures"].items()}
        assert figures["copy_rss_record"] >= figures["copy_rss"] > 1e6
        assert figures["copy_vsize_record"] >= figures["copy_vsize"] > figures["copy_rss"]
        assert all(figures[f"{kind}_cpu"] > 0 for kind in ("copy", "full", "columns", "sparse", "chosen"))
        assert len(line["columns"]) == 20
    sizes = [line["figures"]["size"] for line in result["lines"]]
    assert all(size["least"] == size["most"] for size in sizes)
    baskets = [line["figures"]["baskets"]["median"] for line in result["lines"]]
    assert baskets[0] > baskets[2]
    assert {cost["metric"] for cost in result["streams"]} >= {"copy_rss", "copy_cpu"}
    assert result["decision"]["chosen"] is not None
    # The copies hold the same entries, and the one-record tree.
    for point in (0, 2, 4, 6):
        basketry("verify", f"{data}:Events", f"{out / f'point-{point}.root'}:Events")

    assert basketry.json("inspect", f"{out / 'point-0.root'}:basketry_records")["trees"][0]["entries"] == 1
    assert json.loads((out / "result.json").read_text()) == result
    assert "cost of one more stream" in basketry("sweep", "show", out)
    assert basketry("sweep", "show", out, "--format", "csv").startswith("point,compression,basket,streams,figure,")
    assert basketry.json("sweep", "show", out) == result


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_sweep_resumes(data: Path, basketry: Basketry, tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "out"
    command: list[Argument] = ["sweep", data, "-o", out, *GRID, "--repeat", "3", "--only", "copy", "-q"]
    with subprocess.Popen([BINARY, *command], stderr=subprocess.DEVNULL) as child:
        # At a point of progress, not of time: three of 27 jobs are in the journal.
        while not (out / "journal.jsonl").exists() or len(lines(out)) < 3:
            assert child.poll() is None
            time.sleep(0.001)
        # Only the sweep gets the signal; its job ends with it.
        child.send_signal(how)
    assert child.returncode == (130 if how == signal.SIGINT else -how)
    before = lines(out)
    result = json.loads(basketry(*command, "--json"))
    after = lines(out)

    assert after[: len(before)] == before
    assert len(after) == 27
    assert len({(line["round"], line["point"], line["kind"]) for line in after}) == 27
    assert len(result["lines"]) == 9
    assert not list(out.glob("*.root")) + list(out.glob(".*"))


def test_root_copies_and_reads(data: Path, basketry: Basketry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    monkeypatch.setenv("ROOTSYS", str(root_command("root.exe").parent.parent))
    out = tmp_path / "out"
    # Unsplitting objects needs a dictionary.
    grid = ("--grid", "split-level=0", "--grid", "basket=2kB", "--streams", "1,2", "--repeat", "1", "--pick", "5%")
    result = basketry.json("sweep", data, "-o", out, *grid, "--runner", "root", "--keep")
    assert result["head"]["versions"]["root"].startswith("6.")
    ours = basketry.json("sweep", data, "-o", tmp_path / "ours", *grid)
    for line, own in zip(result["lines"], ours["lines"], strict=True):
        figures, other = ({name: figure["median"] for name, figure in x["figures"].items()} for x in (line, own))
        # ROOT's own memory alone exceeds basketry's.
        assert figures["copy_rss_record"] >= figures["copy_rss"] > other["copy_rss_record"]
        assert all(figures[f"{kind}_cpu"] > 0 for kind in ("copy", "full", "columns", "sparse"))
        assert figures["size"] == pytest.approx(other["size"], rel=0.25)
        assert figures["baskets"] == pytest.approx(other["baskets"], rel=0.25)
        assert len(line["columns"]) == 20
    runs = [(line["kind"], line["measured"]["entries"]) for line in lines(out)]
    assert sorted(runs) == sorted((line["kind"], line["measured"]["entries"]) for line in lines(tmp_path / "ours"))
    basketry("verify", f"{data}:Events", f"{out / 'point-0.root'}:Events")


def test_wrong_arguments_are_refused(basketry: Basketry, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    wrong: list[tuple[list[Argument], str]] = [
        ([data, "-o", out], "no grid"),
        ([data, "-o", out, "--grid", "baskets=1"], "unknown key"),
        ([data, "-o", out, "--grid", "basket=1kB", "--max-size", "small"], "is not a limit"),
        ([data, "-o", out, "--grid", "basket=1kB", "--goal", "fame"], "is no goal"),
        ([f"{data}:Nothing", "-o", out, "--grid", "basket=1kB"], "Nothing"),
        ([data, "-o", out, "--grid", "basket=1kB", "--columns", "nothing*"], "no column of Events"),
        (["show", tmp_path / "nowhere"], "nowhere"),
    ]

    for arguments, expected in wrong:
        assert expected in basketry.refuses("sweep", *arguments)
    assert not out.exists() or not list(out.iterdir())


def test_a_dry_run_measures_nothing(basketry: Basketry, data: Path, tmp_path: Path) -> None:
    expected = basketry.json("sweep", data, "-o", tmp_path / "out", *GRID, "--dry-run", "--entries", "100")
    assert expected["points"] == 9
    assert expected["jobs"] == 5 * (9 + 3 * 5)
    assert expected["seconds"] > 0
    assert not (tmp_path / "out" / "journal.jsonl").exists()
    # Some kinds of reading, without the kind that needs named columns.
    few = ("--dry-run", "--repeat", "1", "--only", "full,sparse,chosen")

    assert basketry.json("sweep", data, "-o", tmp_path / "out", *GRID, *few)["jobs"] == 2 * 5


def test_the_package_sweeps_as_the_command_does(data: Path, basketry: Basketry, tmp_path: Path) -> None:
    grid = {"compression": ["as-is", "lz4:4"], "split_level": 99}
    options: Any = {"streams": [1, 2], "repeat": 1, "only": ("copy", "full"), "entries": 500, "pick": 0.5}
    expected = bk.sweep(data, tmp_path / "one", grid=grid, dry_run=True, **options)
    assert (expected.points, expected.jobs) == (5, 8)
    jobs: list[int] = []
    found = bk.sweep(data, tmp_path / "one", grid=grid, progress=lambda done, _: jobs.append(done), **options)
    # And the copies that are read, and the jobs of the estimate.
    assert jobs == list(range(1, len(jobs) + 1))
    assert len(jobs) >= expected.jobs + 3
    assert isinstance(found, reports.Sweep)
    assert parse(reports.Sweep, (tmp_path / "one" / "result.json").read_text()) == found
    assert [line.point.streams for line in found.lines] == [1, 2, 1, 2, 1]
    words = ["--grid", "compression=as-is,lz4:4", "--grid", "split-level=99", "--streams", "1,2", "--repeat", "1"]
    words += ["--only", "copy,full", "--entries", "500", "--pick", "0.5"]
    theirs = basketry.json("sweep", data, "-o", tmp_path / "two", *words)
    for name in ("size", "baskets", "clusters"):
        ours = [line.figures[name].median for line in found.lines]
        assert ours == [line["figures"][name]["median"] for line in theirs["lines"]]
    # The sweep resumes at the end.
    journal = (tmp_path / "one" / "journal.jsonl").read_bytes()
    assert bk.sweep(data, tmp_path / "one", grid=grid, **options) == found
    assert (tmp_path / "one" / "journal.jsonl").read_bytes() == journal
    with pytest.raises(TypeError, match="streams"):
        bk.sweep(data, tmp_path / "three", steams=[1])  # type: ignore[call-overload]


def test_the_command_of_the_package_starts_itself(tmp_path: Path) -> None:
    words = ["write-bench", "single", "--size", "1MB", "--threads", "1,2", "--compression", "none", "--repeat", "1"]
    words += ["--media", str(tmp_path)]
    command = [sys.executable, "-m", "basketry", *words, "--json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert [line["threads"] for line in json.loads(done.stdout)["lines"]] == [1, 2]
