"""The benchmarks' inputs: made once by real ROOT, seeded, kept in build/bench/inputs."""

import hashlib
import subprocess
import sys
from pathlib import Path

from referee.paths import CORPUS, REPO

FOLDER = REPO / "build" / "bench" / "inputs"
MACROS = Path(__file__).resolve().parent / "macros"
NANO_SOURCE = CORPUS / "files" / "skhep--nanoAOD_2015_CMS_Open_Data_ttbar.root"


def nano(megabytes: int, seed: int) -> Path:
    """A NanoAOD file: real columns by the corpus' make_large.py, else a stand-in of the same shape."""
    if not NANO_SOURCE.exists():
        return _macro("nano", f"{megabytes}MB-{seed}", f"{megabytes}, {seed}")
    script = CORPUS / "make_large.py"
    options = ["--in", str(NANO_SOURCE), "--tree", "Events", "--codec", "zlib:1"]
    options += ["--size-mb", str(megabytes), "--seed", str(seed)]
    return _made(f"nano-{megabytes}MB-{seed}", script, [sys.executable, "-W", "ignore", str(script), *options, "--out"])


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
    return _made(f"{name}-{label}", macro, [sys.executable, "-W", "ignore", "-c", code])


def _made(label: str, recipe: Path, command: list[str]) -> Path:
    """Runs the command with a file name appended, unless the recipe's result is there already."""
    key = hashlib.sha256(recipe.read_bytes()).hexdigest()[:8]
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
