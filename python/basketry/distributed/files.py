"""The files of a job, from what a user gives, and the names of their outputs. Nothing is opened here."""

from __future__ import annotations

import collections.abc
import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from .. import _core
from .._shared.names import public, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Place: TypeAlias = str | os.PathLike[str]
    #: A file, pattern or "@list.txt"; several; or data sets by name (lists of files, or coffea's filesets).
    Files: TypeAlias = Place | Iterable[Place | tuple[Place, ...]] | Mapping[Any, Any]
    Naming: TypeAlias = Place | Callable[[str], Place]

#: The data set of files that are given without one.
NO_DATASET = "merged"


@dataclass(frozen=True)
class Input:
    """What one task of `map` reads: a file, or a few that belong together."""

    dataset: str
    #: Places for the verb, FILE or FILE:TREE.
    places: tuple[str, ...]
    #: The path of the first file, without a tree.
    path: str

    def __repr__(self) -> str:
        return shown(self)


def inputs(files: Files) -> list[Input]:
    """The files, in the order of the user. A pattern without a match is a `ValueError`."""
    if isinstance(files, collections.abc.Mapping):
        return [one for name, value in files.items() for one in _dataset(name, value)]
    return list(_listed(NO_DATASET, files))


def _dataset(name: Any, value: Any) -> Iterator[Input]:
    """The files of an entry of a mapping: a file with its tree, or a data set with its files."""
    if value is None or isinstance(value, str):
        yield from _expanded(NO_DATASET, name, value)
        return
    if isinstance(value, collections.abc.Mapping):
        files = value.get("files", value)
        if isinstance(files, collections.abc.Mapping):
            for place, tree in files.items():
                # coffea's preprocessed filesets describe each file.
                inside = tree.get("object_path") if isinstance(tree, collections.abc.Mapping) else tree
                yield from _expanded(str(name), place, inside)
            return
        value = files
    yield from _listed(str(name), value)


def _listed(dataset: str, files: Any) -> Iterator[Input]:
    if isinstance(files, str | os.PathLike):
        files = [files]
    for one in files:
        if isinstance(one, tuple):
            places = tuple(os.fspath(place) for place in one)
            yield Input(dataset, places, str(_core.expand(places[:1])[0][0]))
        else:
            yield from _expanded(dataset, one, None)


def _expanded(dataset: str, place: Place, tree: str | None) -> Iterator[Input]:
    for path, inside in _core.expand([os.fspath(place)]):
        inside = inside or tree
        yield Input(dataset, (f"{path}:{inside}" if inside else str(path),), str(path))


def outputs(found: list[Input], naming: Naming) -> list[str]:
    """The output of each input: a template, a folder, or what a function makes of the input's path.

    A template has {stem} and {name} (of "in/f.root": f and f.root), {dataset}, and {n}, the number of the input. Two
    inputs with one output are a `ValueError`.
    """
    made: dict[str, str] = {}
    for n, one in enumerate(found):
        output = _output(n, one, naming)
        if output in made:
            both = f"{public(made[output])} and {public(one.path)}"
            raise ValueError(f"{both} would both become {public(output)}: use {{n}} in its name")
        made[output] = one.path
    return list(made)


def _output(n: int, one: Input, naming: Naming) -> str:
    if callable(naming):
        return os.fspath(naming(one.path))
    text = os.fspath(naming)
    # Parameters of a URL are no part of the file's name.
    path = PurePath(urlsplit(one.path).path if is_url(one.path) else one.path)
    if "{" not in text and (text.endswith(os.sep) or os.path.isdir(text)):  # noqa: PTH112
        text = os.path.join(text, "{name}")  # noqa: PTH118
    return fill(text, stem=path.stem, name=path.name, dataset=one.dataset, n=n)


def is_url(path: str) -> bool:
    """Whether a path is on a server."""
    return "://" in path


def fill(template: str, **fields: object) -> str:
    """The template with its fields; an unknown field is a `ValueError` that names the known ones."""
    try:
        return template.format(**fields)
    except (KeyError, IndexError) as error:
        known = ", ".join(f"{{{name}}}" for name in fields)
        raise ValueError(f"the output {template!r} has an unknown field {error}: there are {known}") from None
