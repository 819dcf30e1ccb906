"""Names: matches them against filters, and finds the nearest to an unknown name."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _core
from ..exceptions import KeyInFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Filter: TypeAlias = str | Callable[[str], bool] | Iterable["Filter"] | None


#: Characters of a name in a table or a list.
MOST_LETTERS = 80


def plain(text: object) -> str:
    """Text that may be shown in a line of a terminal: characters that control it, hide, or reverse text are shown as
    codes, as the command shows them."""
    return _core.printable(str(text).encode("utf-8", "backslashreplace").decode())


def short(text: str) -> str:
    """As `plain`, for a list of names: a long one is cut in the middle."""
    return _core.shortened(plain(text), MOST_LETTERS)


def public(place: object) -> str:
    """What may be shown of a path: as `plain`, and a URL without its user, password and parameters."""
    return plain(_core.public_path(str(place)))


def shown(record: Any) -> str:
    """The `repr` of a data class, without users, passwords and parameters of URLs."""
    import dataclasses

    parts = (f"{one.name}={getattr(record, one.name)!r}" for one in dataclasses.fields(record) if one.repr)
    return plain(_core.public_text(f"{type(record).__qualname__}({', '.join(parts)})"))


def matcher(wanted: Filter) -> Callable[[str], bool] | None:
    """The predicate of a filter; None if it accepts all names.

    A filter is a glob (`*`, `?`, `[...]`), a regular expression `"/.../"` with flags such as `i` behind it, which
    matches at the beginning of a name, a function, or an iterable of these, one of which must accept the name.
    """
    if wanted is None:
        return None
    if callable(wanted):
        return wanted
    if isinstance(wanted, str):
        return _pattern(wanted)
    if isinstance(wanted, collections.abc.Iterable) and not isinstance(wanted, bytes):
        each = [matcher(one) or (lambda _: True) for one in wanted]
        return lambda name: any(wants(name) for wants in each)
    raise TypeError(f"a filter must be a glob, '/regex/i', a function, or several of these, not {wanted!r}")


def _pattern(text: str) -> Callable[[str], bool]:
    import fnmatch
    import re

    body, slash, flags = text[1:].rpartition("/")
    if text.startswith("/") and slash and set(flags) <= set("aiLmsux"):
        mode = re.RegexFlag(0)
        for flag in flags:
            mode |= re.RegexFlag[flag.upper()]
        regex = re.compile(body, mode)
        return lambda name: regex.match(name) is not None
    if any(special in text for special in "*?["):
        return lambda name: fnmatch.fnmatchcase(name, text)
    return lambda name: name == text


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name, with the nearest known ones; empty if none is near."""
    import difflib

    # Often only the case differs.
    folded = {one.casefold(): one for one in known}
    near = [folded[one] for one in difflib.get_close_matches(name.casefold(), folded, n=3)]
    return f"; did you mean {' or '.join(map(short, near))}?" if near else ""


def missing(kind: str, name: str, known: Iterable[str], where: Any) -> KeyError:
    """The error for an unknown name, with the nearest known names."""
    names = list(dict.fromkeys(known))
    hint = did_you_mean(name, names) or (f"; there are {', '.join(map(short, names[:10]))}" if names else "")
    return KeyInFileError(f"no {kind} {short(repr(name))} in {where}{hint}", name)
