"""The CMS study of 2017: one basket for each cluster, buffers that shrink, and codecs and levels over cluster sizes."""

from pathlib import Path

from matplotlib.figure import Figure

from studies import pictures
from studies.study import Context, Point, Series, mb, number, study, swept, table

GRID = Path(__file__).with_name("baskets.toml")
POINTS = (
    "20 MB",
    "50 MB",
    "50 MB, one basket per cluster",
    "50 MB, shrinking",
    "50 MB, one basket per cluster, shrinking",
)
CODECS = ("none", "zlib:7", "zlib:9", "lzma:4", "lzma:9")
#: Clusters with as many events as 10, 20 and 30 MB have in the study, where an event compresses to five times as much.
CLUSTERS = ("2MB", "4MB", "6MB")
#: CMS's default of then, to compare with: lzma:4 in clusters of 15 MB.
BASELINE = {"cluster": "3MB", "compression": "lzma:4"}
#: The study's seconds an event and size in MB of each codec, in clusters of 10 MB.
PUBLISHED_CODECS = {"zlib:7": (0.021, 3150), "zlib:9": (0.11, 3129), "lzma:4": (0.15, 2925), "lzma:9": (0.26, 2891)}
#: The study's peak RSS of writing in MB, for each of the points.
PUBLISHED_WRITING = (837, 1020, 1403, 1020, 1088)


@study
def baskets(context: Context) -> None:
    """Large and very variable events: baskets, clusters, codecs."""
    size = context.megabytes(300, 4)
    source = context.generated("aod", size, "--compression", "zlib:1")
    small_size = context.megabytes(20)
    small = context.generated("aod", small_size, "--compression", "zlib:1")
    words = f"{size} MB of payload for the baskets, {source.stat().st_size / 1e6:.0f} MB as a file; "
    context.block("events", [f"{words}{small_size} MB of payload for the codecs."])

    repeat = str(context.repeat(3))
    clusters = context.sweeps(
        "clusters", source, "--grid", GRID, "--only", "copy,full", "--repeat", repeat, today=POINTS[0]
    )
    axes = ["--grid", f"cluster={','.join(CLUSTERS)}", "--grid", f"compression={','.join(CODECS)}"]
    default = [word for key, value in BASELINE.items() for word in ("--grid", f"{key}={value}")]
    codecs = context.sweeps("codecs", small, *axes, "--only", "copy", "--repeat", repeat)
    today = {
        series.who: series.at()
        for series in context.sweeps("default", small, *default, "--only", "copy", "--repeat", repeat)
    }

    context.block("clusters", per_cluster(clusters))
    context.blocks("codecs", codecs, lambda series: per_codec(series, today.get(series.who)))
    alt = "Memory of writing for each way of closing baskets: published, and measured."
    context.picture("clusters", alt, lambda figure: ways(figure, clusters), 1)
    alt = "Size against time of each codec, a line for each size of cluster: published, and measured."
    context.picture("codecs", alt, lambda figure: fronts(figure, codecs), 1 + len(codecs))


def per_cluster(done: list[Series]) -> list[str]:
    """Memory of writing and reading, baskets and size of each way of closing baskets."""
    rows = []
    for name in POINTS:
        row = [name]
        for series in done:
            point = series.at(name)
            more = [point.of(figure) - series.at("50 MB").of(figure) for figure in ("copy_rss", "full_rss")]
            memory = (
                f"{mb(point.of(f))} ({m / 1e6:+.1f})" for f, m in zip(("copy_rss", "full_rss"), more, strict=True)
            )
            row += [*memory, number(point.of("baskets"), 0)]
            row += [number(point.of("clusters"), 0), mb(point.of("size"), 2), number(point.of("copy_cpu"), 2)]
        rows.append(row)
    titles = ("writing RSS, MB", "reading RSS, MB", "baskets", "clusters", "file, MB", "CPU, s")
    head = ["cluster", *(f"{series.who}: {title}" for series in done for title in titles)]
    return [*table(head, rows), *swept(done, "copy_rss", "full_rss", "copy_cpu")]


def per_codec(series: Series, today: Point | None) -> list[str]:
    """Size, time and memory of each codec for each size of cluster, beside the baseline.

    Compressing costs what exceeds the run without a codec.
    """
    rows = []
    payload = series.at(cluster=CLUSTERS[0], compression="none").of("size")

    def row(name: str, point: Point, speed: str) -> list[str]:
        cells = [name, mb(point.of("size"), 2), *against(point, today, "size"), number(point.of("copy_wall"), 2)]
        cells += [*against(point, today, "copy_wall"), number(point.of("copy_cpu"), 2), speed]
        more = mb(point.of("copy_rss") - today.of("copy_rss")) if today else "-"
        return [*cells, number(point.of("copy_event"), 2), mb(point.of("copy_rss")), more]

    if today:
        rows.append(row("{cluster}, {compression}: the baseline".format(**BASELINE), today, "-"))
    for cluster in CLUSTERS:
        bare = series.at(cluster=cluster, compression="none").of("copy_cpu")
        for codec in CODECS:
            point = series.at(cluster=cluster, compression=codec)
            cpu = point.of("copy_cpu")
            speed = number(payload / 1e6 / (cpu - bare)) if codec != "none" and cpu > bare else "-"
            rows.append(row(f"{cluster}, {codec}", point, speed))
    head = [
        "cluster, codec",
        "file, MB",
        "",
        "time, s",
        "",
        "CPU, s",
        "compressing, MB/s",
        "ms/event",
        "RSS, MB",
        "more",
    ]
    return [*table(head, rows), *swept([series], "copy_cpu")]


def against(point: Point, today: Point | None, figure: str) -> list[str]:
    """A figure against the baseline, in per cent."""
    return [f"{100 * (point.of(figure) / today.of(figure) - 1):+.1f} %" if today and today.of(figure) else "-"]


def ways(figure: Figure, done: list[Series]) -> None:
    """Memory of writing for each way of closing baskets."""
    (axes,) = pictures.panels(figure, ["peak memory of writing"])
    groups = {"published, 2017": list(map(float, PUBLISHED_WRITING))}
    groups |= {series.who: [series.at(name).of("copy_rss") / 1e6 for name in POINTS] for series in done}
    pictures.bars(axes, POINTS, groups, "peak RSS, MB")


def fronts(figure: Figure, done: list[Series]) -> None:
    """Size against the time that an event takes, over the codecs, for each size of cluster."""
    published, *measured = pictures.panels(figure, ["published, 2017", *(series.who for series in done)])
    front = [(1e3 * seconds, size) for seconds, size in PUBLISHED_CODECS.values()]
    pictures.lines(published, {"clusters of 10 MB": front}, "time, ms/event", "file, MB")
    for axes, series in zip(measured, done, strict=True):
        groups = {}
        for cluster in CLUSTERS:
            points = [series.at(cluster=cluster, compression=codec) for codec in PUBLISHED_CODECS]
            groups[f"clusters of {cluster}"] = [(p.of("copy_event"), p.of("size") / 1e6) for p in points]
        pictures.lines(axes, groups, "time, ms/event", "file, MB")
        pictures.names(axes, dict(zip(PUBLISHED_CODECS, groups[f"clusters of {CLUSTERS[-1]}"], strict=True)))
    pictures.names(published, dict(zip(PUBLISHED_CODECS, front, strict=True)))
    for axes in (published, *measured):
        pictures.logarithmic(axes.xaxis)
