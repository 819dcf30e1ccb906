"""What a program is told of codecs is what the engine writes and what ROOT's numbers say."""

from pathlib import Path

import numpy as np
import pytest
import uproot

import basketry as bk

KINDS = [bk.ZLIB, bk.LZMA, bk.LZ4, bk.ZSTD]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_codec_is_that_of_uproot(kind: type[bk.compression.Codec]) -> None:
    for level in range(1, 10):
        theirs = getattr(uproot, kind.__name__)(level)
        assert kind(level).code == theirs.code
        found = bk.compression.Compression.from_code(theirs.code)
        assert found is not None
        assert (type(found).__name__, found.level) == (type(theirs).__name__, theirs.level)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_levels_end_where_those_of_the_engine_do(kind: type[bk.compression.Codec], tmp_path: Path) -> None:
    highest = kind(kind.max_level)
    with bk.recreate(tmp_path / "new.root", compression=highest) as file:
        file["t"] = {"x": np.arange(1000)}
    # ROOT's levels of zstd end at 11, those of the others at 9.
    assert bk.open(tmp_path / "new.root")["t/x"].compression == highest
    with pytest.raises(ValueError, match=f"a level of {kind.name} is a number from 0 to {kind.max_level}, not"):
        kind(kind.max_level + 1)


@pytest.mark.parametrize("setting", ["zlib", "zstd", "lz4", "lzma", "zstd:11", "505", 404, "none"])
def test_a_writer_says_the_codec_that_it_writes(setting: str | int, tmp_path: Path) -> None:
    """Without a level, the level is ROOT's default: zstd at 5."""
    with bk.recreate(tmp_path / "new.root", compression=setting) as file:
        said = file.compression
        file["t"] = {"x": np.arange(1000)}
    written = bk.open(tmp_path / "new.root")["t/x"].compression
    assert said == written
    assert (written is None) == (setting == "none")
