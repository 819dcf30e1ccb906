"""The ROOT objects of objects of Python's libraries: `to_writable`. Strings, `hist` and `boost_histogram`, the tuples
of `np.histogram`, objects that were read, and those of PyROOT."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objects import Object
from .records import (
    made,
    to_TArray,
    to_TAxis,
    to_TH1x,
    to_TH2x,
    to_TH3x,
    to_THashList,
    to_TList,
    to_TObjString,
    to_TProfile,
    to_TProfile2D,
    to_TProfile3D,
)

__all__ = [
    "as_TGraph",
    "is_writable",
    "to_TArray",
    "to_TAxis",
    "to_TH1x",
    "to_TH2x",
    "to_TH3x",
    "to_THashList",
    "to_TList",
    "to_TObjString",
    "to_TProfile",
    "to_TProfile2D",
    "to_TProfile3D",
    "to_writable",
]
AXES = ("fXaxis", "fYaxis", "fZaxis")
HISTOGRAMS = (to_TH1x, to_TH2x, to_TH3x)


def is_writable(data: Any) -> bool:
    """Whether this becomes an object, not a tree."""
    return isinstance(data, Object | str) or _is_histogram(data) or _unpacked(data) is not None or _is_pyroot(data)


def to_writable(data: Any) -> Any:
    """The ROOT object of anything that has one; a `TypeError` otherwise."""
    if isinstance(data, Object):
        return data
    if isinstance(data, str):
        return to_TObjString(data)
    if _is_pyroot(data):
        return from_pyroot(data)
    if _is_histogram(data):
        return _from_uhi(data)
    found = _unpacked(data)
    if found is None:
        raise TypeError(f"a {type(data).__name__} has no form in ROOT that is written here")
    values, edges, title = found
    flow = np.pad(np.asarray(values, np.float64), 1)
    axes = [_axis(name, "", at) for name, at in zip(AXES, edges, strict=False)]
    return _filled(title, flow, None, np.asarray(values, np.float64), edges, axes)


def _is_histogram(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("axes", "kind", "values", "variances", "counts"))


def _is_pyroot(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "cppyy"


def _unpacked(data: Any) -> tuple[Any, list[Any], str] | None:
    """Values, edges and title of the tuple that `np.histogram` and its kin return."""
    if not isinstance(data, tuple | list) or len(data) < 2 or not isinstance(data[0], np.ndarray):
        return None
    rest, title = list(data[1:]), ""
    if isinstance(rest[-1], str):
        title = rest.pop()
    if len(rest) == 1 and isinstance(rest[0], tuple | list):
        rest = list(rest[0])
    fits = all(isinstance(one, np.ndarray) and one.ndim == 1 for one in rest)
    return (data[0], rest, title) if fits and 1 <= len(rest) == data[0].ndim <= 3 else None


def _axis(name: str, title: str, edges: Any, labels: list[str] | None = None) -> Any:
    edges = np.asarray(edges, np.float64)
    even = np.allclose(edges, np.linspace(edges[0], edges[-1], len(edges)))
    hashed = None if labels is None else to_THashList(_label(i, one) for i, one in enumerate(labels))
    return to_TAxis(
        f"{name[1].lower()}axis",
        title,
        len(edges) - 1,
        edges[0],
        edges[-1],
        fXbins=None if even else edges,
        fLabels=hashed,
    )


def _label(place: int, text: str) -> Any:
    # ROOT finds a label's bin by the number of the object (`TAxis::SetBinLabel`).
    return made("TObjString", {"fString": text, "@fUniqueID": place + 1})


def _from_uhi(histogram: Any) -> Any:
    """A histogram that follows UHI."""
    axes, edges = list(histogram.axes), []
    if not 1 <= len(axes) <= 3:
        raise ValueError(f"a ROOT histogram has between 1 and 3 axes, not {len(axes)}")
    title = getattr(histogram, "title", getattr(histogram, "name", "")) or ""
    made_axes = []
    for name, axis in zip(AXES, axes, strict=False):
        labels = [str(one) for one in axis] if getattr(getattr(axis, "traits", None), "discrete", False) else None
        at = np.asarray(axis.edges if not callable(axis.edges) else axis.edges(), np.float64)
        edges.append(at)
        label = getattr(axis, "label", "") or getattr(histogram, "name", "") or ""
        made_axes.append(_axis(name, label, at, labels))
    if histogram.kind == "MEAN":
        return _profile(histogram, title, edges, made_axes)
    values = np.asarray(histogram.values())
    weighted = "Weight" in getattr(getattr(histogram, "storage_type", None), "__name__", "Weight")
    whole = _with_flow(histogram.values, values, axes)
    squares = _with_flow(histogram.variances, np.asarray(histogram.variances()), axes) if weighted else None
    return _filled(title, whole, squares, values, edges, made_axes)


def _with_flow(bins: Any, inner: Any, axes: list[Any]) -> Any:
    """Bins with underflow and overflow, which are zero where the histogram has none."""
    try:
        found = np.asarray(bins(flow=True))
    except TypeError:
        found = inner
    traits = [getattr(axis, "traits", None) for axis in axes]
    extra = [full - own for full, own in zip(found.shape, inner.shape, strict=True)]
    under = [
        1 if more == 0 or (more == 1 and not getattr(trait, "underflow", False)) else 0
        for more, trait in zip(extra, traits, strict=True)
    ]
    return np.pad(found, [(one, 2 - more - one) for one, more in zip(under, extra, strict=True)])


def _filled(title: str, flow: Any, squares: Any, inner: Any, edges: list[Any], axes: list[Any]) -> Any:
    members = dict(zip(AXES, axes, strict=False))
    members["fSumw2"] = None if squares is None else squares.T.reshape(-1)
    kept = inner if np.issubdtype(flow.dtype, np.floating) else flow
    flow = flow.astype(np.float64) if kept is flow else flow
    statistics = _moments(np.asarray(inner, np.float64), edges)
    make = HISTOGRAMS[len(axes) - 1]
    return make(None, title, flow.T.reshape(-1), fEntries=float(flow.sum()), **statistics, **members)


def _moments(values: Any, edges: list[Any]) -> dict[str, float]:
    """Sums of weights and coordinates over bins, as `TH1::GetStats` has them."""
    centers = [(one[1:] + one[:-1]) / 2 for one in edges]
    grid = np.meshgrid(*centers, indexing="ij")
    found = {"fTsumw": values.sum(), "fTsumw2": values.sum()}
    for name, one in zip("xyz", grid, strict=False):
        found |= {f"fTsumw{name}": (values * one).sum(), f"fTsumw{name}2": (values * one**2).sum()}
    for first, second in (("x", "y"), ("x", "z"), ("y", "z")):
        if "xyz".index(second) < len(grid):
            product = grid["xyz".index(first)] * grid["xyz".index(second)]
            found[f"fTsumw{first}{second}"] = (values * product).sum()
    return {name: float(one) for name, one in found.items()}


def _profile(histogram: Any, title: str, edges: list[Any], axes: list[Any]) -> Any:
    """A profile from `boost_histogram`'s means."""
    if len(axes) != 1:
        raise NotImplementedError("profiles with several axes are not written")
    view = histogram.view(flow=True)
    weighted = "sum_of_weights" in view.dtype.names
    weights = np.asarray(view["sum_of_weights" if weighted else "count"], np.float64)
    squares = np.asarray(view["sum_of_weights_squared"], np.float64) if weighted else weights
    means = np.asarray(view["value"], np.float64)
    deltas = np.asarray(view["_sum_of_weighted_deltas_squared" if weighted else "_sum_of_deltas_squared"], np.float64)
    count = len(edges[0]) - 1
    missing = count + 2 - len(weights)
    # Categories have no underflow.
    pads = (1 if missing else 0, max(missing - 1, 0))
    weights, squares, means, deltas = (np.pad(one, pads) for one in (weights, squares, means, deltas))
    sums, second = weights * means, deltas + weights * means**2
    inner = slice(1, -1)
    centers = (edges[0][1:] + edges[0][:-1]) / 2
    metadata = getattr(histogram, "metadata", None)
    entries = metadata.get("fEntries", weights.sum()) if isinstance(metadata, dict) else weights.sum()
    return to_TProfile(
        None,
        title,
        sums,
        fEntries=float(entries),
        fTsumw=float(weights[inner].sum()),
        fTsumw2=float(squares[inner].sum()),
        fTsumwx=float((weights[inner] * centers).sum()),
        fTsumwx2=float((weights[inner] * centers**2).sum()),
        fTsumwy=float(sums[inner].sum()),
        fTsumwy2=float(second[inner].sum()),
        fSumw2=second,
        fBinEntries=weights,
        fBinSumw2=squares,
        fXaxis=axes[0],
    )


def as_TGraph(
    data: Any,
    title: str = "",
    xAxisLabel: str = "",
    yAxisLabel: str = "",
    minY: float | None = None,
    maxY: float | None = None,
    lineColor: int = 602,
    lineStyle: int = 1,
    lineWidth: int = 1,
    fillColor: int = 0,
    fillStyle: int = 1001,
    markerColor: int = 1,
    markerStyle: int = 1,
    markerSize: float = 1.0,
) -> Any:
    """A graph of columns `x` and `y` (`TGraph`), with `x_errors` and `y_errors` a `TGraphErrors`, with
    `x_errors_low`, `x_errors_high`, `y_errors_low`, `y_errors_high` a `TGraphAsymmErrors`. The columns are a dict, a
    DataFrame or a structured array."""
    names = set(data.dtype.names if hasattr(data, "dtype") else data.keys())

    def column(name: str) -> Any:
        if name not in data and name not in names:
            raise ValueError(f"a graph needs the column {name!r}")
        return np.asarray(data[name], np.float64)

    x, y = column("x"), column("y")
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError("x and y of a graph must be of one dimension and of equal lengths")
    kind, errors = "TGraph", {}
    if {"x_errors", "y_errors"} <= names:
        kind, errors = "TGraphErrors", {"fEX": column("x_errors"), "fEY": column("y_errors")}
    elif {"x_errors_low", "x_errors_high", "y_errors_low", "y_errors_high"} <= names:
        kind = "TGraphAsymmErrors"
        errors = {f"fE{a.upper()}{end}": column(f"{a}_errors_{end}") for a in "xy" for end in ("low", "high")}
    elif names & {"x_errors", "y_errors"} or any("_errors_" in str(name) for name in names):
        raise ValueError("a graph needs x_errors and y_errors, or low and high errors of both")
    # The points do not touch the frame.
    margin = 0.1 * (y.max() - y.min())
    labels = ";".join([title, xAxisLabel, yAxisLabel]).rstrip(";")
    attributes = {
        "fLineColor": lineColor,
        "fLineStyle": lineStyle,
        "fLineWidth": lineWidth,
        "fFillColor": fillColor,
        "fFillStyle": fillStyle,
        "fMarkerColor": markerColor,
        "fMarkerStyle": markerStyle,
        "fMarkerSize": markerSize,
        "fMinimum": y.min() - margin if minY is None else float(minY),
        "fMaximum": y.max() + margin if maxY is None else float(maxY),
    }
    return made(kind, {"fName": "", "fTitle": labels, "fNpoints": len(x), "fX": x, "fY": y, **errors, **attributes})


def from_pyroot(thing: Any) -> Any:
    """An object of PyROOT's, through a file in a temporary folder: ROOT itself writes it."""
    import weakref

    import ROOT

    from .._shared.folders import OwnFolder
    from ..reading.file import File

    if not isinstance(thing, ROOT.TObject):
        raise TypeError(f"only objects of TObject can be written, not a {type(thing).__name__}")
    folder = OwnFolder()
    try:
        path = str(folder / "object.root")
        before = ROOT.gDirectory.GetPath() if ROOT.gDirectory else None
        file = ROOT.TFile(path, "recreate", "", 0)
        file.WriteObject(thing, "object")
        file.Close()
        if before:
            ROOT.gROOT.cd(before)
        found: Any = File(path)["object"]
    except BaseException:
        folder.remove()
        raise
    # The object may be copied from its file as it is stored there: the folder goes with the object.
    # At the end of the program it is still needed, if it was given to a file that is completed then.
    weakref.finalize(found, folder.remove).atexit = False
    return found
