"""The array of the entries of one column. `arrays` reads several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from .._shared.progress import reading
from .._shared.signatures import spelled
from . import interpreting, libraries, options
from . import virtual as lazy
from .arrays import DEFAULTS, Readable, given
from .forms import Formed
from .plan import columns
from .request import Request

if TYPE_CHECKING:
    from typing import SupportsIndex, TypeAlias, Unpack

    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from .._shared.progress import Progress
    from ..interpretation import Interpretation
    from .forms import Ak, Library, MoreOfOne, Np, Pa, Pd, Pl, TunedFormed
    from .plan import Part

    At: TypeAlias = SupportsIndex | None


class Single(Readable):
    """What is a column of a table."""

    _name: str
    #: The number of the column; None for what only groups others.
    _column: int | None
    interpretation: Interpretation

    def _read_as(self) -> Part:
        """What to read for it."""
        raise NotImplementedError

    @overload
    def array(
        self,
        interpretation: Any = None,
        entry_start: At = None,
        entry_stop: At = None,
        *,
        library: Ak = "ak",
        **more: Unpack[MoreOfOne],
    ) -> ak.Array: ...
    @overload
    def array(
        self,
        interpretation: Any = None,
        entry_start: At = None,
        entry_stop: At = None,
        *,
        library: Np,
        **more: Unpack[MoreOfOne],
    ) -> NDArray[Any]: ...
    @overload
    def array(
        self,
        interpretation: Any = None,
        entry_start: At = None,
        entry_stop: At = None,
        *,
        library: Pd,
        **more: Unpack[MoreOfOne],
    ) -> pd.Series | pd.DataFrame: ...
    @overload
    def array(
        self,
        interpretation: Any = None,
        entry_start: At = None,
        entry_stop: At = None,
        *,
        library: Pa,
        **more: Unpack[MoreOfOne],
    ) -> pa.ChunkedArray: ...
    @overload
    def array(
        self,
        interpretation: Any = None,
        entry_start: At = None,
        entry_stop: At = None,
        *,
        library: Pl,
        **more: Unpack[MoreOfOne],
    ) -> pl.Series: ...
    @overload
    def array(
        self,
        interpretation: Any = None,
        entry_start: At = None,
        entry_stop: At = None,
        *,
        library: Library = "ak",
        **more: Unpack[MoreOfOne],
    ) -> Any: ...
    @spelled(Formed, defaults=DEFAULTS)
    def array(
        self,
        interpretation: Any = None,
        entry_start: SupportsIndex | None = None,
        entry_stop: SupportsIndex | None = None,
        *,
        virtual: bool = False,
        access_log: list[Any] | None = None,
        progress: Progress = None,
        **asked: Unpack[TunedFormed],
    ) -> Any:
        """The entries as one array, of the type that `Branch.interpretation` names: one value for each entry, or a list
        (`var * float32`), which NumPy holds as an object. Arguments are those of `arrays`. With an `interpretation`, a
        type of NumPy's such as "u2" or an `AsDtype`, the bytes of numbers are read as numbers of that type, which has
        the same size, or "u1", else it is a `ValueError`; by default types are those that the file describes.

        With library "pd" it is a Series; a DataFrame, where the branch becomes several columns."""
        own = given("array", asked, Formed) | {"entry_start": entry_start, "entry_stop": entry_stop}
        if interpretation is not None and interpretation is not self.interpretation:
            found = self.array(progress=progress, **{**own, "library": "np"})
            return interpreting.in_library(interpreting.as_type(found, interpretation), options.library(own["library"]))
        request = Request.of(self.num_entries, own)
        lazy.check(virtual, access_log, {"library": None if request.library == "ak" else request.library})
        if virtual:
            request, _ = libraries.held(self._table, ((self._name, self._read_as()),), request)
            return lazy.column(self._table, self._name, self._read_as(), request, access_log)
        plan = self._filtered() if self._column is None else ((self._name, self._column),)
        with reading(progress, request, len(columns(plan))) as request:
            if self._column is None:
                return libraries.read(self._table, plan, request)
            return libraries.read_one(self._table, self._name, self._column, request)
