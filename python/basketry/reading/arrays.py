"""Arrays of the entries of several branches: `arrays`, and `iterate` in steps. `branches` finds the branches."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, overload

from .. import _core
from .._shared.progress import reading, stepping
from .._shared.signatures import spelled
from ..exceptions import SchemaDiffers
from . import interpreting, libraries, options
from . import virtual as lazy
from .forms import Asking
from .listing import Filters
from .plan import columns, names
from .request import MEMORY, Request
from .stepping import reported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray
    from typing_extensions import CapsuleType

    from .._shared.progress import Progress
    from .computing import Computation
    from .forms import (
        Ak,
        Cut,
        Dict,
        How,
        Library,
        List,
        More,
        Names,
        Np,
        Pa,
        Pd,
        Pl,
        Stepping,
        Steps,
        Told,
        TunedAsking,
        Tuple,
        Zip,
    )
    from .plan import Part, Plan
    from .stepping import Report


#: What is not None where it is not given.
DEFAULTS: Asking = {"library": "ak", "threads": 0, "memory": MEMORY}


def given(function: str, asked: Mapping[str, Any], known: type) -> dict[str, Any]:
    """The options of a call, with defaults and without uproot's tuning. Unknown ones are a `TypeError`."""
    own = known.__annotations__
    options.check(function, {name: value for name, value in asked.items() if name not in own}, own)
    return {**DEFAULTS, **{name: value for name, value in asked.items() if name in own}}


class Readable:
    """What has columns of a table under names. Those are found by the class that derives from this one."""

    _table: _core.Table

    def _part(self, name: str) -> Part | None:
        """What to read for that name; None if it is unknown."""
        raise NotImplementedError

    def _filtered(self, **filters: Unpack[Filters]) -> Plan:
        """The columns that pass the filters."""
        raise NotImplementedError

    def _unknown(self, name: str, more: Iterable[str] = ()) -> KeyError:
        """The error for an unknown name, where `more` names are known, too."""
        raise NotImplementedError

    @property
    def num_entries(self) -> int:
        """Number of entries in all files."""
        return self._table.entries

    @property
    def aliases(self) -> dict[str, str]:
        """Names for expressions; a branch has none."""
        return {}

    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Zip = None, **more: Unpack[More]
    ) -> ak.Array: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: None = None, **more: Unpack[More]
    ) -> dict[str, NDArray[Any]]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: None = None, **more: Unpack[More]
    ) -> pd.DataFrame: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Pa, how: None = None, **more: Unpack[More]
    ) -> pa.Table: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Pl, how: None = None, **more: Unpack[More]
    ) -> pl.DataFrame: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Tuple, **more: Unpack[More]
    ) -> tuple[ak.Array, ...]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: List, **more: Unpack[More]
    ) -> list[ak.Array]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Dict, **more: Unpack[More]
    ) -> dict[str, ak.Array]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: Tuple, **more: Unpack[More]
    ) -> tuple[NDArray[Any], ...]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: List, **more: Unpack[More]
    ) -> list[NDArray[Any]]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: Dict, **more: Unpack[More]
    ) -> dict[str, NDArray[Any]]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Tuple, **more: Unpack[More]
    ) -> tuple[pd.Series, ...]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: List, **more: Unpack[More]
    ) -> list[pd.Series]: ...
    @overload
    def arrays(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Dict, **more: Unpack[More]
    ) -> dict[str, pd.Series]: ...
    @overload
    def arrays(
        self,
        expressions: Names = None,
        cut: Cut = None,
        *,
        library: Library = "ak",
        how: How = None,
        **more: Unpack[More],
    ) -> Any: ...
    @spelled(Asking, defaults=DEFAULTS)
    def arrays(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        virtual: bool = False,
        access_log: list[Any] | None = None,
        progress: Progress = None,
        **asked: Unpack[TunedAsking],
    ) -> Any:
        """Arrays of the entries of several branches.

        `expressions` are names of branches, also of friends, or computations such as "sqrt(px**2 + py**2)",
        with Python's operators and numpy's functions (see `basketry.reading.expressions`), and `get("a name")` for
        names that are no identifiers. The default is all branches of this tree or branch that pass the filters (see
        `Listing`).
        `cut` is an expression that is true for the entries to keep; of columns that the cut does not need, only baskets
        with a kept entry are read. An expression, also a cut or an alias, that is not in this language may be in the
        command's, which has `and`, `&&`, `sum(...)`, `c ? a : b`, chained comparisons and more (docs/expressions.md).
        `aliases` are names for expressions, in addition to the tree's own.

        `entry_start` and `entry_stop` are numbers of entries, as in a slice. `selection` selects among these entries:
        ascending entry numbers, or a mask with a truth value for every entry of the tree. Only baskets with a selected
        entry are read.

        `library` is the form of the result: "ak" an awkward array of records, "np" a dict of numpy arrays (of objects,
        where entries differ in length, or have a class), "pd" a DataFrame, "arrow" a pyarrow Table, "pl" a polars
        DataFrame. Arrays of numpy can be written to. A DataFrame has one column of awkward's type for what is not one
        value for each entry, if the package awkward-pandas is installed; else a column for each number of fixed-size
        arrays and records ("x[0]", "hit.pt"), and columns of objects. With "ak" and "np" `how` may be `tuple`, `list`
        or `dict`, for one array for each name. `how="zip"` joins lists of equal
        lengths in awkward arrays. `virtual=True` makes arrays whose columns are read at first use, and notes them in
        `access_log`. `threads=0` means all cores; `memory` limits the memory beside the arrays, in bytes or as "2GB".
        `progress=True` shows tqdm's bar of entries; a class or a bar with tqdm's interface, or a function of
        `(done, total)`, is told, too.

        A branch may hold fewer entries than its tree, where it ended early. Values are not made up for the others:
        columns that all end at one entry are read up to there. Columns that end at different ones have unequal lengths
        with "np" and with `how`; otherwise they are a `ValueError` that names the `entry_stop` that all have.

        The first dimension of an array is that of the selected entries; those of fixed-size arrays follow, and a list's
        is `var`. An unknown name is a `KeyError` with the nearest ones, an entry that the tree does not have an
        `IndexError`, a computation that is no expression a `SyntaxError`; damaged data (with file, branch and offset),
        too little `memory` and arguments that contradict each other are a `ValueError`.
        """
        own = given("arrays", asked, Asking)
        if isinstance(expressions, collections.abc.Iterator):
            expressions = list(expressions)
        if (pairs := interpreting.pairs(expressions)) is not None:
            plain: dict[str, Any] = {**own, "library": "np", "how": dict}
            found = self.arrays([name for name, _ in pairs], cut, progress=progress, **plain)
            typed = {name: interpreting.as_type(found[name], one) for name, one in pairs if one is not None}
            return interpreting.contained(found | typed, options.library(own["library"]), own.get("how"))
        other = None if options.library(own["library"]) == "ak" else own["library"]
        needs = {"how": own.get("how"), "library": other, "expressions": expressions, "cut": cut}
        lazy.check(virtual, access_log, needs | {name: own.get(name) for name in ("aliases", "selection")})
        chosen = self._wanted(expressions, cut, own)
        request = Request.of(self.num_entries, own)
        if virtual and isinstance(chosen, tuple):
            request, _ = libraries.held(self._table, chosen, request)
            return lazy.arrays(self._table, chosen, request, access_log)
        needed = columns(chosen) if isinstance(chosen, tuple) else chosen.columns
        with reading(progress, request, len(needed)) as request:
            return libraries.read(self._table, chosen, request) if isinstance(chosen, tuple) else chosen.arrays(request)

    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Zip = None, **more: Unpack[Steps]
    ) -> Iterator[ak.Array]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: None = None, **more: Unpack[Steps]
    ) -> Iterator[dict[str, NDArray[Any]]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: None = None, **more: Unpack[Steps]
    ) -> Iterator[pd.DataFrame]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pa, how: None = None, **more: Unpack[Steps]
    ) -> Iterator[pa.Table]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pl, how: None = None, **more: Unpack[Steps]
    ) -> Iterator[pl.DataFrame]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Tuple, **more: Unpack[Steps]
    ) -> Iterator[tuple[ak.Array, ...]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: List, **more: Unpack[Steps]
    ) -> Iterator[list[ak.Array]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Dict, **more: Unpack[Steps]
    ) -> Iterator[dict[str, ak.Array]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: Tuple, **more: Unpack[Steps]
    ) -> Iterator[tuple[NDArray[Any], ...]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: List, **more: Unpack[Steps]
    ) -> Iterator[list[NDArray[Any]]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: Dict, **more: Unpack[Steps]
    ) -> Iterator[dict[str, NDArray[Any]]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Tuple, **more: Unpack[Steps]
    ) -> Iterator[tuple[pd.Series, ...]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: List, **more: Unpack[Steps]
    ) -> Iterator[list[pd.Series]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: Dict, **more: Unpack[Steps]
    ) -> Iterator[dict[str, pd.Series]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Ak = "ak", how: Zip = None, **more: Unpack[Told]
    ) -> Iterator[tuple[ak.Array, Report]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Np, how: None = None, **more: Unpack[Told]
    ) -> Iterator[tuple[dict[str, NDArray[Any]], Report]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pd, how: None = None, **more: Unpack[Told]
    ) -> Iterator[tuple[pd.DataFrame, Report]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pa, how: None = None, **more: Unpack[Told]
    ) -> Iterator[tuple[pa.Table, Report]]: ...
    @overload
    def iterate(
        self, expressions: Names = None, cut: Cut = None, *, library: Pl, how: None = None, **more: Unpack[Told]
    ) -> Iterator[tuple[pl.DataFrame, Report]]: ...
    @overload
    def iterate(
        self,
        expressions: Names = None,
        cut: Cut = None,
        *,
        library: Library = "ak",
        how: How = None,
        **more: Unpack[Stepping],
    ) -> Iterator[Any]: ...
    @spelled(Asking, defaults=DEFAULTS)
    def iterate(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        step_size: int | str | None = "100 MB",
        report: bool = False,
        progress: Progress = None,
        **asked: Unpack[TunedAsking],
    ) -> Iterator[Any]:
        """Like `arrays`, in steps. `step_size` is a number of entries, uncompressed bytes (about "100 MB", at most an
        eighth of `memory`), or None for one cluster; entries count before the cut, also those of clusters that are not
        read as they cannot pass. The next step is read while this one is used. With `report`, each step comes with a
        `Report` of its entries."""
        own = given("iterate", asked, Asking)
        chosen = self._wanted(expressions, cut, own)
        request = Request.of(self.num_entries, own)
        sizes: list[int] | None = [] if report or progress else None
        if isinstance(chosen, tuple):
            steps = libraries.iterate(self._table, chosen, request, step_size, sizes)
        else:
            steps = chosen.iterate(request, step_size, sizes)
        if sizes is not None and progress:
            steps = stepping(progress, request, steps, sizes)
        return reported(steps, sizes, self, request.start) if report and sizes is not None else steps

    def _lacks(self, expressions: Names, cut: str | None, asked: Mapping[str, Any]) -> bool:
        """Whether it has not all branches that these need."""
        if (pairs := interpreting.pairs(expressions)) is not None:
            expressions = [name for name, _ in pairs]
        try:
            self._wanted(expressions, cut, asked)
        except KeyError:
            return True
        return False

    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType:
        """All branches as an Arrow stream, cluster by cluster: for `pyarrow.table`, `polars.DataFrame`, DuckDB. With a
        schema, those that it names, and no others are read; their types stay as they are."""
        plan = self._filtered()
        if requested_schema is not None:
            known = dict(zip(names(plan), columns(plan), strict=True))
            wanted = _core.names_of_schema(requested_schema)
            for name in wanted:
                if name not in known:
                    raise self._unknown(name)
            plan = tuple((name, known[name]) for name in wanted)
        reading = Request(0, self.num_entries).reading(columns(plan))
        return self._table.steps(reading, None, None).__arrow_c_stream__()

    def _wanted(self, expressions: Names, cut: str | None, own: Mapping[str, Any]) -> Plan | Computation:
        """What to read, or the computation on it."""
        if cut is not None and not isinstance(cut, str):
            why = "cut is one expression, a text such as 'n > 1 and b'"
            raise TypeError(f"{why}: {type(cut).__name__} is none; `and` joins several")
        wanted: Sequence[tuple[str, Part | None]]
        if expressions is None:
            filters = {name: own.get(name) for name in Filters.__annotations__}
            wanted = plan = self._filtered(**filters)
        else:
            listed = [expressions] if isinstance(expressions, str) else expressions
            # A branch may group others that all have no column.
            wanted = [(name, part) for name in listed if (part := self._part(name)) != ()]
            plan = tuple((name, part) for name, part in wanted if part is not None)
        if cut is None and own.get("how") != "zip" and len(plan) == len(wanted):
            return plan
        from .computing import Computation

        aliases = {**self.aliases, **(own.get("aliases") or {})}
        return Computation(self._table, self._part, self._no_name, wanted, cut, aliases)

    def _no_name(self, name: str, aliases: Iterable[str]) -> Exception:
        """The error for a name that is neither a branch nor one of these aliases."""
        if why := self._table.alias_conflict(name):
            return SchemaDiffers(f"the files differ: alias {name} {why}")
        return self._unknown(name, aliases)
