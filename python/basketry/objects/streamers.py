"""Classes whose streamers are written by hand, from their bytes: `TDatime` and `TTime`."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .._libraries.elements import WithDate
from .model import FAMILIES, STREAMERS, Object

if TYPE_CHECKING:
    from collections.abc import Callable


class Datime(WithDate, Object):
    """A `TDatime`: a date and a time of day, without a time zone."""


def _last(name: str, number: str) -> Callable[[bytes], dict[str, Any]]:
    """Reads a class whose last bytes are its only number."""
    form = struct.Struct(f">{number}")

    def read(raw: bytes) -> dict[str, Any]:
        return {name: form.unpack(raw[-form.size :])[0]} if len(raw) >= form.size else {"@bytes": raw}

    return read


FAMILIES["TDatime"] = Datime
STREAMERS["TDatime"] = _last("fDatime", "I")
STREAMERS["TTime"] = _last("fMilliSec", "q")
