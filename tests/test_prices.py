"""Prices of a file's life, and the choices that `tune` offers by them. The referee of money is arithmetic in Python; of
a choice, the file that `rewrite` makes with its layout."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import basketry as bk
from referee import expected_sizes
from referee.command import Basketry
from referee.paths import REPO

#: The defaults as the sources document them.
DEFAULTS = tomllib.loads((REPO / "crates/lab/src/price/default.toml").read_text())


def total(choice: dict[str, Any], book: dict[str, Any]) -> float:
    """The price of a choice's bytes and seconds."""
    life, hours = book["life"], book["cpu"]["hs23-here"] / book["cpu"]["hs23-per-core"] / 3600
    stored = choice["size"] / 1e12 * life["years"]
    return float(
        stored * (life["disk-copies"] * book["disk"]["tb-year"] + life["tape-copies"] * book["tape"]["tb-year"])
        + (life["readings"] * choice["read"] + life["writings"] * choice["write"]) * hours * book["cpu"]["core-hour"]
        + life["readings"] * book["network"]["remote"] * choice["read_bytes"] / 1e12 * book["network"]["tb"]
    )


def named(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The choices by their names."""
    return {name: choice for choice in report["choices"] for name in choice["names"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prices")


@pytest.fixture(scope="module")
def plain(basketry: Basketry, folder: Path) -> Path:
    """A small tree in a middling layout."""
    basketry("generate", "nano", "--size", "2MB", "--compression", "zlib:1", "--basket", "2kB", "-o", folder / "n.root")
    return folder / "n.root"


@pytest.fixture(scope="module")
def report(basketry: Basketry, plain: Path, folder: Path) -> dict[str, Any]:
    """The report for both containers, which is kept in report.json."""
    text = basketry("tune", plain, "--container", "any", "--json")
    (folder / "report.json").write_text(text)
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_choices_are_what_their_names_say(report: dict[str, Any], plain: Path) -> None:
    choices, by_name = report["choices"], named(report)
    assert by_name.keys() == {"smallest", "balanced", "fastest", "today", "best-tree", "best-rntuple"}
    assert [choice["number"] for choice in choices] == list(range(1, len(choices) + 1))
    assert [choice["size"] for choice in choices] == sorted(choice["size"] for choice in choices)
    assert by_name["smallest"]["size"] == min(choice["size"] for choice in choices)
    # Choices that differ by less are as fast, and then the smaller one and the clusters of today are taken.
    assert by_name["fastest"]["read"] <= 1.01 * min(choice["read"] for choice in choices)
    assert by_name["today"]["size"] == pytest.approx(plain.stat().st_size, rel=1e-3)
    assert (by_name["best-tree"]["container"], by_name["best-rntuple"]["container"]) == ("ttree", "rntuple")
    # The default is the balanced one: no other that reads as fast costs less, in either container.
    assert [choice["names"] for choice in choices if choice["chosen"]] == [by_name["balanced"]["names"]]
    assert report["chosen"]["size"] == by_name["balanced"]["size"]
    as_fast = [choice for choice in choices if choice["read"] <= report["today"]["read"]]
    assert by_name["balanced"]["bill"]["total"] <= 1.01 * min(choice["bill"]["total"] for choice in as_fast)
    # What the proof would not write is named, with what it would cost.
    other = "best-tree" if by_name["balanced"]["container"] == "rntuple" else "best-rntuple"
    assert any(f"--choose {other}" in left for left in report["not_tried"]), report["not_tried"]


def test_no_choice_is_better_than_the_one_that_has_the_name(basketry: Basketry, tmp_path: Path) -> None:
    """Where clusters could stay, or other clusters are hardly better, and where trees of one file differ in size."""
    chance = np.random.default_rng(1)
    trees: dict[str, dict[str, np.ndarray]] = {
        "big": {f"v{i}": chance.normal(size=100_000).astype(np.float32) for i in range(10)},
        "small": {"a": np.arange(5000), "b": chance.integers(0, 9, 5000)},
        "tiny": {"run": np.array([1, 2, 3])},
    }
    with uproot.recreate(tmp_path / "t.root") as file:
        for name, columns in trees.items():
            made = file.mktree(name, {column: values.dtype for column, values in columns.items()})
            for part in range(20):
                parts = {column: np.array_split(values, 20)[part] for column, values in columns.items()}
                if len(next(iter(parts.values()))):
                    made.extend(parts)
    report = basketry.json("tune", tmp_path / "t.root")
    choices, by_name, today = report["choices"], named(report), report["today"]
    within = [choice for choice in choices if choice["size"] <= today["size"]]
    assert by_name["smallest"]["size"] == min(choice["size"] for choice in choices)
    assert by_name["fastest"]["read"] == min(choice["read"] for choice in within)
    # Expectations of reading have an allowance, and a price that differs by half a per cent is the same.
    as_fast = [choice for choice in within if choice["read"] <= today["read"]]
    assert by_name["balanced"]["bill"]["total"] <= 1.006 * min(choice["bill"]["total"] for choice in as_fast)
    assert [choice["names"] for choice in choices if choice["chosen"]] == [by_name["balanced"]["names"]]


def test_a_bill_is_bytes_and_seconds_by_the_documented_prices(report: dict[str, Any]) -> None:
    assert tomllib.loads(report["prices"]) == DEFAULTS
    for choice in report["choices"]:
        bill = choice["bill"]
        assert bill["total"] == pytest.approx(total(choice, DEFAULTS), rel=1e-9)
        parts = ("disk", "tape", "reading", "network", "writing", "energy")
        assert bill["total"] == pytest.approx(sum(bill[part] for part in parts), rel=1e-9)
        # Everything is read, so a reading fetches nearly all of the file.
        assert 0.5 * choice["size"] < choice["read_bytes"] < choice["size"]


def test_a_choice_is_the_file_that_its_layout_makes(
    report: dict[str, Any], plain: Path, basketry: Basketry, tmp_path: Path
) -> None:
    for choice in (choice for choice in report["choices"] if choice["layout"]):
        out = tmp_path / f"{choice['number']}.root"
        (tmp_path / "layout.toml").write_text(choice["layout"])
        basketry("rewrite", plain, "-o", out, "--layout", tmp_path / "layout.toml", "-f")
        made = pytest.approx(out.stat().st_size, rel=expected_sizes.WORST)
        assert choice["size"] == made, (choice["number"], choice["names"])
        assert basketry.json("inspect", out)["ntuples" if choice["container"] == "rntuple" else "trees"]


@pytest.mark.parametrize("asked", ["smallest", "best tree", "2"])
def test_a_choice_of_a_saved_report_is_written_without_measuring(
    asked: str, report: dict[str, Any], plain: Path, folder: Path, basketry: Basketry, tmp_path: Path
) -> None:
    out, layout = tmp_path / "out.root", tmp_path / "layout.toml"
    again = ("tune", "--again", folder / "report.json", "--choose", asked)
    found = basketry.json(*again, "-o", out, "--layout-out", layout)
    place = int(asked) - 1 if asked.isdigit() else report["choices"].index(named(report)[asked.replace(" ", "-")])
    expected = report["choices"][place]
    assert [choice["chosen"] for choice in found["choices"]].index(True) == place
    assert (found["layout"], layout.read_text()) == (expected["layout"], expected["layout"])
    assert found["measuring"]["cpu_seconds"] == pytest.approx(report["measuring"]["cpu_seconds"], rel=1e-9)
    assert found["delivered"]
    assert found["proof"]["size"]["measured"] == out.stat().st_size
    basketry("verify", plain, out)


def test_other_prices_choose_otherwise_from_the_same_measurements(
    report: dict[str, Any], folder: Path, basketry: Basketry, tmp_path: Path
) -> None:
    (tmp_path / "archive.toml").write_text("[life]\nreadings = 0\n")
    (tmp_path / "hot.toml").write_text("currency = 'CHF'\n[life]\nreadings = 1e9\n[network]\nremote = 0\n")
    smallest, fastest = named(report)["smallest"], named(report)["fastest"]
    relaxed = ("--max-read-time", "1000x", "--max-read-memory", "1000x")
    for name, figure, wanted in (("archive", "size", smallest), ("hot", "read", fastest)):
        found = basketry.json("tune", "--again", folder / "report.json", "--price", tmp_path / f"{name}.toml", *relaxed)
        chosen = next(choice for choice in found["choices"] if choice["chosen"])
        assert "balanced" in chosen["names"]
        assert chosen[figure] == pytest.approx(wanted[figure], rel=0.01), name
        book = tomllib.loads(found["prices"])
        assert all(choice["bill"]["total"] == pytest.approx(total(choice, book)) for choice in found["choices"])
    assert {choice["bill"]["currency"] for choice in found["choices"]} == {"CHF"}


def test_limits_hold_for_choices_again(report: dict[str, Any], folder: Path, basketry: Basketry) -> None:
    again = ("tune", "--again", folder / "report.json")
    outcome = basketry.run(*again, "--max-size", "1kB")
    assert outcome.code == 1, str(outcome)
    assert "no candidate layout meets all limits" in outcome.out
    assert "not within --max-size" in basketry.refuses(*again, "--choose", "smallest", "--max-size", "1kB")
    found = basketry.json(*again, "--max-read-time", "1000x", "--goal", "size")
    assert found["chosen"]["size"] == named(found)["goal"]["size"] <= 1.05 * named(report)["smallest"]["size"]


@pytest.mark.usefixtures("report")
def test_what_cannot_be_chosen_is_said(plain: Path, folder: Path, basketry: Basketry, tmp_path: Path) -> None:
    assert "write its number, or smallest" in basketry.refuses("tune", plain, "--choose", "best")
    assert "there is no choice 99" in basketry.refuses("tune", "--again", folder / "report.json", "--choose", "99")
    (tmp_path / "no.json").write_text("{}")
    assert "is no report of tune --json" in basketry.refuses("tune", "--again", tmp_path / "no.json")
    (tmp_path / "no.toml").write_text("[disk]\ntb-yaer = 3\n")
    assert "tb-yaer" in basketry.refuses("tune", plain, "--price", tmp_path / "no.toml")
    # The input is no price book.
    assert "behind the inputs" in basketry.refuses("tune", "--price", plain, plain)


@pytest.mark.usefixtures("report")
def test_todays_layout_can_be_chosen(folder: Path, basketry: Basketry, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    outcome = basketry.run("tune", "--again", folder / "report.json", "--choose", "today", "-o", out, "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["verdict"] == "today's layout was asked for: nothing was written"
    assert json.loads(outcome.out)["unchanged"]
    assert not out.exists()


@pytest.mark.usefixtures("report")
def test_money_is_printed_where_it_is_asked_for(folder: Path, basketry: Basketry) -> None:
    without = basketry("tune", "--again", folder / "report.json")
    assert "balanced, best" in without
    assert "EUR for a TB" not in without
    with_money = basketry("tune", "--again", folder / "report.json", "--price")
    assert "EUR for a TB of today" in with_money
    assert "TB-years" in with_money
    assert "kWh" in with_money


def test_the_package_chooses_again_from_its_report(report: dict[str, Any], plain: Path, folder: Path) -> None:
    tuning = bk.tune(plain, again=folder / "report.json", choose="smallest")
    assert tuning.chosen is not None
    assert tuning.chosen.size == named(report)["smallest"]["size"]
    rare = bk.tune(
        plain, again=tuning, price={"life": {"readings": 0}, "network": {"remote": 0}}, max_read_time="1000x"
    )
    chosen = next(choice for choice in rare.choices if choice.chosen)
    assert "balanced" in chosen.names
    assert chosen.bill.reading == 0
    assert chosen.bill.cpu_hours > 0
    assert tomllib.loads(rare.prices)["life"]["readings"] == 0


def test_the_goal_is_a_choice_of_its_own(plain: Path, basketry: Basketry) -> None:
    found = basketry.json("tune", plain, "--goal", "reading")
    by_name = named(found)
    assert found["chosen"]["size"] == by_name["goal"]["size"]
    assert "balanced" in by_name
    assert by_name["balanced"]["size"] <= by_name["goal"]["size"] * 1.01


def test_the_page_shows_the_default_prices() -> None:
    page = (REPO / "docs/howto/cost.md").read_text()
    assert (REPO / "crates/lab/src/price/default.toml").read_text() in page


@pytest.mark.parametrize(("name", "limit", "figure"), [("size", "1kB", "size"), ("read-time", "1us", "read")])
def test_again_names_the_limit_that_leaves_no_choice_and_the_nearest_that_does(
    name: str, limit: str, figure: str, report: dict[str, Any], folder: Path, basketry: Basketry
) -> None:
    again = ("tune", "--again", folder / "report.json", f"--max-{name}")
    refused = basketry.run(*again, limit)
    assert refused.code == 1, str(refused)
    said = [line for line in refused.out.splitlines() if line.startswith("- --")]
    assert [line for line in said if "cannot be met" in line] == [line for line in said if f"--max-{name}" in line]
    limits = {limit["name"]: limit for limit in json.loads(basketry.run(*again, limit, "--json").out)["limits"]}
    nearest = limits.pop(f"--max-{name}")["nearest"]["value"]
    assert all(other["nearest"] is None for other in limits.values())
    within = [choice for choice in report["choices"] if choice["size"] <= report["today"]["size"]]
    if name == "size":
        within = [choice for choice in within if choice["read"] <= 1.03 * report["today"]["read"]]
    assert nearest == pytest.approx(min(choice[figure] for choice in within))
    least = re.search(rf"with the other limits, --max-{name} (.+) can", refused.out)
    assert least, refused.out
    assert basketry.run(*again, least[1].replace(" ", "")).code == 0


def test_again_shows_no_empty_table(folder: Path, report: dict[str, Any], basketry: Basketry) -> None:
    assert report["groups"]
    shown = basketry("tune", "--again", folder / "report.json")
    assert "codec today" not in shown
    assert "codec as converted" not in shown


def test_points_of_a_sweep_have_their_share_speed_and_price(plain: Path, basketry: Basketry, tmp_path: Path) -> None:
    """The speeds are of bytes before compression."""
    folder = tmp_path / "study"
    grid = ("--grid", "compression=none,zstd:5", "--only", "copy,full", "--repeat", "1")
    basketry("sweep", plain, "-o", folder, *grid, "--quiet")
    (tmp_path / "book.toml").write_text("[life]\nreadings = 10\n")
    found = basketry.json("sweep", "show", folder, "--price", tmp_path / "book.toml")
    book = tomllib.loads(found["prices"])
    figures = [{name: figure["median"] for name, figure in line["figures"].items()} for line in found["lines"]]
    for own, bill in zip(figures, found["bills"], strict=True):
        usage = {"size": own["size"], "read_bytes": own["size"], "read": own["full_cpu"], "write": own["copy_cpu"]}
        assert bill["total"] == pytest.approx(total(usage, book))
    shown = basketry("sweep", "show", folder, "--price", tmp_path / "book.toml")
    # Copies of a small file are larger than the file, and the reason is told.
    assert "each copy ends with a tree of one record" in shown
    table = shown.split("against today's layout\n")[1]
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    with uproot.open(plain) as file:
        raw = file["Events"].uncompressed_bytes
    today = figures[found["reference"]]
    for row, own in zip(rows[: len(figures)], figures, strict=True):
        cells = dict(zip(head, row, strict=True))
        assert float(cells["% of size"].removesuffix(" %")) == pytest.approx(
            100 * own["size"] / today["size"], abs=0.06
        )
        # The contents of baskets; the count has their keys as well.
        assert float(cells["copy MB/s"]) == pytest.approx(raw / own["copy_cpu"] / 1e6, rel=0.1)
        assert float(cells["read MB/s"]) == pytest.approx(raw / own["full_cpu"] / 1e6, rel=0.1)
        each = total({**own, "read_bytes": own["size"], "read": own["full_cpu"], "write": own["copy_cpu"]}, book)
        assert float(cells["EUR for a TB"]) == pytest.approx(each / today["size"] * 1e12, rel=0.01)
    basketry("sweep", "report", folder, "--price", tmp_path / "book.toml", "-o", tmp_path / "page.html")
    assert "EUR for a TB" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("only", "missing"), [("copy", "reading all"), ("full", "copying"), ("copy,full", None)])
def test_a_sweep_without_prices_says_what_is_missing(
    plain: Path, basketry: Basketry, tmp_path: Path, only: str, missing: str | None
) -> None:
    folder = tmp_path / "study"
    grid = ("--grid", "compression=zstd:1", "--entries", "50", "--only", only, "--repeat", "1")
    basketry("sweep", plain, "-o", folder, *grid, "--quiet")
    found = basketry.json("sweep", "show", folder, "--price")
    text = basketry("sweep", "show", folder, "--price")
    basketry("sweep", "report", folder, "--price", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    if missing is None:
        assert None not in found["bills"]
        assert "unpriced" not in found
        assert "without a price" not in text + page
    else:
        assert set(found["bills"]) == {None}
        assert f" and {missing} was not measured" in found["unpriced"]
        assert f"Note: {found['unpriced']}" in text
        assert found["unpriced"] in page
    assert "unpriced" not in basketry.json("sweep", "show", folder)
