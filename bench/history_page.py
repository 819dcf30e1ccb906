"""The page of a history of figures: `make bench-history`, or `python bench/history_page.py FOLDER`.

A drawing for each figure of each job over the runs, and what moved, in words: one HTML file without scripts, light or
dark as the reader's system is. It measures and decides nothing; `history` does.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from history import Job, Move, Run, moves, read

#: Size of a drawing in pixels; the room at its left for numbers, below for commits, and around the marks.
WIDTH, HEIGHT, LEFT, BELOW, MARGIN = 330, 120, 46, 18, 8
#: Runs whose moves are shown at once.
NEWEST = 5
TITLES = {"cpu": "CPU, s", "peak_rss": "peak RSS, MB", "output_bytes": "output, MB"}
SCALES = {"cpu": 1.0, "peak_rss": 1e-6, "output_bytes": 1e-6}
STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #24292f; --faint: #59636e; --line: #0072b2;
  --rule: #d0d7de; --worse: #c0392b; --better: #1a7f37 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --ink: #e6edf3; --faint: #9aa5b1; --line: #56b4e9; --rule: #30363d;
    --worse: #ff8f73; --better: #2fc79a } }
body { font: 14px/1.4 sans-serif; color: var(--ink); background: var(--ground); max-width: 75em; margin: 2em auto;
  padding: 0 1em; overflow-wrap: anywhere }
h1 { font-size: 24px } h2 { font-size: 18px; margin: 1.2em 0 0.4em } h3 { margin: 1em 0 0.3em; font-size: 14px }
ul { margin: 0.2em 0 0.8em; padding-left: 1.4em } summary { cursor: pointer }
figure { display: inline-block; margin: 0 1em 1em 0 } figcaption { font-size: 13px } .faint { color: var(--faint) }
svg { max-width: 100% } svg text { font-size: 11px; fill: var(--faint) } .rule { stroke: var(--rule) }
polyline { fill: none; stroke: var(--line); stroke-width: 1.5 } .point { fill: var(--line) }
.worse { color: var(--worse); fill: var(--worse) } .better { color: var(--better); fill: var(--better) }
"""


def page(runs: Sequence[Run], moved: Sequence[Move]) -> str:
    """The page of these runs, by machine, section and job."""
    parts = ["<h1>Figures over commits</h1>", *_news(runs, moved)]
    for machine in dict.fromkeys(run.machine for run in runs):
        of_machine = [run for run in runs if run.machine == machine]
        parts.append(f"<h2>{escape(machine)}: {_count(len(of_machine), 'run')}, {_span(of_machine)}</h2>")
        jobs = {job for run in of_machine for job in run.ours}
        for job in sorted(jobs, key=lambda job: (job.section, job.label, job.name)):
            parts.append(f"<h3>{escape(job.section)}: {escape(job.label)}, {escape(job.name)}</h3>")
            parts += [_figure(of_machine, job, figure, moved) for figure in TITLES]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>Figures over commits</title><style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def sentence(move: Move) -> str:
    """A move in words."""
    job, unit = move.job, TITLES[move.figure].split(", ")
    values = (SCALES[move.figure] * run.median(job, move.figure) for run in (move.before, move.after))
    before, after = (f"{value:.3g}" for value in values)
    change = f"{100 * (move.ratio - 1):+.1f} %"
    # Without it the two values and their change do not fit together.
    rivals = "" if abs(move.machine - 1) < 0.005 else f"; the rivals take {100 * (move.machine - 1):+.1f} %"
    return (
        f"{job.section}, {job.label}, {job.name}: {unit[0]} {change} "
        f"({before} to {after} {unit[1]}, {move.before.commit} to {move.after.commit}{rivals})"
    )


def _news(runs: Sequence[Run], moved: Sequence[Move]) -> list[str]:
    if not moved:
        return ["<p>No figure moved by more than its noise.</p>"]
    several = len({run.machine for run in runs}) > 1
    parts = []
    for run in reversed(runs):
        if found := [move for move in moved if move.after is run]:
            items = "".join(
                f'<li class="{_kind(move)}">{_sign(move)} {_kind(move)}: {escape(sentence(move))}</li>'
                for move in found
            )
            where = f" on {run.machine}" if several else ""
            title = f"Moved in {run.commit}, {_when(run)}{where}"
            parts.append(f"<h2>{escape(title)}</h2><ul>{items}</ul>")
    older = parts[NEWEST:]
    title = f"<summary>{_count(len(older), 'older run')} in which figures moved</summary>"
    return [*parts[:NEWEST], *([f"<details>{title}{''.join(older)}</details>"] if older else [])]


def _figure(runs: Sequence[Run], job: Job, figure: str, moved: Sequence[Move]) -> str:
    """A drawing: the medians in the order of the runs, from zero; runs that did not measure it are a gap."""
    values = [SCALES[figure] * run.median(job, figure) for run in runs]
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return ""
    most = max(known) or 1.0
    step = (WIDTH - LEFT - 2 * MARGIN) / max(1, len(runs) - 1)
    bottom, height = HEIGHT - BELOW - MARGIN, HEIGHT - BELOW - 2 * MARGIN
    places = [(LEFT + MARGIN + at * step, bottom - value / most * height) for at, value in enumerate(values)]
    parts = []
    for value, y in ((0.0, float(bottom)), (most, float(bottom - height))):
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 4}">{escape(runs[0].commit[:12])}</text>')
    if len(runs) > 1:
        parts.append(f'<text x="{WIDTH}" y="{HEIGHT - 4}" text-anchor="end">{escape(runs[-1].commit[:12])}</text>')
    for stretch in _stretches(values):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (places[at] for at in stretch))
        parts.append(f'<polyline points="{line}"/>')
    at_run = {id(move.after): move for move in moved if move.job == job and move.figure == figure}
    for (x, y), run, value in zip(places, runs, values, strict=True):
        if not math.isnan(value):
            parts.append(_mark(x, y, f"{run.commit}, {_when(run)}: {value:.4g}", at_run.get(id(run))))
    caption = f'{TITLES[figure]} <span class="faint">now {known[-1]:.4g}, at most {most:.4g}</span>'
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    drawing = f'<svg {size} role="img" aria-label="{TITLES[figure]} over runs">{"".join(parts)}</svg>'
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"


def _stretches(values: Sequence[float]) -> Iterator[list[int]]:
    """The places of values that follow each other without a gap."""
    for is_known, of in groupby(range(len(values)), key=lambda at: not math.isnan(values[at])):
        if is_known:
            yield list(of)


def _mark(x: float, y: float, says: str, move: Move | None) -> str:
    """The point of a run; what moved is a triangle that shows the way, so that it is seen without colours."""
    title = f"<title>{escape(says + (f'; {sentence(move)}' if move else ''))}</title>"
    if move is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" class="point" r="2.5">{title}</circle>'
    up = -6 if move.ratio > 1 else 6
    points = f"{x - 6:.1f},{y - up:.1f} {x + 6:.1f},{y - up:.1f} {x:.1f},{y + up:.1f}"
    return f'<polygon points="{points}" class="{_kind(move)}">{title}</polygon>'


def _sign(move: Move) -> str:
    return "▲" if move.ratio > 1 else "▼"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _when(run: Run) -> str:
    return run.date[:16].replace("T", " ")


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
