"""Runs uproot's own tests with uproot and with basketry in uproot's place, and prints how many pass and why the others
do not: `make test-uproot UPROOT=... DATA=...`, checkouts of scikit-hep/uproot5 and scikit-hep/scikit-hep-testdata.

A test counts if it passes with uproot and uses the public interface alone (`public.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from uproot_suite.public import public_tests  # noqa: E402


def outcomes(tests: Path, data: Path, module: str, chosen: list[str], jobs: int) -> dict[str, dict[str, str]]:
    """The results of all tests with a module in uproot's place."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        results.touch()
        # Some tests rename their files.
        links = Path(folder) / "data"
        links.mkdir()
        for file in data.iterdir():
            (links / file.name).symlink_to(file)
        environment = {
            **os.environ,
            "UPROOT_SUITE_DATA": str(links),
            "UPROOT_SUITE_MODULE": module,
            "UPROOT_SUITE_RESULTS": str(results),
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]),
        }
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "uproot_suite.plugin",
            "-p",
            "no:cacheprovider",
            "-n",
            str(jobs),
        ]
        command += ["--rootdir", str(tests.parent), "-c", os.devnull, "--continue-on-collection-errors", "--tb=no"]
        subprocess.run(
            [*command, *(chosen or ["tests"])],
            cwd=tests.parent,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        lines = [json.loads(line) for line in results.read_text().splitlines()]
    return {line["test"]: line for line in lines}


def data_folder(path: Path) -> Path:
    """The folder of files in a checkout of scikit-hep-testdata."""
    inside = path / "src" / "skhep_testdata" / "data"
    return inside if inside.is_dir() else path


def is_public(test: str, tests: Path, known: dict[str, set[str]]) -> bool:
    """Whether a test, named as pytest names it, uses the public interface alone."""
    module, _, name = test.partition("::")
    if module not in known:
        known[module] = public_tests(tests.parent / module)
    return re.sub(r"\[.*", "", name) in known[module]


def main() -> int:
    """Runs the tests twice and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uproot", type=Path, required=True, help="checkout of scikit-hep/uproot5")
    parser.add_argument("--data", type=Path, required=True, help="checkout of scikit-hep/scikit-hep-testdata")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="name each test that fails")
    parser.add_argument("--expect", type=int, default=0, help="exit with 1 if fewer tests pass")
    parser.add_argument(
        "--reference", type=Path, help="keep uproot's results in this file, and use them if it is there"
    )
    parser.add_argument("chosen", nargs="*", help="test files of uproot's; all by default")
    given = parser.parse_args()
    tests, data = given.uproot.resolve() / "tests", data_folder(given.data.resolve())
    if given.reference and given.reference.exists():
        reference = json.loads(given.reference.read_text())
    else:
        reference = outcomes(tests, data, "uproot", given.chosen, given.jobs)
        if given.reference:
            given.reference.write_text(json.dumps(reference))
    known: dict[str, set[str]] = {}
    passing = [test for test, result in reference.items() if result["outcome"] == "passed"]
    public = [test for test in passing if is_public(test, tests, known)]
    if given.chosen:
        public = [test for test in public if test.partition("::")[0] in given.chosen]
    files = sorted({test.partition("::")[0] for test in public})
    ours = outcomes(tests, data, "basketry", files, given.jobs)
    good = [test for test in public if ours.get(test, {}).get("outcome") == "passed"]
    print(f"tests that pass with uproot:               {len(passing):5}")
    print(f"of these, of the public interface:         {len(public):5}")
    print(f"of these, pass with basketry in its place: {len(good):5}")
    groups: dict[str, list[str]] = defaultdict(list)
    for test in public:
        result = ours.get(test, {"outcome": "", "kind": "not run", "message": ""})
        if result["outcome"] != "passed":
            groups[f"{result['kind']}: {result['message']}"].append(test)
    kinds = Counter(reason.partition(":")[0] for reason, names in groups.items() for _ in names)
    for kind, number in kinds.most_common():
        print(f"\n{number:4}  {kind}")
        of_kind = [(reason, names) for reason, names in groups.items() if reason.partition(":")[0] == kind]
        for reason, names in sorted(of_kind, key=lambda one: -len(one[1])):
            print(f"      {len(names):4}  {reason.partition(': ')[2]}")
            if given.list:
                for name in names:
                    print(f"              {name}")
    return int(len(good) < given.expect)


if __name__ == "__main__":
    sys.exit(main())
