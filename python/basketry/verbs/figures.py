"""The charts of `basketry sweep report` as figures of matplotlib: the same numbers, drawn by another library."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

from .._core import report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

_STYLES: dict[str, dict[str, Any]] = {
    "points": {"linestyle": "", "marker": "o"},
    "others": {"linestyle": "", "marker": "o", "color": "0.75", "zorder": 1},
    "today": {"linestyle": "", "marker": "D", "color": "tab:red", "markersize": 10},
    "chosen": {"linestyle": "", "marker": "o", "color": "tab:green", "markersize": 14, "fillstyle": "none"},
    "front": {"drawstyle": "steps-post", "color": "0.4", "zorder": 1},
    "line": {"marker": "o"},
    "area": {},
    "whole": {"color": "0.75", "zorder": 1},
    "ideal": {"linestyle": "--", "marker": ".", "zorder": 1},
}
# As on the page: dark letters are readable on all of them.
_SHADES = ["#dbe6f2", "#f2c28b", "#e07f66"]
# Width of a letter in a treemap that is 100 wide.
_LETTER = 0.9


def sweep_figures(
    folder: str | os.PathLike[str], *, besides: Iterable[str | os.PathLike[str]] = ()
) -> dict[str, Figure]:
    """The charts of a sweep by name, as figures to show, change and save.

    `besides` are further files to draw, as with `basketry sweep report --with`. Needs matplotlib, and
    squarify for the columns' tiles (`pip install basketry[figures]`). A chart without data is left out.
    """
    from matplotlib.figure import Figure

    options = {"json": True, "with": list(besides)}
    made: dict[str, Figure] = {}
    for chart in json.loads(report("sweep report", options, [os.fspath(folder)]))["charts"]:
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(chart["title"])
        {"plane": _plane, "bars": _bars, "tiles": _tiles}[chart["kind"]](axes, chart)
        made[chart["name"]] = figure
    return made


def _plane(axes: Axes, chart: dict[str, Any]) -> None:
    from matplotlib.ticker import MaxNLocator

    # Points and their line share a name and a colour.
    colours: dict[str, str] = {}
    told: set[tuple[float, float]] = set()
    for series in chart["series"]:
        name, style, shown = series["name"], series["style"], not series["hidden"]
        x, y = ([spot[of] for spot in series["points"]] for of in "xy")
        look = dict(_STYLES[style])
        if "color" not in look:
            look["color"] = colours.setdefault(name, f"C{len(colours)}")
        first = shown and name not in {line.get_label() for line in axes.lines}
        axes.plot(x, y, label=name if first else "_", visible=shown, **look)
        if style in ("area", "whole"):
            axes.fill_between(x, y, color=look["color"], alpha=0.3, linewidth=0)
        for spot in series["points"] if style in ("today", "chosen", "front") else ():
            if spot["name"] and (spot["x"], spot["y"]) not in told:
                axes.annotate(
                    spot["name"], (spot["x"], spot["y"]), (0, 9), textcoords="offset points", ha="center", fontsize=7
                )
                told.add((spot["x"], spot["y"]))
    # Hidden axes need no room.
    axes.relim(visible_only=True)
    axes.autoscale_view()
    for axis, which, begin in (("x", axes.xaxis, axes.set_xlim), ("y", axes.yaxis, axes.set_ylim)):
        which.set_label_text(chart[axis]["title"])
        if chart[axis]["from_zero"]:
            begin(0)
        if chart[axis]["whole"]:
            which.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    _legend(axes)


def _legend(axes: Axes) -> None:
    """A legend beside the axes, never on the data."""
    lines, names = axes.get_legend_handles_labels()
    wide = len(names) > 6 or sum(map(len, names)) > 90
    place = {"loc": "outside right upper"} if wide else {"loc": "outside lower center", "ncols": len(names)}
    axes.figure.legend(lines, names, fontsize="small", **place)


def _bars(axes: Axes, chart: dict[str, Any]) -> None:
    places = range(len(chart["bars"]))
    behind = [0.0] * len(places)
    for part in chart["parts"]:
        last = part is chart["parts"][-1]
        axes.barh(places, part["values"], left=behind, label=part["name"], color="0.8" if last else None)
        behind = [a + b for a, b in zip(behind, part["values"], strict=True)]
    axes.set_yticks(places, [bar["name"] for bar in chart["bars"]])
    axes.invert_yaxis()
    axes.set_xlabel(chart["x"]["title"])
    _legend(axes)


def _tiles(axes: Axes, chart: dict[str, Any]) -> None:
    import numpy as np
    import squarify
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    tiles = sorted(chart["tiles"], key=lambda tile: -tile["size"])
    most = max((tile["colour"] or 0.0 for tile in tiles), default=0.0)
    shades = ScalarMappable(Normalize(0, most or 1), LinearSegmentedColormap.from_list("time", _SHADES))
    squarify.plot(
        [tile["size"] for tile in tiles],
        label=[tile["name"] for tile in tiles],
        color=list(shades.to_rgba(np.asarray([tile["colour"] or 0.0 for tile in tiles]))),
        ax=axes,
        bar_kwargs={"edgecolor": "white"},
        text_kwargs={"fontsize": 7, "clip_on": True},
    )
    for text, box in zip(list(axes.texts), axes.patches, strict=True):
        letters = int(cast("Rectangle", box).get_width() / _LETTER)
        if letters < 3 or cast("Rectangle", box).get_height() < 3:
            text.remove()
        elif len(text.get_text()) > letters:
            text.set_text(f"{text.get_text()[: letters - 1]}…")
    axes.set_axis_off()
    axes.figure.colorbar(shades, ax=axes, label=chart["colour"]["title"])
