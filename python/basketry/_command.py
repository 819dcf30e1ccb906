"""The command `basketry` of the package: the same command, run inside the interpreter's process."""

import sys
from pathlib import Path

from . import _core


def main() -> int:
    """Runs the command with the arguments of this process."""
    start_again_here()
    return _core.command(["basketry", *sys.argv[1:]])


def start_again_here() -> None:
    """Makes this interpreter the program that starts jobs in processes of their own, wherever the package is
    installed."""
    if sys.executable and _core.__file__:
        _core.starts_as(sys.executable, [str(Path(__file__).parent)], _core.__file__)
