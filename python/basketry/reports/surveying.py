"""Reports of `check` and `fileset`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .making import DuplicateKeys, Skipped
from .shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CheckedTable(Shown):
    """A tree or an RNTuple of a file."""

    path: str
    """Its path."""
    cycle: int
    """Its cycle."""
    container: Literal["rntuple", "ttree"]
    """Whether it is a tree or an RNTuple."""
    entries: int
    """Its entries."""
    pieces: int
    """Its baskets or pages."""
    bytes: int
    """Bytes of the baskets or pages on disk."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem(Shown):
    """Something that is wrong in a file."""

    object: str
    """The object with its cycle; a directory or another part of the file in parentheses."""
    branch: str | None
    """The branch, with the branches above it."""
    basket: int | None
    """The number of the basket in its branch."""
    field: str | None
    """The field of an RNTuple."""
    cluster: int | None
    """The number of the cluster."""
    page: int | None
    """The number of the page among those of a column of the field in the cluster."""
    offset: int | None
    """The offset in the file."""
    reason: str
    """What is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CheckedFile(Shown):
    """The report on a file."""

    path: Path
    """The file."""
    condition: Literal["ok", "damaged", "unreadable"]
    """Its condition. "ok": nothing is wrong, as far as was looked. "damaged": parts are damaged. "unreadable": the file
    cannot be opened, or is not a ROOT file."""
    bytes: int
    """Its size in bytes."""
    uuid: str | None
    """Its UUID."""
    entries: int
    """Entries of the newest cycles of its trees and RNTuples."""
    tables: tuple[CheckedTable, ...]
    """Its trees and RNTuples, older cycles too."""
    objects: int
    """Objects that are neither."""
    bytes_decompressed: int
    """Bytes of baskets, pages and objects that were decompressed, as they are on disk."""
    problem_count: int
    """Number of problems."""
    problems: tuple[Problem, ...]
    """The problems, the first 1000 of them."""
    notes: tuple[str, ...]
    """What could not be checked, and harmless oddities."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Checked(Shown):
    """The report on all files."""

    schema: int
    """Version of the report."""
    deep: bool
    """Whether everything was decompressed."""
    whole: bool
    """Whether all files are whole."""
    ok: int
    """Files that are whole."""
    damaged: int
    """Files with damage."""
    unreadable: int
    """Files that cannot be opened, or are not ROOT files."""
    bytes: int
    """Bytes of all files."""
    files: tuple[CheckedFile, ...]
    """The files, in the order in which they were named."""
    keys: DuplicateKeys | None
    """The entries of the whole files that have the key of another, where keys were asked for."""
    skipped: tuple[Skipped, ...]
    """Whole files that were left out of the look at keys, because they lack the table or the columns."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LeftOut(Shown):
    """A file that was left out."""

    dataset: str
    """The name of its data set."""
    path: Path
    """The file."""
    reason: str
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fileset(Shown):
    """A fileset, and the files that are not in it."""

    schema: int
    """Version of the report."""
    fileset: dict[str, Any]
    """The data sets in coffea's format."""
    files: int
    """Files in it."""
    entries: int
    """Their entries."""
    steps: int
    """Their steps."""
    skipped: tuple[LeftOut, ...]
    """Files that cannot be read."""
