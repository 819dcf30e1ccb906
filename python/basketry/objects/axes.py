"""Axes of histograms: `TAxis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .model import FAMILIES, Object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class Traits:
    """What UHI asks of an axis."""

    circular = False

    def __init__(self, discrete: bool) -> None:
        #: Whether all bins have labels.
        self.discrete = discrete


class Axis(Object):
    """An axis of a histogram: a sequence of intervals, or of labels."""

    def __len__(self) -> int:
        return int(self.member("fNbins"))

    def __iter__(self) -> Iterator[Any]:
        labels = self.labels()
        if labels is not None and self.traits.discrete:
            return iter(labels)
        return map(tuple, self.intervals().tolist())

    def __getitem__(self, where: int) -> Any:
        labels = self.labels()
        if labels is not None and self.traits.discrete:
            return labels[where]
        return tuple(self.intervals()[where].tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis) or len(self) != len(other) or self.traits.discrete != other.traits.discrete:
            return False
        if self.traits.discrete:
            return self.labels() == other.labels()
        return bool(np.array_equal(self.edges(), other.edges()))

    __hash__ = Object.__hash__

    @property
    def traits(self) -> Traits:
        """Whether bins have labels."""
        labels = self.labels()
        return Traits(labels is not None and len(labels) == len(self))

    @property
    def low(self) -> float:
        """The low edge of the first bin."""
        return float(self.member("fXmin"))

    @property
    def high(self) -> float:
        """The high edge of the last bin."""
        return float(self.member("fXmax"))

    @property
    def width(self) -> float:
        """The average width of bins."""
        return (self.high - self.low) / len(self)

    def labels(self, flow: bool = False) -> list[str] | None:
        """Labels of bins; None if there are none."""
        found = self.member("fLabels", none_if_missing=True)
        if found is None:
            return None
        labels = [str(one) for one in found]
        return ["underflow", *labels, "overflow"] if flow else labels

    def edges(self, flow: bool = False) -> NDArray[np.float64]:
        """Edges between bins, one more than bins; with `flow` -inf and inf around them."""
        edges = np.asarray(self.member("fXbins"), np.float64)
        if len(edges) != len(self) + 1:
            edges = np.linspace(self.low, self.high, len(self) + 1)
        return np.concatenate([[-np.inf], edges, [np.inf]]) if flow else edges

    def intervals(self, flow: bool = False) -> NDArray[np.float64]:
        """Low and high edge of each bin."""
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def centers(self, flow: bool = False) -> NDArray[np.float64]:
        """Centers of bins."""
        centers: NDArray[np.float64] = self.intervals(flow).mean(axis=1)
        return centers

    def widths(self, flow: bool = False) -> NDArray[np.float64]:
        """Widths of bins."""
        even = len(self.member("fXbins")) != len(self) + 1 and not flow
        return np.full(len(self), self.width) if even else np.diff(self.edges(flow))


FAMILIES["TAxis"] = Axis
