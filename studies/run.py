"""The published studies, repeated with basketry and ROOT: `make studies`, or `python studies/run.py --only memory`.

Prints Markdown; keeps every sample and table in build/studies/NAME; `--pages` puts the tables into
docs/studies/NAME.md, and the pictures beside them.
"""

import argparse
import time
from pathlib import Path

from referee.paths import REPO
from studies import baskets, bottlenecks, containers, memory, parallel, predictions
from studies.study import PAGES, PICTURES, STUDIES, Context, publish, root_home

MODULES = (memory, baskets, containers, parallel, bottlenecks, predictions)
#: In the order in which they run.
NAMES = [module.__name__.removeprefix("studies.") for module in MODULES]


def main() -> None:
    """Runs the requested studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help=f"of {', '.join(NAMES)}; default all")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times as much data; 1 takes some hours")
    parser.add_argument(
        "--quick", action="store_true", help="tiny inputs, one repeat: shows that it works, not how fast"
    )
    parser.add_argument("--no-root", action="store_true", help="leave ROOT out where it is installed")
    parser.add_argument("-o", "--output", type=Path, default=REPO / "build" / "studies", metavar="DIR")
    parser.add_argument(
        "--pages", nargs="?", const=PAGES, type=Path, metavar="DIR", help="write the tables into the pages"
    )
    options = parser.parse_args()
    chosen = options.only or NAMES
    unknown = set(chosen) - STUDIES.keys()
    if unknown:
        parser.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if not options.scale > 0:
        parser.error("--scale is more than 0")

    context = Context(options.output.resolve(), options.scale, options.quick, None if options.no_root else root_home())
    measured: dict[str, dict[str, list[str]]] = {}
    for name in chosen:
        context.begin(name)
        context.say("", f"# {name}: {(STUDIES[name].__doc__ or '').strip()}")
        begun = time.monotonic()
        STUDIES[name](context)
        context.finish(time.monotonic() - begun)
        measured[name] = context.results["blocks"]
    if options.pages:
        # At the end: until then the checkout equals its commit, which the results name.
        for name, blocks in measured.items():
            publish(options.pages, name, blocks, context.folder / name / PICTURES)


if __name__ == "__main__":
    main()
