"""Python at the prompt: a report prints a page at most, and all of it if asked; a branch shows its first entries."""

import io
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import basketry as bk
from basketry.reports import Inspection
from basketry.reports.shown import LINE, PAGE
from basketry.reports.values import Sizes

COLUMNS = 300


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tree with many branches, one of them with HTML in its title."""
    name = str(tmp_path_factory.mktemp("prompt") / "wide.root")
    with bk.recreate(name) as file:
        file.mktree("<b>t</b>", {f"x{number}": np.arange(20.0) for number in range(COLUMNS)})
        file.mktree("u", {"v": ak.Array([[1, 2], [], [3]]), "y": np.arange(3)})
    return name


@pytest.fixture(scope="module")
def report(path: str) -> Inspection:
    """The report of it."""
    return bk.inspect(path)


def test_a_report_prints_a_page(report: Inspection) -> None:
    lines = repr(report).splitlines()
    assert lines[0] == "<Inspection>"
    assert len(lines) == PAGE + 2
    assert "show() prints all" in lines[-1]
    assert max(map(len, lines)) < 150
    assert any("file.bytes" in line and str(report.file.bytes) in line for line in lines)


def test_long_lists_are_counted(report: Inspection) -> None:
    text = report._repr_html_()
    assert f"{COLUMNS} of BranchReport" in text
    assert "3 of BranchReport" in text


def test_a_small_report_is_one_line() -> None:
    sizes = Sizes(bytes=1, raw_bytes=2)
    assert repr(sizes) == "Sizes(bytes=1, raw_bytes=2)"
    assert len(repr(sizes)) < LINE
    assert sizes == Sizes(bytes=1, raw_bytes=2)


def test_all_is_shown_if_asked(report: Inspection, capsys: pytest.CaptureFixture[str]) -> None:
    report.show()
    printed = capsys.readouterr().out
    stream = io.StringIO()
    report.show(stream)

    assert printed == stream.getvalue()
    assert all(f"'x{number}'" in printed for number in range(COLUMNS))
    assert f"branches[{COLUMNS - 1}].name" in printed


def test_a_notebook_has_a_table(report: Inspection) -> None:
    html = report._repr_html_()
    assert "<td" in html
    assert "<b>t</b>" not in html
    assert "&lt;b&gt;t" in html
    assert html.count("<tr>") <= 102


def test_slices_are_entries(path: str) -> None:
    tree = bk.open(path)["u"]
    assert tree["v"][:2].tolist() == [[1, 2], []]
    assert tree["y"][-1:].tolist() == [2]
    assert tree["y"][::2].tolist() == [0, 2]
    assert tree[1:].tolist() == tree.arrays(entry_start=1).tolist()
    with pytest.raises(ValueError, match="forwards"):
        tree["y"][::-1]


def test_fields_have_slices(tmp_path: Path) -> None:
    with bk.recreate(tmp_path / "n.root") as file:
        file.mkrntuple("n", {"r": ak.Array([{"a": 1, "b": 2.5}, {"a": 3, "b": 4.5}])})
    field = bk.open(tmp_path / "n.root")["n"]["r"]
    assert field[:1].tolist() == [{"a": 1, "b": 2.5}]
    assert field["a"][1:].tolist() == [3]
