"""Reports of `index`, `pick` and `join`; see docs/index-schema.md."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .making import EntryOfKey, Skipped, Summary
from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Indexed(Shown):
    """The report on an index."""

    schema: int
    """Version of the report."""
    key: tuple[str, ...]
    """The columns of the key."""
    files: int
    """Files in the index."""
    entries: int
    """Entries in the index."""
    duplicates: int
    """Entries with the key of another."""
    files_read: int
    """Files whose keys were read now."""
    files_known: int
    """Files that were in the index before, and are the same."""
    files_changed: tuple[Path, ...]
    """Files that were in the index before and have changed, whose keys were read anew: the first 1000."""
    files_moved: tuple[Path, ...]
    """Files that were in the index before under a path where there is none now, by their new paths: the first 1000.
    Their keys stay."""
    files_removed: int
    """Files that were taken out of the index."""
    skipped: tuple[Skipped, ...]
    """Files that were left out because they cannot be read, or lack the table or the columns."""
    bytes_written: int
    """Bytes of the index."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PickedEvent(Shown):
    """A picked entry."""

    key: tuple[str, ...]
    """The values of its key; none where only cuts pick."""
    file: Path
    """Its file."""
    tree: str
    """The path of the table."""
    entry: int
    """Its number in the table."""
    bytes: int
    """Bytes of the baskets, pages or chunks that have it, which it shares with its neighbours."""
    pieces: int
    """Their number."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Picked(Shown):
    """The report on picked events."""

    schema: int
    """Version of the report."""
    key: tuple[str, ...]
    """The columns of the key."""
    files: int
    """Files that were looked at, or that the index has."""
    files_picked: int
    """Files with picked events: the others were not opened, if there is an index, or their keys alone were read."""
    picked: int
    """Entries that were picked."""
    cut: int
    """Entries of the events that do not pass the cuts, and are left out."""
    repeated: int
    """Entries with the key of another picked one."""
    bytes: int
    """Bytes of the baskets, pages or chunks that have them, each once."""
    events: tuple[PickedEvent, ...]
    """The picked entries in the order of the output, the first 1000 of them."""
    missing_count: int
    """Events, or ranges of events, of which no entry was found."""
    missing: tuple[str, ...]
    """The first 1000 of them."""
    skipped: tuple[Skipped, ...]
    """Files that were left out because they cannot be read, or lack the table or the columns."""
    notes: tuple[str, ...]
    """Notes on how files were found."""
    output: Summary | None
    """The output. None if nothing was picked: then there is none."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RenamedColumn(Shown):
    """A column that has another name in the output."""

    column: str
    """Its name in its own table."""
    name: str
    """Its name in the output."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KeyedEntry(Shown):
    """An entry, and its key."""

    key: tuple[str, ...]
    """The values of the key."""
    entry: EntryOfKey
    """The entry."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JoinedTable(Shown):
    """A table on the right of a join."""

    tree: str
    """The path of the table."""
    key: tuple[str, ...]
    """The columns of the key, by their names here."""
    files: int
    """Its files."""
    entries: int
    """Its entries; of a range of keys those with one."""
    columns: tuple[str, ...]
    """The columns that it gives, by their names in the output."""
    renamed: tuple[RenamedColumn, ...]
    """Those of them that have other names in their own table."""
    matched: int
    """Entries of the left table with a partner here."""
    missing: int
    """Entries of the left table whose keys are not here. In a left join they get zeros, empty lists and empty texts."""
    missing_entries: tuple[KeyedEntry, ...]
    """The first 1000 of them, in the order of their keys."""
    unused: int
    """Entries here whose keys the left table does not have: they are not in the output."""
    unused_entries: tuple[KeyedEntry, ...]
    """The first of each key among them, in the order of their keys, and 1000 at most."""
    repeated: int
    """Entries here with the key of an earlier one, which is the one that is taken."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Joined(Shown):
    """The report on a join."""

    schema: int
    """Version of the report."""
    key: tuple[str, ...]
    """The columns of the key, by their names in the left table."""
    how: Literal["left", "inner"]
    """Which entries of the left table are written. "left": all of them. "inner": those with a partner in each table on
    the right."""
    tree: str
    """The path of the left table."""
    entries: int
    """Its entries; of a range of keys those with one."""
    written: int
    """The entries that are written."""
    right: tuple[JoinedTable, ...]
    """The tables on the right, in the order in which they are named."""
    friend: str | None
    """The name of the table in the output, where that has the columns of the tables on the right alone, as a friend of
    the left one."""
    output: Summary
    """The output."""
