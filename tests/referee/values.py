"""Has real ROOT turn a whole file into values (cpp/values.C), for files small enough to read in one process.

Where entry bytes show that nothing was lost, values show that ROOT still understands them: class tags resolve, an
index finds its entries, a histogram has its errors and labels.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parent / "cpp" / "values.C"
# TObject's own fields: a bit or a number may change when an object passes through memory and back.
VOLATILE = {"fBits", "fUniqueID"}


def of(path: Path) -> dict[str, Any]:
    """Everything ROOT reads in the file; relative names of friends and external files work as in its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "values.json"
        command = [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), str(path.resolve()), str(out)]
        done = subprocess.run(command, cwd=path.resolve().parent, capture_output=True, text=True, timeout=300)
        if done.returncode or not out.exists():
            raise RuntimeError(f"ROOT died on {path}:\n{done.stdout}{done.stderr}")
        values: dict[str, Any] = json.loads(out.read_text())
        return values


def differences(before: Any, after: Any, where: str = "", tolerance: float = 0.0) -> Iterator[str]:
    """Where two results of `of` differ; numbers may by the relative tolerance."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            if key not in VOLATILE:
                yield from differences(before.get(key), after.get(key), f"{where}/{key}", tolerance)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (ours, theirs) in enumerate(zip(before, after, strict=True)):
            yield from differences(ours, theirs, f"{where}[{i}]", tolerance)
    elif isinstance(before, float | int) and isinstance(after, float | int):
        if not math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance * 1e-3):
            yield f"{where}: {before} became {after}"
    elif before != after:
        yield f"{where}: {str(before)[:200]} became {str(after)[:200]}"


def main() -> None:
    """The worker: reads argv[1] with ROOT and writes JSON to argv[2]."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gInterpreter.Declare("#include <TH1.h>\n" + SCRIPT.read_text())
    ROOT.values.all(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
