"""RNTuples to fill. What they have in common with trees is in `tables`."""

from __future__ import annotations

from .. import _core
from .tables import WritableTable, typed


class WritableNTuple(WritableTable):
    """An RNTuple to fill: `ntuple.extend({"x": array, ...})`."""

    classname = "ROOT::RNTuple"
    _is = "an RNTuple"
    _column_is = "field"
    _lists_missing = True

    def __init__(
        self,
        core: _core.Writer,
        path: str,
        description: str,
        types: _core.Batch,
        names: dict[str, str | None],
        layout: str,
    ) -> None:
        super().__init__(core, path, description, layout)
        self._columns = list(names)
        self._counters = set()
        self._typed = typed(names)
        self._number = core.ntuple(path, description, list(names.items()), types)

    def _add(self, names: dict[str, str | None], types: _core.Batch) -> None:
        self._core.add_fields(self._number, list(names.items()), types)
        self._columns = [*self._columns, *names]
        self._typed = self._typed + typed(names)

    @property
    def description(self) -> str:
        """The description of the RNTuple."""
        return self.title
