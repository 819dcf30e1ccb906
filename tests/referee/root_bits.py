"""Numbers of an RNTuple's fields as real ROOT reads them, to the last bit: NaNs keep their payload, zeros their sign.

Run as a script this module is the process with ROOT in it; its arguments are the file, the RNTuple, the output and the
fields.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt


def numbers(path: Path, name: str, fields: list[str]) -> dict[str, npt.NDArray[np.generic]]:
    """The values of each field with its type in ROOT; those of lists one behind the other."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "numbers.npz"
        command = [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), str(path), name, str(out), *fields]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise RuntimeError(f"ROOT ended with {done.returncode}: {done.stderr[-2000:]}")
        with np.load(out) as found:
            return {field: found[field] for field in fields}


def main() -> None:
    """Answers the question."""
    import ROOT

    path, name, out, *fields = sys.argv[1:]
    columns = ROOT.RDataFrame(name, path).AsNumpy(fields)
    found: dict[str, npt.NDArray[np.generic]] = {}
    for field, values in columns.items():
        is_list = values.dtype == object
        found[field] = np.concatenate([np.asarray(entry) for entry in values]) if is_list else values
    np.savez(out, allow_pickle=False, **found)


if __name__ == "__main__":
    main()
