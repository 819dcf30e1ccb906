"""Builds data classes from the JSON of a report."""

import json
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

from .inspecting import Finding

Report = TypeVar("Report")

_KINDS: dict[type, dict[str, Any]] = {}


def parse(kind: type[Report], text: str) -> Report:
    """A report from its JSON. An unknown key and a missing key are errors."""
    return typing.cast(Report, _build(kind, json.loads(text)))


def _build(kind: Any, value: Any) -> Any:
    if isinstance(kind, types.UnionType):
        # Unions are those with None, of numbers, and of what a setting may be.
        either = typing.get_args(kind)
        is_number = float in either and str not in either
        return None if value is None else _build(float if is_number else either[0], value)
    if kind is float:
        # JSON has no numbers that are not finite: they are texts.
        return float(value) if isinstance(value, str) else value
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        return tuple([_build(item, part) for part in value])
    if typing.get_origin(kind) is dict:
        item = typing.get_args(kind)[1]
        return {name: _build(item, part) for name, part in value.items()}
    if kind is Path:
        # A path would join the slashes of a URL.
        return value if "://" in value else Path(value)
    if not hasattr(kind, "__dataclass_fields__"):
        return value
    kinds = _KINDS.get(kind) or _KINDS.setdefault(kind, typing.get_type_hints(kind))
    fields = {f"{name}_" if name in ("class", "from") else name: part for name, part in value.items()}
    if kind is Finding:
        # What is counted differs from fault to fault.
        fields["numbers"] = {name: fields.pop(name) for name in list(fields) if name not in kinds}
    return kind(**{name: _build(kinds.get(name), part) for name, part in fields.items()})
