"""Steps through files that are opened one after the other: while one is read the next is opened, and no more. All steps
have the columns of the first file with entries. What differs in a later file is an error when its turn comes."""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .. import _core
from ..exceptions import SchemaDiffers
from .file import File, naming
from .numbering import shifted
from .plan import columns, names
from .table import MadeOf, opened, opened_each, table_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from .table import Table

    #: A file, and the tree in it, if it is named.
    Input: TypeAlias = tuple[str, str | None]
    #: Files with their trees, as they are opened.
    Trees: TypeAlias = Generator[tuple[Input, Table[Any]]]


class Shape(NamedTuple):
    """The arrays that are read of a file: their names, and the types of the columns that they need."""

    names: list[str]
    types: list[str]


@dataclass(frozen=True)
class Wanted:
    """What is wanted of each file."""

    expressions: Any
    cut: str | None
    #: Further options of `Table.iterate`.
    asked: Mapping[str, Any]
    report: bool
    #: "strict", or None where only the columns that are read must be the same.
    join: str | None
    follow_urls: bool
    #: Whether files are left out that lack the tree or an asked branch.
    allow_missing: bool

    @property
    def counts_from_the_start(self) -> bool:
        """Whether the range of entries is known before all files are."""
        return all(end is None or operator.index(end) >= 0 for end in self._range())

    def _range(self) -> tuple[Any, Any]:
        return self.asked.get("entry_start"), self.asked.get("entry_stop")

    def within(self, before: int, entries: int) -> tuple[int, int]:
        """The wanted entries of a tree with so many entries before it."""
        start, stop = self._range()
        first = min(max(operator.index(start or 0) - before, 0), entries)
        last = entries if stop is None else min(max(operator.index(stop) - before, 0), entries)
        return first, max(first, last)

    def ends_before(self, entry: int) -> bool:
        """Whether nothing is wanted from this entry on."""
        stop = self._range()[1]
        return stop is not None and entry >= operator.index(stop)

    def lacks(self, tree: Table[Any]) -> bool:
        """Whether a tree is left out."""
        return self.allow_missing and tree._lacks(self.expressions, self.cut, self.asked)

    def shape(self, tree: Table[Any]) -> Shape:
        """What is read of a tree; a `KeyError` if it lacks a branch."""
        chosen = tree._wanted(self.expressions, self.cut, self.asked)
        if isinstance(chosen, tuple):
            return Shape(names(chosen), tree._table.types(columns(chosen)))
        return Shape([], tree._table.types(chosen.columns))

    def uses_aliases(self, tree: Table[Any]) -> bool:
        """Whether something is computed, which the tree's aliases may be part of."""
        return not isinstance(tree._wanted(self.expressions, self.cut, self.asked), tuple)


class First(NamedTuple):
    """The first file with entries, whose columns all steps have."""

    input: Input
    tree: Table[Any]
    shape: Shape


def steps(inputs: Sequence[Input], wanted: Wanted) -> Iterator[Any] | None:
    """The steps of all files. None, if all files together must say what is wrong, or that there is nothing: a branch is
    not in the first one, or no file has entries."""
    trees = _opened(inputs, wanted)
    before, has_any = 0, False
    for place, tree in trees:
        if not wanted.lacks(tree):
            has_any = True
            if tree.num_entries:
                try:
                    first = First(place, tree, wanted.shape(tree))
                except KeyError:
                    trees.close()
                    return None
                return _run(first, trees, wanted, before)
        before += tree.num_entries
    if not wanted.allow_missing:
        return None
    if not has_any:
        raise ValueError("no file has these branches")
    return iter(())


def _opened(inputs: Sequence[Input], wanted: Wanted) -> Trees:
    """The files with their trees, in turn."""
    if wanted.allow_missing:
        for path, inside in inputs:
            if not inside or inside in File(path, follow_urls=wanted.follow_urls):
                yield (path, inside), opened([(path, inside)], (), wanted.follow_urls, "")
        return
    tables = _core.Tables(inputs, wanted.follow_urls)
    try:
        for one in inputs:
            with naming([one]):
                table = next(tables)
            yield one, table_of(table, "", MadeOf([one], follow_urls=wanted.follow_urls))
    finally:
        tables.close()


def _run(first: First, others: Trees, wanted: Wanted, before: int) -> Iterator[Any]:
    try:
        for place, tree in itertools.chain([(first.input, first.tree)], others):
            entries = tree.num_entries
            start, stop = wanted.within(before, entries)
            # A file of which no entry is read takes no column away.
            fitting = None if start == stop else _fitting(place, tree, first, wanted)
            if fitting is not None:
                yield from _steps(fitting, wanted, {"entry_start": start, "entry_stop": stop}, before)
            tree._release()
            before += entries
            if wanted.ends_before(before):
                return
    finally:
        others.close()
        first.tree._release()


def _steps(tree: Table[Any], wanted: Wanted, limits: Mapping[str, int], before: int) -> Iterator[Any]:
    asked: dict[str, Any] = {**wanted.asked, **limits}
    try:
        for found in tree.iterate(wanted.expressions, wanted.cut, report=wanted.report, **asked):
            if wanted.report:
                yield shifted(found[0], before), replace(found[1], global_offset=before)
            else:
                yield shifted(found, before)
    finally:
        tree._release()


def _fitting(place: Input, tree: Table[Any], first: First, wanted: Wanted) -> Table[Any] | None:
    """The tree, joined with the first one where its columns are not the same; None if it is left out."""
    if tree is first.tree:
        return tree
    if wanted.lacks(tree):
        return None
    if _is_like(tree, first, wanted):
        return tree
    both = [first.input, place]
    with naming(both):
        joined = opened_each(both, wanted.follow_urls, wanted.join or "common", False)[1]
    if wanted.expressions is None and joined._table.shares_nothing:
        raise SchemaDiffers("the files have no column in common")
    _check_same(first, wanted.shape(joined), place)
    return joined


def _is_like(tree: Table[Any], first: First, wanted: Wanted) -> bool:
    if wanted.join == "strict":
        return tree._table.is_like(first.tree._table)
    try:
        if wanted.shape(tree) != first.shape:
            return False
    except KeyError:
        return False
    return tree.aliases == first.tree.aliases or not wanted.uses_aliases(tree)


def _check_same(first: First, found: Shape, place: Input) -> None:
    """Refuses arrays that are not those of the steps before."""
    if found == first.shape:
        return
    here, before = (_core.public_path(path) for path in (place[0], first.input[0]))
    types = dict(zip(found.names, found.types, strict=False))
    for name, own in zip(first.shape.names, first.shape.types, strict=False):
        if name not in types:
            ways = "join='common' leaves it out, and join='fill' fills it in"
            raise SchemaDiffers(f"{name} is in {before}, and not in {here}: {ways}")
        if types[name] != own:
            shared = f"and {types[name]} is all that {here} shares with it: join='common' reads that"
            raise SchemaDiffers(f"{name} is {own} in {before}, {shared}")
    raise SchemaDiffers(
        f"the types of branches in {here} are not those in {before}: join='common' compares all files first"
    )
