"""The published figures, each beside its rivals: `make bench`, or `python bench/run.py merge repack` for some.

Prints Markdown and writes build/bench/results.json with every sample; the samples stay in a dated file of the history,
whose page `make bench-history` draws. CPU time is user and system of the process and
its children, except for ROOT's and Python's readers, which measure it after their start; medians of five
interleaved runs; inputs are in the page cache.
"""

import argparse
import json
import os
import time
from pathlib import Path

from harness import Bench
from referee.paths import REPO
from sections import SECTIONS

#: Where the files of all runs are kept.
HISTORY = REPO / "build" / "bench" / "history"


def main() -> None:
    """Runs the requested sections."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; default all")
    parser.add_argument(
        "--quick", action="store_true", help="small inputs, one round: shows that it works, not how fast"
    )
    words = "the folder of the runs' files; default %(default)s"
    parser.add_argument("--history", type=Path, default=HISTORY, metavar="DIR", help=words)
    options = parser.parse_args()
    unknown = set(options.sections) - SECTIONS.keys()
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")

    bench = Bench(options.quick, options.history)
    facts = bench.results["machine"]
    bench.say(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load_before']:.1f}, commit {facts['commit']}")
    started = time.time()
    for name in options.sections or SECTIONS:
        bench.section = name
        bench.say("", f"## {name}: {(SECTIONS[name].__doc__ or '').strip()}")
        SECTIONS[name](bench)
        results = REPO / "build" / "bench" / "results.json"
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text(json.dumps(bench.results, indent=1))
    bench.say(
        "",
        f"load after {os.getloadavg()[0]:.1f}; {time.time() - started:.0f} s; "
        f"every sample in build/bench/results.json and {bench.history.path}",
    )


if __name__ == "__main__":
    main()
