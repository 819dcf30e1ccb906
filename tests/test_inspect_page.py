"""`inspect -o`: the page in a real browser, at two widths, light and dark, with names that hold HTML."""

import json
import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import basketry as bk
from referee.browser import Browser
from referee.command import Basketry
from referee.page_faults import CLASHES, CUT, FAINT
from referee.paths import BUILD

#: Names that would be tags, and end scripts, if they were not escaped.
TAGGED = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "Muon_<b>&amp;", "{b}|{a}", "Muon_]]>"]
#: Parts of the page that reach out of it, and commands and buttons that are cut or lie on each other.
OUTSIDE = """(() => {
    const found = [];
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) found.push(`the page is ${page.scrollWidth} wide`);
    const parts = "h1, dd, .said li, .command, .command pre, .copy, .chart, figcaption, summary";
    for (const part of document.querySelectorAll(parts)) {
        const box = part.getBoundingClientRect();
        // What has a wide legend scrolls.
        if (part.closest(".wide")) continue;
        const is = `${part.className || part.tagName}: ${box.left} to ${box.right}`;
        if (box.left < 0 || box.right > page.clientWidth + 1) found.push(is);
        const fits = part.scrollWidth <= part.clientWidth + 1;
        if (part.matches(".command pre") && !fits) found.push(`${part.innerText} is cut`);
    }
    for (const command of document.querySelectorAll(".command")) {
        const [text, button] = [...command.children].map((part) => part.getBoundingClientRect());
        if (text.right > button.left) found.push(`${command.innerText} lies on its button`);
    }
    return found;
})()"""


#: Tags that names would be.
TAGS = "document.querySelectorAll('img:not([src^=\"data:image/svg+xml\"]), main b, main i').length"


@pytest.fixture(scope="module")
def files(basketry: Basketry, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of all kinds: of one tree with groups of columns, with names that hold HTML, of RNTuples, of Parquet."""
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.root" for name in ("nano", "tagged", "ntuple", "empty")}
    basketry(
        "generate",
        "nano",
        "--size",
        "600kB",
        "--branches",
        "80",
        "--compression",
        "zlib:1",
        "--cluster",
        "60kB",
        "-o",
        paths["nano"],
    )
    with bk.recreate(paths["tagged"], compression="none", basket="1kB", cluster=700) as file:
        columns = {name: np.arange(4000) for name in TAGGED}
        file["<b>Events"] = {**columns, "long" * 40: np.arange(4000.0), "lists": ak.Array([[1.0], [2.0, 3.0]] * 2000)}
        file["More"] = {"y": np.arange(2000) / 7}
        file["<i>h"] = np.histogram(np.arange(10), bins=5)
    basketry("rewrite", paths["nano"], "-o", paths["ntuple"], "--container", "rntuple", "--cluster", "60kB")
    with bk.recreate(paths["empty"]) as file:
        file["t"] = {"x": np.zeros(0)}
    paths["parquet"] = folder / "nano.parquet"
    basketry("convert", paths["nano"], "-o", paths["parquet"])
    return paths


@pytest.mark.parametrize("name", ["nano", "tagged", "ntuple", "empty", "parquet"])
def test_nothing_overlaps_or_is_cut(name: str, files: dict[str, Path], basketry: Basketry, opened: Browser) -> None:
    page = files[name].with_suffix(f".{name}.html")
    text = basketry("inspect", files[name], "-o", page, "--writer")
    assert text
    for width, scheme in opened.views(page):
        assert opened.ask(OUTSIDE) == [], width
        opened.until(f"({CLASHES}).length == 0")
        if opened.ask("document.querySelectorAll('section').length"):
            assert opened.ask(FAINT) == []
        if width == 1280:
            assert opened.ask(CUT) == []
        opened.picture(BUILD / f"inspect-{name}-{width}-{scheme}.png")
    charts = opened.ask(
        "[...document.querySelectorAll('.chart')].map(c => [c.id, c.querySelectorAll('svg path').length])"
    )
    drawn = {"empty": set(), "parquet": {"columns", "sizes"}}.get(name, {"columns", "along", "sizes", "clusters"})
    assert {chart.removeprefix("chart-") for chart, _ in charts} == drawn
    assert all(paths > 4 for _, paths in charts), charts


def test_tiles_are_all_bytes_of_the_columns(files: dict[str, Path], basketry: Basketry, opened: Browser) -> None:
    page = files["nano"].with_suffix(".tiles.html")
    report = json.loads(basketry("inspect", files["nano"], "-o", page, "--json"))
    assert all("baskets" not in branch for branch in report["trees"][0]["branches"])
    opened.open(page)
    data = opened.ask(
        "JSON.parse(document.getElementById('data').textContent).find(c => c.name == 'columns').option.series[0].data"
    )
    tiles = [tile for group in data for tile in group.get("children", [group])]
    assert any("children" in group and group["name"].startswith("Muon\n") for group in data)
    largest = max(tiles, key=lambda tile: float(tile["value"][0]))["name"]
    (unit,) = (factor for name, factor in {"kB": 1e3, "MB": 1e6}.items() if f" {name}\nin memory" in largest)
    sizes = {tile["name"].split("\n")[0]: tile["value"][0] * unit for tile in tiles}
    expected = {branch["name"]: branch["zip_bytes"] for branch in report["trees"][0]["branches"] if branch["zip_bytes"]}
    assert {name: round(size) for name, size in sizes.items()} == expected
    shown = opened.ask("[...document.querySelectorAll('#chart-columns svg text')].map(t => t.textContent)")
    assert "Muon" in shown


def test_histograms_are_drawn(basketry: Basketry, tmp_path: Path, opened: Browser) -> None:
    path = tmp_path / "histograms.root"
    draw = np.random.default_rng(5)
    with bk.recreate(path) as file:
        file["t"] = {"x": np.arange(10)}
        file["flat"] = np.histogram(draw.normal(size=1000), bins=30)
        file["folder/plane"] = np.histogram2d(draw.normal(size=1000), draw.normal(size=1000), bins=20)
        file["folder/<b>tag"] = np.histogram(draw.normal(size=10), bins=3)
    page = path.with_suffix(".html")
    basketry("inspect", path, "-o", page)
    for width, scheme in opened.views(page):
        opened.ask("[...document.images].forEach(image => image.loading = 'eager')")
        opened.until("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
        assert opened.ask("[...document.images].map(image => image.alt)") == [
            "flat;1",
            "folder/plane;1",
            "folder/<b>tag;1",
        ]
        assert opened.ask(OUTSIDE) == [], width
        opened.ask("document.getElementById('pictures').scrollIntoView()")
        opened.picture(BUILD / f"inspect-histograms-{width}-{scheme}.png")
    assert opened.ask(TAGS) == 0
    assert opened.said == []


def test_each_cycle_of_a_histogram_has_its_picture(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "cycles.root"
    with bk.recreate(path) as file:
        file["h"] = np.histogram(np.arange(10), bins=3)
        file["other"] = np.histogram(np.arange(999), bins=7)
    basketry("cp", "--add-cycle", f"{path}:other", f"{path}:h")
    page = path.with_suffix(".html")
    basketry("inspect", path, "-o", page)
    text = page.read_text()
    filled = {
        name: [count for count in ("10%20filled", "999%20filled") if count in picture]
        for picture, name in re.findall(r'<img src="([^"]*)" alt="([^"]*)"', text)
    }
    assert filled == {"h;1": ["10%20filled"], "h;2": ["999%20filled"], "other;1": ["999%20filled"]}


def test_names_are_no_tags(files: dict[str, Path], basketry: Basketry, opened: Browser) -> None:
    page = files["tagged"].with_suffix(".tags.html")
    basketry("inspect", files["tagged"], "-o", page)
    opened.open(page)
    opened.said.clear()
    assert opened.ask(TAGS) == 0
    assert opened.ask("document.querySelectorAll('script').length") == 3
    text = opened.ask("document.body.textContent")
    assert all(name in text for name in (*TAGGED, "<b>Events", "<i>h"))
    # Tooltips are HTML.
    for chart in ("columns", "along", "sizes"):
        x, y = opened.place(f"document.querySelector('#chart-{chart} svg')")
        opened.hover(x, y)
        opened.hover(x + 20, y + 20)
    assert opened.ask(TAGS) == 0
    assert opened.said == []


def test_commands_can_be_copied(files: dict[str, Path], basketry: Basketry, opened: Browser) -> None:
    page = files["tagged"].with_suffix(".copy.html")
    basketry("inspect", files["tagged"], "-o", page, "--writer")
    findings = basketry.json("inspect", files["tagged"])["findings"]
    commands = [finding["command"] for finding in findings if finding["command"]]
    assert commands
    opened.open(page)
    assert opened.ask("[...document.querySelectorAll('.command pre')].map(c => c.textContent)") == commands
    opened.click(*opened.place("document.querySelector('.copy')"))
    opened.until("['copied', 'selected'].includes(document.querySelector('.copy').textContent)")
    assert opened.ask("getSelection().toString().trim()") == commands[0]


def test_a_page_is_not_replaced(files: dict[str, Path], basketry: Basketry, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    bk.inspect(files["nano"], output=page)
    assert "--force" in basketry.refuses("inspect", files["nano"], "-o", page)
    bk.inspect(files["nano"], output=page, force=True)
    assert "input" in basketry.refuses("inspect", files["nano"], "-o", files["nano"], "-f")
    assert page.stat().st_size < 2_500_000
