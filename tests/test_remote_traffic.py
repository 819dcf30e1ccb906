"""How much is asked for: requests and bytes that reading some columns of a remote file takes, by what the server saw.
No times: `bench` has those."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from referee.command import Basketry
from referee.shares import columns_of
from servers.odd import Behaviour, OddServer

SHARE = 0.05
# Begin and end of the file, and one more for the metadata that these did not bring.
OPENING = 3
# Bytes of a scan that are read together.
SCANNED_AT_ONCE = 4 << 20
# Memory of a process that has the client libraries and their buffers.
PROCESS = 30e6


@dataclass(frozen=True)
class Part:
    """A file, and columns with a share of its bytes."""

    content: bytes
    options: tuple[str, ...]
    clusters: int
    pieces: int
    # Bytes of these columns, and of all metadata that a reader needs.
    needed: int
    report: dict[str, Any]


@pytest.fixture(scope="module", params=["ttree", "rntuple"])
def part(request: pytest.FixtureRequest, basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Part:
    """5 % of the columns of a file of 100 MB, from all over the file."""
    path = tmp_path_factory.mktemp("traffic") / "nano.root"
    options = ("--compression", "none", "--container", request.param)
    basketry("generate", "nano", "--size", "100MB", *options, "-q", "-o", path)
    selection = ("--branches", *columns_of(basketry.json("readspeed", path), SHARE))
    report = basketry.json("readspeed", path, *selection)
    contents = basketry.json("inspect", path)
    table = (contents["trees"] + contents["ntuples"])[0]
    metadata = table["metadata"]["bytes"] + contents["file"]["infos"]["bytes"]
    pieces = sum(column["baskets"] for column in report["columns"])
    needed = report["compressed"] + metadata
    return Part(path.read_bytes(), selection, report["clusters"], pieces, needed, report)


def received(report: dict[str, Any]) -> dict[str, int]:
    """What was read of each column."""
    return {column["name"]: column["uncompressed"] for column in report["columns"]}


def test_a_server_that_sends_several_ranges(basketry: Basketry, odd_server: OddServer, part: Part) -> None:
    url = odd_server.put("nano.root", part.content, Behaviour(ranges="several"))

    report = basketry.json("readspeed", url, *part.options)

    assert received(report) == received(part.report)
    assert len(odd_server.requests) <= part.clusters + OPENING


def test_little_is_sent_that_is_not_needed(basketry: Basketry, odd_server: OddServer, part: Part) -> None:
    """Heads of parts and gaps between ranges included."""
    url = odd_server.put("nano.root", part.content, Behaviour(ranges="several"))

    basketry("readspeed", url, *part.options, "-q")

    assert odd_server.sent <= 1.1 * part.needed


def test_a_server_that_sends_one_range(basketry: Basketry, odd_server: OddServer, part: Part) -> None:
    """Each range with gaps around it is a request of its own, so there are more requests: at most one for each basket
    or page. Requests for several ranges, to which the server replies with the whole file, were under way when the first
    reply came. How many ranges are joined depends on the latency, so bytes have no bound here."""
    url = odd_server.put("nano.root", part.content, Behaviour(ranges="whole"))

    report = basketry.json("readspeed", url, *part.options)

    assert received(report) == received(part.report)
    single = [request for request in odd_server.requests if request.status == 206]
    assert len(single) <= part.pieces + OPENING
    assert len(odd_server.requests) - len(single) <= part.clusters + OPENING


def test_nothing_is_asked_for_twice(basketry: Basketry, odd_server: OddServer, part: Part) -> None:
    url = odd_server.put("nano.root", part.content, Behaviour(ranges="several"))

    basketry("readspeed", url, *part.options, "-q")

    asked = [request.range or "" for request in odd_server.requests]
    spans = sorted(
        tuple(int(end) for end in span.split("-"))
        for ranges in asked[2:]
        for span in ranges.removeprefix("bytes=").split(",")
    )
    assert spans
    assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))


def test_the_first_entry_takes_few_round_trips(basketry: Basketry, odd_server: OddServer, part: Part) -> None:
    """Begin and end of the file are asked for at once; then what is missing of the metadata, and the entry."""
    url = odd_server.put("nano.root", part.content, Behaviour(ranges="several"))

    basketry("readspeed", url, *part.options, "--entries", "0:1", "-q")

    assert len(odd_server.requests) <= OPENING + 1


@pytest.mark.parametrize("verb", ["rewrite", "convert"])
def test_ranges_of_entries_are_asked_for_together(
    basketry: Basketry, odd_server: OddServer, part: Part, tmp_path: Path, verb: str
) -> None:
    """The file is opened once, and the pages of a part of a cluster are one request as those of a whole one are."""
    url = odd_server.put("nano.root", part.content, Behaviour(ranges="several"))
    columns = [word for name in part.options[1:] for word in ("--keep", name)]
    output = tmp_path / {"rewrite": "out.root", "convert": "out.parquet"}[verb]

    basketry(verb, url, *columns, "--entries", "100:2000", "-q", "-o", output)

    assert len(odd_server.requests) <= part.clusters + OPENING
    local = tmp_path / "nano.root"
    local.write_bytes(part.content)
    expected = output.read_bytes()
    basketry(verb, local, *columns, "--entries", "100:2000", "-q", "-f", "-o", output)
    assert output.read_bytes() == expected


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_samples_are_asked_for_together(
    basketry: Basketry, odd_server: OddServer, tmp_path: Path, container: str
) -> None:
    """`tune` samples hundreds of columns, in several places each. It writes as many trials as it has time for, and each
    reads some clusters again."""
    path = tmp_path / "nano.root"
    basketry("generate", "nano", "--size", "20MB", "--container", container, "-q", "-o", path)
    url = odd_server.put("nano.root", path.read_bytes(), Behaviour(ranges="several"))

    measuring = basketry.json("tune", url)["measuring"]

    assert measuring["sampled_columns"] > 100
    assert len(odd_server.requests) < measuring["sampled_columns"] / 2 * (1 + measuring["trials"])


def test_a_scan_takes_large_pieces(basketry: Basketry, odd_server: OddServer, part: Part) -> None:
    """A file that is cut short has no list of keys: all of its records are looked at."""
    content = part.content[: len(part.content) * 2 // 3]
    url = odd_server.put("nano.root", content, Behaviour(ranges="several"))

    basketry.run("inspect", url)

    assert len(odd_server.requests) <= len(content) // SCANNED_AT_ONCE + 1 + OPENING


@pytest.mark.parametrize("ranges", ["several", "whole", "ignored"])
def test_the_budget_holds(
    basketry: Basketry,
    odd_server: OddServer,
    part: Part,
    tmp_path: Path,
    ranges: Literal["several", "whole", "ignored"],
) -> None:
    """Bytes under way count, and a file that comes whole is not in memory."""
    url = odd_server.put("nano.root", part.content, Behaviour(ranges=ranges))

    outcome = basketry.run("rewrite", url, "--memory", "40MB", "-q", "-o", tmp_path / "out.root")

    assert outcome.code == 0, str(outcome)
    assert outcome.peak_rss < 40e6 + PROCESS < len(part.content)
