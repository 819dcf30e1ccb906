"""Converts Arrow buffers to the arrays of a library. Only truth values, which are bits in Arrow, and numpy's arrays of
objects are copied. A library is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .request import Request
    from .tree import Branch

    Chosen: TypeAlias = list[tuple[str, Branch]]

#: A name with its column, or with the plan of the branches that it groups.
Plan: TypeAlias = "list[tuple[str, int | Plan]]"


def plan(chosen: Chosen) -> Plan:
    """The columns to read for these branches: a branch that groups others is a record of them."""
    made: Plan = []
    for name, branch in chosen:
        if branch._column is None:
            below = plan([(one.name, one) for one in branch._below])
            if below:
                made.append((name, below))
        else:
            made.append((name, branch._column))
    return made


def columns(made: Plan) -> list[int]:
    """The columns of a plan, in order."""
    return [c for _, one in made for c in ([one] if isinstance(one, int) else columns(one))]


def names(made: Plan, above: str = "") -> list[str]:
    """The paths of the columns of a plan, in order."""
    return [
        path
        for name, one in made
        for path in ([above + name] if isinstance(one, int) else names(one, f"{above}{name}/"))
    ]


def read_arguments(table: _core.Table, chosen: Chosen, request: Request) -> tuple[list[int], int, int, Any, int, int]:
    """The arguments of `_core.Table.read`."""
    numbers, stop = numbers_of(request.selection, table.entries), request.stop
    if numbers is not None and len(numbers) == 0:
        # An empty buffer has no address.
        numbers, stop = None, request.start
    return (columns(plan(chosen)), request.start, stop, numbers, request.threads, request.bytes)


def numbers_of(selection: Any, entries: int) -> Any:
    """A selection as ascending entry numbers of 64 bits, in an object with a buffer."""
    if selection is None:
        return None
    if not hasattr(selection, "dtype") and (hasattr(selection, "__array__") or hasattr(selection, "layout")):
        import numpy as np

        selection = np.asarray(selection)
    if hasattr(selection, "dtype"):
        import numpy as np

        chosen = np.asarray(selection)
        if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
            raise ValueError(f"a selection must be a mask or entry numbers in one dimension, not {chosen.dtype}")
        if chosen.dtype == bool:
            _check_mask(len(chosen), entries)
            chosen = np.flatnonzero(chosen)
        _check_range(chosen[:1], chosen[-1:], entries)
        return np.ascontiguousarray(chosen, dtype=np.uint64)
    import array

    listed = list(selection)
    if listed and all(isinstance(one, bool) for one in listed):
        _check_mask(len(listed), entries)
        listed = [number for number, wanted in enumerate(listed) if wanted]
    _check_range(listed[:1], listed[-1:], entries)
    return array.array("Q", listed)


def _check_mask(length: int, entries: int) -> None:
    if length != entries:
        raise ValueError(f"a mask needs a value for each of {entries} entries, not {length}")


def _check_range(first: Any, last: Any, entries: int) -> None:
    for one in (*first, *last):
        if not 0 <= one < entries:
            raise IndexError(f"no entry {one}: entries are numbered from 0 to {entries - 1}")


def read(table: _core.Table, chosen: Chosen, request: Request) -> Any:
    """Branches as arrays of a library, grouped."""
    made, group = plan(chosen), grouper(request.library, request.how)
    arguments = read_arguments(table, chosen, request)
    return group(table.read(arguments), made, _index(arguments, 0))


def read_one(table: _core.Table, chosen: tuple[str, Branch], request: Request) -> Any:
    """One branch as an array of a library."""
    arguments = read_arguments(table, [chosen], request)
    tables = request.library in ("pd", "arrow", "pl")
    group = grouper(request.library, None if tables else list)
    found = group(table.read(arguments), plan([chosen]), _index(arguments, 0))
    return found[chosen[0]] if tables else found[0]


def iterate(table: _core.Table, chosen: Chosen, request: Request, step_size: int | str | None) -> Iterator[Any]:
    """Like `read`, in steps."""
    return in_steps(table, chosen, request, step_size, grouper(request.library, request.how))


def in_steps(
    table: _core.Table,
    chosen: Chosen,
    request: Request,
    step_size: int | str | None,
    group: Callable[[_core.Batch, Plan, Any], Any],
) -> Iterator[Any]:
    """The result of `group` for each step's batch, its plan and the numbers of its entries."""
    made = plan(chosen)
    arguments = read_arguments(table, chosen, request)
    by_entries = step_size if isinstance(step_size, int) else None
    by_bytes = _core.size(step_size) if isinstance(step_size, str) else None
    if by_entries is not None and by_entries < 1:
        raise ValueError("a step needs at least one entry")
    steps = table.steps(arguments, by_entries, by_bytes)

    def run() -> Iterator[Any]:
        done = 0
        try:
            for batch in steps:
                yield group(batch, made, _index(arguments, done))
                done += len(batch)
        finally:
            steps.close()

    return run()


def _index(arguments: tuple[Any, ...], done: int) -> Any:
    """Numbers of the entries after the first `done`: the first number of a range, or a list."""
    _, start, stop, chosen, _, _ = arguments
    if chosen is None:
        return start + done
    import bisect

    return chosen[bisect.bisect_left(chosen, start) : bisect.bisect_left(chosen, stop)][done:]


def grouper(library: str, how: Any) -> Any:
    """The function that makes the result of a batch: the library's own form, or arrays in a container."""
    try:
        group = GROUPERS[library]
    except KeyError:
        raise ValueError(f"unknown library {library!r}: choose one of {', '.join(map(repr, GROUPERS))}") from None
    if how is None:
        return group
    if how not in (tuple, list, dict) or library not in ("ak", "np"):
        raise ValueError(
            f"how={how!r} does not work with library {library!r}: use tuple, list or dict with 'ak' or 'np'"
        )
    single = _awkward if library == "ak" else _numpy

    def apart(batch: _core.Batch, made: Plan, _: Any) -> Any:
        arrays = [single(batch, one) for one in _placed(made)]
        if how is dict:
            return dict(zip((name for name, _ in made), arrays, strict=True))
        return how(arrays)

    return apart


def _placed(made: Plan, first: int = 0) -> list[Any]:
    """A plan with positions in a batch instead of columns."""
    placed: list[Any] = []
    for _, one in made:
        if isinstance(one, int):
            placed.append(first)
            first += 1
        else:
            placed.append(list(zip((name for name, _ in one), _placed(one, first), strict=True)))
            first += len(columns(one))
    return placed


def _group_awkward(batch: _core.Batch, made: Plan, _: Any) -> Any:
    import awkward as ak

    return ak.Array(_awkward_record(batch, list(zip((n for n, _ in made), _placed(made), strict=True))))


def _awkward_record(batch: _core.Batch, parts: list[tuple[str, Any]]) -> Any:
    from . import _awkward as awkward

    return awkward.record([(name, _awkward_layout(batch, one)) for name, one in parts], len(batch))


def _awkward_layout(batch: _core.Batch, one: Any) -> Any:
    from . import _awkward as awkward

    return awkward.layout(batch.node(one)) if isinstance(one, int) else _awkward_record(batch, one)


def _awkward(batch: _core.Batch, one: Any) -> Any:
    import awkward as ak

    return ak.Array(_awkward_layout(batch, one))


def _numpy(batch: _core.Batch, one: Any) -> Any:
    from . import _numpy as numpy

    if isinstance(one, int):
        return numpy.array(batch.node(one))
    return {name: _numpy(batch, part) for name, part in one}


def _group_numpy(batch: _core.Batch, made: Plan, _: Any) -> Any:
    return {name: _numpy(batch, one) for (name, _), one in zip(made, _placed(made), strict=True)}


def _group_pandas(batch: _core.Batch, made: Plan, index: Any) -> Any:
    from . import _numpy as numpy

    arrays = {name: numpy.array(batch.node(place)) for place, name in enumerate(names(made))}
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


def _group_arrow(batch: _core.Batch, made: Plan, _: Any) -> Any:
    import pyarrow as pa

    return pa.table(batch.renamed(names(made)))


def _group_polars(batch: _core.Batch, made: Plan, _: Any) -> Any:
    import polars as pl

    return pl.DataFrame(batch.renamed(names(made)))


GROUPERS = {
    "ak": _group_awkward,
    "np": _group_numpy,
    "pd": _group_pandas,
    "arrow": _group_arrow,
    "pl": _group_polars,
}
