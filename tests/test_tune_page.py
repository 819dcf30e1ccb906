"""`tune --page`: the page in a real browser, at two widths, light and dark; its figures are those of the report."""

from pathlib import Path

import numpy as np
import pytest

import basketry as bk
from referee.browser import Browser
from referee.command import Basketry
from referee.page_faults import CLASHES, CUT, FAINT
from referee.paths import BUILD

#: The texts of the cells of a table, by its title.
TABLE = """(title => {
    const table = [...document.querySelectorAll("table")].find(
        table => (table.caption ?? table.closest("section, details").querySelector("h2, h3, summary"))
            .textContent.includes(title));
    const text = cell => cell.textContent.replaceAll("\\u00a0", " ");
    return [...table.tBodies[0].rows].map(row => [...row.cells].map(text));
})"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that can be packed better, in a folder whose name holds HTML."""
    folder = tmp_path_factory.mktemp("tune") / "<b>&amp;"
    folder.mkdir()
    with bk.recreate(folder / "in.root", compression="zlib:1", basket="2kB", cluster=2000) as file:
        chance = np.random.default_rng(3)
        columns = {f"x{n}": chance.normal(size=40_000).astype("f4") for n in range(8)}
        file["Events"] = {**columns, "run": np.arange(40_000) // 1000, "<i>flag": np.arange(40_000) % 7}
    return folder / "in.root"


def test_the_page_has_the_choices_before_and_after(
    source: Path, basketry: Basketry, opened: Browser, tmp_path: Path
) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out.root"
    report = basketry.json("tune", source, "--page", page, "-o", out)
    assert report["delivered"], report["verdict"]
    for width, scheme in opened.views(page):
        opened.until(f"({CLASHES}).length == 0")
        assert opened.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), width
        assert opened.ask(FAINT) == []
        if width == 1280:
            assert opened.ask(CUT) == []
        opened.picture(BUILD / f"tune-{width}-{scheme}.png")
    charts = opened.ask(
        "[...document.querySelectorAll('.chart')].map(c => [c.id, c.querySelectorAll('svg path').length])"
    )
    assert {chart.removeprefix("chart-") for chart, _ in charts} == {"front", "reading"}
    assert all(paths > 4 for _, paths in charts), charts
    choices = opened.ask(f"{TABLE}('Choices')")
    assert [row[0] for row in choices] == [str(choice["number"]) for choice in report["choices"]]
    assert [row[-1] for row in choices] == ["chosen" if choice["chosen"] else "" for choice in report["choices"]]
    (size,) = (row for row in opened.ask(f"{TABLE}('Before and after')") if row[0] == "size")
    shown = [float(text.split()[0]) * {"kB": 1e3, "MB": 1e6}[text.split()[1]] for text in size[1:]]
    expected = [report["today"]["size"], report["chosen"]["size"], out.stat().st_size]
    assert shown == pytest.approx(expected, rel=0.01)
    assert opened.ask("document.querySelectorAll('main b, main i').length") == 0


def test_pages_are_refused_before_anything_is_measured(source: Path, basketry: Basketry, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert "is there already" in basketry.refuses("tune", source, "--page", page)
    assert "name the same file" in basketry.refuses("tune", source, "--force", "--page", page, "--layout-out", page)
    assert page.read_text() == "mine"
