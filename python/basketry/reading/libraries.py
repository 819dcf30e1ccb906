"""Converts Arrow buffers to the arrays of a library. Only truth values, which are bits in Arrow, and numpy's arrays of
objects are copied. A library is imported when it is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import _core
from .._libraries import frames
from .._libraries.lineages import BASE
from .._shared.packages import needed
from .plan import columns, names, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .plan import Part, Plan
    from .request import Request

#: Kinds of arrays whose entries are not one value each: see `_core.Node`.
NESTED = ("list", "fixed", "record", "optional", "union")
#: What libraries need that do not come with the package.
PACKAGES = {"pd": "pandas", "arrow": "pyarrow", "pl": "polars"}


def read(table: _core.Table, plan: Plan, request: Request) -> Any:
    """Columns as arrays of a library, grouped."""
    group = grouper(request.library, request.how)
    request, ends = held(table, plan, request)
    if len(set(ends)) > 1 and (request.library == "np" or request.how is not None) and request.library != "pd":
        return _apart(table, plan, request, ends)
    return group(table.read(request.reading(columns(plan)), request.told), plan, request.index(0))


def read_one(table: _core.Table, name: str, column: int, request: Request) -> Any:
    """One column as an array of a library."""
    request, _ = held(table, ((name, column),), request)
    batch, index = table.read(request.reading([column]), request.told), request.index(0)
    if request.library == "pd":
        return frames.single(name, _pandas_column(batch, 0), _of_batch(index, batch), len(batch))
    tables = request.library in ("arrow", "pl")
    found = grouper(request.library, None if tables else list)(batch, ((name, column),), index)
    return found[name] if tables else found[0]


def held(table: _core.Table, plan: Plan, request: Request) -> tuple[Request, list[int]]:
    """The request, up to where the columns end if all of them end there: branches may hold fewer entries than their
    tree. And where each part of the plan ends."""
    if request.selection is not None:
        return request, []
    ends = [min([request.stop, *table.held_until(columns((part,)), request.start)]) for part in plan]
    if len(set(ends)) == 1:
        return replace(request, stop=max(request.start, ends[0])), ends
    return request, ends


def _apart(table: _core.Table, plan: Plan, request: Request, ends: list[int]) -> Any:
    """Arrays of unequal lengths, in a container that may have them."""
    found: dict[int, Any] = {}
    for end in dict.fromkeys(ends):
        places = [place for place, one in enumerate(ends) if one == end]
        some = replace(request, stop=max(request.start, end), how=list)
        found |= zip(places, read(table, tuple(plan[place] for place in places), some), strict=True)
    arrays = [found[place] for place in range(len(plan))]
    if request.how in (None, dict):
        return dict(zip((name for name, _ in plan), arrays, strict=True))
    return request.how(arrays)


def iterate(
    table: _core.Table, plan: Plan, request: Request, step_size: int | str | None, sizes: list[int] | None = None
) -> Iterator[Any]:
    """Like `read`, in steps; `sizes` gets the entries of each."""
    return in_steps(table, plan, request, step_size, grouper(request.library, request.how), sizes)


def in_steps(
    table: _core.Table,
    plan: Plan,
    request: Request,
    step_size: int | str | None,
    group: Callable[[_core.ReadBatch, Plan, Any], Any],
    sizes: list[int] | None = None,
    narrowed: Callable[[Request], Request] | None = None,
) -> Iterator[Any]:
    """The result of `group` for each step's batch, its plan and the numbers of its entries. `narrowed` tells which
    entries of a request are read; steps are those of all."""
    by_entries = step_size if isinstance(step_size, int) else None
    by_bytes = _core.size(step_size) if isinstance(step_size, str) else None
    if by_entries is not None and by_entries < 1:
        raise ValueError("a step needs at least one entry")
    request, _ = held(table, plan, request)
    reading, read = request.reading(columns(plan)), request if narrowed is None else narrowed(request)
    if read is not request:
        # It may have no entries, and is NumPy's: then it has an address.
        reading = replace(reading, selection=read.selection)
    steps = table.steps(reading, by_entries, by_bytes)

    def run() -> Iterator[Any]:
        done, start = 0, request.start
        try:
            for batch in steps:
                if sizes is not None:
                    sizes.append(replace(request, start=start, stop=steps.stop).count)
                    start = steps.stop
                yield group(batch, plan, read.index(done))
                done += len(batch)
        finally:
            steps.close()

    return run()


def grouper(library: str, how: Any) -> Any:
    """The function that makes the result of a batch: the library's own form, or arrays in a container."""
    try:
        group = GROUPERS[library]
    except KeyError:
        raise ValueError(f"unknown library {library!r}: choose one of {', '.join(map(repr, GROUPERS))}") from None
    if library in PACKAGES:
        needed(PACKAGES[library], f"library={library!r}")
    if how is None:
        return group
    if how not in (tuple, list, dict) or library not in ("ak", "np", "pd"):
        raise ValueError(
            f"how={how!r} does not work with library {library!r}: use tuple, list or dict with 'ak', 'np' or 'pd'"
        )
    if library == "pd":
        return _columns_of(how)
    single = awkward_array if library == "ak" else _numpy_array

    def apart(batch: _core.ReadBatch, plan: Plan, _: Any) -> Any:
        arrays = [(name, single(batch, place)) for name, place in placed(plan)]
        return dict(arrays) if how is dict else how(array for _, array in arrays)

    return apart


def _columns_of(how: Any) -> Callable[[_core.ReadBatch, Plan, Any], Any]:
    """The function that puts the columns of a DataFrame into a container."""

    def apart(batch: _core.ReadBatch, plan: Plan, index: Any) -> Any:
        found = _group_pandas(batch, plan, index)
        columns = [(name, found[name]) for name in found.columns]
        return dict(columns) if how is dict else how(one for _, one in columns)

    return apart


def awkward_array(batch: _core.ReadBatch, place: Part) -> Any:
    """An awkward array of what lies at a place in a batch."""
    import awkward as ak

    return ak.Array(_awkward_layout(batch, place))


def _awkward_layout(batch: _core.ReadBatch, place: Part) -> Any:
    from .._libraries import awkward

    if isinstance(place, int):
        return awkward.layout(batch.take(place))
    return awkward.record([(name, _awkward_layout(batch, part)) for name, part in place], len(batch))


def _numpy_array(batch: _core.ReadBatch, place: Part) -> Any:
    if isinstance(place, int):
        return numpy_array(batch.take(place))
    return {name: _numpy_array(batch, part) for name, part in place}


def _group_awkward(batch: _core.ReadBatch, plan: Plan, _: Any) -> Any:
    return awkward_array(batch, placed(plan))


def _group_numpy(batch: _core.ReadBatch, plan: Plan, _: Any) -> Any:
    return _numpy_array(batch, placed(plan))


def _group_pandas(batch: _core.ReadBatch, plan: Plan, index: Any) -> Any:
    arrays = {name: _pandas_column(batch, place) for place, name in enumerate(names(plan))}
    return frames.frame(arrays, _of_batch(index, batch), len(batch))


def _pandas_column(batch: _core.ReadBatch, place: int) -> Any:
    return pandas_column(batch.take(place))


def pandas_column(node: _core.Node) -> Any:
    """The array that `frames` makes columns of."""
    if node[0].partition(" ")[0] in NESTED and frames.wants_awkward():
        import awkward as ak

        from .._libraries import awkward

        return ak.Array(awkward.layout(node))
    return numpy_array(node)


def numpy_array(node: _core.Node) -> Any:
    """The array of NumPy's, with elements that have the methods of their families."""
    # It imports NumPy.
    from .._libraries import numpy as _numpy

    return _numpy.array(node, _maker)


def _maker(lineage: str) -> Callable[[dict[str, Any]], Any] | None:
    """That of `objects.model`, which is imported where a class may have a family: most arrays have no such records."""
    if BASE not in lineage and not lineage.startswith(("T", "Roo")):
        return None
    from ..objects.model import maker

    return maker(lineage)


def _of_batch(index: Any, batch: _core.ReadBatch) -> Any:
    """The numbers of the entries of a batch."""
    return index if isinstance(index, int) else index[: len(batch)]


def _group_arrow(batch: _core.ReadBatch, plan: Plan, _: Any) -> Any:
    import pyarrow as pa

    return pa.table(batch.shared().renamed(names(plan)))


def _group_polars(batch: _core.ReadBatch, plan: Plan, _: Any) -> Any:
    import polars as pl

    refuse_variants(name for name, variant in zip(names(plan), batch.variants(), strict=True) if variant)
    return pl.DataFrame(batch.shared().renamed(names(plan)))


def refuse_variants(names: Iterable[str]) -> None:
    """Says that polars, which would panic, has no type for these columns."""
    name = next(iter(names), None)
    if name is not None:
        raise ValueError(f"column {name!r} has variants, for which polars has no type: use library 'ak' or 'arrow'")


GROUPERS = {
    "ak": _group_awkward,
    "np": _group_numpy,
    "pd": _group_pandas,
    "arrow": _group_arrow,
    "pl": _group_polars,
}
