"""A real XRootD server, which serves root:// and http:// from one port."""

import collections
import re
import shutil
from pathlib import Path

from servers.running import HOST, SERVANT, Folder, Server, is_root

PROGRAM = shutil.which("xrootd")
HTTP_PLUGIN = "libXrdHttp.so"


class XrootdServer:
    """An XRootD server. `settings` are further lines of its configuration."""

    def __init__(self, settings: str = "") -> None:
        self.folder = Folder("xrootd")
        self._settings = settings
        self._admin = self.folder.make("admin")
        self._data = self.folder.make("data")
        self.server = Server(self._command, self.folder.path / "log")
        self.port = self.server.port
        self.server.start()

    def _command(self, port: int) -> list[str | Path]:
        configuration = self.folder.path / "xrootd.cfg"
        lines = [
            "all.export /",
            f"oss.localroot {self._data}",
            f"all.adminpath {self._admin}",
            f"all.pidpath {self._admin}",
            f"xrd.port {port}",
            f"xrd.protocol http:{port} {HTTP_PLUGIN}",
            "xrootd.trace request",
            self._settings,
        ]
        configuration.write_text("\n".join(lines) + "\n")
        return [PROGRAM or "xrootd", *(["-R", SERVANT] if is_root() else []), "-c", configuration]

    def put(self, name: str, content: Path | bytes) -> None:
        """Serves a file under this name."""
        self.folder.put(name, content)

    def root(self, name: str) -> str:
        """Its root:// URL."""
        return f"root://{HOST}:{self.port}//{name}"

    def http(self, name: str) -> str:
        """Its http:// URL."""
        return f"http://{HOST}:{self.port}/{name}"

    def requests(self) -> collections.Counter[str]:
        """How often clients of root:// have asked for what: open, read, readv, close and so on."""
        return collections.Counter(re.findall(r"Xrootd_Protocol: \w+ req=(\w+)", self.log()))

    def log(self) -> str:
        """All that the server has written."""
        return self.server.log.read_text(errors="replace")

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
