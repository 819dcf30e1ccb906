"""Web servers that misbehave. Each is given up, or read rightly: within its limits of time, of bytes on the disk and of
requests, and what cannot pass is asked for once."""

import contextlib
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import basketry as bk
from referee.command import Basketry
from servers.hostile import BEHAVIOURS, MOST_SENT, HostileServer

# One of the columns in each cluster, so that there are gaps between the ranges.
COLUMNS = ("--keep", "ev3*")
# Begin and end of a file, which opening it asks for.
OPENING = 2
# Bytes that are received of a file of unknown size.
MOST_UNSIZED = 1 << 20
# Bytes that a server may be rid of beyond what a client takes: those in the buffers of both ends.
BUFFERED = 64 << 20

READ = "read"
CHANGED = "was changed on the server while it was being read"
SLOW = "no answer in time"
RANGES = "the server sent other bytes than requested"
# What becomes of each: it is read, or refused for this reason.
EXPECTED = {
    "endless_200": f"without its size, and it has more than {MOST_UNSIZED} bytes",
    "endless_zeros": "the header says that records begin at byte 0",
    "endless_parquet": f"without its size, and it has more than {MOST_UNSIZED} bytes",
    "endless_200_late": "the server sends more than the",
    "endless_206_late": READ,
    "endless_parts": READ,
    "whole_late": READ,
    "whole_late_unsized": READ,
    "other_late": CHANGED,
    "shorter_late": CHANGED,
    "longer_late": CHANGED,
    "page": 'not a ROOT file: the server sends what begins with "<html>log in',
    "empty_200": "not a ROOT file",
    "huge_200": "do not fit where temporary files are",
    "drip": SLOW,
    "drip_head": SLOW,
    "interim": SLOW,
    "interim_slow": SLOW,
    "silent": SLOW,
    "head_flood": "message head is too large",
    "garbage": "invalid HTTP",
    "status": "invalid HTTP",
    "no_content": "the server replies 204",
    "odd_etag": READ,
    "compressed": "the server compresses its replies",
    "compressed_200": "the server compresses its replies",
    "shifted": RANGES,
    "fewer": "the reply was cut",
    "fewer_than_said": "the reply was cut",
    "no_total": "the server does not say how large the file is",
    "far_away": "more bytes than any file can have",
    "largest_number": "more bytes than any file can have",
    "none_416": "not a ROOT file",
    "huge_416": "the server has no range of the",
    "cut_late": "",
    "hangs_up": "",
    "parts_longer": READ,
    "parts_huge": READ,
    # What was announced is left; single ranges are of the file.
    "parts_of_another": READ,
    "parts_few": READ,
    "parts_many": READ,
    "parts_long_boundary": READ,
    "parts_dashes": READ,
    "loop": "too many redirects",
    "loop_of_others": "too many redirects",
    "to_file": "the server redirects to file://, which is not followed",
    "to_ftp": "the server redirects to ftp://, which is not followed",
    "to_data": "the server redirects to data://, which is not followed",
    "to_nowhere": "302 Found, without a place",
    "to_no_url": "the server redirects to what is no URL",
    "later": "the server replies 429",
    "later_than_numbers": "the server replies 503",
    "earlier": "the server replies 503",
    "at_a_date": "the server replies 503",
}
# What may pass, and is asked for again.
PASSING = {
    "drip", "drip_head", "interim", "interim_slow", "silent", "fewer_than_said", "cut_late", "hangs_up",
    "later", "later_than_numbers", "earlier", "at_a_date",
}  # fmt: skip


@pytest.fixture(scope="module")
def file(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree in several clusters, which opening does not read whole."""
    path = tmp_path_factory.mktemp("hostile") / "multi.root"
    basketry("generate", "multi", "--branches", "12", "--size", "4MB", "--cluster", "300kB", "-q", "-o", path)
    return path


@pytest.fixture
def server(file: Path) -> Iterator[HostileServer]:
    """The server."""
    with contextlib.closing(HostileServer(file.read_bytes())) as server:
        yield server


@pytest.fixture(scope="module")
def expected(basketry: Basketry, file: Path) -> bytes:
    """What a rewrite of its columns gives."""
    # Outputs have their own name inside.
    return selected(basketry, file, file.with_name("out.root"))


def selected(command: Basketry, source: str | Path, output: Path) -> bytes:
    """The bytes of a rewrite of some columns."""
    command("rewrite", source, *COLUMNS, "-q", "-f", "-o", output)
    return output.read_bytes()


@pytest.fixture
def remote(basketry: Basketry, tmp_path: Path) -> Basketry:
    """The command, with small limits."""
    return basketry.within(
        BASKETRY_REMOTE_RETRIES="1",
        BASKETRY_REMOTE_MOST_UNSIZED=str(MOST_UNSIZED),
        BASKETRY_REMOTE_LOWEST_SPEED="1000",
        TMPDIR=str(tmp_path),
    )


def limits(behaviour: str) -> dict[str, str]:
    """What is waited for a server: little, if that is how it misbehaves; else no busy machine makes it too little."""
    # The wait that some ask for is cut, and still too long for a test.
    retries = "0" if behaviour.startswith("later") else "1"
    seconds = "0.5" if EXPECTED[behaviour] == SLOW else "60"
    return {"BASKETRY_REMOTE_TIMEOUT": seconds, "BASKETRY_REMOTE_RETRIES": retries}


def test_each_misbehaviour_is_expected() -> None:
    assert set(EXPECTED) == set(BEHAVIOURS)
    assert set(EXPECTED) >= PASSING


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_it_is_read_or_given_up(
    remote: Basketry, server: HostileServer, expected: bytes, tmp_path: Path, behaviour: str
) -> None:
    command = remote.within(**limits(behaviour))
    output, reason = tmp_path / "out.root", EXPECTED[behaviour]

    if reason == READ:
        assert selected(command, server.url(behaviour), output) == expected
    else:
        message = command.refuses("rewrite", server.url(behaviour), *COLUMNS, "-q", "-o", output)
        assert message.startswith(f"basketry: {server.url(behaviour)}: "), message
        assert reason in message, message
        assert list(tmp_path.iterdir()) == []
    assert server.sent <= BUFFERED < MOST_SENT


@pytest.mark.parametrize("behaviour", sorted(name for name in BEHAVIOURS if EXPECTED[name] != READ))
def test_what_cannot_pass_is_asked_for_once(remote: Basketry, server: HostileServer, behaviour: str) -> None:
    """Redirects are followed; no range is asked for twice, unless another answer is possible."""
    outcome = remote.within(**limits(behaviour)).run(
        "rewrite", server.url(behaviour), *COLUMNS, "-q", "-o", Path(remote.environment["TMPDIR"]) / "out.root"
    )

    assert outcome.code == 2, str(outcome)
    asked = [request for request in server.requests if "loop" not in request[0]]
    repeated = {request for request in asked if asked.count(request) > 1}
    if behaviour not in PASSING:
        assert not repeated
    assert len(server.requests) <= OPENING * 11 + (40 if behaviour.endswith("late") or "fewer" in behaviour else 0)


def test_one_file_is_kept_of_a_server_that_sends_it_whole(remote: Basketry, server: HostileServer, file: Path) -> None:
    """However many requests are answered with it at the same time."""
    report = remote.json("readspeed", server.url("whole_late"), "--repeat", "1")

    size, received = file.stat().st_size, report["runs"][0]["network"]["bytes"]
    assert size <= received < 2 * size


def test_waiting_is_said_on_a_terminal(remote: Basketry, server: HostileServer) -> None:
    command = remote.within(BASKETRY_REMOTE_TIMEOUT="1", BASKETRY_REMOTE_RETRIES="0")
    main, terminal = pty.openpty()
    words = [str(command.binary), "inspect", server.url("silent")]
    with subprocess.Popen(words, stderr=terminal, env=os.environ | command.environment) as process:
        os.close(terminal)
        said = b""
        # The end of a terminal that nobody has open any more is an error.
        with contextlib.suppress(OSError):
            while piece := os.read(main, 4096):
                said += piece
    os.close(main)

    assert process.returncode == 2
    assert b"basketry: waiting for 127.0.0.1: no answer for " in said
    assert b"it is given up after 1 s" in said
    assert "waiting" not in command.refuses("inspect", server.url("silent"))


def test_python_gives_up_too(
    server: HostileServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BASKETRY_REMOTE_RETRIES", "0")

    with pytest.raises(ValueError, match="not a ROOT file"):
        bk.open(server.url("page"))

    assert capfd.readouterr().err == ""
