"""Strings and containers of the standard library in objects, from their bytes: vectors, sets, lists, maps and pairs of
numbers, strings and of each other. Containers of other classes stay bytes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .._elements import Map, Pair

#: Format letters of `struct`, big-endian.
NUMBERS = {
    "bool": "?", "char": "b", "short": "h", "int": "i", "long": "q", "long long": "q", "Long64_t": "q", "float": "f",
    "double": "d", "unsigned char": "B", "unsigned short": "H", "unsigned int": "I", "unsigned long": "Q",
    "unsigned long long": "Q", "ULong64_t": "Q", "Int_t": "i", "Float_t": "f", "Double_t": "d", "Bool_t": "?",
}  # fmt: skip
#: Vectors that become arrays of NumPy's.
ARRAYS = {f"vector<{kind}>" for kind in NUMBERS}
#: Bytes of a frame: byte count and version; the bit of the version that says that members are written together.
FRAME, MEMBER_WISE = 6, 0x40
MAPS = ("map", "unordered_map")
SEQUENCES = ("vector", "set", "list", "deque", "multiset", "unordered_set")


def value(type_name: str, raw: bytes) -> Any:
    """The value of a member, or of a whole record, of this C++ type; the bytes, if the type is another."""
    kind = type_name.replace("std::", "").strip()
    # A frame of six bytes is in front: byte count and version; but not before a string.
    readings = [(_read, 6), (_read, 0)]
    if len(raw) > FRAME and raw[4] & MEMBER_WISE:
        readings.insert(0, (_read_members, FRAME))
    for read, at in readings:
        try:
            found, end = read(kind, raw, at)
        except (struct.error, IndexError, KeyError, UnicodeDecodeError):
            continue
        if end == len(raw):
            return np.array(found) if isinstance(found, list) and kind in ARRAYS else found
    return raw


def _read_members(kind: str, raw: bytes, at: int) -> tuple[Any, int]:
    """A map, or a container of pairs, whose first parts are all before the second ones, each with a frame if they have
    one (`TGenCollectionStreamer`, `TBufferFile::ReadVersionForMemberWise`)."""
    outer, inner = parts(kind)
    if outer not in MAPS:
        pair, inner = parts(inner[0])
        if pair != "pair":
            raise KeyError(kind)
    # The version of the pair; where that is 0, a checksum follows.
    (version,) = struct.unpack_from(">H", raw, at)
    at += 2 if version else 6
    (count,) = struct.unpack_from(">i", raw, at)
    at += 4
    columns = []
    for part in inner[:2]:
        if part not in NUMBERS:
            at += FRAME
        column = []
        for _ in range(count):
            one, at = _read(part, raw, at)
            column.append(one)
        columns.append(column)
    items = zip(*columns, strict=True)
    return (Map(items) if outer in MAPS else [Pair(one) for one in items]), at


def _read(kind: str, raw: bytes, at: int) -> tuple[Any, int]:
    if kind in NUMBERS:
        form = struct.Struct(f">{NUMBERS[kind]}")
        return form.unpack_from(raw, at)[0], at + form.size
    if kind in ("string", "TString"):
        size, at = raw[at], at + 1
        if size == 255:
            size, at = struct.unpack_from(">i", raw, at)[0], at + 4
        return raw[at : at + size].decode(), at + size
    outer, inner = parts(kind)
    if outer == "pair":
        first, at = _read(inner[0], raw, at)
        second, at = _read(inner[1], raw, at)
        return Pair((first, second)), at
    (count,) = struct.unpack_from(">i", raw, at)
    at += 4
    if outer in MAPS:
        pairs = []
        for _ in range(count):
            pair, at = _read(f"pair<{inner[0]},{inner[1]}>", raw, at)
            pairs.append(pair)
        return Map(pairs), at
    if outer in SEQUENCES:
        found = []
        for _ in range(count):
            one, at = _read(inner[0], raw, at)
            found.append(one)
        return (set(found) if "set" in outer else found), at
    raise KeyError(kind)


def parts(typename: str) -> tuple[str, list[str]]:
    """The name of a class template, and its arguments."""
    outer, opened, rest = typename.strip().partition("<")
    found, depth = [""], 0
    for letter in rest.rpartition(">")[0] if opened else "":
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return outer.strip(), [one.strip() for one in found if one.strip()]
