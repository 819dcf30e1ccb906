"""Packages that only some functions need. They are imported when these are called."""

from __future__ import annotations

import importlib
from typing import Any


def needed(package: str, what: str, more: str = "") -> Any:
    """A package that something needs; without it an `ImportError` that says how to get it, with `more` packages that go
    with it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        wanted = f"{top} {more}".strip()
        raise ImportError(f"{what} needs {top}: pip install {wanted}", name=top) from error
