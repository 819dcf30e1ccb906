"""Computes arrays: expressions over branches, cuts, aliases, and zipped collections.

A cut with one value for each entry becomes a selection, unless it keeps many entries: its own columns are read first,
and from all others only baskets with a kept entry. awkward computes, whatever the library of the result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import libraries
from .expressions import Expression
from .names import missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from . import _core
    from .libraries import Chosen
    from .request import Request
    from .tree import Branch, Branches

    Arrays = dict[str, Any]


#: Above this share of kept entries, a full read of the other columns is faster than a selection.
DENSE = 0.1


class Computation:
    """Expressions and a cut over the branches of a tree."""

    def __init__(
        self, owner: Branches, wanted: list[tuple[str, Branch | None]], cut: str | None, aliases: Mapping[str, str]
    ) -> None:
        self._owner = owner
        # Parsed on use: aliases of a tree may be C++.
        self._aliases = aliases
        self._branches: dict[str, Branch] = {}
        self._wanted: dict[str, Branch | Expression] = {
            name: self._expression(name) if branch is None else branch for name, branch in wanted
        }
        self._cut = None if cut is None else self._expression(cut)
        self._for_cut = [] if self._cut is None else list(self._needed(self._cut, ()))
        needed = [
            [one] if not isinstance(one, Expression) else list(self._needed(one, ())) for one in self._wanted.values()
        ]
        # Each branch once, in order.
        self.branches = list(dict.fromkeys([*self._for_cut, *(branch for some in needed for branch in some)]))

    def _expression(self, text: str) -> Expression:
        return Expression(text, lambda name: name in self._owner or name in self._aliases)

    def _needed(self, expression: Expression, within: tuple[str, ...]) -> Iterator[Branch]:
        """The branches that an expression needs."""
        for name in expression.names():
            branch = self._owner.get(name)
            if branch is not None:
                self._branches[name] = branch
                yield branch
            elif name in within:
                raise ValueError(f"alias {name!r} refers to itself: {' -> '.join((*within, name))}")
            elif name in self._aliases:
                yield from self._needed(self._expression(self._aliases[name]), (*within, name))
            else:
                known = [*self._owner.keys(), *self._owner.keys(full_paths=False), *self._aliases]
                raise missing("branch", name, known, self._owner)

    def arrays(self, request: Request) -> Any:
        """Reads the branches and computes the arrays."""
        library, how = request.library, request.how
        _check(library, how)
        table = self._owner._table
        request = replace(request, selection=libraries.numbers_of(request.selection, table.entries))
        have: dict[Branch, Any] = {}
        keep = None
        if self._cut is not None:
            have = _read(table, self._for_cut, request)
            keep = self._kept(have, _count(request))
            plain = _plain(self._wanted)
            if _flat(keep) and ((library in ("arrow", "pl") and plain is not None) or keep.mean() < DENSE):
                request = replace(request, selection=_selected(request)[keep])
                if plain is not None and library != "ak":
                    return libraries.read(table, plain, request)
                have, keep = _masked(have, keep), None
        have |= _read(table, [one for one in self.branches if one not in have], request)
        if _flat(keep):
            request = replace(request, selection=_selected(request)[keep])
            have, keep = _masked(have, keep), None
        length = _count(request)
        index = request.start if request.selection is None else _selected(request)
        return _group(self._computed(have, keep, length), library, how, index, length)

    def iterate(self, request: Request, step_size: int | str | None) -> Iterator[Any]:
        """Like `arrays`, in steps; a step counts entries before the cut."""
        library, how = request.library, request.how
        _check(library, how)
        chosen = [(branch.name, branch) for branch in self.branches]

        def group(batch: _core.Batch, made: libraries.Plan, index: Any) -> Any:
            import numpy as np

            have = _arrays(batch, self.branches, made)
            keep = None if self._cut is None else self._kept(have, len(batch))
            if _flat(keep):
                have = _masked(have, keep)
                index = np.arange(index, index + len(batch)) if isinstance(index, int) else index[: len(batch)]
                index, keep = np.asarray(index)[keep], None
            length = len(batch) if isinstance(index, int) else len(index)
            return _group(self._computed(have, keep, length), library, how, index, length)

        return libraries.in_steps(self._owner._table, chosen, request, step_size, group)

    def _value(self, expression: Expression, have: Mapping[Branch, Any]) -> Any:
        def get(name: str) -> Any:
            branch = self._branches.get(name)
            return have[branch] if branch else self._value(self._expression(self._aliases[name]), have)

        return expression.value(get)

    def _kept(self, have: Mapping[Branch, Any], length: int) -> Any:
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

    def _computed(self, have: Mapping[Branch, Any], keep: Any, length: int) -> Arrays:
        import awkward as ak
        import numpy as np

        made = {}
        for name, one in self._wanted.items():
            array = self._value(one, have) if isinstance(one, Expression) else have[one]
            # A number holds for every entry.
            array = array if isinstance(array, ak.Array) else ak.Array(np.broadcast_to(array, length))
            made[name] = array if keep is None else array[keep]
        return made


def _plain(wanted: Mapping[str, Branch | Expression]) -> Chosen | None:
    """The branches, if there are no expressions."""
    found = [(name, one) for name, one in wanted.items() if not isinstance(one, Expression)]
    return found if len(found) == len(wanted) else None


def _flat(keep: Any) -> bool:
    import numpy as np

    return isinstance(keep, np.ndarray)


def _masked(have: dict[Branch, Any], keep: Any) -> dict[Branch, Any]:
    return {branch: array[keep] for branch, array in have.items()}


def _count(request: Request) -> int:
    return request.stop - request.start if request.selection is None else len(_selected(request))


def _selected(request: Request) -> Any:
    """The numbers of the selected entries in the range of a request, whose selection is a list of numbers or None."""
    import numpy as np

    if request.selection is None:
        return np.arange(request.start, request.stop, dtype=np.uint64)
    chosen = np.asarray(request.selection, np.uint64)
    return chosen[slice(*np.searchsorted(chosen, np.array((request.start, request.stop), np.uint64)).tolist())]


def _read(table: _core.Table, branches: list[Branch], request: Request) -> dict[Branch, Any]:
    if not branches:
        return {}
    chosen = [(branch.name, branch) for branch in branches]
    batch = table.read(libraries.read_arguments(table, chosen, request))
    return _arrays(batch, branches, libraries.plan(chosen))


def _arrays(batch: _core.Batch, branches: list[Branch], made: libraries.Plan) -> dict[Branch, Any]:
    return dict(zip(branches, (libraries._awkward(batch, one) for one in libraries._placed(made)), strict=True))


def _check(library: str, how: Any) -> None:
    """Refuses contradictory arguments before anything is read."""
    if how == "zip":
        if library != "ak":
            raise ValueError(f"how='zip' needs library 'ak', not {library!r}")
    else:
        libraries.grouper(library, how)


def _group(made: Arrays, library: str, how: Any, index: Any, length: int) -> Any:
    """Awkward arrays in the form of a library."""
    from . import _awkward as awkward
    from . import _numpy as numpy

    if library == "ak":
        if how == "zip":
            return _zipped(made)
        return _one_by_one(made, how) if how else awkward.table(made)
    if library in ("np", "pd"):
        plain = {name: numpy.array(awkward.node(array.layout)) for name, array in made.items()}
        return libraries.frame(plain, index, length) if library == "pd" else _one_by_one(plain, how or dict)
    table = awkward.arrow(made)
    if library == "arrow":
        return table
    import polars as pl

    return pl.DataFrame(table)


def _one_by_one(made: Arrays, how: Any) -> Any:
    return made if how is dict else how(made.values())


def _zipped(made: Arrays) -> Any:
    """Lists of equal lengths as lists of records: `Muon_pt` and `Muon_eta` become `Muon` with `pt` and `eta`. Lists
    whose names have no common prefix become `jagged0` and so on."""
    import awkward as ak
    import numpy as np

    from . import _awkward as awkward

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
