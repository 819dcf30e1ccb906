"""The verbs that edit files as functions: `cp`, `mv`, `rm` and `mkdir`, for objects and directories in files; and
`split`. Arguments and errors are those of `files`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._core import report
from .calling import as_paths

if TYPE_CHECKING:
    from ..reports import Edited, Split
    from .options import Place, Places, Size


def cp(
    sources: Places,
    destination: Place,
    *,
    recursive: bool = False,
    replace: bool = False,
    add_cycle: bool = False,
    recreate: bool = False,
    compression: int | str | None = None,
    compact: bool = False,
    threads: int = 0,
    memory: Size | None = None,
) -> Edited:
    """Copies objects and directories into a file, as cp copies files.

    A source is "FILE:PATH", the newest cycle of an object, "FILE:PATH;CYCLE", a pattern such as "f.root:dir/h*", or a
    file for all in it. The destination is a file, which is made if it is not there, a directory in it, or a new name
    for one source. Directories are copied with `recursive`, and are else in `Edited.left_out`. A name that is taken is
    a `ValueError`, unless `replace` replaces the object or `add_cycle` keeps it as an older cycle. `recreate` makes the
    destination anew; `compression` is that of a new destination.

    The destination is changed in place, and is the old file or the new one at any moment; with `compact` it is written
    anew beside the old file, without gaps.
    """
    from ..reports.editing import Edited
    from ..reports.parse import parse

    options = {
        "json": True,
        "recursive": recursive,
        "replace": replace,
        "add_cycle": add_cycle,
        "recreate": recreate,
        "compression": compression,
        "compact": compact,
        "threads": threads,
        "memory": memory,
    }
    return parse(Edited, report("cp", options, [*as_paths(sources), os.fspath(destination)]))


def mv(
    sources: Places,
    destination: Place,
    *,
    replace: bool = False,
    add_cycle: bool = False,
    compact: bool = False,
    threads: int = 0,
    memory: Size | None = None,
) -> Edited:
    """Moves or renames objects and directories, within a file or to another one. Sources, destination, `replace`,
    `add_cycle` and `compact` are those of `cp`. All cycles of an object move, or the one that is named. The destination
    is written first, then the files from which objects go."""
    from ..reports.editing import Edited
    from ..reports.parse import parse

    options = {
        "json": True,
        "replace": replace,
        "add_cycle": add_cycle,
        "compact": compact,
        "threads": threads,
        "memory": memory,
    }
    return parse(Edited, report("mv", options, [*as_paths(sources), os.fspath(destination)]))


def rm(
    objects: Places,
    *,
    recursive: bool = False,
    force: bool = False,
    compact: bool = False,
    threads: int = 0,
    memory: Size | None = None,
) -> Edited:
    """Removes objects from files: all cycles of "FILE:PATH", or "FILE:PATH;2", or what a pattern matches.

    With `recursive` directories go with all in them, and a file without a colon as a whole. `force` passes over what is
    not there. Each file is changed in place, and later changes use the space; with `compact` it is written anew, on so
    many `threads` within `memory`, and the space is given back.
    """
    from ..reports.editing import Edited
    from ..reports.parse import parse

    options = {
        "json": True,
        "recursive": recursive,
        "force": force,
        "compact": compact,
        "threads": threads,
        "memory": memory,
    }
    return parse(Edited, report("rm", options, as_paths(objects)))


def mkdir(directories: Places, *, parents: bool = False, threads: int = 0, memory: Size | None = None) -> Edited:
    """Makes directories "FILE:PATH", or files without objects. With `parents` also the directories above and the files,
    and what is there already is no error. Each file is changed in place, on so many `threads`
    within `memory`."""
    from ..reports.editing import Edited
    from ..reports.parse import parse

    options = {"json": True, "parents": parents, "threads": threads, "memory": memory}
    return parse(Edited, report("mkdir", options, as_paths(directories)))


def split(
    file: Place,
    *,
    entries: int | None = None,
    size: Size | None = None,
    by: str | None = None,
    output: str | os.PathLike[str] | None = None,
    max_files: int = 500,
    force: bool = False,
    threads: int = 0,
    memory: Size | None = None,
) -> Split:
    """Splits the table of a file, or of "FILE:TREE", into several files: by a number of `entries`, by bytes (`size`, at
    bounds of clusters), or `by` the values of a column or an expression.

    Parts are called FILE-0001.root, or FILE-VALUE.root, in the folder `output` or beside the file. The first part also
    has all other objects of the file, so that `merge` of all parts has what the file has. More than `max_files` parts
    are a `ValueError`; `force` replaces existing files, and removes the parts of an earlier split whose numbers go on
    from those of the new ones. Exactly one of the three rules is given.
    """
    from ..reports.editing import Split
    from ..reports.parse import parse

    options = {
        "json": True,
        "entries": entries,
        "size": size,
        "by": by,
        "output": None if output is None else os.fspath(output),
        "max_files": max_files,
        "force": force,
        "threads": threads,
        "memory": memory,
    }
    return parse(Split, report("split", options, [os.fspath(file)]))
