"""Writes files: trees and RNTuples from columns, in any layout."""

from __future__ import annotations

import collections.abc
import itertools
import os
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from .. import compression as codecs
from .._shared.names import missing, plain, public
from .._shared.places import as_text, local
from .._shared.signatures import spelled
from ..reading.request import MEMORY, bytes_of
from ..verbs.calling import layout_text
from ..verbs.options import Shape
from . import ending
from .delivery import Delivery, exists, is_elsewhere
from .ntuples import WritableNTuple
from .pending import Content, Pending
from .tables import WritableTable, batches, described
from .trees import WritableTree, check_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType
    from typing import IO, Literal, TypeAlias, Unpack

    from .._shared.names import Filter
    from ..reading.file import Directory
    from ..verbs.options import Layout, Place, Size

    #: A file, a URL, or an object with `write`.
    Output: TypeAlias = Place | IO[bytes]


class Making(Shape, total=False):
    """The keys of a layout, and options of uproot's writer that have no effect here."""

    initial_directory_bytes: int
    initial_streamers_bytes: int
    uuid_function: Any


class Filling(Making, total=False):
    """Options of `recreate`, without the limits of the work."""

    layout: Layout | None
    compression: Any
    classes: str | os.PathLike[str]
    order: Literal["arrival", "tasks"]
    auto_save: Size | None
    title: str


class Recreating(Filling, total=False):
    """Options of `recreate`."""

    threads: int
    memory: Size | None


#: Seconds that the end of the program waits for calls of other threads.
PATIENCE = 30.0
#: The options without effect.
UPROOT = set(Making.__annotations__) - set(Shape.__annotations__)


@spelled(Making)
def recreate(
    path: Output,
    *,
    layout: Layout | None = None,
    compression: Any = ...,
    classes: str | os.PathLike[str] = "",
    threads: int = 0,
    memory: Size | None = None,
    order: Literal["arrival", "tasks"] = "arrival",
    auto_save: Size | None = None,
    title: str = "",
    **shape: Unpack[Making],
) -> WritableFile:
    """A new file to write, for a `with` block, whose end closes the file. An existing file of that name is replaced
    once the new one is complete. If the block ends with an exception, no file appears, and an existing file stays.
    A URL that fsspec can write, and an object with `write`, get the complete file at the end.

    Without a block, and without `close`, the file is completed when nothing refers to it any more, or when the program
    ends, also by `sys.exit`, whatever its code. If an exception ends the program, Ctrl-C included, no file appears. A
    process that `os.fork` or `multiprocessing` makes has no part in the files of its parent: each call is a
    `ValueError` there, and its end does nothing to them.

    layout: a TOML file, its text, or a value of `layout()`. compression, container ("ttree", "rntuple": what
    `file[name] = data` and `mktree` make) and the other keys of a layout are those of `rewrite`, and override it.
    Defaults are ROOT's. `compression=None` compresses nothing, as in uproot, and `ZLIB(1)` and its kin are codecs, too.
    classes: C++ classes of columns, as C++: `"class Event { float x; std::vector<int> hits; };"`; or a
    ROOT file (a `Path`) that describes them.
    threads: number of threads that encode and compress, 0 for all cores; the bytes do not depend on it.
    memory: limit for all data that is filled, compressed or waiting.
    order: order of clusters from several threads: as they are finished ("arrival"), or by the
    numbers of their tasks, see `WritableTree.fill_context`, so that the bytes do not depend on timing ("tasks").
    initial_directory_bytes, initial_streamers_bytes, uuid_function: those of uproot, without effect.
    auto_save: save the trees' metadata after this number of bytes ("300 MB") or entries (100000).
    title: title of the file.
    """
    return WritableFile(path, _layout(layout, compression, shape), classes, (threads, memory, order), auto_save, title)


def means_of(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments of a `WritableFile` beside its path, from the options of `recreate`."""
    own = set(Recreating.__annotations__) - set(Making.__annotations__)
    shape = {name: value for name, value in options.items() if name not in own | UPROOT}
    layout = _layout(options.get("layout"), options.get("compression", ...), shape)
    work = (options.get("threads", 0), options.get("memory"), options.get("order", "arrival"))
    return layout, options.get("classes", ""), work, options.get("auto_save"), options.get("title", "")


def _layout(layout: Layout | None, compression: Any, shape: Mapping[str, Any]) -> str:
    known = ("compression", *Shape.__annotations__)
    shape = {name: value for name, value in shape.items() if name not in UPROOT}
    unknown = next((name for name in shape if name not in known), None)
    if unknown is not None:
        raise TypeError(f"recreate() got an unexpected keyword argument {unknown!r}; it has {', '.join(known)}")
    given = {} if compression is ... else {"compression": codecs.setting(compression)}
    return layout_text(layout, {**given, **shape})


@spelled(recreate)
def create(path: Output, **options: Unpack[Recreating]) -> WritableFile:
    """Like `recreate`, with its options, but an existing file is a `FileExistsError`."""
    if exists(path) if is_elsewhere(path) else Path(output(as_text(path))).exists():
        raise FileExistsError(f"{public(as_text(path))} exists; basketry.recreate replaces it")
    return recreate(path, **options)


class WritableDirectory:
    """A directory of a new file: `directory["tree"] = {"x": array, ...}`, `directory["dir/tree"]`."""

    def __init__(
        self,
        core: _core.Writer,
        file_path: str,
        content: Content,
        path: str = "",
    ) -> None:
        self.file_path = file_path
        self._path = path
        self._core = core
        self._content = content

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._shown}:/{plain(self._path)}>"

    @property
    def _shown(self) -> str:
        """What messages show of the file's path."""
        return public(self.file_path)

    def _check_open(self) -> None:
        if self._core.closed:
            raise ValueError(f"{self._shown} is closed")

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the directories from the top to this one."""
        return tuple(part for part in self._path.split("/") if part)

    def _full(self, name: str) -> str:
        parts = [part for part in f"{self._path}/{name}".split("/") if part]
        if not name.strip("/"):
            raise ValueError("the name is empty")
        return "/".join(parts)

    def _placed(self, name: str) -> tuple[str, list[int], str]:
        """The path of a name, the cycles that it has, and the one that is asked for, if one is."""
        bare, _, cycle = name.partition(";")
        path = self._full(bare)
        return path, self._content.cycles_of(path), cycle

    def _newest(self, name: str, *, alone: bool = False) -> str:
        """The path of a name. An older cycle is no place for changes, nor, if it is to be `alone`, one of several."""
        path, cycles, cycle = self._placed(name)
        if cycle and cycle not in map(str, cycles):
            raise missing("object", name, self.keys(), self)
        if cycle and len(cycles) > 1 and (alone or cycle != str(max(cycles))):
            numbers = ", ".join(map(str, sorted(cycles)))
            has = f"{self._shown} has the cycles {numbers} of {plain(name.partition(';')[0])}"
            raise ValueError(
                f"{has}: without a cycle all are meant, and `basketry rm` removes one (FILE:{plain(name)})"
            )
        return path

    def keys(self, *, recursive: bool = True, cycle: bool = True) -> list[str]:
        """The trees, other objects and directories in this directory and, if `recursive`, below, with `cycle` as
        `name;1`: the newest of several cycles."""
        above = f"{self._path}/" if self._path else ""
        paths = [path for path in self._content.classnames() if path.startswith(above) and path != self._path]
        names = {path.removeprefix(above): max(self._content.cycles_of(path), default=1) for path in paths}
        return [f"{name};{newest}" if cycle else name for name, newest in names.items() if recursive or "/" not in name]

    def classnames(self, *, recursive: bool = True, cycle: bool = True) -> dict[str, str]:
        """Class of each object, by the names of `keys`, which has the options, too."""
        known = self._content.classnames()
        return {name: known[self._full(name.partition(";")[0])] for name in self.keys(recursive=recursive, cycle=cycle)}

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        path, cycles, cycle = self._placed(name)
        return self._content.classname(path) is not None and (not cycle or cycle in map(str, cycles))

    def __getitem__(self, name: str) -> Any:
        """The tree, directory or object of that name. In an update trees and RNTuples that the file has already are
        extended (`file["tree"].extend(...)`)."""
        path = self._newest(name)
        if path in self._content.tables:
            return self._content.tables[path]
        pending = self._content.objects.get(path) or self._content.kept.get(path)
        if pending is None:
            raise missing("tree", name, self.keys(cycle=False), self)
        if pending.classname == "TDirectory":
            return WritableDirectory(self._core, self.file_path, self._content, path)
        if pending.is_table and self._content.extend is not None:
            return self._content.extend(path)
        return pending.read()

    def __setitem__(self, name: str, data: Any) -> None:
        """Makes a tree of these columns and entries, in any form that `WritableTree.extend` takes; an RNTuple if the
        file's layout says so. Strings, histograms (of `hist`, `boost_histogram`, `np.histogram`, PyROOT), graphs, and
        objects that were read are written as ROOT's objects: see `basketry.writing.identify`."""
        from . import identify

        if identify.is_writable(data):
            self._put(name, lambda path: Pending.of(path, identify.to_writable(data)))
            return
        if isinstance(data, collections.abc.Mapping) and data:
            from .._libraries import input_arrays

            if all(map(input_arrays.is_type, data.values())):
                raise ValueError(f"{plain(name)} has types and no entries: mktree and mkrntuple make it from types")
        if self._core.container(self._full(name)) == "rntuple":
            self.mkrntuple(name, data)
        else:
            self.mktree(name, data)

    def mkdir(self, name: str, **_: Any) -> WritableDirectory:
        """The directory of that name, made if absent."""
        path = self._full(name)
        self._check_open()
        self._content.check_free(path, self._shown, is_directory=True)
        self._enter(path)
        return WritableDirectory(self._core, self.file_path, self._content, path)

    def _put(self, name: str, pending: Callable[[str], Pending]) -> None:
        """Gives an object to the file, which replaces one of the same name that is not written yet."""
        path = self._full(name)
        self._check_open()
        self._content.check_free(path, self._shown, replaces=True)
        given = pending(path)
        if path in self._content.kept:
            self._content.drop(path)
        self._content.objects[path] = given
        self._enter(path.rpartition("/")[0])

    def _enter(self, path: str) -> None:
        """Notes a directory and those above it."""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            if parts[0]:
                self._content.objects.setdefault("/".join(parts[:depth]), Pending("TDirectory"))

    def __delitem__(self, name: str) -> None:
        """Takes an object or a directory back that was given to this file, or, in an update, deletes what the file has,
        trees and RNTuples as well. Those that are being filled stay."""
        path = self._newest(name, alone=True)
        self._check_open()
        filled = next((one for one in self._content.tables if one == path or one.startswith(f"{path}/")), None)
        if filled is not None:
            raise ValueError(f"{plain(filled)} is being filled, and stays in {self._shown}")
        if path not in self._content.objects and path not in self._content.kept:
            raise missing("object", name, self.keys(cycle=False), self)
        self._content.drop(path)

    def delete(self, name: str) -> None:
        """Deletes an object or a directory, as `del directory[name]` does."""
        del self[name]

    def items(self, *, recursive: bool = True, cycle: bool = True) -> list[tuple[str, Any]]:
        """The names of `keys`, which has the options, too, each with what is there. In an update trees and RNTuples of
        the file are those that `basketry.open` gives, to be read."""
        return [(name, self._shown_item(name)) for name in self.keys(recursive=recursive, cycle=cycle)]

    def values(self, *, recursive: bool = True) -> list[Any]:
        """What `items` has, without names."""
        return [value for _, value in self.items(recursive=recursive)]

    def _shown_item(self, name: str) -> Any:
        """What is there, to be looked at."""
        path = self._full(name.partition(";")[0])
        kept = self._content.kept.get(path)
        if kept is not None and kept.is_table and path not in self._content.tables and self._content.look is not None:
            return self._content.look(path)
        return self[name]

    def copy_from(
        self,
        source: Directory,
        *,
        filter_name: Filter = None,
        filter_classname: Filter = None,
        rename: Callable[[str], str] | Mapping[str, str] | None = None,
    ) -> None:
        """Copies objects that are no trees from a directory that is read, as they are; `rename` gives paths other
        names. `filter_name` and `filter_classname` are those of `Directory.keys`. A tree is a `NotImplementedError`:
        trees are copied by `basketry.rewrite` and `basketry.merge`."""
        for name, key in source._named(True, False, filter_name, filter_classname):
            if key.is_table:
                raise NotImplementedError(
                    f"{plain(name)} is a {key.class_}: basketry.rewrite and basketry.merge copy trees"
                )
            changed = rename(name) if callable(rename) else (rename or {}).get(name, name)
            if key.class_ in ("TDirectory", "TDirectoryFile"):
                self.mkdir(changed)
            else:
                copied = Pending.copy(key.class_, source.file_path, key.seek)
                self._put(changed, lambda _, copied=copied: copied)  # type: ignore[misc]

    def mktree(
        self,
        name: str,
        columns: Any,
        title: str = "",
        *,
        counter_name: Callable[[str], str] = lambda counted: f"n{counted}",
        field_name: Callable[[str, str], str] = lambda outer, inner: f"{outer}_{inner}" if outer else inner,
        initial_basket_capacity: int | None = None,  # noqa: ARG002
        resize_factor: float | None = None,  # noqa: ARG002
    ) -> WritableTree:
        """Makes a tree to extend. `columns` are types by name, or arrays with the first entries.

        A type is one of NumPy's (`"float64"`, `np.dtype((np.float32, 3))`), awkward's (`"var * float32"`, `"string"`),
        a dict of such for a record, or the name of a C++ type (`"vector<float>"`, `"std::string"`, `"Event"`,
        `"TClonesArray<Event>"`), whose arrays are lists and records.

        As in uproot, lists get a counter column `counter_name(column)`, and records become columns
        `field_name(record, part)`. Lists of lists, which uproot does not write, become vectors.
        `initial_basket_capacity` and `resize_factor` are those of uproot, without effect.
        """
        path, names, types, entries = self._described(name, columns, WritableTree)
        first = next(entries, None)
        if first is not None:
            # Before there is a tree.
            check_whole(first)
            entries = itertools.chain([first], entries)
        tree = WritableTree(self._core, path, title, types, names, counter_name, field_name, self._content.layout)
        self._content.tables[path] = tree
        self._enter(path.rpartition("/")[0])
        for batch in entries:
            tree._fill(batch)
        return tree

    def mkrntuple(self, name: str, columns: Any, description: str = "") -> WritableNTuple:
        """Makes an RNTuple to extend, with ROOT's defaults: clusters of 128 MiB, pages of 1 MiB, zstd at level 5.

        `columns` are types by name, or arrays with the first entries, as for `mktree`. Numbers, strings, lists, lists
        of lists, and fixed-size arrays become fields of their C++ types; records become records; values that may be
        missing become `std::optional`, and unions `std::variant`.
        """
        path, names, types, entries = self._described(name, columns, WritableNTuple)
        if any(typename is None for typename in names.values()):
            # A stream says of all columns that values may be missing: the first entries tell.
            first = next(entries, None)
            if first is not None:
                types, entries = first, itertools.chain([first], entries)
        ntuple = WritableNTuple(self._core, path, description, types, names, self._content.layout)
        self._content.tables[path] = ntuple
        self._enter(path.rpartition("/")[0])
        for batch in entries:
            ntuple._fill(batch)
        return ntuple

    def _described(
        self, name: str, columns: Any, kind: type[WritableTable]
    ) -> tuple[str, dict[str, str | None], _core.Batch, Iterator[_core.Batch]]:
        """Full path, C++ types by name where they are given, a batch with the other types, and the entries."""
        from .._libraries import input_arrays

        path = self._full(name)
        self._check_open()
        self._content.check_free(path, self._shown)
        entries: Iterator[_core.Batch] = iter(())
        is_mapping = isinstance(columns, collections.abc.Mapping) and bool(columns)
        if type(columns).__module__.startswith("awkward.forms") or (
            is_mapping and all(map(input_arrays.is_type, columns.values()))
        ):
            names, types = described(columns, kind._lists_missing)
        else:
            entries = batches(columns, with_types=True, whole=() if kind._lists_missing else None)
            types = next(entries)
            names = dict.fromkeys(types.names)
        if not names:
            raise ValueError(f"{kind._is} needs columns")
        return path, names, types, entries


class WritableFile(WritableDirectory):
    """A new file, which is its own top directory."""

    def __init__(
        self,
        path: Output,
        layout: str,
        classes: str | os.PathLike[str],
        means: tuple[int, Size | None, str],
        auto_save: Size | None,
        title: str,
    ) -> None:
        self._delivery = Delivery(path) if is_elsewhere(path) else None
        file_path = output(as_text(path)) if self._delivery is None else self._delivery.path
        threads, memory, order = means
        if order not in ("arrival", "tasks"):
            raise ValueError(f'order must be "arrival" or "tasks", not {order!r}')
        limit = MEMORY if memory is None else bytes_of(memory)
        entries = auto_save if isinstance(auto_save, int) else None
        bytes_ = _core.size(auto_save) if isinstance(auto_save, str) else None
        text, source = (classes, None) if isinstance(classes, str) else ("", os.fspath(classes))
        options: _core.WriterOptions = {
            "memory": limit,
            "threads": threads,
            "in_order": order == "tasks",
            "save_entries": entries,
            "save_bytes": bytes_,
            "title": title,
            "classes": text,
            "classes_file": source,
        }
        core = _core.Writer(file_path, layout, options)
        shown = file_path if self._delivery is None or hasattr(path, "write") else as_text(path)
        super().__init__(core, shown, Content(layout))
        ending.note(self)

    @property
    def compression(self) -> codecs.Codec | None:
        """The codec of trees and RNTuples. A change applies to those that are made after it."""
        return codecs.of_setting(tomllib.loads(self._content.layout).get("compression", 101))

    @compression.setter
    def compression(self, codec: codecs.Codec | str | None) -> None:
        self._content.layout = layout_text(self._content.layout or None, {"compression": codecs.setting(codec)})
        self._core.set_layout(self._content.layout)

    @property
    def closed(self) -> bool:
        """Whether the file was closed or abandoned."""
        return self._core.closed

    @property
    def is_own(self) -> bool:
        """Whether this process began the file. One that was forked from it can neither fill nor close the file."""
        return self._core.is_own

    @property
    def hidden_path(self) -> Path | None:
        """The file that is in work until this one is closed, and gets its name then; None after that. What was saved
        last (`save`, `auto_save`) can be read from it meanwhile, by other processes too, and after a crash."""
        return self._core.hidden_path

    def save(self) -> None:
        """Saves the metadata of all trees now, as `auto_save` does: entries up to here, without those of clusters that
        are not full, are readable from `hidden_path`."""
        self._core.save()

    def metrics(self) -> dict[str, int]:
        """Use of memory and time, over all threads: bytes, of which `queue_bytes` wait to be
        committed, nanoseconds (`_ns`), and the number of threads that wait for memory (`waiting`)."""
        return dict(self._core.metrics())

    def close(self) -> None:
        """Completes the file, which then gets its name; does nothing if closed before. Calls of other threads that fill
        it end first, and all fill contexts must be finished. In a forked process it is a `ValueError`."""
        if not self.closed:
            self._write_objects()
        self._core.close()
        self._send()

    def complete(self) -> None:
        """Finishes all fill contexts, and completes the file, which the end of the program does to a file that is open.
        A context that a thread uses for longer than half a minute is an error."""
        deadline = time.monotonic() + PATIENCE
        left = [context for table in self._content.tables.values() for context in table._contexts]
        while left:
            for context in left:
                if not context.in_use:
                    context.finish()
            left = [context for context in left if context.in_use]
            if left and time.monotonic() > deadline:
                raise ValueError("other threads are filling it")
            if left:
                time.sleep(0.001)
        self.close()

    def _send(self) -> None:
        delivery, self._delivery = self._delivery, None
        if delivery is not None:
            delivery.send()

    def _write_objects(self) -> None:
        for path, pending in self._content.objects.items():
            pending.write(self._core, path)

    def abandon(self, why: str = "it was abandoned") -> None:
        """Abandons the output."""
        self._core.abandon(why)
        delivery, self._delivery = self._delivery, None
        if delivery is not None:
            delivery.discard()

    def __enter__(self) -> WritableFile:
        return self

    def __del__(self) -> None:
        """Completes a file that is dropped, as uproot's is complete at any time."""
        if hasattr(self, "_core") and self._core.is_own:
            self.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon(f"{kind.__name__}: {error}")


def output(path: str) -> str:
    """A path on this machine; folders that are lacking are made, as uproot makes them."""
    path = local(path)
    if "://" not in path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    return path
