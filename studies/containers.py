"""The ATLAS study: full splitting in large clusters against whole containers in small ones, reading all or 1 %; and a
tree beside the events, whose baskets the study made 32 kB large."""

from pathlib import Path

import awkward as ak
import numpy as np
from matplotlib.figure import Figure

import basketry as bk
from studies import pictures
from studies.study import Context, Series, mb, number, study, swept, table

ESD = Path(__file__).with_name("containers.toml")
AOD = Path(__file__).with_name("containers_aod.toml")
AUXILIARY = Path(__file__).with_name("containers_auxiliary.toml")
#: The layout that the others are compared with.
OLD = "split, 30 MB"
#: Megabytes at scale 1, where the published studies take an hour.
ESD_SIZE = 500
AOD_SIZE = 500
#: Entries of the tree beside the events at scale 1.
HEADERS = 10_000
#: The study's milliseconds an event, of all events and of 1 % of them, which it does not say of ESD.
PUBLISHED: dict[str, dict[str, tuple[float, float | None]]] = {
    "aod": {"split, 30 MB": (59.0, 270.0), "not split, flush 10": (35.0, 60.0)},
    "esd": {"split, 30 MB": (420.0, None), "not split but for two, flush 5": (360.0, None)},
}


@study
def containers(context: Context) -> None:
    """Full splitting against containers as a whole, flushed every 5 and 10 events: reading all, and 1 %."""
    for kind, grid, full, quick in (("esd", ESD, ESD_SIZE, 12), ("aod", AOD, AOD_SIZE, 4)):
        repeat = str(context.repeat(3))
        size = context.megabytes(full, quick)
        source = context.generated(kind, size, "--compression", "zlib:1")
        done = context.sweeps(kind, source, "--grid", grid, "--repeat", repeat, today=OLD)
        entries = done[0].result["head"]["subject"]["entries"]
        context.block(f"{kind}-events", [f"{entries} events, {size} MB of payload."])
        context.blocks(f"{kind}-reading", done, reading)
        context.blocks(f"{kind}-writing", done, writing)
        alt = f"{kind.upper()}: time for an event of a random 1 % against that of all events: published, and measured."
        context.picture(
            f"{kind}-sparse",
            alt,
            lambda figure, done=done, kind=kind: sparse(figure, done, kind),  # type: ignore[misc]
            1 + len(done),
        )
    auxiliary(context)


def auxiliary(context: Context) -> None:
    """A tree beside the events: the size of its baskets, and the memory of copying it, also into several streams."""
    source = headers(context)
    repeat = str(context.repeat(3))
    done = context.sweeps("auxiliary", source, "--grid", AUXILIARY, "--only", "copy,full,sparse", "--repeat", repeat)
    context.blocks("auxiliary", done, around)


def headers(context: Context) -> Path:
    """A stand-in for the headers of events: where the hundred containers of each lie, and a token."""
    entries = max(200, round(HEADERS * (0.02 if context.quick else context.scale)))
    path = context.out / "headers.root"
    chance = np.random.default_rng(1)
    places = np.arange(100) + 100 * np.arange(entries)[:, None] + chance.integers(0, 3, (entries, 100))
    with bk.recreate(path, compression="zlib:1") as file:
        tree = file.mktree("DataHeader", {"places": "vector<unsigned int>", "token": "std::string", "event": "uint32"})
        lists = ak.Array(places.astype(np.uint32))
        tokens = [f"[DB=0123-4567-89AB][CNT=CollectionTree][OID={number:08X}]" for number in range(entries)]
        tree.extend({"places": ak.from_regular(lists), "token": tokens, "event": np.arange(entries, dtype=np.uint32)})
    return path


def around(series: Series) -> list[str]:
    """Size, reading, and the memory of one tree more, from one and five that are written at once."""
    entries = series.result["head"]["subject"]["entries"]
    rows = []
    for one, five in zip(series.points[::2], series.points[1::2], strict=True):
        share = 100 * one.of("sparse_bytes") / one.of("size")
        times = [1e3 * one.of("full_event"), 1e3 * one.of("sparse_event")]
        more = (five.of("copy_rss") - one.of("copy_rss")) / 4
        row = [one.name, mb(one.of("size"), 2), number(one.of("baskets"), 0), *map(number, times), number(share)]
        rows.append([*row, mb(more, 2)])
    head = ["baskets of", "file, MB", "baskets", "all, µs/event", "1 %, µs/event", "read for the 1 %, % of the file"]
    rows_of = table([*head, "RSS of one tree more, MB"], rows)
    return [f"{entries} entries.", "", *rows_of, *swept([series], "full_event", "sparse_event", "copy_rss")]


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


def sparse(figure: Figure, done: list[Series], kind: str) -> None:
    """Selective reading against reading everything, a point for each layout; all panels have the same scales."""
    known = PUBLISHED[kind]
    alone = not any(few for _, few in known.values())
    titles = [f"published, {'all events alone' if alone else 'on machines of then'}", *(series.who for series in done)]
    published, *measured = pictures.panels(figure, titles, shared=True)
    labels = ("all events, ms/event", "1 % of the events, ms/event")
    for axes, series in zip(measured, done, strict=True):
        groups = {point.name: [(point.of("full_event"), point.of("sparse_event"))] for point in series.points}
        pictures.scatter(axes, groups, *labels)
    pictures.scatter(published, {name: [(all_, few)] for name, (all_, few) in known.items() if few}, *labels)
    pictures.upright(published, {name: all_ for name, (all_, few) in known.items() if not few})
    pictures.logarithmic(published.xaxis, published.yaxis)
