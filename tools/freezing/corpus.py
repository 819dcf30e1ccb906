"""Which files of the corpus are frozen: a sample that depends on their names and contents alone, so that two builds
have the same one. The files are read only."""

import itertools
from pathlib import Path

# A quick sample: every so many small files of each kind. Of these kinds there are few files, and their ways are many.
QUICK = 6
SMALL = 60_000


def sample(folder: Path, every: int, is_quick: bool) -> dict[str, Path]:
    """The files by the names under which results have them."""
    files = {path.name: path for path in sorted((folder / "files").glob("*.root"))}
    found = {f"found/{path.name}": path for path in sorted((folder / "found").glob("*.root"))}
    chosen = files | found
    if not is_quick:
        return dict(itertools.islice(chosen.items(), None, None, every))
    small = {name: path for name, path in chosen.items() if path.stat().st_size <= SMALL}
    groups: dict[str, list[str]] = {}
    for name, path in small.items():
        groups.setdefault(_kind(name, path), []).append(name)
    names = [name for group in groups.values() for name in group[::QUICK]]
    return {name: small[name] for name in sorted(names)}


def _kind(name: str, path: Path) -> str:
    content = path.read_bytes()
    if name.startswith("found/"):
        return "found"
    return next((word for word in ("RNTuple", "TTree") if word.encode() in content), "objects")
