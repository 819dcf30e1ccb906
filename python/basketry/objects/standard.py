"""Strings and containers of the standard library in objects, from their bytes: vectors, sets and lists of numbers and
strings. All other containers stay bytes."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

#: Format letters of `struct`, big-endian.
NUMBERS = {
    "bool": "?", "char": "b", "short": "h", "int": "i", "long": "q", "long long": "q", "Long64_t": "q", "float": "f",
    "double": "d", "unsigned char": "B", "unsigned short": "H", "unsigned int": "I", "unsigned long": "Q",
    "unsigned long long": "Q", "ULong64_t": "Q", "Int_t": "i", "Float_t": "f", "Double_t": "d", "Bool_t": "?",
}  # fmt: skip
#: Vectors that become arrays of NumPy's.
ARRAYS = {f"vector<{kind}>" for kind in NUMBERS}
SEQUENCES = ("vector", "set", "list", "deque", "multiset", "unordered_set")


def value(type_name: str, raw: bytes) -> Any:
    """The value of a member, or of a whole record, of this C++ type; the bytes, if the type is another."""
    kind = type_name.replace("std::", "").strip()
    # A frame of six bytes is in front: byte count and version; but not before a string.
    for at in (6, 0):
        try:
            found, end = _read(kind, raw, at)
        except (struct.error, IndexError, KeyError, UnicodeDecodeError):
            continue
        if end == len(raw):
            return np.array(found) if isinstance(found, list) and kind in ARRAYS else found
    return raw


def _read(kind: str, raw: bytes, at: int) -> tuple[Any, int]:
    if kind in NUMBERS:
        form = struct.Struct(f">{NUMBERS[kind]}")
        return form.unpack_from(raw, at)[0], at + form.size
    if kind in ("string", "TString"):
        size, at = raw[at], at + 1
        if size == 255:
            size, at = struct.unpack_from(">i", raw, at)[0], at + 4
        return raw[at : at + size].decode(), at + size
    outer, _, inside = kind.partition("<")
    inner = inside.rpartition(">")[0].strip()
    (count,) = struct.unpack_from(">i", raw, at)
    at += 4
    if outer in SEQUENCES:
        found = []
        for _ in range(count):
            one, at = _read(inner, raw, at)
            found.append(one)
        return (set(found) if "set" in outer else found), at
    raise KeyError(kind)
