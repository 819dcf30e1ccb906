"""Files to write: trees, RNTuples and other objects. `files` has the files, `tables` what is filled, with `trees` and
`ntuples`, `processes` files that several processes write, `updating` what is added to existing files, and `identify`
says which objects become histograms, strings and lists."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from .files import WritableDirectory, WritableFile, create, recreate
from .ntuples import WritableNTuple
from .processes import Parts, parts
from .tables import FillContext, WritableTable
from .trees import WritableTree
from .updating import UpdatedFile, update

if TYPE_CHECKING:
    from . import identify

__all__ = [
    "FillContext",
    "Parts",
    "UpdatedFile",
    "WritableDirectory",
    "WritableFile",
    "WritableNTuple",
    "WritableTable",
    "WritableTree",
    "create",
    "identify",
    "parts",
    "recreate",
    "update",
]


def __getattr__(name: str) -> ModuleType:
    """`identify`, which imports NumPy, as soon as it is asked for: uproot's users write `writing.identify.to_TH1x`."""
    if name != "identify":
        raise AttributeError(f"module 'basketry.writing' has no attribute {name!r}")
    return importlib.import_module(".identify", __name__)
