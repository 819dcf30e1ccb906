"""The import graph of a Rust crate: which source file uses items that another file of the crate defines.

It reads `use` declarations and paths, follows re-exports to the file that defines an item, and leaves out comments,
strings and unit tests. It does not resolve macros or methods, so it can miss an edge but does not invent one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from referee.circles import Module, circles

# Who uses whom, and by which names.
Edges = dict[Module, dict[Module, set[str]]]

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?"(?:[^"\\]|\\.)*"|b?r(#*)".*?"\1|\'(?:[^\'\\]|\\.[^\']*)\'',
    re.DOTALL,
)
_TESTS = re.compile(r"#\[cfg\((?:all\()?(?:test|loom)[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub )?mod (\w+)\s*([;{])")
_USE = re.compile(r"(?P<vis>pub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
_PATH = re.compile(r"(?<![\w:])(?:\w+::)+\w+")


@dataclass
class _Source:
    """What one file declares and uses."""

    path: Path
    module: Module
    children: set[str] = field(default_factory=set)
    # `pub use` by the name that it gives out, and `pub use path::*`.
    exports: dict[str, Module] = field(default_factory=dict)
    globs: list[Module] = field(default_factory=list)
    # All that `use` brings into scope.
    names: dict[str, Module] = field(default_factory=dict)
    used: set[Module] = field(default_factory=set)


class Crate:
    """The source files of one crate, below its folder `src`."""

    def __init__(self, folder: Path) -> None:
        """Reads all files except `main.rs` and unit tests."""
        self._sources: dict[Module, _Source] = {}
        for path in sorted(folder.rglob("*.rs")):
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[-1] not in ("main", "tests"):
                module = parts[:-1] if parts[-1] in ("mod", "lib") else parts
                self._sources[module] = _Source(path, module)
        for module in self._sources:
            if module and module[:-1] in self._sources:
                self._sources[module[:-1]].children.add(module[-1])
        for source in self._sources.values():
            self._read(source)

    def files(self) -> Iterable[Path]:
        """The files of the graph."""
        return [source.path for source in self._sources.values()]

    def file_circles(self) -> list[list[str]]:
        """Groups of files that use each other, directly or by a chain; of each, the modules' names."""
        return [[_name(module) for module in group] for group in circles(self.edges())]

    def folder_circles(self) -> list[list[str]]:
        """Groups of folders, side by side in one folder, whose files use each other."""
        folders = {module[:depth] for module in self._sources for depth in range(len(module))}
        found = []
        for parent in sorted(folders):
            graph = self._between(parent, folders)
            found += [[_name(folder) for folder in group] for group in circles(graph)]
        return found

    def edges(self) -> Edges:
        """For each module the modules whose items it uses, with the names of these items."""
        found: Edges = {}
        for source in self._sources.values():
            users = found.setdefault(source.module, {})
            for path in source.used:
                target = self._defining(path)
                if target is not None and target != source.module:
                    users.setdefault(target, set()).add(path[-1])
        return found

    def _between(self, parent: Module, folders: set[Module]) -> dict[Module, set[Module]]:
        """The edges between the folders that lie in `parent`."""
        depth = len(parent) + 1
        graph: dict[Module, set[Module]] = {}
        for user, targets in self.edges().items():
            for target in targets:
                one, other = user[:depth], target[:depth]
                inside = user[: depth - 1] == parent == target[: depth - 1]
                if inside and one != other and one in folders and other in folders:
                    graph.setdefault(one, set()).add(other)
                    graph.setdefault(other, set())
        return graph

    def _read(self, source: _Source) -> None:
        text = code(source.path.read_text())
        for match in _USE.finditer(text):
            for path, name in _imported(match["tree"]):
                target = self._absolute(source, path)
                if target is None:
                    continue
                if not match["vis"]:
                    source.names[name] = target
                    source.used.add(target)
                elif name == "*":
                    source.globs.append(target[:-1])
                else:
                    source.exports[name] = source.names[name] = target
        for match in _PATH.finditer(_USE.sub("", text)):
            path = tuple(match[0].split("::"))
            target = self._absolute(source, path)
            if target is None and path[0] in source.names:
                target = source.names[path[0]] + path[1:]
            if target is not None:
                source.used.add(target)

    @staticmethod
    def _absolute(source: _Source, path: Module) -> Module | None:
        """A path from the crate's root; none where it leads to another crate."""
        if path[0] == "crate":
            return path[1:]
        if path[0] in ("self", "super"):
            here, rest = source.module, path
            while rest and rest[0] in ("self", "super"):
                here = here[:-1] if rest[0] == "super" else here
                rest = rest[1:]
            return here + rest
        return source.module + path if path[0] in source.children else None

    def _defining(self, path: Module, seen: frozenset[Module] = frozenset()) -> Module | None:
        """The module whose file defines what a path names; none where the path names a module."""
        if path in seen:
            return None
        seen |= {path}
        at: Module = ()
        for i, part in enumerate(path):
            if (*at, part) in self._sources:
                at = (*at, part)
                continue
            source = self._sources[at]
            if part in source.exports:
                return self._defining(source.exports[part] + path[i + 1 :], seen)
            for glob in source.globs:
                found = self._defining(glob + path[i:], seen)
                if found not in (None, at):
                    return found
            return at
        return None


def _name(module: Module) -> str:
    return "::".join(module) or "lib"


def code(text: str) -> str:
    """A source without comments, the contents of strings, and unit tests."""
    text = _TOKEN.sub(lambda match: "" if match[0].startswith("/") else '""', text)
    while match := _TESTS.search(text):
        end = match.end() if match[2] == ";" else _end_of_block(text, match.end())
        text = text[: match.start()] + text[end:]
    return text


def _end_of_block(text: str, at: int) -> int:
    """Where the block ends whose opening brace lies before `at`."""
    depth = 1
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def _imported(tree: str) -> list[tuple[Module, str]]:
    """Each path of a use tree, and the name that it gets."""
    if "{" in tree:
        head, _, rest = tree.strip().partition("{")
        prefix = tuple(part for part in head.strip().split("::") if part)
        items = _split(rest.rsplit("}", 1)[0])
        return [(prefix + path, name) for item in items if item.strip() for path, name in _imported(item)]
    text, _, name = (part.strip() for part in tree.partition(" as "))
    path = tuple(text.split("::"))
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    return [(path, name or path[-1])]


def _split(items: str) -> list[str]:
    """The items of a use tree, at the commas that lie in no inner braces."""
    parts, depth, last = [], 0, 0
    for i, character in enumerate(items):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append(items[last:i])
            last = i + 1
    return [*parts, items[last:]]
