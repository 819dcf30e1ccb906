"""Credentials go only where the user means. What a second server gets is read whole: request line and all headers."""

import base64
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import uproot

from referee.command import Basketry
from servers.certificates import Authority
from servers.odd import Behaviour, OddServer
from servers.proxy import Tunnels
from servers.running import HOST

BEARER, AUTHZ, PASSWORD = "secret-of-the-bearer", "secret-of-the-url", "secret-of-the-user"
# What a request of ours has, and no more: nothing of these is of a user.
HARMLESS = {"host", "range", "accept", "accept-encoding", "user-agent"}
LISTED = "BASKETRY_TOKEN_HOSTS"

Start = Callable[[str], OddServer]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with a tree."""
    path = tmp_path_factory.mktemp("tokens") / "a.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.float64}).extend({"x": np.arange(100.0)})
    return path.read_bytes()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who signs the certificates of the servers."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def start(authority: Authority) -> Iterator[Start]:
    """Starts servers of a scheme."""
    with contextlib.ExitStack() as stack:

        def start(scheme: str) -> OddServer:
            server = OddServer(authority.context() if scheme == "https" else None)
            return stack.enter_context(contextlib.closing(server))

        yield start


@pytest.fixture
def remote(basketry: Basketry, authority: Authority, tmp_path: Path) -> Basketry:
    """The command, with a token in its environment."""
    unset = dict.fromkeys(("BEARER_TOKEN_FILE", LISTED, "http_proxy", "https_proxy", "all_proxy", "no_proxy"), "")
    upper = {name.upper(): "" for name in unset if name.endswith("proxy")}
    environment = unset | upper | authority.environment
    return basketry.within(
        **environment, BEARER_TOKEN=BEARER, BASKETRY_REMOTE_RETRIES="0", XDG_RUNTIME_DIR=str(tmp_path)
    )


def secrets() -> set[str]:
    """The secrets, in each form in which a request may have them."""
    pairs = {base64.b64encode(f"me:{PASSWORD}".encode()).decode()}
    plain = {BEARER, AUTHZ, PASSWORD}
    return plain | pairs | {quote(one) for one in plain | pairs}


def assert_harmless(server: OddServer, line: str) -> None:
    """All that a server was asked has no secret, no name of a header that may have one, and this request line."""
    assert server.requests
    for request in server.requests:
        assert request.head.splitlines()[0] == line
        assert not [secret for secret in secrets() if secret in request.head], request.head
        assert set(request.headers) <= HARMLESS, request.head


REDIRECTS = {
    "http to http": ("http", "http", HOST),
    "http to another name": ("http", "http", "localhost"),
    "http to https": ("http", "https", HOST),
    "https to https": ("https", "https", HOST),
    "https to another name": ("https", "https", "localhost"),
    "https to http": ("https", "http", HOST),
}


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize(("first", "second", "name"), REDIRECTS.values(), ids=REDIRECTS)
@pytest.mark.parametrize("kind", ["token", "authz", "user"])
def test_nothing_goes_along(
    remote: Basketry, start: Start, content: bytes, first: str, second: str, name: str, kind: str, status: int
) -> None:
    here, there = start(first), start(second)
    place = there.put("b.root", content).replace(HOST, name) + "?signed=yes"
    url = here.put("a.root", b"", Behaviour(redirect=place, redirect_status=status))
    named = {
        "token": url,
        "authz": f"{url}?authz={AUTHZ}",
        "user": url.replace("://", f"://me:{PASSWORD}@"),
    }[kind]

    assert remote.json("readspeed", f"{named.replace('a.root', 'a.root:t')}")["entries"] == 100

    assert_harmless(there, "GET /b.root?signed=yes HTTP/1.1")
    # The first server has what is for it: the token only over an encrypted connection.
    heads = "".join(request.head for request in here.requests)
    expected = {"token": f"Bearer {BEARER}" if first == "https" else None, "authz": AUTHZ, "user": "Basic "}[kind]
    assert expected is None or expected in heads
    assert BEARER not in heads or (kind == "token" and first == "https")


def test_parameters_and_users_of_a_place_are_its_own(remote: Basketry, start: Start, content: bytes) -> None:
    """A relative place stays on the server, without the parameters; a user that a server names is not sent."""
    here, there = start("https"), start("https")
    url = here.put("a.root", b"", Behaviour(redirect="b.root?x=1"))
    here.put("b.root", b"", Behaviour(redirect=there.put("c.root", content).replace("://", "://they:theirs@")))

    remote("inspect", f"{url}?authz={AUTHZ}", "-q")

    second = [request for request in here.requests if request.path == "/b.root"]
    assert {request.query for request in second} == {"x=1"}
    assert_harmless(there, "GET /c.root HTTP/1.1")


def test_the_token_stays_on_its_server(remote: Basketry, start: Start, content: bytes) -> None:
    """It goes along to another path of it, and not once the request has been elsewhere."""
    here, there = start("https"), start("https")
    here.put("moved.root", content, Behaviour(token=BEARER))
    back = here.put("back.root", content)
    moved = here.put("a.root", b"", Behaviour(redirect="/moved.root"))
    away = here.put("away.root", b"", Behaviour(redirect=there.put("b.root", b"", Behaviour(redirect=back))))

    remote("inspect", moved, "-q")
    remote("inspect", away, "-q")

    returned = [request for request in here.requests if request.path == "/back.root"]
    assert returned
    assert all(set(request.headers) <= HARMLESS for request in returned)
    assert_harmless(there, "GET /b.root HTTP/1.1")


def test_listed_servers_get_the_token(remote: Basketry, start: Start, content: bytes) -> None:
    here, there = start("https"), start("https")
    url = here.put("a.root", b"", Behaviour(redirect=there.put("b.root", content, Behaviour(token=BEARER))))
    port = there.port

    for entries in (f"{HOST}:{port}", f"x.org,{HOST}", f"https://{HOST}:{port}"):
        remote.within(**{LISTED: entries})("inspect", url, "-q")
    there.forget()
    for entries in (f"{HOST}:{here.port}", f"http://{HOST}:{port}", "*", "localhost"):
        message = remote.within(**{LISTED: entries}).refuses("inspect", url, "-q")
        assert f"no token is sent to another server than the one of the URL, unless {LISTED} has it" in message
    assert_harmless(there, "GET /b.root HTTP/1.1")


def test_no_token_goes_unencrypted(remote: Basketry, start: Start, content: bytes) -> None:
    """Not even to this machine, unless that is said."""
    here = start("http")
    url = here.put("a.root", content, Behaviour(token=BEARER))

    for entries in ("", HOST, f"{HOST}:{here.port}", f"https://{HOST}"):
        message = remote.within(**{LISTED: entries}).refuses("inspect", url, "-q")
        assert "no token is sent without encryption (https)" in message
    assert_harmless(here, "GET /a.root HTTP/1.1")

    remote.within(**{LISTED: f"http://{HOST}:{here.port}"})("inspect", url, "-q")


def test_a_downgrade_gets_nothing(remote: Basketry, start: Start, content: bytes) -> None:
    """Even if the list has the second server."""
    here, there = start("https"), start("http")
    url = here.put("a.root", b"", Behaviour(redirect=there.put("b.root", content)))

    remote.within(**{LISTED: f"http://{HOST}:{there.port}"})("inspect", url, "-q")

    assert_harmless(there, "GET /b.root HTTP/1.1")


def by(proxy: Tunnels) -> dict[str, str]:
    """The variables that name a proxy."""
    return dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy.url)


@pytest.fixture
def tunnels() -> Iterator[Tunnels]:
    """A proxy."""
    with contextlib.closing(Tunnels()) as proxy:
        yield proxy


def test_a_proxy_sees_no_token(remote: Basketry, start: Start, tunnels: Tunnels, content: bytes) -> None:
    plain, encrypted = start("http"), start("https")
    proxied = remote.within(**by(tunnels))
    url = encrypted.put("a.root", content, Behaviour(token=BEARER))

    proxied("inspect", url, "-q")
    proxied.refuses("inspect", plain.put("a.root", content))

    # Through the tunnel the token arrived; for the other the proxy was asked, without it.
    assert {head.split()[0] for head in tunnels.heads} == {"CONNECT", "GET"}
    assert not [head for head in tunnels.heads if BEARER in head or "authorization" in head.lower()]
    tunnels.heads.clear()
    listed = proxied.within(**{LISTED: f"http://{HOST}:{plain.port}"})
    listed("inspect", plain.put("b.root", content, Behaviour(token=BEARER)), "-q")
    assert tunnels.heads == []


def s3(server: OddServer, **credentials: str) -> dict[str, str]:
    """The variables with which this server is the store."""
    unset = dict.fromkeys(
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE"), ""
    )
    endpoint = f"{server.scheme}://{HOST}:{server.port}"
    return unset | {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1"} | credentials


KEYS = {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": PASSWORD, "AWS_SESSION_TOKEN": AUTHZ}


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("name", ["a.root", "a*.root"])
def test_a_store_sends_no_signature_elsewhere(
    remote: Basketry, start: Start, content: bytes, scheme: str, name: str
) -> None:
    """Signed requests are for the store: to read, and to list for a pattern."""
    here, there = start("http"), start(scheme)
    place = there.put("b.root", content)
    for path in ("bucket/a.root", "bucket"):
        here.put(path, b"", Behaviour(redirect=place, redirect_status=307))

    message = remote.within(**s3(here, **KEYS)).refuses("inspect", f"s3://bucket/{name}")

    assert here.requests
    assert there.requests == []
    assert not [secret for secret in secrets() if secret in message]
    if name == "a.root":
        assert f"the store redirects to {HOST}:{there.port}, for which the request is not signed" in message


def test_a_public_store_may_redirect(remote: Basketry, start: Start, content: bytes) -> None:
    here, there = start("http"), start("https")
    here.put("bucket/a.root", b"", Behaviour(redirect=there.put("b.root", content), redirect_status=307))

    remote.within(**s3(here))("inspect", "s3://bucket/a.root", "-q")

    assert_harmless(here, "GET /bucket/a.root HTTP/1.1")
    assert_harmless(there, "GET /b.root HTTP/1.1")


def test_signed_requests_pass_no_proxy_unencrypted(
    remote: Basketry, start: Start, tunnels: Tunnels, content: bytes
) -> None:
    here = start("http")
    here.put("bucket/a.root", content)

    remote.within(**s3(here, **KEYS), **by(tunnels))("inspect", "s3://bucket/a.root", "-q")

    assert tunnels.heads == []


def test_a_server_without_a_known_certificate_gets_nothing(
    remote: Basketry, start: Start, content: bytes, tmp_path: Path
) -> None:
    here = start("https")
    url = here.put("a.root", content)

    message = remote.within(**Authority(tmp_path).environment).refuses("inspect", url)

    assert "certificate" in message.lower()
    assert here.requests == []
