"""A ROOT file and the directories in it, as mappings from names to trees and RNTuples."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._shared.handle import Handle, OfFile
from .._shared.names import matcher, missing, plain, public
from .._shared.signatures import spelled
from ..exceptions import SchemaDiffers
from . import notebook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from .._shared.names import Filter
    from .branches import Branch
    from .listing import ListingObjects
    from .table import RNTuple, Table, Tree


class Key(NamedTuple):
    """The key of one object."""

    path: str
    cycle: int
    class_: str
    title: str
    #: Whether it is a tree or an RNTuple.
    is_table: bool
    #: The offset of its record.
    seek: int


class Directory(Handle, OfFile):
    """A directory of a file: `directory["tree"]`, `directory["dir/tree;2"]`, `directory["dir"]`.

    Trees and RNTuples open as such, other objects as those of `basketry.objects`.
    """

    file_path: str

    def __init__(
        self,
        file_path: str,
        keys: list[Key],
        path: str = "",
        tables: dict[int, Table[Any]] | None = None,
        follow_urls: bool = False,
        top: File | None = None,
    ) -> None:
        self.file_path = file_path
        self._top = top
        #: Whether URLs in the file are followed.
        self._follow_urls = follow_urls
        self._path = path
        self._all = keys
        #: Trees and RNTuples that were opened, by the offset of their keys.
        self._tables: dict[int, Table[Any]] = {} if tables is None else tables
        self._below = [key for key in keys if not path or key.path.startswith(f"{path}/")]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {public(self.file_path)}:/{plain(self._path)}>"

    def _repr_html_(self) -> str:
        """A table of the objects, for notebooks."""
        named = list(self._named(True, True, None, None))
        lines = ((name, key.class_, key.title) for name, key in named)
        return notebook.table(repr(self)[1:-1], ("name", "class", "title"), lines, len(named))

    def _ipython_key_completions_(self) -> list[str]:
        """What IPython offers after `[`: names without cycles."""
        return list(dict.fromkeys(self.keys(cycle=False)))

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the directories from the top to this one."""
        return tuple(part for part in self._path.split("/") if part)

    @property
    def object_path(self) -> str:
        """The path in the file."""
        return f"/{self._path}"

    @property
    def file(self) -> File:
        """The file."""
        return self._top or File(self.file_path, follow_urls=self._follow_urls)

    @property
    def parent(self) -> Directory | None:
        """The directory above; None at the top."""
        above = self._path.rpartition("/")[0]
        if not above:
            return self.file if self._path else None
        return Directory(self.file_path, self._all, above, self._tables, self._follow_urls, self.file)

    @property
    def classname(self) -> str:
        """The C++ class."""
        return "TDirectory"

    @property
    def name(self) -> str:
        """The name, without directories; the file's path at the top."""
        return self._path.rpartition("/")[2] or self.file_path

    def keys(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> list[str]:
        """Names of all objects, as `dir/name;cycle`; a directory's objects follow its name.

        `recursive` lists directories below, too; without `cycle` names have no `;1`. `filter_name` and
        `filter_classname` are a glob, "/regex/i", a function, or several of these.
        """
        return [name for name, _ in self._named(recursive, cycle, filter_name, filter_classname)]

    def classnames(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> dict[str, str]:
        """Class of each object, by the names of `keys`, which has the options, too."""
        return {name: key.class_ for name, key in self._named(recursive, cycle, filter_name, filter_classname)}

    def _named(
        self, recursive: bool, cycle: bool, filter_name: Filter, filter_classname: Filter
    ) -> Iterator[tuple[str, Key]]:
        wants_name, wants_class = matcher(filter_name), matcher(filter_classname)
        for key in self._ordered(self._path):
            name = key.path.removeprefix(f"{self._path}/") if self._path else key.path
            if not recursive and "/" in name:
                continue
            if (wants_name is None or wants_name(name)) and (wants_class is None or wants_class(key.class_)):
                yield (f"{name};{key.cycle}" if cycle else name), key

    def _ordered(self, parent: str) -> Iterator[Key]:
        """Depth first: the file's list has each directory complete."""
        inside: dict[str, list[Key]] = {}
        for key in self._below:
            inside.setdefault(key.path.rpartition("/")[0], []).append(key)
        listed = set()

        def walk(directory: str) -> Iterator[Key]:
            for key in inside.get(directory, ()):
                yield key
                is_directory = key.class_ in ("TDirectory", "TDirectoryFile")
                if is_directory and key.path != directory and key.path not in listed:
                    listed.add(key.path)
                    yield from walk(key.path)

        return walk(parent)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._below)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    @spelled(keys)
    def items(self, **listing: Unpack[ListingObjects]) -> list[tuple[str, Any]]:
        """Names and objects; options are those of `keys`."""
        return list(self.iteritems(**listing))

    @spelled(keys)
    def iteritems(self, **listing: Unpack[ListingObjects]) -> Iterator[tuple[str, Any]]:
        """Names and objects, which are read one by one."""
        options: ListingObjects = {"recursive": True, "cycle": True, "filter_name": None, "filter_classname": None}
        for name, key in self._named(**(options | listing)):
            yield name, self._opened(key)

    @spelled(keys)
    def values(self, **listing: Unpack[ListingObjects]) -> list[Any]:
        """The objects; options are those of `keys`."""
        return list(self.itervalues(**listing))

    @spelled(keys)
    def iterkeys(self, **listing: Unpack[ListingObjects]) -> Iterator[str]:
        """Names; options are those of `keys`."""
        return iter(self.keys(**listing))

    @spelled(keys)
    def itervalues(self, **listing: Unpack[ListingObjects]) -> Iterator[Any]:
        """The objects, which are read one by one; options are those of `keys`."""
        return (one for _, one in self.iteritems(**listing))

    @spelled(keys)
    def iterclassnames(self, **listing: Unpack[ListingObjects]) -> Iterator[tuple[str, str]]:
        """Names and classes."""
        return iter(self.classnames(**listing).items())

    def get(self, name: str, default: Any = None) -> Opened | Any:
        """The object of that name, or the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def key(self, name: str) -> Key:
        """The key of that name; an unknown one is a `KeyError` with the nearest names."""
        key = self._find(name)
        if key is None:
            raise missing("object", name, self.keys(cycle=";" in name), self)
        return key

    def classname_of(self, name: str) -> str:
        """The class of the object of that name; an unknown one is a `KeyError`."""
        return self.key(name).class_

    def title_of(self, name: str) -> str:
        """The title of the object of that name; an unknown one is a `KeyError`."""
        return self.key(name).title

    def __getitem__(self, name: str) -> Opened | Any:
        """The tree, RNTuple, directory or other object of that name; by default the newest cycle (`"tree;1"` names
        another). `"tree/branch"` and `"tree:branch"` are branches.

        An unknown name is a `KeyError` with the nearest names.
        """
        key = self._find(name)
        if key is not None:
            return self._opened(key)
        for at in (place for place, letter in enumerate(name) if letter in "/:"):
            above = self._find(name[:at])
            if above is not None and above.is_table:
                return self._opened(above)[name[at + 1 :].lstrip("/")]
        raise missing("object", name, self.keys(cycle=";" in name), self)

    def _opened(self, key: Key) -> Any:
        from .table import opened

        if key.is_table:
            if key.seek not in self._tables:
                inputs = [(self.file_path, f"{key.path};{key.cycle}")]
                made = opened(inputs, (), self._follow_urls, f"{_core.public_path(self.file_path)}:{key.path}")
                self._tables[key.seek] = made
            return self._tables[key.seek]
        if key.class_ in ("TDirectory", "TDirectoryFile"):
            return Directory(self.file_path, self._all, key.path, self._tables, self._follow_urls, self.file)
        from .. import objects

        return objects.opened(self.file_path, key.seek)

    def _release(self) -> None:
        for table in self._tables.values():
            table._release()

    def _find(self, name: str) -> Key | None:
        # As it is listed, whatever characters it has.
        prefix = f"{self._path}/" if self._path else ""
        exact = [key for key in self._below if f"{prefix}{name}" in (key.path, f"{key.path};{key.cycle}")]
        # A directory may have a key without a name in it.
        if exact and not name.endswith("/"):
            return max(exact, key=lambda key: key.cycle)
        # A name may be empty.
        parts = [part for part in name.split("/") if part] or [""]
        cycle = ""
        for place, part in enumerate(parts):
            # A name may have a semicolon; a cycle is a number behind one.
            body, mark, cycle = part.rpartition(";")
            if mark and cycle.isdigit():
                parts[place] = body
            else:
                cycle = ""
        wanted = "/".join(parts)
        path = f"{self._path}/{wanted}" if self._path else wanted
        found = [key for key in self._below if key.path == path and (not cycle or str(key.cycle) == cycle)]
        return max(found, key=lambda key: key.cycle, default=None)

    def tree(self) -> Tree | RNTuple:
        """The only tree or RNTuple; a `ValueError` if there are none or several."""
        paths = list(dict.fromkeys(key.path for key in self._below if key.is_table))
        if len(paths) != 1:
            has = f"trees {', '.join(map(plain, paths))}: name one" if paths else "no tree and no RNTuple"
            raise ValueError(f"{self} has {has}")
        return self[paths[0].removeprefix(f"{self._path}/") if self._path else paths[0]]


class File(Directory):
    """A file, which is its own top directory."""

    def __init__(self, path: str | os.PathLike[str], *, follow_urls: bool = False) -> None:
        file_path = os.fspath(path)
        super().__init__(file_path, [Key(*line) for line in _core.keys(file_path)], follow_urls=follow_urls)

    @property
    def file(self) -> File:
        """This file."""
        return self

    @property
    def root_directory(self) -> File:
        """The directory at the top, which is the file itself."""
        return self


@contextmanager
def naming(inputs: Sequence[tuple[str, str | None]]) -> Iterator[None]:
    """A `KeyError` with the nearest names, where a file lacks its tree."""
    try:
        yield
    except SchemaDiffers:
        raise
    except ValueError:
        for path, tree in inputs:
            if tree and tree not in (file := File(path)):
                raise missing("tree", tree, file.keys(cycle=False), file) from None
        raise


if TYPE_CHECKING:

    class Opened(Tree, Branch):  # type: ignore[misc]
        """What a path means only the file knows. To type checkers it is a tree or a branch, as most are, which may have
        further methods; a variable of another class takes it by `typing.cast`."""

        # Directories and histograms have these, too.
        tree: Any
        errors: Any

        def __getitem__(self, where: Any) -> Opened | Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def get(self, where: str, default: Any = None) -> Opened | Any: ...
        def keys(self, **listing: Any) -> list[str]: ...
        def values(self, *flow: Any, **listing: Any) -> Any: ...
        def items(self, **listing: Any) -> list[tuple[str, Any]]: ...
        def iterkeys(self, **listing: Any) -> Iterator[str]: ...
        def itervalues(self, **listing: Any) -> Iterator[Any]: ...
        def iteritems(self, **listing: Any) -> Iterator[tuple[str, Any]]: ...
