"""Tables to fill: what trees and RNTuples have in common, and their fill contexts. `trees` and `ntuples` have what one
of them does alone."""

from __future__ import annotations

import collections.abc
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from .. import _core
from .. import compression as codecs
from .._shared.names import missing, plain
from ..verbs.calling import layout_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from types import TracebackType


class WritableTable:
    """A tree or an RNTuple to fill: `table.extend({"x": array, ...})`."""

    #: Its class in the file.
    classname: ClassVar[str]
    #: What it is called, and one of its columns.
    _is: ClassVar[str]
    _column_is: ClassVar[str]
    #: Whether records that may be missing are lists of none or one, except in columns of C++ types.
    _lists_missing: ClassVar[bool]

    #: Its number in the file, and its columns, of which some may be of C++ types, without counters.
    _number: int
    _columns: list[str]
    _typed: list[str]
    _counters: set[str]
    #: Entries that it has already in a file that is updated.
    _before: int = 0

    def __init__(self, core: _core.Writer, path: str, title: str, layout: str) -> None:
        self.path = path
        self.title = title
        self._core = core
        self._layout = layout
        self._codecs: dict[str, dict[str, Any]] = {}
        self._contexts: weakref.WeakSet[FillContext] = weakref.WeakSet()

    def __getitem__(self, name: str) -> WritableBranch:
        """A column."""
        if name not in self._columns:
            raise missing("column", name, self._columns, self)
        return WritableBranch(self, name)

    @property
    def compression(self) -> dict[str, Any]:
        """Codecs of columns, those of the layout left out. Set it to a codec for all columns, or to a dict of codecs by
        column, before the first entry."""
        return {name: codecs.of_setting(rule["compression"]) for name, rule in self._codecs.items()}

    @compression.setter
    def compression(self, given: Any) -> None:
        chosen = given if isinstance(given, collections.abc.Mapping) else dict.fromkeys(self._columns, given)
        for name in chosen:
            if name not in self._columns:
                raise missing("column", name, self._columns, self)
        self._codecs |= {name: {"compression": codecs.setting(codec)} for name, codec in chosen.items()}
        self._core.remake(self._number, layout_text(self._layout or None, {"column_set": self._codecs}))

    def __repr__(self) -> str:
        columns = f"{len(self._columns)} {self._column_is}s"
        return f"<{type(self).__name__} {plain(self.path)}: {self.num_entries} entries, {columns}>"

    @property
    def name(self) -> str:
        """The name, without directories."""
        return self.path.rpartition("/")[2]

    @property
    def num_entries(self) -> int:
        """Number of entries so far."""
        return self._before + self._core.entries(self._number)

    def keys(self) -> list[str]:
        """The columns, without counters."""
        return list(self._columns)

    def add_columns(self, columns: Mapping[str, Any]) -> None:
        """Adds columns to a table that is being filled: types by name, as for `WritableDirectory.mktree` and
        `mkrntuple`. From the next `extend` on they need data, too.

        Entries before have zeros, empty strings and empty lists, or no value where a value may be missing. A tree
        stores them; an RNTuple does not: its new fields are in the footer, as by ROOT's model extension. A fill context
        ends its cluster with the first entries that have the new columns, so that in the order of tasks the bytes do
        not depend on timing. Entries that came before this call are zero also where they lie later in the file.

        A name that exists, lists whose counter is a column already, and wrong types are errors that change nothing.
        """
        names, types = described(columns, self._lists_missing)
        if self._core.closed:
            raise ValueError(f"the file of {plain(self.path)} is closed")
        self._add(names, types)

    def _add(self, names: dict[str, str | None], types: _core.Batch) -> None:
        """Adds columns: C++ types by name where they are given, and a batch with the other types."""
        raise NotImplementedError

    def extend(self, data: Any) -> None:
        """Adds entries: arrays by name, of equal lengths; an awkward array of records, a DataFrame, an Arrow or polars
        table, or any other Arrow stream, such as an open tree.

        Counters are computed. Numbers are converted to the column's type by NumPy's rule `same_kind`: float64 to
        float32, but not to integers; integers that do not fit, and finite numbers beyond the range of float32, are an
        error. Missing values (masks of NumPy, nulls of Arrow, `NA` of pandas, None) are kept where the column may lack
        values (`"?float64"`, of an RNTuple), and an error elsewhere; NaN is a number. Several threads may call this at
        once: each fills clusters of its own, and clusters lie in the file in the order in which they were finished;
        entries of one thread keep the order of its calls. In a file in the order of tasks each call is the next task,
        and its clusters have no other entries. Entries are in the file once their cluster is: see `flush`.

        A wrong name, length or type is an error that changes nothing. Large data are filled in parts: an error after
        the first part abandons the output.
        """
        for batch in self._batches(data):
            self._fill(batch)

    def _batches(self, data: Any) -> Iterator[_core.Batch]:
        return batches(data, whole=self._typed if self._lists_missing else None)

    def fill_context(self, task: int | None = None) -> FillContext:
        """A fill context for one thread or task, with clusters of its own: `with tree.fill_context() as context:
        context.extend(data)`. In a file in the order of tasks `task`, counted from 0, is the position of its entries;
        the default is the next number. Clusters of later tasks wait in memory, and in a temporary file beside the
        output when the memory is used up while nobody fills the next task, so start tasks in that order if you can."""
        context = FillContext(self, self._core.context(self._number, task))
        self._contexts.add(context)
        return context

    def _fill(self, batch: _core.Batch) -> None:
        self._core.fill(self._number, self._checked(batch))

    def _checked(self, batch: _core.Batch) -> _core.Batch:
        """The batch as the table stores it, with data for each column."""
        stored = self._as_stored(batch)
        given = set(stored.names)
        for name in stored.names:
            if name not in self._columns and name not in self._counters:
                raise missing(self._column_is, name, self._columns, self)
        lacking = [name for name in self._columns if name not in given and name not in self._counters]
        if lacking:
            columns = f"{self._column_is}s without data"
            raise ValueError(f"{plain(self.path)} has {columns}: {', '.join(map(plain, lacking))}")
        return stored

    def _as_stored(self, batch: _core.Batch) -> _core.Batch:
        return batch

    def flush(self) -> None:
        """Ends the open clusters: all added entries are in the file, ready for `WritableFile.save`."""
        self._core.flush(self._number)


class WritableBranch:
    """A column of a tree to fill."""

    def __init__(self, tree: WritableTable, name: str) -> None:
        self._tree = tree
        #: The name.
        self.name = name

    def __repr__(self) -> str:
        return f"<WritableBranch {self.name!r} of {plain(self._tree.path)}>"

    @property
    def compression(self) -> Any:
        """Its codec, if one was set. It can be set before the first entry."""
        return self._tree.compression.get(self.name)

    @compression.setter
    def compression(self, codec: Any) -> None:
        self._tree.compression = {self.name: codec}


class FillContext:
    """The fill context of one thread or task. Finish it before the file is closed; the end of its `with` block does so.
    If the block ends with an exception, the output is abandoned, and other threads get a `ValueError`."""

    def __init__(self, tree: WritableTable, core: _core.Context) -> None:
        self._tree = tree
        self._core = core
        self._finished = False

    def extend(self, data: Any) -> None:
        """Adds entries, like `WritableTable.extend`."""
        for batch in self._tree._batches(data):
            self._core.fill(self._tree._checked(batch))

    def flush(self) -> None:
        """Ends the cluster."""
        self._core.flush()

    def finish(self) -> None:
        """Ends the last cluster; no more entries can be added. Does nothing if finished before."""
        if not self._finished:
            self._core.finish()
            self._finished = True

    @property
    def in_use(self) -> bool:
        """Whether a thread fills it now."""
        return self._core.in_use

    def metrics(self) -> dict[str, int]:
        """Counters: entries, and nanoseconds (`_ns`) of encoding, compressing, waiting for memory, and
        committing clusters."""
        return dict(self._core.metrics())

    def __enter__(self) -> FillContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self._core.abandon(f"{kind.__name__}: {error}")


def described(columns: Any, listed: bool) -> tuple[dict[str, str | None], _core.Batch]:
    """Types by name: C++ types where they are given, and a batch with the other types. `listed` is as
    for `input_arrays.column`."""
    from .._libraries import input_arrays

    if type(columns).__module__.startswith("awkward.forms"):
        record = columns.type
        if not getattr(record, "fields", None):
            raise TypeError(f"expected the form of a record, not {columns.type}")
        columns = {one: record.content(one) for one in record.fields}
    if not isinstance(columns, collections.abc.Mapping) or not columns:
        raise TypeError(f"expected types by name, not {columns!r}")
    arrays = next((name for name, kind in columns.items() if not input_arrays.is_type(kind)), None)
    if arrays is not None:
        raise TypeError(f"{arrays}: expected a type, such as 'float64' or 'var * float32', not an array")
    made = {one: input_arrays.empty(kind, listed) for one, kind in columns.items()}
    names = {one: None if made[one] is not None else str(columns[one]) for one in columns}
    return names, _core.Batch.of([(one, array) for one, array in made.items() if array is not None])


def batches(data: Any, with_types: bool = False, whole: Collection[str] | None = None) -> Iterator[_core.Batch]:
    """Entries in batches; `with_types` adds a batch in front that shows the columns. `whole` is as for
    `input_arrays.tables`."""
    from .._libraries import input_arrays

    for table in input_arrays.tables(data, whole):
        if isinstance(table, _core.Stream):
            empty = table.empty()
            check_names(empty.names)
            if with_types:
                yield empty
            yield from table
        else:
            check_names([name for name, _ in table])
            batch = _core.Batch.of(table)
            yield from [batch] * (2 if with_types else 1)


def check_names(names: list[str]) -> None:
    """Refuses columns of one name, of which only one would be written."""
    if len(set(names)) < len(names):
        raise ValueError(f"two columns are called {plain(next(name for name in names if names.count(name) > 1))}")


def typed(names: Mapping[str, str | None]) -> list[str]:
    """The columns of C++ types."""
    return [name for name, typename in names.items() if typename is not None]
