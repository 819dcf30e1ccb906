"""The import graph of Python sources: which file imports from which other one, inside functions and for types, too.

A name that a package takes from one of its modules counts as an import of the package, whose `__init__` runs first.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from referee.circles import Module, circles


class Sources:
    """All Python files below some folders."""

    def __init__(self, folders: Mapping[Path, Module]) -> None:
        """Reads the folders, each with the package that it is; () if Python finds its modules by their own names."""
        self._files: dict[Module, Path] = {}
        self._packages: set[Module] = set()
        for folder, package in folders.items():
            for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
                module = package + path.relative_to(folder).with_suffix("").parts
                if module[-1] == "__init__":
                    module = module[:-1]
                    self._packages.add(module)
                if module in self._files:
                    raise ValueError(f"two modules are named {_name(module)}: {self._files[module]} and {path}")
                self._files[module] = path

    def files(self) -> list[Path]:
        """The files of the graph."""
        return list(self._files.values())

    def circles(self) -> list[list[str]]:
        """Groups of files that import each other, directly or by a chain; of each, the modules' names."""
        return [[_name(module) for module in group] for group in circles(self.edges())]

    def edges(self) -> dict[Module, set[Module]]:
        """For each module the modules that it imports."""
        return {
            module: {used for used in self._imported(module, ast.parse(path.read_text())) if used != module}
            for module, path in self._files.items()
        }

    def _imported(self, module: Module, tree: ast.Module) -> Iterator[Module]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._known(tuple(alias.name.split(".")))
            elif isinstance(node, ast.ImportFrom):
                source = tuple(node.module.split(".")) if node.module else ()
                if node.level:
                    # One level is the package that the module is in, or is.
                    up = node.level - (module in self._packages)
                    source = module[: len(module) - up] + source
                for alias in node.names:
                    yield from self._known((*source, alias.name)) or self._known(source)

    def _known(self, module: Module) -> list[Module]:
        return [module] if module in self._files else []


def _name(module: Module) -> str:
    return ".".join(module)
