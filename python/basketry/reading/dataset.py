"""Opens files by the names that users give, and several files as one tree."""

from __future__ import annotations

import collections.abc
import errno
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _core
from .._shared.names import missing
from .._shared.places import as_text, is_place, local
from .._shared.progress import shown
from .._shared.signatures import spelled
from . import options
from .file import File
from .joining import joined, shifted
from .table import Table, Tree, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Unpack

    from .._shared.progress import Bar, Progress
    from .arrays import AskingArrays, AskingSteps

    Place: TypeAlias = str | os.PathLike[str]
    Named: TypeAlias = Mapping[Place, str | None]
    Places: TypeAlias = Place | Named | Iterable[Place | Named]
    Friends: TypeAlias = Iterable[Place] | Mapping[str, Place | Iterable[Place]] | None


def open(
    places: Places, *, friends: Friends = None, follow_urls: bool = False, **tuning: Unpack[options.Tuning]
) -> Tree | Any:
    """Opens a file, or a tree or RNTuple in one or several.

    Both are a `Table`: a `Tree` has branches, an `RNTuple` has fields.

    `"f.root"` gives a `File`; `"f.root:dir/tree"` and `{"f.root": "dir/tree"}` give a `Table`. Several files (a pattern
    `"run*.root"`, a file of names `"@list.txt"`, or a list) give one `Table`, with their entries in that
    order. The files must have the same branches, which is a `ValueError` otherwise: `concatenate` and `iterate` read
    the branches that files share.

    `friends` are further trees with the same entries, beside the friends that the tree names itself: a list
    (`["f.root:tree"]`), or a dict by name (`{"calib": "f.root:tree"}`). A friend may consist of several
    files, too. `tree["calib.x"]` is a friend's branch.

    A file may name others: with a friend, or with the baskets of a branch. They are opened when they are read from,
    with a warning if they are outside of that file's folder. With `follow_urls` URLs are followed, too: credentials
    (tokens, keys, certificates) go only to the scheme, host and port of the file in `places`. Without it
    reading from a URL that a file names is a `ValueError`.

    An absent file is a `FileNotFoundError`, a file that is no ROOT file a `ValueError`, an absent tree a `KeyError`
    with the nearest names.
    """
    options.check("open", tuning)
    if isinstance(places, collections.abc.Mapping) and len(places) == 1 and next(iter(places.values())) is None:
        return File(local(as_text(next(iter(places)))), follow_urls=follow_urls)
    if is_place(places):
        found = _expand(places)
        if len(found) == 1 and friends is None:
            path, inside = found[0]
            file = File(path, follow_urls=follow_urls)
            return file[inside] if inside else file
    return _tree(places, friends, follow_urls)


@spelled(Table.arrays)
def concatenate(
    files: Places,
    expressions: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    friends: Friends = None,
    follow_urls: bool = False,
    allow_missing: bool = False,
    progress: Progress = None,
    **settings: Unpack[AskingArrays],
) -> Any:
    """Arrays of the entries of several files, in order; options are those of `Tree.arrays`. Files need only
    the asked branches in common. `allow_missing` leaves out files without the tree
    or a branch, which are a `KeyError` otherwise; `friends` and `follow_urls` are those of `open`."""
    asked = _without_tuning(settings)
    try:
        return _tree(files, friends, follow_urls).arrays(expressions, cut, progress=progress, **asked)
    except (KeyError, ValueError):
        # Files that differ cannot be one table; some may lack the tree.
        trees = _trees(files, friends, follow_urls, allow_missing)
        if len(trees) == 1 and not allow_missing:
            raise
    if asked.get("selection") is not None:
        raise ValueError("a selection needs files with the same branches")
    found = []
    # A file that lacks the branch counts its entries all the same.
    with _shown(progress, trees, asked) as bar:
        for tree, own, before in _ranges(trees, asked):
            try:
                found.append(shifted(tree.arrays(expressions, cut, progress=bar, **own), before))
            except KeyError:
                if not allow_missing:
                    raise
    if not found:
        raise ValueError("no file has these branches")
    return joined(found)


@spelled(Table.iterate)
def iterate(
    files: Places,
    expressions: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    friends: Friends = None,
    follow_urls: bool = False,
    report: bool = False,
    allow_missing: bool = False,
    progress: Progress = None,
    **settings: Unpack[AskingSteps],
) -> Iterator[Any]:
    """Like `concatenate`, in steps; other options are those of `Tree.iterate`. A step ends at the end of its file.
    To let steps span files, iterate over `basketry.open(files)`."""
    asked = _without_tuning(settings)
    if asked.get("selection") is not None:
        # It counts through all files.
        return _tree(files, friends, follow_urls).iterate(expressions, cut, report=report, progress=progress, **asked)
    trees = _trees(files, friends, follow_urls, allow_missing)

    def run() -> Iterator[Any]:
        with _shown(progress, trees, asked) as bar:
            for tree, own, before in _ranges(trees, asked):
                for found in tree.iterate(expressions, cut, report=report, progress=bar, **own):
                    if report:
                        yield shifted(found[0], before), replace(found[1], global_offset=before)
                    else:
                        yield shifted(found, before)

    return run()


def _shown(
    progress: Progress, trees: list[Table[Any]], settings: Mapping[str, Any]
) -> AbstractContextManager[Bar | None]:
    """A bar for the requested entries of all trees."""
    wanted = sum(own["entry_stop"] - own["entry_start"] for _, own, _ in _ranges(trees, settings))
    return shown(progress, wanted, " entries", "reading")


def _ranges(trees: list[Table[Any]], settings: Mapping[str, Any]) -> Iterator[tuple[Table[Any], dict[str, Any], int]]:
    """Trees with their part of a range of entries that counts through all of them, and the entries before each."""
    total = sum(tree.num_entries for tree in trees)
    start, stop, _ = slice(settings.get("entry_start"), settings.get("entry_stop")).indices(total)
    before = 0
    for tree in trees:
        first, last = max(start - before, 0), max(min(stop - before, tree.num_entries), 0)
        yield tree, {**settings, "entry_start": min(first, last), "entry_stop": last}, before
        before += tree.num_entries


def num_entries(places: Places) -> Iterator[tuple[str, str, int]]:
    """File, path in the file, and number of entries of each tree."""
    for path, inside in _inputs(places):
        tree = opened([(path, inside)], (), False, "")
        yield as_text(path), inside or tree.object_path, tree.num_entries


def _without_tuning(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in options.TUNING}


def _trees(places: Places, friends: Friends, follow_urls: bool, allow_missing: bool) -> list[Table[Any]]:
    """The tree of each file; with friends, which go on through all files, one tree of all."""
    if friends is not None:
        return [_tree(places, friends, follow_urls)]
    found = []
    for path, inside in _inputs(places):
        if allow_missing and inside and inside not in File(path):
            continue
        found.append(_tree({path: inside} if inside else path, None, follow_urls))
    return found


def _inputs(places: Places | Table[Any]) -> list[tuple[str, str | None]]:
    """Files and the trees in them. A list may have open trees and dicts, too."""
    if isinstance(places, Table):
        return list(places._made_of[0])
    if is_place(places):
        return _expand(places)
    if isinstance(places, collections.abc.Mapping):
        return [(path, inside or tree) for place, tree in places.items() for path, inside in _expand(place)]
    made: list[tuple[str, str | None]] = []
    lacking: list[FileNotFoundError] = []
    for one in places:
        try:
            made += _inputs(one)
        except FileNotFoundError as error:
            # As in uproot, patterns without files count for nothing.
            if not (is_place(one) and any(special in as_text(one) for special in "*?[")):
                raise
            lacking.append(error)
    if lacking and not made:
        raise lacking[0]
    return made


def _expand(place: Place) -> list[tuple[str, str | None]]:
    """The files and trees of an argument."""
    path = local(as_text(place))
    try:
        return _core.expand([path])
    except ValueError as error:
        if "no file matches" in str(error):
            raise FileNotFoundError(errno.ENOENT, "no file matches", path) from None
        raise


def _tree(places: Places, friends: Friends, follow_urls: bool) -> Table[Any]:
    inputs = _inputs(places)
    given: list[tuple[str | None, list[tuple[str, str | None]]]]
    if isinstance(friends, str | os.PathLike):
        raise TypeError("friends must be a list of trees, or a dict of trees by name")
    if isinstance(friends, collections.abc.Mapping):
        given = [(name, _inputs(place)) for name, place in friends.items()]
    else:
        given = [(None, _inputs(place)) for place in friends or ()]
    more = f" and {len(inputs) - 1} more" if len(inputs) > 1 else ""
    try:
        made = opened(inputs, given, follow_urls, "")
    except ValueError:
        for path, tree in inputs:
            if tree and tree not in (file := File(path)):
                raise missing("tree", tree, file.keys(cycle=False), file) from None
        raise
    made._where = f"{_core.public_path(inputs[0][0])}{more}:{made.object_path}"
    return made
