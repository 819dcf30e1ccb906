"""Converts Arrow buffers to the arrays of a library. Only truth values, which are bits in Arrow, and numpy's arrays of
objects are copied. A library is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from .reading_plan import columns, names, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .reading_plan import Part, Plan
    from .request import Request


def read(table: _core.Table, plan: Plan, request: Request) -> Any:
    """Columns as arrays of a library, grouped."""
    group = grouper(request.library, request.how)
    return group(table.read(request.reading(columns(plan)), request.told), plan, request.index(0))


def read_one(table: _core.Table, name: str, column: int, request: Request) -> Any:
    """One column as an array of a library."""
    tables = request.library in ("pd", "arrow", "pl")
    group = grouper(request.library, None if tables else list)
    found = group(table.read(request.reading([column]), request.told), ((name, column),), request.index(0))
    return found[name] if tables else found[0]


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
    group: Callable[[_core.Batch, Plan, Any], Any],
    sizes: list[int] | None = None,
) -> Iterator[Any]:
    """The result of `group` for each step's batch, its plan and the numbers of its entries."""
    by_entries = step_size if isinstance(step_size, int) else None
    by_bytes = _core.size(step_size) if isinstance(step_size, str) else None
    if by_entries is not None and by_entries < 1:
        raise ValueError("a step needs at least one entry")
    steps = table.steps(request.reading(columns(plan)), by_entries, by_bytes)

    def run() -> Iterator[Any]:
        done = 0
        try:
            for batch in steps:
                if sizes is not None:
                    sizes.append(len(batch))
                yield group(batch, plan, request.index(done))
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
    if how is None:
        return group
    if how not in (tuple, list, dict) or library not in ("ak", "np", "pd"):
        raise ValueError(
            f"how={how!r} does not work with library {library!r}: use tuple, list or dict with 'ak', 'np' or 'pd'"
        )
    if library == "pd":
        return _columns_of(how)
    single = awkward_array if library == "ak" else _numpy_array

    def apart(batch: _core.Batch, plan: Plan, _: Any) -> Any:
        arrays = [(name, single(batch, place)) for name, place in placed(plan)]
        return dict(arrays) if how is dict else how(array for _, array in arrays)

    return apart


def _columns_of(how: Any) -> Callable[[_core.Batch, Plan, Any], Any]:
    """The function that puts the columns of a DataFrame into a container."""

    def apart(batch: _core.Batch, plan: Plan, index: Any) -> Any:
        found = _group_pandas(batch, plan, index)
        columns = [(name, found[name]) for name in found.columns]
        return dict(columns) if how is dict else how(one for _, one in columns)

    return apart


def awkward_array(batch: _core.Batch, place: Part) -> Any:
    """An awkward array of what lies at a place in a batch."""
    import awkward as ak

    return ak.Array(_awkward_layout(batch, place))


def _awkward_layout(batch: _core.Batch, place: Part) -> Any:
    from . import _awkward as awkward

    if isinstance(place, int):
        return awkward.layout(batch.node(place))
    return awkward.record([(name, _awkward_layout(batch, part)) for name, part in place], len(batch))


def _numpy_array(batch: _core.Batch, place: Part) -> Any:
    from . import _numpy as numpy

    if isinstance(place, int):
        return numpy.array(batch.node(place))
    return {name: _numpy_array(batch, part) for name, part in place}


def _group_awkward(batch: _core.Batch, plan: Plan, _: Any) -> Any:
    return awkward_array(batch, placed(plan))


def _group_numpy(batch: _core.Batch, plan: Plan, _: Any) -> Any:
    return _numpy_array(batch, placed(plan))


def _group_pandas(batch: _core.Batch, plan: Plan, index: Any) -> Any:
    from . import _numpy as numpy

    arrays = {name: numpy.array(batch.node(place)) for place, name in enumerate(names(plan))}
    return frame(arrays, index if isinstance(index, int) else index[: len(batch)], len(batch))


def frame(arrays: Mapping[str, Any], index: Any, length: int) -> Any:
    """numpy arrays as a DataFrame; `index` is a list of entry numbers, or the first of consecutive ones."""
    import itertools

    import numpy as np
    import pandas as pd

    flat: dict[str, Any] = {}
    for name, array in arrays.items():
        if array.ndim > 1:
            # As in uproot: a column for each element.
            rows = array.reshape(len(array), -1)
            for i, at in enumerate(itertools.product(*map(range, array.shape[1:]))):
                flat[f"{name}{''.join(f'[{one}]' for one in at)}"] = rows[:, i]
        elif array.dtype.names is not None:
            flat |= {f"{name}.{part}": array[part] for part in array.dtype.names}
        else:
            flat[name] = array
    first = isinstance(index, int)
    return pd.DataFrame(flat, index=pd.RangeIndex(index, index + length) if first else np.asarray(index, np.int64))


def _group_arrow(batch: _core.Batch, plan: Plan, _: Any) -> Any:
    import pyarrow as pa

    return pa.table(batch.renamed(names(plan)))


def _group_polars(batch: _core.Batch, plan: Plan, _: Any) -> Any:
    import polars as pl

    return pl.DataFrame(batch.renamed(names(plan)))


GROUPERS = {
    "ak": _group_awkward,
    "np": _group_numpy,
    "pd": _group_pandas,
    "arrow": _group_arrow,
    "pl": _group_polars,
}
