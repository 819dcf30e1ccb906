"""nginx: what most web servers answer, several ranges included."""

import shutil
from pathlib import Path

from servers.running import HOST, Hosted, is_root

PROGRAM = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")

CONFIGURATION = """
{user}
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{ worker_connections 256; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {host}:{port};
        root {folder}/data;
        {settings}
    }}
}}
"""


class NginxServer(Hosted):
    """An nginx. `settings` are further lines for its server."""

    def __init__(self, settings: str = "") -> None:
        self._settings = settings
        super().__init__("nginx")

    def _command(self, port: int) -> list[str | Path]:
        configuration = self.folder.path / "nginx.conf"
        user = "user root;" if is_root() else ""
        text = CONFIGURATION.format(user=user, folder=self.folder.path, host=HOST, port=port, settings=self._settings)
        configuration.write_text(text)
        return [PROGRAM or "nginx", "-p", self.folder.path, "-c", configuration]

    def put(self, name: str, content: Path | bytes) -> None:
        """Serves a file under this name."""
        self.folder.put(name, content)

    def url(self, name: str) -> str:
        """Its URL."""
        return f"http://{HOST}:{self.port}/{name}"

    def requests(self) -> int:
        """How many requests it has answered."""
        return len((self.folder.path / "access.log").read_text().splitlines())
