"""What type checkers know of the reading: a program as users write them is checked by mypy, and run; mistakes are
found."""

import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import basketry as bk
from referee.command import run
from referee.paths import REPO

PROGRAM = REPO / "tests" / "typed" / "reading.py"
#: Packages without types are the program's own concern.
MYPY = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--disable-error-code=import-untyped"]

#: Mistakes of users, each in a line of its own.
MISTAKES = """
tree.arrays(library="numyp")
tree.arrays(library="np").nothing
tree.arrays(library="np")["x"].nothing
tree.arrays(["x"], cut=1)
tree.arrays(entry_end=3)
next(tree.iterate(library="pl")).nothing
next(tree.iterate(library="np", report=True))[1].nothing
tree["x"].array(library="np").nothing
tree["x"].nothing
bk.concatenate(["a.root"], library="pl").nothing
bk.concatenate(["a.root"], join="all")
next(bk.iterate(["a.root"], library="np"))["x"].nothing
bk.scan("a.root").nothing
bk.loader("a.root", tensors="tf")
bk.count("a.root").nothing
bk.open("a.root:t").arrays(library="np")["x"].nothing
bk.open("a.root")["t"]["x"].array(library="pl").nothing
"""

#: Public functions that may return anything, and why.
ANY = {
    # A path or a name means what the file has there.
    "open": "Opened | Any",
    "Directory.__getitem__": "Opened | Any",
    "Directory.get": "Opened | Any",
    "Directory.values": "list[Any]",
    "Directory.items": "list[tuple[str, Any]]",
    "Directory.itervalues": "Iterator[Any]",
    "Directory.iteritems": "Iterator[tuple[str, Any]]",
    "WritableDirectory.__getitem__": "Any",
    "WritableDirectory.items": "list[tuple[str, Any]]",
    "WritableDirectory.values": "list[Any]",
    # The members of a class are what the file describes.
    "Model.member": "Any",
    "Model.all_members": "dict[str, Any]",
    "Described.members": "dict[str, Any]",
    "Described.all_members": "dict[str, Any]",
    "Branch.count_leaf": "Any",
    # Libraries that have no types, or are no dependency.
    "nanoevents": "Any",
    "Column.to_akform": "tuple[Any, list[str]]",
    "FieldTable.to_akform": "tuple[Any, None]",
    # The tree of a branch has the kind of its file, or is a friend.
    "Column.tree": "Any",
    # Arrays or `Jagged`, of NumPy or torch: the columns decide.
    "loader": "Loader[dict[str, Any]]",
    # A matrix of NumPy or torch: an option decides.
    "Loader.matrices": "Loader[Any]",
    # Numbers and texts, as JSON takes them.
    "Loader.state_dict": "dict[str, Any]",
    "layout": "dict[str, Any]",
    "WritableTable.compression": "dict[str, Any]",
    # An object of the class that the argument asks for.
    "as_TGraph": "Any",
    "from_pyroot": "Any",
    "to_writable": "Any",
}
#: Of these, one form is for a library or a container that is not written there.
FORMS = {"arrays", "iterate", "concatenate", "array"}


def test_a_program_runs_with_the_types_that_it_asserts(tmp_path: Path) -> None:
    done = run([sys.executable, PROGRAM, tmp_path], timeout=120)
    assert done.code == 0, str(done)


def test_mypy_knows_what_is_read(tmp_path: Path) -> None:
    lines = MISTAKES.split("\n")[1:-1]
    wrong = tmp_path / "mistakes.py"
    wrong.write_text(
        "\n".join(["import basketry as bk", "def read(tree: bk.Tree) -> None:", *(f"    {one}" for one in lines)])
    )
    done = run([*MYPY, "--cache-dir", tmp_path / "cache", PROGRAM, wrong], timeout=300, cwd=tmp_path)

    errors = [line for line in done.out.splitlines() if ": error: " in line]
    assert [line for line in errors if not line.startswith("mistakes.py")] == []
    found = {int(line.split(":")[1]) - 3 for line in errors}
    assert [one for number, one in enumerate(lines) if number not in found] == []


def public() -> Iterator[tuple[str, Callable[..., object]]]:
    """The public functions, and the methods and properties of the public classes by the classes that define them."""
    for name in bk.__all__:
        one = getattr(bk, name)
        if inspect.isfunction(one):
            yield name, one
        for base in inspect.getmro(one) if inspect.isclass(one) else ():
            if not base.__module__.startswith("basketry"):
                continue
            shown = "Model" if base.__name__ == "WithMembers" else base.__name__
            for attribute, found in vars(base).items():
                if attribute.startswith("_") and attribute not in ("__getitem__", "__iter__"):
                    continue
                function = getattr(found, "fget", None) or getattr(found, "func", None) or found
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function):
                    yield f"{shown}.{attribute}", function


def test_few_functions_return_anything() -> None:
    found = {}
    for name, function in public():
        forms = typing.get_overloads(function)
        returned = [str(form.__annotations__.get("return", "nothing")) for form in forms or [function]]
        loose = [one for one in returned if re.search(r"\bAny\b|^nothing$", one.replace("NDArray[Any]", ""))]
        if forms and name.rpartition(".")[2] in FORMS:
            assert loose in (["Any"], ["Iterator[Any]"]), name
            assert len(forms) >= 6
        elif loose:
            found[name] = loose[0]
    assert found == ANY


@pytest.mark.parametrize("name", ["arrays", "iterate"])
def test_forms_of_several_files_are_those_of_one(name: str) -> None:
    def forms(function: Any) -> list[tuple[str, str, str]]:
        found = [(one.__annotations__, one) for one in typing.get_overloads(function)]
        return [(each["library"], each["how"], each["return"]) for each, _ in found]

    several = {"arrays": bk.concatenate, "iterate": bk.iterate}[name]
    assert forms(several) == forms(getattr(bk.Tree, name))
