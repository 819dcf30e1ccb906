"""Profiles: `TProfile`, `TProfile2D`, `TProfile3D`. A bin is the mean of the values filled into it; errors follow
ROOT's `TProfileHelper`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .histograms import Histogram, boost_axis, labelled
from .model import FAMILIES

if TYPE_CHECKING:
    import boost_histogram
    from numpy.typing import NDArray

#: Modes of errors (`TProfile::SetErrorOption`), by letter and by ROOT's number.
MODES = {"": "", "s": "s", "i": "i", "g": "g", None: "", 0: "", 1: "s", 2: "i", 3: "g"}


class Profile(Histogram):
    """A profile."""

    #: UHI's word for histograms of means.
    kind = "MEAN"

    @property
    def _dimensions(self) -> int:
        return next(n for n in (3, 2, 1) if n == 1 or self.is_instance(f"TProfile{n}D"))

    @property
    def weighted(self) -> bool:
        """Whether sums of squared weights are stored."""
        squares = self.member("fBinSumw2", none_if_missing=True)
        return squares is not None and len(squares) == self.member("fNcells")

    def _weights(self) -> Any:
        """Sum of weights of each bin."""
        return np.asarray(self.member("fBinEntries"), np.float64)

    def _effective(self) -> Any:
        weights = self._weights()
        if not self.weighted:
            return weights
        squares = np.asarray(self.member("fBinSumw2"), np.float64)
        return np.divide(weights**2, squares, out=np.zeros_like(weights), where=squares > 0)

    def _means(self) -> Any:
        weights = self._weights()
        sums = np.asarray(self._numbers(), np.float64)
        return np.divide(sums, weights, out=np.zeros_like(weights), where=weights != 0)

    def _squares(self) -> Any:
        """Sum of weighted squares of each bin."""
        found = self.member("fSumw2", none_if_missing=True)
        there = found is not None and len(found) == self.member("fNcells")
        return np.asarray(found, np.float64) if there else np.zeros(len(self._weights()))

    def counts(self, flow: bool = False) -> NDArray[Any]:
        """Effective numbers of entries."""
        return self._shaped(self._effective(), flow)

    def values(self, flow: bool = False) -> NDArray[Any]:
        """Means, an array with a dimension for each axis; with `flow` each is two longer."""
        return self._shaped(self._means(), flow)

    def errors(self, flow: bool = False, error_mode: Any = "") -> NDArray[np.float64]:
        """Errors, in the shape of `values`: "" of the mean, "s" the spread, "i" for integers, "g" for weights of
        Gaussian errors."""
        if error_mode not in MODES:
            raise ValueError(f'error_mode must be "", "s", "i" or "g", not {error_mode!r}')
        mode, weights, effective = MODES[error_mode], self._weights(), self._effective()
        nonzero, zero = weights != 0, np.zeros(len(weights))
        if mode == "g":
            return self._shaped(np.divide(1, np.sqrt(np.abs(weights)), out=zero, where=nonzero), flow)
        ratio = np.divide(self._squares(), weights, out=zero.copy(), where=nonzero)
        spread = np.where(nonzero, np.sqrt(np.abs(ratio - self._means() ** 2)), 0)
        if mode == "s":
            return self._shaped(spread, flow)
        root = np.sqrt(effective)
        found = np.divide(spread, root, out=zero.copy(), where=nonzero & (root > 0))
        if mode == "i":
            # All values alike: the spread of a uniform distribution over one unit.
            uniform = np.divide(1, np.sqrt(12 * effective), out=zero.copy(), where=nonzero & (root > 0))
            found = np.where(spread != 0, found, uniform)
        return self._shaped(found, flow)

    def variances(self, flow: bool = False, error_mode: Any = "") -> NDArray[np.float64]:
        """Squares of the errors."""
        return np.square(self.errors(flow, error_mode))

    def to_boost(self, metadata: Any = None, axis_metadata: Any = None) -> boost_histogram.Histogram:
        """A `boost_histogram.Histogram` of means."""
        import boost_histogram as bh

        storage = bh.storage.WeightedMean() if self.weighted else bh.storage.Mean()
        made = bh.Histogram(*(boost_axis(axis, axis_metadata) for axis in self.axes), storage=storage)
        self._tell(made, metadata)
        made.metadata = {"fEntries": self.member("fEntries")}
        weights, means = self._weights(), self._means()
        deltas = np.maximum(self._squares() - weights * means**2, 0) if np.any(self._squares()) else 0 * weights
        places = labelled(self)
        view = made.view(flow=True)

        def put(name: str, bins: Any) -> None:
            view[name] = self._shaped(bins, True)[places]

        put("value", means)
        if self.weighted:
            with np.errstate(divide="ignore", invalid="ignore"):
                squares = weights**2 / self._effective()
            put("sum_of_weights", weights)
            put("sum_of_weights_squared", squares)
            put("_sum_of_weighted_deltas_squared", deltas)
        else:
            put("count", weights)
            put("_sum_of_deltas_squared", deltas)
        return made


FAMILIES["TProfile"] = FAMILIES["TProfile2D"] = FAMILIES["TProfile3D"] = Profile
