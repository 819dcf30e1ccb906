"""The verbs that look into files as functions: `ls`, `show`, `count`, `schema`, `stats` and `draw`. Arguments and
errors are those of `files`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._core import report
from .calling import as_defines, as_paths

if TYPE_CHECKING:
    from typing import TypeAlias

    from ..reports import Counts, Drawing, Listing, Rows, TableColumns, TableStatistics
    from .options import Defines, Names, Place, Places, Size

    #: A number of bins, or that and from where to where they reach; or a text, as in "50,0,100".
    Bins: TypeAlias = int | tuple[int, float, float] | str


def ls(
    files: Places,
    *,
    tables: bool = False,
    recursive: bool = False,
    all_cycles: bool = False,
    allow_no_match: bool = False,
) -> Listing:
    """The objects of files with their classes, titles, cycles, sizes and dates, by lists of keys alone.

    A file is FILE, or FILE:PATH for a directory, an object or a pattern such as "f.root:hists/*". `recursive` lists
    directories with all below them, `tables` the entries and columns of trees and RNTuples, `all_cycles` older cycles.
    A path or pattern that means no object is a `ValueError` without `allow_no_match`.
    """
    from ..reports.looking import Listing
    from ..reports.parse import parse

    options = {"tables": tables, "recursive": recursive, "all_cycles": all_cycles, "allow_no_match": allow_no_match}
    return parse(Listing, report("ls", {"json": True, **options}, as_paths(files)))


def count(files: Places, *, allow_no_match: bool = False) -> Counts:
    """The entries of trees, RNTuples and Parquet files, by metadata alone: of all tables of a file, or of FILE:TREE,
    which may be a pattern. `Counts.totals` has them over all files. A file without such a table is a `ValueError`
    without `allow_no_match`."""
    from ..reports.looking import Counts
    from ..reports.parse import parse

    return parse(Counts, report("count", {"json": True, "allow_no_match": allow_no_match}, as_paths(files)))


def schema(file: Place, *, diff: Place | None = None, follow_urls: bool = False) -> TableColumns:
    """The columns of a table, with their types in C++ and in Arrow. With `diff`, another FILE or FILE:TREE,
    `TableColumns.differences` lists the columns in which they differ. `follow_urls` is that of `rewrite`."""
    from ..reports.looking import TableColumns
    from ..reports.parse import parse

    options = {"json": True, "diff": None if diff is None else os.fspath(diff), "follow_urls": follow_urls}
    return parse(TableColumns, report("schema", options, [os.fspath(file)]))


def show(
    file: Place,
    columns: Names = (),
    *,
    number: int | None = None,
    entries: str | os.PathLike[str] | None = None,
    cut: Names = (),
    weight: str | None = None,
    define: Defines = (),
    allow_no_match: bool = False,
    follow_urls: bool = False,
    threads: int = 0,
    memory: Size = "1GiB",
) -> Rows:
    """Some entries of a tree, an RNTuple or a Parquet file as plain values: lists, dicts, texts and numbers. It is for
    looking; arrays of many entries are faster by `basketry.open`.

    `columns` are names, globs or /regex/, by default all; `number` is the most entries, by default 10, or with
    `entries` (ranges as in Python, such as "100:110", a random share, or a file that lists them) all of these. Numbers
    that are not finite are texts. A value that cannot be read is `{"unreadable": why}`, and one that a column does not
    hold is None, with a note in `notes`. Names and entries that match nothing are an error, unless `allow_no_match`.
    `threads` decode within `memory` (0: all cores).
    `cut`, `weight` and `define` are those of `rewrite`: of the entries that pass all cuts the first ones are shown, and
    `define={"ht": "sum(Jet_pt)"}`, or "ht=sum(Jet_pt)", shows a column more.
    """
    from ..reports.looking import Rows
    from ..reports.parse import parse

    options = {
        "json": True,
        "number": number,
        "entries": None if entries is None else os.fspath(entries),
        "cut": _listed(cut),
        "weight": weight,
        "define": as_defines(define),
        "allow_no_match": allow_no_match,
        "follow_urls": follow_urls,
        "threads": threads,
        "memory": memory,
    }
    return parse(Rows, report("show", options, [os.fspath(file), *_listed(columns)]))


def stats(
    file: Place,
    columns: Names = (),
    *,
    entries: str | os.PathLike[str] | None = None,
    cut: Names = (),
    weight: str | None = None,
    define: Defines = (),
    allow_no_match: bool = False,
    follow_urls: bool = False,
    threads: int = 0,
    memory: Size = "1GiB",
) -> TableStatistics:
    """The values of columns in figures: counts, extremes, mean and standard deviation, quantiles, lengths of lists, a
    small histogram. Each column is read once.

    `file` is FILE, FILE:TREE, or a pattern, whose files count as one. `columns`, `entries`, `cut`, `weight`,
    `define`, `allow_no_match`, `threads` and `memory` are those of `show`; by default all columns and entries.
    Quantiles and histograms are exact for up to 65,536 numbers of a column (`ColumnStatistics.exact`), and otherwise
    those of a random sample of so many. So many different values are counted (`different_exact`), and otherwise their
    number is estimated within 1%. What is kept of columns is within `memory`, which changes no figure.
    """
    from ..reports.looking import TableStatistics
    from ..reports.parse import parse

    options = {
        "json": True,
        "columns": _listed(columns),
        "entries": None if entries is None else os.fspath(entries),
        "cut": _listed(cut),
        "weight": weight,
        "define": as_defines(define),
        "allow_no_match": allow_no_match,
        "follow_urls": follow_urls,
        "threads": threads,
        "memory": memory,
    }
    return parse(TableStatistics, report("stats", options, [os.fspath(file)]))


def draw(
    file: Place,
    expression: str | None = None,
    *,
    cut: Names = (),
    weight: str | None = None,
    define: Defines = (),
    bins: Bins | None = None,
    bins_y: Bins | None = None,
    log: bool = False,
    besides: Places = (),
    entries: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    allow_no_match: bool = False,
    follow_urls: bool = False,
    threads: int = 0,
    memory: Size = "1GiB",
) -> Drawing:
    """The histogram of an expression over a table, or without an expression one that a file has (FILE:HISTOGRAM).

    `expression` is one expression, or "Y:X" for two axes. Each item of a list is filled. Several conditions (`cut`) and
    the files `besides` are several curves in the same bins. `weight` is an expression, and
    `define={"ht": "sum(Jet_pt)"}` gives one a name for the others. `bins` is a number of bins, or
    (number, low, high), also as a text; without it bins reach from the least number to the largest. `bins_y` are those
    upwards.

    `Drawing.curves` has the contents of the bins with their errors, and counts of what is outside of them or NaN.
    `output` also makes a picture, an SVG file, with contents on a logarithmic scale if `log`; `force` replaces one.
    `file`, `entries`, `allow_no_match`, `threads` and `memory` are those of `stats`.
    """
    from ..reports.looking import Drawing
    from ..reports.parse import parse

    options = {
        "json": True,
        "cut": _listed(cut),
        "weight": weight,
        "define": as_defines(define),
        "bins": _bins(bins),
        "bins_y": _bins(bins_y),
        "log": log,
        "with": as_paths(besides, may_be_empty=True),
        "entries": None if entries is None else os.fspath(entries),
        "output": None if output is None else os.fspath(output),
        "force": force,
        "allow_no_match": allow_no_match,
        "follow_urls": follow_urls,
        "threads": threads,
        "memory": memory,
    }
    return parse(Drawing, report("draw", options, [os.fspath(file), *([] if expression is None else [expression])]))


def _listed(names: Names) -> list[str]:
    """One name or several as a list."""
    return [names] if isinstance(names, str) else list(names)


def _bins(bins: Bins | None) -> str | None:
    """Bins as the option has them."""
    return None if bins is None else str(bins) if isinstance(bins, int | str) else ",".join(map(str, bins))
