"""The sections, by subject; importing one registers it."""

from harness import SECTIONS
from sections import making, ntuple_writing, ntuples, package, reading, watching, writing

__all__ = ["SECTIONS", "making", "ntuple_writing", "ntuples", "package", "reading", "watching", "writing"]
