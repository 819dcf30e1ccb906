"""The programs of the benchmarks in C++, built once against ROOT's own libraries, with a compiled dictionary; some also
without ROOT."""

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from referee.paths import BINARY, REPO, root_command

SOURCES = Path(__file__).resolve().parent / "native"
LIBRARIES = (
    "Core Imt RIO Tree TreePlayer ROOTDataFrame ROOTNTuple ROOTNTupleUtil ROOTVecOps Hist MathCore Thread".split()
)


#: Programs that are linked with libbasketry: `make capi`.
OF_LIBRARY = {"write_buffer_merger", "write_addresses", "write_arrow", "framework"}
HEADERS = REPO / "crates" / "capi" / "include"
FLAGS: tuple[str | Path, ...] = ("-O2", "-std=c++17", "-pthread", "-I", SOURCES, "-I", HEADERS)


def capi_library() -> Path:
    """The library for C of the measured build."""
    return BINARY.resolve().parent / "capi" / "libbasketry.so"


def program(name: str) -> Path:
    """The program of that name, built if it is absent or older than its sources."""
    home = root_command("root").parents[1]
    folder = built_folder()
    built = folder / name
    own = with_library() if name in OF_LIBRARY else []
    if is_built(built, own):
        return built
    flags: list[str | Path] = [*FLAGS, "-isystem", home / "include"]
    link = [f"-Wl,-rpath-link,{home.parent / 'root.libs'}", f"-L{home / 'lib'}", f"-Wl,-rpath,{home / 'lib'}"]
    link += [f"-l{library}" for library in LIBRARIES]
    library = folder / "libEventDict.so"
    if not library.exists():
        dictionary = folder / "EventDict.cxx"
        _run(root_command("rootcling"), "-f", dictionary, "-s", library, "-I", SOURCES, "Event.h", "LinkDef.h")
        _run("g++", *flags, "-fPIC", "-shared", "-o", library, dictionary, *link)
    # No symbol uses the dictionary, so the linker would drop it.
    used = ["-Wl,--push-state,--no-as-needed", "-lEventDict", "-Wl,--pop-state", f"-Wl,-rpath,{folder}"]
    link += map(str, own)
    _run("g++", *flags, "-o", built, SOURCES / f"{name}.cxx", f"-L{folder}", *used, *link)
    return built


def without_root(name: str) -> Path:
    """The program of that name without ROOT, if its source allows that: with libbasketry alone."""
    built = built_folder() / f"{name}-without-root"
    own = with_library()
    if not is_built(built, own):
        _run("g++", *FLAGS, "-o", built, SOURCES / f"{name}.cxx", *own)
    return built


def with_library() -> list[str | Path]:
    """How a program is linked with libbasketry."""
    return [capi_library(), f"-Wl,-rpath,{capi_library().parent}"]


def is_built(program: Path, own: Sequence[str | Path]) -> bool:
    """Whether a program is there, and newer than the headers of what it is linked with."""
    headers = [path.stat().st_mtime for path in HEADERS.iterdir()] if own else []
    return program.exists() and program.stat().st_mtime > max([0, *headers])


def built_folder() -> Path:
    """Where what is built of these sources lies; another folder for other sources."""
    texts = b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()))
    folder = REPO / "build" / "bench" / f"native-{hashlib.sha256(texts).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
