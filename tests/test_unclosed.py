"""Files whose writer was killed before it closed them: whichever verb reads them says so once, for people on standard
error or in its report."""

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

import basketry as bk
from referee.command import Basketry

SAID = "the file was not closed"
#: Verbs that read, with what they need besides the file, and `{out}` for an output.
READING = {
    "ls": [],
    "show": [],
    "count": [],
    "schema": [],
    "stats": [],
    "draw": ["x"],
    "readspeed": [],
    "precision": [],
    "index": ["--key", "event", "-o", "{out}.parquet"],
    "convert": ["-o", "{out}.parquet"],
    "tune": [],
    "inspect": [],
    "check": [],
    "rewrite": ["-o", "{out}.root"],
    "merge": ["-o", "{out}.root"],
    "sort": ["--by", "event", "-o", "{out}.root"],
    "split": ["--entries", "30", "-o", "{out}"],
    "pick": ["--cut", "event < 3", "-o", "{out}.root"],
}


@pytest.fixture
def unclosed(tmp_path: Path) -> Path:
    """A file as it is on disk before its directory gets its list of keys."""
    path = tmp_path / "unclosed.root"
    with bk.recreate(path) as out:
        out.mktree("tree", {"event": np.arange(100, dtype="i4"), "x": np.arange(100.0)})
    content = bytearray(path.read_bytes())
    (begin,) = struct.unpack_from(">i", content, 8)
    (length,) = struct.unpack_from(">i", content, 28)
    # Bytes and place of the list of keys, behind a version and two dates.
    for place in (10, 26):
        struct.pack_into(">i", content, begin + length + place, 0)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("verb", list(READING))
@pytest.mark.parametrize("how", [[], ["--quiet"], ["--json"]], ids=["people", "quiet", "json"])
def test_each_verb_says_once_that_a_file_was_not_closed(
    verb: str, how: list[str], unclosed: Path, basketry: Basketry, tmp_path: Path
) -> None:
    words = [word.format(out=tmp_path / "made") for word in READING[verb]]
    done = basketry.run(verb, unclosed, *words, *how)
    assert done.code in ((1,) if verb == "check" else (0,)), done
    said = (done.out + done.err).lower()
    if verb == "inspect" and "--quiet" not in how:
        assert '"recovered": true' in said.replace(":true", ": true") if "--json" in how else "never closed" in said
        assert done.err.count(SAID) == 0
    else:
        assert said.count(SAID) == 1, done
        if verb in ("ls", "show", "count", "schema", "stats", "draw", "index"):
            assert f"basketry: warning: {unclosed}: {SAID}" in done.err


def test_an_error_tells_of_it_as_well(unclosed: Path, basketry: Basketry) -> None:
    refused = basketry.run("show", f"{unclosed}:lost")
    assert refused.code == 2
    assert SAID in refused.err
    assert "lost" in refused.err


def test_files_that_are_closed_are_read_without_a_word(unclosed: Path, basketry: Basketry, tmp_path: Path) -> None:
    whole = tmp_path / "whole.root"
    with bk.recreate(whole) as out:
        out.mktree("tree", {"event": np.arange(100, dtype="i4"), "x": np.arange(100.0)})
    for verb in ("ls", "count", "show", "stats"):
        assert basketry.run(verb, whole).err == ""
    shutil.copy(unclosed, tmp_path / "again.root")
    done = basketry.run("count", unclosed, tmp_path / "again.root")
    assert done.err.count(SAID) == 2
    basketry.run("recover", unclosed, "-o", tmp_path / "recovered.root")
    assert basketry.run("ls", tmp_path / "recovered.root").err == ""
