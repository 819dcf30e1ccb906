"""`TObject` bases that have a branch of their own, as in trees of ROOT 3: what is content survives a round trip."""

from pathlib import Path

import pytest

from referee.command import Basketry
from referee.paths import CORPUS

SNTP = CORPUS / "files" / "roottest--reduced.N00008257_0002.spill.sntp.R1_18.0.root"


@pytest.mark.skipif(not SNTP.exists(), reason="the corpus is absent")
def test_memory_bits_of_bases_are_no_content(basketry: Basketry, tmp_path: Path) -> None:
    there, back = tmp_path / "there.root", tmp_path / "back.root"
    basketry("rewrite", SNTP, "-o", there, "--container", "rntuple")
    basketry("rewrite", there, "-o", back, "--container", "ttree")
    basketry("verify", SNTP, back)
