"""What a new file has so far: its tables, and the objects that are given to it and not written yet. Until the file is
closed these can be read, replaced and deleted."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._shared.names import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import _core
    from ..objects import Object
    from .tables import WritableTable


@dataclass(frozen=True)
class Pending:
    """An object to write, or a directory, which is written at once."""

    classname: str
    #: A file and the offset of a key in it: the record to copy.
    origin: tuple[str, int] | None = None
    #: The object in memory, and its members as they were when it was given.
    thing: Any = None
    members: Any = None
    #: Whether it is a tree or an RNTuple of an updated file.
    is_table: bool = False

    @classmethod
    def of(cls, path: str, thing: Object) -> Pending:
        """An object in memory, or one that was read, which is copied as it is."""
        from ..objects import stored

        members = None if thing.origin is not None else stored.record(thing)[1]
        if isinstance(members, dict) and "fName" in members:
            members["fName"] = path.rpartition("/")[2]
            if "fName" in thing.members:
                # The object that was given keeps its own name.
                thing = copy.copy(thing)
                thing.members = {**thing.members, "fName": members["fName"]}
        return cls(thing.classname, thing.origin, thing, members)

    @classmethod
    def copy(cls, classname: str, file_path: str, offset: int, is_table: bool = False) -> Pending:
        """A record of another file."""
        return cls(classname, (file_path, offset), is_table=is_table)

    def read(self) -> Any:
        """The object."""
        from ..objects import opened

        return opened(*self.origin) if self.thing is None and self.origin is not None else self.thing

    def write(self, core: _core.Writer, path: str) -> None:
        """Writes the object."""
        if self.classname == "TDirectory":
            core.mkdir(path)
        elif self.origin is not None:
            core.copy(path, *self.origin)
        elif self.members is not None:
            from ..objects import stored

            stored.store(core, path, self.classname, self.members)


@dataclass
class Content:
    """What a file has, by path. All its directories share it."""

    #: The layout of what is made from now on.
    layout: str
    #: The trees and RNTuples that are filled.
    tables: dict[str, WritableTable] = field(default_factory=dict)
    #: The other objects, and directories. They are written when the file is closed.
    objects: dict[str, Pending] = field(default_factory=dict)
    #: What an updated file has already, and keeps.
    kept: dict[str, Pending] = field(default_factory=dict)
    #: The cycles of what it has.
    cycles: dict[str, list[int]] = field(default_factory=dict)
    #: What it had, and does not keep.
    gone: set[str] = field(default_factory=set)
    #: Gives a tree or RNTuple that is kept, to be extended.
    extend: Callable[[str], WritableTable] | None = None
    #: Opens one to be read.
    look: Callable[[str], Any] | None = None

    def drop(self, path: str) -> None:
        """Takes what is at a path out, with all below."""
        below = [one for one in self.classnames() if one == path or one.startswith(f"{path}/")]
        if path in self.kept:
            self.gone = {one for one in self.gone if not one.startswith(f"{path}/")} | {path}
        for one in below:
            self.objects.pop(one, None)
            self.kept.pop(one, None)

    def classname(self, path: str) -> str | None:
        """The class of what is at a path, if anything is."""
        if path in self.tables:
            return self.tables[path].classname
        found = self.objects.get(path) or self.kept.get(path)
        return None if found is None else found.classname

    def cycles_of(self, path: str) -> list[int]:
        """The cycles of what is at a path. What is new gets the first."""
        own = self.classname(path) is not None
        return self.cycles.get(path, [1]) if path in self.kept else [1] if own else []

    def classnames(self) -> dict[str, str]:
        """The classes of all, by path."""
        paths = dict.fromkeys([*self.kept, *self.objects, *self.tables])
        return {path: self.classname(path) or "" for path in paths}

    def check_free(self, path: str, file_path: str, *, is_directory: bool = False, replaces: bool = False) -> None:
        """Fails if there is no place for something new at a path. A directory may be there already, and an object may
        replace one that is not written yet."""
        if ";" in path:
            raise ValueError(f"{plain(path)}: a new name has no cycle, it gets the next one")
        above = [path[:end] for end, letter in enumerate(path) if letter == "/"]
        taken = next((one for one in above if self.classname(one) not in (None, "TDirectory")), None)
        own = self.classname(path)
        is_object = path in self.objects or (path in self.kept and not self.kept[path].is_table)
        fits = own is None or (is_directory if own == "TDirectory" else replaces and is_object)
        if taken is None and not fits:
            taken = path
        if taken is None:
            return
        ways = "give the new one another name"
        if taken in self.kept and self.kept[taken].is_table:
            ways = f"extend it, delete it first, or {ways}"
        has = [f"{plain(one)} ({kind})" for one, kind in self.classnames().items() if kind != "TDirectory"]
        more = f" and {len(has) - 10} more" if len(has) > 10 else ""
        what = f"{file_path} already has the {self.classname(taken)} {plain(taken)}"
        raise ValueError(f"{what}; {ways}. It has {', '.join(has[:10])}{more}")
