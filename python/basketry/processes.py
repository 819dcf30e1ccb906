"""A file that several processes write: each its own parts, which are put together by copying them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import verbs, writing

if TYPE_CHECKING:
    from types import TracebackType

    from .reports import Summary
    from .verbs import Place, Size

PART = "part-{:09}.root"


def parts(
    path: Place,
    *,
    force: bool = True,
    threads: int = 0,
    memory: Size | None = None,
    **recreate: Any,
) -> Parts:
    """A file to be written by processes, such as those of `multiprocessing.Pool` or of a `ProcessPoolExecutor`:

        def work(parts, number):
            with parts.recreate(number) as file:
                file["Events"] = columns(number)

        with basketry.parts("out.root", compression="zstd:5") as parts, ProcessPoolExecutor() as pool:
            list(pool.map(work, [parts] * 100, range(100)))

    The end of the `with` block merges the parts in the order of their numbers: trees one after the other, whose records
    are copied as they are, histograms added. If it ends by an exception nothing appears under the name. Either way no
    part is left behind.

    force: replace a file that is there. threads, memory: what the merge may use. The other arguments are those of
    `recreate`, and hold for each part; each is written by one thread, unless its own call says otherwise.
    """
    return Parts(path, force, {"threads": threads, "memory": memory}, recreate)


class Parts:
    """The parts of a file, by number. It can be sent to other processes, however they were started."""

    def __init__(self, path: Place, force: bool, merging: dict[str, Any], recreate: dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self.summary: Summary | None = None
        """What the merge did."""
        self._force = force
        self._merging = merging
        self._recreate = recreate
        self._whole = Path(self.path)
        self._folder: str | None = None

    def __repr__(self) -> str:
        return f"<Parts of {self.path}>"

    def recreate(self, number: int, **options: Any) -> writing.WritableFile:
        """The part of that number, to be written as a file of its own; one that was written before is replaced. The
        arguments go on top of those given for all."""
        if self._folder is None:
            raise ValueError(f"the parts of {self.path} can be written inside the with block that puts them together")
        if number < 0:
            raise ValueError(f"parts are numbered from 0, not {number}")
        given: dict[str, Any] = {"threads": 1} | self._recreate | options
        return writing.recreate(Path(self._folder) / PART.format(number), **given)

    def __enter__(self) -> Parts:
        whole = self._whole = Path(self.path).absolute()
        if whole.exists() and not self._force:
            raise FileExistsError(f"{self.path} is there already")
        # Beside the output: what is fast enough, and large enough, for the one is so for the other.
        self._folder = tempfile.mkdtemp(prefix=f".{whole.name}.parts-", dir=whole.parent)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        folder, self._folder = self._folder, None
        if folder is None:
            return
        try:
            if kind is None:
                self._merge(sorted(Path(folder).glob(PART.replace("{:09}", "*"))))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _merge(self, written: list[Path]) -> None:
        if not written:
            raise ValueError(f"no part of {self.path} was written")
        self.summary = verbs.merge(written, self._whole, force=self._force, pack=0, **self._merging)
