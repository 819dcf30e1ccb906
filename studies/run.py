"""The published studies, repeated with basketry and ROOT: `make studies`, or `python studies/run.py --only memory`.

Prints Markdown; keeps every sample and table in build/studies/NAME; `--pages` puts the tables into
docs/studies/NAME.md, and the pictures beside them. A study that fails does not stop the others. `--kept` measures
nothing, and takes the results of earlier runs.
"""

import argparse
import json
import sys
import time
import traceback
from pathlib import Path

from referee.paths import REPO
from studies import baskets, bottlenecks, containers, framework, large, memory, parallel, predictions, scaling, sparse
from studies.conclusions import CONCLUSIONS, conclusions
from studies.study import PAGES, PICTURES, STUDIES, Context, publish, root_home

MODULES = (memory, baskets, containers, parallel, framework, bottlenecks, predictions, scaling, large, sparse)
#: In the order in which they run.
NAMES = [module.__name__.removeprefix("studies.") for module in MODULES]


def main() -> None:
    """Runs the requested studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help=f"of {', '.join(NAMES)}; default all")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times as much data; 1 takes about two hours")
    parser.add_argument(
        "--quick", action="store_true", help="tiny inputs, one repeat: shows that it works, not how fast"
    )
    parser.add_argument("--no-root", action="store_true", help="leave ROOT out where it is installed")
    parser.add_argument("-o", "--output", type=Path, default=REPO / "build" / "studies", metavar="DIR")
    parser.add_argument(
        "--pages", nargs="?", const=PAGES, type=Path, metavar="DIR", help="write the tables into the pages"
    )
    parser.add_argument("--kept", action="store_true", help="measure nothing: the results in DIR, with --pages")
    options = parser.parse_args()
    chosen = options.only or NAMES
    unknown = set(chosen) - STUDIES.keys()
    if unknown:
        parser.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if not options.scale > 0:
        parser.error("--scale is more than 0")

    context = Context(options.output.resolve(), options.scale, options.quick, None if options.no_root else root_home())
    failed = [] if options.kept else [name for name in chosen if not measured(context, name)]
    if options.pages:
        # At the end: until then the checkout equals its commit, which the results name.
        for name in (name for name in chosen if name not in failed):
            publish(options.pages, name, blocks_of(context.folder, name), context.folder / name / PICTURES)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def measured(context: Context, name: str) -> bool:
    """Runs a study; False if it failed, which is printed."""
    begun = time.monotonic()
    try:
        context.begin(name)
        context.say("", f"# {name}: {(STUDIES[name].__doc__ or '').strip()}")
        STUDIES[name](context)
        if said := conclusions(name, context.results["blocks"]):
            context.block(CONCLUSIONS, said)
    except Exception:
        # The others may take an hour, and have nothing to do with it.
        traceback.print_exc()
        return False
    context.finish(time.monotonic() - begun)
    return True


def blocks_of(folder: Path, name: str) -> dict[str, list[str]]:
    """The tables of a study's last run. Its conclusions are drawn again: they are made of nothing else."""
    blocks: dict[str, list[str]] = json.loads((folder / name / "results.json").read_text())["blocks"]
    if said := conclusions(name, blocks):
        blocks[CONCLUSIONS] = said
    return blocks


if __name__ == "__main__":
    main()
