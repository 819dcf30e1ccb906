"""Elements of NumPy's arrays whose class has a family: histograms and others, with the methods of those in files.
Other elements are in `_elements`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Between a class and the classes that it derives from, as the compiled half gives them.
BASE = "\t"
#: Bases that are arrays of numbers.
ARRAYS = ("TArrayC", "TArrayS", "TArrayI", "TArrayL", "TArrayL64", "TArrayF", "TArrayD")
#: Members that are lists of objects, and their classes, in the classes of families.
LISTS = {"fLabels": "THashList", "fModLabs": "TList", "fFunctions": "TList"}
#: Classes that were read, with those that they derive from: awkward's arrays have the names of classes alone.
_LINEAGES: dict[str, str] = {}


def named(lineage: str) -> str:
    """The class; what it derives from is kept for `lineage`."""
    name, base, _ = lineage.partition(BASE)
    if base:
        _LINEAGES[name] = lineage
    return name


def lineage(name: str) -> str:
    """A class, and those that it derives from as far as it was read before."""
    return _LINEAGES.get(name, name)


def maker(lineage: str) -> Callable[[dict[str, Any]], Any] | None:
    """The function that makes an object of its members, those of bases included; None for a class without a family."""
    names = lineage.split(BASE)
    if not names[0].startswith(("T", "Roo")) and len(names) == 1:
        return None
    # Imported when it is needed: most arrays have no objects, and objects are made of arrays.
    objects = importlib.import_module("basketry.objects").model
    plain, of_family = objects.Object, objects.of_family
    if not any(name in objects.FAMILIES for name in names):
        return None

    def made(members: dict[str, Any]) -> Any:
        for name, classname in LISTS.items():
            if (items := members.get(name)) is not None:
                content = {"fName": "", "items": list(items), "options": []}
                members[name] = of_family(classname, 0, content, [])
        # What a class derives from has no members of its own here, but for the numbers of arrays.
        arrays = [members.pop(name) for name in ARRAYS if name in members]
        return of_family(names[0], 0, members, [*(plain(name, 0, {}, []) for name in names[1:]), *arrays])

    return made
