"""Options that uproot's users give: names of libraries, and options that only tune uproot and have no effect here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Longer names of libraries.
LIBRARIES = {"awkward": "ak", "numpy": "np", "pandas": "pd", "pyarrow": "arrow", "polars": "pl"}
#: How uproot fetches, caches and decodes. The engine here has `threads` and `memory` for all of that.
TUNING = {
    "access_log",
    "ak_add_doc",
    "array_cache",
    "begin_chunk_size",
    "custom_classes",
    "decompression_executor",
    "file_handler",
    "handler",
    "http_handler",
    "http_max_header_bytes",
    "interpretation_executor",
    "language",
    "max_num_elements",
    "minimal_ttree_metadata",
    "num_fallback_workers",
    "num_workers",
    "object_cache",
    "object_handler",
    "s3_handler",
    "timeout",
    "use_threads",
    "xrootd_handler",
}


def check(function: str, options: Mapping[str, Any]) -> None:
    """Refuses options that are not uproot's tuning."""
    for name in options:
        if name not in TUNING:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def library(name: str) -> str:
    """The short name of a library."""
    return LIBRARIES.get(name, name)
