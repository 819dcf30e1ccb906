"""Calls of the command's verbs: paths and layouts as texts, and reports whose work a bar counts. What an option is the
command knows (`_core.report`). The verbs themselves are in `files`, `many_files` and `sweeping`."""

from __future__ import annotations

import collections.abc
import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .._core import expand, report
from .._shared.names import did_you_mean
from .._shared.progress import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .._shared.progress import Progress
    from .options import Defines, Layout, Places, Values

    Grid: TypeAlias = Mapping[str, Values] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

Report = TypeVar("Report")


def called(
    kind: type[Report],
    verb: str,
    given: Mapping[str, Any],
    known: type,
    arguments: list[str],
    progress: Progress,
    *,
    read: list[str] | None = None,
    unit: str = "B",
    total: int | None = None,
    **own: Any,
) -> Report:
    """The report of a verb with these options and own ones of its function. A bar counts the work, by default bytes of
    the files that are read. An option that the type `known` lacks is a `TypeError`."""
    from ..reports.parse import parse

    only_known(verb, given, known.__annotations__)
    if progress and read is not None:
        total = _bytes(read)
    with shown(progress, total, unit, verb) as bar:
        options = {"json": True, **own, **with_layout(given)}
        return parse(kind, report(verb, options, arguments, None if bar is None else bar.update))


def only_known(verb: str, given: Iterable[str], names: Iterable[str]) -> None:
    """Raises a `TypeError` for an option that is none of these."""
    unknown = [name for name in given if name not in names]
    if unknown:
        names = list(names)
        hint = did_you_mean(unknown[0], names) or f"; it has {', '.join(names)}"
        raise TypeError(f"{verb}() got an unexpected keyword argument {unknown[0]!r}{hint}")


def _bytes(places: list[str]) -> int | None:
    """Bytes of local files; None if the size of one is unknown."""
    try:
        return sum(Path(path).stat().st_size for path, _ in expand(places))
    except (OSError, ValueError):
        return None


def as_paths(places: Places, *, may_be_empty: bool = False) -> list[str]:
    """Paths as texts. None at all is a `ValueError`, unless they may be: a folder that a program looked through was
    empty."""
    texts = [os.fspath(place) for place in ([places] if isinstance(places, str | os.PathLike) else places)]
    if not texts and not may_be_empty:
        raise ValueError("no file is given: the list of paths is empty")
    return texts


def as_tables(others: Places | Iterable[Places]) -> list[str]:
    """The files of each of several tables as a text: one with line breaks is several. Without lists in it, the files
    are those of one table."""
    several = [others] if isinstance(others, str | os.PathLike) else list(others)
    tables = several if any(not isinstance(one, str | os.PathLike) for one in several) else [several]
    paths = [as_paths(table) for table in tables]  # type: ignore[arg-type]
    return [files[0] if len(files) == 1 else "\n".join([*files, ""]) for files in paths]


def with_layout(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options with layouts, prices, reports, definitions and keys of two sides as the command takes them."""
    changed: dict[str, Any] = {}
    texts: dict[str, Callable[[Any], str | list[str]]] = {
        "layout": as_toml,
        "price": _price_book,
        "again": _saved,
        "define": as_defines,
        "on": _key,
    }
    for name, as_text in texts.items():
        value = given.get(name)
        if isinstance(value, collections.abc.Mapping) or dataclasses.is_dataclass(value):
            changed[name] = as_text(value)
    return {**given, **changed}


def as_defines(given: Defines) -> list[str]:
    """Columns that are defined, as texts: `{"ht": "sum(Jet_pt)"}` is `ht=sum(Jet_pt)`."""
    if isinstance(given, collections.abc.Mapping):
        return [f"{name}={text}" for name, text in given.items()]
    return [given] if isinstance(given, str) else list(given)


def _price_book(prices: Mapping[str, Any]) -> str:
    """Prices as TOML text."""
    tables = {key: value for key, value in prices.items() if isinstance(value, collections.abc.Mapping)}
    lines = [_line(key, value) for key, value in prices.items() if key not in tables]
    for key, values in tables.items():
        lines += [f"[{key}]", *(_line(name, value) for name, value in values.items())]
    return "\n".join(["", *lines, ""])


def _key(names: Mapping[str, str | Iterable[str]]) -> str:
    """The columns of a key on the left and on the right, where each of several tables may have another name."""
    several = {left: [right] if isinstance(right, str) else right for left, right in names.items()}
    return ",".join("=".join([left, *others]) for left, others in several.items())


def _saved(report: Any) -> str:
    """A report as the command saves it."""
    return json.dumps(dataclasses.asdict(report), default=str)


def axes(grid: Grid) -> list[str]:
    """The arguments of --grid, one for each axis."""
    if isinstance(grid, collections.abc.Mapping):
        return [f"{key.replace('_', '-')}={_values(values)}" for key, values in grid.items()]
    several = [grid] if isinstance(grid, str | os.PathLike) else grid
    return [os.fspath(one) for one in several]


def _values(values: Values) -> str:
    """One value, or several joined by commas."""
    several = [values]
    if isinstance(values, collections.abc.Iterable) and not isinstance(values, str):
        several = [*values]
    texts = ",".join(map(str, several))
    return texts.replace("True", "true").replace("False", "false")


def layout_text(layout: Layout | None, given: Mapping[str, Any]) -> str:
    """A layout with further keys that override it, as TOML text."""
    import copy
    import tomllib

    whole: dict[str, Any] = {}
    if isinstance(layout, collections.abc.Mapping):
        whole = {key.replace("_", "-"): copy.deepcopy(value) for key, value in layout.items()}
    elif layout is not None:
        text = str(layout) if "\n" in str(layout) else Path(layout).read_text()
        whole = tomllib.loads(text)
    for name, value in given.items():
        if value is None:
            continue
        kind = name.removesuffix("_set")
        if kind != name:
            # The last match wins, so an existing pattern moves behind the others.
            rules = whole.setdefault(kind, {})
            for pattern, keys in value.items():
                rules[pattern] = rules.pop(pattern, {}) | keys
        else:
            whole[name.replace("_", "-")] = value
    return as_toml(whole)


def as_toml(layout: Mapping[str, Any]) -> str:
    """A layout as text. JSON's strings and numbers are valid TOML."""
    rules = {kind: layout[kind] for kind in ("tree", "column") if kind in layout}
    lines = [_line(key, value) for key, value in layout.items() if key not in rules]
    for kind, patterns in rules.items():
        for pattern, keys in patterns.items():
            lines.append(f"[{kind}.{json.dumps(pattern, ensure_ascii=False)}]")
            lines += [_line(key, value) for key, value in keys.items()]
    return "\n".join(["", *lines, ""])


def _line(key: str, value: object) -> str:
    return f"{key.replace('_', '-')} = {json.dumps(value, ensure_ascii=False)}"
