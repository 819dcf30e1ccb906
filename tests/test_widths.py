"""Tables and texts of the command fit the line, whatever its width and the letters of names: no line takes more columns
of a terminal, columns stay aligned, letters stay whole, and no figure is cut. Widths of letters are those of Python's
tables of Unicode."""

import re
import shlex
import unicodedata
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import basketry as bk
from referee import oracle
from referee.command import Basketry

WIDTHS = (60, 80, 100, 160)
#: Names of columns: long, wide, with accents that are characters of their own, with blanks, with what does not print.
NAMES = [
    "x",
    "a_column_whose_name_says_" + "very_" * 12 + "much",
    "横運動量",
    "横運動量の測定誤差の二乗の平均値" * 5,
    "gro\u0308ße_" * 3,
    "q\u0323\u0307" * 30,
    "two  blanks   between  words" * 3,
    "an\u200bodd\u202ename",
    "한국어_이름",
    "😀_mood",
]
#: A file of each kind of the corpus, if it is there.
FEW = (
    "skhep--uproot-HZZ-objects.root",
    "coffea--pfnano_rntuple.root",
    "roottest--Event3a.root",
    "km3net--gseagen.root",
)
CORPUS = [line["name"] for line in oracle.index() if line["name"] in FEW]


def width(text: str) -> int:
    """The columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def column(line: str, begin: int, end: int | None = None) -> str:
    """What stands in some columns of a line."""
    at, found = 0, ""
    for c in line:
        if begin <= at and (end is None or at < end) and (width(c) or found):
            found += c
        at += width(c)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with such names; some as trees, RNTuples and Parquet files."""
    folder = tmp_path_factory.mktemp("widths")
    counts = np.arange(200) % 4
    lists = ak.unflatten(np.arange(counts.sum()) * 1234.5678 - 1e5, counts)
    values = {
        **{name: np.random.default_rng(n).normal(size=200) * 10.0**n for n, name in enumerate(NAMES)},
        "n": np.arange(200),
        "nan": np.where(np.arange(200) % 3 == 0, np.nan, np.arange(200) / 7),
        "lists_" + "of_numbers_" * 8: lists,
        "word": [f"{'語' * (n % 40)} and {'words ' * (n % 9)}" for n in range(200)],
    }
    with bk.recreate(folder / "all.root", compression="lzma:1", cluster=50) as file:
        file["dir/測定データ"] = values
        file["a_tree_with_" + "a_long_name_" * 9] = {"n": np.arange(10), "x": np.arange(10.0)}
        file["h"] = np.histogram(np.arange(100) ** 2, bins=12)
        file["h2"] = np.histogram2d(np.arange(100.0), np.arange(100) ** 2 / 1e4, bins=(90, 70))
    with bk.recreate(folder / "other.root") as file:
        file["dir/測定データ"] = {**values, "x": np.arange(200), "more_" * 20: np.arange(200)}
    with uproot.recreate(folder / "labels.root") as file:
        labels = ["muon", "横運動量の測定誤差" * 6, "a label of many words " * 5]
        axis = uproot.writing.identify.to_TAxis(
            "xaxis", "a title of an axis that is long " * 4, 3, 0.0, 3.0, fLabels=labels_of(labels)
        )
        title, contents = "a title of " + "many words " * 20, np.array([0.0, 5.0, 17.0, 2.0, 1.0])
        sums = (25.0, 25.0, 25.0, 40.0, 90.0)
        file["a_histogram_with_labels"] = uproot.writing.identify.to_TH1x("h", title, contents, *sums, None, axis)
    whole = (folder / "all.root").read_bytes()
    (folder / "cut.root").write_bytes(whole[: len(whole) * 2 // 3])
    return folder


def labels_of(labels: list[str]) -> uproot.Model:
    """The labels of an axis, as a THashList of TObjStrings with the numbers of their bins."""
    words = []
    for number, label in enumerate(labels, 1):
        word = uproot.writing.identify.to_TObjString(label)
        word._bases[0]._members["@fUniqueID"] = number
        words.append(word)
    return uproot.writing.identify.to_THashList(words)


LOOKS = """\
ls all.root other.root
ls -l -t -r all.root
ls -r -t -a all.root
show all.root:dir/測定データ
show all.root:dir/測定データ --long
show all.root:dir/測定データ 横運動量 word --cut 'n > 3'
show all.root:h
show all.root:h2
show labels.root:a_histogram_with_labels
stats all.root:dir/測定データ
stats all.root:dir/測定データ --cut 'n > 3' --cut 'x > -100'
schema all.root:dir/測定データ
schema all.root:dir/測定データ --diff other.root
count all.root other.root
inspect all.root
inspect all.root --all --codecs
inspect ntuple.root --all
inspect table.parquet
stats table.parquet
show ntuple.root
draw all.root:dir/測定データ n
draw all.root:dir/測定データ 横運動量 --log
draw all.root:dir/測定データ 横運動量:x --cut 'n > 3'
draw all.root:dir/測定データ x --cut '横運動量 > 3' --cut 'n > 100'
draw labels.root:a_histogram_with_labels
check all.root other.root cut.root
check all.root:dir/測定データ --keys n
verify all.root other.root
verify all.root all.root
plan merge all.root other.root --output plan.json --force
plan check all.root other.root --output plan.json --force
rewrite all.root -o absent.root --dry-run --compression zstd:5
merge all.root all.root -o absent.root --dry-run
rewrite all.root -o written.root --force
precision all.root:dir/測定データ --max-error 1e-3
"""


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    """The folder, with the same table in the other containers."""
    source = f"{folder}/all.root:dir/測定データ"
    bk.rewrite(source, output=folder / "ntuple.root", container="rntuple")
    bk.convert(source, output=folder / "table.parquet")
    return folder


def too_wide(text: str, columns: int) -> list[str]:
    """Lines that are wider. Words of commands, which are there to be copied, stay whole."""
    is_long_word = re.compile(rf"^ *(basketry |.*\\$).*?\S{{{columns - 16},}}")
    return [line for line in text.splitlines() if width(line) > columns and not is_long_word.match(line)]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("words", LOOKS.splitlines())
def test_no_line_is_wider(words: str, columns: int, whole: Path, basketry: Basketry) -> None:
    outcome = basketry.within(COLUMNS=str(columns)).run(*shlex.split(words), cwd=whole)
    assert outcome.code in (0, 1), str(outcome)
    assert outcome.out
    assert too_wide(outcome.out, columns) == [], outcome.out
    assert not re.search("[\u200b\u202e\x1b]", outcome.out)
    assert not [line for line in outcome.out.splitlines() if line != line.rstrip()], outcome.out
    # Half a letter is no letter.
    assert not re.search("…[\u0300-\u036f]|(?<!q\u0323)\u0307", outcome.out), outcome.out


@pytest.mark.skipif(not CORPUS, reason="the corpus is absent")
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", CORPUS)
def test_no_line_of_other_files_is_wider(name: str, columns: int, basketry: Basketry) -> None:
    path = oracle.corpus_file(name)
    [first, *_] = sorted({one["table"] for one in basketry.json("count", path)["tables"]})
    narrow = basketry.within(COLUMNS=str(columns))
    for words in (["ls", "-l", "-r", "-t"], ["count"], ["check"], ["inspect"], ["inspect", "--all"], ["verify", path]):
        outcome = narrow.run(*words, path)
        assert outcome.code in (0, 1), str(outcome)
        assert too_wide(outcome.out, columns) == []
    for verb in (["schema"], ["show"], ["show", "--long"], ["stats"]):
        assert too_wide(narrow(*verb, f"{path}:{first}"), columns) == []


def figures(text: str) -> list[str]:
    """The words of a text that are numbers, with their signs and units."""
    return sorted(re.findall(r"(?<![\w…])[-≈]?\d[\d.,e%-]*(?: (?:[kMG]?B|ms|s)\b)?(?![\w…])", text))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(
    "words", ["stats table.parquet n nan 横運動量 한국어_이름 lists*", "ls -l all.root", "count all.root other.root"]
)
def test_no_figure_is_cut(words: str, columns: int, whole: Path, basketry: Basketry) -> None:
    verb, *more = shlex.split(words)
    wide = basketry.within(COLUMNS="1000").run(verb, *more, cwd=whole).out
    text = basketry.within(COLUMNS=str(columns)).run(verb, *more, cwd=whole).out
    if "(no room for before compression)" in text:
        wide = re.sub(r"( [kM]?B +)[\d.]+ [kM]?B", r"\1", wide)
    assert len(figures(wide)) >= 5
    assert figures(text) == figures(wide), text


def rows(text: str) -> list[str]:
    """The head of a table and what follows."""
    lines = text.splitlines()
    return lines[next(place for place, line in enumerate(lines) if line.startswith("column ")) :]


def test_columns_stay_aligned(whole: Path, basketry: Basketry) -> None:
    """Each cell begins, or ends, where its head does, whatever the letters before it."""
    table = whole / "all.root"
    for columns in (80, 100, 300):
        narrow = basketry.within(COLUMNS=str(columns))
        head, *lines = rows(narrow("schema", f"{table}:dir/測定データ"))
        begin, end = head.index("type"), head.index("Arrow type")
        kinds = {column(line, begin, end).rstrip() for line in lines}
        assert kinds == {"double", "int64_t", "int32_t", "double[]", "char*"}
        head, *lines = rows(narrow("stats", f"{table}:dir/測定データ", *NAMES[:5]))
        end = head.index("values") + len("values")
        assert {column(line, 0, end)[-4:] for line in lines[:5]} == {" 200"}
        shown = narrow("show", f"{table}:dir/測定データ", "横運動量", "word", "n").splitlines()
        begin = width(shown[0][: shown[0].index("word")])
        assert {column(line, begin - 2, begin) for line in shown[:-1]} == {"  "}
        assert {len(column(line, begin).split("  ")[-1].strip()) > 0 for line in shown[2:-1]} == {True}


def test_broken_commands_can_be_copied(whole: Path, basketry: Basketry) -> None:
    """With their line ends, which a shell reads as blanks."""
    commands = set()
    for columns in (40, 60, 1000):
        words = ("precision", "all.root:dir/測定データ", "--max-error", "1e-3", "--columns", "x", "n*")
        text = basketry.within(COLUMNS=str(columns)).run(*words, cwd=whole).out
        said = re.findall(r"^ *(basketry (?:.*\\\n)*.*)$", text, re.MULTILINE)
        assert said
        commands.add("\n".join(" ".join(shlex.split(one.replace("\\\n", ""))) for one in said))
    assert len(commands) == 1, commands


def test_without_a_width_nothing_is_cut(whole: Path, basketry: Basketry) -> None:
    """A program that reads the output of a verb gets the names."""
    text = basketry("schema", f"{whole / 'all.root'}:dir/測定データ")
    assert NAMES[1] in text
    assert NAMES[3] in text
    path = f"{whole / 'all.root'}"
    for words in (
        ["ls", "-1", "-r", path],
        ["show", "--csv", f"{path}:dir/測定データ"],
        ["show", "--jsonl", f"{path}:dir/測定データ"],
    ):
        assert basketry.within(COLUMNS="60")(*words) == basketry(*words)
