"""Opens files by the names that users give, and several files as one tree."""

from __future__ import annotations

import collections.abc
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _core
from .file import File
from .names import missing
from .tree import Tree, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Place: TypeAlias = str | os.PathLike[str]
    Places: TypeAlias = Place | Iterable[Place] | Mapping[Place, str | None]
    Friends: TypeAlias = Iterable[Place] | Mapping[str, Place | Iterable[Place]] | None


def open(places: Places, *, friends: Friends = None) -> Tree | Any:
    """Opens a file, or a tree or RNTuple in one or several.

    An RNTuple is an `RNTuple`, a `Tree` whose branches are fields.

    `"f.root"` gives a `File`; `"f.root:dir/tree"` and `{"f.root": "dir/tree"}` give a `Tree`. Several files (a pattern
    `"run*.root"`, a file of names `"@list.txt"`, or a list) give one `Tree`, with their entries in that
    order; the files must have the same branches.

    `friends` are further trees with the same entries, beside the friends that the tree names itself: a list
    (`["f.root:tree"]`), or a dict by name (`{"calib": "f.root:tree"}`). A friend may consist of several
    files, too. `tree["calib.x"]` is a friend's branch.

    An absent file is a `FileNotFoundError`, a file that is no ROOT file a `ValueError`, an absent tree a `KeyError`
    with the nearest names.
    """
    if isinstance(places, str | os.PathLike):
        found = _core.expand([os.fspath(places)])
        if len(found) == 1 and friends is None:
            path, inside = found[0]
            return File(path)[inside] if inside else File(path)
    return _tree(places, friends)


def concatenate(
    files: Places,
    expressions: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    friends: Friends = None,
    **options: Any,
) -> Any:
    """Arrays of the entries of several files, in order; options are those of `Tree.arrays`."""
    return _tree(files, friends).arrays(expressions, cut, **options)


def iterate(
    files: Places,
    expressions: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    friends: Friends = None,
    **options: Any,
) -> Iterator[Any]:
    """Like `concatenate`, in steps; options are those of `Tree.iterate`. A step may span files."""
    return _tree(files, friends).iterate(expressions, cut, **options)


def _inputs(places: Places) -> list[tuple[str, str | None]]:
    if isinstance(places, str | os.PathLike):
        places = [places]
    if isinstance(places, collections.abc.Mapping):
        return [
            (path, inside or tree)
            for place, tree in places.items()
            for path, inside in _core.expand([os.fspath(place)])
        ]
    return _core.expand([os.fspath(place) for place in places])


def _tree(places: Places, friends: Friends) -> Tree:
    inputs = _inputs(places)
    given: list[tuple[str | None, list[tuple[str, str | None]]]]
    if isinstance(friends, str | os.PathLike):
        raise TypeError("friends must be a list of trees, or a dict of trees by name")
    if isinstance(friends, collections.abc.Mapping):
        given = [(name, _inputs(place)) for name, place in friends.items()]
    else:
        given = [(None, _inputs(place)) for place in friends or ()]
    try:
        table = _core.Table(inputs, given)
    except ValueError:
        for path, tree in inputs:
            if tree and tree not in (file := File(path)):
                raise missing("tree", tree, file.keys(cycle=False), file) from None
        raise
    more = f" and {len(inputs) - 1} more" if len(inputs) > 1 else ""
    return opened(table, f"{_core.public_path(inputs[0][0])}{more}:{table.path}")
