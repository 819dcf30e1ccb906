"""Python at the prompt: a report prints a page at most, and all of it if asked; a branch shows its first entries."""

import io
from pathlib import Path
from typing import Any

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


def test_entries_are_a_table(path: str) -> None:
    lines = repr(bk.show(f"{path}:u")).splitlines()
    header = next(number for number, line in enumerate(lines) if line.split()[:1] == ["entry"])
    assert lines[header].split() == ["entry", "nv", "v", "y"]
    assert [line.split(maxsplit=2) for line in lines[header + 1 :]] == [
        ["0", "2", "[1, 2]  0"],
        ["1", "0", "[]      1"],
        ["2", "1", "[3]     2"],
    ]
    html = bk.show(f"{path}:u")._repr_html_()
    assert "[1, 2]" in html
    assert "columns[0]" not in html


@pytest.mark.parametrize(("verb", "names"), [(bk.schema, ["name", "title"]), (bk.stats, ["name", "type_name"])])
def test_a_long_list_is_a_table_as_far_as_the_page_goes(path: str, verb: Any, names: list[str]) -> None:
    report = verb(f"{path}:<b>t</b>")
    lines = repr(report).splitlines()
    header = lines.index("  columns:") + 1
    shown = lines[header + 1 : -1]
    assert lines[header].split()[:2] == names
    assert [line.split()[0] for line in shown] == [one.name for one in report.columns[: len(shown)]]
    assert lines[-1] == f"  ... and {COLUMNS - len(shown)} more: show() prints all"
    assert len(lines) == PAGE + 1
    assert max(map(len, lines)) <= LINE + len("  ...")


def test_a_listing_names_its_objects(path: str) -> None:
    lines = [line.split() for line in repr(bk.ls(path)).splitlines()]
    assert ["path", "name", "class", "title"] in [line[:4] for line in lines]
    assert ["u", "u", "TTree"] in [line[:3] for line in lines]


def test_wrong_names_have_hints(path: str) -> None:
    tree = bk.open(path)["u"]
    with pytest.raises(AttributeError, match=r"did you mean tree\['v'\]\?"):
        _ = tree.v
    with pytest.raises(AttributeError, match=r"'nothing'$"):
        _ = tree.nothing
    with pytest.raises(TypeError, match="'entry_end'; did you mean entry_stop"):
        tree.arrays(entry_end=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="'friend'; did you mean friends"):
        bk.open(path, friend="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'compresion'; did you mean compression"):
        bk.rewrite(path, "out.root", compresion="zstd:1")  # type: ignore[call-overload]
    with pytest.raises(IndexError, match=r"no branch 3 in <Branch 'y' int64_t>, which has 0; slices such as \[:3\]"):
        tree["y"][3]
    with pytest.raises(AttributeError) as error:
        _ = bk.opn
    assert (error.value.name, error.value.obj) == ("opn", bk)


def test_no_files_are_an_error(tmp_path: Path) -> None:
    for verb in (bk.count, bk.ls, bk.check):
        with pytest.raises(ValueError, match="no file is given"):
            verb([])
    with pytest.raises(ValueError, match="no file is given"):
        bk.merge(sorted(tmp_path.glob("*.root")), tmp_path / "out.root")
