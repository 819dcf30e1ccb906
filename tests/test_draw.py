"""`draw`: bins are those of NumPy, histograms of files those of uproot, and pictures are looked at in a browser."""

import json
import math
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from PIL import Image

import basketry as bk
from referee.browser import Browser
from referee.command import Basketry
from referee.paths import BUILD

ENTRIES = 5000
#: Columns and titles that would be tags, if they were not escaped.
TAGGED = "<b>&amp;<script>alert(1)</script>"


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    """The columns of the file."""
    draw = np.random.default_rng(35)
    counts = draw.integers(0, 4, ENTRIES)
    lists = {name: ak.unflatten(draw.exponential(30, counts.sum()), counts) for name in ("pt", "q")}
    x = draw.normal(0, 1, ENTRIES)
    x[::97] = np.nan
    x[::501] = np.inf
    return {
        "x": x,
        "y": draw.normal(3, 2, ENTRIES).astype("f4"),
        "w": draw.uniform(-0.2, 2, ENTRIES),
        "n": counts.astype("i4"),
        "run": 273_158 + draw.integers(0, 11_000, ENTRIES),
        "ok": counts > 1,
        **lists,
    }


@pytest.fixture(scope="module")
def file(values: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("draw") / "events.root"
    with bk.recreate(path, compression="zstd:1", cluster=700) as file:
        file["Events"] = {**values, "word": [f"w{n}" for n in range(ENTRIES)]}
        file["h"] = np.histogram(np.arange(10), bins=5)
    return path


def curve(basketry: Basketry, *words: Any) -> dict[str, Any]:
    """The only histogram of a drawing."""
    (one,) = basketry.json("draw", *words)["curves"]
    found: dict[str, Any] = one
    return found


def inner(one: dict[str, Any], part: str = "contents") -> np.ndarray:
    """The bins of a histogram, without those for what is outside."""
    shape = [len(axis["edges"]) + 1 for axis in one["histogram"]["axes"]]
    cells = np.asarray(one["histogram"][part], "f8").reshape(shape[::-1]).T
    return cells[tuple(slice(1, -1) for _ in shape)]


@pytest.mark.parametrize("bins", [None, "7", "40,-2,2.5", "33,0,0.3"])
def test_bins_are_those_of_numpy(bins: str | None, file: Path, values: dict[str, Any], basketry: Basketry) -> None:
    x = values["x"]
    one = curve(basketry, f"{file}:Events", "x", *([] if bins is None else ["--bins", bins]))
    finite = x[np.isfinite(x)]
    count, *limits = (40,) if bins is None else map(float, bins.split(","))
    low, high = limits or [finite.min(), finite.max()]
    contents, edges = np.histogram(finite, int(count), (low, high))
    assert one["histogram"]["axes"][0]["edges"] == pytest.approx(edges, rel=1e-14)
    assert inner(one).tolist() == contents.tolist()
    assert one["no_number"] == np.isnan(x).sum()
    assert one["above"] == (x >= high).sum() - (bins is None or bins == "7")
    assert one["below"] == (finite < low).sum()
    assert one["filled"] == ENTRIES - one["no_number"]
    assert one["entries"] == ENTRIES
    assert inner(one, "errors") == pytest.approx(np.sqrt(contents))
    inside = finite[(finite >= low) & (finite <= high)]
    assert one["histogram"]["means"] == pytest.approx([inside.mean()])
    assert one["histogram"]["deviations"] == pytest.approx([inside.std()])


@pytest.mark.parametrize("seed", range(12))
def test_any_numbers_are_in_the_bins_of_numpy(seed: int, basketry: Basketry, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    values = draw.normal(0, 10.0 ** draw.integers(-6, 7), draw.integers(1, 300))
    # Round numbers lie on edges.
    values = np.round(values, int(draw.integers(0, 3))) if seed % 2 else values
    bins = int(draw.integers(1, 60))
    with bk.recreate(tmp_path / "any.root") as file:
        file["t"] = {"x": values}
    place = f"{tmp_path / 'any.root'}:t"
    one = curve(basketry, place, "x", "--bins", str(bins))
    assert inner(one).tolist() == np.histogram(values, bins)[0].tolist()
    edge = float(np.ceil(np.abs(values).max())) + 1.0
    given = curve(basketry, place, "x", "--bins", f"{bins},{-edge},{edge}")
    assert inner(given).tolist() == np.histogram(values, bins, (-edge, edge))[0].tolist()


def test_lists_weights_and_cuts(file: Path, values: dict[str, Any], basketry: Basketry) -> None:
    place, pt, counts = f"{file}:Events", values["pt"], values["n"]
    flat, weight = ak.to_numpy(ak.flatten(pt)), np.repeat(values["w"], counts)
    contents, edges = np.histogram(flat, 20, (0, 100), weights=weight)
    squares, _ = np.histogram(flat, 20, (0, 100), weights=weight**2)
    one = curve(basketry, place, "pt", "--bins", "20,0,100", "--weight", "w")
    assert inner(one) == pytest.approx(contents)
    assert inner(one, "errors") == pytest.approx(np.sqrt(squares))
    assert (one["filled"], one["entries"], one["weight"]) == (len(flat), ENTRIES, "w")
    # A condition of lists picks items, one of entries picks entries.
    picked = curve(basketry, place, "pt", "--bins", "20,0,100", "--cut", "q > 20", "--weight", "q")
    q = ak.to_numpy(ak.flatten(values["q"]))
    assert inner(picked) == pytest.approx(np.histogram(flat[q > 20], edges, weights=q[q > 20])[0])
    by_entry = curve(basketry, place, "pt", "--bins", "20,0,100", "--where", "n >= 2 and ok")
    assert inner(by_entry).tolist() == np.histogram(ak.to_numpy(ak.flatten(pt[counts >= 2])), edges)[0].tolist()
    some = curve(basketry, place, "sum(pt)", "--bins", "5,0,200", "--entries", "100:900,1000:1001")
    chosen = np.r_[100:900, 1000]
    assert inner(some).tolist() == np.histogram(ak.to_numpy(ak.sum(pt[chosen], 1)), 5, (0, 200))[0].tolist()
    assert some["entries"] == 801
    numbers = curve(basketry, place, "entry", "--bins", "5,0,5000")
    assert inner(numbers).tolist() == [1000] * 5


def test_two_axes(file: Path, values: dict[str, Any], basketry: Basketry) -> None:
    words = (f"{file}:Events", "y:w", "--bins", "6,0,2", "--bins-y", "9,-3,9", "--weight", "n")
    one = curve(basketry, *words)
    w, y, n = values["w"], values["y"].astype("f8"), values["n"]
    contents, _, _ = np.histogram2d(w, y, (6, 9), ((0, 2), (-3, 9)), weights=n)
    assert inner(one) == pytest.approx(contents)
    assert [axis["title"] for axis in one["histogram"]["axes"]] == ["w", "y"]
    assert sum(one["histogram"]["contents"]) == n.sum()
    # One number of an entry goes with each item of its lists.
    mixed = curve(basketry, f"{file}:Events", "pt : n", "--bins", "4,0,4", "--bins-y", "5,0,100")
    flat = ak.to_numpy(ak.flatten(values["pt"]))
    assert inner(mixed) == pytest.approx(np.histogram2d(np.repeat(n, n), flat, (4, 5), ((0, 4), (0, 100)))[0])


def test_whole_numbers_lie_in_the_middle_of_their_bins(file: Path, values: dict[str, Any], basketry: Basketry) -> None:
    one = curve(basketry, f"{file}:Events", "n")
    assert one["histogram"]["axes"][0]["edges"] == [-0.5, 0.5, 1.5, 2.5, 3.5]
    assert inner(one).tolist() == np.bincount(values["n"]).tolist()
    truth = curve(basketry, f"{file}:Events", "ok")
    assert inner(truth).tolist() == [(~values["ok"]).sum(), values["ok"].sum()]
    runs = curve(basketry, f"{file}:Events", "run")
    edges = runs["histogram"]["axes"][0]["edges"]
    assert len(edges) <= 41
    assert inner(runs).tolist() == np.histogram(values["run"], edges)[0].tolist()


@pytest.mark.parametrize("top", [2**53 - 1, 2**53 + 1, 2**62 + 12345, 2**63 - 1])
def test_wide_whole_numbers_are_all_in_bins(top: int, basketry: Basketry, tmp_path: Path) -> None:
    for least in (-top, 0, top - 1000):
        path = tmp_path / f"{least}.root"
        with bk.recreate(path) as file:
            file["t"] = {"n": np.array([least + (top - least) * step // 49 for step in range(50)])}
        one = curve(basketry, f"{path}:t", "n")
        assert (one["filled"], one["below"], one["above"], inner(one).sum()) == (50, 0, 0, 50)


def test_memory_and_threads_change_nothing(file: Path, basketry: Basketry) -> None:
    words = (
        "draw",
        f"{file}:Events",
        "pt",
        "--weight",
        "w",
        "--cut",
        "q > 3",
        "--cut",
        "ok",
        "--cut",
        "pt > 0",
        "--json",
    )
    first = basketry(*words)
    # With little memory the numbers are not kept, and the columns are read twice.
    assert all(basketry(*words, "-j", threads, "--memory", "2MB") == first for threads in "12")
    assert sum(one["filled"] for one in json.loads(first)["curves"]) * 24 > 2_000_000 / 8


def test_several_files_and_cuts_share_their_bins(
    file: Path, values: dict[str, Any], basketry: Basketry, tmp_path: Path
) -> None:
    other = tmp_path / "other.root"
    with bk.recreate(other) as made:
        made["Events"] = {"y": np.linspace(50, 60, 11)}
    drawing = basketry.json("draw", f"{file}:Events", "y", "--with", f"{other}:Events")
    first, second = drawing["curves"]
    assert first["histogram"]["axes"] == second["histogram"]["axes"]
    assert (first["histogram"]["axes"][0]["edges"][-1], second["filled"]) == (60, 11)
    assert [Path(one["name"]).name for one in drawing["curves"]] == ["events.root:Events", "other.root:Events"]
    cuts = basketry.json("draw", f"{file}:Events", "y", "--cut", "ok", "--cut", "not ok")["curves"]
    assert [one["filled"] for one in cuts] == [values["ok"].sum(), (~values["ok"]).sum()]
    chained = curve(basketry, f"{tmp_path}/*.root:Events", "y")
    assert chained["filled"] == 11


def test_histograms_of_files(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    one = curve(basketry, f"{file}:h")
    with uproot.open(file) as opened:
        contents, edges = opened["h"].to_numpy()
    assert (inner(one).tolist(), one["histogram"]["axes"][0]["edges"]) == (contents.tolist(), edges.tolist())
    assert (one["class"], one["entries"]) == ("TH1D", None)
    # What is printed is what `show` prints of it.
    shown, drawn = basketry("show", f"{file}:h").splitlines(), basketry("draw", f"{file}:h").splitlines()
    assert shown[0] == drawn[0]
    assert [line.split()[-1] for line in shown[3:]] == [line.split()[-1] for line in drawn[3:]]
    basketry("draw", f"{file}:h", "--with", f"{file}:h", "-o", tmp_path / "two.svg")
    assert "is a table" in basketry.refuses("draw", f"{file}:Events")
    assert "ls -r" in basketry.refuses("draw", file)
    assert "--cut" in basketry.refuses("draw", f"{file}:h", "--cut", "x > 1")


def test_python_draws_the_same(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    picture = tmp_path / "plot.svg"
    drawing = bk.draw(
        f"{file}:Events", "y", cut=["ok", "n == 0"], bins=(4, 0, 8), besides=f"{file}:Events", output=picture
    )
    assert [one.filled for one in drawing.curves] == [
        one["filled"]
        for one in basketry.json(
            "draw", f"{file}:Events", "y", "--cut", "ok", "--cut", "n == 0", "--with", f"{file}:Events"
        )["curves"]
    ]
    assert drawing.curves[0].histogram.axes[0].edges == (0, 2, 4, 6, 8)
    assert picture.read_text().startswith("<svg")
    with pytest.raises(FileExistsError):
        bk.draw(f"{file}:Events", "y", output=picture)
    assert len(bk.draw(f"{file}:Events", "y", bins=4, output=picture, force=True).curves[0].histogram.contents) == 6
    once, again = (bk.draw(f"{file}:Events", "twice", define={"twice": "2 * y"}, bins=b) for b in ((4, 0, 8), "4,0,8"))
    assert once.curves == again.curves


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none"], "none"),
        (["yy"], "y"),
        (["y +"], "ends"),
        (["word"], "text"),
        (["y:x:w"], "no two"),
        (["y", "--cut", "pt > 2"], "any(...)"),
        (["pt", "--weight", "word"], "--weight"),
        (["pt:y", "--cut", "n ++"], "--cut"),
        (["y", "--bins", "0"], "--bins"),
        (["y", "--bins", "5,3,3"], "--bins"),
        (["y", "--bins-y", "5"], "--bins-y"),
        (["y:x", "--bins", "90000", "--bins-y", "90000"], "more than"),
        (["y", "--entries", "9000:"], "--entries"),
        (["y", "-o", "plot.jpg"], ".svg"),
        (["y", *["--cut", "ok"] * 13], "curves"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_cannot_be_drawn_is_refused(words: list[str], said: str, file: Path, basketry: Basketry) -> None:
    assert said in basketry.refuses("draw", f"{file}:Events", *words)


def test_the_file_without_a_column_is_named(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    other = tmp_path / "other.root"
    with bk.recreate(other) as made:
        made["t"] = {"only": np.arange(3)}
    said = basketry.refuses("draw", f"{other}:t", "only", "--with", file)
    assert said.startswith(f"basketry: {file}: ")
    assert "no column only" in said


def test_lists_of_different_lengths(basketry: Basketry, tmp_path: Path) -> None:
    path = tmp_path / "lists.root"
    with bk.recreate(path) as file:
        file["t"] = {"a": ak.Array([[1.0], [2.0, 3.0]]), "b": ak.Array([[1.0], [2.0]])}
    assert "entry 1" in basketry.refuses("draw", f"{path}:t", "a:b")
    empty = tmp_path / "empty.root"
    with bk.recreate(empty) as file:
        file["t"] = {"a": np.zeros(0)}
    one = curve(basketry, f"{empty}:t", "a")
    assert (one["filled"], sum(one["histogram"]["contents"])) == (0, 0)
    assert basketry("draw", f"{empty}:t", "a")


# Texts of a picture that leave it, or lie on each other.
CLASHES = """(() => {
    const outer = document.documentElement.getBoundingClientRect();
    const texts = [...document.querySelectorAll("text")].map(
        (text) => ({ said: text.textContent, box: text.getBoundingClientRect() }));
    const found = [];
    for (const { said, box } of texts) {
        const across = Math.max(outer.left - box.left, box.right - outer.right);
        const out = Math.max(across, outer.top - box.top, box.bottom - outer.bottom);
        if (out > 0) found.push(`${said} reaches out by ${out}`);
    }
    for (let i = 0; i < texts.length; i++) {
        for (let j = i + 1; j < texts.length; j++) {
            const [a, b] = [texts[i].box, texts[j].box];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 3) found.push(`${texts[i].said} lies on ${texts[j].said}`);
        }
    }
    return found;
})()"""


def test_pictures_are_whole(file: Path, basketry: Basketry, tmp_path: Path, opened: Browser) -> None:
    tagged = tmp_path / "tagged.root"
    with bk.recreate(tagged) as made:
        made["t"] = {TAGGED: np.arange(100.0), "long" * 60: np.arange(100) * 1e9, "small": np.arange(100) / 1e7}
        made["h"] = np.histogram(np.arange(10), bins=5)
    place, long = f"{file}:Events", "long" * 60
    pictures: dict[str, list[Any]] = {
        "one": [place, "x"],
        "weighted": [place, "pt", "--weight", "w", "--cut", "q > 3", "--log"],
        "runs": [place, "run"],
        "cuts": [place, "y", *(word for n in range(4) for word in ("--cut", f"n == {n} and y < 100 and x < 1e9"))],
        "two": [place, "y:pt"],
        "two-log": [place, "n:run", "--log"],
        "tagged": [f"{tagged}:t", TAGGED, "--cut", f"`{TAGGED}` < 50", "--cut", f"`{TAGGED}` > 5"],
        "long": [f"{tagged}:t", long, "--cut", f"{long} > 5"],
        "small": [f"{tagged}:t", f"small:{long}"],
        "h": [f"{tagged}:h"],
    }
    for name, words in pictures.items():
        path = tmp_path / f"{name}.svg"
        basketry("draw", *words, "-o", path)
        for scheme in ("light", "dark"):
            opened.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            opened.open(path)
            assert opened.ask("document.documentElement.nodeName") == "svg", name
            assert opened.ask(CLASHES) == [], name
            ink, paper = (
                opened.ask(f"getComputedStyle(document.querySelector('{what}')).fill") for what in ("text", ".paper")
            )
            bright = [sum(map(int, colour[4:-1].split(","))) for colour in (ink, paper)]
            assert (bright[0] < bright[1]) == (scheme == "light")
        opened.picture(BUILD / f"draw-{name}.png")
    assert opened.said == []
    opened.open(tmp_path / "tagged.svg")
    assert TAGGED in opened.ask("document.documentElement.textContent")
    assert opened.ask("document.querySelectorAll('script, b').length") == 0
    assert opened.ask("document.querySelectorAll('.curve').length") == 2


def test_pictures_of_all_formats_show_the_same(file: Path, basketry: Basketry, tmp_path: Path) -> None:
    words = [f"{file}:Events", "y:pt"]
    for name in ("plot.png", "again.png", "log.png", "plot.pdf", "again.pdf", "plot.PDF"):
        basketry("draw", *words, "-o", tmp_path / name, *(["--log"] if name == "log.png" else []))
    with Image.open(tmp_path / "plot.png") as picture:
        assert picture.width == 1600
        pixels = np.asarray(picture.convert("RGB"), np.int64)
    assert (pixels[0, 0] == 255).all()
    # The title is written in dark pixels, and cells have a colour.
    title = pixels[20:70].sum(axis=2)
    assert 300 < (title < 300).sum() < title.size / 4
    assert (np.ptp(pixels[200:], axis=2) > 60).any()
    drawing = (tmp_path / "plot.pdf").read_bytes()
    assert drawing.startswith(b"%PDF-")
    assert drawing.rstrip().endswith(b"%%EOF")
    # The texts are texts, in a font that the file brings.
    assert b"/ToUnicode" in drawing
    assert b"/FontFile" in drawing
    same = [(tmp_path / name).read_bytes() for name in ("again.png", "again.pdf", "plot.PDF")]
    assert same == [(tmp_path / "plot.png").read_bytes(), drawing, drawing]
    assert (tmp_path / "log.png").read_bytes() != same[0]


def test_what_is_printed_fits(file: Path, basketry: Basketry) -> None:
    for width in (60, 80, 130):
        for words in (["x"], ["y:pt"], ["y", "--cut", "ok", "--cut", "not ok"], ["pt", "--log", "--weight", "w"]):
            lines = basketry.within(COLUMNS=str(width))("draw", f"{file}:Events", *words).splitlines()
            assert len(lines) > 10
            drawn = [line for line in lines if "█" in line or "░" in line]
            assert drawn
            assert max(map(len, lines)) <= width, words
    assert not math.isnan(sum(inner(curve(basketry, f"{file}:Events", "x"))))
