"""Conclusions of the study of baskets and codecs, from its tables."""

from collections.abc import Callable

from studies.conclusions.tables import (
    Claim,
    Table,
    Tables,
    bracket,
    change,
    middle,
    over,
    per_cent,
    span,
    span_of_changes,
)

PLAIN, ONE, SHRINKING = "50 MB", "50 MB, one basket per cluster", "50 MB, shrinking"
BOTH = "50 MB, one basket per cluster, shrinking"


def baskets(tables: Tables) -> list[Claim]:
    """Those about baskets, then those about codecs."""
    clusters = tables.of("clusters")
    codecs = list(tables.each("codecs"))
    return [
        one_basket(clusters),
        shrinking(clusters),
        against(
            codecs,
            "zlib:9 takes twice the time of zlib:7 or more, for 1 % of the size.",
            ("zlib:7", "zlib:9"),
            lambda size, time: [time > 1.8, -0.03 < size < 0],
        ),
        against(
            codecs,
            "lzma makes the smallest files, and lzma:4 takes longer than zlib:9.",
            ("zlib:9", "lzma:4"),
            lambda size, time: [size < -0.01, time > 1.03],
        ),
        against(
            codecs,
            "lzma:9 gains 1 to 2 % over lzma:4, for 1.7 times the time.",
            ("lzma:4", "lzma:9"),
            lambda size, time: [size < -0.005, time > 1.3],
            "Its larger dictionary helps only baskets of megabytes.",
        ),
        larger(codecs),
    ]


def exact(table: Table, name: str) -> list[str]:
    """The row with exactly this name: names of points begin alike."""
    return next(row for row in table.rows if row[0] == name)


def one_basket(table: Table) -> Claim:
    """Fewer baskets, and their price."""
    claim = Claim(
        "One basket per cluster takes 60 to 380 MB more in writing and 89 MB in reading, for 10 % fewer baskets."
    )
    for who in table.programs():
        places = {
            what: table.column(f"{who}: {what}")
            for what in ("baskets", "file, MB", "writing RSS, MB", "reading RSS, MB")
        }
        before, after = exact(table, PLAIN), exact(table, ONE)
        fewer, size = (
            change(*(float(row[places[what]]) for row in (before, after))) for what in ("baskets", "file, MB")
        )
        more = [bracket(after[places[what]]) for what in ("writing RSS, MB", "reading RSS, MB")]
        words = f"{more[0]:+.1f} MB and {more[1]:+.1f} MB"
        words += f", for {per_cent(fewer)} baskets and {per_cent(size, 1)} of the size"
        claim.of(who, [more[0] > 30, more[1] > 30, fewer > -0.2], words)
    claim.why = (
        "basketry compresses and releases a basket before it assembles the next one, so there are no buffers for all "
        "branches at once; but baskets that could be copied are made anew."
    )
    return claim


def shrinking(table: Table) -> Claim:
    """Shrinking alone, and with one basket per cluster."""
    claim = Claim("Shrinking alone changes nothing, and saves most together with one basket per cluster (315 MB).")
    for who in table.programs():
        place = table.column(f"{who}: writing RSS, MB")
        alone, one, both = (bracket(exact(table, name)[place]) for name in (SHRINKING, ONE, BOTH))
        claim.of(who, [abs(alone) < 5, both - one < -5], f"{alone:+.1f} MB alone, {both - one:+.1f} MB together")
    return claim


def clusters_of(table: Table) -> list[str]:
    """The sizes of clusters, without that of the baseline."""
    return list(dict.fromkeys(row[0].partition(",")[0] for row in table.rows if "baseline" not in row[0]))


def against(
    codecs: list[Table], says: str, pair: tuple[str, str], holds: Callable[[float, float], list[bool]], why: str = ""
) -> Claim:
    """A codec against another: size and CPU time in the median of the cluster sizes."""
    claim = Claim(says, why=why)
    for table in codecs:
        rows = [[f"{size}, {codec}" for codec in pair] for size in clusters_of(table)]
        size = middle(change(*(table.at(row, "file, MB") for row in both)) for both in rows)
        times = [over(table.at(both[1], "CPU, s"), table.at(both[0], "CPU, s")) for both in rows]
        words = f"{span(times)} times the CPU time of {pair[0]} for {per_cent(size, 1)} of the size"
        claim.of(table.who, holds(size, middle(times)), words)
    return claim


def larger(codecs: list[Table]) -> Claim:
    """The largest clusters against the smallest."""
    claim = Claim("Larger clusters make smaller files: those of 30 MB 7 to 9 % smaller than those of 10 MB.")
    for table in codecs:
        least, *_, most = clusters_of(table)
        names = [row[0].partition(", ")[2] for row in table.rows if row[0].startswith(f"{least},")]
        found = [
            change(table.at(f"{least}, {name}", "file, MB"), table.at(f"{most}, {name}", "file, MB"))
            for name in names
            if name != "none"
        ]
        claim.of(table.who, [max(found) < 0, min(found) < -0.05], f"{span_of_changes(found, 1)} from {least} to {most}")
    claim.why = (
        "Independent columns gain less from the same numbers side by side. In basketry `cluster` only says where all "
        "branches close a basket; ROOT lets baskets grow with the cluster (`OptimizeBaskets`)."
    )
    return claim
