"""The common part of the sections: their list, their output and samples, and the codec libraries as a contender."""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import history
import inputs
from measure import ROUNDS, Contender, compare, in_page_cache, machine
from referee.paths import BINARY, REPO

Section = Callable[["Bench"], None]
SECTIONS: dict[str, Section] = {}


def section(function: Section) -> Section:
    """Registers a section under its function's name."""
    SECTIONS[function.__name__] = function
    return function


class Bench:
    """Collects the output and the samples of the sections, and leaves the samples in the history."""

    def __init__(self, quick: bool, folder: Path) -> None:
        self.quick = quick
        self.rounds = 1 if quick else ROUNDS
        self.results: dict[str, Any] = {"schema": 1, "machine": machine(), "sections": {}}
        self.section = ""
        self.history = history.Writer(folder, self.results["machine"], quick=quick)

    def say(self, *lines: str) -> None:
        """Prints Markdown."""
        for line in lines:
            print(line, flush=True)

    def compare(self, label: str, contenders: list[Contender], rounds: int | None = None) -> dict[str, Contender]:
        """Runs contenders in turn, keeps the samples, and returns those that finished, by name."""
        done = compare(contenders, rounds or self.rounds)
        records = [contender.record() for contender in done]
        self.results["sections"].setdefault(self.section, {})[label] = records
        self.history.add(self.section, label, records)
        return {contender.name: contender for contender in done}


def bare_codec() -> Path | None:
    """The example that decompresses and compresses the same blocks with the libraries alone."""
    return built_example("bare_codec")


def built_example(name: str) -> Path | None:
    """One of flow's examples, in the profile of the measured command."""
    profile = BINARY.parent.name if BINARY.parent.parent == REPO / "target" else "release"
    built = subprocess.run(
        ["cargo", "build", "--profile", profile, "-q", "-p", "basketry-flow", "--example", name],
        cwd=REPO, capture_output=True, text=True, check=False,
    )  # fmt: skip
    path = REPO / "target" / profile / "examples" / name
    if built.returncode or not path.exists():
        print(f"no {name} to compare with: {built.stderr.strip()}", flush=True)
        return None
    return path


def megabytes(bench: Bench, codec: str) -> int:
    """Bytes to read; a quarter suffices for the slowest codec."""
    return 8 if bench.quick else 50 if codec.startswith("lzma") else 200


def read_files(bench: Bench, codecs: Sequence[str] = inputs.READ_CODECS) -> Iterator[tuple[str, str, Path]]:
    """The files to read with their kinds and codecs, each in the page cache."""
    for kind in inputs.READ_KINDS:
        for codec in codecs:
            path = inputs.read(kind, codec, megabytes(bench, codec))
            in_page_cache(path)
            yield kind, codec, path


def report(path: Path, *options: str) -> Any:
    """The report of readspeed on a file; "uncompressed" are the bytes of a full read, by ROOT's count."""
    done = subprocess.run([BINARY, "readspeed", "--json", path, *options], capture_output=True, check=True)
    return json.loads(done.stdout)
