"""A ROOT file and the directories in it, as mappings from names to trees and RNTuples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from .handle import Handle
from .names import matcher, missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .names import Filter
    from .tree import Tree


class Key(NamedTuple):
    """The key of one object."""

    path: str
    cycle: int
    class_: str
    title: str
    #: Whether it is a tree or an RNTuple.
    is_table: bool


class Directory(Handle):
    """A directory of a file: `directory["tree"]`, `directory["dir/tree;2"]`, `directory["dir"]`.

    Only trees and RNTuples can be opened; other objects are listed.
    """

    def __init__(self, file_path: str, keys: list[Key], path: str = "") -> None:
        self.file_path = file_path
        self.path = path
        self._all = keys
        self._below = [key for key in keys if not path or key.path.startswith(f"{path}/")]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {_core.public_path(self.file_path)}:/{self.path}>"

    def keys(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> list[str]:
        """Names of all objects, as `dir/name;cycle`; a directory's objects follow its name."""
        return [name for name, _ in self._named(recursive, cycle, filter_name, filter_classname)]

    def classnames(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> dict[str, str]:
        """Class of each object, by the names of `keys`."""
        return {name: key.class_ for name, key in self._named(recursive, cycle, filter_name, filter_classname)}

    def _named(
        self, recursive: bool, cycle: bool, filter_name: Filter, filter_classname: Filter
    ) -> Iterator[tuple[str, Key]]:
        wants_name, wants_class = matcher(filter_name), matcher(filter_classname)
        for key in self._ordered(self.path):
            name = key.path.removeprefix(f"{self.path}/") if self.path else key.path
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
                if key.class_ in ("TDirectory", "TDirectoryFile") and key.path not in listed:
                    listed.add(key.path)
                    yield from walk(key.path)

        return walk(parent)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._below)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __getitem__(self, name: str) -> Tree | Any:
        """The tree, RNTuple or directory of that name; by default the newest cycle (`"tree;1"` names another).

        An unknown name is a `KeyError` with the nearest names; an object of another class is a `ValueError`.
        """
        from .tree import opened

        key = self._find(name)
        if key is None:
            raise missing("object", name, self.keys(cycle=";" in name), self)
        if key.is_table:
            table = _core.Table([(self.file_path, f"{key.path};{key.cycle}")])
            return opened(table, f"{_core.public_path(self.file_path)}:{key.path}")
        if key.class_ in ("TDirectory", "TDirectoryFile"):
            return Directory(self.file_path, self._all, key.path)
        where = _core.public_path(self.file_path)
        raise ValueError(f"{key.path} in {where} is a {key.class_}; only trees and RNTuples can be read")

    def _find(self, name: str) -> Key | None:
        wanted, _, cycle = name.strip("/").partition(";")
        path = f"{self.path}/{wanted}" if self.path else wanted
        found = [key for key in self._below if key.path == path and (not cycle or str(key.cycle) == cycle)]
        return max(found, key=lambda key: key.cycle, default=None)

    def tree(self) -> Tree:
        """The only tree or RNTuple; a `ValueError` if there are none or several."""
        paths = list(dict.fromkeys(key.path for key in self._below if key.is_table))
        if len(paths) != 1:
            has = f"trees {', '.join(paths)}: name one" if paths else "no tree and no RNTuple"
            raise ValueError(f"{self} has {has}")
        return self[paths[0].removeprefix(f"{self.path}/") if self.path else paths[0]]


class File(Directory):
    """A file, which is its own top directory."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        file_path = os.fspath(path)
        super().__init__(file_path, [Key(*line) for line in _core.keys(file_path)])
