"""Damaged keys, directories and baskets: refused, or left out and reported; never carried over silently."""

import struct
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

from referee import make_files
from referee.command import Basketry
from referee.paths import CORPUS

FOUND = CORPUS / "found"


def changed(path: Path, out: Path, at: int, new: bytes) -> Path:
    """A copy of a file with other bytes from an offset on."""
    data = bytearray(path.read_bytes())
    assert data[at : at + len(new)] != new
    data[at : at + len(new)] = new
    out.write_bytes(data)
    return out


def listed_key(path: Path, name: str) -> int:
    """The position of an object's key in its directory's list."""
    with uproot.open(path) as file:
        directory, _, last = name.rpartition("/")
        key = (file[directory] if directory else file).key(last)
        data = path.read_bytes()
        record = key.fSeekKey
        # The copy in the list begins with the same sizes.
        first = data[record : record + 18]
        at = data.find(first)
        if at == record:
            at = data.find(first, record + 1)
        assert at > 0
        return at


@pytest.fixture
def objects() -> Path:
    """A file of ROOT's with directories, histograms and trees."""
    return make_files.made("killed") / "killed0.root"


# Changes of a key: offset of the field, and its new bytes.
FIELDS = {
    "size": (0, struct.pack(">i", 77)),
    "object size": (6, struct.pack(">i", 77)),
    "key length": (14, struct.pack(">h", 77)),
    "cycle": (16, struct.pack(">h", 77)),
    "position": (18, struct.pack(">i", 177)),
    "parent directory": (22, struct.pack(">i", 177)),
    "class": (27, b"\0"),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", ["folder", "folder/note", "folder/tree"])
def test_a_damaged_key_is_refused_or_left_out(
    basketry: Basketry, objects: Path, tmp_path: Path, field: str, name: str
) -> None:
    behind, new = FIELDS[field]
    at = listed_key(objects, name) + behind
    bad, out = changed(objects, tmp_path / "bad.root", at, new), tmp_path / "out.root"
    for verb in ("rewrite", "merge", "verify"):
        line = basketry.refuses(verb, bad, *([objects] if verb == "verify" else ["-o", out]))
        assert "bad.root" in line, line
        assert not out.exists()
    line = basketry.run("hadd", out, bad).err
    assert "bad.root" in line
    assert not out.exists()
    report = basketry.json("inspect", bad)
    assert report["skipped"], report
    assert any(finding["fault"] == "unreadable" for finding in report["findings"]) or report["file"]["recovered"]
    outcome = basketry.run("rewrite", "-k", bad, "-o", out)
    if outcome.code == 2:
        # With a wrong length even the list is unreadable.
        assert "bad.root" in outcome.err
        return
    assert outcome.code == 1, str(outcome)
    assert "left out" in outcome.out
    assert basketry.run("inspect", out).code == 0
    # Of several inputs the damaged one is left out.
    outcome = basketry.run("merge", "-k", objects, bad, "-o", out, "--force", "--json")

    assert outcome.code == 1, str(outcome)
    with uproot.open(out) as file, uproot.open(objects) as whole:
        assert file["folder/tree"].num_entries == whole["folder/tree"].num_entries


def test_a_list_of_keys_with_a_low_count_is_refused(basketry: Basketry, tmp_path: Path) -> None:
    whole = make_files.made("histograms") / "histograms0.root"
    data = whole.read_bytes()
    with uproot.open(whole) as file:
        count = len(file.keys(recursive=False))
        seek = file._fSeekKeys
    keylen = struct.unpack_from(">h", data, seek + 14)[0]
    assert struct.unpack_from(">i", data, seek + keylen)[0] == count
    out = tmp_path / "out.root"
    for fewer in (0, 1, count - 1):
        bad = changed(whole, tmp_path / "bad.root", seek + keylen, struct.pack(">i", fewer))
        assert "counts" in basketry.refuses("rewrite", bad, "-o", out)
        assert basketry.json("inspect", bad)["skipped"]


def test_a_sound_tree_can_be_compared_in_a_damaged_file(basketry: Basketry, objects: Path, tmp_path: Path) -> None:
    bad = changed(objects, tmp_path / "bad.root", listed_key(objects, "folder/note") + 16, b"\x01\x01")
    basketry.refuses("verify", objects, bad)
    assert "equal" in basketry("verify", f"{objects}:folder/tree", f"{bad}:folder/tree")


def baskets(path: Path, tree: str, branch: str) -> list[int]:
    """The positions of a branch's baskets."""
    with uproot.open(path) as file:
        return [int(at) for at in file[tree][branch].member("fBasketSeek")]


@pytest.mark.parametrize(
    "layout", [(), ("--compression", "zstd:1"), ("--cluster", "100")], ids=["copy", "recompress", "regroup"]
)
@pytest.mark.parametrize("field", ["class", "name", "position", "fLast", "fNevBuf", "flag", "object size"])
def test_a_basket_that_contradicts_its_tree_is_refused_or_left_out(
    basketry: Basketry, objects: Path, tmp_path: Path, field: str, layout: tuple[str, ...]
) -> None:
    data = objects.read_bytes()
    at = baskets(objects, "folder/tree", "x")[1]
    keylen = struct.unpack_from(">h", data, at + 14)[0]
    big = struct.unpack_from(">h", data, at + 4)[0] > 1000
    strings = at + (34 if big else 26)
    # The name of another branch of the same tree, of equal length.
    change = {
        "class": (strings + 2, b"b"),
        "name": (strings + 1 + 7 + 1, b"i"),
        "position": (at + 18, struct.pack(">q" if big else ">i", 100)),
        "fLast": (at + keylen - 5, struct.pack(">i", keylen + 1)),
        "fNevBuf": (at + keylen - 9, struct.pack(">i", 3)),
        "flag": (at + keylen - 1, b"\x50"),
        "object size": (at + 6, struct.pack(">i", 99_999)),
    }[field]
    bad, out = changed(objects, tmp_path / "bad.root", *change), tmp_path / "out.root"
    line = basketry.refuses("rewrite", bad, "-o", out, *layout)

    assert "bad.root" in line, line
    assert "branch x" in line, line
    assert str(at) in line, line
    assert not out.exists()


def test_check_decompresses_copied_baskets(basketry: Basketry, objects: Path, tmp_path: Path) -> None:
    data = objects.read_bytes()
    at = baskets(objects, "folder/tree", "x")[1]
    nbytes, keylen = struct.unpack_from(">i", data, at)[0], struct.unpack_from(">h", data, at + 14)[0]
    middle = at + keylen + (nbytes - keylen) // 2
    bad = changed(objects, tmp_path / "bad.root", middle, bytes([data[middle] ^ 0xFF]))
    out = tmp_path / "out.root"
    basketry("rewrite", bad, "-o", out)
    for verb in (("rewrite", "-o", out, "--force"), ("merge", "-o", out, "--force", objects)):
        line = basketry.refuses(*verb, bad, "--check")
        assert "branch x" in line, line
        assert f"byte {at}" in line, line
    assert basketry.run("hadd", "-fk", "--check", tmp_path / "merged.root", bad).code == 1
    basketry("rewrite", objects, "-o", out, "--force", "--check")
    basketry("verify", objects, out)


@pytest.mark.skipif(not FOUND.is_dir(), reason="the files that showed faults are absent (../shared/corpus/found)")
@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("dirclass_damaged", "sig_mulen"),
        ("keymismatch", "proton"),
        ("key_loop", "META/JMeta"),
        ("keylist", "ntuple0"),
    ],
)
def test_corpus_files_that_lost_objects_are_refused(basketry: Basketry, tmp_path: Path, name: str, gone: str) -> None:
    path, out = FOUND / f"{name}.root", tmp_path / "out.root"
    for verb in ("rewrite", "merge"):
        line = basketry.refuses(verb, path, "-o", out)
        assert gone in line, line
        assert f"{name}.root" in line
        assert "at byte" in line
        assert "recover" in line
    assert any(gone in line["object"] for line in basketry.json("inspect", path)["skipped"])
    outcome = basketry.run("rewrite", "-k", path, "-o", out, "--json")

    assert outcome.code == 1, str(outcome)
    assert gone in outcome.out
    assert basketry.run("rewrite", out, "-o", tmp_path / "again.root").code == 0


def test_files_updated_by_uproot_are_not_damaged(basketry: Basketry, tmp_path: Path) -> None:
    """uproot's lists of keys name the directory around theirs, lie in used space, and become shorter."""
    source, out = tmp_path / "source.root", tmp_path / "out.root"
    with uproot.recreate(source) as file:
        file["a/b/c/h"] = np.histogram(np.arange(10))
        file["a/h"] = np.histogram(np.arange(10))
        tree = file.mktree("a/b/t", {"x": np.float32, "v": "var * float32"})
        tree.extend({"x": np.arange(10, dtype=np.float32), "v": ak.Array([[1.0, 2.0]] * 10)})
    with uproot.update(source) as file:
        file["a/b/d/h"] = np.histogram(np.arange(20))
        for number in range(40):
            file[f"text{number}"] = "text"
    with uproot.update(source) as file:
        del file["text3"]
        del file["text39"]
    basketry("rewrite", source, "-o", out)
    basketry("verify", source, out)

    with uproot.open(source) as before, uproot.open(out) as after:
        assert sorted(before.keys()) == sorted(after.keys())
        assert len(after.keys(recursive=False)) == 1 + 38
