"""Reading some columns of a file that is far away, by HTTP and root://, beside ROOT and uproot. A proxy is the line."""

import contextlib
import json
import sys
from pathlib import Path

import inputs
from harness import Bench, report, section
from measure import Contender, basketry, in_page_cache, inside, reader
from referee.command import Argument
from referee.shares import columns_of
from servers import nginx, xrootd
from servers.odd import Behaviour, OddServer
from servers.proxy import Delay
from servers.running import HOST

ROUND_TRIP = 0.030
BANDWIDTH = 50e6
SHARE = 0.05
ROOT_COLUMNS = Path(__file__).parents[1] / "root_columns.py"


@section
def remote(bench: Bench) -> None:
    """5 % of 100 MB, 30 ms and 50 MB/s away: within 1.3 x of local time + bytes / bandwidth + 3 round trips."""
    path = inputs.nano(20 if bench.quick else 100, 1)
    in_page_cache(path)
    columns = columns_of(report(path), SHARE)
    size = report(path, "--branches", *columns)["compressed"]
    with contextlib.ExitStack() as stack:
        http, root = over_http(stack, path), over_xrootd(stack, path)
        contenders = [ours("basketry, local", path, columns), ours("basketry, http", http, columns)]
        contenders.append(theirs("uproot, http", http, columns))
        if root:
            contenders += [ours("basketry, root", root, columns), theirs("uproot, root", root, columns)]
            words: list[Argument] = [sys.executable, "-W", "ignore", ROOT_COLUMNS, root, "Events", path, *columns]
            contenders.append(Contender("TTree, root", words, clock=inside))
        done = bench.compare("remote", contenders)
    bound = done["basketry, local"].wall + size / BANDWIDTH + 3 * ROUND_TRIP
    bench.say("", f"{path.stat().st_size / 1e6:.0f} MB, {len(columns)} columns with {size / 1e6:.2f} MB")
    bench.say("", "| | wall s | / bound |", "|---|---|---|", f"| bound | {bound:.3f} | 1.00 |")
    for name, one in done.items():
        bench.say(f"| {name} | {one.wall:.3f} | {one.wall / bound:.2f} |")


def ours(name: str, source: str | Path, columns: list[str]) -> Contender:
    """A whole process of basketry."""
    return basketry(name, "readspeed", source, "--branches", *columns)


def theirs(name: str, url: str, columns: list[str]) -> Contender:
    """uproot's `arrays`, without its import. It needs aiohttp for http://, fsspec-xrootd for root://."""
    return reader(name, "uproot", "arrays", url, f"filter_name={json.dumps(columns)}")


def over_http(stack: contextlib.ExitStack, path: Path) -> str:
    """The URL of the file behind the line: by nginx, or where it is absent by the web server of the tests."""
    if nginx.PROGRAM is None:
        odd = stack.enter_context(contextlib.closing(OddServer()))
        odd.put(path.name, path.read_bytes(), Behaviour(ranges="several"))
        return f"http://{HOST}:{line(stack, odd.port)}/{path.name}"
    server = stack.enter_context(contextlib.closing(nginx.NginxServer()))
    server.put(path.name, path)
    return f"http://{HOST}:{line(stack, server.port)}/{path.name}"


def over_xrootd(stack: contextlib.ExitStack, path: Path) -> str | None:
    """The same by XRootD, where it is installed."""
    if xrootd.PROGRAM is None:
        return None
    server = stack.enter_context(contextlib.closing(xrootd.XrootdServer()))
    server.put(path.name, path)
    return f"root://{HOST}:{line(stack, server.port)}//{path.name}"


def line(stack: contextlib.ExitStack, port: int) -> int:
    """The port of a proxy with latency and bandwidth before a server."""
    return stack.enter_context(contextlib.closing(Delay(port, ROUND_TRIP / 2, BANDWIDTH))).port
