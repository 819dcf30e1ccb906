"""Makes files that the corpus lacks, with real ROOT; each macro in macros/ makes one kind and is named after it.

A macro defines `make()`, which writes one or more files into the current folder; everything is seeded. The results are
kept under build/ until the macro changes. Run as a program this module is the process with ROOT in it: see
`root_server`.
"""

import atexit
import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from referee.paths import BUILD
from referee.root_server import Server, ended, serve

# Seconds for one recipe.
TIMEOUT = 600

MACROS = Path(__file__).resolve().parent / "macros"
# ROOT's compression settings, 100 * algorithm + level, by what the format's documents call the codec.
CODECS = {"zlib": 101, "lzma": 201, "lz4": 404, "zstd": 501}
HEADERS = """
TFile.h TTree.h TNtuple.h TNtupleD.h TBranch.h TBasket.h TFree.h TChain.h TTreeIndex.h ROOT/TIOFeatures.hxx
TObjArray.h TObjString.h TNamed.h TList.h TParameter.h TClonesArray.h TRef.h TRefArray.h TProcessID.h TArrayD.h
TRandom3.h TLorentzVector.h TAttMarker.h TGraph.h TH1.h TH2.h TH3.h TProfile.h TProfile2D.h TProfile3D.h
TCanvas.h TF1.h TFormula.h TMacro.h TMap.h TEntryList.h
ROOT/RNTupleModel.hxx ROOT/RNTupleWriter.hxx ROOT/RNTupleWriteOptions.hxx ROOT/RField.hxx
functional map string vector unistd.h
""".split()
# Recipe: its macro, and the arguments of make().
RECIPES = {macro.stem: (macro, "") for macro in sorted(MACROS.glob("*.C"))}
del RECIPES["big_records"]
RECIPES |= {f"big_records_{codec}": (MACROS / "big_records.C", str(code)) for codec, code in CODECS.items()}


@functools.cache
def _root() -> Server:
    """The process with ROOT: it reads the headers once, for all recipes."""
    server = Server("referee.make_files")
    atexit.register(server.close)
    return server


def made(recipe: str) -> Path:
    """The folder with the recipe's files, made on first use."""

    def make(folder: Path) -> None:
        said = _root().ask(json.dumps([recipe, str(folder)]))
        # A macro may end its process itself.
        if said not in ("made", ended(0)):
            raise RuntimeError(f"{recipe} failed: {said}")

    return filled_once(recipe, recipe, make, RECIPES[recipe][0], Path(__file__))


def made_once(name: str, programs: list[list[str]], *sources: Path) -> Path:
    """The folder of this name under build/, filled on first use by programs that run in it, all at once: modules of the
    tests, with their arguments. Other programs, or another text of a source, fill another folder."""

    def run(folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
        python = [sys.executable, "-W", "ignore", "-m"]
        makers = [
            subprocess.Popen(
                [*python, *words],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for words in programs
        ]
        ended = [(maker.communicate(timeout=TIMEOUT)[0], maker.returncode) for maker in makers]
        if any(code for _, code in ended):
            raise RuntimeError("\n".join([f"{name} failed:", *(said for said, _ in ended)]))

    return filled_once(name, repr(programs), run, *sources)


def filled_once(name: str, how: str, fill: Callable[[Path], None], *sources: Path) -> Path:
    """The folder of this name under build/, filled on first use. Another way to fill it, or another text of a source,
    fills another folder."""
    key = hashlib.sha256(how.encode() + b"".join(source.read_bytes() for source in sources)).hexdigest()
    folder = BUILD / "files" / f"{name}-{key[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Another worker that wants the same files waits for them.
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            scratch = folder.with_name(f".{folder.name}.{os.getpid()}")
            scratch.mkdir()
            try:
                fill(scratch)
                scratch.rename(folder)
            except BaseException:
                shutil.rmtree(scratch)
                raise
    return folder


def _make(line: str) -> str:
    """Makes the files of a recipe in a folder; in the forked child. Its answer is "made", or what ROOT said."""
    import ROOT

    recipe, folder = json.loads(line)
    os.chdir(folder)
    macro, arguments = RECIPES[recipe]
    with tempfile.TemporaryFile("w+") as said:
        for descriptor in (1, 2):
            os.dup2(said.fileno(), descriptor)
        done = ROOT.gInterpreter.Declare(macro.read_text()) and ROOT.gInterpreter.ProcessLine(f"make({arguments}); 1;")
        said.seek(0)
        return json.dumps("made" if done else f"{macro}: {said.read()}")


def main() -> None:
    """Makes the recipes that stdin names, each in its folder."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    if not ROOT.gInterpreter.Declare(includes):
        raise SystemExit("the headers do not compile")
    serve(_make, TIMEOUT)


if __name__ == "__main__":
    main()
