"""Parts of a data set, such as training and validation. A hash of what names an entry decides to which part it belongs:
its file's UUID and its number there, or columns that name it. More files, another order of files and other options
change nothing for an entry."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .. import _core
    from .columns import Column

#: A share alone is that of the second.
TRAIN, VALIDATION = "train", "validation"


class Parts:
    """Parts by their shares, and the one that is wanted: all entries, if there are no shares."""

    def __init__(self, split: float | Mapping[str, float] | None, part: str | None) -> None:
        self._shares = _shares(split)
        self.names = list(self._shares)
        if part is not None and part not in self._shares:
            known = ", ".join(map(repr, self.names))
            raise ValueError(f"unknown part {part!r}: {f'choose one of {known}' if known else 'give split=0.2'}")
        self.part = part or (self.names[0] if self.names else None)
        #: Hashes, as fractions, of the entries of the part.
        self.range = (0.0, 1.0)
        if self.part is not None:
            ends = np.cumsum([0.0, *self._shares.values()])
            # Rounding of sums leaves no entry without a part.
            ends[-1] = 1.0 if ends[-1] > 1 - 1e-9 else ends[-1]
            place = self.names.index(self.part)
            self.range = (float(ends[place]), float(ends[place + 1]))

    def of(self, part: str) -> Parts:
        """Another part of the same split."""
        return Parts(self._shares, part)

    @property
    def is_all(self) -> bool:
        """Whether all entries are wanted."""
        return self.part is None

    def has(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether the entries with these hashes are wanted."""
        fractions = (hashes >> np.uint64(11)) * 2.0**-53
        first, end = self.range
        return (fractions >= first) & (fractions < end)


def _shares(split: float | Mapping[str, float] | None) -> dict[str, float]:
    if split is None:
        return {}
    shares = dict(split) if isinstance(split, Mapping) else {TRAIN: 1 - split, VALIDATION: split}
    if not shares or any(not 0 <= share <= 1 for share in shares.values()) or sum(shares.values()) > 1 + 1e-9:
        raise ValueError(f"split needs shares from 0 to 1, and at most 1 together, not {split!r}")
    return shares


class FileEntries:
    """The entries of the files of a table."""

    def __init__(self, table: _core.Table) -> None:
        self._bounds = np.cumsum([0, *table.entries_by_file])
        self._keys = np.array([_file_key(*one) for one in table.files], np.uint64)

    def hashes(self, start: int, stop: int) -> NDArray[np.uint64]:
        """The hashes of a range of entries."""
        entries = np.arange(start, stop)
        files = np.searchsorted(self._bounds, entries, side="right") - 1
        hashes: NDArray[np.uint64] = _mixed(
            _mixed((entries - self._bounds[files]).astype(np.uint64)) ^ self._keys[files]
        )
        return hashes


def hashes_of(keys: Mapping[str, Column]) -> NDArray[np.uint64]:
    """The hashes of entries that columns of numbers name."""
    made: Any = np.uint64(0)
    for name, one in keys.items():
        values = one.given()
        if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "biuf":
            raise ValueError(f"key {name!r} must be one number for each entry")
        if values.dtype.kind == "f":
            # Minus zero is zero.
            bits = (values.astype(np.float64) + 0.0).view(np.uint64)
        else:
            bits = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)
        made = _mixed(bits ^ made)
    hashes: NDArray[np.uint64] = made
    return hashes


def _file_key(path: str, tree: str, uuid: str) -> int:
    """A number for a tree in a file: by the file's UUID, or the last part of its path, if it has none."""
    name = uuid if uuid.strip("0-") else path.rstrip("/").rpartition("/")[2]
    tree = tree.strip("/").partition(";")[0]
    return int.from_bytes(hashlib.blake2b(f"{name}\0{tree}".encode(errors="surrogateescape"), digest_size=8).digest())


def _mixed(numbers: Any) -> Any:
    """SplitMix64's last steps: each bit depends on all."""
    numbers = (numbers + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def number_of_wanted(parts: Parts, files: FileEntries, ranges: Sequence[tuple[int, int]]) -> int:
    """How many entries of ranges are wanted."""
    if parts.is_all:
        return sum(stop - start for start, stop in ranges)
    return sum(int(np.count_nonzero(parts.has(files.hashes(start, stop)))) for start, stop in ranges)
