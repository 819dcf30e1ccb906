"""The house holds together: crates use only the floors below them, and every source file says what it is."""

import tomllib

import pytest

from referee.paths import REPO

FLOORS = ["rootfile", "dataset", "objects", "flow", "lab", "cli", "python"]


@pytest.mark.parametrize("crate", FLOORS)
def test_a_crate_uses_only_the_floors_below_it(crate: str) -> None:
    manifest = tomllib.loads((REPO / "crates" / crate / "Cargo.toml").read_text())
    used = {name.removeprefix("basketry-") for name in manifest["dependencies"] if name.startswith("basketry-")}
    assert used <= set(FLOORS[: FLOORS.index(crate)])


def test_every_module_opens_by_saying_what_it_is() -> None:
    silent = [
        str(path.relative_to(REPO))
        for path in sorted((REPO / "crates").glob("*/src/**/*.rs"))
        if not path.read_text().startswith("//! ")
    ]
    assert not silent


def test_every_crate_of_the_map_is_in_the_architecture() -> None:
    text = (REPO / "ARCHITECTURE.md").read_text()
    folders = sorted(path.name for path in (REPO / "crates").iterdir() if path.is_dir())

    assert folders == sorted(FLOORS)
    assert all(f"crates/{crate}" in text for crate in folders)
