"""Reads, merges, re-lays-out and measures ROOT files (TTree), without ROOT.

    import basketry

    tree = basketry.open("events.root:Events")            # or basketry.open("events.root")["Events"]
    tree.arrays(filter_name="Muon_*", entry_stop=1000)    # uproot's names and meanings
    basketry.rewrite("events.root", "out.root", compression="zstd:5", cluster="30MB")
    with basketry.recreate("new.root", compression="zstd:1") as file:
        file["Events"] = {"x": array, "jets": jagged}

The verbs of the command `basketry` are functions here: `ls`, `show`, `count`, `schema`, `stats`, `draw`, `inspect`,
`rewrite`, `merge`, `recover`, `verify`, `readspeed`, `tune`, `precision`, `convert`, `generate`, `split`; `cp`, `mv`,
`rm` and `mkdir` for objects in files; for thousands of files `check`, `fileset`, `index`, `pick`, `sort` and `join`,
and `plan`, `run_task` and `collect`. `Monitor` records the resources of a program over time, and `sweep_figures` draws
the results of `basketry sweep`. `distributed` does verbs over many files on the workers of Dask, parsl or an executor;
`nanoevents` gives coffea's NanoEvents. `scan` is a LazyFrame of polars over files, `sql` a query of DuckDB, and
`loader` gives batches for training.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from . import _core, compression, const, distributed, exceptions
from ._libraries import xrootd as _xrootd
from .compression import LZ4, LZMA, ZLIB, ZSTD
from .engines.lazy import scan
from .engines.sql import sql
from .exceptions import KeyInFileError, SchemaDiffers
from .interpretation.numerical import AsDtype
from .reading.branches import Branch
from .reading.dataset import concatenate, iterate, num_entries, open
from .reading.fields import Field
from .reading.file import Directory, File
from .reading.kinds import Model, ReadOnlyDirectory, ReadOnlyFile, TBranch, TTree
from .reading.nano import nanoevents
from .reading.table import RNTuple, Table, Tree
from .verbs import (
    Monitor,
    check,
    collect,
    convert,
    count,
    cp,
    draw,
    fileset,
    generate,
    index,
    inspect,
    join,
    layout,
    ls,
    merge,
    mkdir,
    mv,
    pick,
    plan,
    precision,
    readspeed,
    recover,
    rewrite,
    rm,
    run_task,
    schema,
    show,
    sort,
    split,
    stats,
    sweep,
    sweep_figures,
    tune,
    verify,
)
from .writing import (
    FillContext,
    Parts,
    WritableDirectory,
    WritableFile,
    WritableNTuple,
    WritableTable,
    WritableTree,
    create,
    parts,
    recreate,
    update,
)

if TYPE_CHECKING:
    from . import objects
    from .training.columns import Jagged
    from .training.loader import Loader, loader
    from .writing.identify import as_TGraph, from_pyroot, to_writable

__version__ = _core.VERSION

_xrootd.tell()

# Objects and batches are made of NumPy's arrays, which are imported with the first one.
_WITH_NUMPY = {"objects": "basketry.objects", "as_TGraph": "basketry.writing.identify"}
_WITH_NUMPY["loader"] = _WITH_NUMPY["Loader"] = "basketry.training.loader"
_WITH_NUMPY["Jagged"] = "basketry.training.columns"
_WITH_NUMPY["from_pyroot"] = _WITH_NUMPY["to_writable"] = _WITH_NUMPY["as_TGraph"]


__all__ = [
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "AsDtype",
    "Branch",
    "Directory",
    "Field",
    "File",
    "FillContext",
    "Jagged",
    "KeyInFileError",
    "Loader",
    "Model",
    "Monitor",
    "Parts",
    "RNTuple",
    "ReadOnlyDirectory",
    "ReadOnlyFile",
    "SchemaDiffers",
    "TBranch",
    "TTree",
    "Table",
    "Tree",
    "WritableDirectory",
    "WritableFile",
    "WritableNTuple",
    "WritableTable",
    "WritableTree",
    "as_TGraph",
    "check",
    "collect",
    "compression",
    "concatenate",
    "const",
    "convert",
    "count",
    "cp",
    "create",
    "distributed",
    "draw",
    "exceptions",
    "fileset",
    "from_pyroot",
    "generate",
    "index",
    "inspect",
    "iterate",
    "join",
    "layout",
    "loader",
    "ls",
    "merge",
    "mkdir",
    "mv",
    "nanoevents",
    "num_entries",
    "objects",
    "open",
    "parts",
    "pick",
    "plan",
    "precision",
    "readspeed",
    "recover",
    "recreate",
    "rewrite",
    "rm",
    "run_task",
    "scan",
    "schema",
    "show",
    "sort",
    "split",
    "sql",
    "stats",
    "sweep",
    "sweep_figures",
    "to_writable",
    "tune",
    "update",
    "verify",
]


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for."""
    if name not in _WITH_NUMPY:
        # With these two Python names the nearest one.
        raise AttributeError(f"module 'basketry' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    module = importlib.import_module(_WITH_NUMPY[name])
    return module if name == "objects" else getattr(module, name)


def __dir__() -> list[str]:
    """The public names alone, as completion shows them."""
    return __all__
