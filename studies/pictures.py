"""The pictures of the studies: SVG by matplotlib, once for light pages and once for dark ones.

The forms that several studies share are here. What they show is measured elsewhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

Drawing = Callable[[Figure], None]
#: Points as (x, y).
Points = Sequence[tuple[float, float]]

# The colours are told apart by colour-blind readers (Okabe and Ito), on both grounds.
_COLOURS = {
    "light": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#555555"],
    "dark": ["#56b4e9", "#e69f00", "#2fc79a", "#e39bc5", "#f0e442", "#bbbbbb"],
}
_INK = {"light": "#24292f", "dark": "#e6edf3"}
_PLAIN = FuncFormatter(lambda value, _: f"{value:g}")
_DASHED: dict[str, Any] = {"color": "0.5", "linewidth": 0.8, "linestyle": "--", "zorder": 1}
_MARKERS = "osD^vP*X"
_HEIGHT, _WIDTH = 3.4, 3.4
#: What a thread does, in the order of the legend.
STAGES = ("filling", "encoding", "compressing", "waiting", "writing")


def draw(folder: Path, name: str, drawing: Drawing, panels: int = 1) -> list[str]:
    """Writes NAME-light.svg and NAME-dark.svg, and returns their names. The same numbers give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for theme, ink in _INK.items():
        inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
        style: dict[str, Any] = dict.fromkeys(inked, ink) | {
            "axes.prop_cycle": cycler(color=_COLOURS[theme]),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "font.size": 9,
            "legend.frameon": False,
            "legend.fontsize": 8,
            "svg.hashsalt": name,
            # Text stays text: smaller, and found by a search.
            "svg.fonttype": "none",
        }
        with mpl.rc_context(style):  # type: ignore[arg-type]
            figure = Figure(figsize=(max(5.0, _WIDTH * panels), _HEIGHT), layout="constrained")
            drawing(figure)
            names.append(f"{name}-{theme}.svg")
            figure.savefig(folder / names[-1], transparent=True, metadata={"Date": None})
    return names


def markdown(folder: str, names: Iterable[str], alt: str) -> list[str]:
    """The lines of a page that show the picture of the reader's theme, on GitHub and in the built site."""
    modes = (f"![{alt}]({folder}/{name}#gh-{name[:-4].rsplit('-', 1)[1]}-mode-only)" for name in names)
    return ["".join(modes)]


def panels(figure: Figure, titles: Sequence[str]) -> list[Axes]:
    """Panels side by side, each with its title and its own scales."""
    made = figure.subplots(1, len(titles), squeeze=False)[0]
    for axes, title in zip(made, titles, strict=True):
        axes.set_title(title, fontsize=9)
    return list(made)


def scatter(axes: Axes, groups: Mapping[str, Points], x: str, y: str) -> None:
    """Points in groups, each with a marker of its own."""
    for marker, (label, points) in zip(_MARKERS, groups.items(), strict=False):
        axes.plot(*_columns(points), linestyle="", marker=marker, markersize=4, alpha=0.85, label=label)
    _label(axes, x, y)


def lines(axes: Axes, groups: Mapping[str, Points], x: str, y: str) -> None:
    """A line with markers for each group."""
    for marker, (label, points) in zip(_MARKERS, groups.items(), strict=False):
        axes.plot(*_columns(points), marker=marker, markersize=4, linewidth=1.3, label=label)
    _label(axes, x, y)


def stairs(axes: Axes, groups: Mapping[str, Points], x: str, y: str, bar: Points) -> None:
    """A line for each group that changes at its points alone; `bar` is a dashed line to compare them with."""
    for label, points in groups.items():
        axes.step(*_columns(points), where="post", linewidth=1.3, label=label)
    axes.plot(*_columns(bar), **_DASHED)
    _label(axes, x, y)
    from_zero(axes.xaxis, axes.yaxis)


def over_threads(axes: Axes, groups: Mapping[str, Points], y: str, bar: Points = ()) -> None:
    """Lines over numbers of threads, each twice the one before; `bar` is a dashed line to compare them with."""
    lines(axes, groups, "threads", y)
    axes.plot(*_columns(bar), **_DASHED)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(_PLAIN)
    from_zero(axes.yaxis)


def from_zero(*scales: Axis) -> None:
    """Lets these scales begin at zero; everything is drawn by then."""
    for scale in scales:
        scale.axes.autoscale_view()
        begin = scale.axes.set_xlim if isinstance(scale, XAxis) else scale.axes.set_ylim
        begin(0)


def logarithmic(axes: Axes) -> None:
    """A logarithmic horizontal axis with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(_PLAIN)
    axes.xaxis.set_minor_formatter(NullFormatter())


def bars(axes: Axes, names: Sequence[str], groups: Mapping[str, Sequence[float]], x: str) -> None:
    """Horizontal bars, those of a name next to each other."""
    height = 0.8 / max(1, len(groups))
    for place, (label, values) in enumerate(groups.items()):
        axes.barh([row + place * height for row in range(len(names))], values, height, label=label)
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(names))], names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    _label(axes, x, "")


def stacked(axes: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]], x: str) -> None:
    """One horizontal bar for each name, of parts."""
    begin = [0.0] * len(names)
    for label, values in parts.items():
        axes.barh(names, values, left=begin, label=label)
        begin = [before + value for before, value in zip(begin, values, strict=True)]
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    _label(axes, x, "")


def timeline(axes: Axes, spans: Iterable[tuple[int, str, float, float]], unit: str) -> None:
    """A row for each thread, with its stages as (thread, stage, begin, end). Time without a stage is empty."""
    found = list(spans)
    threads = sorted({thread for thread, *_ in found})
    for stage in STAGES:
        for thread in threads:
            bars = [(begin, end - begin) for who, what, begin, end in found if (who, what) == (thread, stage)]
            colour = f"C{STAGES.index(stage)}"
            axes.broken_barh(bars, (thread - 0.4, 0.8), color=colour, linewidth=0, label=stage * (thread == threads[0]))
    axes.set_yticks(threads, [str(thread + 1) for thread in threads])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(unit)
    axes.set_ylabel("thread")


def one_legend(figure: Figure, axes: Axes) -> None:
    """One legend below all panels, which show the same things as these axes."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def names(axes: Axes, points: Mapping[str, tuple[float, float]]) -> None:
    """The name of each point, beside it."""
    for name, point in points.items():
        axes.annotate(name, point, xytext=(4, 4), textcoords="offset points", fontsize=7)


def diagonal(axes: Axes, points: Iterable[float]) -> None:
    """The line of equal values, over logarithmic axes."""
    found = [value for value in points if value > 0]
    axes.set_xscale("log")
    axes.set_yscale("log")
    if found:
        ends = [min(found), max(found)]
        axes.plot(ends, ends, **_DASHED)


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend()
