"""The rule that tells uproot's tests of its public interface from tests of its internals. It reads the source of a test
module; it imports nothing.

A test counts as public if it, and all functions and fixtures of its module that it names, use of the module `uproot`
only the names below, which uproot's guide documents for users, and of objects no name of the internal ones.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: What a user calls: functions, codecs, errors.
PUBLIC = {
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "KeyInFileError",
    "Model",
    "ReadOnlyDirectory",
    "ReadOnlyFile",
    "TBranch",
    "TTree",
    "as_TGraph",
    "concatenate",
    "create",
    "exceptions",
    "iterate",
    "num_entries",
    "open",
    "recreate",
    "to_writable",
    "update",
    "writing.identify",
    "writing.recreate",
    "writing.update",
    "reading.open",
}
#: Members of objects that show how uproot is built: its interpretations, baskets as it holds them, sources, cascades.
INTERNAL = {
    "_cascading",
    "_file",
    "_members",
    "_options",
    "_streamers",
    "array_cache",
    "cache_key",
    "class_named",
    "basket",
    "basket_chunk_cursor",
    "basket_key",
    "chunk",
    "cluster_summaries",
    "column_record_list",
    "column_records",
    "compact",
    "cursor",
    "debug",
    "field_records",
    "footer",
    "header",
    "interpretation",
    "interpreter",
    "model_named",
    "page_link_list",
    "page_list_envelopes",
    "parent",
    "read_col_page",
    "show_streamers",
    "source",
    "streamer",
    "streamer_named",
    "streamers",
}
#: Fixtures of the suite that work on internals.
INTERNAL_FIXTURES = {"reset_classes", "http_server", "xrootd_server", "use_isal"}


def public_tests(module: Path) -> set[str]:
    """The public tests of a module: `test_name` or `Class::test_name`."""
    tree = ast.parse(module.read_text())
    helpers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    values = {
        target.id: node
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    known: dict[str, ast.AST] = {**helpers, **values}
    internal = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("uproot.")
        for alias in node.names
    }
    found = {name for name, node in helpers.items() if name.startswith("test") and _is_public(node, known, internal)}
    for klass in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        inner = {node.name: node for node in klass.body if isinstance(node, ast.FunctionDef)}
        found |= {
            f"{klass.name}::{name}"
            for name, node in inner.items()
            if name.startswith("test") and _is_public(node, {**known, **inner}, internal)
        }
    return found


def _is_public(test: ast.AST, known: dict[str, ast.AST], internal: set[str]) -> bool:
    todo, seen = [test], set()
    while todo:
        node = todo.pop()
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and not _may_use(part):
                return False
            if isinstance(part, ast.ImportFrom) and (part.module or "").startswith("uproot."):
                return False
            name = part.id if isinstance(part, ast.Name) else part.arg if isinstance(part, ast.arg) else None
            if name in internal or name in INTERNAL_FIXTURES:
                return False
            if name in known and name not in seen:
                seen.add(name)
                todo.append(known[name])
    return True


def _may_use(node: ast.Attribute) -> bool:
    path: list[str] = []
    below: ast.expr = node
    while isinstance(below, ast.Attribute):
        path.insert(0, below.attr)
        below = below.value
    if isinstance(below, ast.Name) and below.id == "uproot":
        # The walk comes by the shorter paths, too.
        first, both = path[0], ".".join(path[:2])
        return first in PUBLIC or both in PUBLIC or any(one.startswith(f"{both}.") for one in PUBLIC)
    return node.attr not in INTERNAL
