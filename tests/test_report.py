"""sweep report: the page in a real browser, and the same charts by matplotlib."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import matplotlib
import numpy as np
import pytest
from matplotlib.patches import Rectangle

import basketry as bk
from referee import browser
from referee.browser import Browser
from referee.command import Argument, Basketry
from referee.page_faults import CLASHES, CUT, FAINT
from referee.paths import BUILD

GRID = ("--grid", "compression=as-is,lz4:4", "--streams", "1,2", "-j", "1,2")


@pytest.fixture(scope="module")
def swept(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small sweep."""
    folder = tmp_path_factory.mktemp("report")
    basketry("generate", "aod", "--size", "2MB", "--compression", "zlib:1", "-o", folder / "in.root")
    basketry("sweep", folder / "in.root", "-o", folder / "sweep", *GRID, "--repeat", "2", "-q")
    return folder / "sweep"


@pytest.fixture(scope="module")
def further_results(basketry: Basketry, swept: Path) -> list[Path]:
    """Further results: writing, writing nothing, and a job over time."""
    job: tuple[Argument, ...] = ("write-bench", "multi", "--size", "4MB", "--compression", "none", "--repeat", "1")
    job = (*job, "-j", "1,2", "--media", swept.parent)
    files = [swept.parent / name for name in ("written.json", "limit.json", "two.json", "perf.jsonl")]
    files[0].write_text(basketry(*job, "--json"))
    files[1].write_text(basketry(*job, "--no-write", "--json"))
    files[2].write_text(basketry(*job, "--outputs", "2", "--json"))
    command = ("generate", "multi", "--size", "40MB", "-o", swept.parent / "out.root", "-q")
    basketry("monitor", "-o", files[3], "--every", "0.02", "--", basketry.binary, *command)
    return files


@pytest.fixture(scope="module")
def page(basketry: Basketry, swept: Path, further_results: list[Path]) -> Path:
    """The page."""
    path = swept.parent / "report.html"
    words = [word for file in further_results for word in ("--with", file)]
    assert basketry("sweep", "report", swept, "-o", path, *words).strip() == str(path)
    return path


@pytest.fixture(scope="module")
def opened_page(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The page in a browser; skipped where none is installed."""
    if browser.found() is None:
        pytest.skip("no chromium (apt-get install chromium)")
    opened_page = Browser(tmp_path_factory.mktemp("profile"))
    opened_page.open(page)
    yield opened_page
    opened_page.close()


def rows(opened_page: Browser, column: int) -> list[str]:
    """A column of the first table, as displayed."""
    table = "[...document.querySelector('table').tBodies[0].rows]"
    return list(opened_page.ask(f"{table}.map(r => r.cells[{column}].textContent)"))


def test_the_page_has_no_errors_and_fetches_nothing(opened_page: Browser, page: Path) -> None:
    drawn = opened_page.ask("[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg path').length)")
    assert len(drawn) == 13
    assert all(count > 4 for count in drawn), drawn
    assert opened_page.ask("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened_page.said == []
    assert [url for url in opened_page.asked if not url.startswith("data:")] == [page.as_uri()]
    assert page.stat().st_size < 1_500_000
    opened_page.picture(BUILD / "report.png")


@pytest.fixture(scope="module")
def crowded(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The page of a sweep with many points, settings with long names, and a point with a very long name."""
    if browser.found() is None:
        pytest.skip("no chromium (apt-get install chromium)")
    folder = tmp_path_factory.mktemp("crowded")
    basketry(
        "generate", "nano", "--size", "300kB", "--branches", "60", "--compression", "zlib:1", "-o", folder / "in.root"
    )
    grid = folder / "grid.toml"
    grid.write_text(
        """
        [grid]
        compression = ["as-is", "lz4:4", "zstd:5"]
        "column:Muon_*:basket" = ["8kB", "64kB"]
        "column:Jet_*:compression" = ["as-is", "lzma:7"]
        [[point]]
        name = "the layout that our experiment has used since the beginning of Run 3, with large clusters"
        cluster = "30MB"
        """
    )
    only = ("--only", "copy,full,sparse", "--repeat", "1", "-q")
    basketry(
        "sweep", folder / "in.root", "-o", folder / "sweep", "--grid", grid, "--streams", "1,2", "-j", "1,2", *only
    )
    opened_page = Browser(tmp_path_factory.mktemp("profile"))
    opened_page.open(Path(basketry("sweep", "report", folder / "sweep").strip()))
    yield opened_page
    opened_page.close()


# Series of a chart that its legend does not show.
UNNAMED = """[...document.querySelectorAll(".chart")].flatMap((place) => {
    const option = echarts.getInstanceByDom(place).getOption();
    if (!option.legend || !option.legend.length) return [];
    const seen = new Set([...place.querySelectorAll("svg text")].map((text) => text.textContent));
    const names = new Set(option.series.map((series) => series.name));
    return [...names].filter((name) => !seen.has(name)).map((name) => `${place.id}: ${name}`);
})"""


@pytest.mark.parametrize("which", ["opened_page", "crowded"])
def test_labels_do_not_overlap_and_nothing_is_cut(which: str, request: pytest.FixtureRequest) -> None:
    drawn: Browser = request.getfixturevalue(which)
    assert drawn.ask(CLASHES) == []
    assert drawn.ask(UNNAMED) == []
    assert drawn.ask(CUT) == []
    drawn.picture(BUILD / f"report-{which}.png")


def test_the_page_is_light_or_dark(opened_page: Browser) -> None:
    """As the reader's system, and the other way after a click."""
    ground = "getComputedStyle(document.querySelector('section')).backgroundColor"
    themes = ("dark", "light")
    seen = set()
    for scheme in themes:
        opened_page.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for theme in sorted(themes, key=lambda theme: theme != scheme):
            opened_page.until(f"document.documentElement.dataset.theme === '{theme}'")
            seen.add((theme, opened_page.ask(ground)))
            assert opened_page.ask(FAINT) == []
            assert opened_page.ask(CLASHES) == []
            opened_page.picture(BUILD / f"report-{theme}.png")
            opened_page.click(*opened_page.place("document.getElementById('theme')"))
        opened_page.until(f"document.documentElement.dataset.theme === '{scheme}'")
    assert len(seen) == 2
    assert opened_page.said == []


@pytest.mark.parametrize("width", [700, 1000])
def test_labels_stay_inside_a_narrow_page(crowded: Browser, width: int) -> None:
    crowded.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    try:
        crowded.until(f"window.innerWidth == {width}")
        # The charts follow the page at the next frame.
        fits = "(p) => Math.abs(echarts.getInstanceByDom(p).getWidth() - p.clientWidth) <= 1"
        crowded.until(f"[...document.querySelectorAll('.chart')].every({fits})")
        # Labels follow their charts at a later one.
        crowded.until(f"!({CLASHES}).some(clash => clash.includes('reaches out'))")
    finally:
        crowded.tell("Emulation.clearDeviceMetricsOverride")


def test_readings_are_drawn_once_with_their_numbers(crowded: Browser) -> None:
    names = crowded.ask(
        "echarts.getInstanceByDom(document.getElementById('chart-speedup')).getOption().series.map(s => s.name)"
    )
    assert len(names) == len(set(names))
    # Points that are read: 12 layouts in 1 and 2 streams with 1 and 2 threads, the separate one, and today's layout.
    table = "[...document.querySelectorAll('details')].find(d => d.innerText.startsWith('time for an entry, all'))"
    numbers = [
        int(text) for text in crowded.ask(f"[...{table}.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)")
    ]

    assert numbers == [n for n in range(1, 51) if n >= 49 or n % 4 in (1, 2)]
    assert "--repeat 4" in crowded.ask("document.getElementById('stars').innerText")


def test_tables_sort_by_each_column(opened_page: Browser) -> None:
    heads = "[...document.querySelector('table').tHead.rows[0].cells]"
    size = opened_page.ask(f"{heads}.findIndex(h => h.innerText == 'read CPU')")
    numbers = f"[...document.querySelector('table').tBodies[0].rows].map(r => Number(r.cells[{size}].dataset.value))"
    before = opened_page.ask(numbers)
    for ascending in (True, False):
        opened_page.click(
            *opened_page.place(f"document.querySelector('table').tHead.rows[0].cells[{size}].firstElementChild")
        )
        assert opened_page.ask(numbers) == sorted(before, reverse=not ascending)
    assert opened_page.ask("document.querySelector('tfoot').innerText").strip().startswith("noise of one run")
    for column, key in enumerate((int, str)):
        opened_page.click(*opened_page.place(f"{heads}[{column}].firstElementChild"))
        assert rows(opened_page, column) == sorted(rows(opened_page, column), key=key)
        assert opened_page.ask(f"{heads}.map(h => h.ariaSort).indexOf('ascending')") == column


def test_a_point_shows_its_settings(opened_page: Browser, basketry: Basketry, swept: Path) -> None:
    opened_page.place("document.getElementById('chart-size')")
    find = """(() => {
        const place = document.getElementById("chart-size");
        const chart = echarts.getInstanceByDom(place);
        const series = chart.getOption().series.findIndex(s => s.name == "chosen");
        const spot = chart.getOption().series[series].data[0];
        const [x, y] = chart.convertToPixel({ seriesIndex: series }, spot.value);
        const box = place.getBoundingClientRect();
        return [box.x + x, box.y + y];
    })()"""
    opened_page.hover(*opened_page.ask(find))
    tooltip = ""
    deadline = time.monotonic() + 20
    while not tooltip and time.monotonic() < deadline:
        tooltip = opened_page.ask(
            "document.querySelector('#chart-size > div:last-child:not(:first-child)')?.innerText ?? ''"
        )
    chosen = basketry.json("sweep", "report", swept)["chosen"]
    lines = tooltip.splitlines()

    assert lines[0] == chosen
    assert any(line.startswith("read CPU: ") for line in lines)


def test_the_layout_can_be_downloaded(opened_page: Browser, swept: Path, tmp_path: Path) -> None:
    opened_page.tell("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    opened_page.click(*opened_page.place("document.getElementById('layout')"))
    deadline = time.monotonic() + 20
    while not (tmp_path / "layout.toml").exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    assert (tmp_path / "layout.toml").read_text() == (swept / "layout.toml").read_text()
    assert opened_page.said == []


def test_an_existing_page_is_kept(basketry: Basketry, swept: Path, tmp_path: Path) -> None:
    page = Path(basketry("sweep", "report", swept).strip())
    assert page == swept / "report.html"
    assert "--force" in basketry.refuses("sweep", "report", swept)
    basketry("sweep", "report", swept, "--force")
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    assert "write-bench --json" in basketry.refuses("sweep", "report", swept, "--with", wrong, "--force")
    assert "nowhere" in basketry.refuses("sweep", "report", tmp_path / "nowhere", "-o", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    opened_page: dict[str, Any] = basketry.json("sweep", "report", swept)

    assert {chart["name"] for chart in opened_page["charts"]} >= {
        "memory",
        "size",
        "speedup",
        "streams-memory",
        "columns",
    }
    assert json.loads(json.dumps(opened_page)) == opened_page


def test_matplotlib_draws_the_same(basketry: Basketry, swept: Path, further_results: list[Path]) -> None:
    matplotlib.use("Agg")
    figures = bk.sweep_figures(swept, besides=further_results)
    words = [word for file in further_results for word in ("--with", file)]
    charts = {chart["name"]: chart for chart in basketry.json("sweep", "report", swept, *words)["charts"]}
    assert list(figures) == list(charts)
    for name, figure in figures.items():
        axes, chart = figure.axes[0], charts[name]
        assert axes.get_title() == chart["title"]
        if chart["kind"] == "plane":
            drawn = [np.asarray(line.get_xydata()).tolist() for line in axes.lines]
            assert drawn == [[[spot["x"], spot["y"]] for spot in series["points"]] for series in chart["series"]]
        elif chart["kind"] == "bars":
            widths = [cast(Rectangle, patch).get_width() for patch in axes.patches]
            assert widths == pytest.approx([value for part in chart["parts"] for value in part["values"]])
        else:
            boxes = [cast(Rectangle, patch) for patch in axes.patches]
            areas = sorted(box.get_width() * box.get_height() for box in boxes)
            sizes = sorted(tile["size"] for tile in chart["tiles"])
            assert [area / sum(areas) for area in areas] == pytest.approx([size / sum(sizes) for size in sizes])
        figure.savefig(BUILD / f"{name}.png")

    assert len(figures) == 13
