"""The sections, by subject; importing one registers it."""

from harness import SECTIONS
from sections import (
    frameworks,
    making,
    many,
    many_files,
    ntuple_writing,
    ntuples,
    package,
    questions,
    reading,
    remote,
    skimming,
    training,
    watching,
    writing,
)

__all__ = [
    "SECTIONS",
    "frameworks",
    "making",
    "many",
    "many_files",
    "ntuple_writing",
    "ntuples",
    "package",
    "questions",
    "reading",
    "remote",
    "skimming",
    "training",
    "watching",
    "writing",
]
