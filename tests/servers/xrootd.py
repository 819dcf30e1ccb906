"""A real XRootD server, which serves root:// and http:// from one port."""

import collections
import re
import shutil
from pathlib import Path

from servers.running import HOST, SERVANT, Hosted, is_root

PROGRAM = shutil.which("xrootd")
HTTP_PLUGIN = "libXrdHttp.so"


class XrootdServer(Hosted):
    """An XRootD server. `settings` are further lines of its configuration."""

    def __init__(self, settings: str = "") -> None:
        self._settings = settings
        super().__init__("xrootd")

    def _command(self, port: int) -> list[str | Path]:
        configuration, admin = self.folder.path / "xrootd.cfg", self.folder.make("admin")
        lines = [
            "all.export /",
            f"oss.localroot {self.folder.path / 'data'}",
            f"all.adminpath {admin}",
            f"all.pidpath {admin}",
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
