"""Members that other members count, and objects with a `TNamed` base, in collections of every kind: ROOT's compiled
classes write them, and say what they read of basketry's outputs."""

import struct
from pathlib import Path
from typing import Any

import pytest
import uproot

import basketry as bk
from referee import compiled
from referee.command import Basketry

NAME = "collection_members"
ENTRIES = range(7)


@pytest.fixture(scope="session")
def made() -> Path:
    """The folder with the files of the macro, and with its library."""
    return compiled.compiled(NAME, {"": ['make("new.root")', 'old("old.root")']})


@pytest.fixture(scope="session")
def dumped(made: Path) -> str:
    """What ROOT reads of the file that ROOT wrote."""
    return compiled.ask(made, NAME, f'dump("{made / "new.root"}")')


def named(k: int) -> dict[str, Any]:
    """An object of the class with a name."""
    return {"fName": f"n{k}", "fTitle": "", "i": k, "d": k / 2}


def whole(e: int) -> list[dict[str, Any]]:
    """The named objects of an entry."""
    return [named(10 * e + k) for k in range(e % 4)]


def counted(e: int) -> dict[str, Any]:
    """An object with counted members."""
    n = e % 3
    arrays = [[[{"v": 1000 * e + 100 * k + 10 * j + q} for q in range(n)] for j in range(3)] for k in range(2)]
    return {
        "n": n,
        "a": [named(10 * e + q) for q in range(n)],
        "p": [named(100 * e + q) for q in range(n)],
        "fa": [[named(e + q + 50 * k) for q in range(n)] for k in range(2)],
        "fp": [[named(e + q + 60 * k) for q in range(n)] for k in range(2)],
        "fq": arrays,
        "x": [float(e + q) for q in range(n)],
    }


def test_their_values_are_those_that_were_filled(made: Path) -> None:
    tree = bk.open(made / "new.root")["t"]
    expected = [whole(e) for e in ENTRIES]
    holders = [[{"i": e, "w": whole(e)}] * (e % 3) for e in ENTRIES]
    for branch in ("whole", "names"):
        assert tree[branch].array().to_list() == expected, branch
    assert tree["unsplit"].array().to_list() == holders
    assert tree["holders/holders.w"].array().to_list() == [[one["w"] for one in all_] for all_ in holders]
    outer = tree["outer."].array().to_list()
    assert [one["w"] for one in outer] == expected
    assert [one["c"] for one in outer] == [[named(20 * e + k) for k in range(e % 4)] for e in ENTRIES]
    objects = [[counted(e + k) for k in range(e % 4)] for e in ENTRIES]
    members = {"n": "n", "a": "a", "p": "p", "x": "x", "fa": "fa[2]", "fp": "fp[2]", "fq": "fq[2][3]"}
    for member, branch in members.items():
        assert tree[f"counted/counted.{branch}"].array().to_list() == [[one[member] for one in e] for e in objects]
        assert tree[f"alone./alone.{branch}"].array().to_list() == [counted(e)[member] for e in ENTRIES], branch


def test_they_return_from_an_rntuple(made: Path, dumped: str, basketry: Basketry, tmp_path: Path) -> None:
    source, there, back = tmp_path / "source.root", tmp_path / "there.root", tmp_path / "back.root"
    # An object with an array of objects inside has no C++ type in an RNTuple.
    basketry("rewrite", made / "new.root", "-o", source, "--drop", "outer.")
    basketry("rewrite", source, "-o", there, "--container", "rntuple")
    basketry("rewrite", there, "-o", back, "--container", "ttree")

    basketry("verify", source, there)
    basketry("verify", source, back)
    without_outer = [line.partition(" outer")[0] for line in dumped.splitlines()]
    found = compiled.ask(made, NAME, f'dump("{back}")')
    assert [line.partition(" outer")[0] for line in found.splitlines()] == without_outer


@pytest.mark.parametrize("layout", ["--streaming object-wise", "--split-level 0", "--split-level 99"])
def test_root_reads_them_in_another_form(
    layout: str, made: Path, dumped: str, basketry: Basketry, tmp_path: Path
) -> None:
    out, again = tmp_path / "out.root", tmp_path / "again.root"
    basketry("rewrite", made / "new.root", "-o", out, *layout.split())
    basketry("rewrite", out, "-o", again, "--streaming", "member-wise")

    for path in (out, again):
        basketry("check", "--deep", path)
        basketry("verify", made / "new.root", path)
        assert compiled.ask(made, NAME, f'dump("{path}")') == dumped


def test_entries_that_are_encoded_anew_are_not_those_of_an_old_file(
    made: Path, basketry: Basketry, tmp_path: Path
) -> None:
    """Up to 5.15/08 counted arrays of pointers were written as objects, which readers know by the file's version."""
    source, there, back = made / "old.root", tmp_path / "there.root", tmp_path / "back.root"
    versions = {}
    for path, words in {
        tmp_path / "copy.root": ("rewrite", source),
        there: ("rewrite", source, "--keep", "alone.", "--keep", "alone./**", "--container", "rntuple"),
        back: ("rewrite", there, "--container", "ttree"),
    }.items():
        basketry(*words, "-o", path)
        versions[path.stem] = struct.unpack(">i", path.read_bytes()[4:8])[0]
        basketry("verify", source, path, "--common")

    assert versions.pop("copy") == 51508
    assert all(version > 60000 for version in versions.values()), versions
    old, new = (compiled.ask(made, NAME, f'dump("{path}")') for path in (source, back))
    assert [line.partition(" outer")[0] for line in new.splitlines()] == [
        line.partition(" outer")[0] for line in old.splitlines()
    ]


def without_bytes(path: Path, branch: str, out: Path) -> None:
    """Writes a file whose branch has no bytes in any entry: all offsets are those of the end of the last entry."""
    with uproot.open(path) as file:
        basket = file["t"][branch].basket(0)
        keylen, ends = basket.member("fKeylen"), [int(end) for end in basket.byte_offsets]
    data = path.read_bytes()
    offsets = struct.pack(f">{len(ends) - 1}i", *(keylen + end for end in ends[:-1]))
    assert data.count(offsets) == 1
    out.write_bytes(data.replace(offsets, struct.pack(">i", keylen + ends[-1]) * (len(ends) - 1)))


def test_members_without_bytes_are_defaults(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    """ROOT writes no bytes of members of containers without a dictionary; readers leave what the objects have."""
    names = [tmp_path / f"{name}.root" for name in ("source", "empty", "there", "back", "merged")]
    source, empty, there, back, merged = names
    basketry("rewrite", made / "new.root", "-o", source, "--keep", "bits", "--keep", "bits/**")
    without_bytes(source, "bits/bits.b", empty)
    basketry("rewrite", empty, "-o", there, "--container", "rntuple")
    basketry("rewrite", there, "-o", back, "--container", "ttree")
    basketry("merge", empty, back, source, "-o", merged)

    for path in (there, back):
        basketry("verify", empty, path)
    assert basketry.run("verify", empty, source).code == 1
    basketry("rewrite", merged, "-o", tmp_path / "all.root", "--container", "rntuple")

    def bits(e: int) -> list[list[bool]]:
        return [[bool((5 + e + k) >> bit & 1) for bit in range(24)] for k in range(e % 4)]

    nothing = [[[False] * 24] * (e % 4) for e in ENTRIES]
    values = [
        [one["b"] for one in objects] for objects in bk.open(tmp_path / "all.root")["t"]["bits"].array().to_list()
    ]
    assert values == [*nothing, *nothing, *(bits(e) for e in ENTRIES)]
