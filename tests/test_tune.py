"""`tune`: a small file gets smaller or cheaper to read, within its limits, and the report says so."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
import uproot

from referee.command import Basketry

ENTRIES = 60_000


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree whose columns want different codecs: noise, few values, all the same."""
    path = tmp_path_factory.mktemp("tune") / "flat.root"
    random = numpy.random.default_rng(1)
    columns: dict[str, Any] = {
        "noise": random.random(ENTRIES),
        "rounded": numpy.round(random.exponential(30.0, ENTRIES), 1).astype("f4"),
        "few": random.integers(0, 5, ENTRIES, dtype="i4"),
        "same": numpy.zeros(ENTRIES, dtype="i4"),
    }
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("Events", {name: values.dtype for name, values in columns.items()})
        for start in range(0, ENTRIES, 5000):
            tree.extend({name: values[start : start + 5000] for name, values in columns.items()})
    return path


def test_the_result_is_smaller_and_cheaper_and_equal(flat: Path, basketry: Basketry, tmp_path: Path) -> None:
    output, layout = tmp_path / "tuned.root", tmp_path / "layout.toml"
    report = basketry.json("tune", flat, "-o", output, "--layout-out", layout)
    assert report["schema"] == 1
    proof = report["proof"]
    assert proof["equal"]
    assert proof["within_size"]
    assert not proof["differences"]
    assert proof["size"]["measured"] == output.stat().st_size <= flat.stat().st_size
    assert abs(proof["size"]["expected"] / proof["size"]["measured"] - 1) < 0.1
    assert report["chosen"]["read"] < report["today"]["read"]
    assert report["gap"] < 0.01
    for name in ("noise", "rounded", "few", "same"):
        with uproot.open(flat) as before, uproot.open(output) as after:
            left, right = (f["Events"][name].array(library="np") for f in (before, after))
            assert (left == right).all(), name
    (tmp_path / "again").mkdir()
    again = tmp_path / "again" / output.name
    basketry("rewrite", flat, "-o", again, "--layout", layout)
    assert again.read_bytes() == output.read_bytes()


def test_limits_that_cannot_be_met_are_an_answer(flat: Path, basketry: Basketry, tmp_path: Path) -> None:
    output = tmp_path / "none.root"
    outcome = basketry.run("tune", flat, "-o", output, "--max-size", "0.1x")
    assert outcome.code == 1, str(outcome)
    assert "--max-size" in outcome.out
    assert "the nearest that would do is" in outcome.out
    assert not output.exists()


def test_a_little_beyond_the_nearest_limit_is_met(flat: Path, basketry: Basketry) -> None:
    refused = basketry.run("tune", flat, "--max-size", "0.1x", "--json")
    assert refused.code == 1, str(refused)
    limit = next(limit for limit in json.loads(refused.out)["limits"] if limit["name"] == "--max-size")
    met = basketry.json("tune", flat, "--max-size", f"{int(limit['nearest']['value'] * 1.01)}B")
    assert met["chosen"]["size"] <= limit["nearest"]["value"] * 1.01


def test_a_sparse_reader_gets_smaller_baskets(flat: Path, basketry: Basketry) -> None:
    baskets = {
        workload: basketry.json("tune", flat, "--workload", workload, "--max-size", "2x")["chosen"]["baskets"]
        for workload in ("full", "sparse:0.05%")
    }
    assert baskets["sparse:0.05%"] > baskets["full"]


@pytest.mark.parametrize("arguments", [["--workload", "ful"], ["--max-size", "big"], ["--max-write-time", "soon"]])
def test_nonsense_is_refused(flat: Path, basketry: Basketry, arguments: list[str]) -> None:
    basketry.refuses("tune", flat, *arguments)
