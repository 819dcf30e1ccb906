"""The columns of a table: names, types, and what the file says of them. `branches` and `fields` have what only those of
a tree or of an RNTuple do; `arrays` reads several of them, and `table` has the table itself."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from .. import _core
from .._shared.handle import Handle
from .._shared.names import matcher, missing, plain
from .._shared.signatures import spelled
from ..compression import of_code
from ..exceptions import KeyInFileError
from ..interpretation import Interpretation
from .arrays import Readable
from .listing import Listing, print_columns
from .record import Described
from .single import Single

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import TextIO, Unpack

    import awkward as ak

    from .._shared.names import Filter
    from ..compression import Codec
    from .listing import Filters
    from .plan import Part, Plan


#: The columns of one kind of table.
C = TypeVar("C", bound="Column[Any]")


class Columns(Readable, Generic[C]):
    """The common part of a table and a column: columns below, and arrays of their entries."""

    _table: _core.Table
    _name: str
    _below: list[C]
    _by_name: dict[str, C]
    #: Between the names of a path.
    _separator: ClassVar[str]
    #: Whether the values of a column have those of the columns below it.
    _has_values_below: ClassVar[bool]

    @overload
    def __getitem__(self, where: str | int) -> C: ...

    @overload
    def __getitem__(self, where: slice) -> ak.Array: ...

    def __getitem__(self, where: str | int | slice) -> C | ak.Array:
        """The branch of that name at any depth, of that path (`"a/b"`), or of that number; of a slice, such as `[:3]`,
        the array of these entries.

        An unknown name is a `KeyError` with the nearest names.
        """
        if isinstance(where, slice):
            if where.step is not None and where.step < 1:
                raise ValueError(f"entries are read forwards, not in steps of {where.step}")
            array = self._entries(where.start, where.stop)
            return array if where.step is None else array[:: where.step]
        if isinstance(where, int):
            count = len(self._below)
            if not -count <= where < count:
                raise IndexError(f"no branch {where} in {self}, which has {count}; slices such as [:3] are entries")
            return self._below[where]
        found = self._find(where)
        if found is None:
            raise self._unknown(where)
        return found

    def _entries(self, start: int | None, stop: int | None) -> ak.Array:
        """The array of a range of entries."""
        return self.arrays(entry_start=start, entry_stop=stop)

    def get(self, where: str, default: C | None = None) -> C | None:
        """The branch of that name, or the default."""
        found = self._find(where)
        return default if found is None else found

    def _find(self, where: str) -> C | None:
        deep = not where.startswith("/")
        where = self._stored_path(where.strip("/"))
        found = self._by_name.get(where)
        if found is None and self._separator in where:
            first, _, rest = where.partition(self._separator)
            parent = self._by_name.get(first)
            found = parent and parent._find(rest)
        if found is None and deep:
            found = next((below for branch in self._below if (below := branch._find(where))), None)
        return found

    def _stored_path(self, path: str) -> str:
        """A path as names of this container are joined."""
        return path

    def _unknown(self, name: str, more: Iterable[str] = ()) -> KeyError:
        if why := self._table.left_out(name):
            return KeyInFileError(f"{why}: join='fill' fills it in", name)
        return missing("branch", name, [*self.keys(), *self.keys(full_paths=False), *more], self)

    def __contains__(self, where: object) -> bool:
        return isinstance(where, str) and self._find(where) is not None

    def __iter__(self) -> Iterator[C]:
        return iter(self._below)

    def __len__(self) -> int:
        return len(self._below)

    def __bool__(self) -> bool:
        return True

    @property
    def branches(self) -> list[C]:
        """The branches directly below."""
        return list(self._below)

    def items(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Any], bool] | None = None,
        filter_field: Callable[[Any], bool] | None = None,
        recursive: bool = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> list[tuple[str, C]]:
        """Names and branches, depth first; see `Listing` for the options."""
        wants_name, wants_type = matcher(filter_name), matcher(filter_typename)
        wants = filter_branch or filter_field
        found = []
        for path, branch in self._walk(recursive):
            if wants is not None and not wants(branch):
                continue
            named = wants_name is None or wants_name(branch.name) or wants_name(path) or wants_name(f"/{path}")
            if named and (wants_type is None or any(map(wants_type, branch._types()))):
                found.append((path if full_paths else branch.name, branch))
        if ignore_duplicates:
            found = list({name: (name, one) for name, one in reversed(found)}.values())[::-1]
        return found

    def _grow(
        self,
        kind: type[C],
        lines: list[_core.BranchLine],
        names: Sequence[str],
        hidden: Collection[int] = (),
    ) -> None:
        """Makes the columns, which are shown under these names; an empty one stands for the column above. Hidden ones
        are found by their names, and not listed."""
        below: list[C] = []
        by_name: dict[str, C] = {}
        made: list[C] = []
        parts: list[tuple[list[C], dict[str, C]]] = []
        for number, line in enumerate(lines):
            stored, above, *_ = line
            if above is not None and names[number] == "":
                made.append(made[above])
                parts.append(parts[above])
                continue
            one = self._column_of(kind, number, names[number], line)
            one.parent = self if above is None else made[above]
            listed, known = (below, by_name) if above is None else parts[above]
            if number not in hidden:
                listed.append(one)
            for name in (names[number], stored):
                known.setdefault(name, one)
            made.append(one)
            parts.append(([], {}))
        # Another thread may do the same: both find the same.
        for one, part in zip(made, parts, strict=True):
            one._below, one._by_name = part
        self._below, self._by_name = below, by_name

    def _column_of(self, kind: type[C], number: int, name: str, line: _core.BranchLine) -> C:
        """The column of a number, always the same one."""
        known: dict[int, C] = self.__dict__.setdefault("_by_number", {})
        one = known.get(number)
        if one is None:
            _, _, typename, column, interpretation, title = line
            one = kind(self._table, name, typename, column, interpretation, title)
            one._home, one._number = self, number
            one = known.setdefault(number, one)
        return one

    def _walk(self, recursive: bool = True) -> Iterator[tuple[str, C]]:
        separator = self._separator
        for branch in self._below:
            yield branch.name, branch
            if recursive:
                for path, below in branch._walk():
                    yield f"{branch.name}{separator}{path}", below

    @spelled(items)
    def keys(self, **listing: Unpack[Listing]) -> list[str]:
        """Names of branches; a path joins nested names with `/`, of fields with `.`. See `Listing` for the options."""
        return [name for name, _ in self.items(**listing)]

    @spelled(items)
    def values(self, **listing: Unpack[Listing]) -> list[C]:
        """The branches; see `Listing` for the options."""
        return [branch for _, branch in self.items(**listing)]

    @spelled(items)
    def iterkeys(self, **listing: Unpack[Listing]) -> Iterator[str]:
        """Names of branches; see `Listing` for the options."""
        return iter(self.keys(**listing))

    @spelled(items)
    def itervalues(self, **listing: Unpack[Listing]) -> Iterator[C]:
        """The branches; see `Listing` for the options."""
        return iter(self.values(**listing))

    @spelled(items)
    def iteritems(self, **listing: Unpack[Listing]) -> Iterator[tuple[str, C]]:
        """Names and branches; see `Listing` for the options."""
        return iter(self.items(**listing))

    @spelled(items)
    def itertypenames(self, **listing: Unpack[Listing]) -> Iterator[tuple[str, str]]:
        """Names and C++ types; options are those of `keys`."""
        return ((name, one.typename) for name, one in self.items(**listing))

    @spelled(items)
    def typenames(self, **listing: Unpack[Listing]) -> dict[str, str]:
        """C++ types of branches, by name; see `Listing` for the options."""
        return {name: branch.typename for name, branch in self.items(**listing)}

    @spelled(items)
    def show(
        self,
        *,
        name_width: int = 20,
        typename_width: int = 24,
        interpretation_width: int = 30,
        stream: TextIO | None = None,
        **listing: Unpack[Listing],
    ) -> None:
        """Prints names, C++ types, and the types of the arrays: `var * float32`, or the reason for bytes. Columns are
        `name_width`, `typename_width` and `interpretation_width` characters wide; `stream` is where to print, by
        default standard output; see `Listing` for the other options."""
        lines = [("name", "typename", "interpretation")]
        for name, branch in self.items(**listing):
            why = branch.opaque
            lines.append((name, branch.typename, f"bytes: {why}" if why else branch.interpretation))
        print_columns(lines, (name_width, typename_width, interpretation_width), stream)

    def _ipython_key_completions_(self) -> list[str]:
        """What IPython offers after `[`."""
        return self.keys()

    def _repr_html_(self) -> str:
        """A table of the branches, or of this one alone, for notebooks."""
        # A tree may have no branches; a branch without any below is listed itself.
        own = [(self._name, self)] if isinstance(self, Column) else []
        return self._html(repr(self)[1:-1], self.items() or own)

    def _html(self, title: str, found: list[tuple[str, Any]]) -> str:
        raise NotImplementedError

    def _part(self, name: str) -> Part | None:
        branch = self._find(name)
        return None if branch is None else branch._read_as()

    def _filtered(self, **filters: Unpack[Filters]) -> Plan:
        found: list[tuple[str, str, int]] = []
        for path, branch in self.items(**filters):
            inside = self._has_values_below and found and path.startswith(f"{found[-1][0]}{self._separator}")
            if branch._column is not None and not inside:
                found.append((path, branch.name, branch._column))
        # A unique name needs no path.
        counts = Counter(name for _, name, _ in found)
        return tuple((name if counts[name] == 1 else path, column) for path, name, column in found)


class GrowsLate:
    """What makes its columns when they are first needed: of thousands few are read, and names are enough for that."""

    def _grow_now(self) -> None:
        raise NotImplementedError

    def _hint(self, name: str) -> str:
        """What helps a user who takes this name for an attribute."""
        del name
        return ""

    def __getattr__(self, name: str) -> Any:
        """Makes the columns."""
        if name not in ("_below", "_by_name"):
            hint = "" if name.startswith("_") else self._hint(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)
        self._grow_now()
        return self.__dict__[name]


class Column(Columns[C], Single, Handle, Described):
    """A branch of a tree, or a field of an RNTuple."""

    def __init__(
        self, table: _core.Table, name: str, typename: str, column: int | None, interpretation: str, title: str
    ) -> None:
        self._table = table
        self._name = name
        self._below = []
        self._by_name = {}
        self._column = column
        #: Title; of a field its description.
        self.title = title
        #: C++ type.
        self.typename = typename
        #: Type of its array, as awkward writes types.
        self.interpretation = Interpretation.of(interpretation, lambda: self.array(entry_stop=0))
        self._home: Any = None
        self._number = 0
        #: The branch above, or the tree.
        self.parent: Any = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r} {plain(self.typename)}>"

    def _release(self) -> None:
        self._table.release()

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def object_path(self) -> str:
        """The path of the tree in its file, and behind a colon that of the branch in the tree."""
        inside = self._name if self.top_level else f"{self.parent.object_path.partition(':')[2]}/{self._name}"
        return f"{self._home._table.path}:{inside}"

    @property
    def index(self) -> int | None:
        """The number among the branches of the branch or tree above; None for a part that is not listed there."""
        return next((place for place, one in enumerate(self.parent._below) if one is self), None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _numbered, (self._home, self._number)

    @property
    def tree(self) -> Any:
        """The tree, or the friend, that has the branch."""
        return self._home

    def _types(self) -> list[str]:
        """Its C++ type, in the spellings that filters know."""
        return [self.typename]

    @property
    def _stored(self) -> tuple[int, int, int, list[int]]:
        """Compression setting, bytes of baskets before compression and on disk, first entries of baskets."""
        return -1, 0, 0, [0, self.num_entries]

    @property
    def _place(self) -> int | None:
        """Its place among the columns of the first file; None if that lacks it."""
        # Friends are of no further files.
        places: Sequence[int | None] | None = getattr(self._home, "_places", None)
        return self._number if places is None else places[self._number]

    @property
    def _record(self) -> Any:
        records, place = self._home._records, self._place
        if place is None:
            path, file = self._path(), plain(self._home.file_path)
            raise KeyInFileError(f"members are those of the first file, {file}, which has no {path}", path)
        return records[place]

    @property
    def compression(self) -> Codec | None:
        """The codec of its baskets in the first file; None where nothing is compressed."""
        return of_code(self._stored[0])

    @property
    def num_baskets(self) -> int:
        """Number of its baskets in the first file."""
        return len(self._stored[3]) - 1

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes of its baskets before compression, with their keys as in uproot, those of branches below included, in
        the first file."""
        return self._stored[1] + sum(below.uncompressed_bytes for below in self._below)

    @property
    def compressed_bytes(self) -> int:
        """Bytes of its baskets on disk, with their keys, those of branches below included, in the first file."""
        return self._stored[2] + sum(below.compressed_bytes for below in self._below)

    @property
    def compression_ratio(self) -> float:
        """Bytes before compression for each byte on disk; NaN without any."""
        return self.uncompressed_bytes / self.compressed_bytes if self.compressed_bytes else math.nan

    @property
    def entry_offsets(self) -> list[int]:
        """First entries of its baskets in the first file, and finally the number of its entries."""
        return list(self._stored[3])

    @property
    def top_level(self) -> bool:
        """Whether the branch is directly below its tree."""
        return self.parent is self._home

    def _filtered(self, **filters: Unpack[Filters]) -> Plan:
        if not self._below and self._column is not None:
            return ((self._name, self._column),)
        return super()._filtered(**filters)

    def _entries(self, start: int | None, stop: int | None) -> ak.Array:
        return self.array(entry_start=start, entry_stop=stop)

    def _read_as(self) -> Part:
        if self._column is not None:
            return self._column
        return tuple((below.name, part) for below in self._below if (part := below._read_as()) != ())

    def to_akform(self, **listing: Unpack[Listing]) -> tuple[Any, list[str]]:
        """The awkward form of an array of records with this branch, or those below that pass the filters, and the path
        of this branch."""
        path = self._path()
        chosen = [f"{path}.{name}" for name in self.keys(**listing)] if listing else [path]
        top = path.partition(".")[0]
        return self._home.arrays([top], entry_stop=0).layout.form.select_columns(chosen), [path]

    def _path(self) -> str:
        """Names from the top, with dots."""
        return self._name if self.top_level else f"{self.parent._path()}.{self._name}"

    @property
    def opaque(self) -> str | None:
        """The reason why its entries are read as bytes; None for decoded branches."""
        return None if self._column is None else self._table.opaque(self._column)


def _numbered(home: Columns[Any], number: int) -> Any:
    """The branch of that number."""
    return next(branch for _, branch in home._walk() if branch._number == number)
