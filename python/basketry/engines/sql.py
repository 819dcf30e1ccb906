"""Queries of DuckDB over files: the columns that a query names are read, and of those beside its condition only what
the condition keeps."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any

from .._shared.packages import needed
from ..reading.request import MEMORY
from .source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from ..reading.forms import Join, Places
    from ..reading.table import Table


def sql(
    query: str,
    tables: Mapping[str, Places | Table[Any]] | None = None,
    /,
    *,
    connection: duckdb.DuckDBPyConnection | None = None,
    parameters: Any = None,
    join: Join = "strict",
    widen: bool = False,
    threads: int = 0,
    memory: int | str = MEMORY,
    **files: Places | Table[Any],
) -> duckdb.DuckDBPyRelation:
    """The result of a query of DuckDB over files, as DuckDB's relation (`fetchall`, `df`, `pl`, `arrow`, `show`).

        basketry.sql("select avg(MET_pt) from t where nMuon > 1", t="run*.root:Events").fetchall()

    query: SQL of DuckDB. Keywords name its tables: each is a path or URL, a pattern, FILE:TREE, a list of these, a dict
    of files and their trees, or an open table. `tables` is a dict of such, for other names.
    connection: a connection of `duckdb.connect()`, where the tables stay as views; by default a new one in memory.
    parameters: values for the `?` or `$name` of the query.
    join, widen: how files are joined whose columns differ, as in `basketry.open`.
    threads, memory: limits of the reading of each table, 0 for all cores; DuckDB has its own for what it computes.

    Of the files only the columns are read that the query names. Simple conditions on numbers and texts (`where nMuon >
    1 and MET_pt < 20`) are handed over by DuckDB: their columns are read first, without clusters of which is known that
    they do not pass, and of the other columns only the baskets or pages with a kept entry are read where few are kept.
    Other conditions, `>` and `>=` of floating-point numbers among them, are computed by DuckDB from all entries of
    their columns. Batches come in steps
    of at most an eighth of `memory`. Lists are DuckDB's lists, arrays of fixed size its arrays, records its structs;
    columns with variants are left out. The query runs when the result is asked for.

    Without duckdb or pyarrow it is an `ImportError` that says how to get them. Errors of files are those of
    `basketry.open`, errors of the query those of DuckDB.
    """
    package = needed("duckdb", "basketry.sql", "pyarrow")
    needed("pyarrow.dataset", "basketry.sql")
    from .arrow import ArrowSource

    if tables is not None and not isinstance(tables, collections.abc.Mapping):
        raise TypeError("tables must be a dict of files by the names of tables in the query")
    given = {**(tables or {}), **files}
    if not given:
        raise ValueError("no table is named: sql('select ... from t', t='events.root:Events')")
    own = package.connect() if connection is None else connection
    for name, places in given.items():
        source = Source.of(places, None, joining=(join, widen), limits=(threads, memory))
        own.register(name, ArrowSource(source))
    found: duckdb.DuckDBPyRelation = own.sql(query, params=parameters)
    if found is None:
        raise ValueError("the query has no result: only queries such as SELECT have one")
    return found
