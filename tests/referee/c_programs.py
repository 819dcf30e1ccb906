"""Programs of tests/capi, compiled against the headers and the library of the build under test."""

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from referee.paths import BINARY, BUILD, REPO

SOURCES = REPO / "tests" / "capi"
HEADERS = REPO / "crates" / "capi" / "include"
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
    folder = BUILD / "capi"
    folder.mkdir(parents=True, exist_ok=True)
    marks = [way.standard.replace("+", "x"), way.sanitizer, *(option.strip("-") for option in way.options)]
    program = folder / "-".join([source.stem, *filter(None, marks), str(os.getpid())]).replace("/", "_")
    words = [way.compiler, f"-std={way.standard}", *STRICT, "-O1", "-g", f"-I{HEADERS}"]
    if way.sanitizer:
        words += [f"-fsanitize={way.sanitizer}", "-fno-omit-frame-pointer"]
    words += [str(source), "-o", str(program), str(LIBRARY), f"-Wl,-rpath,{FOLDER}", "-pthread", *way.options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}:\n{done.stderr[-4000:]}")
    return program


def run(program: Path, *arguments: object, environment: dict[str, str] | None = None) -> str:
    """Runs a program, and returns what it prints. It must succeed."""
    # Leaks of the process's end are Rust's statics.
    sanitizers = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "halt_on_error=1"}
    settings = {**os.environ, **sanitizers, **(environment or {})}
    words = [str(program), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=settings)
    if done.returncode != 0:
        said = f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{said}")
    return done.stdout
