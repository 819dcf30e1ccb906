"""The options of functions that read arrays, and those of them that decide the type of a result: the library, the
container, whether steps have reports. Functions have an overload for each, so that type checkers know what they get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from . import options
from .listing import Filters

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Literal, Required, SupportsIndex, TypeAlias

    from .._shared.progress import Progress

    Place: TypeAlias = str | os.PathLike[str]
    Named: TypeAlias = Mapping[Place, str | None]
    Places: TypeAlias = Place | Named | Iterable[Place | Named]
    Friends: TypeAlias = Iterable[Place] | Mapping[str, Place | Iterable[Place]] | None
    Join: TypeAlias = Literal["strict", "common", "fill"]
    Names: TypeAlias = str | Iterable[str] | None
    Cut: TypeAlias = str | None
    Ak: TypeAlias = Literal["ak", "awkward"]
    Np: TypeAlias = Literal["np", "numpy"]
    Pd: TypeAlias = Literal["pd", "pandas"]
    Pa: TypeAlias = Literal["arrow", "pyarrow"]
    Pl: TypeAlias = Literal["pl", "polars"]
    Library: TypeAlias = Ak | Np | Pd | Pa | Pl
    Zip: TypeAlias = Literal["zip"] | None
    Tuple: TypeAlias = type[tuple[Any, ...]]
    List: TypeAlias = type[list[Any]]
    Dict: TypeAlias = type[dict[str, Any]]
    How: TypeAlias = Tuple | List | Dict | Zip


class Limits(TypedDict, total=False):
    """Options of all functions that read arrays, but for their form."""

    selection: Any
    threads: int
    memory: int | str


class Formed(Limits, total=False):
    """Options of all functions that read arrays."""

    library: Library


class Entries(Limits, Filters, total=False):
    """Options of all functions that read arrays of several branches, but for their form."""

    aliases: Mapping[str, str] | None
    entry_start: SupportsIndex | None
    entry_stop: SupportsIndex | None


class Asking(Formed, Entries, total=False):
    """Options of all functions that read arrays of several branches."""

    how: How


class TunedFormed(Formed, options.Tuning, total=False):
    """The same as `Formed`, with uproot's tuning."""


class TunedAsking(Asking, options.Tuning, total=False):
    """The same as `Asking`, with uproot's tuning."""


class AskingSteps(TunedAsking, total=False):
    """Options of `iterate` that functions for several files have, too."""

    step_size: int | str | None


class AskingArrays(TunedAsking, total=False):
    """Options of `arrays` that functions for several files have, too."""

    virtual: bool
    access_log: list[Any] | None


class MoreOfOne(Limits, options.Tuning, total=False):
    """What `array` has in any form."""

    virtual: bool
    access_log: list[Any] | None
    progress: Progress


class More(Entries, options.Tuning, total=False):
    """What `arrays` has in any form."""

    virtual: bool
    access_log: list[Any] | None
    progress: Progress


class InSteps(Entries, options.Tuning, total=False):
    """What `iterate` has in any form."""

    step_size: int | str | None
    progress: Progress


class Steps(InSteps, total=False):
    """Steps without reports."""

    report: Literal[False]


class Told(InSteps, total=False):
    """Steps with reports."""

    report: Required[Literal[True]]


class Stepping(InSteps, total=False):
    """Steps, with reports or without."""

    report: bool


class Joining(TypedDict, total=False):
    """Options of functions for several files."""

    friends: Friends
    follow_urls: bool
    widen: bool
    allow_missing: bool


class MoreOfFiles(More, Joining, total=False):
    """What `concatenate` has in any form."""

    join: Join


class FileSteps(Steps, Joining, total=False):
    """Steps of several files, without reports."""

    join: Join | None


class FilesTold(Told, Joining, total=False):
    """Steps of several files, with reports."""

    join: Join | None


class FileStepping(Stepping, Joining, total=False):
    """Steps of several files, with reports or without."""

    join: Join | None
