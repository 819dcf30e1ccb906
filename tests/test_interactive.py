"""What people see at a prompt and in a notebook: tables, completions, progress, signatures, the version, and errors for
URLs of other protocols."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import basketry as bk
from basketry._shared import signatures
from basketry.verbs import options as verb_options

HOSTILE = "<img src=x onerror=alert(1)>"
opened: Any = bk.open


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with a tree, and an object whose name is HTML."""
    path = str(tmp_path_factory.mktemp("interactive") / "events.root")
    with bk.recreate(path, compression="zstd:1", cluster=1000) as file:
        file["dir/Events"] = {"x": np.arange(5000.0), "n": np.arange(5000) % 3, "zero": np.zeros(5000)}
        file[HOSTILE] = "text"
    return path


class Bars:
    """Makes bars with tqdm's interface, and remembers them."""

    def __init__(self, **options: Any) -> None:
        self.options, self.steps, self.closed = options, list[int](), False
        MADE.append(self)

    def update(self, more: int) -> None:
        self.steps.append(more)

    def close(self) -> None:
        self.closed = True


MADE: list[Bars] = []


def only_bar() -> Bars:
    (made,) = MADE
    MADE.clear()
    assert made.closed
    assert sum(made.steps) == made.options["total"]
    return made


def test_completion_shows_the_public_names_alone() -> None:
    assert sorted(dir(bk)) == sorted(bk.__all__)
    assert all(hasattr(bk, name) for name in bk.__all__)
    # Modules of the package's own are in folders.
    beside = {path.stem for path in Path(bk.__path__[0]).glob("*.py") if not path.name.startswith("_")}
    # `python -m basketry.monitor` is a program.
    assert beside - {"monitor"} <= set(bk.__all__)


def test_the_version_is_that_of_the_package() -> None:
    assert bk.__version__ == version("basketry")


def test_names_complete(events: str) -> None:
    file = opened(events)
    assert file._ipython_key_completions_() == ["dir", "dir/Events", HOSTILE]
    assert file["dir"]._ipython_key_completions_() == ["Events"]
    assert file["dir/Events"]._ipython_key_completions_() == ["x", "n", "zero"]


def test_tables_are_escaped_and_bounded(events: str, tmp_path: Path) -> None:
    page = opened(events)._repr_html_()
    assert HOSTILE not in page
    assert "&lt;img src=x" in page
    tree = opened(events)["dir/Events"]
    page = tree._repr_html_()
    before, after = tree["zero"].uncompressed_bytes, tree["zero"].compressed_bytes
    assert f">{before / after:.2f}<" in page
    assert ">float64<" in page
    assert ">zero<" in tree["zero"]._repr_html_()
    wide = tmp_path / "wide.root"
    with bk.recreate(wide) as file:
        file["t"] = {f"{'long' * 50}{number}": np.zeros(1) for number in range(150)}
        file.mkrntuple("n", {"x": "float64"})
    page = opened(f"{wide}:t")._repr_html_()
    assert page.count("<tr>") == 101
    assert "and 50 more" in page
    assert "long" * 50 not in page
    assert ">double<" in opened(f"{wide}:n")._repr_html_()


def test_bars_reach_what_is_done(events: str, tmp_path: Path) -> None:
    tree, out = opened(events)["dir/Events"], tmp_path / "out.root"
    whole = tree.arrays()
    assert tree.arrays(progress=Bars).tolist() == whole.tolist()
    assert only_bar().options == {"total": 5000, "unit": " entries", "unit_scale": True, "desc": "reading"}
    tree.arrays("x", "n == 0", selection=range(0, 5000, 2), progress=Bars)
    assert only_bar().options["total"] == 2500
    tree["x"].array(entry_stop=70, progress=Bars)
    assert only_bar().options["total"] == 70
    steps = list(tree.iterate("x", step_size=2000, progress=Bars, report=True))
    assert (only_bar().steps, [report.tree_entry_start for _, report in steps]) == ([2000, 2000, 1000], [0, 2000, 4000])
    several = [f"{events}:dir/Events"] * 2
    assert len(bk.concatenate(several, "x", progress=Bars)) == only_bar().options["total"] == 10_000
    for _ in bk.iterate(several, "x", progress=Bars, entry_start=4000):
        pass
    assert only_bar().options["total"] == 6000
    bk.rewrite(events, out, compression="lz4:1", progress=functools.partial(Bars, colour="red"))
    made = only_bar()
    assert (made.options["unit"], made.options["colour"], made.options["desc"]) == ("B", "red", "rewrite")
    assert bk.verify(events, out, progress=Bars).equal
    only_bar()
    bk.readspeed(f"{events}:dir/Events", repeat=2, progress=Bars)
    assert only_bar().options["total"] == 2 * Path(events).stat().st_size
    # The bytes of selected branches are not known before.
    told: list[tuple[int, int | None]] = []
    report = bk.readspeed(f"{events}:dir/Events", branches="x", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (report.compressed, None)
    bk.fileset({"one": [events], "two": [events]}, tree="dir/Events", progress=Bars)
    assert (made := only_bar()).options["total"] == 2
    assert made.options["unit"] == "file"
    jobs = tmp_path / "jobs.json"
    bk.plan("check", [events], jobs, deep=True)
    told.clear()
    bk.run_task(jobs, 0, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] > 0


def test_other_forms_of_progress(events: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = opened(events)["dir/Events"]
    told: list[tuple[int, int | None]] = []
    tree.arrays(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (5000, 5000)
    own = Bars()
    MADE.clear()
    for _ in range(2):
        tree.arrays(progress=own)
    assert (sum(own.steps), own.closed) == (10_000, False)
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bars))
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    bk.distributed.map("inspect", [events], progress=True)
    assert only_bar().options["unit"] == " tasks"
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="pip install tqdm"):
        tree.arrays(progress=True)
    with pytest.raises(TypeError, match="with tqdm's interface"):
        tree.arrays(progress=3)


def test_an_error_in_a_bar_ends_the_work(events: str, tmp_path: Path) -> None:
    def full(*_: int | None) -> None:
        raise RuntimeError("the display is full")

    with pytest.raises(RuntimeError, match="display is full"):
        bk.rewrite(events, tmp_path / "out.root", compression="lzma:1", progress=full)
    with pytest.raises(RuntimeError, match="display is full"):
        opened(events)["dir/Events"].arrays(progress=full)


def test_a_bar_that_is_left_early_is_closed(events: str) -> None:
    steps = opened(events)["dir/Events"].iterate("x", step_size=2000, progress=Bars)
    next(steps)
    steps.close()
    assert (MADE[0].steps, MADE[0].closed) == ([2000], True)
    MADE.clear()


SPELLED = [bk.rewrite, bk.merge, bk.convert, bk.generate, bk.sweep, bk.concatenate, bk.iterate, bk.parts, bk.Tree.keys]
SPELLED += [bk.Tree.values, bk.recreate, bk.create, bk.update, bk.plan, bk.distributed.map]
SPELLED += [bk.distributed.merge, bk.distributed.tune]


@pytest.mark.parametrize("function", SPELLED, ids=lambda one: one.__qualname__)
def test_signatures_name_their_options(function: Any) -> None:
    found = inspect.signature(function).parameters
    assert all(one.kind is not one.VAR_KEYWORD for one in found.values())
    assert len(found) > 5


def test_own_arguments_come_before_spelled_ones() -> None:
    @signatures.spelled(verb_options.Shape)
    def made(x: int, *, cluster: int = 3, **shape: Any) -> None: ...

    found = inspect.signature(made).parameters
    assert list(found)[:2] == ["x", "cluster"]
    assert found["cluster"].default == 3
    assert found["basket"].annotation == "Size | None"
    assert found["one_basket_per_cluster"].default is None


def test_other_protocols_name_those_that_are_supported() -> None:
    for url in ("davs://host/f.root", "nonsense://host/f.root"):
        with pytest.raises(ValueError, match=r"not supported; http, https, s3, root and roots are"):
            bk.open(url)
