"""What people see: names from files have no power over a terminal or a page, long ones do not pad tables, and suggested
commands work when they are pasted."""

from __future__ import annotations

import html
import io
import json
import re
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from basketry.distributed.files import inputs
from basketry.distributed.tasks import Failed, Skipped, Task
from referee.command import Basketry

#: Characters that control a terminal, hide, or reverse text.
ODD = [
    "\x1b",
    "\x07",
    "\x9b",
    "\r",
    "\u061c",
    "\u200b",
    "\u200e",
    "\u200f",
    "\u202a",
    "\u202e",
    "\u2066",
    "\u2069",
    "\ufeff",
]
NAME = "a" + "b".join(ODD) + "<script>&\"'z"
LONG = "start" + "x" * 30_000 + "end"
SECRET = "let-me-in"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with such names everywhere."""
    path = tmp_path_factory.mktemp("shown") / "odd.root"
    with uproot.recreate(path) as file:
        file.mktree(NAME, {NAME: "float64", LONG: "int32"}, title=NAME).extend({NAME: [1.0], LONG: [1]})
        file[f"{NAME}h"] = np.histogram(np.arange(10), bins=3)
        file[f"dir{NAME}/text"] = "text"
    return path


def shown(call: Callable[[], Any]) -> str:
    """What a call prints, returns, warns of or fails with."""
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as warned:
        try:
            made = call()
        except Exception as error:
            made = f"{error}\n{error!r}"
        out.write("" if made is None else str(made))
    return out.getvalue() + "".join(str(one.message) for one in warned)


def table(one: Any) -> str:
    out = io.StringIO()
    one.show(stream=out)
    return out.getvalue()


def written(act: Callable[[Any], Any], path: Path) -> Any:
    with bk.recreate(path) as file:
        return act(file)


WAYS: dict[str, Callable[[Path, Path], Any]] = {
    "file": lambda path, _: repr(bk.open(path)),
    "directory": lambda path, _: repr(bk.open(path)[f"dir{NAME}"]),
    "tree": lambda path, _: repr(bk.open(path)[NAME]),
    "branch": lambda path, _: repr(bk.open(path)[NAME][NAME]),
    "histogram": lambda path, _: repr(bk.open(path)[f"{NAME}h"]),
    "show": lambda path, _: table(bk.open(path)[NAME]),
    "show a branch": lambda path, _: table(bk.open(path)[NAME][NAME]),
    "page of a file": lambda path, _: bk.open(path)._repr_html_(),
    "page of a directory": lambda path, _: bk.open(path)[f"dir{NAME}"]._repr_html_(),
    "page of a tree": lambda path, _: bk.open(path)[NAME]._repr_html_(),
    "no tree": lambda path, _: bk.open(path)[f"{NAME}?"],
    "no branch": lambda path, _: bk.open(path)[NAME][f"{NAME}?"],
    "no file": lambda path, _: bk.open(path.with_name(f"{NAME.replace('/', '')}.root")),
    "verb": lambda path, _: bk.rewrite(path, path),
    "verb without tree": lambda path, _: bk.readspeed(f"{path}:{NAME}?"),
    "writable file": lambda _, out: written(lambda file: repr(file.mkdir(NAME)), out),
    "writable tree": lambda _, out: written(lambda file: repr(file.mktree(NAME, {NAME: "int32"})), out),
    "writable column": lambda _, out: written(lambda file: repr(file.mktree("t", {NAME: "int32"})[NAME]), out),
    "no writable tree": lambda _, out: written(lambda file: [file.mkdir(NAME), file[f"{NAME}?"]], out),
    "two trees": lambda _, out: written(lambda file: [file.mktree(NAME, {"x": "int8"}) for _ in "ab"], out),
    "column without data": lambda _, out: written(lambda file: file.mktree("t", {NAME: "int32"}).extend({}), out),
    "unknown column": lambda _, out: written(lambda file: file.mktree("t", {"x": "int8"}).extend({NAME: [1]}), out),
    "unknown type": lambda _, out: written(lambda file: file.mktree("t", {"x": NAME}), out),
    "wrong column": lambda _, out: written(lambda file: file.mktree("t", {NAME: [1j]}), out),
    "wrong value": lambda _, out: written(lambda file: file.mktree("t", {NAME: "float32"}).extend({NAME: [1e99]}), out),
}


@pytest.mark.parametrize("how", WAYS)
def test_python_shows_names_as_codes(odd: Path, tmp_path: Path, how: str) -> None:
    text = shown(lambda: WAYS[how](odd, tmp_path / "out.root"))
    assert not [letter for letter in text if letter not in "\n\t" and not letter.isprintable()], text
    assert "<script" not in text or not how.startswith("page")
    if how.startswith("page"):
        assert "\\u{feff}" in html.unescape(text)


def test_the_command_and_python_cut_long_names(odd: Path, basketry: Basketry) -> None:
    for text in (basketry("inspect", odd), table(bk.open(odd)[NAME]), bk.open(odd)[NAME]._repr_html_()):
        assert max(map(len, text.replace("</tr>", "\n").splitlines())) < 1000
        assert "start" in text
    assert LONG in json.dumps(basketry.json("inspect", odd))
    assert LONG in bk.open(odd)[NAME].keys()  # noqa: SIM118
    with pytest.raises(KeyError) as near:
        bk.open(odd)[NAME][LONG[:-1]]
    assert len(str(near.value)) < 1000


def test_python_shows_no_secrets(odd: Path) -> None:
    url = f"https://me:{SECRET}@host/a.root?authz={SECRET}"
    tree: Any = bk.open(odd)[NAME]
    file = type(tree.file)(url)
    failed = Failed(url, f"{url}: no", ValueError(url), url)
    seen = [file, failed, Skipped(url, url), Task("rewrite", (url,), url, url, {"x": url}), inputs([url])[0]]
    seen += [bk.parts(url), bk.ZLIB(1)]
    for one in seen:
        assert SECRET not in f"{one!r}{one}"
    assert "https://host/a.root" in repr(file)


NAMES = ["a b", "it's", 'q"q', "-dash", "--drop", "s*r", "q?", "{a,b}", "back\\slash", "$HOME", "`x`", "!x"]
NAMES += ["new\nline", "esc\x1b", "\u202e"]


@pytest.mark.parametrize("name", NAMES)
def test_suggested_commands_work(tmp_path: Path, basketry: Basketry, name: str) -> None:
    """Trees and branches of any name, in files of any name, of which only the one of the fault is rewritten."""
    path = tmp_path / f"{name}.root"
    with uproot.recreate(path, compression=None) as file:
        for tree in (name, "other"):
            file.mktree(tree, {name: "int64", "x": "int64"}, initial_basket_capacity=10)
            for _ in range(60):
                file[tree].extend({name: np.zeros(500, int), "x": np.arange(500)})
    found = json.loads(
        basketry.run("inspect", "--json", path.name if name[0] != "-" else f"./{path.name}", cwd=tmp_path).out
    )
    commands = [one["command"] for one in found["findings"] if one["fault"] == "uncompressed" and one["tree"] == name]
    assert len(commands) == 1, found["findings"]
    command = commands[0]
    assert not [letter for letter in command if not letter.isprintable()], command
    words = re.sub(r"^basketry", str(basketry.binary), command)
    done = subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert not done.stderr
    (output,) = (one for one in tmp_path.iterdir() if one != path)
    with uproot.open(output) as file:
        assert file[name].num_entries == file["other"].num_entries == 30_000
        assert file[name]["x"].compression is not None
        assert file["other"]["x"].compression is None
