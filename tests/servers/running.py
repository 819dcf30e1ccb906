"""Processes that serve: a free port, a start that waits for the port, an end that leaves nothing behind."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HOST = "127.0.0.1"
PATIENCE = 20.0
# Whom a server runs as that root starts: XRootD refuses to run as root.
SERVANT = "nobody"


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection((HOST, port), timeout=1.0).close()
    except OSError:
        return False
    return True


def is_root() -> bool:
    """Whether servers are started by root."""
    return os.geteuid() == 0


class Folder:
    """A folder that a server of another user can read, unlike those of pytest; files of tests are put into it."""

    def __init__(self, name: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"basketry-{name}-"))
        self.path.chmod(0o755)

    def make(self, name: str) -> Path:
        """A folder inside that the server may write."""
        made = self.path / name
        made.mkdir(parents=True, exist_ok=True)
        if is_root():
            shutil.chown(made, SERVANT)
        return made

    def put(self, name: str, content: Path | bytes) -> None:
        """Puts a file into the folder "data"."""
        target = self.path / "data" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # A server that has the file open keeps the old one.
        target.unlink(missing_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            shutil.copyfile(content, target)
        target.chmod(0o644)

    def remove(self) -> None:
        """Removes the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


class Server:
    """A server process. `command` gives its words for a port."""

    def __init__(self, command: Callable[[int], Sequence[str | Path]], log: Path) -> None:
        self.port = free_port()
        self.log = log
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, on the same port as before if it ran, and waits until it answers."""
        with self.log.open("ab") as log:
            words = [str(word) for word in self._command(self.port)]
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while not answers(self.port):
            said = self.log.read_text(errors="replace")
            assert self._process.poll() is None, f"{words[0]} has ended:\n{said}"
            assert time.monotonic() < end, f"{words[0]} does not answer:\n{said}"
            time.sleep(0.02)

    def pause(self) -> None:
        """Lets it hang until it is stopped."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """Kills it, without a farewell to its clients."""
        if self._process is None:
            return
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self._process = None


class Hosted:
    """A server with a folder of its own, which ends with it. `_command` gives its words for a port."""

    def __init__(self, name: str) -> None:
        self.folder = Folder(name)
        self.folder.make("data")
        self.server = Server(self._command, self.folder.path / "log")
        self.port = self.server.port
        self.server.start()

    def _command(self, port: int) -> Sequence[str | Path]:
        raise NotImplementedError

    def stop(self) -> None:
        """Kills the server; `start` starts it again on the same port."""
        self.server.stop()

    def start(self) -> None:
        """Starts the server again."""
        self.server.start()

    def close(self) -> None:
        """Ends the server and removes its files."""
        self.stop()
        self.folder.remove()
