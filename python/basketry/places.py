"""Paths of files on this machine, in the forms in which uproot's users give them."""

from __future__ import annotations


def local(path: str) -> str:
    """The path of a `file:` URL, also behind fsspec's `simplecache::`; anything else as it is."""
    plain = path.removeprefix("simplecache::")
    if plain.startswith("file:"):
        plain = plain.removeprefix("file:")
        return plain.removeprefix("//") if plain.startswith("//") else plain
    return path if "://" in plain else plain
