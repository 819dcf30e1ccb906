"""Paths and URLs of files, in the forms in which users give them; and the options for fsspec that come with some."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: Options for fsspec, by URL: of paths that have `storage_options`, as those of `universal_pathlib` do.
_OPTIONS: dict[str, dict[str, Any]] = {}


def local(path: str) -> str:
    """The path of a `file:` URL, also behind fsspec's `simplecache::`; anything else as it is."""
    plain = path.removeprefix("simplecache::")
    if plain.startswith("file:"):
        plain = plain.removeprefix("file:")
        return plain.removeprefix("//") if plain.startswith("//") else plain
    return path if "://" in plain else plain


def is_place(value: Any) -> TypeIs[str | os.PathLike[str]]:
    """Whether this names one file."""
    return isinstance(value, str | os.PathLike) or hasattr(value, "storage_options")


def as_text(place: Any) -> str:
    """A path or a URL as text. Its options for fsspec, if it has any, are kept for when it is opened."""
    options = getattr(place, "storage_options", None)
    if options is None:
        path: str = os.fspath(place)
        return path
    url = str(place)
    if options:
        _OPTIONS[url] = dict(options)
    return url


def storage_options(url: str) -> dict[str, Any]:
    """The options for fsspec that were given with a URL."""
    return _OPTIONS.get(url, {})
