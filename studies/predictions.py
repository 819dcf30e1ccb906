"""Predictions of `tune` beside measurements of the rewritten file, for the corpus and the event models.

No parameter of the model comes from these files: tune measures each file itself.
"""

import hashlib
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice

from matplotlib.figure import Figure

from referee.paths import CORPUS, corpus_is_here
from studies import pictures
from studies.gauge import Outcome, ninth, outcome
from studies.study import Context, number, study, table

#: The event models, and how much of them at scale 1.
MODELS = {"lhcb": 40, "aod": 60, "esd": 80, "multi": 60}
WORKLOADS = ("full", "sparse:1%")
#: Files of the corpus in the quick form.
QUICK = 5
#: Figures, each with the outcomes that have it.
FIGURES: tuple[tuple[str, Callable[[Outcome], float], bool], ...] = (
    ("size", lambda one: one.size_error, False),
    ("reading the input", lambda one: one.today_error, True),
    ("reading the output", lambda one: one.read_error, True),
    ("rewriting", lambda one: one.rewrite_error, True),
)


def half(name: str) -> str:
    """The half of the corpus that a file belongs to, by its name alone."""
    return "corpus, first half" if hashlib.sha256(name.encode()).digest()[0] % 2 else "corpus, second half"


@study
def predictions(context: Context) -> None:
    """Predictions and measurements of all trees of the corpus, and of the event models."""
    groups: dict[str, list[Outcome]] = {}
    for one in corpus(context):
        groups.setdefault(half(one.name), []).append(one)
    groups["event models"] = models(context)
    everything = [one for group in groups.values() for one in group]
    context.keep("outcomes", [asdict(one) for one in everything])
    rows = [row for title, group in groups.items() for row in errors(title, group)]
    head = ["files", "", "number", "median error", "90 %", "worst"]
    context.block("errors", table(head, rows))
    context.block("limits", limits(groups))
    timed = [one for one in everything if one.proven and one.takes_long_enough]
    lines = [
        [
            one.name,
            f"{number(one.bytes_after / 1e6, 2)} ({100 * one.size_error:+.1f} %)",
            f"{number(1e3 * one.read_before, 1)} ({100 * one.today_error:+.1f} %)",
            f"{number(1e3 * one.read_after, 1)} ({100 * one.read_error:+.1f} %)",
            f"{number(1e3 * one.rewrite, 0)} ({100 * one.rewrite_error:+.1f} %)",
            number(one.measuring, 2),
            str(one.trials),
        ]
        for one in sorted(timed, key=lambda one: -one.read_before)
    ]
    head = ["file", "size, MB", "reading the input, ms", "reading the output, ms", "rewriting, ms"]
    head += ["measuring, s", "trials"]
    context.block("trees", table(head, lines))
    alt = "Predicted against measured: size of the output, and time of reading it."
    context.picture("outcomes", alt, lambda figure: scattered(figure, everything), 2)


def errors(title: str, group: Sequence[Outcome]) -> list[list[str]]:
    """Rows of a table: the error of each figure over these files."""
    rows = []
    for figure, error, is_time in FIGURES:
        done = [one for one in group if one.proven and (one.takes_long_enough or not is_time)]
        off = [abs(error(one)) for one in done]
        shares = (statistics.median(off), ninth(off), max(off)) if off else ()
        cells = [f"{100 * share:.1f} %" for share in shares] or ["", "", ""]
        rows.append([title, figure, str(len(off)), *cells])
    return rows


def limits(groups: dict[str, list[Outcome]]) -> list[str]:
    """The number of outputs, and the outputs that broke a limit."""
    rows = []
    for title, group in groups.items():
        done = [one for one in group if one.proven]
        again = sum(one.attempts > 1 for one in done)
        slower = sum(one.slower for one in done if one.takes_long_enough)
        longest = max((one.measuring for one in done), default=0.0)
        cells = [len(group), len(done), again, sum(one.over for one in done), slower]
        rows.append([title, *map(str, cells), number(longest, 1)])
    head = ["files", "number", "outputs", "after another choice", "larger than the input", "slower"]
    head += ["longest measuring, s"]
    return table(head, rows)


def corpus(context: Context) -> list[Outcome]:
    """The corpus' files that have trees, each for reading everything. Files that cannot be tuned have no outcome."""
    if not corpus_is_here():
        context.say("The corpus is not here: the event models alone are measured.")
        return []
    files = sorted((CORPUS / "files").rglob("*.root"))
    done = (outcome(str(file), name=file.name.split("--", 1)[-1]) for file in files)
    # Files without a tree of their own, and unreadable files, cannot be tuned.
    found = (one for one in done if one.code != 2)
    return list(islice(found, QUICK if context.quick else None))


def models(context: Context) -> list[Outcome]:
    """A file of each event model, in ROOT's own layout."""
    done = []
    for kind, size in MODELS.items():
        source = context.generated(kind, context.megabytes(size, 2), "--compression", "zlib:1")
        done += [outcome(str(source), "--workload", load, name=f"{kind}, {load}") for load in WORKLOADS]
    return done


def scattered(figure: Figure, everything: Sequence[Outcome]) -> None:
    """Each output's predicted size and reading time over the measured ones."""
    sizes, times = pictures.panels(figure, ["size", "reading the output"])
    proven = [one for one in everything if one.proven]
    timed = [one for one in proven if one.takes_long_enough]
    size = [(one.bytes_after / 1e6, one.bytes_expected / 1e6) for one in proven]
    time = [(1e3 * one.read_after, 1e3 * one.read_after_expected) for one in timed]
    for axes, points, unit in ((sizes, size, "MB"), (times, time, "ms")):
        pictures.scatter(axes, {"outputs": points}, f"measured, {unit}", f"predicted, {unit}")
        pictures.diagonal(axes, [value for point in points for value in point])
