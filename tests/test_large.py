"""Files with many clusters stay within their budget, and positions beyond 4 GiB are right."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from referee.command import Argument, Basketry, run
from studies.sparse import ROOT, numbers_and_zeros
from studies.study import compiled

MB = 1_000_000
CLUSTERS = 300_000
#: What the program takes for a small file, and what threads and the allocator add.
BESIDE = 37 * MB


@pytest.fixture(scope="module", params=["ttree", "rntuple"])
def clusters(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A table of many clusters of one entry, and beside it twice the same with all clusters."""
    path = tmp_path_factory.mktemp("clusters") / f"{request.param}.root"
    size = ["--size", f"{8 * CLUSTERS}B", "--cluster", "1"]
    basketry("generate", "single", "--container", request.param, *size, "-q", "-o", path)
    basketry("merge", path, path, "--pack", "0B", "-q", "-o", path.with_name("merged.root"))
    return path


@pytest.mark.parametrize("verb", ["verify", "merge", "readspeed", "recover"])
def test_clusters_count_in_the_budget(basketry: Basketry, clusters: Path, tmp_path: Path, verb: str) -> None:
    """A million clusters of an RNTuple took up to 843 MB in a budget of 256 MB, and their recovery 499 MB."""
    merged, out = clusters.with_name("merged.root"), ["-f", "-q", "-o", tmp_path / "out.root"]
    job: list[Argument] = {
        "verify": ["verify", clusters, clusters, merged],
        "merge": ["merge", clusters, clusters, *out],
        "readspeed": ["readspeed", clusters],
        "recover": ["recover", clusters, *out],
    }[verb]  # type: ignore[assignment]
    refused = basketry.run(*job, "--memory", "12MB")
    named = re.search(r"--memory (\d+)MB", refused.err)
    memory = int(named[1]) if named else 12
    outcome = basketry.run(*job, "--memory", f"{memory}MB")
    assert outcome.code == 0, str(outcome)
    assert outcome.peak_rss <= memory * MB + BESIDE, f"{outcome}\npeak {outcome.peak_rss / MB:.0f} MB of {memory}"


@pytest.mark.only_full
@pytest.mark.skipif(shutil.which("g++") is None, reason="the library that leaves holes is compiled")
@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_root_reads_entries_beyond_4_gib(basketry: Basketry, tmp_path: Path, container: str) -> None:
    """The file has blocks of zeros, for which the disk keeps no space."""
    part, big = tmp_path / "part.root", tmp_path / "big.root"
    entries, parts = 250, 18
    numbers_and_zeros(part, container, entries)
    library = str(compiled(tmp_path, "sparse"))
    basketry.within(LD_PRELOAD=library)("merge", *[part] * parts, "-o", big, "-q", "--memory", "64MB")
    about = big.stat()
    assert about.st_size > 4 << 30
    assert about.st_blocks * 512 < about.st_size / 10
    basketry("verify", *[part] * parts, big, "--memory", "64MB", timeout=600.0)
    asked: list[Argument] = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        ROOT,
        big,
        container,
        str(entries * parts),
        str(entries),
    ]
    assert run(asked, timeout=600.0).out.split()[-1:] == ["5"]
