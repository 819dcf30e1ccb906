"""A LazyFrame of polars over files: the columns that a query needs are read, and of those beside its condition only
what the condition keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import _core
from .._shared.packages import needed
from ..reading.bounds import MIRRORED, compared
from ..reading.request import MEMORY
from .source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from ..reading.forms import Join, Places
    from ..reading.table import Table

#: The names of comparisons in polars's own form of an expression.
SIGNS = {"Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">=", "Eq": "=="}
#: A name that no file has, for the truth of a condition.
KEPT = "basketry:kept"


def scan(
    files: Places | Table[Any],
    tree: str | None = None,
    *,
    join: Join = "strict",
    widen: bool = False,
    threads: int = 0,
    memory: int | str = MEMORY,
) -> pl.LazyFrame:
    """A LazyFrame of polars over the entries of files: trees, RNTuples or Parquet files, which are read when it is
    collected.

        muons = basketry.scan("run*.root:Events").filter(pl.col("nMuon") > 1).select("Muon_pt", "MET_pt").collect()

    files: a path or URL, a pattern, FILE:TREE, a list of these, a dict of files and their trees, or an open table.
    tree: the tree or RNTuple, where `files` names none and a file has several.
    join, widen: how files are joined whose columns differ, as in `basketry.open`.
    threads, memory: limits of the reading, 0 for all cores; polars has its own for what it computes.

    Of the file only the columns are read that the query names. Columns of a condition (`filter`) are read first, polars
    itself computes it, and of the other columns only the baskets or pages with a kept entry are read where few are
    kept. A row limit (`head`) ends the reading. Frames come in steps of at most an eighth of `memory`, so that
    `collect(engine="streaming")` and `sink_parquet` take files of any size. Lists are polars's `List`, arrays of fixed
    size its `Array`, records its `Struct`; columns with variants are left out. A frame can be collected many times.

    Without polars it is an `ImportError` that says how to get it; errors of files are those of `basketry.open`, and
    come at once; those of damaged data come when the frame is collected.
    """
    polars = needed("polars", "basketry.scan")
    plugins = needed("polars.io.plugins", "basketry.scan")
    source = Source.of(files, tree, joining=(join, widen), limits=(threads, memory))
    schema = polars.DataFrame(source.empty(source.names)).schema

    def batches(
        with_columns: Sequence[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,  # noqa: ARG001 (polars passes it; steps are sized by memory)
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if with_columns is None else list(with_columns)
        names = None if predicate is None else list(dict.fromkeys(predicate.meta.root_names()))
        # A condition without a column is the same for all rows: it is computed beside one.
        needs = [next(iter(schema))] if names == [] and len(schema) else names
        return source.frames(Polars(polars, predicate), wanted, needs=needs, limit=n_rows)

    made: pl.LazyFrame = plugins.register_io_source(batches, schema=schema, is_pure=True)
    return made


class Polars:
    """Frames of polars; see `source.Frames`."""

    def __init__(self, polars: Any, predicate: Any) -> None:
        self._polars = polars
        self._predicate = predicate

    def made(self, batch: _core.Batch) -> Any:
        return self._polars.DataFrame(batch)

    def counted(self, rows: int) -> Any:
        return self._polars.DataFrame(height=rows)

    def kept(self, frame: Any) -> Any:
        # What is null is not kept.
        return frame.with_columns(self._predicate.fill_null(False).alias(KEPT))[KEPT].to_numpy()

    def implied(self, column: Callable[[str], int | None]) -> str:
        try:
            tree = json.loads(self._predicate.meta.serialize(format="json"))
            return " and ".join(filter(None, _implied(tree, column)))
        except (TypeError, ValueError, self._polars.exceptions.PolarsError):
            # Its own form differs between versions.
            return ""

    def filtered(self, frame: Any, kept: Any) -> Any:
        return frame.filter(kept)

    def joined(self, frames: Sequence[Any], wanted: Sequence[str]) -> Any:
        first, *others = frames
        return first.hstack([one for other in others for one in other.get_columns()]).select(wanted)


def _implied(node: Any, column: Callable[[str], int | None]) -> Iterator[str | None]:
    """What is true of columns wherever an expression is, which is given in polars's own form; see `Frames.implied`."""
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            yield from _implied(left, column)
            yield from _implied(right, column)
        case {"BinaryExpr": {"left": left, "op": str(op), "right": right}} if op in SIGNS:
            sign = SIGNS[op]
            for operand, bound, own in ((left, right, sign), (right, left, MIRRORED[sign])):
                number, value = _column(operand, column), _number(bound)
                if number is not None and value is not None:
                    found = compared(number, own, value)
                    # In polars NaN is above all numbers.
                    yield found and f"({found} or c{number} != c{number})"


def _column(node: Any, column: Callable[[str], int | None]) -> int | None:
    match node:
        case {"Column": str(name)}:
            return column(name)
    return None


def _number(node: Any) -> float | None:
    match node:
        case {"Literal": {"Dyn": dict() as typed} | {"Scalar": dict() as typed}}:
            (value,) = typed.values()
            return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    return None
