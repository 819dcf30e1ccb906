"""Many files and few descriptors: files are opened when their turn comes, few are open at a time, and `close` closes
them. Tests count openings and descriptors, never seconds."""

import inspect
import itertools
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import basketry as bk
from referee import descriptors, paths
from referee.command import Basketry

MANY = 150
CONTAINERS = ["ttree", "rntuple", "parquet"]

#: Public names that take no files, or only one that is closed when they return, with what they take.
OTHERS = {
    "Monitor": "a file to write",
    "create": "`recreate`, of a file that is not there",
    "distributed": "a module; its functions are called",
    "generate": "a file to write",
    "parts": "files to write, in other processes",
    "sweep": "one file, which it writes anew",
    "sweep_figures": "the folder of a sweep",
    "from_pyroot": "an object",
    "to_writable": "an object",
    "as_TGraph": "columns",
}


def write(path: Path, container: str, content: dict[str, Any]) -> str:
    """A file with these columns, as `iterate` takes it."""
    if container == "parquet":
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table(content), path.with_suffix(".parquet"))
        return str(path.with_suffix(".parquet"))
    with bk.recreate(path) as file:
        (file.mkrntuple if container == "rntuple" else file.mktree)("t", content)
    return f"{path}:t"


def many(folder: Path) -> list[str]:
    """The paths of many files: the first as a file, the others as its links."""
    folder.mkdir(exist_ok=True)
    first = folder / "000.root"
    with bk.recreate(first) as file:
        file["t"] = {"x": np.arange(descriptors.ENTRIES), "lists": ak.Array([[1.5], [], [2.5, 3.5]])}
        file["note"] = "text"
    for number in range(1, MANY):
        (folder / f"{number:03}.root").hardlink_to(first)
    return sorted(str(path) for path in folder.glob("*.root"))


def held_in(folder: Path) -> list[str]:
    """The files of a folder that this process has open."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(descriptor.readlink()))
        except OSError:
            continue
    return sorted(name for name in found if name.startswith(f"{folder.resolve()}/"))


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each call left open, in a process that may open 64 files."""
    folder = tmp_path_factory.mktemp("few")
    many(folder)
    command = [sys.executable, "-m", "referee.descriptors", str(folder)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(paths.REPO / "tests"), os.environ.get("PYTHONPATH", "")])
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return {line["call"]: line for line in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", descriptors.CALLS)
def test_a_function_over_many_files_gives_all_descriptors_back(name: str, calls: dict[str, dict[str, Any]]) -> None:
    found = calls[descriptors.CALLS[name].__name__]
    assert not found["why"], found["why"]
    assert found["after"] <= found["before"]


def test_every_function_that_takes_files_is_called() -> None:
    public = {name: getattr(bk, name) for name in bk.__all__ if name != "objects"}
    functions = {name for name, one in public.items() if inspect.isfunction(one)}
    functions |= {f"distributed.{name}" for name in bk.distributed.__all__ if name.islower()}
    assert functions - set(descriptors.CALLS) - set(OTHERS) == set()
    assert set(OTHERS) <= set(bk.__all__)


COMMANDS = {
    "merge": "merge {all} -o out.root",
    "merge, four threads": "merge {all} -o out.root -j 4",
    "hadd": "hadd -f out.root {all}",
    "hadd -n": "hadd -f -n 3 out.root {all}",
    "rewrite": "rewrite {all} -o out.root --cluster 1kB -j 2",
    "rewrite into an RNTuple": "rewrite {all} -o out.root --container rntuple",
    "convert": "convert {trees} -o out.parquet",
    "verify": "verify {all} merged.root",
    "readspeed": "readspeed {trees} -j 2",
    "tune": "tune {trees}",
    "precision": "precision {trees}",
    "check": "check {all} --deep -j 4",
    "inspect": "inspect {first}",
    "ls": "ls {all}",
    "count": "count {all}",
    "stats": "stats in/*.root:t --memory 32MB",
    "fileset": "fileset {all}",
    "index": "index {all} --key x -o index.parquet",
    "sort": "sort {all} --by x -o out.root",
    "pick": "pick {all} --key x --events 1 -o picked.root",
    "join": "join {all} --with {first} --on x --suffix _b -o joined.root",
    "plan": "plan merge {all} -o jobs.json --name out_{{n}}.root --target-size 1MB",
}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_verb_over_many_files_needs_few_descriptors(what: str, basketry: Basketry, tmp_path: Path) -> None:
    files = many(tmp_path / "in")
    if "merged" in COMMANDS[what]:
        bk.merge(files, tmp_path / "merged.root")
    words = (
        COMMANDS[what]
        .format(all=" ".join(files), first=files[0], trees=" ".join(f"{path}:t" for path in files))
        .split()
    )

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors.GRANTED, descriptors.GRANTED))

    command = [str(basketry.binary), *words]
    done = subprocess.run(command, preexec_fn=few, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if (tmp_path / "out.root").exists():
        assert bk.open(f"{tmp_path}/out.root:t").num_entries == MANY * descriptors.ENTRIES


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("names", [None, ["x"], ["x + 1"]])
def test_files_are_opened_when_their_step_is_near(container: str, names: list[str] | None, tmp_path: Path) -> None:
    """The third file is not there before the first step, and the fourth not before the second one: two ahead of what is
    read, none is looked for."""
    content = {"x": np.arange(4), "y": np.arange(4) * 0.5}
    first = write(tmp_path / "0.root", container, content)
    places = [first.replace("/0.", f"/{number}.") for number in range(6)]
    write(tmp_path / "1.root", container, content)
    steps = bk.iterate(places, names, library="np")
    for number in range(6):
        step = next(steps)
        assert len(next(iter(step.values()))) == 4
        if number < 4:
            write(tmp_path / f"{number + 2}.root", container, content)
    assert next(steps, None) is None


@pytest.mark.parametrize("container", CONTAINERS)
def test_only_files_of_asked_entries_are_opened(container: str, tmp_path: Path) -> None:
    first = write(tmp_path / "0.root", container, {"x": np.arange(4)})
    write(tmp_path / "1.root", container, {"x": np.arange(4)})
    places = [first.replace("/0.", f"/{number}.") for number in range(5)]
    steps = list(bk.iterate(places, ["x"], library="np", entry_start=1, entry_stop=6, report=True))
    assert [step["x"].tolist() for step, _ in steps] == [[1, 2, 3], [0, 1]]
    assert [(report.start, report.stop) for _, report in steps] == [(1, 4), (4, 6)]


@pytest.mark.parametrize("container", ["ttree", "rntuple"])
def test_few_files_are_open_while_many_are_read(container: str, tmp_path: Path) -> None:
    place = write(tmp_path / "000.root", container, {"x": np.arange(3)})
    for number in range(1, 40):
        (tmp_path / f"{number:03}.root").hardlink_to(tmp_path / "000.root")
    places = [place.replace("000", f"{number:03}") for number in range(40)]
    most = 0
    for _ in bk.iterate(places, ["x"]):
        most = max(most, len(held_in(tmp_path)))
    # The one that is read, and the one that was opened ahead.
    assert 1 <= most <= 2
    assert held_in(tmp_path) == []


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_differs_is_an_error_when_its_turn_comes(container: str, tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", container, {"x": np.arange(3), "y": np.arange(3, dtype="i4")})
    fewer = write(tmp_path / "fewer.root", container, {"x": np.arange(2)})
    other = write(tmp_path / "other.root", container, {"x": np.arange(2), "y": np.arange(2) * 0.5})
    more = write(
        tmp_path / "more.root", container, {"y": np.arange(2, dtype="i4"), "x": np.arange(2), "z": np.arange(2)}
    )
    # All columns: those of the first file. What others have beside them is left out.
    read = [{name: one.tolist() for name, one in step.items()} for step in bk.iterate([a, more], library="np")]
    assert read == [{"x": [0, 1, 2], "y": [0, 1, 2]}, {"x": [0, 1], "y": [0, 1]}]
    for names, bad, error, said in (
        (None, fewer, bk.SchemaDiffers, r"y is in .*a\..*, and not in .*fewer\..*join='common'"),
        (None, other, bk.SchemaDiffers, r"y is .*a\..*, and .*other\."),
        (["y"], fewer, KeyError, r"y is in .*a\..*, and not in .*fewer\."),
        (["y + 1"], fewer, KeyError, r"y is in .*a\..*, and not in .*fewer\."),
        (["y"], other, bk.SchemaDiffers, r"y is .*a\..*, and .*other\."),
    ):
        steps = bk.iterate([a, bad], names)
        assert len(next(steps)) == 3
        with pytest.raises(error, match=said):
            next(steps)
        # What does not touch it can be read.
        assert sum(len(step) for step in bk.iterate([a, bad], ["x"])) == 5
    # All of them must be the same, whatever is asked for.
    steps = bk.iterate([a, fewer], ["x"], join="strict")
    assert len(next(steps)) == 3
    with pytest.raises(bk.SchemaDiffers, match="y"):
        next(steps)
    # With a join all are compared before the first step, as `concatenate` does.
    assert [step.fields for step in bk.iterate([a, fewer], join="common")] == [["x"], ["x"]]
    assert [step["y"].to_list() for step in bk.iterate([a, fewer], ["y"], join="fill")] == [[0, 1, 2], [0, 0]]
    with pytest.raises(bk.SchemaDiffers):
        next(bk.iterate([a, other], ["y"], join="common"))
    assert [step["y"].to_list() for step in bk.iterate([a, other], ["y"], widen=True)] == [[0, 1, 2], [0, 0.5]]


def test_a_file_without_entries_gives_no_columns(tmp_path: Path) -> None:
    nothing = {"x": np.arange(0, dtype="f4"), "only": np.arange(0)}
    for container in ("ttree", "rntuple"):
        empty = write(tmp_path / f"empty_{container}.root", container, nothing)
        full = write(tmp_path / f"full_{container}.root", container, {"x": np.arange(3), "y": np.arange(3)})
        for order in itertools.permutations([empty, full]):
            assert [step.fields for step in bk.iterate(order)] == [["x", "y"]]
            assert [step["x"].to_list() for step in bk.iterate(order, ["x"])] == [[0, 1, 2]]
        assert list(bk.iterate([empty, empty])) == []
        with pytest.raises(KeyError, match="none"):
            list(bk.iterate([empty, empty], ["none"]))


def test_an_absent_file_is_an_error_when_its_turn_comes(tmp_path: Path) -> None:
    there = write(tmp_path / "a.root", "ttree", {"x": np.arange(3)})
    steps = bk.iterate([there, f"{tmp_path}/none.root:t"], ["x"])
    assert len(next(steps)) == 3
    with pytest.raises(FileNotFoundError, match=r"none\.root"):
        next(steps)
    steps = bk.iterate([there, there.replace(":t", ":u")], ["x"])
    assert len(next(steps)) == 3
    with pytest.raises(KeyError, match="no tree 'u'"):
        next(steps)
    with pytest.raises(FileNotFoundError, match=r"none\.root"):
        bk.iterate([f"{tmp_path}/none.root:t", there], ["x"])


def test_files_that_lack_a_branch_are_left_out_in_turn(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", "ttree", {"x": np.arange(3)})
    b = write(tmp_path / "b.root", "ttree", {"x": np.arange(2), "y": np.arange(2)})
    found = bk.iterate([a, b, a.replace(":t", ":u"), b], ["y"], allow_missing=True, report=True, library="pd")
    steps = list(found)
    assert [step["y"].tolist() for step, _ in steps] == [[0, 1], [0, 1]]
    assert [report.start for _, report in steps] == [3, 5]
    assert [step.index.tolist() for step, _ in steps] == [[3, 4], [5, 6]]
    with pytest.raises(ValueError, match="no file has these branches"):
        bk.iterate([a, a], ["y"], allow_missing=True)


@pytest.mark.parametrize("container", CONTAINERS)
def test_close_gives_the_files_back(container: str, tmp_path: Path) -> None:
    place = write(tmp_path / "a.root", container, {"x": np.arange(1000), "y": np.arange(1000)})
    tree = bk.open(place)
    assert tree["x"].array().to_list() == list(range(1000))
    assert len(held_in(tmp_path)) == 1
    tree.close()
    assert held_in(tmp_path) == []
    # Reading opens it again, and a branch closes it, too.
    for number, branch in enumerate(["x", "y"]):
        with tree[branch] as opened:
            assert opened.array(entry_start=number, entry_stop=number + 1).to_list() == [number]
            assert len(held_in(tmp_path)) == 1
        assert held_in(tmp_path) == []
    with bk.open([place, place]) as both:
        assert len(both.arrays()) == 2000
        assert held_in(tmp_path)
    assert held_in(tmp_path) == []
    steps: Any = tree.iterate(step_size=10)
    next(steps)
    assert held_in(tmp_path)
    steps.close()
    tree.close()
    assert held_in(tmp_path) == []
    if container != "parquet":
        with bk.open(place.removesuffix(":t")) as file:
            assert len(file["t"].arrays()) == 1000
            assert held_in(tmp_path)
        assert held_in(tmp_path) == []


def test_close_gives_the_files_of_friends_back(tmp_path: Path) -> None:
    place = write(tmp_path / "a.root", "ttree", {"x": np.arange(5)})
    friend = write(tmp_path / "b.root", "ttree", {"z": np.arange(5) * 2})
    with bk.open(place, friends=[friend]) as tree:
        assert tree.arrays(["x", "z"])["z"].to_list() == [0, 2, 4, 6, 8]
        assert len(held_in(tmp_path)) == 2
    assert held_in(tmp_path) == []


def test_columns_are_made_when_they_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 900 columns two are read, and no object is made for any of them."""
    from basketry.reading.branches import Branch
    from basketry.reading.columns import Column
    from basketry.reading.fields import Field

    content: dict[str, Any] = {f"c{number}": np.arange(3) + number for number in range(900)}
    places = [write(tmp_path / f"{container}.root", container, content) for container in ("ttree", "rntuple")]
    made: list[str] = []
    begin = Column.__init__

    def count(self: Any, table: Any, name: str, *more: Any) -> None:
        made.append(name)
        begin(self, table, name, *more)

    monkeypatch.setattr(Column, "__init__", count)
    for place in places:
        tree = bk.open(place)
        found = tree.arrays(["c7", "c899"])
        assert (found["c7"].to_list(), found["c899"].to_list()) == ([7, 8, 9], [899, 900, 901])
        assert sum(len(step) for step in bk.iterate([place] * 3, ["c5"])) == 9
        assert tree.num_entries == 3
        assert made == []
        one = tree["c5"]
        assert isinstance(one, Branch | Field)
        assert (one.array().to_list(), one.index, one.parent is tree) == ([5, 6, 7], 5, True)
        assert [one.name, *made[1:]] == ["c5", *[f"c{number}" for number in range(900) if number != 5]]
        assert tree["c5"] is one is tree.branches[5]
        assert len(tree) == 900 == len(made)
        made.clear()
