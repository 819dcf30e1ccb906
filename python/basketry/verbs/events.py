"""Events by their keys as functions: `index`, `pick`, `sort` and `join`. Arguments and errors are those of `files`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._shared.signatures import spelled
from .calling import as_paths, as_tables, called
from .options import DEFAULTS, Indexing, Pairing, Picking, Sorting

if TYPE_CHECKING:
    from typing import Unpack

    from .._shared.progress import Progress
    from ..reports import Indexed, Joined, Picked, Summary
    from .options import Events, Place, Places


@spelled(Indexing, defaults=DEFAULTS["index"])
def index(files: Places, output: Place, *, progress: Progress = None, **options: Unpack[Indexing]) -> Indexed:
    """Makes an index of files: the key of each entry, such as run, luminosityBlock and event, with its file and number,
    sorted. `pick` finds events in it.

    `output` is a Parquet file, which polars, DuckDB and others read (docs/index-format.md). Only the columns of the key
    are read. With `extend` the keys of new files are added to an index that is there; a file that has changed since is
    read anew, and is in `Indexed.files_changed`. `progress` is that of `rewrite`; it counts bytes that are read.

    Options:

    - `key`: The key: columns, or expressions, with commas between them. Whole numbers, truth values and floats, which
      take 128 bits at most.
    - `extend`: Add the files to the index that is there.
    - `remove`: Take the files out of the index that is there. They need not exist any more.
    - `force`: Replace an existing file.
    - `skip_bad`: Leave out files that cannot be read, or lack the table or the columns of the key. They are listed.
    - `follow_urls`, `threads`, `memory`: those of `rewrite`.
    """
    from ..reports.finding import Indexed

    return called(
        Indexed, "index", options, Indexing, as_paths(files, may_be_empty=True), progress, output=os.fspath(output)
    )


@spelled(Picking, defaults=DEFAULTS["pick"])
def pick(files: Places, output: Place, *, progress: Progress = None, **options: Unpack[Picking]) -> Picked:
    """Picks events by their keys, or by cuts, from many files into one.

    `events` is an event such as "1:24:30017" or (1, 24, 30017), a file of events, or several of these. Without `index`
    the columns of the key are read of all files; with it `files` may be empty, which means all files of the index. Only
    files that have events are opened, and only the baskets with their entries are read. `Picked.events` tells what each
    costs, and `Picked.missing` lists those that were not found; if there is none at all, `Picked.output` is None, and
    no file is written. `progress` is that of `rewrite`.

    Options:

    - `events`: The events: one such as 1:24:30017, or a file with a line for each. The values are those of the key in
      its order, with colons, commas or blanks between them; fewer values mean all events that begin with them. A JSON
      file is a mask of luminosity sections, such as {"1": [[10, 20]]}. FILE.root:LIST is a TEntryList, whose files are
      found among the inputs by their paths, or else by their names; or a TEventList, whose numbers go through all
      inputs.
    - `key`: The key: columns, or expressions, with commas between them. Default: run,luminosityBlock,event, or the key
      of the index.
    - `index`: Look the events up in this index.
    - `order`: The order of the picked entries: that of the files and their entries (files), or that of the events in
      the lists (asked). An event that is in the lists twice is written once. Default: "files".
    - `cut`: Take only entries for which an expression is true, such as 'nMuon > 1 && any(Muon_pt > 20)'; of the events,
      if they are named.
    - `skip_bad`: Leave out files that cannot be read, or lack the table or the columns. They are listed.
    - `common`: Keep only branches that all inputs have.
    - `fill`: Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input
      lacks.
    - `keep`, `drop`, `widen`, `force`, `follow_urls`, `threads`, `memory`, `layout`, `compression`, `allow_no_match`,
      the keys of a layout: those of `rewrite`.
    """
    from ..reports.finding import Picked

    if (events := options.get("events")) is not None:
        options["events"] = _as_lists(events)
    return called(
        Picked, "pick", options, Picking, as_paths(files, may_be_empty=True), progress, output=os.fspath(output)
    )


@spelled(Pairing, defaults=DEFAULTS["join"])
def join(
    files: Places,
    others: Places | Iterable[Places],
    output: Place,
    *,
    progress: Progress = None,
    **options: Unpack[Pairing],
) -> Joined:
    """Joins files by keys: to each entry of `files` the columns of the entry with the same key in `others`.

    `others` are the files of one table, or a list with the files of each of several tables, such as
    `[["b1.root", "b2.root"], ["c.root"]]`. `on` is a key such as "run,event", or `{"run": "Run", "event": "number"}`
    where columns of it have other names in `others`, `{"run": ["Run", "run_number"]}` with a name for each of several
    tables. All entries of `files` are kept in their order; several may have
    one partner. Those without a partner get zeros, empty lists and empty texts: `Joined.right` tells for each table how
    many there are, and which. `progress` is that of `rewrite`.

    Options:

    - `on`: The key, which all files have: columns, or expressions, with commas between them; LEFT=RIGHT where the files
      on the right call one otherwise, as in run=Run,event, or LEFT=RIGHT=RIGHT with a name for each `with`.
    - `how`: Which entries are written: all on the left (left), or those with a partner in all other files (inner).
      Default: "left".
    - `suffix`: What is added to names of columns that are there already: once for all `with`, or once for each.
    - `first`: Take the first of several entries with one key, in the order of the other files. Without this option they
      are an error.
    - `friend`: Write the columns of the other files alone, entry by entry as the files on the left, for
      TTree::AddFriend.
    - `from_key`: Join only keys from this one on: its values with colons between them, such as 1:24:30017. Fewer values
      mean all that begin with them.
    - `before_key`: Join only keys before this one. A plan of several jobs cuts keys so.
    - `common`: Keep only branches that all inputs have.
    - `fill`: Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input
      lacks.
    - `keep`, `drop`, `widen`, `force`, `follow_urls`, `threads`, `memory`, `layout`, `compression`, `allow_no_match`,
      the keys of a layout: those of `rewrite`.
    """
    from ..reports.finding import Joined

    own: dict[str, Any] = {"output": os.fspath(output), "with": as_tables(others)}
    return called(Joined, "join", options, Pairing, as_paths(files), progress, **own)


@spelled(Sorting, defaults=DEFAULTS["sort"])
def sort(inputs: Places, output: Place, *, progress: Progress = None, **options: Unpack[Sorting]) -> Summary:
    """Sorts the entries of files by keys, into one file. Entries with equal keys stay in the order of the inputs, and
    NaN comes last.

    `by` names columns such as "run,event" or ["run", "event"]; a minus before one lets it descend. Other trees and
    objects come along as in `merge`. What has no room in memory waits beside the output. `progress` is that of
    `rewrite`.

    Options:

    - `by`: The key: columns, or expressions with one number for each entry, with commas between them; the first counts
      most. A minus before one lets it descend, as in -pt,event.
    - `descending`: From the largest key to the least; a minus before a column then lets it ascend.
    - `common`: Keep only branches that all inputs have.
    - `fill`: Keep the branches of all inputs. Zeros, empty arrays and empty strings stand for branches that an input
      lacks.
    - The others: those of `rewrite`.
    """
    from ..reports.making import Summary

    return called(Summary, "sort", options, Sorting, as_paths(inputs), progress, output=os.fspath(output))


def _as_lists(events: Events) -> list[str]:
    """Events as the command takes them: files and events as texts, values with colons between them."""
    if isinstance(events, str | os.PathLike):
        return [os.fspath(events)]
    several = list(events)
    lists = [os.fspath(one) for one in several if isinstance(one, str | os.PathLike)]
    # A key of one column may be its value.
    keys = [one if isinstance(one, Iterable) else (one,) for one in several if not isinstance(one, str | os.PathLike)]
    values = [":".join(str(value) for value in key) for key in keys]
    # A text with a line break is a list itself.
    return lists + (["\n".join([*values, ""])] if values else [])
