"""The command `basketry`, as it comes with the package: the same one, in this interpreter's process."""

import sys

from ._core import command


def main() -> int:
    """Runs the command with the arguments of this process."""
    return command(["basketry", *sys.argv[1:]])
