"""The columns of a tree or an RNTuple that is there, as `mktree` and `mkrntuple` take them: new entries get the
branches and fields that it has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .._shared.names import plain
from ..reading.file import File
from ..reading.table import RNTuple
from ..verbs.files import merge
from .files import recreate

if TYPE_CHECKING:
    from pathlib import Path

    from ..reading.table import Tree
    from .files import WritableDirectory
    from .tables import WritableTable

#: Types of leaves, which are numbers, arrays of them and characters; all others are classes.
_LEAF = re.compile(r"(bool|char|u?int\d+_t|float|double|Float16_t|Double32_t|char\*)((\[\d*\])*)")


def extended(table: Tree | RNTuple, path: str, into: WritableDirectory, file: Path, probe: Path) -> WritableTable:
    """Makes the table of new entries, whose columns are those of `table` in `file`. What arrays cannot make, or what
    cannot be added, is a `ValueError`: a file `probe` without entries shows it."""
    try:
        with recreate(probe, classes=file) as tried:
            _make(tried, path, table)
        has, gets = table.typenames(), File(str(probe))[path].typenames()
        differ = [name for name in {**has, **gets} if has.get(name) != gets.get(name)]
        if differ:
            raise ValueError(f"its column {plain(differ[0])} is of another form than arrays get")
        # Whether entries of both can be in one table: the first is looked at, if there is one.
        merge([f"{file}:{path}", f"{probe}:{path}"], probe.with_name("none.root"), dry_run=True, last=0)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{plain(path)} cannot be extended by arrays: {error}") from error
    finally:
        probe.unlink(missing_ok=True)
    made = _make(into, path, table)
    made._before = table.num_entries
    return made


def _make(directory: WritableDirectory, path: str, table: Tree | RNTuple) -> WritableTable:
    if isinstance(table, RNTuple):
        fields = {name: _field_type(table[name].typename) for name in table.keys(recursive=False)}
        return directory.mkrntuple(path, fields, table.description)
    columns, counters = _columns(table)
    return directory.mktree(path, columns, table.title, counter_name=lambda name: counters.get(name, f"n{name}"))


def _field_type(typename: str) -> str:
    """The type of a field as `mkrntuple` takes it, for which `float` is Python's."""
    return "float32" if typename == "float" else typename


def _columns(tree: Tree) -> tuple[dict[str, Any], dict[str, str]]:
    """The types of a tree's columns by name, and the counters of those that have one."""
    counters: dict[str, str] = {}
    columns: dict[str, Any] = {}
    for name in tree.keys(recursive=False):
        branch = tree[name]
        if _LEAF.fullmatch(branch.typename) is None:
            columns[name] = branch.typename
            continue
        counted = re.search(r"\[([A-Za-z_]\w*)\]", branch.title)
        if counted is not None:
            counters[name] = counted[1]
        columns[name] = str(branch.array(entry_stop=0).type.content)
    for counter in set(counters.values()):
        columns.pop(counter, None)
    return columns, counters
