"""Computes arrays: expressions over branches, cuts, aliases, and zipped collections.

A cut with one value for each entry becomes a selection, unless it keeps many entries: its own columns are read first,
and from all others only baskets with a kept entry. awkward computes, whatever the library of the result. What is not in
Python's language may be in the command's: then the engine computes it, step by step within the memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._libraries import frames
from ..exceptions import KeyInFileError
from . import libraries
from .bounds import flat
from .expressions import Expression
from .plan import columns, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from .. import _core
    from .plan import Part, Plan
    from .request import Request

    Arrays = dict[str, Any]


#: Above this share of kept entries, a full read of the other columns is faster than a selection.
DENSE = 0.1


@dataclass(frozen=True)
class Command:
    """An expression in the command's language, and the columns that it needs."""

    text: str
    columns: list[int]


class Computation:
    """Expressions and a cut over the branches of a tree."""

    def __init__(
        self,
        table: _core.Table,
        find: Callable[[str], Part | None],
        unknown: Callable[[str, Iterable[str]], Exception],
        wanted: Sequence[tuple[str, Part | None]],
        cut: str | None,
        aliases: Mapping[str, str],
    ) -> None:
        """Names in `wanted` without a part are expressions. `find` gives what to read for a branch, and `unknown` the
        error for a name that is neither a branch nor one of these aliases."""
        self._table = table
        self._find = find
        self._unknown = unknown
        # Parsed on use: aliases of a tree may be C++.
        self._aliases = aliases
        self._branches: dict[str, Part] = {}
        #: The names in the order of the request, where one may be twice.
        self._names = [name for name, _ in wanted]
        self._wanted: dict[str, Part | Expression | Command] = {}
        needed: list[Part] = []
        self._cut: Expression | None = None
        self._for_cut: list[Part] = []
        #: A cut in the command's language.
        self._condition: Command | None = None
        if cut is not None:
            taken, self._for_cut = self._taken(cut, is_cut=True)
            if isinstance(taken, Command):
                self._condition = taken
            else:
                self._cut = taken
        for name, part in wanted:
            one, parts = self._taken(name) if part is None else (part, [part])
            self._wanted[name] = one
            needed += parts
        # Each once, in order.
        self.parts = list(dict.fromkeys([*self._for_cut, *needed]))
        self._commands = [one for one in self._wanted.values() if isinstance(one, Command)]

    @property
    def columns(self) -> list[int]:
        """The columns that it reads."""
        commands = self._commands if self._condition is None else [self._condition, *self._commands]
        engine = [column for one in commands for column in one.columns]
        return list(dict.fromkeys([*columns(_unnamed(self.parts)), *engine]))

    def _taken(self, text: str, *, is_cut: bool = False) -> tuple[Expression | Command, list[Part]]:
        """An expression in Python's language, with what to read for it, or else in the command's."""
        refused: Exception
        try:
            expression = self._expression(text)
            # An alias of the tree may be C++.
            return expression, list(self._needed(expression, ()))
        except (SyntaxError, ValueError, KeyError) as error:
            refused = error
        found = self._table.meaning(text, self._defined(), is_cut)
        if found is None:
            raise refused
        needed, unknown, wrong = found
        if unknown.endswith(")"):
            # A call of a function.
            raise KeyInFileError(wrong, unknown)
        # An alias that is refused refers to itself.
        if unknown and unknown not in self._aliases:
            raise self._unknown(unknown, self._aliases)
        if wrong:
            raise ValueError(wrong)
        return Command(text, needed), []

    def _defined(self) -> list[tuple[str, str]]:
        return list(self._aliases.items())

    def passing(self, request: Request) -> Any:
        """Which entries of a request pass the cut, if that is one truth value for each."""
        import numpy as np

        if self._condition is not None:
            return np.isin(_selected(request), self._passing(request), assume_unique=True)
        return self._kept(self._read(self._for_cut, request), request.count)

    def _passing(self, request: Request) -> Any:
        """The numbers of the entries that pass the cut in the command's language."""
        import numpy as np

        from .._libraries.numpy import data

        assert self._condition is not None
        reading = request.reading(self._condition.columns)
        return data(self._table.passing(reading, self._condition.text, self._defined()), np.uint64)

    def _expression(self, text: str) -> Expression:
        return Expression(text, lambda name: self._find(name) is not None or name in self._aliases)

    def _needed(self, expression: Expression, within: tuple[str, ...]) -> Iterator[Part]:
        """What to read for the branches that an expression needs."""
        for name in expression.names():
            part = self._find(name)
            if part is not None:
                self._branches[name] = part
                yield part
            elif name in within:
                raise ValueError(f"alias {name!r} refers to itself: {' -> '.join((*within, name))}")
            elif name in self._aliases:
                yield from self._needed(self._expression(self._aliases[name]), (*within, name))
            else:
                raise self._unknown(name, self._aliases)

    def arrays(self, request: Request) -> Any:
        """Reads the branches and computes the arrays."""
        import numpy as np

        library, how = request.library, request.how
        _check(library, how)
        request, _ = libraries.held(self._table, _unnamed([*self._for_cut, *self.parts]), request)
        have: dict[Part, Any] = {}
        keep = None
        if self._condition is not None:
            passing, plain = self._passing(request), _plain(self._wanted)
            if (library in ("arrow", "pl") and plain is not None) or len(passing) < DENSE * request.count:
                request = replace(request, selection=passing)
                if plain is not None and library != "ak":
                    return libraries.read(self._table, plain, request)
            else:
                keep = np.isin(_selected(request), passing, assume_unique=True)
        if self._cut is not None:
            request = self.passable(request)
            have = self._read(self._for_cut, replace(request, remembers=True))
            keep = self._kept(have, request.count)
            plain = _plain(self._wanted)
            if _flat(keep) and ((library in ("arrow", "pl") and plain is not None) or keep.sum() < DENSE * len(keep)):
                request = replace(request, selection=_selected(request)[keep])
                if plain is not None and library != "ak":
                    return libraries.read(self._table, plain, request)
                have, keep = _masked(have, keep), None
        have |= self._read([one for one in self.parts if one not in have], request)
        if _flat(keep):
            request = replace(request, selection=_selected(request)[keep])
            have, keep = _masked(have, keep), None
        index = request.start if request.selection is None else _selected(request)
        return _group(self._computed(have, keep, request), library, how, index, request.count, self._names)

    def passable(self, request: Request) -> Request:
        """The request without entries of which is known, before anything is read, that they do not pass the cut."""
        import numpy as np

        from .._libraries.numpy import data

        parts = {} if self._cut is None else {name: self._branches.get(name) for name in self._cut.names()}
        numbers = {name: part for name, part in parts.items() if isinstance(part, int)}
        # A cut with lists also keeps entries that it leaves without items.
        if self._cut is None or len(numbers) < len(parts) or not flat(self._table, numbers):
            return request
        condition = self._cut.implied(numbers.get)
        found = self._table.passable(request.reading([]), condition) if condition else None
        return request if found is None else replace(request, selection=data(found, np.uint64))

    def iterate(self, request: Request, step_size: int | str | None, sizes: list[int] | None = None) -> Iterator[Any]:
        """Like `arrays`, in steps; a step counts entries before the cut, also those that are not read."""
        import numpy as np

        library, how = request.library, request.how
        _check(library, how)
        passing = None if self._condition is None else self._passing(request)

        def narrowed(request: Request) -> Request:
            if passing is None:
                return self.passable(request)
            return replace(request, selection=passing) if len(passing) < DENSE * request.count else request

        def group(batch: _core.ReadBatch, plan: Plan, index: Any) -> Any:
            have = _arrays(batch, plan)
            keep = None if self._cut is None else self._kept(have, len(batch))
            if passing is not None:
                numbers = np.arange(index, index + len(batch)) if isinstance(index, int) else index[: len(batch)]
                keep = np.isin(np.asarray(numbers, np.uint64), passing, assume_unique=True)
            if _flat(keep):
                have = _masked(have, keep)
                index = np.arange(index, index + len(batch)) if isinstance(index, int) else index[: len(batch)]
                index, keep = np.asarray(index)[keep], None
            step = _step(request, index, len(batch))
            return _group(self._computed(have, keep, step), library, how, index, step.count, self._names)

        # A step has the columns of the engine's expressions too: it counts their bytes.
        ahead = [*self.parts, *(column for one in self._commands for column in one.columns)]
        plan = _unnamed(list(dict.fromkeys(ahead)))
        return libraries.in_steps(self._table, plan, request, step_size, group, sizes, narrowed)

    def _read(self, parts: list[Part], request: Request) -> dict[Part, Any]:
        if not parts:
            return {}
        plan = _unnamed(parts)
        return _arrays(self._table.read(request.reading(columns(plan)), request.told), plan)

    def _value(self, expression: Expression, have: Mapping[Part, Any]) -> Any:
        def get(name: str) -> Any:
            part = self._branches.get(name)
            return self._value(self._expression(self._aliases[name]), have) if part is None else have[part]

        return expression.value(get)

    def _kept(self, have: Mapping[Part, Any], length: int) -> Any:
        """The truth of the cut: a numpy array if each entry has one value, else an awkward array."""
        import awkward as ak
        import numpy as np

        assert self._cut is not None
        values = self._value(self._cut, have) != 0
        if not isinstance(values, ak.Array):
            return np.broadcast_to(values, length)
        if values.ndim > 1 or values.fields:
            return values
        return ak.to_numpy(ak.fill_none(values, False))

    def _computed(self, have: Mapping[Part, Any], keep: Any, request: Request) -> Arrays:
        import awkward as ak
        import numpy as np

        made, values = {}, self._values(request)
        for name, one in self._wanted.items():
            if isinstance(one, Command):
                array = next(values)
            else:
                array = self._value(one, have) if isinstance(one, Expression) else have[one]
            # A number holds for every entry.
            array = array if isinstance(array, ak.Array) else ak.Array(np.broadcast_to(array, request.count))
            made[name] = array if keep is None else array[keep]
        return made

    def _values(self, request: Request) -> Iterator[Any]:
        """The values of the expressions in the command's language, for the entries of a request."""
        if self._commands:
            reading = request.reading([column for one in self._commands for column in one.columns])
            batch = self._table.values(reading, [one.text for one in self._commands], self._defined())
            yield from (libraries.awkward_array(batch, place) for place in range(len(self._commands)))


def _plain(wanted: Mapping[str, Part | Expression | Command]) -> Plan | None:
    """The branches, if there are no expressions."""
    found = tuple((name, one) for name, one in wanted.items() if not isinstance(one, Expression | Command))
    return found if len(found) == len(wanted) else None


def _flat(keep: Any) -> bool:
    import numpy as np

    return isinstance(keep, np.ndarray)


def _masked(have: dict[Part, Any], keep: Any) -> dict[Part, Any]:
    return {part: array[keep] for part, array in have.items()}


def _selected(request: Request) -> Any:
    """The numbers of the selected entries of a request."""
    import numpy as np

    selected = request.selected()
    return (
        np.arange(request.start, request.stop, dtype=np.uint64) if selected is None else np.asarray(selected, np.uint64)
    )


def _step(request: Request, index: Any, count: int) -> Request:
    """The request of a step: of so many entries from a number on, or of these."""
    if isinstance(index, int):
        return replace(request, start=index, stop=index + count, selection=None)
    import numpy as np

    return replace(request, selection=np.asarray(index, np.uint64)[:count])


def _unnamed(parts: list[Part]) -> Plan:
    return tuple(("", part) for part in parts)


def _arrays(batch: _core.ReadBatch, plan: Plan) -> dict[Part, Any]:
    places = placed(plan)
    return {part: libraries.awkward_array(batch, place) for (_, part), (_, place) in zip(plan, places, strict=True)}


def _check(library: str, how: Any) -> None:
    """Refuses contradictory arguments before anything is read."""
    if how == "zip":
        if library != "ak":
            raise ValueError(f"how='zip' needs library 'ak', not {library!r}")
    else:
        libraries.grouper(library, how)


def _group(made: Arrays, library: str, how: Any, index: Any, length: int, names: list[str]) -> Any:
    """Awkward arrays in the form of a library."""
    from .._libraries import awkward

    if library == "ak":
        if how == "zip":
            return _zipped(made)
        return _one_by_one(made, how, names) if how else awkward.table(made)
    if library == "pd":
        columns = {name: libraries.pandas_column(awkward.node(array.layout)) for name, array in made.items()}
        frame = frames.frame(columns, index, length)
        return frame if how is None else _one_by_one({name: frame[name] for name in frame.columns}, how, None)
    if library == "np":
        plain = {name: libraries.numpy_array(awkward.node(array.layout)) for name, array in made.items()}
        return _one_by_one(plain, how or dict, names)
    if library == "pl":
        libraries.refuse_variants(name for name, array in made.items() if awkward.has_union(array.layout))
    table = awkward.arrow(made)
    if library == "arrow":
        return table
    import polars as pl

    return pl.DataFrame(table)


def _one_by_one(made: Arrays, how: Any, names: list[str] | None) -> Any:
    return made if how is dict else how(made[name] for name in (made if names is None else names))


def _zipped(made: Arrays) -> Any:
    """Lists of equal lengths as lists of records: `Muon_pt` and `Muon_eta` become `Muon` with `pt` and `eta`. Lists
    whose names have no common prefix become `jagged0` and so on."""
    import awkward as ak
    import numpy as np

    from .._libraries import awkward

    alone: Arrays = {}
    alike: list[tuple[Any, list[str]]] = []
    for name, array in made.items():
        offsets = awkward.offsets(array.layout)
        if offsets is None:
            alone[name] = array
            continue
        names = next((names for other, names in alike if np.array_equal(offsets, other)), None)
        if names is None:
            alike.append((offsets, [name]))
        else:
            names.append(name)
    for number, (_, names) in enumerate(alike):
        cut = _common(names)
        if names[0][:cut].strip("_./") in alone:
            cut = 0
        group = names[0][:cut].strip("_./") if cut else f"jagged{number}"
        alone[group] = ak.zip({name[cut:].strip("_./"): made[name] for name in names})
    return awkward.table(alone)


def _common(names: list[str]) -> int:
    """Length of the common prefix of names, up to and including `_`, `.` or `/`."""
    import itertools

    alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    common = "".join(letters[0] for letters in alike)
    return max(common.rfind(mark) for mark in "_./") + 1
