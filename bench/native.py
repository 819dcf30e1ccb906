"""The benchmarks' programs in C++, built once against ROOT's own libraries, with a compiled dictionary."""

import hashlib
import subprocess
from pathlib import Path

from referee.paths import BINARY, REPO, root_command

SOURCES = Path(__file__).resolve().parent / "native"
LIBRARIES = (
    "Core Imt RIO Tree TreePlayer ROOTDataFrame ROOTNTuple ROOTNTupleUtil ROOTVecOps Hist MathCore Thread".split()
)


#: Programs that are linked with libbasketry: `make capi`.
OF_LIBRARY = {"write_buffer_merger", "write_addresses", "write_arrow"}
HEADERS = REPO / "crates" / "capi" / "include"


def capi_library() -> Path:
    """The library for C of the measured build."""
    return BINARY.resolve().parent / "capi" / "libbasketry.so"


def program(name: str) -> Path:
    """The program of that name, built if it is absent or older than its sources."""
    home = root_command("root").parents[1]
    folder = built_folder()
    built = folder / name
    own = [capi_library(), f"-Wl,-rpath,{capi_library().parent}"] if name in OF_LIBRARY else []
    headers = [path.stat().st_mtime for path in HEADERS.iterdir()] if own else []
    if built.exists() and built.stat().st_mtime > max([0, *headers]):
        return built
    flags: list[str | Path] = ["-O2", "-std=c++17", "-pthread", "-isystem", home / "include", "-I", SOURCES]
    link = [f"-Wl,-rpath-link,{home.parent / 'root.libs'}", f"-L{home / 'lib'}", f"-Wl,-rpath,{home / 'lib'}"]
    link += [f"-l{library}" for library in LIBRARIES]
    library = folder / "libEventDict.so"
    if not library.exists():
        dictionary = folder / "EventDict.cxx"
        _run(root_command("rootcling"), "-f", dictionary, "-s", library, "-I", SOURCES, "Event.h", "LinkDef.h")
        _run("g++", *flags, "-fPIC", "-shared", "-o", library, dictionary, *link)
    # No symbol uses the dictionary, so the linker would drop it.
    used = ["-Wl,--push-state,--no-as-needed", "-lEventDict", "-Wl,--pop-state", f"-Wl,-rpath,{folder}"]
    flags += ["-I", HEADERS]
    link += map(str, own)
    _run("g++", *flags, "-o", built, SOURCES / f"{name}.cxx", f"-L{folder}", *used, *link)
    return built


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
