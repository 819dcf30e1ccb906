"""groot, go-hep's reader of ROOT files, asked for the values of a tree. It needs Go, and modules that Go fetches."""

import json
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "groot"


def built(folder: Path) -> Path:
    """The program, built into a folder. A FileNotFoundError says why there is none."""
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        raise FileNotFoundError("go is not installed")
    program = folder / "groot"
    # The folder is in a git checkout that Go need not know of.
    command: list[str | Path] = [go, "build", "-buildvcs=false", "-o", program, "."]
    # It takes what Go is here, or none: another one is not fetched.
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    try:
        done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise FileNotFoundError("go-hep is not to be had here") from None
    if done.returncode != 0:
        raise FileNotFoundError(f"go-hep is not to be had here: {done.stderr.strip()[-200:]}")
    return program


def numbers(program: Path, path: Path, tree: str) -> dict[str, list[float]]:
    """All numbers of each branch, entry after entry, of a text its length. What groot cannot read is left out."""
    done = subprocess.run([program, path, tree], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:2000]
    return {column["branch"]: column["values"] for column in json.loads(done.stdout) if not column["error"]}
