"""How often a program takes memory, and how much: counted by a small library that is loaded before it (glibc only)."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import native
from referee.command import Argument, run

_SOURCE = native.SOURCES / "allocations.c"


@dataclass(frozen=True)
class Allocations:
    """What a run took from the C library."""

    calls: int
    #: Asked for in all, not at a time.
    bytes: int


def allocations(command: Sequence[Argument]) -> Allocations:
    """Counts one run of a command, which must succeed."""
    library = native.built_folder() / "liballocations.so"
    if not library.exists():
        part = library.with_suffix(f".{os.getpid()}")
        flags = ["-O2", "-fPIC", "-shared", "-o"]
        subprocess.run(["cc", *flags, part, _SOURCE], check=True, capture_output=True, text=True)
        part.rename(library)
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "counted"
        # By `env`, so that nothing but the command itself is counted.
        outcome = run(["env", f"LD_PRELOAD={library}", f"ALLOCATIONS={counted}", *command], timeout=1800)
        if outcome.code != 0:
            raise RuntimeError(str(outcome))
        calls, size = map(int, counted.read_text().split())
    return Allocations(calls, size)
