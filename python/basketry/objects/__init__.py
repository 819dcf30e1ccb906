"""Objects of files that are not trees: histograms, profiles, graphs, lists, strings, parameters, and any class that the
file describes. They are read by `file["name"]`, and written by `file["name"] = ...` (`basketry.writing`)."""

from __future__ import annotations

from .axes import Axis
from .graphs import Graph, GraphAsymmErrors, GraphErrors
from .histograms import Histogram
from .model import Object, opened
from .profiles import Profile
from .roofit import Curve, PlottedHistogram
from .streamers import Datime
from .values import List, Map, Parameter, String

__all__ = [
    "Axis",
    "Curve",
    "Datime",
    "Graph",
    "GraphAsymmErrors",
    "GraphErrors",
    "Histogram",
    "List",
    "Map",
    "Object",
    "Parameter",
    "PlottedHistogram",
    "Profile",
    "String",
    "opened",
]
