"""Packages that only some functions need. They are imported when these are called."""

from __future__ import annotations

import importlib
from typing import Any


def needed(package: str, function: str, more: str = "") -> Any:
    """A package that a function of `basketry` needs; without it an `ImportError` that says how to get it, with `more`
    packages that go with it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        wanted = f"{top} {more}".strip()
        raise ImportError(f"basketry.{function} needs {top}: pip install {wanted}", name=top) from error
