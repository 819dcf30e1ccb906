"""The pictures of the studies: what is wrong with one is found, and the forms that they use have nothing wrong."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from referee.paths import REPO
from studies import pictures
from studies.picture_faults import faults
from studies.study import FIGURES, PAGES, quote

PICTURES = PAGES / "pictures"
RUN = re.compile(r"Run: (.+)\.$", re.MULTILINE)
BLOCK = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


def planted(drawing: Callable[[Figure], None]) -> list[str]:
    """What is wrong with a picture that is drawn without the studies' forms."""
    figure = Figure(figsize=(5, 3), layout="constrained")
    drawing(figure)
    return faults(figure)


def test_texts_that_overlap_are_found() -> None:
    def drawing(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], "o")
        axes.margins(0.2)
        for name in ("zlib:7", "zlib:9"):
            axes.annotate(name, (0.5, 0.5))

    assert planted(drawing) == ["'zlib:9' lies on 'zlib:7'"]


def test_texts_that_are_cut_off_or_small_are_found() -> None:
    def drawing(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1])
        axes.text(0.9, 0.5, "a long sentence that does not fit", fontsize=6).set_in_layout(False)

    cut, small = sorted(planted(drawing))
    assert "is 6.0 points high" in cut
    assert "is cut off" in small


def test_a_wide_picture_has_small_text() -> None:
    def drawing(figure: Figure) -> None:
        figure.set_figwidth(17.3)
        figure.subplots().plot([0, 1], [0, 1])

    assert all("is 5.0 points high" in fault for fault in planted(drawing))
    assert planted(drawing)


def test_empty_panels_and_points_outside_are_found() -> None:
    def drawing(figure: Figure) -> None:
        empty, cut = figure.subplots(1, 2)
        empty.set_title("empty")
        empty.plot([0, 1], [0, 1], gid="reference")
        cut.set_title("cut")
        cut.plot([0, 1], [0, 1], "o")
        cut.set_xlim(0, 1)

    assert planted(drawing) == ["'empty' is empty", "a point of 'cut' is cut off"]


def test_names_on_lines_and_scales_without_numbers_are_found() -> None:
    def drawing(figure: Figure) -> None:
        named, bare = figure.subplots(1, 2)
        named.plot([0, 1], [0, 1], "o-")
        named.plot([0, 1], [1, 0], gid="reference")
        named.annotate("zlib:9", (0.5, 0.5), ha="center", va="center")
        named.annotate("lzma:4", (0.2, 0.75), ha="center", va="center")
        bare.set_title("bare")
        bare.plot([0, 1], [0, 1])
        bare.tick_params(labelbottom=False)

    assert planted(drawing) == ["'zlib:9' lies on a line", "'bare' has no numbers on its x scale"]


def on_a_line(figure: Figure) -> None:
    """Names of points on lines that cross each other."""
    (axes,) = pictures.panels(figure, ["ROOT"])
    points = {"zlib:7": (1.0, 3.0), "zlib:9": (2.0, 2.9), "lzma:4": (1.2, 1.0), "lzma:9": (1.4, 0.9)}
    pictures.lines(axes, {"clusters of 2 MB": list(points.values())}, "time, ms/event", "file, MB")
    pictures.names(axes, points)


def not_full(figure: Figure) -> None:
    """Five panels on the same scales, in two rows; one has upright lines for what has no second figure."""
    several = pictures.panels(figure, ["a", "b", "c", "d", "e"], shared=True)
    for axes in several[1:]:
        pictures.scatter(axes, {"split": [(1.0, 400.0)], "not split": [(2.0, 1.0)]}, "all, ms", "1 %, ms")
    pictures.upright(several[0], {"split": 420.0, "not split": 360.0})
    pictures.logarithmic(several[0].xaxis, several[0].yaxis)


def first_is_highest(figure: Figure) -> None:
    """Panels on one scale from zero, of which the first has the highest points."""
    for axes, gain in zip(pictures.panels(figure, ["none", "lz4:4"], shared=True), (3.5, 1.5), strict=True):
        pictures.over_threads(axes, {"TTree": [(1.0, 1.0), (2.0, gain)]}, "times one thread", [(1, 1), (2, 2)], "ideal")


def equal(figure: Figure) -> None:
    """Predictions beside measurements within less than a decade."""
    (axes,) = pictures.panels(figure, ["reading the output"])
    points = [(4.5, 4.4), (9.1, 9.9)]
    pictures.scatter(axes, {"outputs": points}, "measured, ms", "predicted, ms")
    pictures.diagonal(axes, [value for point in points for value in point])


def crowded(figure: Figure) -> None:
    """Points with names that are so near each other that not all names find a place beside their point."""
    for axes in pictures.panels(figure, ["published", "basketry", "ROOT"]):
        points = {f"codec {number}": (1.0 + number / 100, 2.0 + number / 1000) for number in range(4)}
        pictures.scatter(axes, {"first": list(points.values()), "second": [(9.0, 9.0)]}, "time, s", "size, MB")
        pictures.names(axes, points)


def far_apart(figure: Figure) -> None:
    """Panels whose points differ by orders of magnitude, on the same scales."""
    several = pictures.panels(figure, ["published", "measured"], shared=True)
    for axes, factor in zip(several, (1, 0.001), strict=True):
        pictures.scatter(axes, {"split": [(59 * factor, 270 * factor)]}, "all, ms", "1 %, ms")
    pictures.logarithmic(several[0].xaxis, several[0].yaxis)


def four(figure: Figure) -> None:
    """As many panels as a study has."""
    for axes in pictures.panels(figure, ["none", "lz4:4", "zlib:1", "zstd:5"]):
        groups = {who: [(1.0, 1.0), (2.0, 1.9)] for who in ("basketry", "TTree", "RNTupleParallelWriter")}
        pictures.over_threads(axes, groups, "times one thread", [(1, 1), (2, 2)], "ideal")


def nothing_seen(figure: Figure) -> None:
    """A writer of whose file nothing is seen before its end."""
    (axes,) = pictures.panels(figure, ["RNTuple"])
    pictures.stairs(axes, {"no AutoSave": [(0, 0), (3.0, 100)]}, "s", "% of the entries", [(0, 0), (3, 100)], "made")


def long_names(figure: Figure) -> None:
    """Bars with long names."""
    (axes,) = pictures.panels(figure, ["peak memory of writing"])
    names = ("20 MB", "50 MB, one basket per cluster, shrinking")
    pictures.bars(axes, names, {"published, 2017": (837.0, 1020.0), "basketry": (20.0, 30.0)}, "peak RSS, MB")


@pytest.mark.parametrize(
    ("drawing", "panels"),
    [
        (crowded, 3),
        (far_apart, 2),
        (four, 4),
        (nothing_seen, 1),
        (long_names, 1),
        (on_a_line, 1),
        (not_full, 5),
        (first_is_highest, 2),
        (equal, 1),
    ],
)
def test_the_forms_have_nothing_wrong(drawing: pictures.Drawing, panels: int, tmp_path: Path) -> None:
    names, wrong = pictures.draw(tmp_path, "form", drawing, panels, "form 2026")
    assert wrong == []
    assert [name for name in names if "form 2026" in (tmp_path / name).read_text()] == names


def test_a_label_looks_the_same_in_all_panels(tmp_path: Path) -> None:
    seen: dict[str, set[str]] = {}

    def drawing(figure: Figure) -> None:
        for axes, labels in zip(pictures.panels(figure, ["one", "two"]), (("a", "b"), ("b", "a")), strict=True):
            pictures.lines(axes, {label: [(1.0, 1.0)] for label in labels}, "x", "y")
            for line in axes.get_lines():
                seen.setdefault(str(line.get_label()), set()).add(f"{line.get_color()} {line.get_marker()}")

    pictures.draw(tmp_path, "labels", drawing, 2)
    # One look in each of the two themes.
    assert {label: len(looks) for label, looks in seen.items()} == {"a": 2, "b": 2}


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_and_its_pictures_are_of_one_run(page: Path) -> None:
    """A page whose run is named has only pictures of that run."""
    run = RUN.search(page.read_text())
    for name in re.findall(r"\(pictures/([^#)]+)#", page.read_text()):
        picture = ElementTree.parse(PICTURES / name)
        found = [one.text for one in picture.iter("{http://purl.org/dc/elements/1.1/}identifier")]
        assert found == ([run[1]] if run else []), name


def test_figures_are_quoted_from_the_pages() -> None:
    text = (PAGES.parent / FIGURES).read_text()
    studies = set(re.findall(r"<!-- quoted: (\S+)", text))
    assert studies >= {"memory", "predictions"}
    for name in studies:
        blocks = {key: lines.strip().splitlines() for key, lines in BLOCK.findall((PAGES / f"{name}.md").read_text())}
        assert quote(text, name, blocks) == text, f"figures.md has other figures than {name}.md"


def test_a_row_that_a_page_lost_is_named() -> None:
    text = "<!-- quoted: memory streams: of 2012 -->\n<!-- end -->"
    table = ["| layout | MB |", "| --- | --: |", "| of 2012 | 4.0 |", "| recommended | 8.5 |"]
    done = quote(text, "memory", {"streams": table})
    assert done.splitlines()[2:5] == table[:3]
    with pytest.raises(LookupError, match="the table of memory has no row 'of 2012'"):
        quote(text, "memory", {"streams": table[:2]})


def test_the_readme_shows_a_picture_that_exists() -> None:
    shown = re.findall(r"\(docs/studies/pictures/([^#)]+)#", (REPO / "README.md").read_text())
    assert shown
    assert all((PICTURES / name).exists() for name in shown)


def test_a_quote_of_all_rows_ends_before_the_next_quote() -> None:
    text = "<!-- quoted: memory streams: -->\n<!-- end -->\n<!-- quoted: large file: merge -->\nkept\n<!-- end -->\n"
    table = ["| layout | MB |", "| --- | --: |", "| of 2012 | 4.0 |"]
    assert quote(text, "memory", {"streams": table}).splitlines()[2:5] == table
    assert text.split("\n", 2)[2] in quote(text, "memory", {"streams": table})
