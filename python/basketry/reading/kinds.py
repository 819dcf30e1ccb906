"""uproot's names of what is read, for `isinstance`: a tree, a branch, a directory, a file, and what has members of a
C++ class. The classes themselves have other names here."""

from __future__ import annotations

from typing import Any

from .._shared.members import WithMembers
from .branches import Branch
from .file import Directory, File
from .tree import RNTuple, Tree

Model = WithMembers
"""What has members of a C++ class: trees, branches, objects, elements of NumPy's arrays."""

ReadOnlyDirectory = Directory
"""uproot's name of `Directory`."""

ReadOnlyFile = File
"""uproot's name of `File`."""


class _OfTrees(type):
    """A class whose instances are those of another one that belong to a `TTree`, not to an RNTuple."""

    _is: type

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, cls._is) and not isinstance(getattr(thing, "tree", None), RNTuple)


class TTree(metaclass=_OfTrees):
    """A tree that is no RNTuple, for `isinstance`: see `Tree`."""

    _is = Tree


class TBranch(metaclass=_OfTrees):
    """A branch that is no field of an RNTuple, for `isinstance`: see `Branch`."""

    _is = Branch
