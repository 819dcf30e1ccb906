"""Objects other than trees: merged, or all kept, as by real hadd; unmerged objects are named."""

from pathlib import Path

import uproot

from referee import hadd, make_files, values
from referee.command import Basketry
from referee.root_server import RootServer

# Irrelevant members: the buffer of entries, which ROOT keeps after filling them in.
BUFFER = {"fBuffer", "fBufferSize"}
NOT_MERGED = {"misfit", "shifted", "uneven"}


def sources() -> list[Path]:
    """The files of the recipe."""
    return [make_files.made("objects") / f"objects{k}.root" for k in range(3)]


def without_buffers(found: object) -> object:
    """The answer with buffers cut to their entries, and without buffers whose entries were filled in."""
    if isinstance(found, list):
        return [without_buffers(item) for item in found]
    if not isinstance(found, dict):
        return found
    kept = {name: without_buffers(value) for name, value in found.items() if name not in BUFFER}
    buffer = found.get("fBuffer") or [0]
    if buffer[0] > 0:
        # A count, then for each entry of a one-dimensional histogram its weight and place.
        kept["fBuffer"] = buffer[: 1 + 2 * int(buffer[0])]
    return kept


def test_objects_are_merged_or_kept_as_by_hadd(basketry: Basketry, root_values: RootServer, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    outcome = basketry.run("hadd", "-f", ours, *sources())
    assert outcome.code == 0, str(outcome)
    assert hadd.merge(theirs, *sources()) is not None
    expected = without_buffers(root_values.of(theirs)["objects"])
    found = without_buffers(root_values.of(ours)["objects"])
    assert isinstance(expected, dict)
    assert len(expected) > 80
    different = list(values.differences(expected, found))

    assert not different, "\n".join(different[:20])
    for name in NOT_MERGED:
        assert name in outcome.out + outcome.err


def test_all_cycles_are_kept_and_the_newest_is_found_first(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("hadd", "-f", out, *sources())
    with uproot.open(out) as file:
        cycles = [file[f"cycles;{n}"].member("fTitle") for n in range(1, 7)]
        assert cycles == ["old 0", "new 0", "old 1", "new 1", "old 2", "new 2"]
        assert file["cycles"].member("fTitle") == "new 2"
        assert file["histogram_cycles"].values().sum() == 6
        assert [key for key in file.keys(cycle=False) if key.startswith("only_")] == ["only_0", "only_1", "only_2"]


def test_one_input_keeps_its_cycles(basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    basketry("rewrite", sources()[0], "-o", out)
    with uproot.open(out) as file:
        assert file["cycles;1"].member("fTitle") == "old 0"
        assert file["histogram_cycles;1"].values().sum() == 1
        assert file["histogram_cycles"].values().sum() == 2
