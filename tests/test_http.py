"""Files of web servers: replies that are good, odd, cut or missing, tokens, redirects, and what a user is told. Our own
server plays them all."""

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from referee.command import Basketry
from servers.odd import Behaviour, OddServer
from servers.proxy import Delay
from servers.running import HOST

# One of the columns in each cluster, so that there are gaps between the ranges.
COLUMNS = ("--keep", "ev3*")
# Begin and end of a file, which opening it asks for.
OPENING = 2
OUTPUT = "out.root"
SECRET = "let-me-in"


@pytest.fixture(scope="module")
def file(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree in several clusters, which opening does not read whole."""
    path = tmp_path_factory.mktemp("http") / "multi.root"
    basketry("generate", "multi", "--branches", "12", "--size", "4MB", "--cluster", "300kB", "-q", "-o", path)
    return path


@pytest.fixture(scope="module")
def content(file: Path) -> bytes:
    """Its bytes."""
    return file.read_bytes()


@pytest.fixture(scope="module")
def expected(basketry: Basketry, file: Path) -> bytes:
    """What a rewrite of its columns gives."""
    # Outputs have their own name inside.
    return selected(basketry, file, file.with_name(OUTPUT))


@pytest.fixture
def remote(basketry: Basketry, tmp_path: Path) -> Basketry:
    """The command, which finds no token and soon gives up."""
    settings = {"BASKETRY_REMOTE_RETRIES": "2", "BEARER_TOKEN": "", "BEARER_TOKEN_FILE": ""}
    # Servers of this machine that are not encrypted get tokens in tests.
    return basketry.within(**settings, XDG_RUNTIME_DIR=str(tmp_path), BASKETRY_TOKEN_HOSTS=f"http://{HOST}")


def selected(command: Basketry, source: str | Path, output: Path) -> bytes:
    """The bytes of a rewrite of some columns."""
    command("rewrite", source, *COLUMNS, "-q", "-f", "-o", output)
    return output.read_bytes()


def refused(command: Basketry, url: str) -> str:
    """The message of a rewrite that fails, which names the file and leaves nothing behind."""
    output = Path(command.environment["XDG_RUNTIME_DIR"]) / OUTPUT
    message = command.refuses("rewrite", url, *COLUMNS, "-q", "-o", output)
    assert message.startswith(f"basketry: {url}: "), message
    assert list(output.parent.iterdir()) == []
    return message


GOOD: dict[str, Behaviour] = {
    **{ranges: Behaviour(ranges=ranges) for ranges in ("several", "first", "whole", "ignored")},
    "no end": Behaviour(suffix=False),
    "no head": Behaviour(head=False),
    "no version": Behaviour(etag=None),
    "more bytes": Behaviour(more=1000),
    "more bytes in parts": Behaviour(more=1000, ranges="several"),
    "slow": Behaviour(bandwidth=40e6, latency=0.005),
}


@pytest.mark.parametrize("behaviour", GOOD.values(), ids=GOOD)
def test_servers_that_know_less(
    remote: Basketry, odd_server: OddServer, content: bytes, expected: bytes, tmp_path: Path, behaviour: Behaviour
) -> None:
    url = odd_server.put("a.root", content, behaviour)

    assert selected(remote, url, tmp_path / OUTPUT) == expected


def test_several_ranges_are_few_requests(
    remote: Basketry, odd_server: OddServer, content: bytes, tmp_path: Path
) -> None:
    url = odd_server.put("a.root", content, Behaviour(ranges="several"))

    selected(remote, url, tmp_path / OUTPUT)

    ranges = [request.range or "" for request in odd_server.requests[OPENING:]]
    # How many clusters are announced together depends on the threads: mostly all.
    assert len(ranges) < sum(text.count("-") for text in ranges)


def test_a_server_without_several_ranges_is_asked_for_them_once(
    remote: Basketry, odd_server: OddServer, content: bytes, tmp_path: Path
) -> None:
    url = odd_server.put("a.root", content, Behaviour(ranges="whole"))

    selected(remote, url, tmp_path / OUTPUT)

    assert len([request for request in odd_server.requests if "," in (request.range or "")]) == 1


def test_a_server_without_ranges_sends_the_file_once(
    remote: Basketry, odd_server: OddServer, content: bytes, tmp_path: Path
) -> None:
    url = odd_server.put("a.root", content, Behaviour(ranges="ignored"))

    selected(remote, url, tmp_path / OUTPUT)

    # The request for the end is given up.
    assert len(odd_server.requests) <= OPENING


def test_a_server_that_does_not_count_from_the_end(
    remote: Basketry, odd_server: OddServer, delayed: Callable[..., Delay], tmp_path: Path, content: bytes
) -> None:
    """It offers the whole file instead, which is not received."""
    odd_server.put("a.root", content, Behaviour(ranges="several", suffix=False, bandwidth=2e6))
    proxy = delayed(odd_server.port)

    selected(remote, f"http://{HOST}:{proxy.port}/a.root", tmp_path / OUTPUT)

    assert proxy.down.bytes < len(content) / 2


PASSING: dict[str, Behaviour] = {
    "cut": Behaviour(cut=100, cuts=2),
    "cut in parts": Behaviour(cut=5000, cuts=1, ranges="several"),
    "503": Behaviour(failures=2),
    "500": Behaviour(failures=1, status=500),
    "429": Behaviour(failures=1, status=429),
}


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING)
def test_what_passes_is_asked_again(
    remote: Basketry, odd_server: OddServer, content: bytes, expected: bytes, tmp_path: Path, behaviour: Behaviour
) -> None:
    url = odd_server.put("a.root", content, behaviour)

    assert selected(remote, url, tmp_path / OUTPUT) == expected
    assert odd_server.files["/a.root"].asked > OPENING


def test_a_server_says_when_to_come_again(remote: Basketry, odd_server: OddServer, content: bytes) -> None:
    url = odd_server.put("a.root", content, Behaviour(failures=2, status=429, retry_after=1))

    outcome = remote.run("inspect", url)

    assert outcome.code == 0, str(outcome)
    # The server asked for this wait; without it the waits begin with a tenth. No slow machine makes it shorter.
    assert outcome.wall >= 1.0


LASTING: dict[str, tuple[Behaviour, str]] = {
    "cut": (Behaviour(cut=100), "end of file before message length reached"),
    "503": (Behaviour(failures=10**6), "the server replies 503 Service Unavailable"),
    "404": (Behaviour(failures=10**6, status=404), "the server replies 404 Not Found"),
    "401": (Behaviour(token=SECRET), "the server replies 401 Unauthorized; no token was sent (BEARER_TOKEN and "),
    "403": (Behaviour(failures=10**6, status=403), "the server replies 403 Forbidden; no token was sent"),
    "another part": (Behaviour(content_range=False), "the server does not say which bytes it sent"),
    "changed while it is opened": (Behaviour(changes_after=1), "was changed on the server while it was being read"),
    "changed": (Behaviour(changes_after=2), "was changed on the server while it was being read"),
    "changed in parts": (Behaviour(changes_after=2, ranges="several"), "was changed on the server while it was"),
    "changed by its time": (
        Behaviour(changes_after=2, etag=None, modified="Thu, 01 Jan 2026 00:00:00 GMT"),
        "was changed on the server while it was being read",
    ),
}


@pytest.mark.parametrize(("behaviour", "reason"), LASTING.values(), ids=LASTING)
def test_what_does_not_pass(
    remote: Basketry, odd_server: OddServer, content: bytes, behaviour: Behaviour, reason: str
) -> None:
    url = odd_server.put("a.root", content, behaviour)

    assert reason in refused(remote, url)


@pytest.mark.parametrize("behaviour", [Behaviour(silent=True), Behaviour(stall=30.0)], ids=["silent", "stalled"])
def test_a_server_that_does_not_answer(
    remote: Basketry, odd_server: OddServer, content: bytes, behaviour: Behaviour
) -> None:
    url = odd_server.put("a.root", content, behaviour)
    soon = remote.within(BASKETRY_REMOTE_TIMEOUT="1", BASKETRY_REMOTE_RETRIES="0")

    assert "no answer in time" in refused(soon, url)


def test_a_refused_request_is_not_repeated(remote: Basketry, odd_server: OddServer, content: bytes) -> None:
    url = odd_server.put("a.root", content, Behaviour(failures=10**6, status=404))

    refused(remote, url)

    assert len(odd_server.requests) <= OPENING


@pytest.mark.parametrize("ranges", ["whole", "ignored"])
def test_files_that_are_none(remote: Basketry, odd_server: OddServer, content: bytes, ranges: Any) -> None:
    def message(name: str, content: bytes) -> str:
        return refused(remote, odd_server.put(name, content, Behaviour(ranges=ranges)))

    assert "not a ROOT file" in message("empty.root", b"")
    assert "not a ROOT file" in message("short.root", b"ro")
    assert "not a ROOT file" in message("page.html", b"<html>" * 100_000)
    cut = f"the file is cut short: it has {len(content) - 5000} bytes of {len(content)}"
    assert cut in message("cut.root", content[:-5000])


def test_tokens_arrive(
    remote: Basketry, odd_server: OddServer, content: bytes, expected: bytes, tmp_path: Path
) -> None:
    url = odd_server.put("a.root", content, Behaviour(token=SECRET))
    file, folder = tmp_path / "token", tmp_path / "run"
    file.write_text(f"{SECRET}\n")
    folder.mkdir()
    user = Path("/proc/self").stat().st_uid
    (folder / f"bt_u{user}").write_text(SECRET)
    for variable, value in {
        "BEARER_TOKEN": SECRET,
        "BEARER_TOKEN_FILE": str(file),
        "XDG_RUNTIME_DIR": str(folder),
    }.items():
        odd_server.forget()

        assert selected(remote.within(**{variable: value}), url, tmp_path / OUTPUT) == expected, variable

        assert {request.headers.get("authorization") for request in odd_server.requests} == {f"Bearer {SECRET}"}


def test_the_first_token_counts(remote: Basketry, odd_server: OddServer, content: bytes, tmp_path: Path) -> None:
    url = odd_server.put("a.root", content, Behaviour(token=SECRET))
    file = tmp_path / "token"
    file.write_text(SECRET)

    message = remote.within(BEARER_TOKEN="expired-one", BEARER_TOKEN_FILE=str(file)).refuses("inspect", url)

    assert "the token that was found may have expired" in message
    assert "expired-one" not in message


def test_parameters_arrive_and_are_not_shown(remote: Basketry, odd_server: OddServer, content: bytes) -> None:
    url = odd_server.put("a.root", content, Behaviour(token=SECRET))
    parameters = f"x=1&authz={SECRET}"

    # The token of the URL is the only one that is sent.
    remote.within(BEARER_TOKEN="other")("inspect", f"{url}?{parameters}")
    message = remote.refuses("inspect", f"{url.replace('a.root', 'b.root')}?{parameters}")

    assert message == f"basketry: {url.replace('a.root', 'b.root')}: the server replies 404 Not Found"
    assert {request.query for request in odd_server.requests} == {parameters}
    assert all("authorization" not in request.headers for request in odd_server.requests)


# Of a good file and a cut one, which many have something to say about.
REPORTS: list[tuple[str, ...]] = [
    ("inspect", "--writer", "URL"),
    ("inspect", "--json", "URL"),
    ("inspect", "--json", "CUT"),
    ("readspeed", "URL"),
    ("readspeed", "--json", "URL"),
    ("tune", "--json", "URL"),
    ("tune", "--json", "URL", "URL"),
    ("check", "--deep", "URL", "CUT"),
    ("check", "--json", "CUT"),
    ("fileset", "--json", "-k", "CUT"),
    ("verify", "--json", "URL", "CUT"),
    ("rewrite", "--json", "URL", "-o", "out.root"),
    ("merge", "--json", "--skip-bad", "URL", "CUT", "-o", "out.root"),
    ("hadd", "-v", "99", "-k", "out.root", "URL", "CUT"),
    ("recover", "--json", "CUT", "-o", "out.root"),
    ("convert", "--json", "URL", "-o", "out.parquet"),
]


@pytest.mark.parametrize("words", REPORTS, ids=" ".join)
def test_reports_show_no_parameters(
    remote: Basketry, odd_server: OddServer, content: bytes, tmp_path: Path, words: tuple[str, ...]
) -> None:
    places = {
        word: odd_server.put(f"{word}.root", bytes_, Behaviour(ranges="several", token=SECRET)) + f"?authz={SECRET}"
        for word, bytes_ in {"URL": content, "CUT": content[: len(content) * 2 // 3]}.items()
    }

    outcome = remote.run(*(places.get(word, word) for word in words), cwd=tmp_path)

    said = outcome.out + outcome.err
    assert outcome.code in (0, 1, 2), str(outcome)
    assert SECRET not in said
    # It is told which file is meant, unless all is well.
    assert outcome.code == 0 or "/CUT.root" in said
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_python_opens_urls(odd_server: OddServer, content: bytes, file: Path) -> None:
    url = odd_server.put("a.root", content, Behaviour(ranges="several", token=SECRET))
    place = f"{url}?authz={SECRET}"

    opened, tree = bk.open(place), bk.open({place: "Events"})

    name = tree.keys()[0]
    expected = bk.open(f"{file}:Events")[name].array().to_list()
    for found in (opened["Events"], tree):
        assert found[name].array().to_list() == expected
    assert SECRET not in f"{opened!r}{tree!r}"
    with pytest.raises(FileNotFoundError, match=r"b\.root") as raised:
        bk.open(place.replace("a.root", "b.root"))
    assert SECRET not in str(raised.value)


def test_schemes_in_capitals(
    remote: Basketry, odd_server: OddServer, content: bytes, expected: bytes, tmp_path: Path
) -> None:
    url = odd_server.put("a.root", content).replace("http://", "HTTP://")

    assert selected(remote, url, tmp_path / OUTPUT) == expected


@pytest.mark.parametrize("verb", ["readspeed", "verify", "rewrite", "merge", "convert", "tune"])
def test_every_verb_takes_parameters(remote: Basketry, odd_server: OddServer, verb: str, tmp_path: Path) -> None:
    url = odd_server.put("a.root", b"", Behaviour(token=SECRET))
    output = tmp_path / ("out.parquet" if verb == "convert" else "out.root")
    words = {"verify": [url], "readspeed": [], "tune": []}.get(verb, ["-o", output])

    message = remote.refuses(verb, f"{url}?authz={SECRET}", *words)

    # The server has let it in, and the file is empty.
    assert message.startswith(f"basketry: {url}: ")
    assert "ROOT" in message
    assert SECRET not in message


@contextlib.contextmanager
def another() -> Iterator[OddServer]:
    """A second server."""
    with contextlib.closing(OddServer()) as server:
        yield server


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(
    remote: Basketry,
    odd_server: OddServer,
    content: bytes,
    expected: bytes,
    tmp_path: Path,
    status: int,
) -> None:
    with another() as there:
        # Another name of this machine, as another server has.
        place = there.put("b.root", content).replace(HOST, "localhost") + "?signed=yes"
        url = odd_server.put("a.root", b"", Behaviour(redirect=place, redirect_status=status, token=None))

        received = selected(remote.within(BEARER_TOKEN=SECRET), url, tmp_path / OUTPUT)

        assert received == expected
        assert {request.query for request in there.requests} == {"signed=yes"}
        # The token is for the origin alone.
        assert all("authorization" not in request.headers for request in there.requests)
        assert {request.headers["authorization"] for request in odd_server.requests} == {f"Bearer {SECRET}"}
        # The place is asked directly from then on.
        assert len(odd_server.requests) <= OPENING


def test_redirects_to_another_port(
    remote: Basketry, odd_server: OddServer, content: bytes, expected: bytes, tmp_path: Path
) -> None:
    with another() as there:
        url = odd_server.put("a.root", b"", Behaviour(redirect=there.put("b.root", content)))

        hosts = f"http://{HOST}:{odd_server.port}"

        received = selected(remote.within(BEARER_TOKEN=SECRET, BASKETRY_TOKEN_HOSTS=hosts), url, tmp_path / OUTPUT)

        assert received == expected
        assert all("authorization" not in request.headers for request in there.requests)


def test_another_port_is_asked_directly(
    remote: Basketry, odd_server: OddServer, content: bytes, tmp_path: Path
) -> None:
    with another() as there:
        url = odd_server.put("a.root", b"", Behaviour(redirect=there.put("b.root", content)))

        selected(remote, url, tmp_path / OUTPUT)

        assert len(odd_server.requests) <= OPENING


def test_redirects_without_end(remote: Basketry, odd_server: OddServer) -> None:
    url = f"http://{HOST}:{odd_server.port}/a.root"
    odd_server.put("a.root", b"", Behaviour(redirect=url))

    assert "too many redirects" in refused(remote, url)


def test_a_server_that_is_not_there(remote: Basketry) -> None:
    server = OddServer()
    server.close()

    assert "cannot connect" in refused(remote, f"http://{HOST}:{server.port}/a.root")


def test_a_server_that_goes_away(
    remote: Basketry, odd_server: OddServer, delayed: Callable[..., Delay], content: bytes, tmp_path: Path
) -> None:
    """In the middle of a rewrite, when the output has begun."""
    folder = tmp_path / "out"
    folder.mkdir()
    odd_server.put("a.root", content)
    proxy = delayed(odd_server.port, bandwidth=2e6)
    url = f"http://{HOST}:{proxy.port}/a.root"
    command = remote.within(BASKETRY_REMOTE_RETRIES="1")
    words = [str(command.binary), "rewrite", url, "--compression", "none", "-q", "-o", str(folder / OUTPUT)]
    environment = os.environ | command.environment
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        while not list(folder.iterdir()):
            assert process.poll() is None
            time.sleep(0.005)
        proxy.close()
        _, message = process.communicate(timeout=60)

    assert process.returncode == 2, message
    assert message.startswith(f"basketry: {url}: "), message
    assert message.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_python_reads_urls(odd_server: OddServer, file: Path, content: bytes) -> None:
    # The URL was made a path, in which "//" is "/".
    url = odd_server.put("a.root", content)

    assert bk.open(url).keys() == bk.open(file).keys()
    assert bk.open(f"{url}:Events").num_entries == bk.open({file: "Events"}).num_entries
