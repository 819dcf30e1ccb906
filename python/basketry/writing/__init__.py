"""Files to write: trees, RNTuples and other objects. `files` has the files, `trees` what is filled, `updating` what is
added to existing files, and `identify` says which objects become histograms, strings and lists."""

from __future__ import annotations

from .files import WritableDirectory, WritableFile, create, recreate
from .trees import FillContext, WritableNtuple, WritableTree
from .updating import UpdatedFile, update

__all__ = [
    "FillContext",
    "UpdatedFile",
    "WritableDirectory",
    "WritableFile",
    "WritableNtuple",
    "WritableTree",
    "create",
    "recreate",
    "update",
]
