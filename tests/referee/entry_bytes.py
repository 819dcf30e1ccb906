"""Compares the bytes of entries, and of objects other than trees, as real ROOT finds them (cpp/entry_bytes.C).

This needs less than values: no dictionary and no emulated class, only ROOT's own baskets, entry
offsets and keys. So it covers branches that neither reader can turn into values.
"""

from collections.abc import Iterator
from typing import Any

from referee.root_server import RootServer


def server() -> RootServer:
    """Answers {"trees": {path: {branch id: [entries, bytes, MD5]}}, "objects": {path and class: [1, bytes, MD5]}}."""
    return RootServer("entry_bytes")


def differences(before: dict[str, Any], after: dict[str, Any], *, objects: bool = True) -> Iterator[str]:
    """The differences in the bytes of entries and objects, branch by branch."""
    if "error" in before:
        return
    if "error" in after:
        yield f"entry bytes: {after['error']}"
        return
    for tree, branches in before["trees"].items():
        if not isinstance(branches, dict):
            continue
        ours = after["trees"].get(tree)
        if not isinstance(ours, dict):
            yield f"{tree}: entry bytes: {ours or 'the tree is gone'}"
            continue
        for branch, line in branches.items():
            if isinstance(line, list) and ours.get(branch) != line:
                yield f"{tree} [{branch}]: [entries, bytes, MD5] were {line}, are {ours.get(branch)}"
    if objects:
        for name, line in before["objects"].items():
            # The bits of a process id only mark that it was in memory when written.
            if not name.endswith("(TProcessID)") and isinstance(line, list) and after["objects"].get(name) != line:
                yield f"{name}: object bytes were {line}, are {after['objects'].get(name)}"
