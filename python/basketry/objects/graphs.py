"""Graphs: `TGraph`, `TGraphErrors`, `TGraphAsymmErrors`."""

from __future__ import annotations

from typing import Any

from .model import FAMILIES, Object

AXES = {0: "X", -2: "X", "x": "X", 1: "Y", -1: "Y", "y": "Y"}


def _axis(axis: Any) -> str:
    if axis not in AXES:
        raise ValueError(f"axis must be 0 (-2, 'x'), 1 (-1, 'y'), or 'both', not {axis!r}")
    return AXES[axis]


class Graph(Object):
    """A graph: points in a plane."""

    def values(self, axis: Any = "both") -> Any:
        """Coordinates of the points, one for each: of axis 0 or "x", 1 or "y", or a pair of "both"."""
        if axis == "both":
            return self.values("x"), self.values("y")
        return self.member(f"f{_axis(axis)}")


class GraphErrors(Graph):
    """A graph with errors."""

    def errors(self, axis: Any = "both") -> Any:
        """Errors of the points, one for each: of axis 0 or "x", 1 or "y", or a pair of "both"."""
        if axis == "both":
            return self.errors("x"), self.errors("y")
        return self.member(f"fE{_axis(axis)}")


class GraphAsymmErrors(Graph):
    """A graph with a low and a high error of each point."""

    def errors(self, which: str, axis: Any = "both") -> Any:
        """Errors of the points, one for each: "low", "high", their "mean", or high less low as "diff"."""
        if which not in ("low", "high", "mean", "diff"):
            raise ValueError(f"which must be 'low', 'high', 'mean' or 'diff', not {which!r}")
        if axis == "both":
            return self.errors(which, "x"), self.errors(which, "y")
        low, high = (self.member(f"fE{_axis(axis)}{end}") for end in ("low", "high"))
        return {"low": low, "high": high, "mean": (high + low) / 2, "diff": high - low}[which]


FAMILIES["TGraph"] = Graph
FAMILIES["TGraphErrors"] = GraphErrors
FAMILIES["TGraphAsymmErrors"] = GraphAsymmErrors
