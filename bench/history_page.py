"""The page of a history of figures: `make bench-history`, or `python bench/history_page.py FOLDER`.

A drawing for each figure of each job over the runs, and what moved, in words: one HTML file without scripts, light or
dark as the reader's system is. It measures and decides nothing; `history` does.
"""

import argparse
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from history import Job, Move, Run, moves, read

#: Size of a drawing in pixels, and the margin that keeps marks inside.
WIDTH, HEIGHT, MARGIN = 260, 70, 8
TITLES = {"cpu": "CPU, s", "peak_rss": "peak RSS, MB", "output_bytes": "output, MB"}
SCALES = {"cpu": 1.0, "peak_rss": 1e-6, "output_bytes": 1e-6}
STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --faint: #6b7684; --line: #0072b2; --worse: #c8553d;
  --better: #2f7d4f }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --faint: #9aa5b1; --line: #56b4e9; --worse: #ff8f73; --better: #2fc79a } }
body { font: 14px/1.4 sans-serif; color: var(--ink); max-width: 75em; margin: 2em auto; padding: 0 1em }
figure { display: inline-block; margin: 0 1em 1em 0 } figcaption { font-size: 12px }
h3 { margin: 1em 0 0.3em; font-size: 14px } .faint { color: var(--faint) }
polyline { fill: none; stroke: var(--line); stroke-width: 1.5 } .point { fill: var(--line) }
.worse { color: var(--worse); fill: var(--worse) } .better { color: var(--better); fill: var(--better) }
"""


def page(runs: Sequence[Run], moved: Sequence[Move]) -> str:
    """The page of these runs, by machine, section and job."""
    parts = ["<h1>Figures over commits</h1>", *_news(runs, moved)]
    for machine in dict.fromkeys(run.machine for run in runs):
        of_machine = [run for run in runs if run.machine == machine]
        parts.append(f"<h2>{escape(machine)}: {len(of_machine)} runs, {_span(of_machine)}</h2>")
        jobs = {job for run in of_machine for job in run.ours}
        for job in sorted(jobs, key=lambda job: (job.section, job.label, job.name)):
            parts.append(f"<h3>{escape(job.section)}: {escape(job.label)}, {escape(job.name)}</h3>")
            parts += [_figure(of_machine, job, figure, moved) for figure in TITLES]
    head = f'<meta charset="utf-8"><title>Figures over commits</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def sentence(move: Move) -> str:
    """A move in words."""
    job, unit = move.job, TITLES[move.figure].split(", ")
    values = (SCALES[move.figure] * run.median(job, move.figure) for run in (move.before, move.after))
    before, after = (f"{value:.3g}" for value in values)
    change = f"{100 * (move.ratio - 1):+.1f} %"
    return (
        f"{job.section}, {job.label}, {job.name}: {unit[0]} {change} "
        f"({before} to {after} {unit[1]}, {move.before.commit} to {move.after.commit})"
    )


def _news(runs: Sequence[Run], moved: Sequence[Move]) -> list[str]:
    if not moved:
        return ["<p>No figure moved by more than its noise.</p>"]
    of_run = {id(run): [move for move in moved if move.after is run] for run in runs}
    parts = []
    for run in reversed(runs):
        if found := of_run[id(run)]:
            items = "".join(f'<li class="{_kind(move)}">{escape(sentence(move))}</li>' for move in found)
            parts.append(f"<h2>Moved in {escape(run.commit)}, {escape(run.date)}</h2><ul>{items}</ul>")
    return parts


def _figure(runs: Sequence[Run], job: Job, figure: str, moved: Sequence[Move]) -> str:
    """A drawing: the medians in the order of the runs, from zero; runs that did not measure it are a gap."""
    found = [(at, run, SCALES[figure] * run.median(job, figure)) for at, run in enumerate(runs)]
    found = [(at, run, value) for at, run, value in found if not math.isnan(value)]
    if not found:
        return ""
    most = max(value for _, _, value in found) or 1.0
    step = (WIDTH - 2 * MARGIN) / max(1, len(runs) - 1)
    at_run = {id(move.after): move for move in moved if move.job == job and move.figure == figure}
    places = [(MARGIN + at * step, HEIGHT - MARGIN - value / most * (HEIGHT - 2 * MARGIN)) for at, _, value in found]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = []
    for (x, y), (_, run, value) in zip(places, found, strict=True):
        move = at_run.get(id(run))
        title = f"{run.commit}, {run.date}: {value:.4g}" + (f"; {sentence(move)}" if move else "")
        look = f'class="{_kind(move)}" r="5"' if move else 'class="point" r="2.5"'
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {look}><title>{escape(title)}</title></circle>')
    caption = f'{TITLES[figure]} <span class="faint">now {found[-1][2]:.4g}, at most {most:.4g}</span>'
    drawing = f'<svg width="{WIDTH}" height="{HEIGHT}" role="img"><polyline points="{line}"/>{"".join(marks)}</svg>'
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"


def _kind(move: Move) -> str:
    return "worse" if move.ratio > 1 else "better"


def _span(runs: Sequence[Run]) -> str:
    return f"{escape(runs[0].date[:10])} to {escape(runs[-1].date[:10])}"


def main() -> None:
    """Draws the page of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the runs' files (*.jsonl)")
    parser.add_argument("-o", "--output", type=Path, help="the page; default FOLDER/index.html")
    options = parser.parse_args()
    runs = read(sorted(options.folder.glob("*.jsonl")))
    if not runs:
        parser.error(f"{options.folder} has no file of a run (*.jsonl) that is not quick: `make bench` leaves them")
    found = moves(runs)
    output = options.output or options.folder / "index.html"
    output.write_text(page(runs, found))
    last = [move for move in found if move.after is runs[-1]]
    print(f"{output}: {len(runs)} runs, {len(found)} moves, {len(last)} of them in the last run")
    for move in last:
        print(sentence(move))


if __name__ == "__main__":
    main()
