"""A web server of our own for replies that good servers do not give: ranges that are ignored, bodies that are cut
short, files that change, errors that pass. It keeps what clients asked for."""

import dataclasses
import http.server
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from servers.running import HOST

Span = tuple[int, int]
# Longer than any client waits.
FOREVER = 3600.0


@dataclass(frozen=True)
class Behaviour:
    """How a file is served. As it stands, this is a good server with one range in a reply."""

    # "several" sends multipart/byteranges; "first" and "whole" what they say for a request of several ranges; "ignored"
    # sends the whole file with 200 for every request.
    ranges: Literal["several", "first", "whole", "ignored"] = "whole"
    # Whether "the last n bytes" can be asked for; the whole file is sent if not.
    suffix: bool = True
    etag: str | None = '"one"'
    modified: str | None = None
    # After so many replies the file is another, as its ETag and its time say.
    changes_after: int | None = None
    # The first so many requests get this status.
    failures: int = 0
    status: int = 503
    retry_after: int | None = None
    # Every reply, or the first `cuts`, ends after so many bytes of its body, though more are announced.
    cut: int | None = None
    cuts: int | None = None
    # So many bytes more than asked for are sent, and announced.
    more: int = 0
    # Whether a reply with a part says which part it is.
    content_range: bool = True
    # Seconds before the reply begins, and after its first byte; bytes in a second.
    latency: float = 0.0
    stall: float = 0.0
    # Requests are taken and never answered.
    silent: bool = False
    bandwidth: float | None = None
    # The place that replies send the client to, with this status.
    redirect: str | None = None
    redirect_status: int = 302
    # The only token that is let in: as a bearer, or as the parameter `authz` of the URL.
    token: str | None = None
    # Whether HEAD is answered.
    head: bool = True


@dataclass(frozen=True)
class Request:
    """What a client asked for, and what it got."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    status: int
    sent: int
    # The request line and all headers, as they came.
    head: str

    @property
    def range(self) -> str | None:
        """The header `Range`."""
        return self.headers.get("range")


@dataclass
class File:
    """A served file."""

    content: bytes
    behaviour: Behaviour
    asked: int = 0
    replies: int = 0
    cuts: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class Reply:
    """A reply before it is sent. `cut` is how many bytes of the body are sent, if not all."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: int | None = None


class OddServer:
    """The server. Each file has a behaviour of its own. With a context it speaks HTTPS."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.files: dict[str, File] = {}
        self.requests: list[Request] = []
        self._server = _Threads(self)
        self.scheme = "https" if context else "http"
        if context:
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def put(self, name: str, content: bytes, behaviour: Behaviour | None = None) -> str:
        """Serves a file under this name, and returns its URL."""
        self.files[f"/{name}"] = File(content, behaviour or Behaviour())
        return f"{self.scheme}://{HOST}:{self.port}/{name}"

    def forget(self) -> None:
        """Forgets the requests so far."""
        self.requests.clear()

    @property
    def sent(self) -> int:
        """Bytes of all bodies that were sent."""
        return sum(request.sent for request in self.requests)

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()


class _Threads(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, odd: OddServer) -> None:
        self.odd = odd
        super().__init__((HOST, 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Threads

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        file = self.server.odd.files.get(parts.path)
        if file is None:
            self._send(Reply(404), Behaviour())
        else:
            time.sleep(FOREVER if file.behaviour.silent else file.behaviour.latency)
            with file.lock:
                reply = reply_of(file, self.command, parts.query, headers)
            self._send(reply, file.behaviour)

    def _send(self, reply: Reply, behaviour: Behaviour) -> None:
        body = b"" if self.command == "HEAD" else reply.body[: reply.cut]
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        # Before it is sent, so that a client which has its reply finds the request here.
        head = f"{self.requestline}\n{self.headers}"
        request = Request(self.command, parts.path, parts.query, headers, reply.status, len(body), head)
        self.server.odd.requests.append(request)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        for piece in paced(body, behaviour):
            self.wfile.write(piece)
            self.wfile.flush()
        if len(body) < len(reply.body) and self.command != "HEAD":
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def paced(body: bytes, behaviour: Behaviour) -> Iterator[bytes]:
    """The body in pieces, each at its time."""
    if behaviour.stall and body:
        yield body[:1]
        time.sleep(behaviour.stall)
        body = body[1:]
    if behaviour.bandwidth is None:
        yield body
        return
    begin, step = time.monotonic(), max(1, int(behaviour.bandwidth / 100))
    for start in range(0, len(body), step):
        yield body[start : start + step]
        due = begin + min(start + step, len(body)) / behaviour.bandwidth
        time.sleep(max(0.0, due - time.monotonic()))


def reply_of(file: File, method: str, query: str, headers: dict[str, str]) -> Reply:
    """The reply to a request for a file."""
    behaviour = file.behaviour
    file.asked += 1
    if behaviour.redirect is not None:
        return Reply(behaviour.redirect_status, {"Location": behaviour.redirect})
    if behaviour.token is not None and behaviour.token not in tokens(query, headers):
        return Reply(401, {"WWW-Authenticate": "Bearer"})
    if file.asked <= behaviour.failures:
        after = {} if behaviour.retry_after is None else {"Retry-After": str(behaviour.retry_after)}
        return Reply(behaviour.status, after, b"later")
    if method == "HEAD" and not behaviour.head:
        return Reply(405)
    file.replies += 1
    if behaviour.changes_after is not None and file.replies > behaviour.changes_after:
        etag = '"two"' if behaviour.etag else None
        modified = "Fri, 02 Jan 2026 00:00:00 GMT" if behaviour.modified else None
        behaviour = dataclasses.replace(behaviour, etag=etag, modified=modified)
        content = file.content[::-1]
    else:
        content = file.content
    reply = ranged(content, behaviour, headers)
    if behaviour.cut is None or (behaviour.cuts is not None and file.cuts >= behaviour.cuts):
        return reply
    file.cuts += 1
    return dataclasses.replace(reply, cut=behaviour.cut)


def tokens(query: str, headers: dict[str, str]) -> set[str]:
    """The tokens that a request has."""
    in_url = {word.removeprefix("authz=") for word in query.split("&") if word.startswith("authz=")}
    return in_url | {headers.get("authorization", "").removeprefix("Bearer ")}


def ranged(content: bytes, behaviour: Behaviour, headers: dict[str, str]) -> Reply:
    """The part of the file that a request asks for."""
    common = {"Content-Type": "application/octet-stream"}
    common |= {"ETag": behaviour.etag} if behaviour.etag else {}
    common |= {"Last-Modified": behaviour.modified} if behaviour.modified else {}
    if "if-match" in headers and headers["if-match"] not in (behaviour.etag, "*"):
        return Reply(412, common)
    asked, size = headers.get("range", ""), len(content)
    unknown = "=-" in asked and not behaviour.suffix
    if not asked.startswith("bytes=") or behaviour.ranges == "ignored" or unknown:
        return Reply(200, common, content)
    spans = [span for word in asked.removeprefix("bytes=").split(",") if (span := span_of(word.strip(), size))]
    if not spans:
        return Reply(416, common | {"Content-Range": f"bytes */{size}"})
    if len(spans) > 1 and behaviour.ranges == "whole":
        return Reply(200, common, content)
    spans = [(start, min(end + behaviour.more, size)) for start, end in spans]
    if len(spans) == 1 or behaviour.ranges == "first":
        start, end = spans[0]
        said = {"Content-Range": f"bytes {start}-{end - 1}/{size}"} if behaviour.content_range else {}
        return Reply(206, common | said, content[start:end])
    body = b"".join(part(content, span) for span in spans) + b"\r\n--THIS_SEPARATES--\r\n"
    return Reply(206, common | {"Content-Type": "multipart/byteranges; boundary=THIS_SEPARATES"}, body)


def part(content: bytes, span: Span) -> bytes:
    """One range of a multipart body."""
    start, end = span
    head = f"Content-Type: application/octet-stream\r\nContent-Range: bytes {start}-{end - 1}/{len(content)}"
    return f"\r\n--THIS_SEPARATES\r\n{head}\r\n\r\n".encode() + content[start:end]


def span_of(word: str, size: int) -> Span | None:
    """Begin and end of one range (`a-b`, `a-`, `-n`), if it has bytes of the file."""
    first, _, last = word.partition("-")
    start, end = (int(first), int(last) + 1 if last else size) if first else (size - int(last), size)
    start, end = max(0, start), min(end, size)
    return (start, end) if start < end else None
