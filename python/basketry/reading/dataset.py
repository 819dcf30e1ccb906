"""Opens files by the names that users give, and several files as one tree."""

from __future__ import annotations

import collections.abc
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from .. import _core
from .._shared.places import as_text, is_place, local
from .._shared.progress import shown
from .._shared.signatures import spelled
from ..exceptions import SchemaDiffers
from . import in_turn, options
from .file import File, naming
from .inputs import named
from .numbering import numbered, shifted
from .table import Table, opened, opened_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from .._shared.progress import Bar, Progress
    from .file import Opened
    from .forms import (
        Ak,
        AskingArrays,
        AskingSteps,
        Cut,
        Dict,
        Friends,
        How,
        Join,
        Library,
        List,
        Names,
        Np,
        Pa,
        Pd,
        Pl,
        Places,
        Tuple,
        Zip,
    )
    from .forms import FileStepping as Stepping
    from .forms import FileSteps as Steps
    from .forms import FilesTold as Told
    from .forms import MoreOfFiles as More
    from .stepping import Report

    #: Files and the trees in them.
    Inputs: TypeAlias = Sequence[tuple[str, str | None]]
    #: The entries of a file before those of others, and the entries of all others before it.
    Ranges: TypeAlias = Iterable[tuple[int, int]]


def open(
    places: Places,
    *,
    friends: Friends = None,
    follow_urls: bool = False,
    join: Join = "strict",
    widen: bool = False,
    **tuning: Unpack[options.Tuning],
) -> Opened | Any:
    """Opens a file, or a tree or RNTuple in one or several.

    Both are a `Table`: a `Tree` has branches, an `RNTuple` has fields.

    `"f.root"` gives a `File`; `"f.root:dir/tree"` and `{"f.root": "dir/tree"}` give a `Table`, and so does a Parquet
    file (`"f.parquet"`). Several files (a pattern `"run*.root"`, a file of names `"@list.txt"`, or a list) give one
    `Table`, with their entries in that order.

    `join` says what becomes of files whose branches differ. With "strict" that is a `SchemaDiffers`, which is a
    `ValueError`. With "common" the table has the branches that all files share, and records the members that all share.
    With "fill" it has the branches of any file; entries of a file that lacks one get what `merge --fill` gives them:
    zeros, empty lists and texts; a counter gets the numbers of items of the first list there that it counts in another
    file. Cuts and computed columns see the same. Trees and RNTuples can be joined, too, by their columns at the top.
    Reading a branch whose type differs is a `SchemaDiffers` that names it and the files. With `widen` numbers of
    different types come together in the smallest type that holds all values. A file without entries takes no branch
    away.

    `friends` are further trees with the same entries, beside the friends that the tree names itself: a list
    (`["f.root:tree"]`), or a dict by name (`{"calib": "f.root:tree"}`). A friend may consist of several
    files, too. `tree["calib.x"]` is a friend's branch. Friends are read beside files whose branches are the same.

    A file may name others: with a friend, or with the baskets of a branch. They are opened when they are read from,
    with a warning if they are outside of that file's folder. With `follow_urls` URLs are followed, too: credentials
    (tokens, keys, certificates) go only to the scheme, host and port of the file in `places`. Without it
    reading from a URL that a file names is a `ValueError`.

    An absent file is a `FileNotFoundError`, a file that is no ROOT file a `ValueError`, an absent tree a `KeyError`
    with the nearest names.
    """
    options.check("open", tuning, ("friends", "follow_urls", "join", "widen"))
    _core.check_join(join)
    if isinstance(places, collections.abc.Mapping) and len(places) == 1 and next(iter(places.values())) is None:
        return File(local(as_text(next(iter(places)))), follow_urls=follow_urls)
    inputs = named(places)
    if is_place(places) and len(inputs) == 1 and friends is None:
        path, inside = inputs[0]
        if not inside and _core.is_parquet(path):
            return _tree(inputs, friends, follow_urls, (join, widen))
        file = File(path, follow_urls=follow_urls)
        return file[inside] if inside else file
    return _tree(inputs, friends, follow_urls, (join, widen))


@overload
def concatenate(
    files: Places,
    expressions: Names = None,
    cut: Cut = None,
    *,
    library: Ak = "ak",
    how: Zip = None,
    **more: Unpack[More],
) -> ak.Array: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: None = None, **more: Unpack[More]
) -> dict[str, NDArray[Any]]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: None = None, **more: Unpack[More]
) -> pd.DataFrame: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pa, how: None = None, **more: Unpack[More]
) -> pa.Table: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pl, how: None = None, **more: Unpack[More]
) -> pl.DataFrame: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Tuple, **more: Unpack[More]
) -> tuple[ak.Array, ...]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: List, **more: Unpack[More]
) -> list[ak.Array]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Dict, **more: Unpack[More]
) -> dict[str, ak.Array]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: Tuple, **more: Unpack[More]
) -> tuple[NDArray[Any], ...]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: List, **more: Unpack[More]
) -> list[NDArray[Any]]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: Dict, **more: Unpack[More]
) -> dict[str, NDArray[Any]]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Tuple, **more: Unpack[More]
) -> tuple[pd.Series, ...]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: List, **more: Unpack[More]
) -> list[pd.Series]: ...
@overload
def concatenate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Dict, **more: Unpack[More]
) -> dict[str, pd.Series]: ...
@overload
def concatenate(
    files: Places,
    expressions: Names = None,
    cut: Cut = None,
    *,
    library: Library = "ak",
    how: How = None,
    **more: Unpack[More],
) -> Any: ...
@spelled(Table.arrays)
def concatenate(
    files: Places,
    expressions: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    friends: Friends = None,
    follow_urls: bool = False,
    join: Join = "common",
    widen: bool = False,
    allow_missing: bool = False,
    progress: Progress = None,
    **settings: Unpack[AskingArrays],
) -> Any:
    """Arrays of the entries of several files, in order; options are those of `Table.arrays`, and `friends`,
    `follow_urls`, `join` and `widen` those of `open`. By default the branches are those that all files share, so files
    need only the asked branches in common: one that a file lacks is a `KeyError`, and one whose type differs a
    `SchemaDiffers`, whatever the library and the order of files. uproot promotes numbers of different types, as `widen`
    does where no value is lost, and its "ak" makes unions of records. `allow_missing` leaves out files without the tree
    or an asked branch; beside `friends` it has no effect. Files are compared before entries are read."""
    asked = _without_tuning(settings)
    expressions = _kept(expressions)
    inputs = named(files)
    left_out: list[tuple[int, int]] = []
    if allow_missing and friends is None:
        inputs, left_out, limits = _having(inputs, follow_urls, (expressions, cut), asked)
        asked |= limits
    tree = _tree(inputs, friends, follow_urls, (join, widen), expressions is not None)
    return numbered(tree.arrays(expressions, cut, progress=progress, **asked), left_out)


@overload
def iterate(
    files: Places,
    expressions: Names = None,
    cut: Cut = None,
    *,
    library: Ak = "ak",
    how: Zip = None,
    **more: Unpack[Steps],
) -> Iterator[ak.Array]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: None = None, **more: Unpack[Steps]
) -> Iterator[dict[str, NDArray[Any]]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: None = None, **more: Unpack[Steps]
) -> Iterator[pd.DataFrame]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pa, how: None = None, **more: Unpack[Steps]
) -> Iterator[pa.Table]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pl, how: None = None, **more: Unpack[Steps]
) -> Iterator[pl.DataFrame]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Tuple, **more: Unpack[Steps]
) -> Iterator[tuple[ak.Array, ...]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: List, **more: Unpack[Steps]
) -> Iterator[list[ak.Array]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Dict, **more: Unpack[Steps]
) -> Iterator[dict[str, ak.Array]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: Tuple, **more: Unpack[Steps]
) -> Iterator[tuple[NDArray[Any], ...]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: List, **more: Unpack[Steps]
) -> Iterator[list[NDArray[Any]]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: Dict, **more: Unpack[Steps]
) -> Iterator[dict[str, NDArray[Any]]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Tuple, **more: Unpack[Steps]
) -> Iterator[tuple[pd.Series, ...]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: List, **more: Unpack[Steps]
) -> Iterator[list[pd.Series]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Dict, **more: Unpack[Steps]
) -> Iterator[dict[str, pd.Series]]: ...
@overload
def iterate(
    files: Places,
    expressions: Names = None,
    cut: Cut = None,
    *,
    library: Ak = "ak",
    how: Zip = None,
    **more: Unpack[Told],
) -> Iterator[tuple[ak.Array, Report]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Np, how: None = None, **more: Unpack[Told]
) -> Iterator[tuple[dict[str, NDArray[Any]], Report]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pd, how: None = None, **more: Unpack[Told]
) -> Iterator[tuple[pd.DataFrame, Report]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pa, how: None = None, **more: Unpack[Told]
) -> Iterator[tuple[pa.Table, Report]]: ...
@overload
def iterate(
    files: Places, expressions: Names = None, cut: Cut = None, *, library: Pl, how: None = None, **more: Unpack[Told]
) -> Iterator[tuple[pl.DataFrame, Report]]: ...
@overload
def iterate(
    files: Places,
    expressions: Names = None,
    cut: Cut = None,
    *,
    library: Library = "ak",
    how: How = None,
    **more: Unpack[Stepping],
) -> Iterator[Any]: ...
@spelled(Table.iterate)
def iterate(
    files: Places,
    expressions: str | Iterable[str] | None = None,
    cut: str | None = None,
    *,
    friends: Friends = None,
    follow_urls: bool = False,
    join: Join | None = None,
    widen: bool = False,
    report: bool = False,
    allow_missing: bool = False,
    progress: Progress = None,
    **settings: Unpack[AskingSteps],
) -> Iterator[Any]:
    """Like `concatenate`, in steps, which all have the same columns; other options are those of `Table.iterate`. A step
    ends at the end of its file. To let steps span files, iterate over `basketry.open(files)`.

    By default files are opened one after the other, the next one while one is read, and steps have the columns of the
    first file with entries; "strict" opens them so, too. A file that lacks one of these columns, or has it in another
    type, is an error when its turn comes: a `KeyError` for a name in `expressions`, else a `SchemaDiffers`. Branches
    that only later files have are left out. With `join` "common" or "fill", with `widen`, `friends`, a `selection` or
    `progress`, and where `entry_start` or `entry_stop` count from the end, all files are opened before the first step.
    In any case few files stay open: the others are opened again for their steps."""
    asked = _without_tuning(settings)
    expressions = _kept(expressions)
    if join is not None:
        _core.check_join(join)
    inputs = named(files)
    if friends is not None or asked.get("selection") is not None:
        # They go on through all files.
        tree = _tree(inputs, friends, follow_urls, (join or "common", widen), expressions is not None)
        return tree.iterate(expressions, cut, report=report, progress=progress, **asked)
    wanted = in_turn.Wanted(expressions, cut, asked, report, join, follow_urls, allow_missing)
    counts_all = (progress is not None and progress is not False) or not wanted.counts_from_the_start
    if not counts_all and not widen and join in (None, "strict"):
        steps = in_turn.steps(inputs, wanted)
        if steps is not None:
            return steps
    left_out = [(0, 0)] * len(inputs)
    if allow_missing:
        inputs, left_out, limits = _having(inputs, follow_urls, (expressions, cut), asked)
        asked |= limits
    with naming(inputs):
        trees = opened_each(inputs, follow_urls, join or "common", widen)
    if expressions is None and trees:
        _refuse_nothing(trees[0])

    def run() -> Iterator[Any]:
        with _shown(progress, trees, asked) as bar:
            for (tree, own, before), (_, more) in zip(_ranges(trees, asked), left_out, strict=True):
                offset = before + more
                for found in tree.iterate(expressions, cut, report=report, progress=bar, **own):
                    if report:
                        yield shifted(found[0], offset), replace(found[1], global_offset=offset)
                    else:
                        yield shifted(found, offset)
                tree._release()

    return run()


def _shown(
    progress: Progress, trees: Sequence[Table[Any]], settings: Mapping[str, Any]
) -> AbstractContextManager[Bar | None]:
    """A bar for the requested entries of all trees."""
    wanted = sum(own["entry_stop"] - own["entry_start"] for _, own, _ in _ranges(trees, settings))
    return shown(progress, wanted, " entries", "reading")


def _ranges(
    trees: Sequence[Table[Any]], settings: Mapping[str, Any]
) -> Iterator[tuple[Table[Any], dict[str, Any], int]]:
    """Trees with their part of a range of entries that counts through all of them, and the entries before each."""
    total = sum(tree.num_entries for tree in trees)
    start, stop, _ = slice(settings.get("entry_start"), settings.get("entry_stop")).indices(total)
    before = 0
    for tree in trees:
        first, last = max(start - before, 0), max(min(stop - before, tree.num_entries), 0)
        yield tree, {**settings, "entry_start": min(first, last), "entry_stop": last}, before
        before += tree.num_entries


def _having(
    inputs: Inputs, follow_urls: bool, needs: tuple[Any, str | None], asked: Mapping[str, Any]
) -> tuple[list[tuple[str, str | None]], list[tuple[int, int]], dict[str, int]]:
    """The files that have a tree with the branches that expressions and a cut need; for each of them the entries of
    those before it, and of the others before it; and the range of entries among theirs. Entries are asked for by their
    numbers among those of all trees."""
    found: list[tuple[tuple[str, str | None], int, bool]] = []
    for path, inside in inputs:
        if inside and inside not in File(path, follow_urls=follow_urls):
            continue
        tree = opened([(path, inside)], (), follow_urls, "")
        found.append(((path, inside), tree.num_entries, not tree._lacks(*needs, asked)))
    kept = [one for one, _, has in found if has]
    if not kept:
        raise ValueError("no file has these branches")
    if asked.get("selection") is not None and len(kept) < len(found):
        raise ValueError("a selection needs files with the same branches")
    start, stop, _ = slice(asked.get("entry_start"), asked.get("entry_stop")).indices(sum(one[1] for one in found))
    limits = {"entry_start": 0, "entry_stop": 0}
    left_out: list[tuple[int, int]] = []
    own = others = 0
    for _, entries, has in found:
        if has:
            for name, at in (("entry_start", start), ("entry_stop", max(start, stop))):
                limits[name] += min(max(at - own - others, 0), entries)
            left_out.append((own, others))
        own, others = (own + entries, others) if has else (own, others + entries)
    return kept, left_out, limits


def _kept(expressions: Any) -> Any:
    """Expressions that can be gone through more than once."""
    return list(expressions) if isinstance(expressions, collections.abc.Iterator) else expressions


def num_entries(places: Places) -> Iterator[tuple[str, str, int]]:
    """File, path in the file, and number of entries of each tree."""
    for path, inside in named(places):
        tree = opened([(path, inside)], (), False, "")
        yield as_text(path), inside or tree.object_path, tree.num_entries


def _without_tuning(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in options.TUNING}


def table_at(places: Places | Table[Any], tree: str | None, joining: tuple[Join, bool]) -> Table[Any]:
    """A table that is open, or that of files, in which `tree` names it where they do not. An open file may be given,
    too."""
    if isinstance(places, Table):
        return places
    if isinstance(places, File):
        places = places.file_path
    _core.check_join(joining[0])
    return _tree([(path, inside or tree) for path, inside in named(_kept(places))], None, False, joining)


def _refuse_nothing(table: Table[Any]) -> None:
    """Refuses files that share no column, where none is asked for by its name, which the error would say."""
    if table._table.shares_nothing:
        raise SchemaDiffers("the files have no column in common")


def _tree(
    inputs: Inputs, friends: Friends, follow_urls: bool, joining: tuple[Join, bool], names_columns: bool = False
) -> Table[Any]:
    given: list[tuple[str | None, list[tuple[str, str | None]]]]
    if isinstance(friends, str | os.PathLike):
        raise TypeError("friends must be a list of trees, or a dict of trees by name")
    if isinstance(friends, collections.abc.Mapping):
        given = [(name, named(place)) for name, place in friends.items()]
    else:
        given = [(None, named(place)) for place in friends or ()]
    more = f" and {len(inputs) - 1} more" if len(inputs) > 1 else ""
    with naming(inputs):
        made = opened(inputs, given, follow_urls, "", *joining)
    if not names_columns:
        _refuse_nothing(made)
    made._where = f"{_core.public_path(inputs[0][0])}{more}:{made.object_path}"
    return made
