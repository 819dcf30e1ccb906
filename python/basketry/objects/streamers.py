"""Classes whose streamers are written by hand, from their bytes: `TDatime`, `TTime`, `TMatrixTSym`."""

from __future__ import annotations

import datetime
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from .model import FAMILIES, STREAMERS, Object

if TYPE_CHECKING:
    from collections.abc import Callable

#: Version, unique number and status bits (`TObject::Streamer`); byte count and version.
TOBJECT, FRAME = 10, 6


class Datime(Object):
    """A `TDatime`: a date and a time of day, without a time zone."""

    def to_datetime(self) -> datetime.datetime:
        """Python's own."""
        # `TDatime::Set`: years since 1995, month, day, hour, minute and second, in 6, 4, 5, 5, 6 and 6 bits.
        code = self.member("fDatime")
        year, month, day = (code >> 26) + 1995, code >> 22 & 15, code >> 17 & 31
        return datetime.datetime(year, month, day, code >> 12 & 31, code >> 6 & 63, code & 63)


def _datime(raw: bytes) -> dict[str, Any]:
    return {"fDatime": struct.unpack(">I", raw[-4:])[0]}


def _time(raw: bytes) -> dict[str, Any]:
    return {"fMilliSec": struct.unpack(">q", raw[-8:])[0]}


def _symmetric_matrix(number: str) -> Callable[[bytes], dict[str, Any]]:
    names = ("fNrows", "fNcols", "fRowLwb", "fColLwb", "fNelems", "fNrowIndex")
    # `TMatrixTSym::Streamer`: the base as its streamer info has it, and the upper triangle, row by row.
    base = struct.Struct(f">6i{number}")

    def read(raw: bytes) -> dict[str, Any]:
        values = base.unpack_from(raw, FRAME + TOBJECT)
        size = values[0] * (values[0] + 1) // 2
        elements = np.frombuffer(raw, f">{number}", size, FRAME + TOBJECT + base.size)
        return {**dict(zip((*names, "fTol"), values, strict=True)), "fElements": elements.astype(number)}

    return read


FAMILIES["TDatime"] = Datime
STREAMERS["TDatime"] = _datime
STREAMERS["TTime"] = _time
for element, letter in {"double": "d", "float": "f"}.items():
    STREAMERS[f"TMatrixTSym<{element}>"] = _symmetric_matrix(letter)
