"""Takes outputs apart into named parts with a digest each, so that a comparison can say which one differs first: the
records of a ROOT file, the values of a JSON document, the lines of a text. It knows no more of ROOT files than where
records are and what they are called, and nothing of basketry."""

import hashlib
import json
import re
import struct
from collections.abc import Iterator
from typing import Any

Parts = dict[str, str]
# Blocks of an RNTuple have no names: so many are told apart, in their order.
MOST_BLOCKS = 64
# Where the first record is; sizes of the numbers of a record's head, and from which version on they are the long ones.
BEGIN = 100
SHORT_HEAD = 26
LONG_HEAD = 34
LONG = 1000
# Values of a document are parts down to this depth; what is below has one digest.
DEPTH = 4
MOST_LINES = 30


def digest(content: bytes) -> str:
    """A digest of bytes, short enough to be kept of everything."""
    return hashlib.sha256(content).hexdigest()[:12]


def of_file(content: bytes) -> Parts:
    """The parts of an output: of a ROOT file its records, by class and name."""
    parts = {"all": digest(content), "size": str(len(content))}
    if content[:4] != b"root":
        return parts
    parts["header"] = digest(content[:BEGIN])
    sums: dict[str, Any] = {}
    blocks = 0
    for label, record in records(content):
        if label.startswith("RBlob"):
            blocks += 1
            label = f"RBlob {min(blocks, MOST_BLOCKS)}"
        sums.setdefault(label, hashlib.sha256()).update(record)
    return parts | {label: total.hexdigest()[:8] for label, total in sums.items()}


def records(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The records of a ROOT file, in their order, and what is behind the last one."""
    at = BEGIN
    while at + SHORT_HEAD <= len(content):
        size, version, _, _, _, cycle = struct.unpack_from(">ihIIhh", content, at)
        if size == 0 or at + abs(size) > len(content):
            break
        record = content[at : at + abs(size)]
        at += len(record)
        if size < 0:
            yield "gap", record
            continue
        kind, name, title = words(record, LONG_HEAD if version > LONG else SHORT_HEAD)
        yield f"{kind} {title}/{name}" if kind == "TBasket" else f"{kind} {name};{cycle}", record
    if at < len(content):
        yield "rest", content[at:]


def words(record: bytes, at: int) -> list[str]:
    """Class, name and title of a record, which are behind the numbers of its head."""
    found = []
    for _ in range(3):
        length = record[at] if at < len(record) else 0
        at += 1
        if length == 255:
            length = int.from_bytes(record[at : at + 4])
            at += 4
        found.append(record[at : at + length].decode(errors="replace"))
        at += length
    return found


def of_text(text: str) -> Parts:
    """The parts of what a command says: those of a JSON document, or its lines."""
    if isinstance(whole := document(text), (dict, list)):
        return dict(of_document(whole))
    lines = [re.sub(r"\d+\.\d+ s\b", "? s", line) for line in text.splitlines()]
    shown = {f"line {number}": line[:300] for number, line in enumerate(lines[:MOST_LINES], 1)}
    return shown | ({"all lines": digest("\n".join(lines).encode())} if len(lines) > MOST_LINES else {})


def document(text: str) -> Any:
    """What is said as JSON, or nothing."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def of_document(value: Any, path: str = "", depth: int = DEPTH) -> Iterator[tuple[str, str]]:
    """The values of a document by their paths. Objects of a list are called by their own names where they have one."""
    if depth and isinstance(value, dict) and value:
        for key, below in value.items():
            yield from of_document(below, f"{path}.{key}", depth - 1)
    elif depth and isinstance(value, list) and value:
        for number, below in enumerate(value):
            name = (below.get("path") or below.get("name")) if isinstance(below, dict) else None
            yield from of_document(below, f"{path}[{number}{f' {name}' if name else ''}]", depth - 1)
    else:
        whole = value if isinstance(value, str) else json.dumps(value)
        yield path, whole if len(whole) <= 60 else digest(whole.encode())
