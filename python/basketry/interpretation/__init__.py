"""The type of a branch's array: a text in awkward's notation, which can also give awkward's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Interpretation(str):
    """The type of a branch's array as text, such as `var * float32`."""

    #: Reads no entry, in an awkward array.
    _empty: Callable[[], Any]

    @classmethod
    def of(cls, text: str, empty: Callable[[], Any]) -> Interpretation:
        """The interpretation with this text, for a branch that `empty` reads no entry of."""
        made = cls(text)
        made._empty = empty
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def awkward_form(self, file: Any = None) -> Any:  # noqa: ARG002
        """The form of the awkward array; `file` keeps uproot's argument."""
        return self._empty().layout.form
