"""A web server that misbehaves in whatever way a path asks for: `url("drip")` is a file that comes a byte at a time.
All of them serve the same content where they serve any. `BEHAVIOURS` has what each does."""

import contextlib
import gzip
import http.server
import threading
from collections.abc import Callable
from typing import Any

from servers.running import HOST

Span = tuple[int, int]
#: More than any file here, and any pair of socket buffers.
MOST_SENT = 256 << 20
PIECE = b"\0" * (1 << 16)


class HostileServer:
    """The server."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        #: The paths that were asked for, without the slash, and the ranges.
        self.requests: list[tuple[str, str]] = []
        #: Bytes of endless replies that the system took.
        self.sent = 0
        #: Ends what drips.
        self.closing = threading.Event()
        self.replies = 0
        self._server = _Threads(self)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def url(self, behaviour: str) -> str:
        """The URL of the file with a behaviour."""
        assert behaviour in BEHAVIOURS, behaviour
        return f"http://{HOST}:{self.port}/{behaviour}.root"

    def close(self) -> None:
        """Ends the server, and replies that are under way."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Threads(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, hostile: HostileServer) -> None:
        self.hostile = hostile
        super().__init__((HOST, 0), Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    """What behaviours use to answer a request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Threads

    def do_GET(self) -> None:
        """Answers by the behaviour."""
        self.hostile = self.server.hostile
        self.content = self.hostile.content
        asked = self.headers.get("Range", "")
        name = self.path.partition("?")[0].strip("/").partition(".")[0]
        self.hostile.requests.append((name, asked))
        self.spans = [span for word in asked.removeprefix("bytes=").split(",") if (span := self._span(word.strip()))]
        start, end = self.spans[0] if self.spans else (0, len(self.content))
        self.start, self.end = start, end
        # Begin and end, which opening a file asks for.
        self.opens = len(self.spans) == 1 and (start == 0 or end == len(self.content))
        BEHAVIOURS[name](self)

    def _span(self, word: str) -> Span | None:
        first, _, last = word.partition("-")
        if not first and not last:
            return None
        if not first:
            return max(0, len(self.content) - int(last)), len(self.content)
        return int(first), min(len(self.content), int(last) + 1)

    def raw(self, data: bytes) -> bool:
        """Sends bytes as they are; whether the client still takes them."""
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except OSError:
            self.close_connection = True
            return False
        return True

    def reply(self, status: int, headers: dict[str, str], body: bytes = b"", length: int | None = -1) -> None:
        """A reply; -1 is the length that it has, and None says none."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(len(body) if length < 0 else length))
        self.end_headers()
        self.raw(body)

    def part(self, body: bytes | None = None, said: str | None = None, **headers: Any) -> None:
        """The part that was asked for, or one that is said to be it."""
        body = self.content[self.start : self.end] if body is None else body
        said = f"bytes {self.start}-{self.end - 1}/{len(self.content)}" if said is None else said
        length = headers.pop("length", -1)
        self.reply(206, {"Content-Range": said} | headers, body, length)

    def parts(self, one: Callable[[int, int], bytes], boundary: str = "B", spans: list[Span] | None = None) -> None:
        """Several parts, each as `one` gives it."""
        body = b"".join(one(*span) for span in (self.spans if spans is None else spans))
        kind = {"Content-Type": f"multipart/byteranges; boundary={boundary}"}
        self.reply(206, kind, body + f"--{boundary}--\r\n".encode())

    def honest(self, start: int, end: int, said: str = "", extra: int = 0) -> bytes:
        """A good part."""
        said = said or f"bytes {start}-{end - 1 + extra}/{len(self.content)}"
        return f"--B\r\nContent-Range: {said}\r\n\r\n".encode() + self.content[start:end] + b"\r\n"

    def endless(self, status: int, first: bytes, **headers: str) -> None:
        """A reply that does not end, after these bytes."""
        self.send_response(status)
        for name, value in ({"Transfer-Encoding": "chunked"} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        going = not first or self.raw(b"%x\r\n%s\r\n" % (len(first), first))
        while going and self.hostile.sent < MOST_SENT:
            going = self.raw(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
            self.hostile.sent += len(PIECE)
        self.close_connection = True

    def drip(self, pieces: list[bytes]) -> None:
        """Pieces, ten in a second."""
        for piece in pieces:
            if self.hostile.closing.wait(0.1) or not self.raw(piece):
                break
        self.close_connection = True

    def flood(self, piece: bytes) -> None:
        """A piece again and again, until the client has enough of it."""
        while not self.hostile.closing.is_set() and self.raw(piece):
            pass
        self.close_connection = True

    def hang_up(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(2)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def _once_open(late: Callable[[Handler], None]) -> Callable[[Handler], None]:
    """Opens well, and misbehaves then."""
    return lambda h: h.part() if h.opens else late(h)


def _of_several(late: Callable[[Handler], None]) -> Callable[[Handler], None]:
    """Misbehaves where several ranges are asked for."""
    return lambda h: h.part() if len(h.spans) < 2 else late(h)


def _drip_body(h: Handler) -> None:
    said = f"bytes {h.start}-{h.end - 1}/{len(h.content)}"
    h.send_response(206)
    h.send_header("Content-Range", said)
    h.send_header("Content-Length", str(h.end - h.start))
    h.end_headers()
    h.drip([bytes([byte]) for byte in h.content[h.start : h.end]])


def _drip_head(h: Handler) -> None:
    h.raw(b"HTTP/1.1 206 Partial\r\n")
    h.drip([b"X-%d: a\r\n" % i for i in range(10_000)])


def _flood_head(h: Handler) -> None:
    h.raw(b"HTTP/1.1 206 Partial\r\n")
    h.flood(b"X: " + b"a" * 50_000 + b"\r\n")


def _cut(h: Handler) -> None:
    h.part(h.content[h.start : (h.start + h.end) // 2], length=h.end - h.start)
    h.hang_up()


def _whole_unsized(h: Handler) -> None:
    h.reply(200, {}, h.content, None)
    h.hang_up()


def _silent(h: Handler) -> None:
    h.hostile.closing.wait()
    h.hang_up()


def _garbage(h: Handler) -> None:
    h.raw(bytes(range(1, 256)) + b"\r\n\r\n")
    h.hang_up()


def _to(place: str | None) -> Callable[[Handler], None]:
    return lambda h: h.reply(302, {} if place is None else {"Location": place})


def _further(h: Handler) -> None:
    h.hostile.replies += 1
    h.reply(302, {"Location": f"/loop_of_others.{h.hostile.replies}"})


def _slow_boundary(h: Handler) -> None:
    total = sum(end - start for start, end in h.spans)
    kind = {"Content-Type": "multipart/byteranges; boundary=" + "-" * 60_000 + "x"}
    h.reply(206, kind, b"-" * total)


def _dashes(h: Handler) -> None:
    total = sum(end - start for start, end in h.spans)
    h.reply(206, {"Content-Type": "multipart/byteranges; boundary=" + "-" * 69 + "x"}, b"-" * total)


def _many_parts(h: Handler) -> None:
    total = sum(end - start for start, end in h.spans)
    one = b"--B\r\nContent-Range: bytes 0-0/*\r\n\r\nr\r\n"
    h.reply(206, {"Content-Type": "multipart/byteranges; boundary=B"}, one * (total // len(one)) + b"--B--\r\n")


def _far_away(h: Handler) -> None:
    total = (1 << 63) + len(h.content)
    begin = total - (h.end - h.start) if "=-" in h.headers["Range"] else h.start
    h.part(said=f"bytes {begin}-{begin + h.end - h.start - 1}/{total}")


BEHAVIOURS: dict[str, Callable[[Handler], None]] = {
    # Bodies that do not end.
    "endless_200": lambda h: h.endless(200, h.content),
    "endless_zeros": lambda h: h.endless(200, b"root"),
    "endless_parquet": lambda h: h.endless(200, b"PAR1"),
    "endless_200_late": _once_open(lambda h: h.endless(200, h.content)),
    "endless_206_late": _once_open(
        lambda h: h.endless(
            206, h.content[h.start : h.end], **{"Content-Range": f"bytes {h.start}-{h.end - 1}/{len(h.content)}"}
        )
    ),
    "endless_parts": _of_several(
        lambda h: h.endless(206, h.honest(*h.spans[0]), **{"Content-Type": "multipart/byteranges; boundary=B"})
    ),
    # Whole files.
    "whole_late": _once_open(lambda h: h.reply(200, {}, h.content)),
    "whole_late_unsized": _once_open(_whole_unsized),
    "other_late": _once_open(lambda h: h.reply(200, {}, h.content[::-1])),
    "shorter_late": _once_open(lambda h: h.reply(200, {}, h.content[:-1])),
    "longer_late": _once_open(lambda h: h.reply(200, {}, h.content + b"x")),
    "page": lambda h: h.reply(200, {"Content-Type": "text/html"}, b"<html>log in \x1b[31m</html>" * 10_000),
    "empty_200": lambda h: h.reply(200, {}),
    "huge_200": lambda h: h.reply(200, {}, h.content, 1 << 62),
    # Slowness.
    "drip": _drip_body,
    "drip_head": _drip_head,
    "interim": lambda h: h.flood(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "interim_slow": lambda h: h.drip([b"HTTP/1.1 103 Early Hints\r\nX: a\r\n\r\n"] * 10_000),
    "silent": _silent,
    # Heads.
    "head_flood": _flood_head,
    "garbage": _garbage,
    "status": lambda h: h.drip([b"HTTP/1.1 999 \x1b[31mEVIL\x07\r\nContent-Length: 0\r\n\r\n"]),
    "no_content": lambda h: h.reply(204, {}, length=None),
    "odd_etag": lambda h: h.part(ETag="\xff\xfe"),
    "compressed": lambda h: h.part(gzip.compress(h.content[h.start : h.end]), **{"Content-Encoding": "gzip"}),
    "compressed_200": lambda h: h.reply(200, {"Content-Encoding": "gzip"}, gzip.compress(h.content)),
    # Ranges.
    "shifted": _once_open(lambda h: h.part(said=f"bytes {h.start + 1}-{h.end}/{len(h.content)}")),
    "fewer": _once_open(
        lambda h: h.part(h.content[h.start : h.end - 1], f"bytes {h.start}-{h.end - 2}/{len(h.content)}")
    ),
    "fewer_than_said": _once_open(lambda h: h.part(h.content[h.start : h.end - 1])),
    "no_total": lambda h: h.part(said=f"bytes {h.start}-{h.end - 1}/*"),
    "far_away": _far_away,
    "largest_number": lambda h: h.part(said=f"bytes 0-{(1 << 64) - 2}/{(1 << 64) - 1}"),
    "none_416": lambda h: h.reply(416, {}),
    "huge_416": lambda h: h.reply(416, {"Content-Range": f"bytes */{1 << 62}"}),
    "cut_late": _once_open(_cut),
    "hangs_up": lambda h: h.hang_up(),
    # Parts.
    "parts_longer": _of_several(lambda h: h.parts(lambda s, e: h.honest(s, e, extra=1000))),
    "parts_huge": _of_several(lambda h: h.parts(lambda s, e: h.honest(s, e, f"bytes 0-{(1 << 63) - 2}/*"))),
    "parts_of_another": _of_several(
        lambda h: h.parts(lambda s, e: h.honest(s, e, f"bytes {s}-{e - 1}/{len(h.content) + 1}"))
    ),
    "parts_few": _of_several(lambda h: h.parts(h.honest, spans=h.spans[::2])),
    "parts_many": _of_several(_many_parts),
    "parts_long_boundary": _of_several(_slow_boundary),
    "parts_dashes": _of_several(_dashes),
    # Redirects.
    "loop": lambda h: h.reply(302, {"Location": h.path}),
    "loop_of_others": _further,
    "to_file": _to("file:///etc/passwd"),
    "to_ftp": _to("ftp://127.0.0.1/x"),
    "to_data": _to("data:,abc"),
    "to_nowhere": _to(None),
    "to_no_url": _to("http://[::1"),
    # Words about later.
    "later": lambda h: h.reply(429, {"Retry-After": "99999999"}),
    "later_than_numbers": lambda h: h.reply(503, {"Retry-After": str((1 << 64) - 1)}),
    "earlier": lambda h: h.reply(503, {"Retry-After": "-5"}),
    "at_a_date": lambda h: h.reply(503, {"Retry-After": "Fri, 31 Dec 2099 23:59:59 GMT"}),
}
