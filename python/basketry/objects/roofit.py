"""Curves and histograms of RooFit's plots: `RooCurve` and `RooHist`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graphs import Graph, GraphAsymmErrors
from .model import FAMILIES


class Curve(Graph):
    """A curve of values, or a band of errors, whose outline goes along its upper side and back along its lower one."""

    @property
    def curve_type(self) -> str:
        """ "VALUES", or "ERRORS" of a band, whose outline ends where it begins."""
        x, _ = self.values()
        return "ERRORS" if len(x) > 1 and x[0] == x[-1] else "VALUES"

    def _check(self, kind: str, other: str) -> None:
        if self.curve_type != kind:
            raise ValueError(f"this curve has {self.curve_type.lower()}: use {other}")

    def interpolate(self, xvalues: Any) -> Any:
        """Values of the curve at these places."""
        self._check("VALUES", "interpolate_errors")
        return np.interp(xvalues, *self.values())

    def interpolate_asymm_errors(self, xvalues: Any) -> tuple[Any, Any]:
        """The upper and the lower side of the band at these places."""
        self._check("ERRORS", "interpolate")
        x, y = self.values()
        # The last of the points that are farthest to the right.
        turn = len(x) - 1 - int(np.argmax(x[::-1]))
        there = np.interp(xvalues, x[: turn + 1], y[: turn + 1])
        back = np.interp(xvalues, x[turn:][::-1], y[turn:][::-1])
        return np.maximum(there, back), np.minimum(there, back)

    def interpolate_errors(self, xvalues: Any) -> Any:
        """Half the width of the band at these places."""
        up, down = self.interpolate_asymm_errors(xvalues)
        return (up - down) / 2

    def to_boost(self, bin_edges: Any, error_curve: Curve | None = None) -> Any:
        """A `boost_histogram.Histogram` of the values at the centres of bins, with the errors of a band."""
        edges = np.asarray(bin_edges)
        centres = (edges[1:] + edges[:-1]) / 2
        errors = None if error_curve is None else error_curve.interpolate_errors(centres)
        return _histogram(self, edges, self.interpolate(centres), errors)

    def to_hist(self, bin_edges: Any, error_curve: Curve | None = None) -> Any:
        """A `hist.Hist`; arguments are those of `to_boost`."""
        import hist

        return hist.Hist(self.to_boost(bin_edges, error_curve))


class PlottedHistogram(GraphAsymmErrors):
    """A `RooHist`: points at the centres of bins, whose errors along x reach to the edges."""

    def to_numpy(self, dd: bool = False) -> tuple[Any, ...]:
        """Values and edges, as `np.histogram` returns them; with `dd` as `np.histogramdd`."""
        x, values = self.values()
        low, high = x - self.errors("low", "x"), x + self.errors("high", "x")
        if not np.allclose(low[1:], high[:-1]):
            raise ValueError(f"the bins of {self.name} have gaps")
        edges = np.append(low, high[-1:])
        return (values, (edges,)) if dd else (values, edges)

    def to_boost(self) -> Any:
        """A `boost_histogram.Histogram`. Its errors are means of the low and the high ones."""
        values, edges = self.to_numpy()
        return _histogram(self, edges, values, self.errors("mean", "y"))

    def to_hist(self) -> Any:
        """A `hist.Hist`."""
        import hist

        return hist.Hist(self.to_boost())


def _histogram(named: Graph, edges: Any, values: Any, errors: Any) -> Any:
    import boost_histogram as bh

    axis = bh.axis.Variable(edges, underflow=False, overflow=False)
    made = bh.Histogram(axis, storage=bh.storage.Double() if errors is None else bh.storage.Weight())
    for thing in (axis, made):
        thing.name, thing.title = named.name, named.title
    view = made.view()
    if errors is None:
        view[...] = values
    else:
        view.value, view.variance = values, np.square(errors)
    return made


FAMILIES["RooCurve"] = Curve
FAMILIES["RooHist"] = PlottedHistogram
