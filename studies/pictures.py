"""The pictures of the studies: SVG by matplotlib, once for light pages and once for dark ones.

The forms that several studies share are here. What they show is measured elsewhere; `picture_faults` looks at what was
drawn. A label has one colour and one marker in all panels of a picture, and one legend is below them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox

from studies.picture_faults import REFERENCE, crosses, faults, markers

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
_DASHED: dict[str, Any] = {"color": "0.5", "linewidth": 0.8, "linestyle": "--", "zorder": 1, "gid": REFERENCE}
_MARKERS = "osD^vP*X"
#: Inches of a picture of several panels, and of one: a page shows them as they are, so that text keeps its size.
_WIDTH, _ALONE = 8.6, 5.6
_HEIGHT = 3.2
#: Panels beside each other.
_BESIDE = 3
#: Points of a name's distance from its point, in the order in which places are tried.
_PLACES = [(5, 4), (5, -11), (-5, 4), (-5, -11), (0, 8), (0, -15)] + [
    (x, y) for far in (14, 26, 40, 60) for y in (far, -far) for x in (far, -far, 0)
]
#: From this distance on a thin line leads from the name to its point.
_FAR = 14
#: What a thread does, in the order of the legend.
STAGES = ("filling", "encoding", "compressing", "waiting", "writing")

#: The place of each label in the cycle of colours, by figure; and the names of points that wait for the legend.
_places: WeakKeyDictionary[Figure, dict[str, int]] = WeakKeyDictionary()
_named: WeakKeyDictionary[Figure, list[tuple[Axes, str, tuple[float, float]]]] = WeakKeyDictionary()


def draw(folder: Path, name: str, drawing: Drawing, panels: int = 1, run: str = "") -> tuple[list[str], list[str]]:
    """Writes NAME-light.svg and NAME-dark.svg; their names, and what is wrong with the picture.

    `run` names the run that measured the numbers, in the picture's metadata. The same numbers give the same bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names, wrong = [], []
    rows, _ = _rows(panels)
    size = (_WIDTH if panels > 1 else _ALONE, _HEIGHT * rows)
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
            "legend.fontsize": 9,
            "svg.hashsalt": name,
            # Text stays text: smaller, and found by a search.
            "svg.fonttype": "none",
        }
        with mpl.rc_context(style):  # type: ignore[arg-type]
            figure = Figure(figsize=size, layout="constrained")
            drawing(figure)
            _legend(figure)
            _place_names(figure)
            wrong = faults(figure)
            names.append(f"{name}-{theme}.svg")
            figure.savefig(folder / names[-1], transparent=True, metadata={"Date": None, "Identifier": run or None})
    return names, wrong


def _rows(panels: int) -> tuple[int, int]:
    """The rows of a picture, and the panels beside each other: four are in two rows of two."""
    beside = 2 if panels == _BESIDE + 1 else min(panels, _BESIDE)
    return -(-panels // beside), beside


def markdown(folder: str, names: Iterable[str], alt: str) -> list[str]:
    """The lines of a page that show the picture of the reader's theme, on GitHub and in the built site."""
    modes = (f"![{alt}]({folder}/{name}#gh-{name[:-4].rsplit('-', 1)[1]}-mode-only)" for name in names)
    return ["".join(modes)]


def panels(figure: Figure, titles: Sequence[str], *, shared: bool = False) -> list[Axes]:
    """Panels, each with its title, in rows of two or three. `shared`: all have the same scales."""
    rows, beside = _rows(len(titles))
    made = list(figure.subplots(rows, beside, squeeze=False, sharex=shared, sharey=shared).flat)
    for axes in made[len(titles) :]:
        axes.remove()
    for axes, title in zip(made, titles, strict=False):
        axes.set_title(title, fontsize=9)
        # Of shared scales matplotlib labels the outermost alone, and none where a row is not full.
        axes.tick_params(labelbottom=True, labelleft=True)
    return made[: len(titles)]


def scatter(axes: Axes, groups: Mapping[str, Points], x: str, y: str) -> None:
    """Points in groups, each with a marker of its own."""
    for label, points in groups.items():
        axes.plot(*_columns(points), linestyle="", markersize=5, alpha=0.85, **_look(axes, label))
    _label(axes, x, y)


def upright(axes: Axes, values: Mapping[str, float]) -> None:
    """An upright line at each value, for what has no second figure."""
    for label, value in values.items():
        look = _look(axes, label)
        axes.axvline(value, linewidth=1.3, label=label, color=look["color"])


def lines(axes: Axes, groups: Mapping[str, Points], x: str, y: str) -> None:
    """A line with markers for each group."""
    for label, points in groups.items():
        axes.plot(*_columns(points), markersize=4, linewidth=1.3, **_look(axes, label))
    _label(axes, x, y)


def stairs(axes: Axes, groups: Mapping[str, Points], x: str, y: str, bar: Points, bar_label: str) -> None:
    """A line for each group that changes at its points alone; `bar` is a dashed line to compare them with."""
    for label, points in groups.items():
        look = _look(axes, label)
        axes.step(*_columns(points), where="post", linewidth=1.3, label=label, color=look["color"])
    axes.plot(*_columns(bar), **_DASHED, label=bar_label)
    _label(axes, x, y)
    from_zero(axes.xaxis, axes.yaxis)


def over_threads(axes: Axes, groups: Mapping[str, Points], y: str, bar: Points, bar_label: str) -> None:
    """Lines over numbers of threads, each twice the one before; `bar` is a dashed line to compare them with."""
    lines(axes, groups, "threads", y)
    axes.plot(*_columns(bar), **_DASHED, label=bar_label)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(_PLAIN)
    from_zero(axes.yaxis)


def from_zero(*scales: Axis) -> None:
    """Lets these scales begin at zero and end a little after the last point; everything is drawn by then."""
    for scale in scales:
        is_x = isinstance(scale, XAxis)
        # The panels that share it have points, too.
        shared = scale.axes.get_shared_x_axes() if is_x else scale.axes.get_shared_y_axes()
        limits = [one.dataLim for one in shared.get_siblings(scale.axes)]
        most = max(float(one.x1 if is_x else one.y1) for one in limits)
        begin = scale.axes.set_xlim if is_x else scale.axes.set_ylim
        begin(0, 1.06 * most if most > 0 else 1)
        # Few enough for long numbers below three panels.
        scale.set_major_locator(MaxNLocator(nbins=5))


def whole(*scales: Axis) -> None:
    """Lets these scales have whole numbers alone."""
    for scale in scales:
        scale.set_major_locator(MaxNLocator(integer=True, nbins=6))


def logarithmic(*scales: Axis) -> None:
    """Logarithmic scales with plain numbers, and room on both sides of the points."""
    for scale in scales:
        is_x = isinstance(scale, XAxis)
        (scale.axes.set_xscale if is_x else scale.axes.set_yscale)("log")
        (scale.axes.set_xmargin if is_x else scale.axes.set_ymargin)(0.12)
        least, most = scale.get_view_interval()
        # Over more than two decades the numbers between would touch each other.
        few = range(1, 10) if most < 5 * least else (1, 2, 5) if most < 100 * least else (1,)
        scale.set_major_locator(LogLocator(subs=tuple(few)))
        scale.set_major_formatter(_PLAIN)
        scale.set_minor_formatter(NullFormatter())


def bars(axes: Axes, names: Sequence[str], groups: Mapping[str, Sequence[float]], x: str) -> None:
    """Horizontal bars, those of a name next to each other."""
    height = 0.8 / max(1, len(groups))
    for place, (label, values) in enumerate(groups.items()):
        rows = [row + place * height for row in range(len(names))]
        axes.barh(rows, values, height, label=label, color=_look(axes, label)["color"])
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(names))], names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    _label(axes, x, "")


def stacked(axes: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]], x: str) -> None:
    """One horizontal bar for each name, of parts."""
    begin = [0.0] * len(names)
    for label, values in parts.items():
        axes.barh(names, values, left=begin, label=label, color=_look(axes, label)["color"])
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
    _label(axes, unit, "thread")


def rings(axes: Axes, points: Iterable[tuple[float, float]]) -> None:
    """A ring around each of these points, which are drawn already."""
    for x, y in points:
        axes.plot([x], [y], linestyle="", marker="o", markersize=10, fillstyle="none", color=mpl.rcParams["text.color"])


def names(axes: Axes, points: Mapping[str, tuple[float, float]]) -> None:
    """The name of each point, beside it, where neither a point nor another name is."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    _named.setdefault(figure, []).extend((axes, name, point) for name, point in points.items())


def diagonal(axes: Axes, points: Iterable[float]) -> None:
    """The line of equal values, over logarithmic axes."""
    found = [value for value in points if value > 0]
    if found:
        ends = [min(found), max(found)]
        axes.plot(ends, ends, **_DASHED, label="predicted = measured")
    logarithmic(axes.xaxis, axes.yaxis)


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _look(axes: Axes, label: str) -> dict[str, Any]:
    """The colour and the marker of a label, the same in all panels."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    places = _places.setdefault(figure, {})
    place = places.setdefault(label, len(places))
    colours = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    return {"label": label, "color": colours[place % len(colours)], "marker": _MARKERS[place % len(_MARKERS)]}


def _legend(figure: Figure) -> None:
    """One legend below all panels, in as many rows as it needs."""
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    if len(shown) < 2:
        return
    # About 6 points a character, and 40 for the sample of each.
    longest = max(len(label) for label in shown)
    columns = max(1, min(len(shown), int(72 * figure.get_figwidth() / (6 * longest + 40))))
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=columns)


def _place_names(figure: Figure) -> None:
    """Puts each name at the first of the places around its point that is free, or else at the first."""
    waiting = _named.pop(figure, [])
    if not waiting:
        return
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw_without_rendering()
    taken: dict[Axes, list[Bbox]] = {axes: markers(axes) for axes, *_ in waiting}
    for axes, name, point in waiting:
        text = _beside(axes, name, point, _free_place(axes, name, point, taken[axes], renderer))
        taken[axes].append(_box(text, renderer))


def _free_place(
    axes: Axes, name: str, point: tuple[float, float], taken: list[Bbox], renderer: RendererAgg
) -> tuple[int, int]:
    """The first place beside a point where a name is inside of its panel and on nothing; if there is none, the first
    where it is on a line alone, or else the first.
    """
    inside = axes.get_window_extent()
    on_line = None
    for place in _PLACES:
        text = _beside(axes, name, point, place)
        # A little apart from everything else.
        box = _box(text, renderer).padded(2)
        text.remove()
        within = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        if within and not box.count_overlaps(taken):
            if not crosses(axes, box):
                return place
            on_line = on_line or place
    return on_line or _PLACES[0]


def _box(text: Annotation, renderer: RendererAgg) -> Bbox:
    """Where a name is: the text alone, without the line to its point."""
    text.update_positions(renderer)
    return Text.get_window_extent(text)


def _beside(axes: Axes, name: str, point: tuple[float, float], offset: tuple[int, int]) -> Annotation:
    """A name at a place beside its point, with a line to it from far away."""
    side = "left" if offset[0] > 0 else "right" if offset[0] < 0 else "center"
    leader = {"arrowstyle": "-", "linewidth": 0.6, "color": "0.5"} if abs(offset[1]) >= _FAR else None
    text = axes.annotate(name, point, xytext=offset, textcoords="offset points", fontsize=8, ha=side, arrowprops=leader)
    text.set_in_layout(False)
    return text
