"""Files that are read while another process writes them: readers in processes of their own see saved entries, more and
more of them, and each value is right."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import basketry as bk
from referee.command import Basketry
from referee.paths import REPO

READERS = ("basketry", "uproot", "ROOT")
#: Different numbers of entries that a reader must find.
STATES = 3


@contextmanager
def reader(name: str) -> Iterator[subprocess.Popen[str]]:
    """The reading process of the studies, which tells of each reading."""
    command = [sys.executable, "-W", "ignore", str(REPO / "studies" / "live_reader.py"), name]
    with subprocess.Popen(
        command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        process.kill()


def told(process: subprocess.Popen[str]) -> Any:
    """The next line of a reader."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the reader ended"
    return line.strip()


def follow(process: subprocess.Popen[str], path: Path) -> None:
    """Lets a reader read a file again and again."""
    assert process.stdin is not None
    process.stdin.write(f"{path}\n")
    process.stdin.flush()


@pytest.fixture(scope="module")
def whole(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The beginning of the column that the readers read: entries depend on their place alone."""
    path = tmp_path_factory.mktemp("whole") / "whole.root"
    basketry("generate", "multi", "--size", "80MB", "--compression", "none", "-q", "-o", path)
    return np.ascontiguousarray(ak.to_numpy(ak.flatten(bk.open(f"{path}:Events")["ev0/ev0.energy"].array(), axis=None)))


@pytest.mark.parametrize("name", READERS)
def test_a_reader_sees_more_and_more_of_a_file_that_is_written(
    name: str, whole: Any, basketry: Basketry, tmp_path: Path
) -> None:
    options = ["--size", "200MB", "--autoflush", "0.2%", "--autosave", "0.4%", "--rate", "5MB", "-q", "-j", "2"]
    found: dict[str, dict[int, str]] = {"ttree": {}, "rntuple": {}}
    with reader(name) as process:
        assert told(process) == "ready"
        for container, states in found.items():
            out = tmp_path / f"{container}.root"
            with subprocess.Popen(
                [basketry.binary, "generate", "multi", "-o", out, "--container", container, *options]
            ) as job:
                follow(process, out.with_name(f".{out.name}.{job.pid}.tmp"))
                while len(states) < STATES:
                    assert job.poll() is None, states
                    # Before the first save there is nothing to read, and a reading may meet a save.
                    reading = json.loads(told(process))
                    if reading["values"]:
                        states[reading["values"]] = reading["digest"]
                assert not out.exists()
                job.terminate()
            # The end of this file.
            follow(process, Path())
            while told(process):
                pass

    for states in found.values():
        for values, digest in states.items():
            assert values <= len(whole)
            assert hashlib.sha256(whole[:values].tobytes()).hexdigest() == digest
