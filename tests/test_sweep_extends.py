"""A sweep is extended by goals, points and repeats, in one journal; the order of a grid decides nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from referee.command import Basketry


@pytest.fixture(scope="module")
def data(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file."""
    path = tmp_path_factory.mktemp("sweep") / "in.root"
    basketry("generate", "multi", "--size", "1MB", "--branches", "5", "--compression", "zlib:1", "-o", path)
    return path


def journal(folder: Path) -> list[tuple[str, str, int]]:
    """The measured jobs: their points, kinds and rounds."""
    head = json.loads((folder / "sweep.json").read_text())
    names = [" ".join(each["value"] for each in point["settings"]) for point in head["points"]]
    found = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [(names[line["point"]], line["kind"], line["round"]) for line in found]


def test_only_what_is_missing_is_measured(basketry: Basketry, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def sweep(grid: str, *options: str) -> Any:
        return basketry.json("sweep", data, "-o", out, "--grid", grid, "--only", "copy,full", *options)

    sweep("compression=none,lz4:4", "--repeat", "1")
    first = journal(out)
    # Of the two and today's layout, a copy and a reading.
    assert len(first) == 3 * 2
    # Another goal, and another order of the values: nothing is measured.
    size = sweep("compression=lz4:4,none", "--repeat", "1", "--goal", "size")
    assert (size["decision"]["goal"], journal(out)) == ("size", first)
    # A point, and a repeat.
    expected = sweep("compression=lz4:4,lzma:9", "--repeat", "2", "--dry-run")
    assert (expected["points"], expected["jobs"]) == (3, 8)
    found = sweep("compression=lz4:4,lzma:9", "--repeat", "2", "--goal", "size,copy")
    second = journal(out)
    assert second[: len(first)] == first
    assert sorted(second[len(first) :]) == sorted(
        [(name, kind, turn) for name in ("lzma:9",) for kind in ("copy", "full") for turn in (0, 1)]
        + [(name, kind, 1) for name in ("lz4:4", "as-is") for kind in ("copy", "full")]
    )
    assert [found["decision"]["goal"], *(each["goal"] for each in found["further"])] == ["size", "copy_cpu"]
    points = [point["settings"][0]["value"] for point in found["head"]["points"]]
    assert points[found["decision"]["chosen"]] == "lzma:9"
    assert (out / "layout.toml").read_text() == (out / "layout-size.toml").read_text()
    shown = basketry("sweep", "show", out)
    assert "best in file size: compression=lzma:9" in shown
    assert "best in copy CPU: " in shown
    for words, expected in (
        (("--seed", "2"), "another seed"),
        (("--cold",), "cold or warm"),
        (("--entries", "10"), "another part of the input"),
        (("--goal", "sparse"), "the goal sparse is measured by the job sparse"),
    ):
        refused = basketry.refuses("sweep", data, "-o", out, "--grid", "basket=1kB", "--only", "copy,full", *words)
        assert expected in refused
    assert journal(out) == second


@pytest.mark.parametrize("values", [["none", "lzma:9"], ["lzma:9", "none"]])
def test_the_order_of_the_values_decides_nothing(data: Path, tmp_path: Path, values: list[str]) -> None:
    options: Any = {"only": "copy", "repeat": 4, "goal": ["copy", "size"]}
    found = bk.sweep(data, tmp_path / "out", grid={"compression": values}, **options)
    points = [point.settings[0].value for point in found.head.points]
    chosen = [decision.chosen for decision in (found.decision, *found.further)]
    assert [points[point] for point in chosen if point is not None] == ["none", "lzma:9"]
