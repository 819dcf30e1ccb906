"""Conclusions of the study of parallel writing, from its tables: of trees, then of RNTuples."""

import math
import re

from studies.conclusions.tables import (
    Claim,
    Table,
    Tables,
    bracket,
    change,
    figure,
    figures,
    middle,
    per_cent,
    span,
    span_of_changes,
)
from studies.parallel import MEMORY

#: The prefixes of the tables, with the words for what is written.
HALVES = {"": "trees", "ntuple-": "RNTuples"}
OURS = "basketry"
#: Two threads that are that many times as fast as one scale: three quarters of the ideal gain.
SCALES = 0.75
#: A writer that reaches this share of a device's rate fills it.
FILLS = 0.75
#: What a baseline of CMS's modules uses of its processors.
USED = 0.9


def parallel(tables: Tables) -> list[Claim]:
    """The conclusions of the talk and of CMS, for each container, then those of reading while it is written."""
    claims = []
    for prefix, what in HALVES.items():
        claims += [
            scaling(tables, prefix, what),
            bare(tables, prefix, what),
            saturated(tables, prefix, what),
            one_thread(tables, prefix, what),
            branches(tables, prefix, what),
            backpressure(tables, prefix, what),
            outputs(tables, prefix, what),
            live(tables, prefix, what),
            saving(tables, prefix, what),
        ]
    return [claim for claim in (*claims, smaller(tables)) if claim]


def gains(table: Table, who: str, *, codec: bool, medium: str = "") -> list[float]:
    """The speed-ups of a writer with a codec or without, on one medium or on all."""
    place, found = table.column(who), []
    for row in table.rows:
        speeds = figures(row[place])
        if (row[1] != "none") == codec and medium in ("", row[0]) and len(speeds) > 1 and speeds[0]:
            found.append(speeds[-1] / speeds[0])
    return found


def writers(table: Table, before: int = 3) -> list[str]:
    """The writers of a table of speeds."""
    return table.head[before:]


def speeds(tables: Tables, prefix: str) -> list[Table]:
    """The two tables of speeds: of one branch, and of ten."""
    return [tables.of(f"{prefix}{kind}-speed") for kind in ("single", "multi")]


def threads(tables: Tables, prefix: str) -> int:
    """The most threads of the tables of speeds: twice as many with each step."""
    row = tables.of(f"{prefix}single-speed").rows[0]
    return 1 << max(1, len(figures(row[3])) - 1)


def scaling(tables: Tables, prefix: str, what: str) -> Claim:
    """Speed-ups with a codec, in memory."""
    count = threads(tables, prefix)
    claim = Claim(f"CPU-bound writing of {what} scales.")
    one, ten = speeds(tables, prefix)
    memory = one.rows[-1][0]
    for who in writers(one):
        found = [gains(table, who, codec=True, medium=memory) for table in (one, ten)]
        words = f"{count} threads are {span(found[0])} times as fast as one with one branch"
        words += f" ({middle(found[0]):.1f} in the median)"
        words += f", {span(found[1])} with ten ({middle(found[1]):.1f})"
        claim.of(who, [middle(of) >= SCALES * count for of in found], words)
    claim.why = f"With a codec, in {memory}. Compression is nearly all of the work."
    claim.why += (
        " `TTree`'s implicit threads take a branch each, and have nothing to do with a single one."
        if not prefix
        else ""
    )
    return claim


def bare(tables: Tables, prefix: str, what: str) -> Claim:
    """Speed-ups without a codec."""
    count = threads(tables, prefix)
    claim = Claim(f"Writing {what} without a codec scales.")
    for who in writers(speeds(tables, prefix)[0]):
        found = [gain for table in speeds(tables, prefix) for gain in gains(table, who, codec=False)]
        claim.of(who, [middle(found) >= SCALES * count], f"{span(found)} times as fast on {count} threads")
    claim.why = "What remains is the kernel's copy into one file, and on a disk the flush."
    claim.why += " TBufferMerger's buffers are copied and merged under one lock." if not prefix else ""
    return claim


def saturated(tables: Tables, prefix: str, what: str) -> Claim | None:
    """The share of a throttled device's rate that each writer reaches."""
    table = tables.of(f"{prefix}media")
    row = next((row for row in table.rows if row[0].startswith("throttled") and row[0].endswith("none")), None)
    if row is None:
        return None
    rate = figure(row[0])
    claim = Claim(f'"A few threads saturate any media type if not CPU bound": {what} on a device of {rate:.0f} MB/s.')
    for who, cell in zip(names(table), row[1:], strict=True):
        claim.of(who, [figure(cell) >= FILLS * rate], f"{figure(cell):.0f} MB/s, in {bracket(cell):.0f} MB of memory")
    return claim


def names(table: Table) -> list[str]:
    """The writers of a table whose titles are `WRITER, MB/s (...)`."""
    return [re.sub(r", MB(/s)? \(.*$", "", title) for title in table.head[1:]]


def one_thread(tables: Tables, prefix: str, what: str) -> Claim | None:
    """One thread of basketry against all threads of the others."""
    table = tables.of(f"{prefix}branches-none")
    others = writers(table, 1)[1:]
    if not others:
        return None
    rows = [[figures(cell) for cell in row[1:]] for row in table.rows]
    won = sum(ours[0] > max(max(of) for of in rivals) for ours, *rivals in rows)
    claim = Claim(f"One thread of basketry writes {what} without a codec faster than all threads of any other writer.")
    claim.of(OURS, [won == len(rows)], f"for {won} of {len(rows)} numbers of branches")
    return claim


def branches(tables: Tables, prefix: str, what: str) -> Claim:
    """The same data in more branches."""
    table = tables.of(f"{prefix}branches-none")
    claim = Claim(f"More branches for the same data cost time ({what}).")
    first, last = table.rows[0], table.rows[-1]
    for who in writers(table, 1):
        place = table.column(who)
        slower = change(figures(first[place])[0], figures(last[place])[0])
        claim.of(who, [slower < -0.2], f"{per_cent(slower)} of the speed of one thread from {first[0]} to {last[0]}")
    return claim


def backpressure(tables: Tables, prefix: str, what: str) -> Claim:
    """Memory over threads."""
    table = tables.of(f"{prefix}memory")
    least, most = table.rows[0], table.rows[-1]
    claim = Claim(
        '"Need a solution for backpressure to avoid excessive memory consumption": memory of writing '
        f"{what} grows with threads."
    )
    for place, who in enumerate(names(table), 1):
        before, after = figure(least[place]), figure(most[place])
        words = f"{before:.0f} MB with {least[0]}, {after:.0f} MB with {most[0]}"
        within = who == OURS and after <= figure(MEMORY)
        words += f", within its budget of {figure(MEMORY):.0f} MB" if within else ""
        claim.of(who, [after > 1.5 * before and not within], words)
    budgets = tables.of(f"{prefix}budgets")
    speed = [budgets.at(row[0], "zlib:1: MB/s") for row in budgets.rows]
    held = [f"{row[0]}: {budgets.at(row[0], 'none: peak RSS, MB'):.0f} MB" for row in budgets.rows]
    slower = change(max(speed), speed[0])
    claim.why = (
        "basketry reserves memory for a cluster before it starts the cluster: its memory follows the budget, and the "
        "program "
        f"itself comes on top ({', '.join(held)} without a codec on eight threads). The smallest budget costs "
        f"{per_cent(-slower).lstrip('+')} of the speed with zlib:1, where it does not hold enough clusters."
    )
    return claim


def outputs(tables: Tables, prefix: str, what: str) -> Claim:
    """Several outputs against one, and against writing nothing."""
    table = tables.of(f"{prefix}limits")
    claim = Claim(
        "Several outputs at once come near the limit of writing nothing (CMS: 0.92 to 0.95 of the CPU against 0.96; "
        f"{what})."
    )
    three = {row[2]: row for row in table.rows if row[0] == OURS and row[1] == "3"}
    whole, nothing = three["as it is"], three["nothing written"]
    used = [figure(row[table.column("CPU utilisation")]) / 100 for row in (whole, nothing)]
    longer = change(*(figure(row[table.column("wall s")]) for row in (nothing, whole)))
    one = table.at(OURS, "peak RSS, MB", "1")
    memory = figure(whole[table.column("peak RSS, MB")])
    words = f"{used[0]:.2f} against {used[1]:.2f}, and {per_cent(longer)} of the time"
    claim.of(OURS, [used[0] >= USED], f"{words}; three outputs take {memory:.0f} MB, one {one:.0f} MB")
    claim.why = "Outputs of one process share one budget."
    return claim


def live(tables: Tables, prefix: str, what: str) -> Claim:
    """What readers see of a file that is being written."""
    table = tables.of(f"{prefix}live")
    readers = [title.partition(":")[0] for title in table.head if title.endswith(": states")]
    claim = Claim(f"A file of {what} is read while it is written.")
    wrong = sum(figure(row[-1]) for row in table.rows)
    for who in dict.fromkeys(row[0] for row in table.rows):
        rows = [row for row in table.rows if row[0] == who]
        said, seen = [], []
        for reader in readers:
            states = [states_of(row[table.column(f"{reader}: states")]) for row in rows]
            refused = [figure(row[table.column(f"{reader}: refused")]) for row in rows]
            seen.append(min(states) > 1)
            missed = f" ({span(refused, 0)} % refused)" if any(share > 0 for share in refused) else ""
            said.append(f"{reader} {span(states, 0)}{missed}")
        claim.of(who, seen, f"states seen: {', '.join(said)}")
    claim.why = f"{wrong:.0f} readings had" if wrong else "No reading had"
    claim.why += " other values than the finished file."
    if not prefix:
        claim.why += " `TTree` needs *SaveSelf*: without it the list of keys is old, and readers scan the records."
    return claim


def states_of(cell: str) -> float:
    """A number of states; none where a reader was not there."""
    found = figure(cell)
    return 0.0 if math.isnan(found) else found


def smaller(tables: Tables) -> Claim:
    """Files of the two containers, codec by codec, of basketry and of the one-threaded writers of ROOT."""
    claim, size = Claim("RNTuples are smaller than trees:"), "file, % of payload"
    of = [[tables.of(f"{prefix}{kind}-cost") for kind in ("single", "multi")] for prefix in HALVES]
    for place in range(2, min(4, *(len(table.head) for half in of for table in half))):
        both = [[figure(row[place]) for table in half for row in table.rows if row[1] == size] for half in of]
        changes = [change(tree, ntuple) for tree, ntuple in zip(*both, strict=True)]
        who = " and ".join(dict.fromkeys(half[0].head[place] for half in of))
        claim.of(who, [], f"{span_of_changes(changes)} over the codecs, with one branch and with ten")
    return claim


def saving(tables: Tables, prefix: str, what: str) -> Claim:
    """The cost of AutoSave."""
    table = tables.of(f"{prefix}saving")
    claim = Claim(f"What AutoSave costs ({what}):")
    for who in dict.fromkeys(row[0] for row in table.rows):
        rows = [row for row in table.rows if row[0] == who]
        none, *saved = rows
        sizes = [figure(row[-1]) / 100 for row in saved]
        times = [change(figure(none[3]), figure(row[3])) for row in saved]
        claim.of(who, [], f"{span_of_changes(sizes, 2)} of the size, {span_of_changes(times)} of the CPU time")
    return claim
