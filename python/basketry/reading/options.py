"""Options that uproot's users give: names of libraries, and options that only tune uproot and have no effect here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from .._shared.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Longer names of libraries.
LIBRARIES = {"awkward": "ak", "numpy": "np", "pandas": "pd", "pyarrow": "arrow", "polars": "pl"}


class Tuning(TypedDict, total=False):
    """How uproot fetches, caches and decodes. The engine here has `threads` and `memory` for all of that."""

    ak_add_doc: Any
    array_cache: Any
    begin_chunk_size: Any
    custom_classes: Any
    decompression_executor: Any
    file_handler: Any
    handler: Any
    http_handler: Any
    http_max_header_bytes: Any
    interpretation_executor: Any
    language: Any
    max_num_elements: Any
    minimal_ttree_metadata: Any
    num_fallback_workers: Any
    num_workers: Any
    object_cache: Any
    object_handler: Any
    s3_handler: Any
    timeout: Any
    use_threads: Any
    xrootd_handler: Any


#: Their names. `arrays` has an `access_log`, which other functions ignore.
TUNING = {*Tuning.__annotations__, "access_log"}


def check(function: str, options: Mapping[str, Any], known: Iterable[str] = ()) -> None:
    """Refuses options that are not uproot's tuning; names that are known beside it may be near."""
    for name in options:
        if name not in TUNING:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{did_you_mean(name, known)}")


def library(name: str) -> str:
    """The short name of a library."""
    return LIBRARIES.get(name, name)
