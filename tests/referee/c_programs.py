"""Programs of tests/capi, compiled against the headers and the library of the build under test."""

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from referee.make_files import filled_once
from referee.paths import BINARY, REPO

SOURCES = REPO / "tests" / "capi"
HEADERS = REPO / "crates" / "capi" / "include"
# The library is not instrumented: its locks are not seen, so that what it does by functions of C must not be.
SUPPRESSIONS = SOURCES / "tsan.txt"
# Beside the command: `make capi`.
FOLDER = BINARY.resolve().parent / "capi"
LIBRARY = FOLDER / "libbasketry.so"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
STANDARDS = {"c99": "cc", "c11": "cc", "c++17": "c++", "c++20": "c++"}


@dataclass(frozen=True)
class Way:
    """How a program is compiled."""

    standard: str
    sanitizer: str = ""
    options: tuple[str, ...] = ()

    @property
    def compiler(self) -> str:
        """The compiler, which `CC` and `CXX` may name."""
        command = STANDARDS[self.standard]
        return os.environ.get({"cc": "CC", "c++": "CXX"}[command], command)


def is_missing(*programs: str) -> str:
    """Why no program can be made, or nothing."""
    if not LIBRARY.exists():
        return f"no {LIBRARY}: make capi PROFILE=tested"
    missing = [program for program in programs if shutil.which(program) is None]
    return f"no {missing[0]}" if missing else ""


@functools.cache
def compiled(name: str, way: Way) -> Path:
    """The program of a source file."""
    source = SOURCES / name
    words = [way.compiler, f"-std={way.standard}", *STRICT, "-O1", "-g", f"-I{HEADERS}"]
    if way.sanitizer:
        words += [f"-fsanitize={way.sanitizer}", "-fno-omit-frame-pointer"]
    words += [str(source), "-o", source.stem, str(LIBRARY), f"-Wl,-rpath,{FOLDER}", "-pthread", *way.options]
    return made_by_compiler(words, source) / source.stem


def made_by_compiler(words: list[str], *sources: Path) -> Path:
    """The folder in which a compiler made a program."""

    def fill(folder: Path) -> None:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}:\n{done.stderr[-4000:]}")

    return filled_once(
        sources[0].stem, repr(words), fill, *sources, *sorted(HEADERS.iterdir()), *sorted(SOURCES.glob("*.h"))
    )


def run(program: Path, *arguments: object, environment: dict[str, str] | None = None) -> str:
    """Runs a program, and returns what it prints. It must succeed."""
    # Leaks of the process's end are Rust's statics.
    sanitizers = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": f"halt_on_error=1:suppressions={SUPPRESSIONS}"}
    settings = {**os.environ, **sanitizers, **(environment or {})}
    words = [str(program), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=settings)
    if done.returncode != 0:
        said = f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{said}")
    return done.stdout
