"""The options of verbs as types, for all functions that hand them on: of the verbs that write a file, of `plan` and of
`basketry.distributed`. What an option does is told by the verb that has it (`files`, `many_files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    #: FILE, FILE:TREE or @list.txt; a path on this machine or a URL.
    Place: TypeAlias = str | os.PathLike[str]
    Places: TypeAlias = Place | Iterable[Place]
    #: Bytes, or a text such as "30MB"; of a cluster also a number of entries.
    Size: TypeAlias = int | str
    #: Bytes or seconds, or a multiple of the input's, such as "1.05x".
    Limit: TypeAlias = float | str
    #: A TOML file, its text, or a value of `layout()`.
    Layout: TypeAlias = Place | Mapping[str, object]
    #: Keys of a layout by pattern.
    Rules: TypeAlias = Mapping[str, Mapping[str, object]]
    Names: TypeAlias = str | Iterable[str]
    Values: TypeAlias = object | Iterable[object]


class Limits(TypedDict, total=False):
    """Limits of the work: threads, 0 for all cores, and memory in bytes or as "2GB"."""

    threads: int
    memory: Size | None


class Shape(TypedDict, total=False):
    """The keys of a layout, all but the compression."""

    container: str | None
    cluster: Size | None
    basket: Size | None
    encoding: str | None
    basket_memory: Size | None
    one_basket_per_cluster: bool
    memory_ratio: float | None
    split_level: int | None
    streaming: str | None
    tree_set: Rules
    column_set: Rules


class Form(Shape, total=False):
    """Options of all verbs that write a file, without the limits of the work."""

    force: bool
    layout: Layout | None
    compression: int | str | None


class Writing(Form, Limits, total=False):
    """Options of all verbs that write a file."""


class Selection(TypedDict, total=False):
    """Branches and entries to keep."""

    keep: Names
    drop: Names
    first: int | None
    last: int | None
    entries: Names | os.PathLike[str]
    where: Names


class Copying(Form, Selection, total=False):
    """Options of `rewrite`, without the limits of the work."""

    all_cycles: bool
    skip_bad: bool
    widen: bool
    check: bool
    skip_absent: bool
    follow_urls: bool
    strict: bool


class Making(Copying, Limits, total=False):
    """Options of `rewrite`; `merge` has them, too."""


class Joining(Copying, total=False):
    """Options of `merge`, without the limits of the work."""

    common: bool
    fill: bool
    drop_index: bool
    pack: Size | None


class Merging(Joining, Limits, total=False):
    """Options of `merge`."""


class Verifying(Selection, Limits, total=False):
    """Options of `verify`."""

    tree: str | None
    common: bool
    fill: bool
    widen: bool
    tolerance: float | Names
    follow_urls: bool


class Recovering(Limits, total=False):
    """Options of `recover`."""

    like: Place | None
    force: bool


class Converting(Writing, total=False):
    """Options of `convert`."""

    tree: str | None
    fill_null: float | None
    row_group: Size | None
    keep: Names
    drop: Names
    entries: str | os.PathLike[str] | None
    seed: int
    follow_urls: bool


class Generating(Writing, total=False):
    """Options of `generate`."""

    size: Size
    seed: int
    branches: int
    events: int
    outputs: int
    rate: Size | None
    autoflush: str | None
    autosave: Size | None
    arrival: bool
    no_write: bool
    no_fill: bool


class Workload(TypedDict, total=False):
    """What `tune` decides for, and its limits."""

    layout_out: Place | None
    workload: str
    goal: str
    max_size: Limit | None
    max_read_time: Limit | None
    max_read_memory: Limit | None
    max_write_time: Limit | None
    reader: str | os.PathLike[str]
    recode: bool
    seed: int


class Deciding(Workload, total=False):
    """Options of `tune`, without the output and the limits of the work."""

    force: bool
    keep: Names
    drop: Names
    container: str | None


class Tuned(Deciding, Limits, total=False):
    """Options of `tune`, without the output."""


class Measuring(Limits, total=False):
    """Options of `readspeed`."""

    trees: Names
    branches: Names
    branches_regex: Names
    entries: str | os.PathLike[str] | None
    repeat: int
    cold: bool
    throttle: Size | None
    application: float | None
    layouts: bool
    follow_urls: bool
    seed: int


class AnyVerb(Joining, Workload, total=False):
    """Options of the verbs that `plan` and `distributed.map` hand on, without the limits of the work. A verb refuses
    those that it has not."""

    baskets: bool
    like: Place | None
    tree: str | None
    fill_null: float | None
    row_group: Size | None
    tolerance: float | Names
    deep: bool
    trees: Names
    branches: Names
    branches_regex: Names
    repeat: int
    cold: bool
    throttle: Size | None
    application: float | None
    layouts: bool


class Trying(TypedDict, total=False):
    """Options of `sweep`, without the grid and the limits of the work."""

    layout: Layout | None
    streams: Values
    entries: int | None
    only: Values
    columns: Values
    pick: float | str
    repeat: int
    seed: int
    cold: bool
    no_pin: bool
    halve: bool
    goal: str | None
    max_size: Limit | None
    max_write_time: Limit | None
    max_read_memory: Limit | None
    max_memory: Limit | None
    runner: str
    keep: bool


class Sweeping(Trying, total=False):
    """Options of `sweep`, without the grid. `threads` are numbers to try, `memory` limits each job."""

    threads: Values
    memory: Size
