"""Conclusions of the study of bottlenecks, from its tables."""

from studies.conclusions.tables import Claim, Table, Tables, change, figure, per_cent

#: What rootreadspeed says for each planted cause; it has no words for the others.
SAYS = {"decompression": "CPU bound (decompression)", "storage": "I/O bound", "application": "application"}
ONE_BASKET, MANY_BASKETS, UNSPLIT = "one cluster of one basket", "one cluster of many baskets", "unsplit objects"
STORAGE, CODEC = "slow storage", "heavy codec"


def bottlenecks(tables: Tables) -> list[Claim]:
    """The rules of the study, then what they cannot see."""
    verdicts, advice = tables.of("diagnosis"), tables.of("advice")
    return [
        named(verdicts),
        threads(advice),
        harder(advice),
        predicted(advice),
        clusters(advice),
        unsplit(verdicts, advice),
    ]


def names(verdict: str, planted: str) -> bool:
    """Whether a verdict is the planted cause, in basketry's words or in those of rootreadspeed."""
    return verdict == planted or SAYS.get(planted, "?") in verdict


def named(table: Table) -> Claim:
    """How many of the planted causes are named."""
    claim = Claim("The published rules name the cause.")
    for who in table.head[2:]:
        place = table.column(who)
        wrong = [row for row in table.rows if not names(row[place], row[1])]
        words = f"{len(table.rows) - len(wrong)} of {len(table.rows)} planted causes"
        others = "; ".join(f'of *{row[0]}* ({row[1]}) it says "{row[place]}"' for row in wrong)
        claim.of(who, [not wrong], f"{words}{'; ' + others if others else ''}")
    claim.why = (
        "Real and CPU time cannot tell a lack of bytes from a lack of work: of one cluster one thread has all, the "
        "other waits, and CPU time / threads is half of real time, which the rule calls raw I/O. Nor can they tell it "
        'from a lack of processors, as the documentation warns ("things get a bit hairy"). readspeed times fetching '
        "by itself."
    )
    return claim


def rows(table: Table, case: str) -> list[list[str]]:
    """The rows of a case, the first of each reader."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        if row[0] == case:
            found.setdefault(row[1], row)
    return list(found.values())


def gains(table: Table) -> tuple[int, int]:
    """The places of the two speed-ups: by threads, and by the advice."""
    by_threads, by_advice = (place for place, title in enumerate(table.head) if title == "x")
    return by_threads, by_advice


def threads(table: Table) -> Claim:
    """More threads against a codec, and against storage."""
    claim, (place, _) = Claim("More threads help against a codec, not against slow storage."), gains(table)
    for codec, storage in zip(rows(table, CODEC), rows(table, STORAGE), strict=True):
        found = figure(codec[place]), figure(storage[place])
        claim.of(codec[1], [found[0] > 1.5, found[1] < 1.2], f"{found[0]:.2f} times as fast, and {found[1]:.2f} times")
    return claim


def harder(table: Table) -> Claim:
    """Codecs that compress harder, on slow storage."""
    claim, (_, place) = Claim("A codec that compresses harder helps on slow storage."), gains(table)
    label = table.column("advice followed")
    for who in dict.fromkeys(row[1] for row in table.rows if row[0] == STORAGE):
        found = {row[label]: figure(row[place]) for row in table.rows if row[0] == STORAGE and row[1] == who}
        words = ", ".join(f"{one:.2f} times as fast in {codec}" for codec, one in found.items())
        claim.of(who, [one > 1.1 for one in found.values()], words)
    claim.why = (
        "That is so as long as a codec decompresses faster than the storage delivers bytes: it has to be chosen by "
        "figures (`readspeed --throttle 25MB/s --layouts`)."
    )
    return claim


def predicted(table: Table) -> Claim:
    """Expected times of other codecs beside measured ones."""
    claim = Claim("readspeed --layouts says what a codec would give:")
    expected, measured, label = len(table.head) - 1, len(table.head) - 3, table.column("advice followed")
    said = [
        f"*{row[0]}*, {row[label]}: {row[expected]} s expected, {row[measured]} s measured "
        f"({per_cent(change(figure(row[measured]), figure(row[expected])))})"
        for row in table.rows
        if row[expected]
    ]
    if said:
        claim.of("basketry", [], "; ".join(said))
    return claim


def clusters(table: Table) -> Claim:
    """One cluster, of one basket and of many."""
    claim, (by_threads, by_advice) = Claim("One cluster is a bottleneck."), gains(table)
    for many, one in zip(rows(table, MANY_BASKETS), rows(table, ONE_BASKET), strict=True):
        found = [figure(row[by_threads]) for row in (one, many)]
        words = (
            f"two threads are {found[0]:.2f} times as fast if it has one basket, {found[1]:.2f} times if it has many"
        )
        words += f"; smaller clusters of one column make it {figure(one[by_advice]):.2f} times as fast"
        claim.of(one[1], [gain < 1.2 for gain in found], words)
    claim.why = "basketry distributes baskets, ROOT clusters: a note of readspeed says so."
    return claim


def unsplit(verdicts: Table, table: Table) -> Claim:
    """Decoding is not decompression."""
    claim, (_, place) = Claim("Decompression is not the only work of a processor."), gains(table)
    for row in rows(table, UNSPLIT):
        said = verdicts.row(UNSPLIT)[verdicts.column(row[1])]
        words = f'of a file without a codec it says "{said}"; split, it is read {figure(row[place]):.2f} times as fast'
        claim.of(row[1], [said != SAYS["decompression"]], words)
    return claim
