"""From a tree of buffers to an awkward layout, without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np

from ._numpy import data, unique

if TYPE_CHECKING:
    from ._core import Node


def record(parts: list[tuple[str, Any]], length: int) -> Any:
    """A record of layouts."""
    names = unique(name for name, _ in parts)
    return ak.contents.RecordArray([part for _, part in parts], names, length=length)


def layout(node: Node) -> Any:
    """The layout of an array."""
    kind, length, size, buffers, parts = node
    if kind == "list":
        return ak.contents.ListOffsetArray(ak.index.Index64(data(buffers[0], np.int64)), layout(parts[0][1]))
    if kind == "fixed":
        return ak.contents.RegularArray(layout(parts[0][1]), size, zeros_length=length)
    if kind == "record":
        return record([(name, layout(part)) for name, part in parts], length)
    if kind == "optional":
        bits = ak.index.IndexU8(data(buffers[0], np.uint8))
        return ak.contents.BitMaskedArray(bits, layout(parts[0][1]), valid_when=True, length=length, lsb_order=True)
    if kind in ("text", "bytes"):
        whole, each = ("string", "char") if kind == "text" else ("bytestring", "byte")
        letters = ak.contents.NumpyArray(data(buffers[1], np.uint8), parameters={"__array__": each})
        offsets = ak.index.Index64(data(buffers[0], np.int64))
        return ak.contents.ListOffsetArray(offsets, letters, parameters={"__array__": whole})
    return ak.contents.NumpyArray(data(buffers[0], np.dtype(kind)))
