"""Asks groot, go-hep's reader of ROOT files, for the values of a tree. It needs Go, and modules that Go fetches."""

import json
import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "groot"


def built(folder: Path) -> Path:
    """The program, built into a folder. A FileNotFoundError says that Go or its modules are not available."""
    # Uses the installed Go and fetches no other.
    environment = os.environ | {"GOTOOLCHAIN": "local"}

    def go(*words: str | Path, within: int) -> subprocess.CompletedProcess[str]:
        command = ["go", *words]
        return subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True, timeout=within)

    try:
        fetched = go("mod", "download", within=120)
    except subprocess.TimeoutExpired:
        raise FileNotFoundError("go-hep takes too long to come") from None
    if fetched.returncode != 0:
        raise FileNotFoundError(f"go-hep is not to be had: {fetched.stderr.strip()[-200:]}")
    program = folder / "groot"
    # Go need not know that the folder is in a git checkout.
    made = go("build", "-buildvcs=false", "-o", program, ".", within=300)
    assert made.returncode == 0, made.stderr
    return program


def numbers(program: Path, path: Path, tree: str) -> dict[str, list[float]]:
    """All numbers of each branch, entry after entry; for a text its length. Branches that groot cannot read are left
    out."""
    done = subprocess.run([program, path, tree], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:2000]
    return {column["branch"]: column["values"] for column in json.loads(done.stdout) if not column["error"]}
