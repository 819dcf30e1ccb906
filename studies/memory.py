"""The LHCb study of 2012: memory of copying by split level, buffer and basket memory; the cost of one more stream."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies import pictures
from studies.study import BASKETRY, Context, Point, Series, basketry, mb, number, study, swept, table

GRID = Path(__file__).with_name("memory.toml")
SPLITS = ("0", "99")
BUFFERS = ("2kB", "32kB")
BASKETS = ("2MB", "20MB", "40MB")
SMALL_BUFFERS = ("1kB", "2kB", "4kB")
SMALL_BASKETS = ("1MB", "2MB", "4MB")
#: Figures of a copy, as in the study, with their decimals.
FIGURES = (
    ("RSS, MB", "copy_rss", 1e6, 1),
    ("+record, MB", "copy_rss_record", 1e6, 1),
    ("vsize, MB", "copy_vsize", 1e6, 0),
    ("+record, MB", "copy_vsize_record", 1e6, 0),
    ("CPU, s", "copy_cpu", 1, 2),
    ("file size, MB", "size", 1e6, 2),
    ("baskets", "baskets", 1, 0),
)
#: Virtual size in MB and time in seconds of the study's tables 1 and 3, by split level: one stream without the record.
PUBLISHED = {
    "split 0": [
        *((373, 660), (395, 660), (322, 687), (486, 685), (342, 709), (343, 714)),
        *((634, 657), (576, 657), (593, 657), (550, 659), (691, 660), (836, 659), (653, 663), (746, 663), (763, 664)),
    ],
    "split 99": [
        *((790, 662), (773, 681), (384, 687), (405, 702), (401, 709), (400, 727)),
        *(
            (1705, 660),
            (1679, 661),
            (1539, 661),
            (1032, 662),
            (1158, 662),
            (1181, 663),
            (987, 664),
            (1008, 665),
            (944, 666),
        ),
    ],
}
#: Of these the layout of 2012 (split 99, 32 kB, 40 MB) and the recommended one (split 0, 1 kB, 2 MB).
PUBLISHED_NAMED = {"of 2012": (400, 727), "recommended": (550, 659)}
#: Its tables 1 and 2: virtual size with the record in MB, of one and of two streams, with these layouts.
PUBLISHED_STREAMS = {"of 2012": [(1.0, 747.0), (2.0, 850.0)], "recommended, with 2 kB": [(1.0, 660.0), (2.0, 679.0)]}
#: The study's names of two layouts: split level, buffer, basket memory.
NAMES = {("99", "32kB", "40MB"): "of 2012", ("0", "1kB", "2MB"): "recommended"}


@study
def memory(context: Context) -> None:
    """Memory of copying small events, by split level, buffer, basket memory and streams."""
    size = context.megabytes(36)
    source = context.generated("lhcb", size, "--compression", "zlib:1")
    repeat = str(context.repeat(3))
    layouts = [f"split-level={','.join(SPLITS)}", f"basket={','.join(BUFFERS)}", f"basket-memory={','.join(BASKETS)}"]
    layouts = [word for axis in layouts for word in ("--grid", axis)]
    main = context.sweeps("copying", source, *layouts, "--only", "copy,full", "--repeat", repeat)
    # Ten streams take ten times as long: four numbers of streams give the slope, and its error, without repeats.
    several = context.sweeps("streams", source, "--grid", GRID, "--only", "copy", "--repeat", "1")
    small_axes = ("split-level=0,99", f"basket={','.join(SMALL_BUFFERS)}", f"basket-memory={','.join(SMALL_BASKETS)}")
    axes = [word for axis in small_axes for word in ("--grid", axis)]
    small = context.sweeps("small", source, *axes, "--only", "copy", "--repeat", repeat)
    # basketry copies baskets of an equal layout without unpacking, so the input's layout matters.
    alike = context.out / "alike.root"
    recommended = ("--split-level", "0", "--basket", "1kB", "--basket-memory", "2MB")
    basketry("rewrite", source, "-o", alike, "--force", *recommended, "-q")
    again = context.sweeps("alike", alike, "--grid", "streams=1,2,5,10", "--only", "copy", "--repeat", "1")

    entries = main[0].result["head"]["subject"]["entries"]
    copied = f"{source.stat().st_size / 1e6:.1f} MB as the file that is copied"
    context.block("events", [f"{entries} events, {size} MB of payload, {copied}."])
    context.blocks("copying", main, lambda series: copying(series, BUFFERS, BASKETS))
    context.blocks("two", several, lambda series: copying(series, BUFFERS, BASKETS, streams="2"))
    context.blocks("small", small, lambda series: copying(series, SMALL_BUFFERS, SMALL_BASKETS))
    context.block("streams", streams(several, again))
    context.block("reading", reading(main))
    alt = "Memory against CPU of copying one stream, a point for each layout: published, and measured."
    context.picture("points", alt, lambda figure: figure_1(figure, [*main, *small]), 1 + len(main))
    alt = "Memory over the number of streams, with the layout of 2012 and with the recommended one."
    context.picture("streams", alt, lambda figure: over_streams(figure, several), 1 + len(several))


def copying(series: Series, buffers: tuple[str, ...], baskets: tuple[str, ...], **settings: str) -> list[str]:
    """The study's tables 1 to 3."""
    columns = [(split, buffer) for split in SPLITS for buffer in buffers]
    rows = []
    for basket in baskets:
        points = [
            series.at(split_level=split, basket=buffer, basket_memory=basket, **settings) for split, buffer in columns
        ]
        rows += [
            [f"{basket}: {title}", *(number(point.of(figure) / unit, digits) for point in points)]
            for title, figure, unit, digits in FIGURES
        ]
    head = ["basket memory", *(f"split {split}, {buffer}" for split, buffer in columns)]
    return [*table(head, rows), *swept([series], "copy_rss", "copy_cpu")]


def streams(main: list[Series], again: list[Series]) -> list[str]:
    """The cost of one more stream, in megabytes: the slope of a line through the runs."""
    resident = {"RSS": "copy_rss", "RSS +record": "copy_rss_record"}
    # basketry reserves address space for a thread, which is not a cost of the stream.
    virtual = {"vsize": "copy_vsize", "vsize +record": "copy_vsize_record"}
    metrics = {series.who: resident if series.who == BASKETRY else resident | virtual for series in main}

    def slopes(done: list[Series], settings: dict[str, str]) -> list[str]:
        return [slope(series, metric, settings) for series in done for metric in metrics[series.who].values()]

    layouts = [(split, buffer, basket) for split in reversed(SPLITS) for buffer in BUFFERS for basket in BASKETS]
    rows = []
    for layout in (*layouts, ("0", "1kB", "2MB")):
        words = "split {}, {}, {}".format(*layout) + (f" ({NAMES[layout]})" if layout in NAMES else "")
        rows.append([words, *slopes(main, dict(zip(("split-level", "basket", "basket-memory"), layout, strict=True)))])
    rows.append(["the last, from a file with this layout", *slopes(again, {})])
    return table(["", *(f"{who}: {title}" for who, titles in metrics.items() for title in titles)], rows)


def slope(series: Series, metric: str, settings: dict[str, str]) -> str:
    """Megabytes for one more stream, with the standard error if there is one."""
    for cost in series.result["streams"]:
        if cost["metric"] == metric and {each["key"]: each["value"] for each in cost["settings"]} == settings:
            error = f" ± {cost['error'] / 1e6:.1f}" if cost["error"] is not None else ""
            return f"{cost['slope'] / 1e6:.1f}{error}"
    return "-"


def reading(main: list[Series]) -> list[str]:
    """The study's table 4."""
    rows = []
    for basket in BASKETS:
        for split in SPLITS:
            for buffer in BUFFERS:
                row = [f"{basket}, split {split}, {buffer}"]
                for series in main:
                    point = series.at(split_level=split, basket=buffer, basket_memory=basket)
                    row += [mb(point.of("full_rss")), number(point.of("full_cpu"), 3)]
                rows.append(row)
    head = ["basket memory", *(f"{series.who}: {title}" for series in main for title in ("RSS, MB", "CPU, s"))]
    return [*table(head, rows), *swept(main, "full_rss", "full_cpu")]


def figure_1(figure: Figure, done: list[Series]) -> None:
    """The study's figure 1: memory against CPU, for all layouts with one stream; published is the virtual size."""
    who = list(dict.fromkeys(series.who for series in done))
    published, *measured = pictures.panels(figure, ["published, 2012", *who])
    pictures.scatter(published, PUBLISHED, "time, s", "virtual size, MB")
    mark(published, PUBLISHED_NAMED)
    for axes, name in zip(measured, who, strict=True):
        groups = {
            f"split {split}": [
                (point.of("copy_cpu"), point.of("copy_rss") / 1e6)
                for series in done
                for point in series.points
                if series.who == name and point.settings["split-level"] == split
            ]
            for split in SPLITS
        }
        pictures.scatter(axes, groups, "CPU, s", "RSS, MB")
        of_one = [point for series in done if series.who == name for point in series.points]
        mark(axes, {label: memory_and_cpu(of_one, layout) for layout, label in NAMES.items()})
        # Else differences of a megabyte look like those of a hundred.
        pictures.from_zero(axes.xaxis, axes.yaxis)


def mark(axes: Axes, points: Mapping[str, tuple[float, float]]) -> None:
    """Shows which points are the layouts of the study's conclusion."""
    pictures.rings(axes, points.values())
    pictures.names(axes, points)


def memory_and_cpu(points: list[Point], layout: tuple[str, str, str]) -> tuple[float, float]:
    """CPU seconds and megabytes of copying into a layout."""
    settings = dict(zip(("split-level", "basket", "basket-memory"), layout, strict=True))
    (point,) = (point for point in points if settings.items() <= point.settings.items())
    return point.of("copy_cpu"), point.of("copy_rss") / 1e6


def over_streams(figure: Figure, done: list[Series]) -> None:
    """Memory of copying into one to ten streams, with the record; published is the virtual size."""
    published, *measured = pictures.panels(figure, ["published, 2012", *(series.who for series in done)])
    pictures.lines(published, PUBLISHED_STREAMS, "streams", "virtual size with the record, MB")
    for axes, series in zip(measured, done, strict=True):
        groups = {}
        for layout, name in NAMES.items():
            settings = dict(zip(("split-level", "basket", "basket-memory"), layout, strict=True))
            groups[name] = sorted(
                (float(point.settings["streams"]), point.of("copy_rss_record") / 1e6)
                for point in series.points
                if settings.items() <= point.settings.items()
            )
        pictures.lines(axes, groups, "streams", "RSS with the record, MB")
    for axes in (published, *measured):
        pictures.from_zero(axes.yaxis)
        pictures.whole(axes.xaxis)
