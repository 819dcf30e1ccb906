"""What pages claim of measured figures: conclusions are drawn again from the tables, no sentence tells a figure of its
own, and settings that the text names are those of the studies."""

import itertools
import re
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.paths import REPO
from referee.studies import PAGES
from studies import bottlenecks, containers, framework, gauge, large, live, live_reader, parallel, scaling
from studies.conclusions import CLAIMS, CONCLUSIONS, conclusions
from studies.conclusions.tables import FAILS, IN_PART, STANDS, Tables

BLOCK = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)
#: A number with a unit, or a comparison.
FIGURE = re.compile(r"\d[\d .]*(?:%|MB\b|GB\b|kB\b|ms\b|s\b|events\b|times\b|x\b)")


#: Studies without a published one: they draw no conclusions.
OWN = ("predictions", "scaling", "large", "sparse")


def given() -> bool:
    """What the published study had, or what a text defines: no run can contradict it."""
    return True


BASKETS_TOML = (REPO / "studies" / "baskets.toml").read_text()
#: Settings that a page's text may name, with what they are in the studies. Each sentence with a figure needs one.
SETTINGS: dict[str, dict[str, Callable[[], bool]]] = {
    "memory": {"with split 0, 2 kB and 2 MB": given},
    "baskets": {
        # Figures of the published study.
        "where the study saw 383 MB for one basket per cluster, 68 MB if they shrink": given,
        "as 10, 20 and 30 MB had in the study": given,
        "with as many\nevents in a cluster as 15 MB had": given,
        "The study's file has 12 GB of data": given,
        "that of plain 50 MB clusters": lambda: "50 MB" in BASKETS_TOML,
    },
    "containers": {
        "The 1 % are chosen at random": given,
        "split and flushed every 10 events": lambda: 'name = "split, flush 10"' in containers.AOD.read_text(),
        "*Optimised* shares 30 MB out": lambda: 'basket-memory = "30MB"' in containers.AUXILIARY.read_text(),
        "gave their baskets 32 kB": lambda: 'basket = "32kB"' in containers.AUXILIARY.read_text(),
        "The first event of\nthe 1 % is not counted": given,
        "first event of the 1 % has read nearly everything": given,
        "The study had 2500 events of ESD and 20 000 of AOD": given,
    },
    "parallel": {
        "flushes after 5 % of the entries (in the study 1 %": lambda: parallel.FLUSH == ("--autoflush", "5%"),
        "basketry has `--memory 128MB`": lambda: parallel.MEMORY == "128MB",
        "call `Write()` every 30 MB": given,
        "calls `Write()`\nevery 30 MB": given,
        "The stages of one batch (at most 1 MB)": given,
        "The talk writes 1 GB": lambda: max(parallel.SIZES) == 1000,
        "The throttled device takes 100 MB a second": lambda: parallel.THROTTLED == 100_000_000,
        "AutoSave every 10 % and AutoFlush every 1 %, as here": lambda: "10%" in live.EVERY and "1%" in live.FLUSH,
        "The job makes 20 MB a second": lambda: live.RATE == 20_000_000,
        "and rest 50 ms": lambda: live_reader.REST == 0.05,
        "with clusters of 1 % and all threads": given,
    },
    "framework": {
        "300 events for each thread": lambda: framework.EVENTS == 300,
        "9 million steps": lambda: framework.WORK == 9_000_000,
        "of 50 events": lambda: framework.CLUSTER == 50,
        "64 MB for each thread": lambda: framework.MEMORY == 64,
    },
    "bottlenecks": {
        "zlib:1, clusters of 2 MB": given,
        "limited to 25 MB a second": lambda: bottlenecks.LINE == 25,
    },
    "predictions": {
        "Only readings of more than 5 ms count": lambda: gauge.LONG_ENOUGH == 5e-3,
        "Files that take more than 5 ms to read": lambda: gauge.LONG_ENOUGH == 5e-3,
        "or slower by more than 3 %": lambda: gauge.NOISE == 0.03,
        "reading a random 1 % of the entries": given,
    },
    "scaling": {
        "fit into `--memory 1GB`": lambda: scaling.MEMORY == 1e9,
        "a cluster of 30 MB": lambda: scaling.CLUSTER == 30e6,
    },
    "large": {
        "## A file of more than 20 GB": lambda: large.FILE >= 20_000,
        "and 64 MB for metadata": lambda: large.METADATA == 64,
    },
    "sparse": {
        "and 64 MB for metadata": lambda: large.METADATA == 64,
    },
}


def blocks_of(text: str) -> dict[str, list[str]]:
    """The measured blocks of a page."""
    return {key: lines.strip().splitlines() for key, lines in BLOCK.findall(text)}


def page(name: str) -> str:
    """The text of a study's page."""
    return (PAGES / f"{name}.md").read_text()


@pytest.mark.parametrize("name", CLAIMS)
def test_conclusions_are_those_of_the_tables(name: str) -> None:
    blocks = blocks_of(page(name))
    assert blocks[CONCLUSIONS] == conclusions(name, blocks)
    # Nothing else is concluded, by hand.
    (section,) = re.findall(r"^## Conclusions\n(.*?)(?=^## |\Z)", page(name), re.DOTALL | re.MULTILINE)
    assert BLOCK.sub("", section).split() == [
        *"Each claim, and what the tables above say of it ([how](README.md#conclusions)):".split()
    ]


def claim(lines: list[str], start: str) -> str:
    """The one claim that begins so."""
    (found,) = (line for line in lines if line.startswith(f"- **{start}"))
    return found


def test_tables_that_contradict_a_claim_change_it() -> None:
    # Of TBufferMerger, last of each row, two threads are as fast as one.
    def alone(line: str) -> str:
        return re.sub(r"(\d+) → \d+ \([^|]*\|$", r"\1 → \1 (1.0 x) |", line)

    blocks, start = blocks_of(page("parallel")), "CPU-bound writing of trees"
    other = blocks | {key: list(map(alone, blocks[key])) for key in ("single-speed", "multi-speed")}
    said, changed = (claim(conclusions("parallel", of), start) for of in (blocks, other))
    assert f"TBufferMerger: {FAILS}; 2 threads are 1.0 times as fast" in changed
    assert changed.partition("TBufferMerger")[0] == said.partition("TBufferMerger")[0]

    # ROOT's record costs nothing.
    def free(line: str) -> str:
        cells = line.split("|")
        return "|".join([*cells[:5], cells[4], *cells[6:]]) if "±" in line else line

    blocks, start = blocks_of(page("memory")), "With the settings of 2012"
    other = blocks | {"streams": list(map(free, blocks["streams"]))}
    said, changed = (claim(conclusions("memory", of), start) for of in (blocks, other))
    assert re.search(rf"ROOT [\d.]+: {STANDS}; ", said)
    assert re.search(rf"ROOT [\d.]+: {IN_PART}; [\d.]+ MB, and 0.0 MB more", changed)


def test_a_table_that_lost_a_row_is_named() -> None:
    blocks = blocks_of(page("containers"))
    lost = [line for line in blocks["aod-reading-basketry"] if "not split, flush 10" not in line]
    with pytest.raises(LookupError, match="aod-reading-basketry has no row 'not split, flush 10'"):
        conclusions("containers", blocks | {"aod-reading-basketry": lost})


def test_what_was_not_measured_is_not_judged() -> None:
    blocks = blocks_of(page("baskets"))
    failed = [re.sub(r"(\| 50 MB, one basket per cluster \|) [^|]*", r"\1 - ", line) for line in blocks["clusters"]]
    (line,) = (
        line for line in conclusions("baskets", blocks | {"clusters": failed}) if "One basket per cluster takes" in line
    )
    assert "basketry: - MB" in line
    without = {key: ["ROOT was not measured."] if key.endswith("-root") else lines for key, lines in blocks.items()}
    assert not any("ROOT 6.40.00" in line for line in conclusions("baskets", without) if "zlib:9 takes" in line)


@pytest.mark.parametrize("name", [*CLAIMS, *OWN])
def test_sentences_tell_no_figures_of_their_own(name: str) -> None:
    text, known = BLOCK.sub("", page(name)), SETTINGS[name]
    missing = [fragment for fragment in known if fragment not in text]
    assert not missing, "the page no longer says so"
    assert [fragment for fragment, holds in known.items() if not holds()] == [], "the studies have other settings"
    for fragment in known:
        text = text.replace(fragment, "")
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    of_ours = "".join(section for section in sections if "ublished" not in section.splitlines()[0])
    assert FIGURE.findall(of_ours) == [], "a run could contradict this sentence: let studies/conclusions make it"


def test_a_figure_in_a_sentence_is_found() -> None:
    for sentence in (
        "takes 17 MB on top",
        "1.5 times as fast",
        "a gain of 12 %",
        "-4 %",
        "up to 2 GB",
        "it takes 3 s.",
    ):
        assert FIGURE.search(sentence)
    for sentence in ("with zlib:1", "ROOT 6.40 reads it", "eight threads", "since 2018"):
        assert not FIGURE.search(sentence)


def rows(text: str) -> list[list[str]]:
    """The cells of all rows of all tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_the_summary_of_reader_profiles_is_that_of_its_table() -> None:
    text = (PAGES.parent / "readers.md").read_text()
    trees = [row for row in rows(text) if len(row) == 8 and row[0].count(".root")]
    errors = [[abs(float(one)) for cell in row for one in re.findall(r"\(([-+]\d+) %\)", cell)] for row in trees]
    # rootreadspeed reads those whose branches are all leaves.
    flat = [error for row, of in zip(trees, errors, strict=True) if row[3] for error in of]
    split = [error for row, of in zip(trees, errors, strict=True) if not row[3] for error in of]
    words = f"wrong by {statistics.median(flat):.0f} % in the median and {max(flat):.0f} % at worst"
    assert words in text
    assert f"by {min(split):.0f} to {max(split):.0f} %" in text
    delivered = [row for row in trees if row[-1] == "delivered"]
    slower = [row[0] for row in delivered if float(row[5].split()[0]) > 1.03 * float(row[2].split()[0])]
    assert slower == [], "ROOT reads no delivered output more slowly"
    longer = [row[0] for row in delivered if row[3] and float(row[6]) > float(row[3])]
    assert len(longer) == 1, "rootreadspeed took longer for one output"


def number(cell: str) -> float:
    """The first number of a cell."""
    found = re.search(r"\d+(?:\.\d+)?", cell)
    assert found, cell
    return float(found[0])


def test_ratios_of_figures_are_those_of_their_rows() -> None:
    compared = 0
    for table in re.findall(r"(?:^\|.*\n)+", (PAGES.parent / "figures.md").read_text(), re.MULTILINE):
        head, _, *lines = rows(table)
        if "ratio" not in head:
            continue
        place = head.index("ratio")
        for row in (row for row in lines if row[place]):
            ours, floor = number(row[place - 2]), number(re.sub(r"^[^\d]*", "", row[place - 1]))
            # Each has two or three digits: the ratio may be that of any figures which round to these.
            digits = [10.0 ** -len(re.findall(r"\.(\d+)", cell)[0]) / 2 for cell in row[place - 2 : place]]
            least = (ours - digits[0]) / (floor + digits[1])
            most = (ours + digits[0]) / (floor - digits[1])
            assert least - 0.006 <= number(row[place]) <= most + 0.006, row
            compared += 1
    assert compared > 15


def test_the_readme_has_the_figures_of_their_page() -> None:
    figures = (PAGES.parent / "figures.md").read_text()
    text = (REPO / "README.md").read_text()
    (table,) = re.findall(r"^\| one thread.*\n(?:\|.*\n)+", text, re.MULTILINE)
    found = [re.findall(r"\d+(?:\.\d+)? ?(?:s\b|MB)|0\.\d+ ?GB/s", "".join(row[1:])) for row in rows(table)[2:]]
    assert all(found)
    for figure in itertools.chain.from_iterable(found):
        assert figure.removesuffix(" GB/s") in figures, f"figures.md does not say {figure}"


def test_tables_are_read_as_they_are_written() -> None:
    table = Tables({"t-root": ["ROOT:", "", "| a | b: x |", "| --- | --: |", "| one, two | 3.5 (+1.0) |"]}).of("t-root")
    assert (table.who, table.at("one", "x"), table.programs()) == ("ROOT", 3.5, ["b"])


def test_every_study_is_in_the_table_of_pages() -> None:
    listed = set(re.findall(r"^\| \[(\w+)\]", Path(PAGES / "README.md").read_text(), re.MULTILINE))
    assert listed >= {*CLAIMS, *OWN}
