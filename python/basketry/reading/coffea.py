"""coffea's mapping from the buffers of NanoEvents to the columns of a file, on basketry's reader. Importing this module
imports coffea; what the user calls is in `nano`."""

from __future__ import annotations

import json
import uuid
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np
from coffea.nanoevents.mapping.base import BaseSourceMapping, UUIDOpener
from coffea.nanoevents.mapping.uproot import CannotBeNanoEvents, _lazify_form

from .. import _core
from .._shared.names import plain
from . import dataset
from .table import RNTuple, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: Columns that stay at hand: offsets and values of a list are asked for one after the other, counters of lists often.
KEPT_COLUMNS = 16


def uuid_of(tree: Table[Any]) -> str:
    """The UUID of the tree's file, as coffea has it; of several files, one that differs if any of theirs does."""
    uuids = [uuid for *_, uuid in tree._table.files]
    return uuids[0] if len(uuids) == 1 else str(uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(uuids)))


def _state(places: Iterable[str]) -> list[tuple[int, int] | None]:
    """Sizes and times of the files that are on this machine."""
    states = [Path(place).stat() if Path(place).exists() else None for place in places]
    return [state and (state.st_size, state.st_mtime_ns) for state in states]


class Opener(UUIDOpener):  # type: ignore[misc]
    """Opens the files again, in a process to which a mapping was sent."""

    def __init__(self, tree: Table[Any], places: Mapping[str, str]) -> None:
        super().__init__({uuid_of(tree): dict(places)})
        self._state = _state(places)
        self._follow_urls = tree._made_of.follow_urls

    def open_uuid(self, uuid: str) -> dict[str, Table[Any]]:
        """The tree by its path. Files that have changed are a `ValueError`."""
        places = self._uuid_pfnmap[uuid]
        tree = dataset.open(places, follow_urls=self._follow_urls)
        if uuid_of(tree) != uuid or _state(places) != self._state:
            changed = ", ".join(_core.public_path(place) for place in places)
            raise ValueError(f"{changed}: changed since these NanoEvents were made; make them again")
        return {tree.object_path: tree}


class BasketryMapping(BaseSourceMapping):  # type: ignore[misc]
    """The buffers of one tree or RNTuple, by coffea's keys. A buffer is read when it is asked for."""

    _cache: Any

    def __init__(self, *arguments: Any, threads: int = 1, memory: int | str, **options: Any) -> None:
        self._threads = threads
        self._memory = memory
        self._columns: OrderedDict[str, Any] = OrderedDict()
        self._preloaded: dict[str, Any] = {}
        super().__init__(*arguments, **options)

    def setup(self) -> None:
        """Called by coffea: makes the cache of opened trees."""
        self._cache = {} if self._cache is None else self._cache

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is open or read."""
        emptied: dict[str, Any] = {"_cache": {}, "_columns": OrderedDict(), "_preloaded": {}, "_file_handle": None}
        return self.__dict__ | emptied

    def key_root(self) -> str:
        """Part of coffea's keys for opened trees."""
        return "BasketryMapping:"

    @classmethod
    def _extract_base_form(cls, tree: Table[Any]) -> dict[str, Any]:
        """The form of the tree: of a reading of no entry, so it is that of every reading."""
        forms = {}
        names = [name for name, _ in tree.items() if _is_column(tree, name)]
        for name, array in tree.arrays(names, entry_stop=0, how=dict).items():
            form = json.loads(array.layout.form.to_json())
            if not _has_values(form):
                continue
            try:
                branch = tree[name]
                forms[name] = _lazify_form(form, f"{name},!load", docstr=branch.title, typestr=branch.typename)
            except (CannotBeNanoEvents, ValueError) as error:
                warnings.warn(f"{plain(name)} is left out, as NanoEvents cannot hold it: {error}", stacklevel=2)
        return {
            "class": "RecordArray",
            "fields": list(forms),
            "contents": list(forms.values()),
            "parameters": {"__doc__": tree.title},
            "form_key": None,
            "typenames": tree.typenames(),
        }

    def preload(self, tree: Table[Any], names: Iterable[str]) -> None:
        """Reads several columns at once, on all threads of the mapping."""
        self._preloaded |= self._read(tree, list(names), self._start, self._stop)

    def get_column_handle(
        self, columnsource: Table[Any], name: str, allow_missing: bool
    ) -> tuple[Table[Any], str] | None:
        """The column; None if it may be missing, and is."""
        return None if allow_missing and name not in columnsource else (columnsource, name)

    def extract_column(
        self,
        columnhandle: tuple[Table[Any], str] | None,
        start: int,
        stop: int,
        allow_missing: bool,
        use_ak_forth: bool = False,  # noqa: ARG002
    ) -> Any:
        """The entries of a column as an awkward array, with a mask if it may be missing."""
        if columnhandle is None:
            index = np.full(stop - start, -1, np.int64)
            return ak.contents.IndexedOptionArray(ak.index.Index64(index), ak.contents.NumpyArray(np.array([], bool)))
        array = self._column(*columnhandle, start, stop)
        if allow_missing:
            index = np.arange(stop - start, dtype=np.int64)
            array = ak.Array(ak.contents.IndexedOptionArray(ak.index.Index64(index), array.layout))
        return array

    def _column(self, tree: Table[Any], name: str, start: int, stop: int) -> Any:
        if name in self._preloaded and (start, stop) == (self._start, self._stop):
            return self._preloaded[name]
        key = f"{start}-{stop}/{name}"
        if key not in self._columns:
            self._columns[key] = self._read(tree, [name], start, stop)[name]
            if len(self._columns) > KEPT_COLUMNS:
                self._columns.popitem(last=False)
        self._columns.move_to_end(key)
        return self._columns[key]

    def _read(self, tree: Table[Any], names: list[str], start: int, stop: int) -> Any:
        limits: dict[str, Any] = {"threads": self._threads, "memory": self._memory}
        arrays = tree.arrays(names, entry_start=start, entry_stop=stop, how=dict, **limits)
        return {name: ak.Array(_own_offsets(array.layout)) for name, array in arrays.items()}

    def __len__(self) -> int:
        return int(self._stop - self._start)

    def __iter__(self) -> Any:
        raise NotImplementedError("coffea asks for buffers by their keys")


def _is_column(tree: Table[Any], name: str) -> bool:
    """Whether NanoEvents has a column of this name: not with the signs of coffea's keys, nor, of an RNTuple, for a
    field inside another one or the collections that ROOT's importer adds."""
    if "," in name or "!" in name:
        warnings.warn(f"{plain(name)} is left out, as coffea's keys cannot have , or ! in a name", stacklevel=2)
        return False
    return not isinstance(tree, RNTuple) or not ("." in name or name.startswith("_collection"))


def _own_offsets(layout: Any) -> Any:
    """A layout with offsets that can be written to, as some of coffea's transformations hand them over by DLPack, which
    refuses other memory."""
    if isinstance(layout, ak.contents.ListOffsetArray):
        offsets = ak.index.Index64(np.array(layout.offsets.data))
        return ak.contents.ListOffsetArray(offsets, _own_offsets(layout.content), parameters=layout.parameters)
    if isinstance(layout, ak.contents.RecordArray):
        contents = [_own_offsets(part) for part in layout.contents]
        return ak.contents.RecordArray(contents, layout.fields, length=layout.length)
    return layout


def _has_values(form: dict[str, Any]) -> bool:
    """Whether all parts of a form have values: a class without members has none, and an undecoded branch is bytes.
    Such branches, and groups with one of them, are left out."""
    if form["class"] == "RecordArray":
        return bool(form["contents"]) and all(_has_values(part) for part in form["contents"])
    if form.get("parameters", {}).get("__array__") == "bytestring":
        return False
    return "content" not in form or _has_values(form["content"])
