"""uproot's names of what is read, for `isinstance`: a tree, a branch, a directory, a file, and what has members of a
C++ class. The classes themselves have other names here."""

from __future__ import annotations

from .._shared.members import WithMembers
from .branches import Branch
from .file import Directory, File
from .table import Tree

Model = WithMembers
"""What has members of a C++ class: trees, branches, objects, elements of NumPy's arrays."""

ReadOnlyDirectory = Directory
"""uproot's name of `Directory`."""

ReadOnlyFile = File
"""uproot's name of `File`."""


TTree = Tree
"""uproot's name of `Tree`."""

TBranch = Branch
"""uproot's name of `Branch`."""
