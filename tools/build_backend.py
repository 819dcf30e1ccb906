"""The build backend of the package (PEP 517), for `pip install .`: maturin's, whose wheel gets the command as a program
(`wheel_command`). Where no program can be compiled the command stays a script of Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # noqa: F401
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

from wheel_command import put_command


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Builds the wheel in a folder, and returns its name."""
    name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    try:
        put_command(Path(wheel_directory) / name)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{name}: the command stays a script: {error}", file=sys.stderr)
    return name
