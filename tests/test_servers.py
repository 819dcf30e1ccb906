"""The servers of the tests themselves: what they serve, and that they are as odd as they say."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable

import pytest

from servers.nginx import NginxServer
from servers.odd import Behaviour, OddServer
from servers.proxy import Delay
from servers.s3 import AUTHORIZATION, S3Server
from servers.xrootd import XrootdServer

CONTENT = bytes(range(256)) * 40


def get(url: str, ranges: str | None = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers of a reply."""
    asked = {"Range": f"bytes={ranges}"} if ranges else {}
    request = urllib.request.Request(url, headers=asked | headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.read(), dict(reply.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read(), dict(error.headers)


def test_xrootd_serves_http(xrootd_server: XrootdServer) -> None:
    xrootd_server.put("plain.bin", CONTENT)

    status, body, _ = get(xrootd_server.http("plain.bin"), "100-199")

    assert (status, body) == (206, CONTENT[100:200])


def test_nginx_sends_several_ranges(nginx_server: NginxServer) -> None:
    nginx_server.put("plain.bin", CONTENT)
    before = nginx_server.requests()

    status, body, headers = get(nginx_server.url("plain.bin"), "0-9,100-119")

    assert status == 206
    assert headers["Content-Type"].startswith("multipart/byteranges")
    assert CONTENT[100:120] in body
    assert nginx_server.requests() == before + 1


def test_s3_has_buckets(s3_server: S3Server) -> None:
    s3_server.put("bucket", "folder/plain.bin", CONTENT)

    url = f"{s3_server.endpoint}/bucket/folder/plain.bin"
    status, body, _ = get(url, "100-199", Authorization=AUTHORIZATION)

    assert (status, body) == (206, CONTENT[100:200])
    assert get(url)[0] == 403


@pytest.mark.parametrize(
    ("ranges", "status", "body"),
    [("several", 206, None), ("first", 206, CONTENT[:10]), ("whole", 200, CONTENT), ("ignored", 200, CONTENT)],
)
def test_several_ranges(odd_server: OddServer, ranges: str, status: int, body: bytes | None) -> None:
    url = odd_server.put("a", CONTENT, Behaviour(ranges=ranges))  # type: ignore[arg-type]

    answered, received, headers = get(url, "0-9,100-119,-5")

    assert answered == status
    if body is None:
        assert headers["Content-Type"].startswith("multipart/byteranges")
        assert CONTENT[100:120] in received
        assert b"Content-Range: bytes 10235-10239/10240" in received
    else:
        assert received == body


def test_requests_are_kept(odd_server: OddServer) -> None:
    url = odd_server.put("a", CONTENT, Behaviour(token="let-me-in"))

    refused = get(url, "5-")
    bearer = get(url, "5-8", Authorization="Bearer let-me-in")
    parameter = get(f"{url}?x=1&authz=let-me-in", "-4")

    assert (refused[0], bearer[1], parameter[1]) == (401, CONTENT[5:9], CONTENT[-4:])
    assert [request.range for request in odd_server.requests] == ["bytes=5-", "bytes=5-8", "bytes=-4"]
    assert odd_server.requests[-1].query == "x=1&authz=let-me-in"
    assert odd_server.sent == 8


def test_errors_pass(odd_server: OddServer) -> None:
    url = odd_server.put("a", CONTENT, Behaviour(failures=2, status=429, retry_after=1))

    replies = [get(url, "0-3") for _ in range(3)]

    assert [status for status, _, _ in replies] == [429, 429, 206]
    assert replies[0][2]["Retry-After"] == "1"


def test_a_file_changes(odd_server: OddServer) -> None:
    url = odd_server.put("a", CONTENT, Behaviour(changes_after=1))

    (_, before, old), (_, after, new) = get(url, "0-3"), get(url, "0-3")

    assert (before, after) == (CONTENT[:4], CONTENT[-4:][::-1])
    assert old["ETag"] != new["ETag"]
    assert get(url, "0-3", **{"If-Match": old["ETag"]})[0] == 412


def test_bodies_are_cut_or_too_long(odd_server: OddServer) -> None:
    cut = odd_server.put("cut", CONTENT, Behaviour(cut=10, cuts=1))
    long = odd_server.put("long", CONTENT, Behaviour(more=3))

    # `http.client.IncompleteRead` is what urllib makes of it.
    with pytest.raises(Exception, match="IncompleteRead"):
        get(cut, "0-99")
    assert get(cut, "0-99")[1] == CONTENT[:100]
    assert get(long, "0-99")[1] == CONTENT[:103]


def test_redirects(odd_server: OddServer, nginx_server: NginxServer) -> None:
    nginx_server.put("there.bin", CONTENT)
    url = odd_server.put("here", b"", Behaviour(redirect=nginx_server.url("there.bin") + "?token=a"))

    assert get(url, "7-9")[1] == CONTENT[7:10]


def test_the_proxy_delays_each_way(odd_server: OddServer, delayed: Callable[..., Delay]) -> None:
    odd_server.put("a", CONTENT)
    proxy = delayed(odd_server.port, 0.05, 1e6)
    start = time.monotonic()

    body = get(f"http://127.0.0.1:{proxy.port}/a")[1]

    assert body == CONTENT
    # No reply can be faster than what the proxy adds.
    assert time.monotonic() - start > 2 * 0.05 + len(CONTENT) / 1e6
    assert proxy.connections == 1
    assert proxy.down.bytes > len(CONTENT)
