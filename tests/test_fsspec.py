"""Files at URLs that only fsspec knows, read through its file systems in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import basketry as bk
from referee.command import Basketry


class Counted(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory. It notes what is asked for, and may send too little."""

    protocol = "counted"
    # Of all instances: fsspec makes one for each thread.
    ranges: ClassVar[list[int]] = []
    sends_less: ClassVar[int] = 0

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace("counted://", "memory://")))

    def cat_ranges(self, paths: list[str], starts: Any, ends: Any, **options: Any) -> Any:
        """Reads ranges, and notes their number."""
        self.ranges.append(len(paths))
        found = super().cat_ranges(paths, starts, ends, **options)
        return [part[: len(part) - self.sends_less] for part in found]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> Any:
        """Reads a range for `cat_ranges`, and no whole file."""
        assert None not in (start, end), "the whole file is asked for"
        return super().cat_file(path, start, end, **options)


@pytest.fixture
def counted() -> Iterator[Counted]:
    """Its file system, empty."""
    fsspec.register_implementation("counted", Counted, clobber=True)
    Counted.ranges.clear()
    yield fsspec.filesystem("counted")
    Counted.sends_less = 0
    Counted.store.clear()


@pytest.fixture(scope="module")
def file(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of ten branches in several clusters."""
    path = tmp_path_factory.mktemp("fsspec") / "multi.root"
    basketry("generate", "multi", "--branches", "10", "--size", "4MB", "--cluster", "500kB", "-q", "-o", path)
    return path


def test_arrays_and_reports_are_those_of_the_file_here(counted: Counted, file: Path) -> None:
    counted.pipe("/d/multi.root", file.read_bytes())
    here, there = bk.open(file)["Events"], bk.open("memory://d/multi.root")["Events"]

    name = here.keys()[0]
    assert here[name].array().to_list() == there[name].array().to_list()
    ours, theirs = bk.inspect(file), bk.inspect("memory://d/multi.root")
    assert (ours.file.bytes, ours.trees[0].clusters) == (theirs.file.bytes, theirs.trees[0].clusters)
    assert theirs.file.path == "memory://d/multi.root"


def test_ranges_are_asked_for_together(counted: Counted, file: Path) -> None:
    counted.pipe("/multi.root", file.read_bytes())
    tree = bk.open("counted://multi.root:Events")
    # Begin and end of the file, and what these do not have of the metadata.
    assert len(counted.ranges) <= 2
    counted.ranges.clear()

    tree.arrays(tree.keys()[::3], library="np")

    clusters = len(tree.clusters) - 1
    assert clusters > 4
    assert len(counted.ranges) <= clusters
    assert sum(counted.ranges) >= 4 * clusters


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match=r"memory://none\.root"):
        bk.open("memory://none.root")
    with pytest.raises((OSError, ValueError), match="nosuchprotocol"):
        bk.open("nosuchprotocol://none.root")


def test_less_than_was_asked_for_is_an_error(counted: Counted, file: Path) -> None:
    counted.pipe("/multi.root", file.read_bytes())
    tree = bk.open("counted://multi.root:Events")
    Counted.sends_less = 1

    with pytest.raises(OSError, match=r"counted://multi\.root"):
        tree.arrays(library="np")
    with pytest.raises(OSError, match=r"counted://multi\.root"):
        bk.open("counted://multi.root")
