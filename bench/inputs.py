"""The benchmarks' inputs: made once by real ROOT, seeded, kept in build/bench/inputs."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import native
from referee.paths import BINARY, CORPUS, REPO

FOLDER = REPO / "build" / "bench" / "inputs"
MACROS = Path(__file__).resolve().parent / "macros"
NANO_SOURCE = CORPUS / "files" / "skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root"


# Files to read: 200 MB of payload each, in the codecs of the figures; a quarter for the slowest.
READ_KINDS = ("flat", "nano", "vectors", "event_split", "event_unsplit")
READ_CODECS = ("none", "lz4:4", "zstd:5", "zlib:1", "lzma:7")


def nano(megabytes: int, seed: int, codec: str = "zlib:1") -> Path:
    """A NanoAOD file: real columns by the corpus' make_large.py, else a stand-in of the same shape."""
    label = f"{megabytes}MB-{seed}" + (f"-{codec.replace(':', '-')}" if codec != "zlib:1" else "")
    if not NANO_SOURCE.exists():
        return _macro("nano", label, f"{megabytes}, {seed}, {0 if codec == 'none' else 101}")
    script = CORPUS / "make_large.py"
    options = ["--in", str(NANO_SOURCE), "--tree", "Events", "--codec", codec]
    options += ["--size-mb", str(megabytes), "--seed", str(seed)]
    return made(f"nano-{label}", script, [sys.executable, "-W", "ignore", str(script), *options, "--out"])


def read(kind: str, codec: str, megabytes: int) -> Path:
    """A file to read, with about this much payload. ROOT writes it uncompressed; `basketry rewrite` makes the other
    codecs, so that all have the same baskets."""
    if codec != "none":
        source = read(kind, "none", megabytes)
        command: list[str | Path] = [BINARY, "rewrite", source, "--compression", codec, "-q", "-o"]
        return made(f"{source.stem}-{codec.replace(':', '-')}", source, command)
    if kind == "nano":
        # Entries have half as many bytes of offsets again.
        return nano(megabytes * 3 // 2, 1, codec)
    command = [native.program("make_read"), kind, f"{megabytes}e6", "1"]
    return made(f"{kind}-{megabytes}MB", native.SOURCES / "make_read.cxx", command)


def ntuple(kind: str, codec: str, megabytes: int) -> Path:
    """The RNTuple that ROOT's importer makes of such a file, in that codec."""
    if codec != "zstd:5":
        source = ntuple(kind, "zstd:5", megabytes)
        command: list[str | Path] = [BINARY, "rewrite", source, "--compression", codec, "-q", "-o"]
        return made(f"{source.stem}-{codec.replace(':', '-')}", source, command)
    tree = read(kind, "none", megabytes)
    command = [native.program("import_tree"), tree, "Events"]
    return made(f"ntuple-{tree.stem}", tree, command)


def as_ntuple(tree: Path) -> Path:
    """The RNTuple that basketry makes of a tree, in the same codec."""
    return made(f"{tree.stem}-rntuple", tree, [BINARY, "rewrite", tree, "--container", "rntuple", "-q", "-o"])


def ntuple_shape(fields: int, clusters: int, entries: int) -> Path:
    """An RNTuple of many fields or clusters."""
    command: list[str | Path] = [native.program("make_ntuple"), str(fields), str(clusters), str(entries)]
    return made(f"ntuple-{fields}-{clusters}", native.SOURCES / "make_ntuple.cxx", command)


def reclustered(source: Path, entries: int) -> Path:
    """The same file in clusters of a number of entries."""
    command: list[str | Path] = [BINARY, "rewrite", source, "--cluster", str(entries), "-q", "-o"]
    return made(f"{source.stem}-clusters-{entries}", source, command)


def flat(megabytes: int, seed: int) -> Path:
    """A flat ntuple of 90 scalar branches."""
    return _macro("flat", f"{megabytes}MB-{seed}", f"{megabytes}, {seed}")


def branches(count: int, entries: int, seed: int) -> Path:
    """A tree of that many branches, jagged and scalar."""
    return _macro("branches", f"{count}-{entries}-{seed}", f"{count}, {entries}, {seed}")


def _macro(name: str, label: str, arguments: str) -> Path:
    macro = MACROS / f"{name}.C"
    code = (
        "import ROOT, sys; ROOT.gErrorIgnoreLevel = ROOT.kError; "
        f"assert ROOT.gInterpreter.Declare(open({str(macro)!r}).read()); "
        f"assert ROOT.gInterpreter.ProcessLine('make(\"' + sys.argv[1] + '\", {arguments}); 1;')"
    )
    return made(f"{name}-{label}", macro, [sys.executable, "-W", "ignore", "-c", code])


def made(label: str, recipe: Path, command: Sequence[str | Path]) -> Path:
    """Runs the command with a file name appended, unless the result of the recipe is there. A changed recipe makes it
    again."""
    with recipe.open("rb") as file:
        key = hashlib.file_digest(file, "sha256").hexdigest()[:8]
    path = FOLDER / f"{label}-{key}.root"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}")
        print(f"making {path.name}", file=sys.stderr, flush=True)
        done = subprocess.run([*command, str(scratch)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{label}: {done.stdout}{done.stderr}")
        scratch.rename(path)
    return path
