"""`merge`: many files into files of about one size. The groups are planned here, from the sizes of the files and in
their order; each group is one task."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import _core, verbs
from .._shared.signatures import spelled
from ..reading.request import bytes_of
from ..verbs.options import Joining
from .files import fill, inputs, is_url
from .mapping import do, limits
from .tasks import Failed, Task

if TYPE_CHECKING:
    from typing import Unpack

    from .files import Files, Input
    from .mapping import Errors, Progress
    from .tasks import SkipDone


@dataclass(frozen=True)
class Bin:
    """Files that become one output."""

    dataset: str
    """Their data set."""
    output: str
    """Their output."""
    files: tuple[str, ...]
    """The files, FILE or FILE:TREE, in order."""
    bytes: int
    """Bytes of these files."""


def bins(
    files: Files,
    into: str = "{dataset}_{n}.root",
    *,
    target_size: int | str = "2GB",
    skip_bad: bool = False,
    client: Any = None,
) -> list[Bin]:
    """The groups that `merge` makes: consecutive files of a data set, up to `target_size` bytes (at least one file).

    `into` names the outputs: {dataset} is the name of the data set ("merged" if files have none), and {n} the number of
    the group in it, from 0; `{n:03}` pads it. An absent file is an error, with `skip_bad` a file of no bytes. Sizes of
    files on servers are asked for through `client`. Two groups with one output are a `ValueError`.
    """
    target = bytes_of(target_size)
    found = sorted_by_dataset(inputs(files))
    sizes = _sizes(found, skip_bad, client)
    made: list[Bin] = []
    for dataset, members in groupby(zip(found, sizes, strict=True), key=lambda one: one[0].dataset):
        ones, each = zip(*members, strict=True)
        for n, (first, end) in enumerate(_core.bins(each, target)):
            places = tuple(place for one in ones[first:end] for place in one.places)
            made.append(Bin(dataset, fill(into, dataset=dataset, n=n), places, sum(each[first:end])))
    _check_apart(made, into)
    return made


def sorted_by_dataset(found: list[Input]) -> list[Input]:
    """Files of one data set together, otherwise in their order."""
    first = {one.dataset: number for number, one in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda one: first[one.dataset])


def size_of(file: str) -> int:
    """Bytes of a file, here or on a server."""
    return verbs.inspect(file).file.bytes if is_url(file) else os.stat(file).st_size  # noqa: PTH116


def _sizes(found: list[Input], skip_bad: bool, client: Any) -> list[int]:
    """Bytes of each input. Those of local files are known at once; servers take their time."""
    far = [one.path for one in found if is_url(one.path)]
    answers = do([Task(size_of, (path,), path) for path in far], client, {}, 2, False, "return", None)
    known = dict(zip(far, answers, strict=True))
    return [_bytes(known.get(one.path), one.path, skip_bad) for one in found]


def _bytes(known: int | Failed | None, path: str, skip_bad: bool) -> int:
    try:
        if isinstance(known, Failed):
            raise known.exception
        return size_of(path) if known is None else known
    except (OSError, ValueError):
        if not skip_bad:
            raise
        return 0


def _check_apart(made: list[Bin], into: str) -> None:
    if len({one.output for one in made}) < len(made):
        fields = "{dataset} and {n}" if len({one.dataset for one in made}) > 1 else "{n}"
        raise ValueError(f"{len(made)} outputs cannot all be named {into!r}: it needs {fields}")


@spelled(Joining)
def merge(
    files: Files,
    into: str = "{dataset}_{n}.root",
    *,
    target_size: int | str = "2GB",
    client: Any = None,
    threads: int | None = None,
    memory: int | str | None = None,
    retries: int = 2,
    skip_done: SkipDone = False,
    errors: Errors = "return",
    progress: Progress = None,
    **options: Unpack[Joining],
) -> list[Any]:
    """Merges many files into files of about `target_size` bytes, one task for each output, and returns their summaries.

        distributed.merge({"ttbar": "tt/*.root", "dy": "dy/*.root"}, into="out/{dataset}_{n}.root", client=client)

    `bins` has the groups, and the meaning of `into` and `target_size`; sizes are those of the inputs. An output appears
    when it is whole. The other arguments are those of `distributed.map`, the options those of `basketry.merge`. With
    `skip_bad=True` damaged and absent files are left out and listed in `Summary.skipped`; without it a damaged file
    makes its group fail, and no other, and an absent one is an error before any task begins.
    """
    skip_bad = bool(options.get("skip_bad"))
    groups = bins(files, into, target_size=target_size, skip_bad=skip_bad, client=client)
    todo = [Task("merge", (list(one.files),), one.files[0], one.output, options) for one in groups]
    return do(todo, client, limits(threads, memory), retries, skip_done, errors, progress)
