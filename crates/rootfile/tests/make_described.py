#!/usr/bin/env python3
"""Writes data/described.root: what real ROOT makes of the classes in data/described.h.

    crates/rootfile/tests/make_described.py

The header is compiled with rootcling and a C++ compiler; ROOT writes the infos into a file without any objects.
"""

import re
import subprocess
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
HEADER = DATA / "described.h"


def compile_header(folder):
    """The library with the dictionary of the header's classes; their names too."""
    import ROOT

    folder = Path(folder)
    text = HEADER.read_text()
    names = re.findall(r"// dictionary: (.+)", text)
    links = folder / "LinkDef.h"
    links.write_text("".join(f"#pragma link C++ class {name}+;\n" for name in names))
    source, library = folder / "dictionary.cc", folder / "libdescribed.so"
    tools = Path(ROOT.gSystem.Getenv("ROOTSYS") or ROOT.gROOT.GetRootSys().Data(), "bin")
    include = ["-I", DATA, "-I", str(ROOT.gROOT.GetIncludeDir())]
    subprocess.run([tools / "rootcling", "-f", source, "-I", DATA, HEADER.name, links], check=True)
    compiler = ["c++", "-std=c++20", "-shared", "-fPIC", "-O0", "-w"]
    subprocess.run([*compiler, *include, "-o", library, source], check=True)
    return library, names


def main():
    import ROOT

    with tempfile.TemporaryDirectory() as folder:
        library, names = compile_header(folder)
        assert ROOT.gSystem.Load(str(library)) == 0
        out = ROOT.TFile(str(DATA / "described.root"), "RECREATE")
        for name in names:
            cls = ROOT.TClass.GetClass(name)
            if not cls.GetCollectionProxy():
                cls.GetStreamerInfo().ForceWriteInfo(out, True)
        out.Close()


if __name__ == "__main__":
    main()
