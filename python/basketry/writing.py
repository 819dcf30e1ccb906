"""Writes files: trees and RNTuples from columns, in any layout."""

from __future__ import annotations

import collections.abc
import itertools
import os
from typing import TYPE_CHECKING, Any

from . import _core
from .names import missing
from .request import MEMORY, bytes_of
from .verbs import Shape, layout_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Literal, Unpack

    from .verbs import Layout, Place, Size


def recreate(
    path: Place,
    *,
    layout: Layout | None = None,
    compression: Any = None,
    classes: str | os.PathLike[str] = "",
    threads: int = 0,
    memory: Size | None = None,
    order: Literal["arrival", "tasks"] = "arrival",
    auto_save: Size | None = None,
    title: str = "",
    **shape: Unpack[Shape],
) -> WritableFile:
    """A new file to write, for a `with` block, whose end closes the file. An existing file of that name is replaced
    once the new one is complete. If the block ends with an exception, no file appears, and an existing file stays.

    layout: a TOML file, its text, or a value of `layout()`. compression, container ("ttree", "rntuple": what
    `file[name] = data` and `mktree` make), cluster, basket (of an RNTuple: page size), encoding, basket_memory,
    one_basket_per_cluster, memory_ratio, split_level (99: as deep as ROOT goes), streaming ("object-wise",
    "member-wise"), tree_set, column_set: keys of the layout, as for `rewrite`, which override it. Defaults are
    ROOT's.
    classes: C++ classes of columns, as C++: `"class Event { float x; std::vector<int> hits; };"`; or a
    ROOT file (a `Path`) that describes them.
    threads: number of threads that encode and compress, 0 for all cores; the bytes do not depend on it.
    memory: limit for all data that is filled, compressed or waiting.
    order: order of clusters from several threads: as they are finished ("arrival"), or by the
    numbers of their tasks, see `WritableTree.fill_context`, so that the bytes do not depend on timing ("tasks").
    auto_save: save the trees' metadata after this number of bytes ("300 MB") or entries (100000).
    """
    return WritableFile(path, _layout(layout, compression, shape), classes, (threads, memory, order), auto_save, title)


def _layout(layout: Layout | None, compression: Any, shape: Shape) -> str:
    known = ("compression", *Shape.__annotations__)
    unknown = next((name for name in shape if name not in known), None)
    if unknown is not None:
        raise TypeError(f"recreate() got an unexpected keyword argument {unknown!r}; it has {', '.join(known)}")
    # uproot's classes of codecs have ROOT's number.
    return layout_text(layout, {"compression": getattr(compression, "code", compression), **shape})


class WritableTree:
    """A tree to fill: `tree.extend({"x": array, ...})`."""

    def __init__(
        self,
        core: _core.Writer,
        path: str,
        title: str,
        types: _core.Batch,
        names: dict[str, str | None],
        counter_name: Callable[[str], str],
        field_name: Callable[[str, str], str],
    ) -> None:
        self.path = path
        self.title = title
        self._core = core
        self._whole = [name for name, typename in names.items() if typename is not None]
        self._field_name = field_name
        flat, origins = self._flat(types)
        outer = dict(zip(flat.names, (name for name, _ in origins), strict=True))
        specs: list[tuple[str, str, str | None]] = []
        for name, typename in names.items():
            own = [name] if typename is not None else [one for one, above in outer.items() if above == name]
            specs += [(one, counter_name(name), typename) for one in own]
        self._number, counters = core.tree(path, title, specs, flat)
        self._columns = [name for name, _, _ in specs]
        self._counters = counters

    def __repr__(self) -> str:
        return f"<WritableTree {self.path}: {self.num_entries} entries, {len(self._columns)} columns>"

    @property
    def name(self) -> str:
        """The name, without directories."""
        return self.path.rpartition("/")[2]

    @property
    def num_entries(self) -> int:
        """Number of entries so far."""
        return self._core.entries(self._number)

    def keys(self) -> list[str]:
        """The columns, without counters."""
        return list(self._columns)

    def extend(self, data: Any) -> None:
        """Adds entries: arrays by name, of equal lengths; an awkward array of records, a DataFrame, an Arrow or polars
        table, or any other Arrow stream, such as an open tree.

        Counters are computed. Numbers are converted to the column's type by NumPy's rule `same_kind`: float64 to
        float32, but not to integers; integers that do not fit are an error. Several threads may call this at once: each
        fills clusters of its own, and clusters lie in the file in the order in which they were finished; entries of one
        thread keep the order of its calls. In a file in the order of tasks each call is the next task, and its clusters
        have no other entries. Entries are in the file once their cluster is: see `flush`.

        A wrong name or length is an error that changes nothing. An array that does not fit its column abandons
        the output.
        """
        for batch in _batches(data):
            self._fill(batch)

    def fill_context(self, task: int | None = None) -> FillContext:
        """A fill context for one thread or task, with clusters of its own: `with tree.fill_context() as context:
        context.extend(data)`. In a file in the order of tasks `task`, counted from 0, is the position of its entries;
        the default is the next number. Start tasks in that order: clusters of later tasks wait in
        memory."""
        return FillContext(self, self._core.context(self._number, task))

    def _fill(self, batch: _core.Batch) -> None:
        self._core.fill(self._number, self._checked(batch))

    def _checked(self, batch: _core.Batch) -> _core.Batch:
        flat, _ = self._flat(batch)
        given = set(flat.names)
        for name in flat.names:
            if name not in self._columns and name not in self._counters:
                raise missing("column", name, self._columns, self)
        lacking = [name for name in self._columns if name not in given and name not in self._counters]
        if lacking:
            raise ValueError(f"{self.path} has columns without data: {', '.join(lacking)}")
        return flat

    def flush(self) -> None:
        """Ends the open clusters: all added entries are in the file, ready for `WritableFile.save`."""
        self._core.flush(self._number)

    def _flat(self, batch: _core.Batch) -> tuple[_core.Batch, list[tuple[str, str | None]]]:
        flat, origins = batch.flat(self._whole)
        names = [name if part is None else self._field_name(name, part) for name, part in origins]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two columns are called {twice}")
        return flat.renamed(names), origins


class WritableNtuple(WritableTree):
    """An RNTuple to fill: `ntuple.extend({"x": array, ...})`."""

    def __init__(
        self, core: _core.Writer, path: str, description: str, types: _core.Batch, names: dict[str, str | None]
    ) -> None:
        self.path = path
        self.title = description
        self._core = core
        self._columns = list(names)
        self._counters = set()
        self._number = core.ntuple(path, description, list(names.items()), types)

    def __repr__(self) -> str:
        return f"<WritableNtuple {self.path}: {self.num_entries} entries, {len(self._columns)} fields>"

    @property
    def description(self) -> str:
        """The description of the RNTuple."""
        return self.title

    def _checked(self, batch: _core.Batch) -> _core.Batch:
        given = set(batch.names)
        for name in batch.names:
            if name not in self._columns:
                raise missing("field", name, self._columns, self)
        lacking = [name for name in self._columns if name not in given]
        if lacking:
            raise ValueError(f"{self.path} has fields without data: {', '.join(lacking)}")
        return batch


class FillContext:
    """The fill context of one thread or task. Finish it before the file is closed; the end of its `with` block does so.
    If the block ends with an exception, the output is abandoned, and other threads get a `ValueError`."""

    def __init__(self, tree: WritableTree, core: _core.Context) -> None:
        self._tree = tree
        self._core = core
        self._finished = False

    def extend(self, data: Any) -> None:
        """Adds entries, like `WritableTree.extend`."""
        for batch in _batches(data):
            self._core.fill(self._tree._checked(batch))

    def flush(self) -> None:
        """Ends the cluster."""
        self._core.flush()

    def finish(self) -> None:
        """Ends the last cluster; no more entries can be added. Does nothing if finished before."""
        if not self._finished:
            self._core.finish()
            self._finished = True

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


class WritableDirectory:
    """A directory of a new file: `directory["tree"] = {"x": array, ...}`, `directory["dir/tree"]`."""

    def __init__(self, core: _core.Writer, file_path: str, trees: dict[str, WritableTree], path: str = "") -> None:
        self.file_path = file_path
        self.path = path
        self._core = core
        self._trees = trees

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.file_path}:/{self.path}>"

    def _full(self, name: str) -> str:
        parts = [part for part in f"{self.path}/{name}".split("/") if part]
        if not name.strip("/"):
            raise ValueError("the name is empty")
        return "/".join(parts)

    def keys(self) -> list[str]:
        """The trees in this directory and below."""
        above = f"{self.path}/" if self.path else ""
        return [path.removeprefix(above) for path in self._trees if path.startswith(above)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._full(name) in self._trees

    def __getitem__(self, name: str) -> WritableTree:
        """The existing tree of that name."""
        found = self._trees.get(self._full(name))
        if found is None:
            raise missing("tree", name, self.keys(), self)
        return found

    def __setitem__(self, name: str, data: Any) -> None:
        """Makes a tree of these columns and entries, in any form that `WritableTree.extend` takes; an RNTuple if the
        file's layout says so."""
        if self._core.container(self._full(name)) == "rntuple":
            self.mkrntuple(name, data)
        else:
            self.mktree(name, data)

    def mkdir(self, name: str) -> WritableDirectory:
        """The directory of that name, made if absent."""
        path = self._full(name)
        self._core.mkdir(path)
        return WritableDirectory(self._core, self.file_path, self._trees, path)

    def mktree(
        self,
        name: str,
        columns: Any,
        title: str = "",
        *,
        counter_name: Callable[[str], str] = lambda counted: f"n{counted}",
        field_name: Callable[[str, str], str] = lambda outer, inner: f"{outer}_{inner}",
    ) -> WritableTree:
        """Makes a tree to extend. `columns` are types by name, or arrays with the first entries.

        A type is one of NumPy's (`"float64"`, `np.dtype((np.float32, 3))`), awkward's (`"var * float32"`, `"string"`),
        a dict of such for a record, or the name of a C++ type (`"vector<float>"`, `"std::string"`, `"Event"`,
        `"TClonesArray<Event>"`), whose arrays are lists and records.

        As in uproot, lists get a counter column `counter_name(column)`, and records become columns
        `field_name(record, part)`. Lists of lists, which uproot does not write, become vectors.
        """
        path, names, types, batches = self._described(name, columns, "a tree")
        tree = WritableTree(self._core, path, title, types, names, counter_name, field_name)
        self._trees[path] = tree
        for batch in batches:
            tree._fill(batch)
        return tree

    def mkrntuple(self, name: str, columns: Any, description: str = "") -> WritableNtuple:
        """Makes an RNTuple to extend, with ROOT's defaults: clusters of 128 MiB, pages of 1 MiB, zstd at level 5.

        `columns` are types by name, or arrays with the first entries, as for `mktree`. Numbers, strings, lists, lists
        of lists, and fixed-size arrays become fields of their C++ types; records become records; values that may be
        missing become `std::optional`, and unions `std::variant`.
        """
        path, names, types, batches = self._described(name, columns, "an RNTuple")
        if any(typename is None for typename in names.values()):
            # A stream says of all columns that values may be missing: the first entries tell.
            first = next(batches, None)
            if first is not None:
                types, batches = first, itertools.chain([first], batches)
        ntuple = WritableNtuple(self._core, path, description, types, names)
        self._trees[path] = ntuple
        for batch in batches:
            ntuple._fill(batch)
        return ntuple

    def _described(
        self, name: str, columns: Any, what: str
    ) -> tuple[str, dict[str, str | None], _core.Batch, Iterator[_core.Batch]]:
        """Full path, C++ types by name where they are given, a batch with the other types, and the entries."""
        from . import _input_arrays

        path = self._full(name)
        if path in self._trees:
            raise ValueError(f"{self.file_path} already has a tree or RNTuple {path}")
        batches: Iterator[_core.Batch] = iter(())
        if (
            isinstance(columns, collections.abc.Mapping)
            and columns
            and all(map(_input_arrays.is_type, columns.values()))
        ):
            arrays = {one: _input_arrays.empty(kind) for one, kind in columns.items()}
            names = {one: None if arrays[one] is not None else str(columns[one]) for one in columns}
            types = _core.Batch.of([(one, array) for one, array in arrays.items() if array is not None])
        else:
            batches = _batches(columns, with_types=True)
            types = next(batches)
            names = dict.fromkeys(types.names)
        if not names:
            raise ValueError(f"{what} needs columns")
        return path, names, types, batches


class WritableFile(WritableDirectory):
    """A new file, which is its own top directory."""

    def __init__(
        self,
        path: Place,
        layout: str,
        classes: str | os.PathLike[str],
        means: tuple[int, Size | None, str],
        auto_save: Size | None,
        title: str,
    ) -> None:
        file_path = os.fspath(path)
        threads, memory, order = means
        if order not in ("arrival", "tasks"):
            raise ValueError(f'order must be "arrival" or "tasks", not {order!r}')
        limit = MEMORY if memory is None else bytes_of(memory)
        entries = auto_save if isinstance(auto_save, int) else None
        bytes_ = _core.size(auto_save) if isinstance(auto_save, str) else None
        text, source = (classes, None) if isinstance(classes, str) else ("", os.fspath(classes))
        work = (limit, threads, order == "tasks")
        core = _core.Writer(file_path, layout, (work, (entries, bytes_), title, text, source))
        super().__init__(core, file_path, {})

    @property
    def closed(self) -> bool:
        """Whether the file was closed or abandoned."""
        return self._core.closed

    def save(self) -> None:
        """Saves the metadata of all trees now, as `auto_save` does. After a crash all entries up to here are readable
        from the hidden file that is in use until the file is closed."""
        self._core.save()

    def metrics(self) -> dict[str, int]:
        """Use of memory and time, over all threads: bytes, of which `queue_bytes` wait to be
        committed, nanoseconds (`_ns`), and the number of threads that wait for memory (`waiting`)."""
        return dict(self._core.metrics())

    def close(self) -> None:
        """Completes the file, which then gets its name; does nothing if closed before."""
        self._core.close()

    def abandon(self, why: str = "it was abandoned") -> None:
        """Abandons the output."""
        self._core.abandon(why)

    def __enter__(self) -> WritableFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon(f"{kind.__name__}: {error}")


def _batches(data: Any, with_types: bool = False) -> Iterator[_core.Batch]:
    """Entries in batches; `with_types` adds an empty batch in front that shows the columns."""
    from . import _input_arrays

    for table in _input_arrays.tables(data):
        if isinstance(table, _core.Stream):
            if with_types:
                yield table.empty()
            yield from table
        else:
            batch = _core.Batch.of(table)
            yield from [batch] * (2 if with_types else 1)
