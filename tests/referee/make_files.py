"""Makes files that the corpus lacks, with real ROOT; each macro in macros/ makes one kind and is named after it.

A macro defines `make()`, which writes one or more files into the current folder; everything is seeded. The results are
kept under build/ until the macro changes. Run as a script this module makes one recipe here.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from referee.paths import BUILD

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


def made(recipe: str) -> Path:
    """The folder with the recipe's files, made on first use."""
    return made_once(recipe, [["referee.make_files", recipe]], RECIPES[recipe][0], Path(__file__))


def made_once(name: str, programs: list[list[str]], *sources: Path) -> Path:
    """The folder of this name under build/, filled on first use by programs that run in it, all at once: modules of the
    tests, with their arguments. Other programs, or another text of a source, fill another folder."""
    key = hashlib.sha256(repr(programs).encode() + b"".join(source.read_bytes() for source in sources)).hexdigest()
    folder = BUILD / "files" / f"{name}-{key[:12]}"
    if not folder.exists():
        # Another worker may make the same files.
        scratch = folder.with_name(f".{folder.name}.{os.getpid()}")
        scratch.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
        python = [sys.executable, "-W", "ignore", "-m"]
        makers = [
            subprocess.Popen(
                [*python, *words],
                cwd=scratch,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for words in programs
        ]
        ended = [(maker.communicate(timeout=600)[0], maker.returncode) for maker in makers]
        if any(code for _, code in ended):
            raise RuntimeError("\n".join([f"{name} failed:", *(said for said, _ in ended)]))
        try:
            scratch.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            shutil.rmtree(scratch)
    return folder


def main() -> None:
    """Makes one recipe's files in the current folder."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    macro, arguments = RECIPES[sys.argv[1]]
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    if not ROOT.gInterpreter.Declare(includes) or not ROOT.gInterpreter.Declare(macro.read_text()):
        raise SystemExit(f"{macro} does not compile")
    if not ROOT.gInterpreter.ProcessLine(f"make({arguments}); 1;"):
        raise SystemExit(f"{macro} failed")


if __name__ == "__main__":
    main()
