"""Circles in the import graph of any language: groups of modules that use each other."""

from collections.abc import Iterable, Mapping

# The path of a module below its root: `crate::tree::basket` and `tree.basket` are ("tree", "basket").
Module = tuple[str, ...]


def circles(edges: Mapping[Module, Iterable[Module]]) -> list[list[Module]]:
    """Strongly connected components of two or more modules (Tarjan)."""
    index: dict[Module, int] = {}
    low: dict[Module, int] = {}
    stack: list[Module] = []
    found: list[list[Module]] = []

    def visit(module: Module) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in edges.get(module, ()):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[-len(group) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(edges):
        if module not in index:
            visit(module)
    return found
