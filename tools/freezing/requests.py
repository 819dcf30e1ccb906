"""Counts what a command asks of a server: the server of the tests, which keeps all requests."""

import contextlib
import sys
from pathlib import Path

from freezing.running import Build

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
from servers.odd import Behaviour, OddServer


def counted(build: Build, folder: Path, content: bytes, words: tuple[str, ...]) -> dict[str, str]:
    """The number of requests and of bytes of a command, in whose words URL stands for the file."""
    with contextlib.closing(OddServer()) as server:
        url = server.put("input.root", content, Behaviour(ranges="several"))
        said = build.run(folder, *(url if word == "URL" else word for word in words))
        return {"code": str(said.code), "requests": str(len(server.requests)), "bytes": str(server.sent)}
