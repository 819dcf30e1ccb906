#!/usr/bin/env python3
"""Freezes what a build of basketry writes and says, as digests, so that a change of its inside can be compared with
the build before. `make` runs the command and the package over the corpus and over files made here; `compare` names
what differs.

    tools/freeze.py make -o base.json                 all files of the corpus, with BASKETRY_BIN
    tools/freeze.py make -o quick.json --quick        a sample of them, in about two minutes
    tools/freeze.py compare base.json now.json        two such files
    tools/freeze.py compare base.json --quick         freezes the build at hand, and compares what both have

Frozen are rewrites in five layouts of both containers, merges, hadd, conversions both ways, generated files, the
writer in the order of tasks, values of arrays, the JSON of inspect, verify, check, fileset and dry runs, what tune says
without its measurements, and requests to a server. It is a tool for people who change basketry, not a test: what is
right is not its business, only what is the same.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from freezing import comparison, corpus, values
from freezing.outputs import Frozen, freeze
from freezing.running import Build
from referee.paths import BINARY, CORPUS

# Where the commands of `quick` are stopped, and those of a whole run: a build without optimisation is slow.
PATIENCE = {True: 20.0, False: 60.0}


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("make", help="freeze a build")
    make.add_argument("-o", "--output", type=Path, required=True, help="the JSON file to write")
    compare = verbs.add_parser("compare", help="compare a frozen build with another, or with the one at hand")
    compare.add_argument("base", type=Path)
    compare.add_argument("other", type=Path, nargs="?", help="default: the build at hand is frozen first")
    compare.add_argument("--most", type=int, default=40, help="differences to print (40)")
    for one in (make, compare):
        one.add_argument("--bin", type=Path, help="the command (BASKETRY_BIN, or target/release/basketry)")
        one.add_argument("--python", default=sys.executable, help="a Python that has the package (this one)")
        one.add_argument("--corpus", type=Path, help="the corpus (BASKETRY_CORPUS, or ../shared/corpus)")
        one.add_argument("--every", type=int, default=1, help="every so many files of the corpus (1: all)")
        one.add_argument("--quick", action="store_true", help="a small sample of small files")
        one.add_argument("--only", default="", help="only what has this text in its name (file or operation)")
        one.add_argument("-j", "--jobs", type=int, default=2, help="files at once (2)")
    verbs.add_parser("values", help=argparse.SUPPRESS)

    options = parser.parse_args()
    if options.verb == "values":
        return values.serve()
    if options.verb == "make":
        options.output.write_text(comparison.text(frozen(options)))
        return 0
    base = comparison.read(options.base)
    other = comparison.read(options.other) if options.other else frozen(options)
    return comparison.compare(base, other, options.most)


def frozen(options: argparse.Namespace) -> Frozen:
    """What the build at hand writes and says."""
    files = corpus.sample(options.corpus or CORPUS, options.every, options.quick)
    with tempfile.TemporaryDirectory(prefix="freeze-") as scratch:
        worker = [options.python, str(Path(__file__).resolve()), "values"]
        build = Build((options.bin or BINARY).resolve(), worker, Path(scratch), PATIENCE[options.quick])
        print(f"{len(files)} files; {build.version()}", file=sys.stderr)
        return freeze(build, files, options.only, options.jobs)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, json.JSONDecodeError) as error:
        sys.exit(f"freeze: {error}")
