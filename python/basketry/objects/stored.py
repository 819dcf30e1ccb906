"""One object as a file takes it: its class, and its members as plain values. Files themselves are made in
`basketry.writing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.members import WithMembers

if TYPE_CHECKING:
    from .. import _core

#: Titles of keys, for classes whose objects have none.
TITLES = {"TObjString": "Collectable string class", "TList": "Doubly linked list"}


def record(thing: Any) -> tuple[str, Any]:
    """Class and members as the compiled half takes them, numbers as bytes."""
    if "items" in thing.members and not thing.bases:
        return thing.classname, [None if one is None else record(one) for one in thing.members["items"]]
    members = {name: _plain(value) for name, value in thing.all_members.items()}
    numbers = thing._numbers()
    if numbers is not None:
        members["fArray"] = _plain(np.asarray(numbers))
        members["fN"] = len(numbers)
    found = {name: value for name, value in members.items() if value is not None}
    if thing.classname.startswith(("TH", "TGraph", "TProfile")):
        # ROOT expects a list, also without functions.
        found.setdefault("fFunctions", ("TList", []))
    return thing.classname, found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == object:
        raise TypeError("an object with a container of other objects cannot be written; write the one that was read")
    if isinstance(value, np.ndarray):
        return value.astype(value.dtype.newbyteorder(">")).tobytes()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, WithMembers):
        return record(value)
    return value


def store(core: _core.Writer, path: str, classname: str, members: Any) -> None:
    """Writes an object of this class with the members of `record`."""
    title = members.get("fTitle", "") if isinstance(members, dict) else ""
    core.object(path, title or TITLES.get(classname, ""), classname, members)
