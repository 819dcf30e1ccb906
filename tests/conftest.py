"""Fixtures: the binary under test, its referees, and the corpus."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee import browser, entry_bytes, paths, values
from referee.browser import Browser
from referee.command import Basketry
from referee.durations import Durations
from referee.readers import Readers
from referee.root_server import RootServer
from servers.fixtures import delayed as delayed
from servers.fixtures import nginx_server as nginx_server
from servers.fixtures import odd_server as odd_server
from servers.fixtures import s3_server as s3_server
from servers.fixtures import start_xrootd as start_xrootd
from servers.fixtures import xrootd_server as xrootd_server


def pytest_addoption(parser: pytest.Parser) -> None:
    """--full: every layout read back by every reader, for every corpus file; every corruption. --renew: snapshots are
    written, not compared."""
    parser.addoption("--full", action="store_true", help="all combinations instead of a rotation through them")
    parser.addoption("--renew", action="store_true", help="write tests/snapshots instead of comparing with them")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers, and what measures tests."""
    config.addinivalue_line("markers", "only_full: takes its turn only with --full")
    config.pluginmanager.register(Durations())


# A process that begins one of these last would work alone at the end (build/tests/durations.tsv).
LONG = {
    "test_planted_bottlenecks_are_found",
    "test_rntuples_of_the_corpus_in_new_clusters_and_pages",
    "test_root_shows_the_same_of_rewritten_rntuples",
    "test_the_parallel_study_measures_trees_and_rntuples",
    "test_the_shapes_of_the_validation_suite_become_trees_and_come_back",
    "test_the_wheel_installs_and_works_without_a_compiler",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts long tests first, and leaves out tests of a full run, unless --full is given."""
    items.sort(key=lambda item: getattr(item, "originalname", "") not in LONG)
    if config.getoption("--full"):
        return
    left_out = [item for item in items if item.get_closest_marker("only_full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("only_full")]


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether --full was given."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def basketry() -> Basketry:
    """The command under test."""
    if not paths.BINARY.is_file():
        pytest.fail(f"{paths.BINARY} is missing: run `make build`, or set BASKETRY_BIN", pytrace=False)
    return Basketry(paths.BINARY)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The corpus folder; the test is skipped where it is absent."""
    if not paths.corpus_is_here():
        pytest.skip(f"no corpus at {paths.CORPUS} (BASKETRY_CORPUS names another place)")
    return paths.CORPUS


@pytest.fixture(scope="session")
def readers(corpus: Path) -> Iterator[Readers]:
    """ROOT and uproot, reading values with the corpus' own script."""
    assert corpus.is_dir()
    with contextlib.closing(Readers()) as both:
        yield both


@pytest.fixture(scope="session")
def root_bytes() -> Iterator[RootServer]:
    """ROOT, hashing the bytes of entries."""
    with contextlib.closing(entry_bytes.server()) as server:
        yield server


@pytest.fixture(scope="session")
def root_values() -> Iterator[RootServer]:
    """ROOT, turning everything into values."""
    with contextlib.closing(values.server()) as server:
        yield server


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file by uproot with several baskets: numbers, fixed arrays, lists, strings, truth values."""
    import awkward as ak
    import numpy as np
    import uproot

    path = tmp_path_factory.mktemp("made") / "made.root"
    generator = np.random.default_rng(1)
    kinds = {"i": np.int32, "x": np.float64, "fixed": np.dtype((np.float32, (2, 3))), "flag": np.bool_}
    with uproot.recreate(path) as file:
        tree = file.mktree("dir/t", kinds | {"v": "var * float32"})
        for step in range(5):
            n = 100 + step
            counts = generator.integers(0, 4, n)
            tree.extend(
                {
                    "i": np.arange(n, dtype=np.int32) + 1000 * step,
                    "x": generator.random(n),
                    "fixed": generator.random((n, 2, 3)).astype(np.float32),
                    "flag": generator.random(n) < 0.5,
                    "v": ak.unflatten(generator.random(counts.sum()).astype(np.float32), counts),
                }
            )
    return path


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser; skipped where none is installed."""
    if browser.found() is None:
        pytest.skip("no chromium (apt-get install chromium)")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
