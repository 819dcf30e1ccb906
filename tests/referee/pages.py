"""The code of Markdown pages, run as a reader would run it. Blocks marked `bash` and `python` are run in order, in
one folder; a block marked `text` after one of them is its output, in which `...` stands for anything. Blocks with
another mark, or none, are for reading only."""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee import paths

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELLS = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-W", "error", "-c"]}
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Block:
    """A piece of code, and the output that the page shows for it."""

    language: str
    code: str
    output: str | None = None


def blocks(markdown: str) -> Iterator[Block]:
    """The pieces of code that are to be run."""
    last = None
    for mark in BLOCK.finditer(markdown):
        language, text = mark.groups()
        if language == "text" and last:
            last.output = text
        if last:
            yield last
        last = Block(language, text) if language in SHELLS else None
    if last:
        yield last


def run_page(page: Path, folder: Path, environment: dict[str, str]) -> None:
    """Runs the code of a page, which must succeed, and compares its outputs."""
    programs = folder / ".programs"
    programs.mkdir()
    (programs / "basketry").symlink_to(paths.BINARY.resolve())
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "python").chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"} | environment
    code = list(blocks(page.read_text()))
    assert code, f"{page.name} has no code to run"
    for block in code:
        command = [*SHELLS[block.language], block.code]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        told = f"{page.name}:\n{block.code}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, told
        if block.output is not None:
            assert doctest.OutputChecker().check_output(block.output, done.stdout, LIKE), told
