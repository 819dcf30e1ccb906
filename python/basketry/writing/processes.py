"""A file that several processes write: each writes parts of its own, and the parts are joined by copying."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import verbs
from .._shared.names import public
from .._shared.signatures import spelled
from .files import recreate

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Unpack

    from ..reports import Summary
    from ..verbs.options import Place, Size
    from .files import Filling, Recreating, WritableFile

PART = "part-{:09}.root"


@spelled(recreate)
def parts(
    path: Place,
    *,
    force: bool = True,
    threads: int = 0,
    memory: Size | None = None,
    **recreate: Unpack[Filling],
) -> Parts:
    """A file for several processes to write, such as those of `multiprocessing.Pool` or a `ProcessPoolExecutor`:

        def work(parts, number):
            with parts.recreate(number) as file:
                file["Events"] = columns(number)

        with basketry.parts("out.root", compression="zstd:5") as parts, ProcessPoolExecutor() as pool:
            list(pool.map(work, [parts] * 100, range(100)))

    The end of the `with` block merges the parts in the order of their numbers: records of trees are copied one after
    the other, histograms are added. If the block ends with an exception, no file appears. In both cases all parts are
    removed.

    force: replace an existing file. threads, memory: limits of the merge. The other arguments are those of
    `recreate` and hold for each part; one thread writes a part, unless its own call says otherwise.
    """
    return Parts(path, force, {"threads": threads, "memory": memory}, dict(recreate))


class Parts:
    """The parts of a file, by number. This object can be sent to other processes, however they were started."""

    def __init__(self, path: Place, force: bool, merging: dict[str, Any], recreate: dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self.summary: Summary | None = None
        """What the merge did."""
        self._force = force
        self._merging = merging
        self._recreate = recreate
        self._whole = Path(self.path)
        self._folder: str | None = None
        #: The process that made the folder, and joins the parts.
        self._process = 0

    def __repr__(self) -> str:
        return f"<Parts of {public(self.path)}>"

    @spelled(recreate)
    def recreate(self, number: int, **options: Unpack[Recreating]) -> WritableFile:
        """Writes the part of that number as a file of its own; an existing part is replaced. The
        arguments override those given for all parts."""
        if self._folder is None:
            raise ValueError(
                f"the parts of {public(self.path)} can only be written inside the with block of basketry.parts"
            )
        if number < 0:
            raise ValueError(f"parts are numbered from 0, not {number}")
        given: dict[str, Any] = {"threads": 1} | self._recreate | options
        return recreate(Path(self._folder) / PART.format(number), **given)

    def __enter__(self) -> Parts:
        whole = self._whole = Path(self.path).absolute()
        if whole.exists() and not self._force:
            raise FileExistsError(f"{public(self.path)} exists already")
        # Beside the output: a file system that suits the output suits the parts.
        self._folder = tempfile.mkdtemp(prefix=f".{whole.name}.parts-", dir=whole.parent)
        self._process = os.getpid()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        folder, self._folder = self._folder, None
        if folder is None:
            return
        if self._process != os.getpid():
            # A forked process that leaves the block: only the other knows when all parts are there.
            if kind is None:
                raise ValueError(
                    f"the parts of {public(self.path)} belong to process {self._process}, which joins them"
                )
            return
        try:
            if kind is None:
                self._merge(sorted(Path(folder).glob(PART.replace("{:09}", "*"))))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _merge(self, written: list[Path]) -> None:
        if not written:
            raise ValueError(f"no part of {public(self.path)} was written")
        self.summary = verbs.merge(written, self._whole, force=self._force, pack=0, **self._merging)
