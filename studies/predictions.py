"""What `tune` expects of a layout, beside what is measured once the file is rewritten: large trees and event models."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from referee.paths import CORPUS, corpus_is_here
from studies.study import Context, basketry, number, study, table

#: The event models, and how much of them at scale 1.
MODELS = {"lhcb": 40, "aod": 60, "esd": 80, "multi": 60}
WORKLOADS = ("full", "sparse:1%")
LARGEST = 10
#: Figures of the proof in docs/tune-schema.md, their titles, their unit in the table and its digits.
FIGURES = (
    ("size", "size, MB", 1e6, 2),
    ("read_today", "reading today, ms", 1e-3, 1),
    ("read_chosen", "reading then, ms", 1e-3, 1),
    ("rewrite", "rewriting, ms", 1e-3, 0),
)


@dataclass(frozen=True)
class Prediction:
    """What came of tuning a tree for a workload: the proof of each run."""

    name: str
    workload: str
    proofs: list[Any]

    def measured(self, figure: str) -> float:
        """The median over the runs."""
        return float(statistics.median(proof[figure]["measured"] for proof in self.proofs))

    def error(self, figure: str) -> float:
        """How far what was expected is off, as a share of what was measured: the median over the runs."""
        return float(
            statistics.median(proof[figure]["expected"] / proof[figure]["measured"] - 1 for proof in self.proofs)
        )

    def speedup(self, which: str) -> float:
        """How many times cheaper the chosen layout is to read, `expected` or `measured`."""
        return float(statistics.median(proof["speedup"][which] for proof in self.proofs))


@study
def predictions(context: Context) -> None:
    """What tune expects, and what is measured: the ten largest trees of the corpus, and the event models."""
    done = [*islice(corpus(context), 1 if context.quick else LARGEST), *models(context)]
    rows = []
    for one in done:
        cells = [
            f"{number(one.measured(figure) / unit, digits)} ({100 * one.error(figure):+.1f} %)"
            for figure, _, unit, digits in FIGURES
        ]
        speedups = " / ".join(number(one.speedup(which), 2) for which in ("expected", "measured"))
        rows.append([f"{one.name}, {one.workload}", *cells, speedups])
        context.keep(f"{one.name} {one.workload}", one.proofs)
    head = ["tree, workload", *(title for _, title, _, _ in FIGURES), "speed-up, expected / measured"]
    context.block("trees", table(head, rows))
    summary = []
    for figure, title, _, _ in FIGURES:
        errors = [abs(one.error(figure)) for one in done]
        summary.append([title.split(",")[0], *(f"{100 * of(errors):.1f} %" for of in (statistics.median, max))])
    context.block("errors", table(["", "median error", "worst"], summary))


def corpus(context: Context) -> Iterator[Prediction]:
    """The corpus' trees, those with most bytes on disk first; of each the newest cycle. What is not tuned is said."""
    if not corpus_is_here():
        context.say("The corpus is not here: the event models alone are measured.")
        return
    found = []
    for file in sorted((CORPUS / "files").rglob("*.root")):
        try:
            trees = json.loads(basketry("inspect", file, "--json"))["trees"]
        except RuntimeError:
            # Files that cannot be read are in the corpus on purpose.
            continue
        found += [(tree["zip_bytes"], f"{file}:{tree['path']}") for tree in trees if tree["newest"]]
    for _, source in sorted(found, reverse=True):
        name = source.rsplit("/files/", 1)[-1].split("--", 1)[-1]
        try:
            yield tuned(context, name, source, "full")
        except RuntimeError as error:
            context.say(f"{name} is left out: {error}")


def models(context: Context) -> Iterator[Prediction]:
    """A file of each event model, in ROOT's own layout."""
    for kind, size in MODELS.items():
        source = context.generated(kind, context.megabytes(size, 2), "--compression", "zlib:1")
        for workload in WORKLOADS:
            yield tuned(context, kind, str(source), workload)


def tuned(context: Context, name: str, source: str, workload: str) -> Prediction:
    """Tunes with other samples each time, and rewrites, on one thread: what is expected are CPU seconds of one."""
    output = context.out / "tuned.root"
    proofs = []
    for seed in range(1, context.repeat(5) + 1):
        options = ("--workload", workload, "--seed", str(seed), "-j", "1", "-o", output, "--force", "--json", "-q")
        proofs.append(json.loads(basketry("tune", source, *options))["proof"])
    output.unlink(missing_ok=True)
    return Prediction(name, workload, proofs)
