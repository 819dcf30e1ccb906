"""Every verb that reads, over each protocol: it gives what it gives of the same file on this machine. Odd replies are
in `test_http` and `test_xrootd`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

from referee.command import Argument, Basketry
from servers.nginx import NginxServer
from servers.xrootd import XrootdServer

TABLES = ("tree", "ntuple")
BUCKET = "verbs"


@dataclass(frozen=True)
class Far:
    """A server."""

    command: Basketry
    put: Callable[[str, Path], object]
    url: Callable[[str], str]


def over_http(request: pytest.FixtureRequest, basketry: Basketry) -> Far:
    """nginx."""
    server = request.getfixturevalue("nginx_server")
    return Far(basketry, server.put, server.url)


def over_s3(request: pytest.FixtureRequest, basketry: Basketry) -> Far:
    """S3, by moto."""
    server = request.getfixturevalue("s3_server")
    return Far(
        basketry.within(**server.environment),
        lambda name, path: server.put(BUCKET, name, path),
        lambda name: str(server.url(BUCKET, name)),
    )


def over_xrootd(request: pytest.FixtureRequest, basketry: Basketry) -> Far:
    """XRootD."""
    server = request.getfixturevalue("xrootd_server")
    return Far(basketry, server.put, server.root)


PROTOCOLS = {"http": over_http, "s3": over_s3, "root": over_xrootd}


@pytest.fixture(scope="module")
def files(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two files of trees and of RNTuples each; one with a histogram, and one that was cut short."""
    folder = tmp_path_factory.mktemp("verbs")
    made = {name: folder / f"{name}.root" for name in ("tree", "tree-2", "ntuple", "ntuple-2", "objects", "cut")}
    shape: tuple[Argument, ...] = ("--branches", "2", "--size", "1200kB", "--cluster", "100kB", "-q")
    for number, end in (("1", ""), ("2", "-2")):
        basketry("generate", "multi", *shape, "--seed", number, "-o", made[f"tree{end}"])
        basketry("rewrite", made[f"tree{end}"], "--container", "rntuple", "-q", "-o", made[f"ntuple{end}"])
    with uproot.recreate(made["objects"]) as file:
        file["folder/histogram"] = np.histogram(np.arange(1000) % 7, bins=7)
        file.mktree("folder/t", {"x": np.float64}).extend({"x": np.arange(100_000.0)})
    content = made["tree"].read_bytes()
    made["cut"].write_bytes(content[: len(content) * 2 // 3])
    return made


@pytest.fixture(scope="module", params=PROTOCOLS)
def far(request: pytest.FixtureRequest, basketry: Basketry, files: dict[str, Path]) -> Far:
    """A server of each protocol, with the files."""
    far = PROTOCOLS[request.param](request, basketry)
    for path in files.values():
        far.put(path.name, path)
    return far


class Both:
    """Runs commands with the files of this machine and with those of the server."""

    def __init__(self, far: Far, files: dict[str, Path], folder: Path) -> None:
        self.far = far
        self.files = files
        self.folder = folder

    def __call__(self, *words: Argument, code: int = 0) -> tuple[dict[str, bytes], str]:
        """Runs a command, in which names of files stand for them, in an empty folder each. Its outputs and what it
        prints are the same, which it returns."""
        near = self._run("near", [self.files.get(str(word), word) for word in words], code)
        far = self._run("far", [self._url(str(word)) if str(word) in self.files else word for word in words], code)
        assert far == near
        return near

    def _url(self, name: str) -> str:
        return self.far.url(self.files[name].name)

    def _run(self, name: str, words: list[Argument], code: int) -> tuple[dict[str, bytes], str]:
        folder = self.folder / name
        folder.mkdir()
        outcome = self.far.command.run(*words, cwd=folder)
        assert outcome.code == code, str(outcome)
        printed = outcome.out
        for file, path in self.files.items():
            printed = printed.replace(self._url(file), file).replace(str(path), file)
        return {path.name: path.read_bytes() for path in folder.iterdir()}, printed


@pytest.fixture
def both(far: Far, files: dict[str, Path], tmp_path: Path) -> Both:
    """Compares this machine with a server."""
    return Both(far, files, tmp_path)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("options", [("--json",), ("--layout",), ("--all", "--writer")], ids=" ".join)
def test_inspect(both: Both, table: str, options: tuple[str, ...]) -> None:
    # Trials are made on this machine's files alone.
    _, printed = both("inspect", table, *options, "--no-trials")

    assert printed


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "selection", [(), ("--branches", "ev1*"), ("--entries", "1%")], ids=["all", "columns", "entries"]
)
def test_readspeed(far: Far, files: dict[str, Path], table: str, selection: tuple[str, ...]) -> None:
    def facts(source: Argument) -> dict[str, Any]:
        report = far.command.json("readspeed", source, *selection)
        columns = {
            column["name"]: [column[key] for key in ("typename", "compressed", "uncompressed", "baskets")]
            for column in report["columns"]
        }
        kept = ("tree", "entries", "all_entries", "clusters", "compressed", "uncompressed")
        return {key: report[key] for key in kept} | {"columns": columns}

    assert facts(far.url(files[table].name)) == facts(files[table])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("end", "code"), [("", 0), ("-2", 1)], ids=["equal", "different"])
def test_verify(both: Both, table: str, end: str, code: int) -> None:
    _, printed = both("verify", table, f"{table}{end}", "-q", code=code)

    assert ("Events, " in printed) == bool(code)


def test_a_tree_and_an_ntuple_of_servers_are_equal(both: Both) -> None:
    both("verify", "tree", "ntuple", "-q")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--compression", "zstd:5"),
        ("--cluster", "200kB"),
        ("--keep", "ev1*", "--entries", "10:40"),
        ("--container", "rntuple"),
        ("--container", "ttree"),
    ],
    ids=" ".join,
)
def test_rewrite(both: Both, table: str, options: tuple[str, ...]) -> None:
    outputs, _ = both("rewrite", table, *options, "-q", "-o", "out.root")

    assert list(outputs) == ["out.root"]


@pytest.mark.parametrize("names", [("tree", "tree-2"), ("ntuple", "ntuple-2"), ("objects", "objects")], ids="+".join)
def test_merge(both: Both, names: tuple[str, str]) -> None:
    outputs, _ = both("merge", *names, "-q", "-o", "out.root")

    assert list(outputs) == ["out.root"]


@pytest.mark.parametrize("names", [("tree", "tree-2"), ("ntuple", "ntuple-2"), ("objects", "objects")], ids="+".join)
def test_hadd(both: Both, names: tuple[str, str]) -> None:
    outputs, _ = both("hadd", "-v", "0", "out.root", *names)

    assert list(outputs) == ["out.root"]


@pytest.mark.parametrize("table", TABLES)
def test_convert(both: Both, table: str) -> None:
    outputs, _ = both("convert", table, "--keep", "ev1*", "-q", "-o", "out.parquet")

    assert list(outputs) == ["out.parquet"]


@pytest.mark.parametrize("words", [("tree",), ("ntuple",), ("cut", "--like", "tree")], ids=" ".join)
def test_recover(both: Both, words: tuple[str, ...]) -> None:
    outputs, _ = both("recover", *words, "-q", "-o", "out.root")

    assert list(outputs) == ["out.root"]


@pytest.mark.parametrize("table", TABLES)
def test_tune(far: Far, files: dict[str, Path], table: str) -> None:
    """What it samples and chooses depends on times, the layout of today does not."""

    def facts(source: Argument) -> dict[str, Any]:
        report = far.command.json("tune", source, "--keep", "ev1*", "-q")
        today = {name: report["today"][name] for name in ("size", "baskets", "clusters", "cluster_bytes")}
        return today | {"columns": report["measuring"]["columns"]}

    assert facts(far.url(files[table].name)) == facts(files[table])


def test_lists_and_mixtures(far: Far, files: dict[str, Path], tmp_path: Path) -> None:
    second = far.url(files["tree-2"].name)
    (tmp_path / "list.txt").write_text(f"{files['tree']}\n{second}\n")
    expected, merged, listed = (tmp_path / name / "out.root" for name in ("near", "mixed", "list"))
    arguments: dict[Path, list[Argument]] = {
        expected: [files["tree"], files["tree-2"]],
        merged: [files["tree"], second],
        listed: [f"@{tmp_path / 'list.txt'}"],
    }
    for output, words in arguments.items():
        output.parent.mkdir()
        far.command("merge", *words, "-q", "-o", output)

    assert merged.read_bytes() == expected.read_bytes()
    assert listed.read_bytes() == expected.read_bytes()


def test_a_tree_of_a_file(far: Far, files: dict[str, Path]) -> None:
    url = far.url(files["objects"].name)

    assert far.command.json("readspeed", f"{url}:folder/t")["entries"] == 100_000
    assert "folder/none" in far.command.refuses("readspeed", f"{url}:folder/none")


@pytest.mark.parametrize("verb", ["inspect", "readspeed", "verify", "rewrite", "merge"])
def test_what_is_not_there(far: Far, files: dict[str, Path], verb: str, tmp_path: Path) -> None:
    url = far.url("missing.root")
    further: dict[str, list[Argument]] = {"verify": [files["tree"]], "inspect": [], "readspeed": []}
    words = further.get(verb, ["-o", tmp_path / "out.root"])

    message = far.command.refuses(verb, url, *words)

    assert message.startswith(f"basketry: {url}: "), message
    assert "404" in message or "no such file" in message, message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["rewrite", "merge", "recover"])
def test_outputs_stay_on_this_machine(far: Far, files: dict[str, Path], verb: str) -> None:
    url = far.url("out.root")

    message = far.command.refuses(verb, files["tree"], "-o", url)

    assert message.startswith(f"basketry: {url}: "), message
    assert "make it first" not in message


def test_patterns_where_a_server_can_list(
    basketry: Basketry, xrootd_server: XrootdServer, files: dict[str, Path]
) -> None:
    names = ("tree", "tree-2")
    for name in names:
        xrootd_server.put(f"listed/{files[name].name}", files[name])

    matching = basketry.json("readspeed", xrootd_server.root("listed/tr*.root"))

    assert matching["entries"] == sum(basketry.json("readspeed", files[name])["entries"] for name in names)


def test_patterns_where_a_server_cannot_list(basketry: Basketry, nginx_server: NginxServer) -> None:
    message = basketry.refuses("readspeed", nginx_server.url("tr*.root"))

    assert "HTTP servers cannot list their files" in message


def test_a_cold_read_of_a_server(far: Far, files: dict[str, Path]) -> None:
    """No page cache of this machine has the file."""
    outcome = far.command.run("readspeed", far.url(files["tree"].name), "--cold")

    assert outcome.code in (0, 2), str(outcome)
    assert "No such file" not in outcome.err, str(outcome)
