"""Reports of `cp`, `mv`, `rm`, `mkdir` and `split`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EditedFile(Shown):
    """A file that an edit wrote or removed."""

    path: Path
    """Its path."""
    bytes_before: int | None
    """Bytes before; none if the file was not there."""
    bytes_after: int | None
    """Bytes now; none if the file was removed."""
    bytes_written: int | None
    """Bytes that were written; none if the file was removed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Change(Shown):
    """A change of a file."""

    kind: Literal["copied", "moved", "removed", "made"]
    """Its kind. "copied": an object or directory was copied. "moved": it was moved. "removed": it was removed. "made":
    A directory was made."""
    file: Path
    """The file."""
    object: str
    """The path of the object or directory in it."""
    class_: str
    """Its class, that of the newest cycle."""
    cycles: tuple[int, ...]
    """Its cycles, as they were in the source."""
    from_file: Path | None
    """The file from which it came, if it was copied or moved."""
    from_object: str | None
    """Its path there."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Edited(Shown):
    """What an edit did."""

    files: tuple[EditedFile, ...]
    """The files that were written or removed, in this order."""
    changes: tuple[Change, ...]
    """The changes, in their order."""
    left_out: tuple[str, ...]
    """Directories that were not copied or removed, as that was not asked for."""
    notes: tuple[str, ...]
    """Notes for the user."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SplitPart(Shown):
    """A part."""

    path: Path
    """The file."""
    value: str | None
    """The value of its entries, if the table is split by values."""
    entries: int
    """Number of entries."""
    bytes: int
    """Bytes of the file."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Split(Shown):
    """What a split made."""

    table: str
    """Path of the table in the file."""
    parts: tuple[SplitPart, ...]
    """The files, in the order of their first entries. The first has the other objects of the file."""
    notes: tuple[str, ...]
    """Notes for the user."""
