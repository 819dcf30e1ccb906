"""uproot's `AsDtype`: the numbers of a branch by types of NumPy's, as `array` and `arrays` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class AsDtype:
    """Numbers that lie in the file as one type of NumPy's, and become another; by default the same in the byte order of
    this machine."""

    def __init__(self, from_dtype: Any, to_dtype: Any = None) -> None:
        import numpy as np

        #: The type in the file, whose numbers are big-endian whatever it says.
        self.from_dtype: np.dtype[Any] = np.dtype(from_dtype)
        #: The type of the array.
        self.to_dtype: np.dtype[Any] = np.dtype(self.from_dtype if to_dtype is None else to_dtype).newbyteorder("=")

    def __repr__(self) -> str:
        return f"AsDtype({self.from_dtype.str!r}, {self.to_dtype.str!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsDtype) and self._both == other._both

    def __hash__(self) -> int:
        return hash(self._both)

    @property
    def _both(self) -> tuple[Any, Any]:
        return self.from_dtype, self.to_dtype
