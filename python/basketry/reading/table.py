"""Tables: trees and RNTuples, with their names, friends and facts. `columns` has what is below them."""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, overload

from .. import _core
from .._shared.handle import DetachedFile, Handle
from .._shared.names import plain
from .._shared.signatures import spelled
from . import record
from .branches import Branch, Branches
from .columns import C, Columns, GrowsLate
from .fields import Field, Fields, hidden, shown
from .listing import Listing
from .plan import columns
from .request import bytes_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self, Unpack

    import awkward as ak

    from .forms import Names
    from .plan import Part

    #: Files with the trees in them, and friends, each by its name, if it has one.
    Inputs: TypeAlias = Sequence[tuple[str, str | None]]
    Friends: TypeAlias = Sequence[tuple[str | None, Inputs]]


class MadeOf(NamedTuple):
    """What a table is made of."""

    inputs: Inputs
    friends: Friends = ()
    #: Whether URLs that the files name are followed.
    follow_urls: bool = False
    #: How files are joined whose columns differ.
    join: str = "strict"
    widen: bool = False
    #: The number of the file, if the table is that of one with the columns of all.
    number: int | None = None


class Table(GrowsLate, Columns[C], Handle, record.Described):
    """A tree or an RNTuple, of one file or of several as one: what both have."""

    #: The C++ class.
    classname: ClassVar[str]
    #: What its columns are called, and their class.
    _columns_are: ClassVar[str]
    _kind: ClassVar[type[Any]]

    def __init__(self, table: _core.Table, where: str, made_of: MadeOf) -> None:
        self._table = table
        self._name = table.name
        self._where = where
        self._made_of = made_of

    def __repr__(self) -> str:
        columns = f"{len(self._below)} {self._columns_are}, {self.num_entries} entries"
        return f"<{type(self).__name__} {plain(self._where)} ({columns})>"

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def title(self) -> str:
        """The title."""
        return self._table.title

    @property
    def object_path(self) -> str:
        """The path in the file."""
        return self._table.path

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._made_of, self._where)

    def _part(self, name: str) -> Part | None:
        # Most names are of columns at the top, which need not be made for it.
        found = None if "_below" in self.__dict__ else self._table.top(name)
        return super()._part(name) if found is None or found[1] is None else found[1]

    def _find(self, where: str) -> C | None:
        # One at the top that has none below it can be made alone.
        found = None if "_below" in self.__dict__ else self._table.top(where)
        if found is None or found[1] is None or found[2]:
            return super()._find(where)
        one: C = self._column_of(self._kind, found[0], where, self._table.branch(found[0]))
        one.parent = self
        return one

    def _hint(self, name: str) -> str:
        # Only names at the top: others would take all columns to be made.
        return f"; did you mean {type(self).__name__.lower()}[{name!r}]?" if self._table.top(name) else ""

    def _release(self) -> None:
        self._table.release()
        alone: _core.Table | None = self.__dict__.get("_first")
        if alone is not None:
            alone.release()

    @property
    def _inputs(self) -> Inputs:
        """Its files, with the trees in them."""
        made_of = self._made_of
        return made_of.inputs if made_of.number is None else [made_of.inputs[made_of.number]]

    @functools.cached_property
    def _first(self) -> _core.Table:
        """The table of the first file by itself, with the columns of that file."""
        return self._table if self._table.is_alone else _core.Table(self._inputs[:1], (), self._made_of.follow_urls)

    @functools.cached_property
    def _places(self) -> Sequence[int | None]:
        """The place of each column among those of the first file."""
        lines = self._table.branches()
        if self._first is self._table:
            return range(len(lines))
        known = {path: place for place, path in enumerate(_paths(self._first.branches()))}
        return [known.get(path) for path in _paths(lines)]

    @functools.cached_property
    def _seek(self) -> int:
        """The offset of its key in the first file."""
        named = self._inputs[0][1] or self._first.path
        path, _, cycle = named.rpartition(";")
        if not path or not cycle.isdigit():
            path, cycle = named, ""
        keys = [line for line in _core.keys(self.file_path) if line[0] == path and line[4]]
        found = next((line for line in keys if str(line[1]) == cycle), max(keys, key=lambda line: line[1]))
        return found[5]

    @functools.cached_property
    def _record(self) -> Any:
        from .. import objects

        return objects.opened(self.file_path, self._seek)

    @functools.cached_property
    def _records(self) -> list[Any]:
        """The objects of the branches in the first file."""
        return list(record.below(self._record))

    @property
    def file_path(self) -> str:
        """The first file."""
        return self._inputs[0][0]

    @property
    def file(self) -> DetachedFile:
        """The first file."""
        return DetachedFile(self.file_path)

    @property
    def tree(self) -> Self:
        """This table."""
        return self

    @spelled(Listing)
    def common_entry_offsets(self, **listing: Unpack[Listing]) -> list[int]:
        """Entries at which a basket of every branch begins, and finally the number of entries; see `Listing` for the
        options."""
        common: set[int] | None = None
        for branch in self.values(**listing):
            offsets = set(branch.entry_offsets)
            common = offsets if common is None else common & offsets
        return sorted(common or ())

    @spelled(Listing)
    def num_entries_for(self, memory_size: int | str, expressions: Names = None, **listing: Unpack[Listing]) -> int:
        """Number of entries whose baskets of these branches take this many bytes before compression. Without names, the
        branches are those at the top, or all that pass the filters."""
        names = [expressions] if isinstance(expressions, str) else expressions
        if not self._table.is_alone:
            found = self.values(**listing) if names is None else [self[name] for name in names]
            total = self._table.bytes(list({column for branch in found for column in columns(branch._filtered())}))
        elif names is None and listing:
            # A branch and one below it may both pass: each counts its own baskets.
            total = sum(branch._stored[1] for branch in self.values(**listing))
        else:
            chosen = self.branches if names is None else [self[name] for name in names]
            total = sum(branch.uncompressed_bytes for branch in chosen)
        return max(1, round(self.num_entries * bytes_of(memory_size) / total)) if total else self.num_entries

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes of the baskets of all branches before compression, with their keys as in uproot, in the first file; of
        an RNTuple those of its pages. Pages that share bytes count once."""
        return sum(branch.uncompressed_bytes for branch in self.branches)

    @property
    def compressed_bytes(self) -> int:
        """Bytes of the baskets of all branches on disk, with their keys, in the first file; of an RNTuple those of its
        pages, without checksums."""
        return sum(branch.compressed_bytes for branch in self.branches)

    @property
    def compression_ratio(self) -> float:
        """Bytes before compression for each byte on disk; NaN without any."""
        return self.uncompressed_bytes / self.compressed_bytes if self.compressed_bytes else math.nan

    @property
    def clusters(self) -> Sequence[int]:
        """The first entry of each cluster, and finally the number of entries."""
        return self._table.clusters


class Tree(Branches, Table["Branch"]):
    """A tree, of one file or of several as one. Branches of its friends can be read like its own,
    as `"friend.branch"` or, if the tree has no branch of that name, as `"branch"`."""

    classname = "TTree"
    _columns_are = "branches"
    _kind = Branch

    def _grow_now(self) -> None:
        self._grow_branches(self._table.branches())

    @functools.cached_property
    def friends(self) -> dict[str, Friend]:
        """Friends by name: those given to `open`, and those that the tree names. Their files open when a branch of a
        friend is asked for; of an unreadable friend that is a `ValueError` with the reason."""
        return {name: Friend(self, name) for name in dict.fromkeys(self._table.friend_names())}

    @functools.cached_property
    def _opened_friends(self) -> dict[str, tuple[list[_core.BranchLine], str | None]]:
        """The branches of each friend, or why it cannot be read."""
        found: dict[str, tuple[list[_core.BranchLine], str | None]] = {}
        for name, lines, why in self._table.friends():
            found.setdefault(name, (lines, why))
        return found

    @property
    def _lost(self) -> dict[str, str]:
        """Why friends cannot be read."""
        return {name: why for name, (_, why) in self._opened_friends.items() if why is not None}

    def _find(self, where: str) -> Branch | None:
        found = super()._find(where)
        if found is None:
            for friend in self.friends.values():
                if friend.name in self._lost:
                    continue
                prefix = f"{friend.name}."
                found = friend._find(where.removeprefix(prefix)) if where.startswith(prefix) else None
                found = found or friend._find(where)
                if found is not None:
                    break
        return found

    @overload
    def __getitem__(self, where: str | int) -> Branch: ...

    @overload
    def __getitem__(self, where: slice) -> ak.Array: ...

    def __getitem__(self, where: str | int | slice) -> Branch | ak.Array:
        """The branch of that name at any depth, of that path (`"a/b"`), of that number, or of a friend
        (`"friend.branch"`); of a slice, such as `[:3]`, the array of these entries.

        An unknown name is a `KeyError` with the nearest names; an unreadable friend is a `ValueError`.
        """
        try:
            return super().__getitem__(where)
        except KeyError as error:
            for name, why in self._lost.items():
                if isinstance(where, str) and where.startswith(f"{name}."):
                    raise ValueError(why) from None
                error.add_note(why)
            raise

    @property
    def aliases(self) -> dict[str, str]:
        """The tree's own names for expressions (`TTree::SetAlias`): those that all files have alike. To use another
        one is a `SchemaDiffers`, which says what it is in two of them."""
        return dict(self._table.aliases())

    @functools.cached_property
    def _stored(self) -> list[tuple[int, int, int, list[int]]]:
        """Facts of the branches in the first file."""
        return _core.stored(self.file_path, self._seek)

    @functools.cached_property
    def _by_leaf(self) -> dict[int, Branch]:
        """The branches by the identities of their leaves in the first file."""
        held = (branch for _, branch in self._walk() if branch._place is not None)
        return {id(leaf): branch for branch in held for leaf in branch.member("fLeaves")}


class Friend(GrowsLate, Branches):
    """A friend of a tree; entry N of the friend belongs to entry N of the tree."""

    def __init__(self, tree: Tree, name: str) -> None:
        self._table = tree._table
        self._name = name
        self._tree = tree

    def _grow_now(self) -> None:
        """Opens the friend's files."""
        lines, why = self._tree._opened_friends[self._name]
        if why is not None:
            raise ValueError(why)
        self._grow_branches(lines)

    def __repr__(self) -> str:
        branches = f" ({len(self._below)} branches)" if "_below" in self.__dict__ else ""
        return f"<Friend {self._name!r}{branches}>"

    @property
    def name(self) -> str:
        """The name in front of the dot in names of its branches."""
        return self._name

    @property
    def _records(self) -> list[Any]:
        raise NotImplementedError(
            f"members of the branches of friend {self._name!r} are read from its own file: open it"
        )


class FieldTable(Fields, Table["Field"]):
    """A table that has fields where a tree has branches."""

    _columns_are = "fields"
    _kind = Field

    def _grow_now(self) -> None:
        lines = self._table.branches()
        self._grow(self._kind, lines, shown(lines), hidden(lines))

    @property
    def friends(self) -> dict[str, Friend]:
        """Friends by name: only trees have some."""
        return {}

    def to_akform(self, **listing: Unpack[Listing]) -> tuple[Any, None]:
        """The awkward form of `arrays`; see `Listing` for the filters."""
        filters: dict[str, Any] = {**listing}
        return self.arrays(**filters, entry_stop=0).layout.form, None

    @property
    def fields(self) -> list[Field]:
        """The fields at the top."""
        return self.branches


class RNTuple(FieldTable):
    """An RNTuple, of one file or of several as one. It has the methods of a tree, and fields where a tree has branches.
    The path of a field joins names with dots: `"jets.pt"` is a list for each entry."""

    classname = "ROOT::RNTuple"

    @property
    def description(self) -> str:
        """The description."""
        return self.title

    @functools.cached_property
    def _stored_fields(self) -> list[tuple[int, int, tuple[int, int], tuple[int, int]]]:
        """Facts of the fields in the first file."""
        return _core.stored_fields(self.file_path, self._seek)


class ParquetTable(FieldTable):
    """The columns of a Parquet file, or of several as one, as fields. Facts that only ROOT files have are not there:
    what asks for them is a `ValueError`."""

    classname = "Parquet"


def opened(
    inputs: Inputs, friends: Friends, follow_urls: bool, where: str, join: str = "strict", widen: bool = False
) -> Tree | FieldTable:
    """The tree or RNTuple of files and friends; `where` is its file and path."""
    table = _core.Table(inputs, friends, follow_urls, join, widen)
    return table_of(table, where, MadeOf(inputs, friends, follow_urls, join, widen))


def opened_each(inputs: Inputs, follow_urls: bool, join: str, widen: bool) -> list[Tree | FieldTable]:
    """The tree or RNTuple of each file, all with the branches that they have as one."""
    tables = _core.Table.each(inputs, follow_urls, join, widen)
    made = []
    for number, table in enumerate(tables):
        alone = MadeOf([inputs[number]], follow_urls=follow_urls)
        joined = MadeOf(inputs, (), follow_urls, join, widen, number)
        made.append(table_of(table, "", alone if table.is_alone else joined))
    return made


def _again(made_of: MadeOf, where: str) -> Tree | FieldTable:
    """A table that was made of these before."""
    inputs, friends, follow_urls, join, widen, number = made_of
    if number is None:
        return opened(inputs, friends, follow_urls, where, join, widen)
    return table_of(_core.Table.each(inputs, follow_urls, join, widen)[number], where, made_of)


def _paths(lines: list[_core.BranchLine]) -> list[tuple[Any, str, int]]:
    """What a column is known by in other files: the same of the one above, its name, and its number among those of that
    name."""
    made: list[tuple[Any, str, int]] = []
    seen: Counter[tuple[Any, str]] = Counter()
    for name, above, *_ in lines:
        own = (None if above is None else made[above], name)
        made.append((*own, seen[own]))
        seen[own] += 1
    return made


def table_of(table: _core.Table, where: str, made_of: MadeOf) -> Tree | FieldTable:
    """The class for a table that is open; `where` is its file and path, if it has another one than the first file's."""
    where = where or f"{_core.public_path(made_of.inputs[made_of.number or 0][0])}:{table.path}"
    match table.kind:
        case "tree":
            return Tree(table, where, made_of)
        case "ntuple":
            return RNTuple(table, where, made_of)
        case "parquet":
            return ParquetTable(table, where, made_of)
