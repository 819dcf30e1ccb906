"""Virtual arrays of awkward: columns that are read when their values are first asked for."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import libraries
from .plan import columns, placed

if TYPE_CHECKING:
    from .. import _core
    from .plan import Part, Plan
    from .request import Request


@dataclass(frozen=True)
class Accessed:
    """A buffer of a column that was asked for."""

    #: The name of the branch.
    branch: str
    #: The buffer, as awkward names it: `node0-data`, `node0-offsets`.
    buffer: str = ""


def check(wanted: bool, log: list[Any] | None, given: dict[str, Any]) -> None:
    """Refuses arguments that contradict each other: those that need values, for arrays without values."""
    if wanted:
        name = next((name for name, value in given.items() if value is not None), None)
        if name is not None:
            raise ValueError(f"{name} cannot be used with 'virtual=True'")
    elif log is not None:
        raise ValueError("access_log cannot be used with 'virtual=False'")


def arrays(table: _core.Table, plan: Plan, request: Request, log: list[Any] | None) -> Any:
    """An awkward array of records whose columns are virtual."""
    import awkward as ak

    length = request.stop - request.start
    parts = [(name, column(table, name, part, request, log)) for name, part in plan]
    from .._libraries import awkward

    return ak.Array(awkward.record([(name, one.layout) for name, one in parts], length))


def column(table: _core.Table, name: str, part: Part, request: Request, log: list[Any] | None) -> Any:
    """One virtual column."""
    import awkward as ak

    def read(what: Request) -> Any:
        plan = ((name, part),)
        batch = table.read(what.reading(columns(plan)))
        return ak.to_buffers(libraries.awkward_array(batch, placed(plan)[0][1]))

    form, _, shapes = read(replace(request, stop=request.start))

    @functools.cache
    def buffers() -> Any:
        return read(request)[2]

    def buffer(key: str) -> Any:
        # The tags of a variant and the places of its values come from one column.
        if log is not None and not key.endswith("-tags"):
            log.append(Accessed(name, key))
        return buffers()[key]

    container = {key: functools.partial(buffer, key) for key in shapes}
    return ak.from_buffers(form, request.stop - request.start, container)
