"""The oracle's lines about one file: the answers of ROOT 6.40 and uproot, tree by tree and branch by branch.

The format is documented in the corpus' README.md and make_oracle.py; this module only loads and indexes it.
"""

import functools
import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from referee.paths import CORPUS, corpus_is_here

Line = dict[str, Any]


@dataclass
class Tree:
    """One tree key: its own line, and its branches' lines by id ("2.0.1" is a path of positions)."""

    key: str
    line: Line = field(default_factory=dict)
    branches: dict[str, Line] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The key without its cycle."""
        return self.key.rpartition(";")[0]

    @property
    def cycle(self) -> int:
        """The key's cycle."""
        return int(self.key.rpartition(";")[2])

    def read_by(self, reader: str) -> bool:
        """Whether "root" or "uproot" could open the tree."""
        return bool((self.line.get(reader) or {}).get("ok"))


@dataclass
class Oracle:
    """Everything the oracle says about one file."""

    file: Line
    trees: dict[str, Tree]

    def latest(self) -> dict[str, Tree]:
        """The tree of the highest cycle under each path, which a reader gets without naming a cycle."""
        best: dict[str, Tree] = {}
        for tree in self.trees.values():
            if tree.path not in best or best[tree.path].cycle < tree.cycle:
                best[tree.path] = tree
        return best


def parse(lines: Iterable[str]) -> Oracle:
    """Indexes the JSON lines that make_oracle.py wrote for one file."""
    file: Line = {}
    trees: dict[str, Tree] = {}
    for text in lines:
        line: Line = json.loads(text)
        match line["kind"]:
            case "file":
                file = line
            case "tree":
                trees.setdefault(line["tree"], Tree(line["tree"])).line = line
            case "branch":
                trees.setdefault(line["tree"], Tree(line["tree"])).branches[line["id"]] = line
    return Oracle(file, trees)


def load(name: str) -> Oracle:
    """The stored oracle of the corpus file of that name."""
    with gzip.open(CORPUS / "oracle" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return parse(lines)


def index() -> list[Line]:
    """The corpus' files.jsonl; empty where the corpus is absent."""
    if not corpus_is_here():
        return []
    return [json.loads(text) for text in (CORPUS / "files.jsonl").read_text(encoding="utf-8").splitlines()]


@functools.cache
def covering() -> frozenset[str]:
    """Files that together have every feature of the corpus (`features` of its index), few and small ones.

    Each next file is the one with most features that are missing yet, for its size. What a usual run does with these,
    `--full` does with all files.
    """
    lines = sorted(index(), key=lambda line: line["name"])
    missing = {feature for line in lines for feature in line["features"]}
    found: set[str] = set()
    while missing:
        # A file of 300 kB takes twice as long as a small one.
        best = max(lines, key=lambda line: len(missing.intersection(line["features"])) / (300_000 + line["size"]))
        found.add(best["name"])
        missing.difference_update(best["features"])
    return frozenset(found)


def usual(name: str) -> Any:
    """A case with a file of the corpus: with --full alone, unless the file is one of those that cover the features."""
    return pytest.param(name, marks=() if name in covering() else pytest.mark.only_full)


def corpus_file(name: str) -> Path:
    """The corpus file of that name."""
    return CORPUS / "files" / name


def ntuple_files() -> list[Path]:
    """The files with RNTuples of the corpus, and those of ROOT's validation suite; none where the corpus is absent."""
    if not corpus_is_here():
        return []
    names = [line["name"] for line in index() if "RNTuple" in line["features"]]
    return [corpus_file(name) for name in names] + sorted((CORPUS / "rntuple-validation").glob("*.root"))


def tree_files() -> list[Path]:
    """The files of the corpus with other tables than RNTuples; none where the corpus is absent."""
    return [corpus_file(line["name"]) for line in index() if "RNTuple" not in line["features"]]
