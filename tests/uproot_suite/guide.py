"""Runs the statements of uproot's guide (docs-sphinx/basic.rst) with uproot, and with another module in its place. Its
examples on the web are files of scikit-hep-testdata here. Prints what works, and where values differ."""

from __future__ import annotations

import argparse
import ast
import contextlib
import doctest
import importlib
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

#: What the guide leaves to its reader.
GIVEN = """
import awkward as ak
root_file = "dir1/data.root:events"
muon_pt = muon_eta = muon_phi = ak.Array([[1.1, 2.2], [], [3.3]])
"""
#: Statements that need another machine's hardware.
ELSEWHERE = re.compile(r"cuda|kvikio")


def statements(guide: Path, data: Path) -> list[str]:
    """The statements, with paths of this machine."""
    found = []
    for example in doctest.DocTestParser().get_examples(guide.read_text()):
        text = example.source.replace("do_something...", "pass").replace('"/path/to/', '"path/to/')
        text = re.sub(r"https://scikit-hep.org/uproot3/examples/", f"{data}/uproot-", text)
        text = re.sub(r"https://raw\.githubusercontent\.com/\S+?/data/", f"{data}/", text)
        found.append(text.replace('"ntpl001', f'"{data}/ntpl001'))
    return found


def run(found: list[str], module: Any, data: Path) -> list[tuple[str, Any]]:
    """What becomes of each: "works" and its value, or the error."""
    names: dict[str, Any] = {"uproot": module}
    outcomes: list[tuple[str, Any]] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for place in ("dir1/data.root", "dir2/data.root", "path/to/dataset.root", "path/to/existing-file.root"):
                Path(place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(data / "uproot-Zmumu.root", place)
            exec(GIVEN, names)
            for text in found:
                if text.strip() == "import uproot":
                    outcomes.append(("works", None))
                    continue
                if ELSEWHERE.search(text):
                    outcomes.append(("elsewhere", None))
                    continue
                outcomes.append(outcome(text, names))
        finally:
            os.chdir(before)
    return outcomes


def outcome(text: str, names: dict[str, Any]) -> tuple[str, Any]:
    """The outcome of one statement."""
    parsed = ast.parse(text)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            value = None
            if isinstance(parsed.body[-1], ast.Expr):
                value = eval(text.strip(), names)
                repr(value)
            else:
                exec(text, names)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:150]}", None
    return "works", plain(value)


def plain(value: Any) -> Any:
    """A value to compare: arrays and tables as lists; None for whatever belongs to a module."""
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if type(value).__module__.partition(".")[0] in ("numpy", "awkward", "pandas"):
        return value.to_dict("list") if type(value).__name__ == "DataFrame" else value.tolist()
    return None


def main() -> int:
    """Runs the guide twice and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uproot", type=Path, required=True, help="checkout of scikit-hep/uproot5")
    parser.add_argument("--data", type=Path, required=True, help="checkout of scikit-hep/scikit-hep-testdata")
    parser.add_argument("--module", default="basketry")
    parser.add_argument("--expect", type=int, default=0, help="exit with 1 if fewer statements work")
    given = parser.parse_args()
    data = given.data.resolve() / "src" / "skhep_testdata" / "data"
    found = statements(given.uproot / "docs-sphinx" / "basic.rst", data)
    theirs = run(found, importlib.import_module("uproot"), data)
    ours = run(found, importlib.import_module(given.module), data)
    both = list(zip(found, theirs, ours, strict=True))
    work = [one for one in both if one[1][0] == "works"]
    good = [one for one in work if one[2][0] == "works"]
    print(f"statements of the guide:               {len(found):4}")
    print(f"that work with uproot here:            {len(work):4}")
    print(f"of these, work with {given.module} in its place: {len(good):4}")
    print(f"of all, work with {given.module}:          {sum(one[2][0] == 'works' for one in both):4}")
    for text, (their, _), (our, _) in both:
        if their != "works":
            print(f"uproot itself: {text.strip()!r}\n    {their}")
        elif our != "works":
            print(f"{text.strip()!r}\n    {our}")
    for text, (_, their), (_, our) in good:
        if their is not None and repr(their) != repr(our):
            print(f"differs: {text.strip()!r}\n    {str(their)[:300]}\n    {str(our)[:300]}")
    return int(len(good) < given.expect)


if __name__ == "__main__":
    sys.exit(main())
