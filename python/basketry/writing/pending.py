"""Objects that are given to a file and not written yet: until it is closed they can be read, replaced and deleted."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import _core
    from ..objects import Object


@dataclass(frozen=True)
class Pending:
    """An object to write, or a directory, which is written at once."""

    classname: str
    #: A file and the offset of a key in it: the record to copy.
    origin: tuple[str, int] | None = None
    #: The object in memory, and its members as they were when it was given.
    thing: Any = None
    members: Any = None

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
    def copy(cls, classname: str, file_path: str, offset: int) -> Pending:
        """A record of another file."""
        return cls(classname, (file_path, offset))

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
