"""Conclusions of the study of a framework's job, from its table."""

from studies.conclusions.tables import Claim, Table, Tables, change, figure, over, per_cent
from studies.framework import ADDRESSES, LOCKED, MERGER, NO_FILL, NO_WRITE, NTUPLES, ROOT_MERGER

#: The writers that write from many threads at once.
PARALLEL = (ADDRESSES, NTUPLES, MERGER, ROOT_MERGER)
#: What a job that writes nothing uses of its processors, at least.
USED = 0.9
#: A job that is that near to one that writes nothing costs nothing more.
NEAR = 0.95


def framework(tables: Tables) -> list[Claim]:
    """The conclusions of the published table, then what the outputs cost here."""
    table = tables.of("jobs")
    most = max(table.rows, key=lambda row: int(row[1]))[1]
    return [locked(table, most), near(table, most), memory(table, most), scaling(table, most), cost(table, most)]


def jobs(table: Table, threads: str) -> dict[str, list[str]]:
    """The rows of a number of threads, by their writers."""
    return {row[0]: row for row in table.rows if row[1] == threads}


def of(table: Table, row: list[str], column: str) -> float:
    """A figure of a row."""
    return figure(row[table.column(column)])


def locked(table: Table, most: str) -> Claim:
    """One lock for each output."""
    claim = Claim("Outputs behind a lock leave processors idle (CMS: 0.62 of them were used, on 32 threads).")
    rows = jobs(table, most)
    for way in (LOCKED, *PARALLEL):
        if row := rows.get(way.label):
            used = of(table, row, "CPU utilisation")
            holds = [used < USED] if way is LOCKED else []
            claim.of(way.label, holds, f"{used:.2f}, on {most} threads")
    claim.why = "A thread that compresses a cluster holds the lock, and all others that finish an event wait for it."
    return claim


def near(table: Table, most: str) -> Claim:
    """Events a second against a job that writes nothing."""
    claim = Claim(
        "Parallel outputs come near a job that fills and compresses, and writes nothing (CMS: 0.96 to 0.99 of its "
        "events a second; behind a lock 0.63)."
    )
    rows = jobs(table, most)
    limit = of(table, rows[NO_WRITE.label], "events/s")
    for way in (*PARALLEL, LOCKED):
        if row := rows.get(way.label):
            share = over(of(table, row, "events/s"), limit)
            claim.of(way.label, [share >= NEAR] if way is not LOCKED else [], f"{share:.2f} of its events a second")
    claim.why = (
        "What writes nothing is basketry's, with the same columns and codec: a writer that takes more for them is "
        "further from it."
    )
    return claim


def memory(table: Table, most: str) -> Claim:
    """Memory against the job with locks."""
    claim = Claim("Parallel outputs take more memory than those behind a lock (CMS: 1.14 and 1.46 times as much).")
    rows = jobs(table, most)
    if LOCKED.label in rows:
        least = of(table, rows[LOCKED.label], "peak RSS, MB")
        nothing = of(table, rows[NO_FILL.label], "peak RSS, MB")
        for way in PARALLEL:
            if row := rows.get(way.label):
                peak = of(table, row, "peak RSS, MB")
                words = (
                    f"{over(peak, least):.2f} times as much, {peak - nothing:.0f} MB more than a job that fills nothing"
                )
                claim.of(way.label, [peak > 1.1 * least], words)
    return claim


def scaling(table: Table, most: str) -> Claim:
    """All threads against one."""
    claim, rows, one = Claim("Events a second grow with the threads."), jobs(table, most), jobs(table, "1")
    for label in rows.keys() & one.keys():
        gain = over(of(table, rows[label], "events/s"), of(table, one[label], "events/s"))
        claim.of(label, [gain >= USED * int(most)], f"{gain:.2f} times as many on {most} threads")
    claim.found.sort(key=lambda found: list(rows).index(found.who))
    return claim


def cost(table: Table, most: str) -> Claim:
    """CPU time of the outputs."""
    claim = Claim("What the outputs cost of an event's CPU time (CMS: a fifth of all, with nothing written):")
    rows = jobs(table, most)
    nothing = of(table, rows[NO_FILL.label], "CPU ms/event")
    for way in (NO_WRITE, *PARALLEL, LOCKED):
        if row := rows.get(way.label):
            whole = of(table, row, "CPU ms/event")
            claim.of(
                way.label,
                [],
                f"{whole - nothing:.2f} ms, {per_cent(change(nothing, whole))} of the event without outputs",
            )
    return claim
