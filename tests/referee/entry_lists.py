"""TEntryList as ROOT reads it (cpp/values.C), with the entries of its blocks as numbers.

A block has three forms, which ROOT chooses by its fill and its history; only the selected entries matter.
"""

from typing import Any

BLOCK = 64_000
BITS = 16


def _block(block: dict[str, Any]) -> list[int]:
    words = block["fIndices"]
    if block["fType"] == 0:
        return [BITS * i + bit for i, word in enumerate(words) for bit in range(BITS) if word >> bit & 1]
    numbers = words[: block["fNPassed"]]
    return numbers if block["fPassing"] else sorted(set(range(BLOCK)) - set(numbers))


def numbered(found: Any) -> Any:
    """The answer with the blocks of entry lists as entry numbers."""
    if isinstance(found, list):
        return [numbered(item) for item in found]
    if not isinstance(found, dict):
        return found
    if "fBlocks" in found and "fTreeName" in found:
        blocks = found["fBlocks"]["arr"] if found["fBlocks"] else []
        entries = [BLOCK * i + entry for i, block in enumerate(blocks) for entry in _block(block)]
        found = found | {"fBlocks": entries}
    return {name: numbered(value) for name, value in found.items()}
