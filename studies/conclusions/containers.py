"""Conclusions of the study of whole containers in small clusters, from its tables."""

from collections.abc import Iterator

from studies.conclusions.tables import NOISE, Claim, Table, Tables, change, over, per_cent

OLD = "split, 30 MB"
#: The new layout of each kind of event, and the tables that have it.
NEW = {"esd": "not split but for two, flush 5", "aod": "not split, flush 10"}
TITLES = {"esd": "ESD", "aod": "AOD"}


def containers(tables: Tables) -> list[Claim]:
    """The study's conclusions, then what the additional layouts show."""
    return [
        compared(tables, "Files do not get larger.", "writing", {"file, MB": 0.005}, digits=1),
        compared(tables, "Reading everything is 15 to 35 % faster.", "reading", {"all, ms/event": -0.1}),
        selection(tables),
        compared(tables, "Memory of reading goes down.", "reading", {"RSS, MB": -NOISE}),
        compared(tables, "Memory of writing goes down.", "writing", {"copying RSS, MB": -NOISE}),
        writing(tables),
        two(tables),
        small_clusters(tables),
        others(tables),
    ]


def kinds(tables: Tables, what: str) -> Iterator[tuple[str, list[tuple[str, Table]]]]:
    """For each program its tables with their kind of event."""
    found: dict[str, list[tuple[str, Table]]] = {}
    for kind in NEW:
        for table in tables.each(f"{kind}-{what}"):
            found.setdefault(table.who, []).append((kind, table))
    yield from found.items()


def pair(table: Table, kind: str, column: str) -> tuple[float, float]:
    """A figure of the old layout and of the new one."""
    return table.at(OLD, column), table.at(NEW[kind], column)


def compared(tables: Tables, says: str, what: str, least: dict[str, float], digits: int = 0) -> Claim:
    """The new layout against the old one in a figure, whose change is at most so much where the claim stands."""
    claim = Claim(says)
    ((column, most),) = least.items()
    for who, of in kinds(tables, what):
        found = {TITLES[kind]: change(*pair(table, kind, column)) for kind, table in of}
        words = ", ".join(f"{title} {per_cent(one, digits)}" for title, one in found.items())
        claim.of(who, [one < most for one in found.values()], words)
    return claim


def selection(tables: Tables) -> Claim:
    """Reading one per cent, and of how much of the file."""
    claim = Claim("Reading 1 % is 4 to 5 times faster, since it reads about 10 % of the data instead of most of them.")
    for who, of in kinds(tables, "reading"):
        found = {}
        for kind, table in of:
            before, after = pair(table, kind, "1 %, ms/event")
            shares = pair(table, kind, "read for the 1 %, % of the file")
            found[kind] = (over(before, after), *shares)
        said = [
            f"{TITLES[kind]} {one[0]:.1f} times ({one[1]:.0f} % of the file, then {one[2]:.0f} %)"
            for kind, one in found.items()
        ]
        claim.of(who, [one[0] > 3 for one in found.values()], ", ".join(said))
    claim.why = "With a large cluster all of its baskets are read and decompressed for one event."
    return claim


def writing(tables: Tables) -> Claim:
    """CPU time of copying."""
    claim = Claim("Writing AOD is 20 % faster, ESD not.")
    for who, of in kinds(tables, "writing"):
        found = {kind: change(*pair(table, kind, "CPU, s")) for kind, table in of}
        words = ", ".join(f"{TITLES[kind]} {per_cent(one)} of CPU time" for kind, one in found.items())
        claim.of(who, [found.get("aod", 0) < -0.1, found.get("esd", 0) > -0.1], words)
    claim.why = "The input has the old layout, which basketry copies as it is."
    return claim


def two(tables: Tables) -> Claim:
    """The two largest containers split, against all unsplit."""
    claim, whole = Claim("The two largest containers should stay split."), "not split, flush 5"
    for table in tables.each("esd-writing"):
        size = change(table.at(whole, "file, MB"), table.at(NEW["esd"], "file, MB"))
        claim.of(table.who, [size < -0.002], f"the file changes by {per_cent(size, 1)}")
    return claim


def small_clusters(tables: Tables) -> Claim:
    """What small clusters do without unsplit containers."""
    claim = Claim("Not splitting matters for a selection, besides the small clusters.")
    for table in tables.each("aod-reading"):
        # The first table is of the same program.
        sizes = tables.of(table.key.replace("reading", "writing"))
        old, split, whole = (table.at(name, "1 %, ms/event") for name in (OLD, "split, flush 10", NEW["aod"]))
        baskets = [sizes.at(name, "baskets") for name in ("split, flush 10", NEW["aod"])]
        size = change(sizes.at(OLD, "file, MB"), sizes.at("split, flush 10", "file, MB"))
        words = f"small clusters alone are read {over(old, split):.1f} times as fast"
        words += f", not split as well {over(old, whole):.1f} times"
        words += (
            f"; split they have {over(*baskets):.1f} times as many baskets, and the file changes by {per_cent(size, 1)}"
        )
        claim.of(table.who, [split > 1.2 * whole], words)
    return claim


def others(tables: Tables) -> Claim:
    """Trees beside the events."""
    claim = Claim("Other trees should have baskets of a fixed size, not optimised ones.")
    for table in tables.each("auxiliary"):
        memory = [table.at(name, "RSS of one tree more, MB") for name in ("32 kB, optimised", "32 kB")]
        fewer = over(table.at("2 kB", "baskets"), table.at("32 kB", "baskets"))
        size = change(table.at("2 kB", "file, MB"), table.at("32 kB", "file, MB"))
        words = f"one tree more costs {memory[0]:.1f} MB optimised and {memory[1]:.1f} MB at 32 kB"
        words += f"; 32 kB against 2 kB make {fewer:.0f} times fewer baskets, and the file changes by {per_cent(size)}"
        claim.of(table.who, [memory[0] > 2 * memory[1]], words)
    return claim
