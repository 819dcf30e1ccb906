"""The command `basketry`, as it comes with the package: the same one, in this interpreter's process."""

import sys
from pathlib import Path

from . import _core


def main() -> int:
    """Runs the command with the arguments of this process."""
    start_again_here()
    return _core.command(["basketry", *sys.argv[1:]])


def start_again_here() -> None:
    """Lets jobs that have processes of their own be started by this interpreter, wherever the package lies."""
    if sys.executable and _core.__file__:
        _core.starts_as(sys.executable, [str(Path(__file__).parent)], _core.__file__)
