"""Files of XRootD servers, read by each build of XRootD's client library that is here. The example `fetch` of the crate
`remote` reads ranges; a real server answers."""

import contextlib
import importlib.util
import json
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.command import Outcome, run
from referee.paths import REPO
from servers.proxy import Delay
from servers.running import HOST, free_port
from servers.xrootd import XrootdServer

SIZE = 6_000_000
# Bytes from begin and end that opening a file brings.
ENDS = (32 << 10) + (256 << 10)
CONTENT = random.Random(17).randbytes(SIZE)
# Seconds; what waits longer hangs.
PATIENCE = 60.0
Span = tuple[int, int]


def in_package(package: str, folder: str = "") -> Path | None:
    """The library in a Python package, which is not imported."""
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return next((path for place in places or [] for path in (Path(place) / folder).glob("libXrdPosix.so")), None)


def of_the_system() -> Path | None:
    """Debian's library."""
    return next(Path("/usr").glob("lib*/**/libXrdPosix.so.[0-9]"), None)


LIBRARIES: dict[str, Callable[[], Path | None]] = {
    "system": of_the_system,
    "wheel": lambda: in_package("pyxrootd"),
    "root": lambda: in_package("ROOT", "lib"),
}


@pytest.fixture(scope="session", params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Path:
    """XRootD's client library: of the system (5.5), of PyPI's xrootd (6), of the ROOT on PyPI."""
    found = LIBRARIES[request.param]()
    if found is None:
        pytest.skip(f"no libXrdPosix: {request.param}")
    return found


class Fetch:
    """The example, with a library."""

    def __init__(self, program: Path, library: Path) -> None:
        self.program = program
        self.environment = {"BASKETRY_XRDPOSIX": str(library)}

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Starts it with a pipe for lines."""
        words = ["env", *(f"{name}={value}" for name, value in (self.environment | environment).items())]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([*words, str(self.program), *arguments], **pipes)  # type: ignore[call-overload, no-any-return]

    def __call__(
        self, *arguments: str, lines: list[list[Span]] | None = None, **environment: str
    ) -> tuple[int, bytes, str]:
        """Exit code, output and errors."""
        with self.start(*arguments, **environment) as process:
            text = "".join(" ".join(f"{start} {size}" for start, size in line) + "\n" for line in lines or [])
            try:
                out, err = process.communicate(text.encode(), timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, out, err.decode()


@pytest.fixture(scope="session")
def program() -> Path:
    """The example, built with the profile and features of the tested command, whose dependencies are built."""
    packages = [word for name in ("cli", "python", "remote") for word in ("-p", f"basketry-{name}")]
    words = ["cargo", "build", "--quiet", "--profile", "tested", *packages, "--example", "fetch"]
    built = run([*words, "--message-format=json"], timeout=900, cwd=REPO)
    assert built.code == 0, str(built)
    messages = [json.loads(line) for line in built.out.splitlines() if line.startswith("{")]
    return Path(next(message["executable"] for message in reversed(messages) if message.get("executable")))


@pytest.fixture(scope="session")
def fetch(program: Path, library: Path) -> Fetch:
    """The example, with each library."""
    return Fetch(program, library)


@pytest.fixture(scope="session")
def url(xrootd_server: XrootdServer) -> str:
    """A file of random bytes on a server."""
    xrootd_server.put("random.bin", CONTENT)
    return xrootd_server.root("random.bin")


@pytest.fixture
def own(start_xrootd: Callable[..., XrootdServer]) -> Iterator[XrootdServer]:
    """A server for one test, with the file of random bytes."""
    server = start_xrootd()
    server.put("random.bin", CONTENT)
    yield server
    server.close()


def expected(lines: list[list[Span]]) -> bytes:
    """What the example prints for these ranges."""
    return f"{SIZE}\n".encode() + b"".join(CONTENT[start : start + size] for line in lines for start, size in line)


def spread(count: int, size: int) -> list[Span]:
    """Ranges in no order, with gaps between them."""
    step = SIZE // count
    assert step > size + 16
    ranges = [(i * step, size) for i in range(count)]
    random.Random(1).shuffle(ranges)
    return ranges


LINES = {
    "one": [[(1_000_000, 10)], [(SIZE - 1, 1)], [(0, 4)]],
    "whole": [[(0, SIZE)]],
    "equal": [[(2_000_000, 5), (2_000_000, 5), (2_000_000, 4), (2_000_003, 9)]],
    "empty": [[(1_000_000, 0)], [], [(5, 0), (SIZE, 0)]],
    "large": [[(7, 2_500_000), (3_000_000, 2_999_000), (10, 20)]],
    "touching": [[(1_000_000 + i * 1000, 1000) for i in range(1000)]],
}


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_ranges_have_the_bytes_of_the_file(fetch: Fetch, url: str, lines: list[list[Span]]) -> None:
    code, out, err = fetch(url, lines=lines)

    assert code == 0, err
    assert out == expected(lines)


@pytest.mark.parametrize(("count", "requests"), [(500, 1), (1500, 2)])
def test_many_ranges_are_few_requests(fetch: Fetch, own: XrootdServer, count: int, requests: int) -> None:
    lines = [spread(count, 100)]

    code, out, err = fetch(own.root("random.bin"), lines=lines)

    assert code == 0, err
    assert out == expected(lines)
    # One open, one request for begin and end, no other than those for the ranges.
    asked = own.requests()
    assert {name: asked[name] for name in ("open", "stat", "read", "readv")} == {
        "open": 1,
        "stat": 0,
        "read": 0,
        "readv": 1 + requests,
    }
    assert err.startswith(f"{2 + requests} requests, ")
    # Ranges in what opening brought are not fetched again.
    assert int(err.split()[2]) <= ENDS + count * 100


def test_threads_share_a_file(fetch: Fetch, url: str) -> None:
    lines = [[(start * 31 + i, 300) for start in range(0, 100_000, 20_000)] for i in range(40)]

    code, out, err = fetch("--at-once", url, lines=lines)

    assert code == 0, err
    assert out == expected(lines)


def test_a_process_that_has_another_version(program: Path, url: str) -> None:
    library, other = LIBRARIES["wheel"](), LIBRARIES["root"]()
    if library is None or other is None:
        pytest.skip("no libXrdPosix: wheel and root")

    # As in a process in which ROOT has read from a server: its names are for the whole process.
    code, out, err = Fetch(program, library)(url, lines=[[(1_000_000, 10), (2_000_000, 10)]], LD_PRELOAD=str(other))

    assert code == 0, err
    assert out == expected([[(1_000_000, 10), (2_000_000, 10)]])


def test_a_folder_is_listed(fetch: Fetch, own: XrootdServer) -> None:
    own.put("folder/b.root", b"")
    own.put("folder/a.root", b"")

    code, out, err = fetch("--list", own.root("folder"))

    assert (code, out, err) == (0, b"a.root\nb.root\n", "")


def test_what_is_not_there(fetch: Fetch, own: XrootdServer) -> None:
    own.put("closed.bin", CONTENT)
    own.folder.path.joinpath("data/closed.bin").chmod(0)

    for name, reason in {
        "missing.bin": "the server has no such file",
        "": "is a folder, not a file",
        "closed.bin": "the server permits no access",
    }.items():
        code, _, err = fetch(own.root(name))
        assert (code, err.count("\n")) == (1, 1)
        assert err.startswith(f"error: {own.root(name)}: {reason}"), err
    code, _, err = fetch("--list", own.root("missing"))
    assert (code, "the server has no such file" in err) == (1, True), err


def test_parameters_of_the_url_arrive(fetch: Fetch, own: XrootdServer, delayed: Callable[..., Delay]) -> None:
    proxy = delayed(own.port)
    url = f"root://{HOST}:{proxy.port}//random.bin?authz=Bearer%20secret&other=1"

    code, out, err = fetch(url, lines=[[(0, 9)]])
    refused = fetch(url.replace("random", "missing"))[2]

    assert (code, out) == (0, expected([[(0, 9)]])), err
    assert b"/random.bin?authz=Bearer%20secret&other=1" in proxy.up.last
    assert "secret" not in refused


def test_redirects_are_followed(fetch: Fetch, url: str, start_xrootd: Callable[..., XrootdServer]) -> None:
    there = url.removeprefix("root://").split("//")[0]
    redirector = start_xrootd(f"xrootd.redirect {there} /")

    code, out, err = fetch(redirector.root("random.bin"), lines=[[(8, 80)]])

    assert (code, out) == (0, expected([[(8, 80)]])), err
    assert redirector.requests()["read"] == 0


def test_a_server_that_is_not_there(fetch: Fetch) -> None:
    for host in (f"{HOST}:{free_port()}", "no-such-host.invalid"):
        code, _, err = fetch(f"root://{host}//a.bin", BASKETRY_REMOTE_TIMEOUT="2")

        assert code == 1
        assert err.startswith(f"error: root://{host}//a.bin: no connection to the server"), err


def test_a_server_that_never_answers(fetch: Fetch) -> None:
    with contextlib.closing(socket.create_server((HOST, 0))) as silent:
        code, _, err = fetch(f"root://{HOST}:{silent.getsockname()[1]}//a.bin", BASKETRY_REMOTE_TIMEOUT="2")

    assert code == 1
    assert "no connection" in err or "no answer in time" in err, err


def opened(process: subprocess.Popen[bytes]) -> None:
    """Waits until the file is open."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"{SIZE}\n".encode()


def test_a_server_goes_away(fetch: Fetch, own: XrootdServer) -> None:
    with fetch.start(own.root("random.bin"), BASKETRY_REMOTE_TIMEOUT="2") as process:
        opened(process)
        own.stop()
        out, err = process.communicate(b"1000000 10 3000000 10\n", timeout=PATIENCE)

    assert (process.returncode, out) == (1, b"")
    assert err.count(b"\n") == 1
    assert b"connection" in err or b"no answer in time" in err, err


def test_a_server_that_hangs_holds_nobody_at_the_end(fetch: Fetch, own: XrootdServer) -> None:
    with fetch.start(own.root("random.bin"), BASKETRY_REMOTE_TIMEOUT="600") as process:
        opened(process)
        own.server.pause()
        _, err = process.communicate(b"", timeout=PATIENCE)

    assert process.returncode == 0, err


def test_a_server_comes_back(fetch: Fetch, own: XrootdServer) -> None:
    with fetch.start(own.root("random.bin")) as process:
        opened(process)
        own.stop()
        own.start()
        out, err = process.communicate(b"1000000 10 3000000 10\n", timeout=PATIENCE)

    assert process.returncode == 0, err
    assert out == CONTENT[1000000:1000010] + CONTENT[3000000:3000010]


def test_a_file_that_shrinks_while_it_is_open(fetch: Fetch, own: XrootdServer) -> None:
    for line in (b"5000000 100000\n", b"1000000 10 5000000 100000\n"):
        own.put("random.bin", CONTENT)
        with fetch.start(own.root("random.bin")) as process:
            opened(process)
            with own.folder.path.joinpath("data/random.bin").open("r+b") as file:
                file.truncate(5_000_100)
            out, err = process.communicate(line, timeout=PATIENCE)

        assert (process.returncode, out) == (1, b""), err
        assert err.count(b"\n") == 1


def without_library(program: Path, library: str, **environment: str) -> Outcome:
    """Runs the example with a library that is none."""
    return run([program, "root://localhost//a"], env={"BASKETRY_XRDPOSIX": library} | environment)


def test_no_library(program: Path) -> None:
    outcome = without_library(program, "/nowhere/libXrdPosix.so")

    assert outcome.code == 1
    assert "BASKETRY_XRDPOSIX names /nowhere/libXrdPosix.so, but: " in outcome.err
    assert "`pip install xrootd`" in outcome.err


def test_another_library(program: Path) -> None:
    outcome = without_library(program, "libc.so.6")

    assert outcome.code == 1
    assert "BASKETRY_XRDPOSIX names libc.so.6, but: it has no function _ZN14XrdPosixXrootd4Open" in outcome.err


def test_the_library_of_the_active_environment(program: Path, url: str, tmp_path: Path) -> None:
    wheel = LIBRARIES["wheel"]()
    if wheel is None:
        pytest.skip("no libXrdPosix: wheel")
    place = tmp_path / "lib/python3.11/site-packages"
    place.mkdir(parents=True)
    (place / "pyxrootd").symlink_to(wheel.parent)
    (place / "xrootd.libs").symlink_to(wheel.parent.parent / "xrootd.libs")
    traced = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "loaded")}

    outcome = run([program, url], env={"BASKETRY_XRDPOSIX": "", "VIRTUAL_ENV": str(tmp_path)} | traced)

    assert (outcome.code, outcome.out) == (0, f"{SIZE}\n"), outcome.err
    # One for each process.
    loaded = "".join(path.read_text(errors="replace") for path in tmp_path.glob("loaded.*"))
    assert str(place / "pyxrootd/libXrdPosix.so") in loaded


def test_the_library_of_the_interpreter() -> None:
    found = LIBRARIES["wheel"]() or LIBRARIES["root"]()
    if found is None:
        pytest.skip("no libXrdPosix: wheel or root")
    # The module alone, so that no compiled half is needed.
    module = REPO / "python/basketry/_libraries/xrootd.py"
    code = f"import os, runpy; runpy.run_path({str(module)!r})['tell'](); print(os.environ)"

    unset = run(["env", "-u", "BASKETRY_XRDPOSIX", sys.executable, "-c", code])
    kept = run([sys.executable, "-c", code], env={"BASKETRY_XRDPOSIX": "mine"})

    assert f"'BASKETRY_XRDPOSIX': '{found}'" in unset.out, str(unset)
    assert "'BASKETRY_XRDPOSIX': 'mine'" in kept.out
