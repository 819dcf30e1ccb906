"""An HTTP server for tests. It serves the files of a folder, counts what it is asked for, and misbehaves on request.

It is not a model of a good server: real ones are in ``nginx`` and ``xrootd``.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit


@dataclass
class Behaviour:
    """How the server answers. All times are in seconds."""

    ranges: str = "several"  # "several", "first" (of several ranges), "one" (several give the whole file), "none"
    suffix: bool = True  # whether bytes=-N works
    latency: float = 0.0  # before each reply
    bandwidth: float | None = None  # bytes a second of all replies together
    failures: list[int] = field(default_factory=list)  # statuses of the next replies
    retry_after: int | None = None
    cuts: int = 0  # how many of the next replies end too early
    surplus: bytes = b""  # sent behind the requested bytes
    version: str | None = '"1"'  # the ETag
    token: str | None = None  # without this bearer token the answer is 401
    redirect: str | None = None  # where requests are sent, with the path appended
    silent: bool = False  # accepts requests, and never answers


@dataclass
class Asked:
    """One request: its path with parameters, and its headers."""

    path: str
    headers: dict[str, str]
    sent: int = 0


class Web:
    """The running server: what it does is in ``behaviour``, what it was asked for in ``asked``."""

    def __init__(self, folder: Path, behaviour: Behaviour):
        self.folder, self.behaviour = folder, behaviour
        self.asked: list[Asked] = []
        self.lock = threading.Lock()
        self.line_free = 0.0
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                web.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def bytes_sent(self) -> int:
        return sum(asked.sent for asked in self.asked)

    def send(self, handler: BaseHTTPRequestHandler, asked: Asked, body: bytes) -> None:
        """Sends a body, as fast as the line allows."""
        step = len(body) if self.behaviour.bandwidth is None else 16 << 10
        for start in range(0, len(body), max(step, 1)):
            part = body[start : start + step]
            if self.behaviour.bandwidth is not None:
                with self.lock:
                    self.line_free = max(self.line_free, time.monotonic()) + len(part) / self.behaviour.bandwidth
                    wait = self.line_free - time.monotonic()
                time.sleep(max(wait, 0))
            handler.wfile.write(part)
        asked.sent += len(body)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        how = self.behaviour
        asked = Asked(handler.path, {name.lower(): value for name, value in handler.headers.items()})
        with self.lock:
            self.asked.append(asked)
            status = how.failures.pop(0) if how.failures else None
            cut = how.cuts > 0
            how.cuts -= cut
        time.sleep(how.latency)
        if how.silent:
            time.sleep(600)
        if status is not None:
            return self.refuse(handler, status)
        if how.redirect is not None:
            handler.send_response(302)
            handler.send_header("Location", how.redirect + handler.path)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return None
        given = asked.headers.get("authorization", "").removeprefix("Bearer ")
        given = given or parse_qs(urlsplit(handler.path).query).get("authz", [""])[0]
        if how.token is not None and given != how.token:
            return self.refuse(handler, 401)
        path = self.folder / urlsplit(handler.path).path.lstrip("/")
        if not path.is_file():
            return self.refuse(handler, 404)
        self.serve(handler, asked, path, cut)
        return None

    def refuse(self, handler: BaseHTTPRequestHandler, status: int) -> None:
        handler.send_response(status)
        if self.behaviour.retry_after is not None:
            handler.send_header("Retry-After", str(self.behaviour.retry_after))
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def wanted(self, header: str | None, size: int) -> list[range] | None:
        """The requested ranges; ``None`` for the whole file."""
        how = self.behaviour
        if header is None or how.ranges == "none":
            return None
        ranges = []
        for part in header.removeprefix("bytes=").split(","):
            first, last = part.strip().split("-")
            if not first:
                if not how.suffix:
                    return None
                ranges.append(range(max(size - int(last), 0), size))
            else:
                ranges.append(range(int(first), min(int(last) + 1, size) if last else size))
        if len(ranges) > 1 and how.ranges == "one":
            return None
        return ranges[:1] if how.ranges == "first" else ranges

    def serve(self, handler: BaseHTTPRequestHandler, asked: Asked, path: Path, cut: bool) -> None:
        how, size = self.behaviour, path.stat().st_size

        def content(part: range) -> bytes:
            with path.open("rb") as file:
                file.seek(part.start)
                return file.read(len(part))

        ranges = self.wanted(asked.headers.get("range"), size)
        headers = {} if how.version is None else {"ETag": how.version}
        if ranges is None:
            status, body = 200, content(range(size))
        elif any(r.start >= size for r in ranges):
            status, body = 416, b""
            headers["Content-Range"] = f"bytes */{size}"
        elif len(ranges) == 1:
            (only,) = ranges
            status, body = 206, content(only)
            headers["Content-Range"] = f"bytes {only.start}-{only.stop - 1}/{size}"
        else:
            status = 206
            headers["Content-Type"] = "multipart/byteranges; boundary=next"
            parts = [
                f"\r\n--next\r\nContent-Range: bytes {r.start}-{r.stop - 1}/{size}\r\n\r\n".encode()
                + content(r)
                for r in ranges
            ]
            body = b"".join([*parts, b"\r\n--next--\r\n"])
        body += how.surplus
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if cut:
            self.send(handler, asked, body[: len(body) // 2])
            handler.close_connection = True
            return
        self.send(handler, asked, body)


@contextmanager
def serve(folder: Path, behaviour: Behaviour | None = None) -> Iterator[Web]:
    """A server for the files of a folder, while the context lasts."""
    web = Web(folder, behaviour or Behaviour())
    try:
        yield web
    finally:
        web.close()
