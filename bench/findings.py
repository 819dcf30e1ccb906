"""Checks the findings of inspect on real files: whether its commands work and repair, and their measured effect.

    python bench/findings.py [--half open|held|all] [--folder DIR] [--json FILE]

Every finding's command is run; the result is inspected again, and input and output are read in turn by `readspeed` on
one thread. A file belongs to the half `held` by a hash of its name: rules are fitted to the other half only.
"""

import argparse
import hashlib
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from referee.paths import BINARY, CORPUS

ROUNDS = 3


def held(name: str) -> bool:
    """Whether a file belongs to the held-out half."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def call(words: list[str], cwd: Path | None = None, timeout: float = 120) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=cwd, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return 124, "", "timed out"
    return done.returncode, done.stdout, done.stderr


def inspect(path: Path) -> Any:
    """The report of inspect; none if it fails."""
    code, out, _ = call([str(BINARY), "inspect", "--json", str(path)])
    return json.loads(out) if code == 0 else None


def reading(paths: list[Path], tree: str) -> list[float] | None:
    """Seconds to read a tree in each of some files, in turns."""
    times: list[list[float]] = [[] for _ in paths]
    for _ in range(ROUNDS):
        for path, found in zip(paths, times, strict=True):
            code, out, _ = call([str(BINARY), "readspeed", "--json", "-j", "1", f"{path}:{tree}"])
            if code:
                return None
            report = json.loads(out)
            found.append(report["median"]["real"] + report["setup"][0])
    return [statistics.median(found) for found in times]


def same(finding: Any, other: Any) -> bool:
    """Whether a finding persists."""
    return bool(finding["fault"] == other["fault"] and finding["tree"] == other["tree"])


def tried(path: Path, finding: Any, folder: Path) -> dict[str, Any]:
    """The effect of a finding's command."""
    words = shlex.split(finding["command"])
    result: dict[str, Any] = {"command": finding["command"]}
    output = folder / Path(words[words.index("-o") + 1]).name
    output.unlink(missing_ok=True)
    words[words.index("-o") + 1] = str(output)
    result["code"], _, err = call([str(BINARY), *words[1:]], cwd=folder)
    result["err"] = err.strip()
    if result["code"]:
        return result
    after = inspect(output)
    result["mended"] = after is not None and not any(same(finding, other) for other in after["findings"])
    result["left"] = [] if after is None else [o for o in after["findings"] if same(finding, o)]
    before, now = path.stat().st_size, output.stat().st_size
    result["bytes"] = (before, now)
    if finding["tree"]:
        result["read"] = reading([path, output], finding["tree"])
    output.unlink()
    return result


def judged(path: Path) -> dict[str, Any]:
    """All findings of a file."""
    report = inspect(path)
    if report is None:
        return {"file": path.name, "findings": None}
    findings = report["findings"]
    with tempfile.TemporaryDirectory() as folder:
        for finding in findings:
            if finding["command"] and " -o " in finding["command"]:
                finding["tried"] = tried(path, finding, Path(folder))
    return {"file": path.name, "bytes": path.stat().st_size, "findings": findings}


def show(files: list[dict[str, Any]]) -> None:
    """Prints the results."""
    read = [f for f in files if f["findings"] is not None]
    found = [f for f in read if f["findings"]]
    print(f"{len(files)} files, {len(read)} read, {len(found)} with findings")
    firsts = Counter(f"{f['findings'][0]['fault']} ({f['findings'][0].get('pays', '')})" for f in found)
    print("first findings:", ", ".join(f"{n} {fault}" for fault, n in firsts.most_common()))
    every = Counter(x["fault"] for f in found for x in f["findings"])
    print("all findings:", ", ".join(f"{n} {fault}" for fault, n in every.most_common()))
    commands = [(f, x) for f in found for x in f["findings"] if "tried" in x]
    bad = [(f, x) for f, x in commands if x["tried"]["code"]]
    left = [(f, x) for f, x in commands if not x["tried"]["code"] and not x["tried"]["mended"]]
    print(f"{len(commands)} commands, {len(bad)} fail, {len(left)} do not mend")
    for f, x in bad:
        print(f"  FAILS {f['file']} {x['fault']}: {x['tried']['command']}\n      {x['tried']['err'][:300]}")
    for f, x in left:
        print(f"  STAYS {f['file']} {x['fault']}: {x['tried']['command']}")
        print(f"      {x['text']}\n      {x['tried']['left'][0]['text']}")
    print("\nwhat they bring: bytes said / measured, read ms said / measured (before -> after)")
    for f, x in commands:
        t, cost = x["tried"], x["cost"]
        if t["code"]:
            continue
        before, after = t["bytes"]
        saved = before - after
        reads = t.get("read")
        times = f"{1e3 * (reads[0] - reads[1]):8.2f} ({1e3 * reads[0]:.2f} -> {1e3 * reads[1]:.2f})" if reads else ""
        price = x.get("price") or {"bytes": 0, "read_seconds": 0.0}
        grows = price["bytes"] - cost["bytes"]
        wrong = (after - before - grows) / before
        said = f"size off by {100 * wrong:.1f} %"
        first = "*" if x is f["findings"][0] else " "
        print(
            f" {first}{f['file'][:44]:44} {x['fault']:24} {cost['bytes']:10} / {saved:10} of {before:9}"
            f"  {1e3 * (cost['read_seconds'] - price['read_seconds']):8.2f} / {times}  {said}"
        )


def main() -> None:
    """Checks the files on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=["open", "held", "all"], default="open")
    parser.add_argument("--folder", type=Path, default=CORPUS / "files")
    parser.add_argument("--json", type=Path)
    parser.add_argument("-j", "--threads", type=int, default=1)
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.root"))
    if arguments.half != "all":
        files = [path for path in files if held(path.name) == (arguments.half == "held")]
    with ThreadPoolExecutor(arguments.threads) as pool:
        done = list(pool.map(judged, files))
    if arguments.json:
        arguments.json.write_text(json.dumps(done, indent=1))
    show(done)


if __name__ == "__main__":
    main()
