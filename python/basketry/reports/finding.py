"""Reports of `index` and `pick`; see docs/index-schema.md."""

from dataclasses import dataclass
from pathlib import Path

from .making import Skipped, Summary
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
