"""The files that an argument names, and the trees in them."""

from __future__ import annotations

import collections.abc
import errno
from typing import TYPE_CHECKING, Any

from .. import _core
from .._shared.places import as_text, is_place, local
from .table import Table

if TYPE_CHECKING:
    from .forms import Place, Places


def named(places: Places | Table[Any]) -> list[tuple[str, str | None]]:
    """Files and the trees in them. A list may have open trees and dicts, too."""
    if isinstance(places, Table):
        return list(places._inputs)
    if is_place(places):
        return _expand(places)
    if isinstance(places, collections.abc.Mapping):
        return [(path, inside or tree) for place, tree in places.items() for path, inside in _expand(place)]
    made: list[tuple[str, str | None]] = []
    lacking: list[FileNotFoundError] = []
    for one in places:
        try:
            made += named(one)
        except FileNotFoundError as error:
            # As in uproot, patterns without files count for nothing.
            if not (is_place(one) and any(special in as_text(one) for special in "*?[")):
                raise
            lacking.append(error)
    if lacking and not made:
        raise lacking[0]
    return made


def _expand(place: Place) -> list[tuple[str, str | None]]:
    """The files and trees of an argument."""
    path = local(as_text(place))
    try:
        return _core.expand([path])
    except ValueError as error:
        if "no file matches" in str(error):
            raise FileNotFoundError(errno.ENOENT, "no file matches", path) from None
        raise
