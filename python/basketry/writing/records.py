"""Objects that are made in memory, by class and members: `to_TH1x` and its kin, with the names of uproot's functions.
Any member of the C++ class may be given by its name; the others have ROOT's defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..objects import Object
from ..objects.model import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Members whose default is not zero (`TH1::Build`, `gStyle`).
HISTOGRAM = {
    "fBarWidth": 1000,
    "fMaximum": -1111.0,
    "fMinimum": -1111.0,
    "fStatOverflows": 2,
    "fLineColor": 602,
    "fLineStyle": 1,
    "fLineWidth": 1,
    "fFillStyle": 1001,
    "fMarkerColor": 1,
    "fMarkerStyle": 1,
    "fMarkerSize": 1.0,
    "fScalefactor": 1.0,
}
AXIS = {
    "fNdivisions": 510,
    "fAxisColor": 1,
    "fLabelColor": 1,
    "fLabelFont": 42,
    "fLabelOffset": 0.005,
    "fLabelSize": 0.035,
    "fTickLength": 0.03,
    "fTitleOffset": 1.0,
    "fTitleSize": 0.035,
    "fTitleColor": 1,
    "fTitleFont": 42,
}
#: Letters of `TArray` and `TH1` classes, by NumPy type.
LETTERS = {"i1": "C", "i2": "S", "i4": "I", "f4": "F", "f8": "D"}


class Made(Object):
    """An object that is in no file yet."""


def made(classname: str, members: dict[str, Any], bases: list[Any] | None = None) -> Any:
    """An object of this class."""
    family = FAMILIES.get(classname, Made)
    return family(classname, 0, members, bases or [])


def to_TObjString(string: str) -> Any:
    """A `TObjString`."""
    return made("TObjString", {"fString": str(string)})


def to_TList(data: Iterable[Any], name: str = "") -> Any:
    """A `TList` of objects."""
    return made("TList", {"fName": name, "items": list(data)})


def to_THashList(data: Iterable[Any], name: str = "") -> Any:
    """A `THashList` of objects."""
    return made("THashList", {"fName": name, "items": list(data)})


def to_TArray(data: Any) -> Any:
    """The numbers of a histogram, in a type that ROOT's histograms have."""
    array = np.asarray(data)
    kind = array.dtype.newbyteorder("=").str[1:]
    if kind not in LETTERS:
        kind = "f8"
    return array.astype(kind).reshape(-1)


def to_TAxis(fName: str, fTitle: str, fNbins: int, fXmin: float, fXmax: float, **members: Any) -> Any:
    """A `TAxis`: bins of equal width from `fXmin` to `fXmax`, or with the edges `fXbins`, and `fLabels`, a
    `THashList` of strings."""
    edges = members.pop("fXbins", None)
    edges = np.empty(0) if edges is None else np.asarray(edges, np.float64)
    given = {"fName": fName, "fTitle": fTitle, "fNbins": int(fNbins), "fXmin": float(fXmin), "fXmax": float(fXmax)}
    return made("TAxis", {**AXIS, "fLabels": None, **given, "fXbins": edges, **members})


def _histogram(classname: str, axes: int, data: Any, members: dict[str, Any]) -> Any:
    numbers = to_TArray(data)
    for name in ("fXaxis", "fYaxis", "fZaxis")[:3]:
        if members.get(name) is None:
            members[name] = to_TAxis(f"{name[1].lower()}axis", "", 1, 0, 1)
    for name in ("fSumw2", "fBinSumw2", "fBinEntries", "fContour", "fBuffer"):
        if name in members:
            members[name] = np.asarray([] if members[name] is None else members[name], np.float64).reshape(-1)
    members.setdefault("fSumw2", np.empty(0))
    names = {name: members.pop(name, None) or "" for name in ("fName", "fTitle")}
    given = {**HISTOGRAM, "fNcells": len(numbers), **names, **members}
    # The family finds out about axes by base classes.
    above: list[Any] = [Object(f"TH{axes}", 0, {}, []), numbers]
    return made(classname, given, above) if classname in FAMILIES else FAMILIES["TH1"](classname, 0, given, above)


#: Sums over fills: the first five for one axis, eight for two.
STATISTICS = (
    "fEntries", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy",
    "fTsumwz", "fTsumwz2", "fTsumwxz", "fTsumwyz",
)  # fmt: skip


def to_TH1x(fName: str | None, fTitle: str, data: Any, *statistics: Any, **members: Any) -> Any:
    """A `TH1` of the data's type, with underflow and overflow: `to_TH1x("h", "", bins, fEntries=..., fXaxis=...)`.
    Behind the data are the members of `STATISTICS` that it has, `fSumw2` and the axes, in this order or by name."""
    given = {"fName": fName, "fTitle": fTitle, **_named(STATISTICS[:5], statistics), **members}
    return _histogram(f"TH1{_letter(data)}", 1, data, given)


def to_TH2x(fName: str | None, fTitle: str, data: Any, *statistics: Any, **members: Any) -> Any:
    """A `TH2` of the data's type; x varies fastest."""
    given = {"fName": fName, "fTitle": fTitle, **_named(STATISTICS[:8], statistics), **members}
    return _histogram(f"TH2{_letter(data)}", 2, data, given)


def to_TH3x(fName: str | None, fTitle: str, data: Any, *statistics: Any, **members: Any) -> Any:
    """A `TH3` of the data's type; x varies fastest."""
    given = {"fName": fName, "fTitle": fTitle, **_named(STATISTICS[:12], statistics), **members}
    return _histogram(f"TH3{_letter(data)}", 3, data, given)


def to_TProfile(fName: str | None, fTitle: str, data: Any, **members: Any) -> Any:
    """A `TProfile`."""
    return _histogram("TProfile", 1, np.asarray(data, "f8"), {"fName": fName, "fTitle": fTitle, **members})


def to_TProfile2D(fName: str | None, fTitle: str, data: Any, **members: Any) -> Any:
    """A `TProfile2D`."""
    return _histogram("TProfile2D", 2, np.asarray(data, "f8"), {"fName": fName, "fTitle": fTitle, **members})


def to_TProfile3D(fName: str | None, fTitle: str, data: Any, **members: Any) -> Any:
    """A `TProfile3D`."""
    return _histogram("TProfile3D", 3, np.asarray(data, "f8"), {"fName": fName, "fTitle": fTitle, **members})


def _named(statistics: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    """Statistics, squares of weights and axes that are given by their order."""
    names = (*statistics, "fSumw2", "fXaxis", "fYaxis", "fZaxis")
    if len(values) > len(names):
        raise TypeError(f"{len(values)} values for {', '.join(names)}: give other members by name")
    return dict(zip(names, values, strict=False))


def _letter(data: Any) -> str:
    return LETTERS[to_TArray(data).dtype.str[1:]]
