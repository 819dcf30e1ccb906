"""The ATLAS study: full splitting in large clusters against whole containers in small ones, reading all or 1 %."""

from pathlib import Path

from matplotlib.figure import Figure

from studies import pictures
from studies.study import Context, Series, mb, number, study, swept, table

ESD = Path(__file__).with_name("containers.toml")
AOD = Path(__file__).with_name("containers_aod.toml")
#: Megabytes at scale 1. One per cent of these events are a hundred; for the ESD that would take 6 GB.
AOD_SIZE = 1000
#: The study's milliseconds an event of AOD, of all events and of 1 % of them.
PUBLISHED_AOD = {"split, 30 MB": (59.0, 270.0), "not split, flush 10": (35.0, 60.0)}


@study
def containers(context: Context) -> None:
    """Full splitting against containers as a whole, flushed every 5 and 10 events: reading all, and 1 %."""
    for kind, grid, full, quick, repeats in (("esd", ESD, 400, 12, 2), ("aod", AOD, AOD_SIZE, 4, 1)):
        repeat = str(context.repeat(repeats))
        size = context.megabytes(full, quick)
        source = context.generated(kind, size, "--compression", "zlib:1")
        done = context.sweeps(kind, source, "--grid", grid, "--repeat", repeat)
        entries = done[0].result["head"]["subject"]["entries"]
        context.block(f"{kind}-events", [f"{entries} events, {size} MB of payload."])
        context.blocks(f"{kind}-reading", done, reading)
        context.blocks(f"{kind}-writing", done, writing)
        published = PUBLISHED_AOD if kind == "aod" else {}
        alt = f"{kind.upper()}: time for an event of a random 1 % against that of all events, by layout."
        context.picture(
            f"{kind}-sparse",
            alt,
            lambda figure, done=done, published=published: sparse(figure, done, published),  # type: ignore[misc]
            len(done) + bool(published),
        )


def reading(series: Series) -> list[str]:
    """Milliseconds for an event: all together, each object by itself, and of a random 1 %, the first apart."""
    entries = series.result["head"]["subject"]["entries"]
    rows = []
    for point in series.points:
        alone = 1e3 * point.of("columns_wall") / entries
        row = [point.name, number(point.of("full_event"), 2), number(alone, 2), number(point.of("sparse_event"), 2)]
        share = 100 * point.of("sparse_bytes") / point.of("size")
        rows.append([*row, number(point.of("sparse_first"), 1), number(share), mb(point.of("full_rss"))])
    head = ["layout", "all, ms/event", "each object alone, ms/event", "1 %, ms/event", "first of the 1 %, ms"]
    table_of = table([*head, "read for the 1 %, % of the file", "RSS, MB"], rows)
    return [*table_of, *swept([series], "full_event", "columns_wall", "sparse_event")]


def writing(series: Series) -> list[str]:
    """Size, memory and time of copying."""
    first = series.points[0].of("size")
    rows = []
    for point in series.points:
        change = f"{100 * (point.of('size') / first - 1):+.1f} %"
        row = [point.name, mb(point.of("size"), 2), change, number(point.of("baskets"), 0)]
        rows.append([*row, number(point.of("clusters"), 0), mb(point.of("copy_rss")), number(point.of("copy_cpu"), 2)])
    head = ["layout", "file, MB", "", "baskets", "clusters", "copying RSS, MB", "CPU, s"]
    return [*table(head, rows), *swept([series], "copy_rss", "copy_cpu")]


def sparse(figure: Figure, done: list[Series], published: dict[str, tuple[float, float]]) -> None:
    """Selective reading against reading everything, a point for each layout."""
    titles = [*(["published"] if published else []), *(series.who for series in done)]
    measured = pictures.panels(figure, titles)
    points = [published] if published else []
    points += [{p.name: (p.of("full_event"), p.of("sparse_event")) for p in series.points} for series in done]
    for axes, found in zip(measured, points, strict=True):
        groups = {name: [point] for name, point in found.items()}
        pictures.scatter(axes, groups, "all events, ms/event", "1 % of the events, ms/event")
        pictures.from_zero(axes.xaxis, axes.yaxis)
