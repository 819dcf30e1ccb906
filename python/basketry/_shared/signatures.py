"""Signatures of functions that hand options on: `help()`, `inspect` and completion show the options instead of
`**options`. Types are checked by the annotations, not here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Function = TypeVar("Function", bound=Callable[..., Any])


def spelled(*sources: Any, defaults: Mapping[str, Any] | None = None) -> Callable[[Function], Function]:
    """Names the options of a function that takes them as `**options`: the keys of a `TypedDict`, or the keywords of
    another function. An option of several sources has the types of all, and the default that they agree on. Those
    of a `TypedDict` have these `defaults`, and else None, or False for truth values."""

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        names = {one.name for one in kept}
        further: dict[str, inspect.Parameter] = {}
        for one in (one for source in sources for one in _options(source, defaults or {}) if one.name not in names):
            further[one.name] = _joined(further[one.name], one) if one.name in further else one
        function.__signature__ = own.replace(parameters=[*kept, *further.values()])  # type: ignore[attr-defined]
        return function

    return decorate


def _joined(first: inspect.Parameter, second: inspect.Parameter) -> inspect.Parameter:
    """The same option of two functions."""
    kinds = dict.fromkeys(kind for one in (first, second) for kind in str(one.annotation).split(" | "))
    default = first.default if first.default == second.default else None
    return first.replace(annotation=" | ".join(kinds), default=default)


def _options(source: Any, defaults: Mapping[str, Any]) -> Iterator[inspect.Parameter]:
    if not isinstance(source, type):
        for one in inspect.signature(source).parameters.values():
            if one.kind is one.KEYWORD_ONLY:
                yield one
        return
    for name, annotation in source.__annotations__.items():
        words = getattr(annotation, "__forward_arg__", annotation)
        default = defaults.get(name, False if words == "bool" else None)
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=words)
