"""Classes of records, and the classes that they derive from, as far as the compiled half gives them. What becomes of
elements of such a class is decided elsewhere: `elements`, `objects.model.maker`."""

from __future__ import annotations

#: Between a class and the classes that it derives from, as the compiled half gives them.
BASE = "\t"
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
