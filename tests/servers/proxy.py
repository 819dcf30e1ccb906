"""A proxy that forwards TCP connections late: each byte after the latency, and not faster than the bandwidth."""

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable

from servers.running import HOST

PIECE = 64 << 10
KEPT = 16 << 10


class Delay:
    """A proxy before a port of this machine. `latency` is the time of each way in seconds, half a round trip;
    `bandwidth` is in bytes per second, of all connections together and each way."""

    def __init__(self, port: int, latency: float = 0.0, bandwidth: float | None = None) -> None:
        self._target = port
        self._latency = latency
        self.up = _Way(bandwidth)
        self.down = _Way(bandwidth)
        self.connections = 0
        self._open: list[socket.socket] = []
        self._listening = socket.create_server((HOST, 0), backlog=128)
        self.port = int(self._listening.getsockname()[1])
        self._threads: list[threading.Thread] = []
        self._run(self._accept)

    def _run(self, task: Callable[[], None]) -> None:
        thread = threading.Thread(target=task, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        # Closing the listening socket ends the loop.
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self.connections += 1
                try:
                    server = socket.create_connection((HOST, self._target), timeout=10)
                except OSError:
                    client.close()
                    continue
                server.settimeout(None)
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._open.append(end)
                self._forward(client, server, self.up)
                self._forward(server, client, self.down)

    def _forward(self, source: socket.socket, target: socket.socket, way: "_Way") -> None:
        line: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

        def take() -> None:
            piece = b"."
            while piece:
                try:
                    piece = source.recv(PIECE)
                except OSError:
                    piece = b""
                way.last = (way.last + piece)[-KEPT:]
                line.put((way.through(len(piece)) + self._latency, piece))

        def give() -> None:
            with contextlib.suppress(OSError):
                while True:
                    due, piece = line.get()
                    time.sleep(max(0.0, due - time.monotonic()))
                    if not piece:
                        target.shutdown(socket.SHUT_WR)
                        return
                    target.sendall(piece)

        self._run(take)
        self._run(give)

    def cut(self) -> None:
        """Ends all connections."""
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the proxy."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(10)
        for end in (self._listening, *self._open):
            end.close()


class Tunnels:
    """A proxy as `https_proxy` and `http_proxy` name one. It keeps the head of each request. Tunnels that clients ask
    for by CONNECT lead where they say; everything else is refused."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self._open: list[socket.socket] = []
        self._listening = socket.create_server((HOST, 0), backlog=128)
        self.port = int(self._listening.getsockname()[1])
        self.url = f"http://{HOST}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(KEPT)
                if not piece:
                    return
                head += piece
            self.heads.append(head.decode("latin-1"))
            method, target, _ = self.heads[-1].split(" ", 2)
            if method != "CONNECT":
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                client.close()
                return
            host, _, port = target.rpartition(":")
            server = socket.create_connection((host, int(port)), timeout=10)
            server.settimeout(None)
            self._open.append(server)
            client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            threading.Thread(target=_copy, args=(server, client), daemon=True).start()
            _copy(client, server)

    def close(self) -> None:
        """Ends the proxy."""
        for end in (self._listening, *self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """All bytes of a connection, to another."""
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


class _Way:
    """One direction of a line: counts bytes, and says when they are through."""

    def __init__(self, bandwidth: float | None) -> None:
        self.bytes = 0
        # The last bytes that came through.
        self.last = b""
        self._bandwidth = bandwidth
        self._free = 0.0
        self._lock = threading.Lock()

    def through(self, count: int) -> float:
        """When so many bytes, handed over now, are through."""
        with self._lock:
            self.bytes += count
            now = time.monotonic()
            if self._bandwidth is None:
                return now
            self._free = max(self._free, now) + count / self._bandwidth
            return self._free
