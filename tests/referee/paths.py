"""Paths of the tests: the checkout, the binary under test, the corpus, ROOT's own commands."""

import importlib.util
import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build" / "tests"
BINARY = Path(os.environ.get("BASKETRY_BIN", REPO / "target" / "release" / "basketry"))
CORPUS = Path(os.environ.get("BASKETRY_CORPUS", REPO.parent / "shared" / "corpus"))
FOUND = CORPUS / "found"


def corpus_is_here() -> bool:
    """Whether the corpus of real files can be used (BASKETRY_CORPUS, or ../shared/corpus beside the checkout)."""
    return (CORPUS / "files.jsonl").is_file() and (CORPUS / "make_oracle.py").is_file()


def importing(*folders: str) -> dict[str, str]:
    """The environment of a Python program that imports from these folders of the checkout."""
    return {"PYTHONPATH": os.pathsep.join(str(REPO / folder) for folder in folders)}


def root_command(name: str) -> Path:
    """ROOT's own executable of that name (hadd, rootls, root.exe), from the wheel; ROOT is not imported for this."""
    spec = importlib.util.find_spec("ROOT")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("ROOT is not installed in this environment (tests/requirements.txt)")
    return Path(next(iter(spec.submodule_search_locations))) / "bin" / name
