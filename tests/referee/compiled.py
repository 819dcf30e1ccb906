"""Macros of cpp/ that ROOT compiles to a library, for classes that it streams only with a compiled dictionary.

Run as a script this module is the process with ROOT in it: `make MACRO CALL...` compiles the macro in the current
folder and runs calls such as `make("x.root")`; `ask LIBRARY CALL` prints what a call returns. `MACRO:NAME` defines a
name for the preprocessor first, and adds it to the name of the library.
"""

import subprocess
import sys
from pathlib import Path

from referee.make_files import made_once

CPP = Path(__file__).resolve().parent / "cpp"


def compiled(name: str, calls: dict[str, list[str]]) -> Path:
    """A folder with what calls made, and with the libraries. `calls` has those for each name to define, or for none."""
    macro = CPP / f"{name}.C"
    programs = [["referee.compiled", "make", f"{macro}:{defined}", *own] for defined, own in calls.items()]
    return made_once(name, programs, macro, Path(__file__))


def ask(folder: Path, name: str, call: str) -> str:
    """What a function of the library returns."""
    words = [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), "ask", str(folder / f"{name}_C.so"), call]
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"{call} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def main() -> None:
    """Compiles, or asks."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    what, source, *calls = sys.argv[1:]
    if what == "make":
        source, _, defined = source.partition(":")
        macro = f"{Path(source).stem}{defined}.C"
        define = f"#define {defined}\n" if defined else ""
        Path(macro).write_text(define + Path(source).read_text())
        if not ROOT.gSystem.CompileMacro(macro, "kO"):
            raise SystemExit(f"{source} does not compile")
        for call in calls:
            if not ROOT.gInterpreter.ProcessLine(f"{call};"):
                raise SystemExit(f"{call} failed")
        return
    if ROOT.gSystem.Load(source) < 0:
        raise SystemExit(f"{source} cannot be loaded")
    for call in calls:
        ROOT.gInterpreter.ProcessLine(f'printf("%s", {call}.c_str()); fflush(stdout);')


if __name__ == "__main__":
    main()
