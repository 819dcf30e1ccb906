"""RNTuples with valid checksums whose columns contradict each other: `check` says so, reading refuses them, and no
rewrite writes them. Mutants of many shapes are in crates/flow/tests/resealed.rs."""

from pathlib import Path

import pytest

import basketry as bk
from referee.command import Basketry
from referee.paths import FOUND

ABSENT = "the files that showed faults are absent (../shared/corpus/found)"

# What is wrong, and whether page lists alone show it.
FILES = {
    "195_elements_for_192_check_says_whole": ("195 elements are stored for 192 values", True),
    "attribute_elements_missing_rewrite_silent": ("0 elements are stored for 2 values", True),
    "entries_in_no_cluster_check_says_whole": ("all columns of the field are suppressed", True),
    "offsets_decrease_check_says_whole": ("the ends of collections decrease", False),
    "projection_wrong_column_rewrite_silent": ("it shows column 5, which is of another field", True),
}


@pytest.mark.skipif(not FOUND.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("name", FILES)
def test_contradictions_are_said_and_not_written(name: str, basketry: Basketry, tmp_path: Path) -> None:
    path, out = FOUND / f"attack_ntuple_{name}.root", tmp_path / "out.root"
    wrong, shallow = FILES[name]
    for deep in (False, True):
        outcome = basketry.run("check", path, *(["--deep"] if deep else []))
        assert (outcome.code == 1) == (deep or shallow), outcome.out
        assert (wrong in outcome.out) == (deep or shallow)
    for layout in ((), ("--compression", "zlib:1"), ("--cluster", "2"), ("--entries", "0:2")):
        # Attribute sets are left out where entries are.
        if "attribute" in name and "--entries" in layout:
            continue
        outcome = basketry.run("rewrite", path, "-o", out, *layout)
        assert outcome.code != 0, layout
        assert wrong in outcome.err
        assert not out.exists()
    # What is not damaged reads, and can be written.
    if "attribute" not in name:
        with bk.open(path) as file:
            ntuple = file["ntpl"]
            with pytest.raises(ValueError, match=wrong):
                ntuple.arrays(ntuple.keys())
