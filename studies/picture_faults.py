"""What is wrong with a drawn picture: texts that overlap, lie on lines, are cut off or too small, panels without
data or without numbers on a scale, and points outside their panel. It looks at the picture as it is laid out, and
changes nothing."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

#: Places in pixels, a row each.
Pixels = NDArray[np.float64]

#: The group of lines that only compare: a panel with nothing else shows nothing.
REFERENCE = "reference"
#: The smallest text in points, on a page that is so many inches wide (830 pixels, as GitHub's).
SMALLEST = 8.0
PAGE = 8.65


def faults(figure: Figure) -> list[str]:
    """What is wrong, in words; empty for a good picture."""
    figure.draw_without_rendering()
    return [*_texts(figure), *_panels(figure)]


def markers(axes: Axes) -> list[Bbox]:
    """The boxes of the points of a panel, in pixels."""
    boxes = []
    for line in axes.get_lines():
        if line.get_marker() in (None, "", "None"):
            continue
        half = line.get_markersize() * axes.figure.dpi / 72 / 2
        for x, y in _points(line, axes):
            boxes.append(Bbox.from_extents(x - half, y - half, x + half, y + half))
    return boxes


def crosses(axes: Axes, box: Bbox) -> bool:
    """Whether a drawn line of a panel, other than one that only compares, goes through this box."""
    for line in axes.get_lines():
        if line.get_linestyle() in ("None", "", " ") or line.get_gid() == REFERENCE:
            continue
        placed = _points(line, axes)
        if len(placed) > 1 and Path(placed).intersects_bbox(box, filled=False):
            return True
    return False


def _points(line: Line2D, axes: Axes) -> Pixels:
    found = np.asarray(line.get_xydata(), dtype=np.float64).reshape(-1, 2)
    placed: Pixels = np.asarray(axes.transData.transform(found[np.isfinite(found).all(axis=1)]), dtype=np.float64)
    return placed[np.isfinite(placed).all(axis=1)]


def _texts(figure: Figure) -> Iterator[str]:
    page = figure.bbox
    shrunk = min(1.0, PAGE / figure.get_figwidth())
    seen: list[tuple[str, Bbox]] = []
    for text in _shown(figure):
        # Of an annotation the text alone, without the line to its point.
        said, box = text.get_text(), Text.get_window_extent(text)
        points = shrunk * float(text.get_fontsize())
        if points < SMALLEST:
            yield f"{said!r} is {points:.1f} points high on a page"
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1:
            yield f"{said!r} is cut off"
        # A pixel on each side is no overlap.
        inner = Bbox.from_extents(box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1)
        yield from (f"{said!r} lies on {other!r}" for other, taken in seen if inner.overlaps(taken))
        if isinstance(text, Annotation) and isinstance(text.axes, Axes) and crosses(text.axes, inner):
            yield f"{said!r} lies on a line"
        seen.append((said, inner))


def _shown(figure: Figure) -> Iterator[Text]:
    """All texts that are drawn."""
    for legend in figure.legends:
        yield from legend.get_texts()
    for axes in figure.axes:
        yield from (text for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts) if text.get_text())
        inner = axes.get_legend()
        yield from inner.get_texts() if inner else ()
        for axis in (axes.xaxis, axes.yaxis):
            yield from _ticks(axis)


def _ticks(axis: Axis) -> Iterator[Text]:
    """The labels of a scale that are drawn: those of ticks outside of it are not."""
    least, most = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if least <= tick.get_loc() <= most and tick.label1.get_visible() and tick.label1.get_text():
            yield tick.label1


def _panels(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        title = axes.get_title() or "a panel"
        drawn = [line for line in axes.get_lines() if line.get_gid() != REFERENCE and len(_points(line, axes))]
        if not (drawn or axes.patches or axes.collections or axes.texts):
            yield f"{title!r} is empty"
        bare = [name for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)) if not list(_ticks(axis))]
        yield from (f"{title!r} has no numbers on its {name} scale" for name in bare)
        inside = axes.get_window_extent()
        for box in markers(axes):
            if box.x0 < inside.x0 - 1 or box.x1 > inside.x1 + 1 or box.y0 < inside.y0 - 1 or box.y1 > inside.y1 + 1:
                yield f"a point of {title!r} is cut off"
                break
