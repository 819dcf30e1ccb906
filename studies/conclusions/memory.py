"""Conclusions of the memory study, from its tables."""

from itertools import product

from studies.conclusions.tables import NOISE, Claim, Table, Tables, change, middle, over, per_cent, span

OF_2012, RECOMMENDED = "split 99, 32kB, 40MB", "split 0, 1kB, 2MB"
SPLITS = ("split 0", "split 99")
#: A slowdown that the study calls catastrophic: it saw 2.4 to 3 times the time.
CATASTROPHE = 1.5


def memory(tables: Tables) -> list[Claim]:
    """The study's conclusions, then what holds of basketry."""
    streams = tables.of("streams")
    return [
        *costs(streams),
        splitting(tables),
        catastrophe(tables),
        little_time(tables),
        reading(tables),
        same(streams),
        virtual(tables),
    ]


def costs(streams: Table) -> list[Claim]:
    """One more stream with the layout of 2012, and with the recommended one."""
    large = Claim("With the settings of 2012 one more stream costs over 60 MB, and its record 40 MB more.")
    large.why = "The record is a tree whose branches get the same memory for their baskets, for one entry."
    small = Claim("With split 0, 1 kB and 2 MB a stream costs a third of that, and its record almost nothing.")
    small.why = "What remains in ROOT is mostly not baskets, which are limited to 2 MB."
    for who in streams.programs():
        costly, record = (streams.at(OF_2012, f"{who}: {what}") for what in ("RSS", "RSS +record"))
        large.of(who, [costly > 60, record - costly > 30], f"{costly:.1f} MB, and {record - costly:.1f} MB more")
        cheap, record = (streams.at(RECOMMENDED, f"{who}: {what}") for what in ("RSS", "RSS +record"))
        words = f"{cheap:.1f} MB, {100 * over(cheap, costly):.0f} % of that, and {record - cheap:.1f} MB more"
        small.of(who, [cheap < 0.4 * costly, record - cheap < 5], words)
    return [large, small]


def rows(table: Table) -> list[str]:
    """The values of basket memory."""
    return list(dict.fromkeys(row[0].partition(":")[0] for row in table.rows))


def ratios(table: Table, figure: str, size: str = "") -> list[float]:
    """A figure of split 99 over that of split 0, of all layouts or of those with a basket memory."""
    buffers = [title.partition(", ")[2] for title in table.head[1:] if title.startswith("split 0")]
    places = product([size] if size else rows(table), buffers)
    return [
        over(*(table.at(f"{memory}: {figure}", f"{split}, {buffer}") for split in reversed(SPLITS)))
        for memory, buffer in places
    ]


def splitting(tables: Tables) -> Claim:
    """Split 99 against split 0."""
    claim = Claim("Splitting costs memory, time and size.")
    for table in tables.each("copying"):
        found = {what: middle(ratios(table, what)) - 1 for what in ("RSS, MB", "CPU, s", "file size, MB")}
        words = ", ".join(f"{what.partition(',')[0]} {per_cent(one)}" for what, one in found.items())
        claim.of(table.who, [one > NOISE / 2 for one in found.values()], f"{words} (medians over the other settings)")
    claim.why = "From the split input basketry copies or regroups baskets, and has to assemble objects for split 0."
    return claim


def catastrophe(tables: Tables) -> Claim:
    """Splitting with small baskets."""
    claim = Claim("Splitting with small baskets is catastrophic for the time (1 MB: 2.4 to 3 times).")
    for table in tables.each("small"):
        size = rows(table)[0]
        time, baskets = (middle(ratios(table, what, size)) for what in ("CPU, s", "baskets"))
        claim.of(
            table.who, [time > CATASTROPHE], f"{time:.2f} times the CPU time, with {baskets:.1f} times the baskets"
        )
    claim.why = "The study does not explain its own result."
    return claim


def little_time(tables: Tables) -> Claim:
    """More memory for baskets."""
    claim = Claim("More basket memory saves little time.")
    for table in tables.each("copying"):
        least, *_, most = rows(table)
        found = [
            change(table.at(f"{least}: CPU, s", title), table.at(f"{most}: CPU, s", title)) for title in table.head[1:]
        ]
        claim.of(table.who, [middle(found) > -0.1], f"{per_cent(middle(found))} of CPU time from {least} to {most}")
    return claim


def reading(tables: Tables) -> Claim:
    """Reading what was written with small and with large baskets."""
    claim, table = Claim("Reading needs less memory with small baskets, and takes no longer."), tables.of("reading")
    memories = list(dict.fromkeys(row[0].partition(",")[0] for row in table.rows))
    others = [row[0].partition(", ")[2] for row in table.rows if row[0].startswith(f"{memories[0]},")]
    for who in table.programs():
        found = []
        for what in ("RSS, MB", "CPU, s"):
            pairs = [(f"{memories[-1]}, {other}", f"{memories[0]}, {other}") for other in others]
            column = f"{who}: {what}"
            found.append(middle(change(table.at(large, column), table.at(small, column)) for large, small in pairs))
        words = f"memory {per_cent(found[0])}, CPU time {per_cent(found[1])} with {memories[0]} against {memories[-1]}"
        claim.of(who, [found[0] < -NOISE / 2, found[1] < 2 * NOISE], words)
    return claim


def same(streams: Table) -> Claim:
    """How much the cost of a stream depends on the settings."""
    claim = Claim("What a stream costs over all of these settings:")
    *layouts, last = streams.rows
    for who in streams.programs():
        column = f"{who}: RSS"
        words = f"{span(streams.at(row[0], column) for row in layouts)} MB"
        claim.of(who, [], f"{words}, and {streams.at(last[0], column):.1f} MB from a file with the recommended layout")
    claim.why = (
        "A stream of basketry holds the data in work, not full buffers for all branches: a basket is assembled once "
        "its content is known. An input that has the layout of the output is copied."
    )
    return claim


def virtual(tables: Tables) -> Claim:
    """Virtual size against memory."""
    claim = Claim("Virtual size measures memory.")
    for table in tables.each("copying"):
        found = [
            over(table.at(f"{memory}: vsize, MB", title), table.at(f"{memory}: RSS, MB", title))
            for memory, title in product(rows(table), table.head[1:])
        ]
        claim.of(table.who, [max(found) < 1.1], f"it is {span(found)} times the resident set")
    claim.why = (
        "The allocator reserves address space for each thread (64 MB with glibc) and leaves it empty. The study's "
        "tables have virtual size; ours have both."
    )
    return claim
