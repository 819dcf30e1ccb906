"""coffea's NanoEvents on basketry's reader. coffea is imported when they are asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import _core
from .file import Directory
from .request import MEMORY
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    Place: TypeAlias = str | os.PathLike[str]


def nanoevents(
    file: Place | Directory | Table[Any] | Iterable[Place],
    treepath: str = "Events",
    *,
    schemaclass: Any = None,
    mode: Literal["virtual", "eager"] = "virtual",
    entry_start: int | None = None,
    entry_stop: int | None = None,
    metadata: dict[str, Any] | None = None,
    preload: Iterable[str] | None = None,
    buffer_cache: MutableMapping[str, Any] | None = None,
    access_log: list[Any] | None = None,
    threads: int = 1,
    memory: int | str = MEMORY,
) -> Any:
    """coffea's NanoEvents of a tree or RNTuple: what `NanoEventsFactory.from_root(...).events()` gives, but read by
    basketry.

        events = basketry.nanoevents("nano.root")
        events.Muon[events.Muon.pt > 20]

    file: a file, FILE:TREE, a pattern, an opened file, directory or tree, or several files as one.
    treepath: the tree, where `file` names none.
    schemaclass: a schema of `coffea.nanoevents`, by default `NanoAODSchema`.
    mode: "virtual" reads a column when it is first used, "eager" all columns now, at once.
    entry_start, entry_stop: a range of entries, 0 and all by default.
    metadata: kept with the events. preload: names of columns to read now, at once.
    buffer_cache, access_log: as in coffea: buffers by their keys, and what was read, in order.
    threads, memory: limits of one reading; one thread, as coffea's executors run many of these at a time.

    The result is an awkward array with one record for each entry. Fields have the titles of their branches as
    `__doc__`, and keys of buffers begin with the UUID of the file, as coffea's do. Without coffea it is an
    `ImportError` that says how to get it; absent files and trees are the errors of `basketry.open`, and a file that is
    named twice is a `ValueError`.
    """
    try:
        from coffea.nanoevents import EDM4HEPSchema, NanoAODSchema, NanoEventsFactory
    except ImportError as error:
        raise ImportError("basketry.nanoevents needs coffea: pip install 'coffea>=2026.9'", name="coffea") from error
    from . import coffea

    if mode not in ("virtual", "eager"):
        raise ValueError(f"mode={mode!r}: choose 'virtual' or 'eager'")
    schemaclass = NanoAODSchema if schemaclass is None else schemaclass
    if isinstance(schemaclass, type) and issubclass(schemaclass, EDM4HEPSchema):
        raise ValueError(f"{schemaclass.__name__} needs podio's metadata: use NanoEventsFactory.from_root for it")
    tree = _opened(file, treepath)
    places = _each_once((path, inside) for path, inside, _ in tree._table.files)
    start, stop, _ = slice(entry_start, entry_stop).indices(tree.num_entries)
    opener = coffea.Opener(tree, places)
    key = (coffea.uuid_of(tree), tree.object_path, f"{start}-{max(start, stop)}")
    mapping = coffea.BasketryMapping(
        opener,
        start,
        max(start, stop),
        file_handle=file if isinstance(file, Directory) else None,
        access_log=access_log,
        buffer_cache=buffer_cache,
        virtual=mode == "virtual",
        threads=threads,
        memory=memory,
    )
    mapping.preload_column_source(*key[:2], tree)
    form = mapping._extract_base_form(tree)
    if mode == "eager" or preload is not None:
        mapping.preload(tree, form["fields"] if mode == "eager" else preload or ())
    return NanoEventsFactory._from_mapping(mapping, key, form, schemaclass, metadata, mode=mode).events()


def _opened(file: Place | Directory | Table[Any] | Iterable[Place], treepath: str) -> Table[Any]:
    """The tree, opened unless it is."""
    from .dataset import open

    if isinstance(file, Directory):
        file = file[treepath]
    if isinstance(file, Table):
        return file
    if isinstance(file, Directory):
        raise ValueError(f"{treepath} is a directory: name a tree in it")
    words = [file] if isinstance(file, str | os.PathLike) else file
    found = _core.expand([os.fspath(word) for word in words])
    return open(_each_once((path, inside or treepath) for path, inside in found))


def _each_once(places: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The tree of each file."""
    places = list(places)
    found = dict(places)
    if len(found) < len(places):
        raise ValueError("a file is named twice; NanoEvents has one tree of each file, and each file once")
    return found
