"""Trees to fill. What they have in common with RNTuples is in `tables`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._shared.names import plain
from .tables import WritableTable, check_names, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class WritableTree(WritableTable):
    """A tree to fill: `tree.extend({"x": array, ...})`."""

    classname = "TTree"
    _is = "a tree"
    _column_is = "column"
    _lists_missing = False

    def __init__(
        self,
        core: _core.Writer,
        path: str,
        title: str,
        types: _core.Batch,
        names: dict[str, str | None],
        counter_name: Callable[[str], str],
        field_name: Callable[[str, str], str],
        layout: str,
    ) -> None:
        super().__init__(core, path, title, layout)
        self._field_name = field_name
        self._counter_name = counter_name
        self._typed = typed(names)
        specs, flat = self._specs(names, types, self._typed)
        self._number, self._counters = core.tree(path, title, specs, flat)
        self._columns = [name for name, _, _ in specs]

    def _add(self, names: dict[str, str | None], types: _core.Batch) -> None:
        whole = self._typed + typed(names)
        specs, flat = self._specs(names, types, whole)
        counters = self._core.add_columns(self._number, specs, flat)
        self._typed = whole
        self._columns = [*self._columns, *(name for name, _, _ in specs)]
        self._counters = self._counters | counters

    def _specs(
        self, names: Mapping[str, str | None], types: _core.Batch, whole: list[str]
    ) -> tuple[list[tuple[str, str, str | None]], _core.Batch]:
        """The columns of these types: name, counter, and C++ type if given; and a batch with the other types."""
        flat, origins = self._flat(types, whole)
        _check_counters(flat, self._counter_name)
        outer = dict(zip(flat.names, (name for name, _ in origins), strict=True))
        specs: list[tuple[str, str, str | None]] = []
        for name, typename in names.items():
            own = [name] if typename is not None else [one for one, above in outer.items() if above == name]
            specs += [(one, self._counter_name(name), typename) for one in own]
        return specs, flat

    def _as_stored(self, batch: _core.Batch) -> _core.Batch:
        return self._flat(batch, self._typed)[0]

    def _flat(self, batch: _core.Batch, whole: list[str]) -> tuple[_core.Batch, list[tuple[str, str | None]]]:
        flat, origins = batch.flat(whole)
        names = [name if part is None else self._field_name(name, part) for name, part in origins]
        check_names(names)
        return flat.renamed(names), origins


def _check_counters(batch: _core.Batch, counter_name: Callable[[str], str]) -> None:
    """Refuses lists whose lengths are not those that their counter says, before there is a tree."""
    from .._libraries import numpy as _numpy

    names = batch.names
    for place, name in enumerate(names):
        counter = counter_name(name)
        if counter not in names or (node := batch.node(place))[0] != "list":
            continue
        ends = _numpy.data(node[3][0], "i8")
        lengths, counted = ends[1:] - ends[:-1], _numpy.array(batch.node(names.index(counter)))
        if len(lengths) != len(counted) or (lengths != counted).any():
            raise ValueError(f"{plain(counter)} counts {plain(name)}, whose lists have other lengths")


def check_whole(batch: _core.Batch) -> None:
    """Refuses missing values, which no column of a tree has that is made of arrays."""
    gap = batch.gap()
    if gap is not None:
        ways = "fill them first (`filled`, `fillna`, `ak.fill_none`), or write an RNTuple, where they are std::optional"
        raise ValueError(f"column {plain(gap[0])} has {gap[1]} missing values, which a tree cannot hold: {ways}")
