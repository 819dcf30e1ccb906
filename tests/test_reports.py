"""The data classes of reports, and the tables of the pages on their JSON, are those that the types in Rust make: names,
types, defaults and documentation."""

import dataclasses
import importlib
import re
from pathlib import Path

import pytest

import report_classes
import report_pages
import report_structs
import report_types
from basketry import reports


def test_the_data_classes_are_those_of_the_types_in_rust() -> None:
    made = report_classes.Maker().modules()
    written = {path: path.read_text() for path in made}
    # `python tools/report_classes.py` writes them.
    assert [path.name for path, text in made.items() if written[path] != text] == []


def test_the_structures_of_the_header_are_those_of_the_types_in_rust() -> None:
    # `python tools/report_structs.py` writes them.
    assert report_structs.HEADER.read_text() == report_structs.Maker().header()
    # Python and C++ have the same fields of the same reports.
    classes = {name: kind for name, kind in vars(reports).items() if dataclasses.is_dataclass(kind)}
    structures = dict(re.findall(r"^struct (\w+) \{\n(.*?)^\};", report_structs.HEADER.read_text(), re.M | re.S))
    for name in ("Summary", "Verdict", "Inspection", "Tuning", "Recovery", "Checked"):
        fields = re.findall(r'see(?:\.sometimes)?\("(\w+)"', structures[name.lower()])
        assert [f"{one}_" if one in ("class", "from") else one for one in fields] == [
            one.name for one in dataclasses.fields(classes[name])
        ]


def test_the_tables_of_the_pages_are_those_of_the_types_in_rust() -> None:
    made = report_pages.Pages().pages()
    # `python tools/report_pages.py` writes them.
    assert [path.name for path, text in made.items() if path.read_text() != text] == []
    assert len(made) == 10
    assert all("<!-- fields: " in text for text in made.values())


def test_every_report_has_a_class_that_is_made() -> None:
    made = {f"{reports.__name__}.{path.stem}" for path in report_classes.Maker().modules()}
    assert {getattr(reports, name).__module__ for name in reports.__all__} == made - {
        f"{reports.__name__}.values",
        f"{reports.__name__}.ntuples",
    }


def test_fields_and_variants_are_named_as_serde_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "crates/one/src"
    folder.mkdir(parents=True)
    (folder / "report.rs").write_text("""
/// The report.
#[derive(Clone, serde::Serialize)]
pub struct Report {
    /// Its class, of [`Kind`].
    #[serde(rename = "class")]
    pub kind: Kind,
    /// Not printed.
    #[serde(skip)]
    pub hidden: u64,
    /// Perhaps absent, "a, b".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perhaps: Option<Vec<(String, f64)>>,
    #[serde(flatten)]
    pub more: More,
}

/// The rest.
#[derive(serde::Serialize)]
pub struct More {
    /// Counts by name.
    pub counts: std::collections::BTreeMap<String, u64>,
}

/// Not serialised.
pub struct Other { pub x: u8 }

/// The kinds.
#[derive(serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One of them.
    FirstKind,
    /// Another.
    #[serde(rename = "2nd")]
    Second,
}
""")
    monkeypatch.setattr(report_types, "REPO", tmp_path)
    monkeypatch.setattr(report_classes, "REPO", tmp_path)
    monkeypatch.setattr(report_classes, "MODULES", {"made": ("Made.", ["one/src/report:Report"])})

    (text,) = report_classes.Maker().modules().values()

    found: dict[str, object] = {"__name__": "basketry.reports.made", "__package__": "basketry.reports"}
    exec(text, found)
    fields = {one.name: (one.type, one.default) for one in dataclasses.fields(found["Report"])}  # type: ignore[arg-type]
    typing = importlib.import_module("typing")
    assert fields == {
        "class_": (typing.Literal["first-kind", "2nd"], dataclasses.MISSING),
        "perhaps": (tuple[tuple[str, float], ...] | None, None),
        "counts": (dict[str, int], dataclasses.MISSING),
    }
    assert '"""Its class, of `Kind`. "first-kind": one of them. "2nd": another."""' in text
