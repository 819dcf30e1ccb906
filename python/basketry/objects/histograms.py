"""Histograms: `TH1`, `TH2`, `TH3` and the classes that derive from them, in one class for all. They follow UHI,
so that `mplhep`, `hist` and `boost_histogram` take them. Profiles, which are means, are in `profiles`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._shared.names import plain
from .model import FAMILIES, Object

if TYPE_CHECKING:
    import boost_histogram
    import hist
    from numpy.typing import NDArray

    from .axes import Axis

NAMES = ("fXaxis", "fYaxis", "fZaxis")
METADATA = {"name": "fName", "label": "fTitle"}


class Histogram(Object):
    """A histogram. Arrays of bins have one dimension for each axis, x first; `flow` adds underflow and overflow."""

    #: UHI's word for histograms of counts.
    kind = "COUNT"

    def __repr__(self) -> str:
        bins = " x ".join(str(len(axis)) for axis in self.axes)
        return f"<{plain(self.classname)} {self.name!r} ({bins} bins)>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Histogram)
            and self.classname == other.classname
            and self.axes == other.axes
            and np.array_equal(self.values(flow=True), other.values(flow=True))
            and np.array_equal(self.variances(flow=True), other.variances(flow=True))
        )

    __hash__ = Object.__hash__

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return tuple(self.member(name) for name in NAMES[: self._dimensions])

    @property
    def _dimensions(self) -> int:
        return next(n for n in (3, 2, 1) if n == 1 or self.is_instance(f"TH{n}"))

    def axis(self, axis: int | str = 0) -> Axis:
        """An axis, by number or as "x", "y", "z"; a `ValueError` if there is none."""
        axes = self.axes
        place = "xyz".find(axis) if isinstance(axis, str) and len(axis) == 1 else axis
        if isinstance(place, str) or not -len(axes) <= place < len(axes) or (isinstance(axis, str) and place < 0):
            names = ", ".join(map(repr, "xyz"[: len(axes)]))
            raise ValueError(
                f"axis must be a number from {-len(axes)} to {len(axes) - 1}, or one of {names}, not {axis!r}"
            )
        return axes[place]

    def _shaped(self, bins: Any, flow: bool) -> NDArray[Any]:
        """An array of bins in the order of the file, where x varies fastest."""
        shape = [len(axis) + 2 for axis in reversed(self.axes)]
        whole = np.asarray(bins).reshape(shape).transpose()
        return whole if flow else whole[(slice(1, -1),) * len(shape)]

    @property
    def weighted(self) -> bool:
        """Whether sums of squared weights are stored."""
        sums = self.member("fSumw2", none_if_missing=True)
        return sums is not None and len(sums) > 0 and len(sums) == self.member("fNcells")

    def values(self, flow: bool = False) -> NDArray[Any]:
        """Contents of bins, an array with a dimension for each axis: (bins of x, bins of y, bins of z). With `flow`
        each is two longer, for underflow and overflow."""
        return self._shaped(self._numbers(), flow)

    def counts(self, flow: bool = False) -> NDArray[Any]:
        """Numbers of entries, weighted: the contents, in the shape of `values`."""
        return self.values(flow)

    def variances(self, flow: bool = False) -> NDArray[np.float64]:
        """Variances: sums of squared weights, or, without weights, the contents; none is negative. The shape is that of
        `values`."""
        squares = self.member("fSumw2") if self.weighted else self._numbers()
        return self._shaped(np.maximum(np.asarray(squares, np.float64), 0), flow)

    def errors(self, flow: bool = False) -> NDArray[np.float64]:
        """Square roots of variances, in the shape of `values`."""
        return np.sqrt(self.variances(flow))

    @overload
    def to_numpy(self, flow: bool = False, dd: Literal[False] = False) -> tuple[NDArray[Any], ...]: ...

    @overload
    def to_numpy(self, flow: bool = False, *, dd: Literal[True]) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]: ...

    @overload
    def to_numpy(self, flow: bool, dd: Literal[True]) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]: ...

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """Values and edges, as `np.histogram` and `np.histogram2d` return them; with `dd` as `np.histogramdd`."""
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(self, metadata: Any = None, axis_metadata: Any = None) -> boost_histogram.Histogram:
        """A `boost_histogram.Histogram`. `metadata` and `axis_metadata` name the members that become attributes; by
        default names and titles."""
        import boost_histogram as bh

        values = self.values(flow=True)
        if self.weighted:
            storage = bh.storage.Weight()
        elif values.dtype.kind in "iu":
            storage = bh.storage.Int64()
        else:
            storage = bh.storage.Double()
        made = bh.Histogram(*(boost_axis(axis, axis_metadata) for axis in self.axes), storage=storage)
        self._tell(made, metadata)
        places = labelled(self)
        view = made.view(flow=True)
        if self.weighted:
            view.value = values[places]
            view.variance = self.variances(flow=True)[places]
        else:
            view[...] = values[places]
        return made

    def _tell(self, made: Any, metadata: Any) -> None:
        for name, member in (METADATA if metadata is None else metadata).items():
            setattr(made, name, self.member(member))

    def to_hist(self, metadata: Any = None, axis_metadata: Any = None) -> hist.Hist:
        """A `hist.Hist`; arguments are those of `to_boost`."""
        import hist

        return hist.Hist(self.to_boost(metadata, axis_metadata))

    def _to_boost_histogram_(self) -> boost_histogram.Histogram:
        return self.to_boost()


def boost_axis(axis: Axis, metadata: Any = None) -> Any:
    """An axis of `boost_histogram`'s."""
    import boost_histogram as bh

    labels = axis.labels()
    # Where only some bins have labels, bins are intervals.
    if labels is not None and axis.traits.discrete:
        try:
            made = bh.axis.IntCategory([int(one) for one in labels])
        except ValueError:
            made = bh.axis.StrCategory(labels)
    elif len(axis.member("fXbins")) == len(axis) + 1:
        made = bh.axis.Variable(axis.edges())
    else:
        made = bh.axis.Regular(len(axis), axis.low, axis.high)
    for name, member in (METADATA if metadata is None else metadata).items():
        setattr(made, name, axis.member(member))
    return made


def labelled(histogram: Histogram) -> tuple[slice, ...]:
    """The bins that `boost_histogram` has: categories have no underflow."""
    return tuple(slice(1 if axis.traits.discrete else 0, None) for axis in histogram.axes)


FAMILIES["TH1"] = Histogram
