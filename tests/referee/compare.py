"""Compares the readers' answers about a file before and after a rewrite: content must be equal, layout may differ.

The rule: a value that ROOT or uproot could read before is the same after. A reader that failed before may fail after.
"""

import re
from collections.abc import Iterator
from typing import Any

from referee.oracle import Line, Oracle, Tree

# Facts of content and schema; sizes, baskets and compression are layout.
TREE_FACTS = (
    "cls",
    "name",
    "title",
    "entries",
    "weight",
    "n_top_branches",
    "friends",
    "index",
    "aliases",
    "branch_ref",
    "user_info",
)
BRANCH_FACTS = (
    "name",
    "fullname",
    "title",
    "br_class",
    "type_name",
    "split_level",
    "entries",
    "id",
    "type",
    "streamer_type",
    "parent",
    "class_version",
    "clones",
    "maximum",
    "checksum",
    "branch_count",
    "branch_count2",
    "leaves",
)
UPROOT_BRANCH_FACTS = ("name", "typename", "interpretation", "entries")
TREE_CLASSES = ("TTree", "TNtuple", "TNtupleD")
NTUPLE_CLASSES = ("ROOT::RNTuple", "ROOT::Experimental::RNTuple", "ROOT::Experimental::RNTuple::RNTuple")

Digest = list[tuple[str, str, int, str]]


def digest_of(branch: Line, reader: str) -> Digest | None:
    """The value digest by one reader, in the normal form that make_oracle.py compares; None where there is none."""
    read = branch.get(f"{reader}_read") or {}
    buffers = read.get("digest")
    if buffers is None and read.get("digest_same"):
        buffers = (branch.get("uproot_read") or {}).get("digest")
    if buffers is None:
        return None
    return [(b["k"], b["dtype"].replace("bool", "uint8"), b["n"], b["sha256"]) for b in buffers]


def differences(before: Oracle, after: Oracle, *, ignore: frozenset[str] = frozenset()) -> list[str]:
    """Every difference in content, a line each; `ignore` names facts that the operation may change."""
    return list(_file_differences(before, after, ignore))


def _file_differences(before: Oracle, after: Oracle, ignore: frozenset[str]) -> Iterator[str]:
    if not (after.file.get("root") or {}).get("ok"):
        yield f"ROOT cannot open it: {after.file.get('root')}"
        return
    if after.file["root"].get("recovered"):
        yield "ROOT had to recover the file"
    for key in ("scan_stopped_at", "truncated"):
        if after.file["raw"].get(key):
            yield f"the chain of records is broken: {key} {after.file['raw'][key]}"
    if (before.file.get("uproot") or {}).get("ok") and not (after.file.get("uproot") or {}).get("ok"):
        yield f"uproot cannot open it: {after.file.get('uproot')}"
    if "keys" not in ignore:
        yield from _key_differences(before, after)
    if "streamers" not in ignore:
        yield from _streamer_differences(before, after)
    theirs = after.latest()
    for path, tree in before.latest().items():
        if path not in theirs:
            if tree.read_by("root") or tree.read_by("uproot"):
                yield f"{path}: the tree is gone"
        else:
            yield from _tree_differences(tree, theirs[path], ignore)


def _latest_keys(file: Line) -> dict[str, str]:
    best: dict[str, tuple[int, str]] = {}
    for path, cls, cycle, *_ in (file.get("root") or {}).get("keys", []):
        if path not in best or best[path][0] < cycle:
            best[path] = (cycle, cls)
    return {path: cls for path, (_, cls) in best.items()}


def _key_differences(before: Oracle, after: Oracle) -> Iterator[str]:
    ours, theirs = _latest_keys(before.file), _latest_keys(after.file)
    for path, cls in ours.items():
        if cls in NTUPLE_CLASSES:
            continue
        if path not in theirs:
            yield f"{path} ({cls}): the key is gone"
        elif theirs[path].replace("TDirectoryFile", "TDirectory") != cls.replace("TDirectoryFile", "TDirectory"):
            yield f"{path}: class {cls} became {theirs[path]}"
    for path, cls in theirs.items():
        if path not in ours:
            yield f"{path} ({cls}): a key that was not there"


def _streamer_differences(before: Oracle, after: Oracle) -> Iterator[str]:
    # ROOT's own list of classes that the rewrite no longer uses may shrink; here it must not.
    ours = {
        (name, version, checksum) for name, version, checksum, _ in (before.file.get("root") or {}).get("streamers", [])
    }
    theirs = {(name, version, checksum) for name, version, checksum, _ in after.file["root"].get("streamers", [])}
    for name, version, checksum in sorted(ours - theirs):
        yield f"streamer info of {name} v{version} ({checksum:#x}) is gone"


def _tree_differences(before: Tree, after: Tree, ignore: frozenset[str]) -> Iterator[str]:
    where = before.path
    if before.read_by("root"):
        if not after.read_by("root"):
            yield f"{where}: ROOT cannot read the tree: {after.line.get('root')}"
            return
        yield from _facts(where, before.line["root"], after.line["root"], TREE_FACTS, ignore)
    if before.read_by("uproot"):
        if not after.read_by("uproot"):
            yield f"{where}: uproot cannot read the tree: {after.line.get('uproot')}"
            return
        yield from _facts(where, before.line["uproot"], after.line["uproot"], ("entries", "n_top_branches"), ignore)
    for branch_id, branch in before.branches.items():
        name = (branch.get("root") or branch.get("uproot") or {}).get("name", "?")
        there = f"{where}/{name} [{branch_id}]"
        if branch_id not in after.branches:
            yield f"{there}: the branch is gone"
        else:
            yield from _branch_differences(there, branch, after.branches[branch_id], ignore)
    for branch_id in after.branches.keys() - before.branches.keys():
        yield f"{where} [{branch_id}]: a branch that was not there"


def _facts(where: str, before: Line, after: Line, names: tuple[str, ...], ignore: frozenset[str]) -> Iterator[str]:
    for name in names:
        if name not in ignore and _plain(before.get(name)) != _plain(after.get(name)):
            yield f"{where}: {name} was {_short(before.get(name))}, is {_short(after.get(name))}"


def _branch_differences(where: str, before: Line, after: Line, ignore: frozenset[str]) -> Iterator[str]:
    if "root" in before:
        yield from _facts(where, before["root"], after.get("root") or {}, BRANCH_FACTS, ignore)
    if "uproot" in before:
        known = tuple(name for name in UPROOT_BRANCH_FACTS if before["uproot"].get(name) is not None)
        yield from _facts(where, before["uproot"], after.get("uproot") or {}, known, ignore)
    for reader in ("root", "uproot"):
        ours, theirs = before.get(f"{reader}_read") or {}, after.get(f"{reader}_read") or {}
        if not ours.get("ok"):
            continue
        # A grouping branch holds no data of its own; its children are compared on their own lines.
        if theirs.get("not_tried") or theirs.get("grouped"):
            continue
        if not theirs.get("ok"):
            yield f"{where}: {reader} could read it and now cannot: {_short(theirs)}"
            continue
        # ROOT counts while it reads; on a slow machine it may stop early, and the counts cover less.
        for name in ("read_entries", "read_bytes", "ak_type"):
            if name not in ignore and ours.get(name) != theirs.get(name):
                yield f"{where}: {reader}'s {name} was {_short(ours.get(name))}, is {_short(theirs.get(name))}"
        ours_digest, theirs_digest = digest_of(before, reader), digest_of(after, reader)
        if ours_digest is not None and "digest" not in ignore:
            ours_entries, theirs_entries = ours.get("digest_entries"), theirs.get("digest_entries")
            if ours_entries != theirs_entries:
                yield f"{where}: {reader} digested {ours_entries} entries, now {theirs_entries}"
            elif ours_digest != theirs_digest:
                yield f"{where}: {reader} reads other values: {_short(ours_digest)} became {_short(theirs_digest)}"


def _plain(value: Any) -> Any:
    """A fact without the parts that change between processes: memory addresses and the file's name in uproot's
    texts."""
    if not isinstance(value, str):
        return value
    return re.sub(r" at 0x[0-9a-f]+", "", value.partition("\nin file ")[0])


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 160 else text[:157] + "..."
