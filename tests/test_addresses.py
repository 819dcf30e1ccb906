"""Addresses inside a file are data: of a branch's baskets, of a friend. Metadata open none of them; on another machine
they are read only if asked for, and then without the user's credentials; what is outside of the folder is said."""

import contextlib
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.command import Basketry
from referee.paths import FOUND
from servers.odd import OddServer

FAR = [i * 0.5 for i in range(1000)]
Y = list(range(0, 3000, 3))
SECRET = "ey-secret-token"
SECONDS = 60

Make = Callable[..., Path]


def of_length(address: str, length: int) -> str:
    """The same address in so many characters: a parameter of a URL, or steps to the folder itself."""
    missing = length - len(address)
    assert missing >= 0, "the macro's names are too short"
    if "://" in address and not address.startswith("file:"):
        return f"{address}?{'x' * (missing - 1)}" if missing else address
    folder, slash, name = address.rpartition("/")
    return f"{folder}{slash}{'./' * (missing // 2)}{'/' * (missing % 2) if slash or missing > 1 else ''}{name}"


@pytest.fixture
def sources() -> Path:
    """The files of the recipe."""
    return make_files.made("addresses")


@pytest.fixture
def far(sources: Path) -> bytes:
    """The file with the baskets of branch `far`."""
    return next(sources.glob("far_*.root")).read_bytes()


@pytest.fixture
def friendly(sources: Path) -> bytes:
    """The file of the friend."""
    return next(sources.glob("friendly_*.root")).read_bytes()


@pytest.fixture
def make(sources: Path, tmp_path: Path) -> Make:
    """Makes the tree's file, with these addresses."""

    def made(far: str = "gone.root", friendly: str = "gone.root", name: str = "home/main.root") -> Path:
        content = (sources / "main.root").read_bytes()
        for kind, address in [("far", far), ("friendly", friendly)]:
            old = next(sources.glob(f"{kind}_*.root")).name.encode()
            assert content.count(old) >= 1
            content = content.replace(old, of_length(address, len(old)).encode())
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    return made


@pytest.fixture
def other_server() -> Iterator[OddServer]:
    """Another machine: every request to it is kept, and every file on it can be had."""
    with contextlib.closing(OddServer()) as server:
        yield server


@pytest.fixture
def addressed(
    make: Make, other_server: OddServer, far: bytes, friendly: bytes, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A file whose addresses are on another machine; the user has credentials of each kind."""
    for name, value in {
        "BEARER_TOKEN": SECRET,
        "AWS_ACCESS_KEY_ID": SECRET,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "BASKETRY_REMOTE_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    return make(other_server.put("far.root", far), other_server.put("friendly.root", friendly))


def test_metadata_open_no_address(basketry: Basketry, addressed: Path, other_server: OddServer) -> None:
    for words in ("inspect", "inspect --json", "inspect --layout", "check", "check --deep", "fileset"):
        basketry.run(*words.split(), addressed)
        assert other_server.requests == [], words
    for follow_urls in (False, True):
        file = bk.open(addressed, follow_urls=follow_urls)
        tree: Any = file["tree"]
        assert tree.keys() == ["i", "far"]
        assert list(tree.friends) == ["friendly"]
        facts = [repr(tree), repr(tree.friends), tree.show, tree._repr_html_(), tree["far"].typename, tree.num_entries]
        assert facts
        assert tree["far"].compressed_bytes > 0
        assert tree["far"].member("fFileName").startswith("http://")
        assert tree["i"].array().tolist() == list(range(1000))
        assert other_server.requests == []
    bk.inspect(addressed)
    assert other_server.requests == []


def test_data_of_another_machine_are_read_only_if_asked_for(
    basketry: Basketry, addressed: Path, other_server: OddServer, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    verbs: list[list[str | Path]] = [
        ["rewrite", addressed, "-o", out],
        ["merge", addressed, addressed, "-o", out],
        ["hadd", out, addressed],
        ["readspeed", addressed, "--branches", "far"],
        ["readspeed", addressed, "--branches", "friendly.y"],
        ["convert", addressed, "-o", tmp_path / "out.parquet", "--keep", "far"],
        ["tune", addressed, "-o", out],
    ]
    for words in verbs:
        outcome = basketry.run(*words)
        assert outcome.code != 0, words
        assert not out.exists()
        assert f"127.0.0.1:{other_server.port}/" in outcome.err, outcome.err
        assert "xxxx" not in outcome.err, "parameters may be secrets"
        # Tuning reads what it writes, and has no such option.
        assert ("--follow-urls" in outcome.err) == (words[0] != "tune")
        assert addressed.name in outcome.err
        assert "far" in outcome.err or "friend friendly" in outcome.err
    different = basketry.run("verify", addressed, addressed)
    assert different.code == 1
    assert "--follow-urls" in different.out
    tree: Any = bk.open(addressed)["tree"]
    with pytest.raises(ValueError, match=r"branch far.*127\.0\.0\.1.*follow_urls=True"):
        tree["far"].array()
    with pytest.raises(ValueError, match=r"friendly.*127\.0\.0\.1.*follow_urls=True"):
        tree["friendly.y"]
    with pytest.raises(ValueError, match="follow_urls=True"):
        next(iter(bk.iterate(f"{addressed}:tree", ["far"])))
    with pytest.raises(ValueError, match="follow_urls=True"):
        bk.concatenate(f"{addressed}:tree", ["far"])

    assert other_server.requests == []


def test_who_asks_reads_without_credentials(
    basketry: Basketry, addressed: Path, other_server: OddServer, tmp_path: Path
) -> None:
    out = tmp_path / "out.root"
    for verb in ("inspect", "check"):
        assert "xxxx" not in basketry(verb, addressed), "parameters may be secrets"
    said = basketry("rewrite", addressed, "-o", out, "--follow-urls")
    assert "127.0.0.1" in said
    assert "without credentials" in said
    assert "xxxx" not in said
    with uproot.open(out) as file:
        assert file["tree/far"].array(library="np").tolist() == FAR
    assert other_server.requests
    assert basketry.run("verify", addressed, out, "--follow-urls").code == 0
    basketry("hadd", tmp_path / "sum.root", addressed, "--follow-urls")
    basketry("convert", addressed, "-o", tmp_path / "out.parquet", "--follow-urls")
    speed = basketry.json("readspeed", addressed, "--branches", "far", "friendly.y", "--follow-urls")
    assert {column["name"] for column in speed["columns"]} == {"far", "friendly.y"}
    assert sum("without credentials" in note for note in speed["notes"]) == 2
    with pytest.warns(UserWarning, match="without credentials"):
        assert bk.open(addressed, follow_urls=True)["tree"]["far"].array().tolist() == FAR
    with pytest.warns(UserWarning, match="without credentials"):
        read = bk.concatenate(f"{addressed}:tree", ["friendly.y"], follow_urls=True)
    assert read["friendly.y"].tolist() == Y

    for request in other_server.requests:
        assert SECRET not in str(request.headers), request
        assert not {"authorization", "cookie", "referer", "proxy-authorization"} & set(request.headers), request


def test_the_origin_of_the_named_file_is_treated_as_that_file(
    basketry: Basketry, make: Make, far: bytes, odd_server: OddServer, other_server: OddServer, tmp_path: Path
) -> None:
    same, other = odd_server.put("far.root", far), other_server.put("far.root", far)
    # Unencrypted servers of this machine get the token where they are listed.
    hosts = f"http://127.0.0.1:{odd_server.port},http://127.0.0.1:{other_server.port}"
    with_token = basketry.within(BEARER_TOKEN=SECRET, BASKETRY_REMOTE_RETRIES="0", BASKETRY_TOKEN_HOSTS=hosts)
    for address, server in [(same, odd_server), (other, other_server)]:
        url = odd_server.put("main.root", make(address).read_bytes())
        with_token("rewrite", url, "-o", tmp_path / "out.root", "-f", "--follow-urls")
        with uproot.open(tmp_path / "out.root") as file:
            assert file["tree/far"].array(library="np").tolist() == FAR
        named = {r.headers.get("authorization") for r in odd_server.requests if r.path == "/main.root"}
        found = {r.headers.get("authorization") for r in server.requests if r.path == "/far.root"}
        assert found == (named if server is odd_server else {None})
        odd_server.forget()


def test_a_file_of_another_machine_opens_nothing_here(
    basketry: Basketry, make: Make, far: bytes, friendly: bytes, odd_server: OddServer, tmp_path: Path
) -> None:
    (tmp_path / "here.root").write_bytes(far)
    (tmp_path / "friend.root").write_bytes(friendly)
    for scheme in ("", "file:", "file://"):
        content = make(f"{scheme}{tmp_path}/here.root", f"{scheme}{tmp_path}/friend.root").read_bytes()
        url = odd_server.put("d/main.root", content)
        for more in ([], ["--follow-urls"]):
            refused = basketry.run("rewrite", url, "-o", tmp_path / "out.root", *more)
            assert refused.code == 2
            assert "a path of this machine" in refused.err
        tree = bk.open(f"{url}:tree", follow_urls=True)
        with pytest.raises(ValueError, match="a path of this machine"):
            tree["far"].array()
        with pytest.raises(ValueError, match="a path of this machine"):
            tree["friendly.y"]
    # Beside its own URL it finds what was moved together, and says so.
    odd_server.put("d/here.root", far)
    with pytest.warns(UserWarning, match=r"d/here\.root is read in place of .*here\.root, which .*main\.root names"):
        assert bk.open(f"{url}:tree")["far"].array().tolist() == FAR


@pytest.mark.parametrize("scheme", ["memory", "simplecache::file", "local", "github", "s3", "root", "HTTP"])
def test_schemes_of_every_kind_are_refused(make: Make, scheme: str) -> None:
    tree = bk.open(make(f"{scheme}://127.0.0.2/far.root", f"{scheme}://127.0.0.2/far.root"))["tree"]
    for name in ("far", "friendly.y"):
        with pytest.raises(ValueError, match="follow_urls=True"):
            tree[name].array()


def test_fsspec_gets_no_addresses_of_other_origins(make: Make) -> None:
    fsspec: Any = pytest.importorskip("fsspec")
    memory: Any = fsspec.filesystem("memory")
    memory.pipe("/far.root", b"root")
    tree = bk.open(make("memory://far.root"), follow_urls=True)["tree"]
    with pytest.raises(ValueError, match="fsspec would open it with the credentials"):
        tree["far"].array()


def within_time(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs a command, which must end."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_only_regular_files_are_opened(basketry: Basketry, make: Make, tmp_path: Path, kind: str) -> None:
    place = {"pipe": tmp_path / "home/pipe.root", "device": Path("/dev/zero"), "folder": tmp_path}[kind]
    path = make(str(place), str(place))
    if kind == "pipe":
        os.mkfifo(place)
    for verb in (["inspect"], ["check", "--deep"]):
        assert within_time(basketry.binary, *verb, path).returncode == 0
    for words in (["rewrite", path, "-o", tmp_path / "out.root"], ["readspeed", path, "--branches", "friendly.y"]):
        refused = within_time(basketry.binary, *words)
        assert refused.returncode == 2
        assert "not a regular file" in refused.stderr
    program = """
import sys, basketry
tree = basketry.open(sys.argv[1])["tree"]
print(tree.keys(), list(tree.friends))
for read in (lambda: tree["far"].array(), lambda: tree["friendly.y"]):
    try:
        read()
    except ValueError as error:
        print(error)
"""
    done = within_time(sys.executable, "-c", program, path)
    assert done.stdout.startswith("['i', 'far'] ['friendly']\n"), done
    assert done.stdout.count("not a regular file") == 2, done


def test_a_pipe_that_the_user_names_is_refused(basketry: Basketry, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.root")
    refused = within_time(basketry.binary, "inspect", tmp_path / "pipe.root")
    assert refused.returncode == 2
    assert "a pipe or a device" in refused.stderr


def test_what_is_outside_of_the_folder_is_read_and_said(
    basketry: Basketry, make: Make, far: bytes, friendly: bytes, tmp_path: Path
) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    (home / "below").mkdir(parents=True)
    for folder in (outside, home, home / "below"):
        (folder / "a.root").write_bytes(far)
        (folder / "b.root").write_bytes(friendly)
    (home / "link.root").symlink_to(outside / "a.root")
    (home / "linked.root").symlink_to(outside / "b.root")
    for a, b, is_outside in [
        ("a.root", "b.root", False),
        ("below/a.root", "below/b.root", False),
        (f"{home}/a.root", f"file://{home}/b.root", False),
        ("../outside/a.root", "../outside/b.root", True),
        (f"{outside}/a.root", f"file:{outside}/b.root", True),
        ("link.root", "linked.root", True),
    ]:
        path = make(a, b)
        said = basketry("rewrite", path, "-o", tmp_path / "out.root", "-f")
        assert ("outside of that file's folder" in said) == is_outside, a
        with uproot.open(tmp_path / "out.root") as file:
            assert file["tree/far"].array(library="np").tolist() == FAR
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tree: Any = bk.open(path)["tree"]
            assert list(tree.friends) == ["friendly"]
            assert not caught
            assert tree.friends["friendly"].keys() == ["y"]
            assert len(caught) == is_outside
            for _ in range(2):
                assert tree["far"].array().tolist() == FAR
                assert tree["friendly.y"].array().tolist() == Y
        texts = [str(one.message) for one in caught]
        assert len(texts) == (2 if is_outside else 0), texts
        assert all("outside of that file's folder" in text and "main.root" in text for text in texts)
    (home / "a.root").unlink()
    shutil.rmtree(outside)
    gone = basketry.run("rewrite", make("../outside/a.root"), "-o", tmp_path / "none.root")
    assert gone.code == 2
    assert "branch far" in gone.err


@pytest.mark.parametrize("name", ["branch_file_name_is_url_http", "branch_file_name_is_url_https", "friend_is_url"])
def test_found_files(basketry: Basketry, name: str) -> None:
    path = FOUND / f"attack_{name}.root"
    if not path.is_file():
        pytest.skip("no corpus of found files")
    assert within_time(basketry.binary, "inspect", path).returncode in (0, 1)
    assert bk.open(path).keys()
