"""The fixtures of the servers, for `tests/conftest.py`."""

import contextlib
from collections.abc import Callable, Iterator

import pytest

from servers import nginx, s3, xrootd
from servers.odd import OddServer
from servers.proxy import Delay

StartXrootd = Callable[..., xrootd.XrootdServer]
Delayed = Callable[..., Delay]


@pytest.fixture(scope="session")
def start_xrootd() -> Iterator[StartXrootd]:
    """Starts further XRootD servers: `start_xrootd(settings)`."""
    if xrootd.PROGRAM is None:
        pytest.skip("no XRootD server (Debian: xrootd-server)")
    with contextlib.ExitStack() as stack:

        def start(settings: str = "") -> xrootd.XrootdServer:
            server = xrootd.XrootdServer(settings)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture(scope="session")
def xrootd_server(start_xrootd: StartXrootd) -> xrootd.XrootdServer:
    """An XRootD server."""
    return start_xrootd()


@pytest.fixture(scope="session")
def nginx_server() -> Iterator[nginx.NginxServer]:
    """An nginx."""
    if nginx.PROGRAM is None:
        pytest.skip("no nginx")
    with contextlib.closing(nginx.NginxServer()) as server:
        yield server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[s3.S3Server]:
    """An S3 server, by moto."""
    if not s3.is_installed():
        pytest.skip("no moto with its server (tests/requirements.txt)")
    with contextlib.closing(s3.S3Server()) as server:
        yield server


@pytest.fixture
def odd_server() -> Iterator[OddServer]:
    """Our own server, new for each test."""
    with contextlib.closing(OddServer()) as server:
        yield server


@pytest.fixture
def delayed() -> Iterator[Delayed]:
    """Starts proxies: `delayed(port, latency of each way, bandwidth)`."""
    with contextlib.ExitStack() as stack:

        def start(port: int, latency: float = 0.0, bandwidth: float | None = None) -> Delay:
            proxy = Delay(port, latency, bandwidth)
            stack.callback(proxy.close)
            return proxy

        yield start
