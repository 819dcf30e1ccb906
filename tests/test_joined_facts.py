"""Files that are joined, and differ in what they have beside branches and entries: aliases, friends, titles, weights
and user info. ROOT writes the files."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee.command import Basketry

CODE = """
import array, ROOT
def write(name, title="t", aliases={}, friend="", info="", weight=1.0, entries=3):
    file = ROOT.TFile(f"{name}.root", "RECREATE")
    tree = ROOT.TTree("t", title)
    x = array.array("i", [0])
    tree.Branch("x", x, "x/I")
    for k in range(entries):
        x[0] = k
        tree.Fill()
    for alias, formula in aliases.items():
        tree.SetAlias(alias, formula)
    if friend:
        tree.AddFriend("q", f"{friend}.root")
    if info:
        told = ROOT.TObjString(info)
        ROOT.SetOwnership(told, False)
        tree.GetUserInfo().Add(told)
    tree.SetWeight(weight)
    tree.Write()
    file.Close()
for name in ("fa", "fb"):
    file = ROOT.TFile(f"{name}.root", "RECREATE")
    tree = ROOT.TTree("q", "q")
    tree.Fill()
    tree.Write()
    file.Close()
both = {"same": "x+1"}
write("a", "ta", both | {"z": "x*2"}, "fa", "ua")
write("b", "tb", both | {"z": "x*3", "only": "x-1"}, "fb", "ub", 2.5)
write("again", "ta", both | {"z": "x*2"}, "fa", "ua")
write("c", "ta", both, "fa")
write("empty", "ta", {"z": "x*9"}, entries=0)
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files."""
    folder = tmp_path_factory.mktemp("joined_facts")
    words = [sys.executable, "-W", "ignore", "-c", CODE]
    subprocess.run(words, check=True, timeout=120, capture_output=True, cwd=folder)
    return folder


Read = Callable[[list[str], str], list[int]]


def by_open(places: list[str], name: str) -> list[int]:
    return [int(x) for x in bk.open(places).arrays([name], library="np")[name]]


def by_concatenate(places: list[str], name: str) -> list[int]:
    return [int(x) for x in bk.concatenate(places, [name], library="np")[name]]


def by_iterate(places: list[str], name: str) -> list[int]:
    return [int(x) for step in bk.iterate(places, [name], library="np") for x in step[name]]


READERS = [by_open, by_concatenate, by_iterate]


@pytest.mark.parametrize("read", READERS)
def test_an_alias_is_the_same_in_all_files(read: Read, made: Path) -> None:
    def places(*names: str) -> list[str]:
        return [f"{made / name}.root:t" for name in names]

    assert read(places("a", "b"), "same") == [1, 2, 3] * 2
    assert read(places("a", "again"), "z") == [0, 2, 4] * 2
    # A file without entries says nothing.
    for order in (("a", "empty"), ("empty", "a")):
        assert read(places(*order), "z") == [0, 2, 4]
    for order in (("a", "b"), ("b", "a")):
        with pytest.raises(bk.SchemaDiffers, match=r"alias z is x\*\d in .*[ab]\.root, and x\*\d in .*[ab]\.root"):
            read(places(*order), "z")
        with pytest.raises(bk.SchemaDiffers, match=r"alias only is x-1 in .*b\.root, and .*a\.root has none"):
            read(places(*order), "only")
        with pytest.raises(bk.SchemaDiffers, match=r"alias z is x\*2 in .*a\.root, and .*c\.root has none"):
            read(places(*(name.replace("b", "c") for name in order)), "z")
    with pytest.raises(KeyError, match="no branch 'none'"):
        read(places("a", "b"), "none")


@pytest.mark.parametrize("form", ["{} ? 1 : 0", "`{}`", "!{}"])
def test_the_commands_language_has_the_same_aliases(form: str, made: Path) -> None:
    """What Python's language refuses, the engine computes: an alias that files do not share is none there either."""

    def places(*names: str) -> list[str]:
        return [f"{made / name}.root:t" for name in names]

    text = form.format("z")
    assert len(by_open(places("a", "again"), form.format("same"))) == 6
    for order in (["a", "b"], ["b", "a"], ["a", "c"], ["c", "a"]):
        for read in READERS:
            with pytest.raises(bk.SchemaDiffers, match="alias z is"):
                read(places(*order), text)
            with pytest.raises(bk.SchemaDiffers, match="alias z is"):
                bk.open(places(*order)).arrays(["x"], f"{text} > 2")
    # A file without entries says nothing.
    assert by_open(places("a", "empty"), text) == by_open(places("a"), text)


def test_keys_refuse_an_alias_that_files_do_not_share(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    out, other = tmp_path / "out.root", tmp_path / "other.root"
    with bk.recreate(other) as file:
        file.mktree("t", {"k": np.arange(5), "w": np.arange(5.0)})
    for order in ("ab", "ba"):
        inputs = [made / f"{name}.root" for name in order]
        tried: list[list[str | Path]] = [
            ["index", *inputs, "--key", "z", "-o", tmp_path / "out.parquet"],
            ["pick", *inputs, "--key", "z", "--events", "4", "-o", out],
            ["check", *inputs, "--keys", "z"],
            ["join", *inputs, "--with", other, "--on", "z=k", "-o", out],
            ["join", other, "--with", *inputs, "--on", "k=z", "-o", out],
            ["sort", *inputs, "--by", "z", "-o", out],
            ["merge", *inputs, "--unique", "z", "-o", out],
        ]
        for words in tried:
            assert "the files differ: alias z is x*" in basketry.refuses(*words)
    # The tables of a join are not one.
    told = basketry.run("join", made / "a.root", "--with", made / "b.root", "--on", "z", "--suffix", "_b", "-o", out)
    assert told.code == 0, str(told)
    basketry("pick", made / "a.root", made / "again.root", "--key", "z", "--events", "4", "-o", out, "--force")
    assert bk.open(out)["t"]["x"].array(library="np").tolist() == [2, 2]


def test_verbs_refuse_an_alias_that_files_do_not_share(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    cut: list[str | Path] = ["-o", out, "--force", "--cut", "z > 1"]
    for order in ("ab", "ba"):
        inputs = [made / f"{name}.root" for name in order]
        for verb, *more in (["merge"], ["merge", "--define", "w=z+1"], ["rewrite"], ["pick"]):
            assert "the files differ: alias z is x*" in basketry.refuses(verb, *inputs, *cut, *more)
        assert basketry.run("pick", *inputs, "-o", out, "--cut", "same > 1", "--force").code == 0
    # A file without entries says nothing.
    inputs = [made / f"{name}.root" for name in ("a", "again", "empty")]
    for verb in ("merge", "pick"):
        basketry(verb, *inputs, "-o", out, "--cut", "z > 1", "--force")
        assert bk.open(out)["t"]["x"].array(library="np").tolist() == [1, 2, 1, 2]


def test_own_aliases_go_before_those_of_files(made: Path) -> None:
    tree = bk.open([f"{made / name}.root:t" for name in "ab"])
    assert tree.aliases == {"same": "x+1"}
    found = tree.arrays(["z"], aliases={"z": "x*5"}, library="np")["z"]
    assert found.tolist() == [0, 5, 10] * 2
    steps = list(
        bk.iterate([f"{made / name}.root:t" for name in "ab"], ["x"], report=True, join="common", library="np")
    )
    for _, report in steps:
        again = pickle.loads(pickle.dumps(report.tree))
        with pytest.raises(bk.SchemaDiffers, match="alias z"):
            again.arrays(["z"])


def facts(path: Path) -> tuple[Any, ...]:
    """What uproot reads of a tree."""
    with uproot.open(path) as file:
        tree = file["t"]
        return tree.title, tree.member("fWeight"), dict(tree.aliases)


def test_merges_say_what_later_inputs_lose(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    merged = tmp_path / "merged.root"
    inputs = [made / f"{name}.root" for name in "ab"]
    told = basketry.run("merge", *inputs, "-o", merged)
    assert told.code == 0
    assert facts(merged) == facts(inputs[0])
    note = next(line for line in (told.out + told.err).splitlines() if "b.root" in line and "left out" in line)
    for what in ('title "tb"', "weight 2.5", "alias z (x*3)", "alias only (x-1)", "friend q (fb.root)", "user info"):
        assert what in note
    refused = basketry.run("merge", "--strict", *inputs, "-o", tmp_path / "none.root")
    assert refused.code != 0
    assert "alias z (x*3)" in refused.err
    assert not (tmp_path / "none.root").exists()


def test_merges_say_nothing_where_nothing_is_lost(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    for number, names in enumerate((["a", "again"], ["a", "c"])):
        merged = tmp_path / f"{number}.root"
        inputs = [made / f"{name}.root" for name in names]
        told = basketry.run("merge", "--strict", *inputs, "-o", merged)
        assert told.code == 0
        assert "left out" not in told.out + told.err
        assert facts(merged) == facts(inputs[0])


def test_a_first_input_without_entries_loses_what_it_has(made: Path, basketry: Basketry, tmp_path: Path) -> None:
    inputs = [made / f"{name}.root" for name in ("empty", "a")]
    told = basketry.run("merge", *inputs, "-o", tmp_path / "merged.root")
    assert told.code == 0
    assert "alias z (x*9)" in told.out + told.err
    assert facts(tmp_path / "merged.root") == facts(inputs[1])


def test_descriptions_of_rntuples(basketry: Basketry, tmp_path: Path) -> None:
    inputs = [tmp_path / f"{name}.root" for name in "ab"]
    for path in inputs:
        with bk.recreate(path) as file:
            file.mkrntuple("n", {"x": np.arange(3)}, f"of {path.stem}")
    told = basketry.run("merge", *inputs, "-o", tmp_path / "merged.root")
    assert told.code == 0
    assert 'description "of b"' in told.out + told.err
    assert basketry.run("merge", "--strict", *inputs, "-o", tmp_path / "none.root").code != 0
