"""Files that several commands make, one after the other. What is tested of them is said by the tests."""

from pathlib import Path

from referee.command import Basketry

#: Commands with their options: the first makes a file, each other one makes another of it.
Steps = list[tuple[str, ...]]


def made(basketry: Basketry, steps: Steps, folder: Path) -> Path:
    """A file that these commands make, one after the other."""
    path = folder / "made0.root"
    basketry(*steps[0], "-o", path)
    for number, (verb, *words) in enumerate(steps[1:], 1):
        last, path = path, folder / f"made{number}.root"
        basketry(verb, last, "-o", path, *words)
    return path
