"""`split`: the parts have all entries, each once, and a merge of them has what the file has."""

import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import make_files
from referee.command import Basketry

ENTRIES = 1000
RUNS = [100, 101, 205]
WORDS = ["a b", "a/b", "", "caf\u00e9"]


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    """The columns of a table in ten clusters, with runs that alternate."""
    draw = np.random.default_rng(7)
    runs = np.sort(draw.choice(RUNS, ENTRIES))
    runs[500:520] = RUNS[0]
    return {
        "run": runs,
        "x": draw.normal(size=ENTRIES),
        "lists": [list(range(n % 4)) for n in range(ENTRIES)],
        "word": [WORDS[n // 7 % len(WORDS)] for n in range(ENTRIES)],
        "good": draw.integers(0, 2, ENTRIES) > 0,
    }


@pytest.fixture(params=["tree", "ntuple"])
def file(request: pytest.FixtureRequest, columns: dict[str, Any], tmp_path: Path) -> Path:
    """A file with the table, another table, and objects beside them."""
    path = tmp_path / "events.root"
    with bk.recreate(path, compression="zstd:1", cluster=100) as out:
        make = out.mktree if request.param == "tree" else out.mkrntuple
        make("Events", columns)
        make("dir/Runs", {"run": RUNS})
        out["h"] = np.histogram([1.0, 2.0], bins=4)
        out["dir/note"] = "text"
    return path


def listed(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def rows(path: Path, table: str = "Events") -> list[Any]:
    """The entries of a table by uproot."""
    with uproot.open(path) as file:
        found: list[Any] = file[table].arrays(library="ak").tolist()
    return found


RULES = [
    ("--entries", "300"),
    ("--entries", "100"),
    ("--entries", "5000"),
    ("--size", "4kB"),
    ("--size", "1B"),
    ("--by", "run"),
    ("--by", "word"),
    ("--by", "good"),
    ("--by", "run // 10"),
]


@pytest.mark.parametrize("rule", RULES, ids=" ".join)
def test_the_parts_have_each_entry_once_and_merge_to_the_whole(
    rule: tuple[str, str], basketry: Basketry, file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "parts"

    report = basketry.json("split", f"{file}:Events", *rule, "-o", folder)

    parts = [Path(part["path"]) for part in report["parts"]]
    assert sorted(folder.iterdir()) == sorted(parts)
    basketry("check", "--deep", *parts)
    whole, split = rows(file), [rows(part) for part in parts]
    assert [part["entries"] for part in report["parts"]] == [len(part) for part in split]
    assert [part["bytes"] for part in report["parts"]] == [part.stat().st_size for part in parts]
    # The other objects are in the first part only.
    beside = {"dir;1", "dir/Runs;1", "dir/note;1", "h;1"}
    assert {name: sorted(uproot.open(name).keys()) for name in parts} == {
        name: sorted({"Events;1"} | (beside if name == parts[0] else set())) for name in parts
    }
    assert rows(parts[0], "dir/Runs") == rows(file, "dir/Runs")
    if rule[0] == "--by":
        values = [eval(rule[1], {}, row) for row in whole]
        texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
        order = list(dict.fromkeys(texts))
        assert [part["value"] for part in report["parts"]] == order
        assert split == [[row for row, text in zip(whole, texts, strict=True) if text == value] for value in order]
        return
    assert [row for part in split for row in part] == whole
    basketry("verify", *parts, file)
    basketry("merge", *parts, "-o", tmp_path / "again.root")
    basketry("verify", tmp_path / "again.root", file)
    if rule[0] == "--entries":
        assert {len(part) for part in split[:-1]} <= {int(rule[1])}
        assert len(parts) == -(-ENTRIES // int(rule[1]))


def test_parts_by_size_end_at_clusters_and_their_baskets_are_copied(basketry: Basketry, file: Path) -> None:
    report = basketry.json("split", f"{file}:Events", "--size", "5kB", "-o", file.parent / "parts")
    entries = [part["entries"] for part in report["parts"]]
    assert 1 < len(entries) < ENTRIES / 100
    assert all(number % 100 == 0 for number in entries)
    # At copy depth the bytes of the pieces are those of the file.
    table = bk.inspect(f"{file}:Events")
    assert table is not None
    pieces = pieces_of(file)
    assert pieces == [piece for part in report["parts"] for piece in pieces_of(Path(part["path"]))]


def pieces_of(path: Path) -> list[bytes]:
    """The compressed bytes of the column x, basket by basket; none of an RNTuple."""
    with uproot.open(path) as file:
        if not hasattr(file["Events"], "branches"):
            return []
        branch = file["Events"]["x"]
        seeks = branch.member("fBasketSeek")[: branch.num_baskets]
        sizes = branch.member("fBasketBytes")[: branch.num_baskets]
    data = path.read_bytes()
    found = []
    for seek, size in zip(seeks, sizes, strict=True):
        length = int.from_bytes(data[seek + 14 : seek + 16], "big")
        found.append(data[seek + length : seek + size])
    return found


def test_names_of_values_are_names_of_files(basketry: Basketry, file: Path) -> None:
    report = basketry.json("split", f"{file}:Events", "--by", "word", "-o", file.parent / "words")
    names = {part["value"]: Path(part["path"]).name for part in report["parts"]}
    assert names == {
        "a b": "events-a_b.root",
        "a/b": "events-a_b-2.root",
        "": "events-empty.root",
        "caf\u00e9": "events-caf\u00e9.root",
    }


REFUSED = {
    "{f} --entries 10": "has several tables",
    "{f}:Evnts --entries 10": "has no object Evnts",
    "{f}:h --entries 10": "is no table",
    "{f}:Events --entries 0": "one entry",
    "{f}:Events --by x": "floor(x)",
    "{f}:Events --by lists": "a list for each entry",
    "{f}:Events --by nothing": "nothing",
    "{f}:Events --entries 1": "--max-files",
    "{f}:Events --by 2*word": "is a text",
    "{f}:Events --entries 500 -o {f}": "events.root",
    "{f}:Events --entries 10 --size 1MB": "cannot be used with",
    "{f}:Events": "--entries",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_leaves_nothing(words: str, basketry: Basketry, file: Path) -> None:
    line = basketry.refuses("split", *(word.format(f=file) for word in words.split()))
    assert REFUSED[words] in line
    assert listed(file.parent) == ["events.root"]


def test_existing_files_stay_without_force(basketry: Basketry, file: Path) -> None:
    there = file.with_name("events-0002.root")
    there.write_bytes(b"mine")
    line = basketry.refuses("split", f"{file}:Events", "--entries", "400")
    assert "events-0002.root" in line
    assert "--force" in line
    assert listed(file.parent) == ["events-0002.root", "events.root"]

    basketry("split", f"{file}:Events", "--entries", "400", "--force")
    assert len(rows(there)) == 400


def test_parts_of_an_earlier_split_are_not_left_beside_new_ones(basketry: Basketry, file: Path) -> None:
    """A merge of all would have their entries twice."""
    folder = file.parent / "parts"
    basketry("split", f"{file}:Events", "--entries", "200", "-o", folder)
    (folder / "events-2026.root").write_bytes(b"mine")
    (folder / "events-0004.root.bak").write_bytes(b"mine")
    (folder / "other-0004.root").write_bytes(b"mine")
    for part in ("events-0001.root", "events-0002.root"):
        (folder / part).unlink()
    there = listed(folder)

    line = basketry.refuses("split", f"{file}:Events", "--entries", "500", "-o", folder)
    assert "events-0003.root" in line
    assert "--force" in line
    assert listed(folder) == there

    basketry("split", f"{file}:Events", "--entries", "500", "-o", folder, "--force")
    assert listed(folder) == [
        "events-0001.root", "events-0002.root", "events-0004.root.bak", "events-2026.root", "other-0004.root",
    ]  # fmt: skip
    parts = [folder / f"events-000{number}.root" for number in (1, 2)]
    assert [row for part in parts for row in rows(part)] == rows(file)


def test_numbers_that_are_whole_may_be_floats(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    report = basketry.json("split", f"{file}:Events", "--by", "floor(run / 2)", "-o", file.parent / "halves")
    assert {part["value"] for part in report["parts"]} == {"50", "102"}
    odd = tmp_path / "odd.root"
    with bk.recreate(odd) as out:
        values = {
            "zero": [0.0, -0.0, 1e17],
            "nan": [1.0, 2.0, np.nan],
            "infinite": [1.0, -np.inf, 0.0],
            "x": [1, 0.5, 2],
        }
        out.mktree("t", {name: np.array(numbers, "f8") for name, numbers in values.items()})
    parts = basketry.json("split", odd, "--by", "zero", "-o", tmp_path / "zeros")["parts"]
    assert [(part["value"], part["entries"]) for part in parts] == [("0", 2), ("100000000000000000", 1)]
    assert "is NaN in some entries" in basketry.refuses("split", odd, "--by", "nan")
    assert "is infinite in some entries" in basketry.refuses("split", odd, "--by", "infinite")
    assert "not whole, as 0.5" in basketry.refuses("split", odd, "--by", "x")


def test_a_full_disk_leaves_no_part(basketry: Basketry, file: Path) -> None:
    done = subprocess.run(
        [basketry.binary, "split", f"{file}:Events", "--entries", "900"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
    )
    assert done.returncode != 0
    assert listed(file.parent) == ["events.root"]


def test_a_table_without_entries_is_one_part(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "e.root"
    with bk.recreate(path) as out:
        out.mktree("t", {"x": "i4"})
    (part,) = basketry.json("split", path, "--entries", "10")["parts"]
    assert part["entries"] == 0
    assert uproot.open(part["path"])["t"].num_entries == 0
    assert "no entries" in basketry.refuses("split", path, "--by", "x")


def test_trees_of_root_are_split_by_their_texts(basketry: Basketry, tmp_path: Path) -> None:
    file = Path(shutil.copy(make_files.made("edited") / "edited.root", tmp_path / "a.root"))
    report = basketry.json("split", file, "--by", "run", "-o", tmp_path / "runs")
    assert [(part["value"], part["entries"]) for part in report["parts"]] == [
        ("run a", 400), ("run b", 300), ("run c", 300),
    ]  # fmt: skip
    whole = rows(file, "tree")
    for part in report["parts"]:
        assert rows(Path(part["path"]), "tree") == [row for row in whole if row["run"] == part["value"]]


def test_the_parts_do_not_depend_on_threads(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    made = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        basketry("split", f"{file}:Events", "--by", "run", "-o", folder, "-j", str(threads))
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]


def test_python_splits(file: Path) -> None:
    report = bk.split(f"{file}:Events", entries=600)
    assert report.table == "Events"
    assert [(part.path.name, part.entries, part.value) for part in report.parts] == [
        ("events-0001.root", 600, None),
        ("events-0002.root", 400, None),
    ]
    with pytest.raises(FileExistsError, match="force"):
        bk.split(f"{file}:Events", entries=600)
    by = bk.split(f"{file}:Events", by="run", output=file.parent / "runs", max_files=3)
    assert [part.value for part in by.parts] == [str(run) for run in RUNS]
    with pytest.raises(ValueError, match="max_files"):
        bk.split(f"{file}:Events", entries=1)
    with pytest.raises(ValueError, match="entries"):
        bk.split(f"{file}:Events")


def test_a_split_that_fails_leaves_no_folder(basketry: Basketry, file: Path, tmp_path: Path) -> None:
    parts = tmp_path / "new" / "parts"
    for words in (["--entries", "1"], ["--entries", "900"]):
        done = subprocess.run(
            [basketry.binary, "split", f"{file}:Events", *words, "--max-files", "10", "-o", parts],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
        )
        assert done.returncode == 2, done
        assert listed(tmp_path) == ["events.root"]
    basketry("split", f"{file}:Events", "--entries", "900", "-o", parts)
    assert len(listed(parts)) == 2
