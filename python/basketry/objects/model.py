"""An object of a file: its class, its bases, its members by name. `opened` reads one, and returns it in the class of
its family (`FAMILIES`), such as histograms, or as an `Object`. Trees and RNTuples are not read here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._libraries.elements import Element
from .._libraries.lineages import BASE
from .._libraries.numpy import array
from .._shared.handle import DetachedFile, Handle
from .._shared.members import WithMembers
from .._shared.names import plain
from . import pyroot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: NumPy's types of ROOT's basic type codes.
DTYPES = {
    1: "i1", 2: "i2", 3: "i4", 4: "i8", 5: "f4", 6: "i4", 7: "i1", 8: "f8",
    11: "u1", 12: "u2", 13: "u4", 14: "u8", 15: "u4", 16: "i8", 17: "u8", 18: "?",
}  # fmt: skip

#: Classes of families by the ROOT class that an object is of, or derives from. The modules of families enter theirs.
FAMILIES: dict[str, type[Object]] = {}
#: Bases that are arrays of numbers.
ARRAYS = ("TArrayC", "TArrayS", "TArrayI", "TArrayL", "TArrayL64", "TArrayF", "TArrayD")
#: Members that are lists of objects, and their classes, in the classes of families.
LISTS = {"fLabels": "THashList", "fModLabs": "TList", "fFunctions": "TList"}
#: Members from the bytes of an object, by the classes whose streamers are written by hand.
STREAMERS: dict[str, Callable[[bytes], dict[str, Any]]] = {}


class Object(WithMembers, Handle):
    """An object of a ROOT class that has no family here. Members have the names of the C++ class."""

    #: The C++ class.
    classname: str
    #: The version of the class, as the file has it; 0 of an element of an array, and of its bases.
    class_version: int
    #: Own members.
    members: dict[str, Any]
    #: Base classes, in order; a `TArray` is a NumPy array.
    bases: list[Any]

    def __init__(self, classname: str, class_version: int, members: dict[str, Any], bases: list[Any]) -> None:
        self.classname, self.class_version = classname, class_version
        self.members, self.bases = members, bases
        #: The file and the offset of the key, for objects that are written to another file as they are.
        self.origin: tuple[str, int] | None = None

    def __repr__(self) -> str:
        name = self.all_members.get("fName")
        return f"<{plain(self.classname)}{'' if name is None else f' {name!r}'} (version {self.class_version})>"

    @property
    def file(self) -> DetachedFile | None:
        """The file that it was read from; None for objects that were made in memory."""
        return None if self.origin is None else DetachedFile(self.origin[0])

    def tojson(self) -> dict[str, Any]:
        """Class and members as values of JSON."""
        return {"_typename": self.classname} | {name: _json(one) for name, one in self.all_members.items()}

    def to_pyroot(self, name: str | None = None) -> Any:
        """The object as PyROOT has it, under its own name or another."""
        return pyroot.to_pyroot(self, name)

    @property
    def all_members(self) -> dict[str, Any]:
        """Members, those of bases included."""
        found: dict[str, Any] = {}
        for base in self.bases:
            if isinstance(base, Object):
                found |= base.all_members
            elif isinstance(base, np.ndarray):
                # The member of `TArray`.
                found["fN"] = len(base)
        return found | self.members

    def is_instance(self, *classnames: str) -> bool:
        """Whether the class is one of these or derives from it."""
        return any(name in classnames for name in lineage(self))

    @property
    def name(self) -> str:
        """The name, of classes that have one."""
        return str(self.member("fName"))

    @property
    def title(self) -> str:
        """The title, of classes that have one."""
        return str(self.member("fTitle"))

    def _numbers(self) -> Any:
        """The numbers of the `TArray` that the class derives from."""
        for base in self.bases:
            found = base._numbers() if isinstance(base, Object) else base
            if found is not None:
                return found
        return None


def _json(value: Any) -> Any:
    if isinstance(value, Object):
        return value.tojson()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def _is_version(values: list[Any]) -> bool:
    """Whether the first value is a version and objects follow."""
    return isinstance(values[0], int) and all(isinstance(one, Object) for one in values[1:])


def _undecoded(content: bytes) -> dict[str, Any]:
    return {"@bytes": content}


def of_family(classname: str, version: int, members: dict[str, Any], bases: list[Any]) -> Object:
    """An object in the class of its family."""
    plain = Object(classname, version, members, bases)
    family = next((FAMILIES[one] for one in lineage(plain) if one in FAMILIES), Object)
    return plain if family is Object else family(classname, version, members, bases)


def maker(lineage: str) -> Callable[[dict[str, Any]], Any] | None:
    """The function that makes an element of a NumPy array of its members, those of bases included; None for a class
    without a family."""
    names = lineage.split(BASE)
    if not any(name in FAMILIES for name in names):
        return None

    def made(members: dict[str, Any]) -> Any:
        for name, classname in LISTS.items():
            if (items := members.get(name)) is not None:
                content = {"fName": "", "items": list(items), "options": []}
                members[name] = of_family(classname, 0, content, [])
        # What a class derives from has no members of its own here, but for the numbers of arrays.
        arrays = [members.pop(name) for name in ARRAYS if name in members]
        return of_family(names[0], 0, members, [*(Object(name, 0, {}, []) for name in names[1:]), *arrays])

    return made


def lineage(thing: Object) -> Iterator[str]:
    """The class and the classes that it derives from."""
    yield thing.classname
    for base in thing.bases:
        if isinstance(base, Object):
            yield from lineage(base)


def opened(file_path: str, offset: int) -> Any:
    """The object whose key lies at an offset of a file."""
    node, graph = _core.object(file_path, offset)
    made = _Maker(graph).made(node)
    if isinstance(made, Object):
        made.origin = (file_path, offset)
    return made


class _Maker:
    """Makes the objects of one record."""

    def __init__(self, graph: list[Any]) -> None:
        self._graph = graph
        self._done: dict[int, Any] = {}

    def made(self, node: Any) -> Any:
        classname, version, kind, content = node
        if kind == "array":
            return self._value(content)
        members: dict[str, Any] = {}
        bases: list[Any] = []
        if kind == "members":
            for name, is_base, value in content:
                self._enter(members, bases, name, is_base, value)
        elif kind == "tobject":
            members = {"@fUniqueID": content[0], "@fBits": content[1]}
        elif kind == "list":
            name, items, options = content
            members = {"fName": name, "items": [self._pointed(one) for one in items], "options": options}
        elif kind == "column":
            value = array(content, maker)[0]
            if not isinstance(value, Element) or classname[:1].islower():
                return value
            members = dict(value.members)
        elif classname[:1].islower():
            return content
        else:
            members = STREAMERS.get(classname, _undecoded)(content)
        return of_family(classname, version, members, bases)

    def _enter(self, members: dict[str, Any], bases: list[Any], name: str, is_base: bool, value: Any) -> None:
        if not is_base:
            members[name] = self._value(value)
            return
        match value:
            case ("object", node):
                bases.append(self._base(node))
            case ("tobject", unique, bits):
                bases.append(Object("TObject", 1, {"@fUniqueID": unique, "@fBits": bits}, []))
            case ("named", unique, bits, named, title):
                above = Object("TObject", 1, {"@fUniqueID": unique, "@fBits": bits}, [])
                bases.append(Object("TNamed", 1, {"fName": named, "fTitle": title}, [above]))

    def _base(self, node: Any) -> Any:
        """A base: without a family, which the whole object has."""
        classname, version, kind, content = node
        if kind != "members":
            return self.made(node)
        members: dict[str, Any] = {}
        bases: list[Any] = []
        for name, is_base, value in content:
            self._enter(members, bases, name, is_base, value)
        return Object(classname, version, members, bases)

    def _value(self, value: Any) -> Any:
        match value:
            case ("array", int(code), bytes(raw)):
                kind = np.dtype(DTYPES[code])
                return np.frombuffer(raw, kind.newbyteorder(">")).astype(kind)
            case ("tobject", unique, bits):
                return Object("TObject", 1, {"@fUniqueID": unique, "@fBits": bits}, [])
            case ("named", _, _, name, title):
                return Object("TNamed", 1, {"fName": name, "fTitle": title}, [])
            case ("object", node):
                return self.made(node)
            case ("pointer", place):
                return self._pointed(place)
            case ("column", node):
                return array(node, maker)[0]
            case list():
                made = [self._value(one) for one in value]
                # The version of the objects that another member counts is in front of them.
                return made[1:] if len(made) > 1 and _is_version(made) else made
        return value

    def _pointed(self, place: int | None) -> Any:
        if place is None or self._graph[place] is None:
            return None
        if place not in self._done:
            # An object that points to itself sees None.
            self._done[place] = None
            self._done[place] = self.made(self._graph[place])
        return self._done[place]
