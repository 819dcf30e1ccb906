"""Histograms of any number of dimensions of which only one input keeps squares of weights: the sums count both.

ROOT adds the 0 and the -1 that stand where sums are not kept, so hadd is no referee for the sums of the whole. ROOT is
one for the bins of both inputs: weights that nobody squared are 1, and a bin's content is its sum of squares.
"""

import contextlib
from pathlib import Path

import pytest

from referee import make_files
from referee.command import Basketry
from referee.root_server import RootServer


@pytest.mark.parametrize("turned", [False, True])
def test_sums_of_the_whole_count_both_inputs(basketry: Basketry, tmp_path: Path, turned: bool) -> None:
    sources = sorted(make_files.made("half_weighted").glob("half_weighted?.root"), reverse=turned)
    merged = tmp_path / "merged.root"
    basketry("merge", *sources, "-o", merged)
    with contextlib.closing(RootServer("nd_sums")) as root:
        inputs = [root.of(path) for path in sources]
        output = root.of(merged)
    assert len(output) == 20
    for name, found in output.items():
        both = [answer[name] for answer in inputs]
        squares = any(one["squares"] for one in both)
        assert found["squares"] == squares, name
        assert found["entries"] == sum(one["entries"] for one in both), name
        bins = [sum(numbers) for numbers in zip(*(one["bins"] for one in both), strict=True)]
        assert found["bins"] == pytest.approx(bins, rel=1e-5), name
        if squares:
            sums = zip(*(one["kept"] if one["squares"] else one["bins"] for one in both), strict=True)
            assert found["kept"] == pytest.approx([sum(numbers) for numbers in sums], rel=1e-9, abs=1e-12), name
            assert found["kept"][:2] == pytest.approx(found["bins"][:2], rel=1e-5), name
