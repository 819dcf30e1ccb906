"""A plugin for pytest that runs uproot's tests with another module in uproot's place, and without the package
`skhep_testdata`: its files come from a checkout. Every result is written as one line of JSON.

Environment: UPROOT_SUITE_DATA (folder of data files), UPROOT_SUITE_MODULE (`uproot` or `basketry`),
UPROOT_SUITE_RESULTS (the file of results).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

DATA = Path(os.environ["UPROOT_SUITE_DATA"])
INSTEAD = os.environ.get("UPROOT_SUITE_MODULE", "uproot")
RESULTS = Path(os.environ["UPROOT_SUITE_RESULTS"])


def data_path(name: str, raise_missing: bool = True) -> str:
    """`skhep_testdata.data_path`; a test whose file is absent is skipped."""
    found = DATA / name
    if not found.exists() and raise_missing:
        pytest.skip(f"no data file {name}")
    return str(found)


class Absent:
    """A part of uproot that the other module lacks: can be imported and asked for names, not used."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError(f"{self._path} is not there")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return ()


class AbsentModule(types.ModuleType):
    """A module of uproot's that the other lacks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class Instead(MetaPathFinder, Loader):
    """Finds `uproot.x` as the other module's `x`, or as an empty module."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] == "uproot" else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        real = spec.name.replace("uproot", INSTEAD, 1)
        try:
            return importlib.import_module(real)
        except ModuleNotFoundError:
            return AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _place() -> None:
    data = types.ModuleType("skhep_testdata")
    data.__dict__.update(data_path=data_path, known_files=[path.name for path in DATA.iterdir()])
    data.__dict__["data"] = types.SimpleNamespace(cache_path=lambda: str(DATA))
    sys.modules["skhep_testdata"] = data
    if "RangeHTTPServer" not in sys.modules:
        server = types.ModuleType("RangeHTTPServer")
        server.__dict__["RangeRequestHandler"] = object
        sys.modules["RangeHTTPServer"] = server
    if INSTEAD != "uproot":
        sys.modules["uproot"] = importlib.import_module(INSTEAD)
        sys.meta_path.insert(0, Instead())


_place()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Writes the outcome, and what was raised."""
    report = yield
    if report.when == "call" or report.outcome != "passed":
        raised = call.excinfo
        line = {
            "test": item.nodeid,
            "outcome": report.outcome,
            "kind": raised.typename if raised else "",
            "message": str(raised.value).strip().partition("\n")[0][:200] if raised else "",
        }
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
    return report
