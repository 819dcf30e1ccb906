//! The page of a precision report: what each number of mantissa bits would save in all columns, where the bytes are, and the tables.
//! Nothing is measured here.

use std::collections::BTreeMap;

use super::chart::{Axis, Chart, Drawing, Series, Spot, Style, Tile};
use super::table::{Cell, Table};
use super::{Fact, Report, Statement};
use crate::math::as_f64;
use crate::precision::{ColumnReport, Report as Precision};
use crate::sweep::metric::{Unit, amount};

/// Columns of the chart of the largest ones.
const LARGEST: usize = 12;

/// The page of a report.
pub fn report(of: &Precision) -> Report {
    let files: Vec<String> = of.files.iter().map(|file| file.display().to_string()).collect();
    let bytes = |n: u64| amount(Unit::Bytes, as_f64(n));
    let fact = |name, value| Fact { name, value };
    let columns: Vec<&ColumnReport> = of.tables.iter().flat_map(|table| &table.columns).collect();
    let proposed = columns.iter().filter(|column| column.proposed.is_some()).count();
    let charts = [bits(&columns), largest(&columns), tiles(&columns)];
    Report {
        title: format!("Precision of {}", files.join(", ")),
        facts: vec![
            fact("columns", format!("{} on disk, {} of floating-point numbers", bytes(of.stored), bytes(of.floats))),
            fact("expected", format!("{} with {proposed} encodings", bytes(of.expected))),
        ],
        chosen: None,
        said: match of.notes.is_empty() {
            true => Vec::new(),
            false => vec![Statement { title: "Notes".to_owned(), lines: of.notes.clone() }],
        },
        layout: of.layout.clone(),
        command: (!of.commands.is_empty()).then(|| of.commands.join("\n")),
        charts: charts.into_iter().flatten().collect(),
        left_out: Vec::new(),
        stars: "Errors are the largest of all values. Bytes are expected from samples with the file's codec."
            .to_owned(),
        tables: of.tables.iter().map(|table| listed(&table.path, &table.columns)).collect(),
    }
}

fn axis(title: &str, from_zero: bool) -> Axis {
    Axis { title: title.to_owned(), from_zero, whole: false }
}

/// Bits of mantissa of an encoding that rounds in place.
fn mantissa(encoding: &str) -> Option<u32> {
    encoding.strip_prefix("mantissa:")?.parse().ok()
}

/// Bytes of all columns with so many bits of mantissa.
fn bits(columns: &[&ColumnReport]) -> Option<Chart> {
    let mut bits: Vec<u32> =
        columns.iter().flat_map(|column| &column.choices).filter_map(|choice| mantissa(&choice.encoding)).collect();
    bits.sort_unstable();
    bits.dedup();
    // A column that was not tried with a number of bits has the bytes of the next larger number that was.
    let of = |column: &ColumnReport, bits: u32| {
        let fits = column.choices.iter().filter_map(|one| Some((mantissa(&one.encoding)?, one.bytes)));
        fits.filter(|(n, _)| *n >= bits).min().map_or(column.stored, |(_, bytes)| bytes.min(column.stored))
    };
    let today: u64 = columns.iter().map(|column| column.stored).sum();
    let spot = |bits: &u32| {
        let sum: u64 = columns.iter().map(|column| of(column, *bits)).sum();
        let share = 100.0 * as_f64(sum) / as_f64(today.max(1));
        let text = vec![format!("{bits} bits"), format!("{} ({share:.0} %)", amount(Unit::Bytes, as_f64(sum)))];
        Spot { name: String::new(), x: f64::from(*bits), y: share, text }
    };
    let points: Vec<Spot> = bits.iter().map(spot).collect();
    let series = Series { name: "all columns of numbers".to_owned(), style: Style::Line, hidden: false, points };
    (series.points.len() > 1).then(|| Chart {
        name: "bits",
        title: "Size by bits of mantissa".to_owned(),
        note: "A number has a relative error of at most 2^-(bits + 1).".to_owned(),
        drawing: Drawing::Plane {
            x: Axis { whole: true, ..axis("bits of mantissa", false) },
            y: axis("size of the columns [% of today's]", true),
            series: vec![series],
        },
    })
}

/// Size against error of the largest columns: every encoding that was tried.
fn largest(columns: &[&ColumnReport]) -> Option<Chart> {
    let tried =
        columns.iter().filter(|column| column.choices.len() > 1 && column.width.is_some_and(|width| width > 0.0));
    let series = |column: &&&ColumnReport| {
        let width = column.width.unwrap_or(1.0);
        let mut by_error: BTreeMap<u64, Spot> = BTreeMap::new();
        for choice in column.choices.iter().filter(|choice| choice.holds && choice.largest_absolute > 0.0) {
            let error = choice.largest_absolute / width;
            let spot = Spot {
                name: String::new(),
                x: error.log10(),
                y: 100.0 * as_f64(choice.bytes) / as_f64(column.stored.max(1)),
                text: vec![
                    column.name.clone(),
                    choice.encoding.clone(),
                    format!("error {:e}", choice.largest_absolute),
                ],
            };
            by_error.entry(error.to_bits()).or_insert(spot);
        }
        Series {
            name: column.name.clone(),
            style: Style::Line,
            hidden: false,
            points: by_error.into_values().collect(),
        }
    };
    let series: Vec<Series> =
        tried.take(LARGEST).map(|column| series(&column)).filter(|one| !one.points.is_empty()).collect();
    (!series.is_empty()).then(|| Chart {
        name: "errors",
        title: "Size against error of the largest columns".to_owned(),
        note: "The largest error of any value, in standard deviations of the column. Encodings that change kept values are left out."
            .to_owned(),
        drawing: Drawing::Plane {
            x: axis("largest error [powers of ten of a standard deviation]", false),
            y: axis("size of the column [% of today's]", true),
            series,
        },
    })
}

/// Where bytes are, and what would be saved of them.
fn tiles(columns: &[&ColumnReport]) -> Option<Chart> {
    let tile = |column: &&ColumnReport| {
        let saved = 1.0 - as_f64(column.expected) / as_f64(column.stored.max(1));
        let what = column.proposed.clone().or_else(|| column.reason.clone()).unwrap_or_default();
        Tile {
            name: column.name.clone(),
            size: as_f64(column.stored),
            colour: Some(100.0 * saved.max(0.0)),
            text: vec![column.name.clone(), amount(Unit::Bytes, as_f64(column.stored)), what],
            parts: Vec::new(),
        }
    };
    (!columns.is_empty()).then(|| Chart {
        name: "columns",
        title: "Columns by size, and what is saved".to_owned(),
        note: "A tile has the size of its column on disk.".to_owned(),
        drawing: Drawing::Tiles {
            size: axis("bytes on disk", true),
            colour: axis("saved [%]", true),
            tiles: columns.iter().map(tile).collect(),
        },
    })
}

fn listed(path: &str, columns: &[ColumnReport]) -> Table {
    let text = |text: &str| Cell { text: text.to_owned(), value: None };
    let bytes = |n: u64| Cell { text: amount(Unit::Bytes, as_f64(n)), value: Some(as_f64(n)) };
    let small = |value: Option<f64>| Cell { text: value.map_or_else(String::new, |v| format!("{v:.1e}")), value };
    let row = |column: &ColumnReport| {
        let chosen = column.choices.iter().find(|choice| Some(&choice.encoding) == column.proposed.as_ref());
        let kept: Vec<String> = column.kept.iter().take(3).map(|one| one.value.to_string()).collect();
        vec![
            text(&column.name),
            text(&column.typename),
            bytes(column.stored),
            text(column.proposed.as_deref().or(column.reason.as_deref()).unwrap_or_default()),
            bytes(column.expected),
            small(chosen.map(|choice| choice.largest_absolute)),
            small(chosen.and_then(|choice| choice.largest_relative)),
            small(chosen.and_then(|choice| choice.mean_shift)),
            small(chosen.and_then(|choice| choice.width_change)),
            text(&kept.join(", ")),
        ]
    };
    let head = [
        "column",
        "type",
        "on disk",
        "encoding",
        "expected",
        "largest error",
        "relative",
        "mean shift",
        "width change",
        "kept",
    ];
    Table {
        title: path.to_owned(),
        head: head.into_iter().map(str::to_owned).collect(),
        rows: columns.iter().map(row).collect(),
        foot: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::{ChoiceReport, Limit};

    fn column(name: &str, proposed: Option<&str>) -> ColumnReport {
        let choice = |encoding: &str, bytes, error: f64| ChoiceReport {
            encoding: encoding.to_owned(),
            bytes,
            largest_absolute: error,
            largest_relative: Some(error),
            mean_shift: Some(0.0),
            width_change: Some(0.0),
            holds: true,
            allowed: true,
        };
        ColumnReport {
            name: name.to_owned(),
            typename: "float".to_owned(),
            stored: 1000,
            values: 500,
            least: Some(0.0),
            most: Some(1.0),
            mean: Some(0.5),
            width: Some(0.1),
            kept: Vec::new(),
            nans: 0,
            infinite: 0,
            mantissa: 23,
            reduced: None,
            limit: Limit::default(),
            choices: vec![choice("mantissa:4", 300, 0.03), choice("mantissa:8", 600, 0.002)],
            proposed: proposed.map(str::to_owned),
            expected: if proposed.is_some() { 300 } else { 1000 },
            reason: None,
        }
    }

    #[test]
    fn charts_count_each_column_once() {
        let (a, mut b) = (column("a", Some("mantissa:4")), column("b", None));
        b.choices.remove(0);
        let Some(Chart { drawing: Drawing::Plane { series, .. }, .. }) = bits(&[&a, &b]) else { panic!("a plane") };
        let found: Vec<(f64, f64)> = series[0].points.iter().map(|spot| (spot.x, spot.y)).collect();
        assert_eq!(found, [(4.0, 45.0), (8.0, 60.0)]);
        let Some(Chart { drawing: Drawing::Tiles { tiles, .. }, .. }) = tiles(&[&a, &b]) else { panic!("tiles") };
        assert_eq!([tiles[0].colour, tiles[1].colour], [Some(70.0), Some(0.0)]);
        assert!(largest(&[&a]).is_some() && largest(&[]).is_none() && bits(&[]).is_none());
    }
}
