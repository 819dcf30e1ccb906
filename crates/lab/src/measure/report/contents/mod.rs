//! What `inspect` found in a file as a page: its columns as tiles, its baskets or pages along the file, clusters, findings with their
//! commands, and all that is in it as tables.

mod charts;
mod gathered;

use rootfile::Result;
use rootfile::text::count;

use super::page::{Picture, Plain, Told, plain};
use super::table::{Cell, Table};
use crate::inspect::report::{ObjectReport, Report};
use crate::math::as_f64;
use charts::{along, clusters, sizes, tiles};
use gathered::{Column, Contents, gathered, ratio, size};

/// Most rows of a table.
const MOST_ROWS: usize = 5000;

/// The page of a report, with its findings as they are told, and pictures of its histograms.
///
/// # Errors
///
/// A chart has no form in JSON.
pub fn page(report: &Report, findings: Vec<Told>, histograms: Vec<Picture>) -> Result<String> {
    let contents = gathered(report);
    let charts = [tiles(&contents), along(&contents), sizes(&contents), clusters(&contents)];
    plain(&Plain {
        title: report.file.path.clone(),
        facts: contents.facts.clone(),
        said_title: "Findings, worst first".to_owned(),
        said: findings,
        charts: charts.into_iter().flatten().collect(),
        pictures_title: "Histograms".to_owned(),
        pictures: histograms,
        tables: tables(report, &contents),
    })
}

fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), value: None }
}

fn number(text: String, value: f64) -> Cell {
    Cell { text: text.replace(' ', "\u{a0}"), value: Some(value) }
}

fn bytes(n: u64) -> Cell {
    number(size(n), as_f64(n))
}

fn table(title: String, head: &[&str], mut rows: Vec<Vec<Cell>>) -> Option<Table> {
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let title = if more > 0 { format!("{title}; {more} more are not listed") } else { title };
    (!rows.is_empty()).then(|| Table {
        title,
        head: head.iter().map(|&name| name.to_owned()).collect(),
        rows,
        foot: Vec::new(),
    })
}

fn tables(report: &Report, contents: &Contents) -> Vec<Table> {
    let order = contents.by_size();
    let column = |column: &Column| {
        let ratio = ratio(column.memory, column.disk);
        let factor = number(ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")), ratio.unwrap_or(0.0));
        vec![
            text(contents.full_name(column)),
            text(column.kind.clone()),
            text(column.codecs.clone()),
            bytes(column.disk),
            bytes(column.memory),
            factor,
            number(count(column.pieces), as_f64(column.pieces)),
        ]
    };
    let columns = order.iter().filter_map(|&number| contents.columns.get(number)).map(column).collect();
    let object = |object: &ObjectReport| {
        let cycle = f64::from(object.cycle);
        vec![
            text(object.path.clone()),
            text(object.class.clone()),
            number(object.cycle.to_string(), cycle),
            bytes(object.bytes),
            bytes(object.raw_bytes),
        ]
    };
    let skipped = report.skipped.iter().map(|one| vec![text(one.object.clone()), text(one.reason.clone())]).collect();
    let heads = ["column", "type", "codecs", "on disk", "in memory", "ratio", "baskets or pages"];
    let all = [
        table("Columns".to_owned(), &heads, columns),
        table(
            "Objects besides trees and RNTuples".to_owned(),
            &["object", "class", "cycle", "on disk", "in memory"],
            report.objects.iter().map(object).collect(),
        ),
        table("What could not be read".to_owned(), &["object", "why"], skipped),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::report::{BasketReport, BranchReport, FileReport, TreeReport};
    use crate::report::chart::{Chart, Drawing};

    fn branch(id: &str, name: &str, zip_bytes: u64) -> BranchReport {
        let basket = |n: u64| BasketReport { first_entry: 10 * n, entries: 10, bytes: 50, seek: 100 + n * 100 };
        let mut branch = BranchReport {
            id: id.to_owned(),
            name: name.to_owned(),
            zip_bytes,
            tot_bytes: 2 * zip_bytes,
            baskets: Some(vec![basket(0), basket(1)]),
            ..BranchReport::default()
        };
        branch.basket_summary.count = 2;
        branch
    }

    fn report(branches: Vec<BranchReport>) -> Report {
        let tree =
            TreeReport { path: "t".to_owned(), newest: true, clusters: vec![0, 10], branches, ..TreeReport::default() };
        Report {
            schema: 1,
            file: FileReport { path: "<a>.root".to_owned(), bytes: 1000, ..FileReport::default() },
            trees: vec![tree],
            ntuples: Vec::new(),
            parquet: None,
            objects: Vec::new(),
            skipped: Vec::new(),
            findings: Vec::new(),
            moved: Vec::new(),
        }
    }

    #[test]
    fn columns_of_a_prefix_and_members_are_groups() {
        let all = [
            ("0", "Muon_pt", 300),
            ("1", "Muon_eta", 200),
            ("2", "run", 50),
            ("3", "ev", 0),
            ("3.0", "ev.a", 20),
            ("4", "x_y", 1),
        ];
        let mut branches: Vec<BranchReport> = all.iter().map(|(id, name, bytes)| branch(id, name, *bytes)).collect();
        branches[3].basket_summary.count = 0;
        let report = report(branches);
        let contents = gathered(&report);
        let groups: Vec<Option<&str>> = contents.columns.iter().map(|column| column.group.as_deref()).collect();
        assert_eq!(groups, [Some("Muon"), Some("Muon"), None, Some("ev"), None]);
        let Some(Chart { drawing: Drawing::Tiles { tiles, .. }, .. }) = tiles(&contents) else { panic!("no tiles") };
        let names: Vec<(&str, usize)> = tiles.iter().map(|tile| (tile.name.as_str(), tile.parts.len())).collect();
        assert_eq!(names, [("Muon", 2), ("run", 0), ("ev.a", 0), ("x_y", 0)]);
        let Some(Chart { drawing: Drawing::Plane { series, .. }, .. }) = along(&contents) else { panic!("no map") };
        assert_eq!(series.iter().map(|series| series.points.len()).sum::<usize>(), 10);
        let Some(Chart { drawing: Drawing::Plane { series, .. }, .. }) = clusters(&contents) else {
            panic!("no clusters")
        };
        assert_eq!(series[0].points.iter().map(|point| point.y).collect::<Vec<_>>(), [250.0, 250.0]);
    }

    #[test]
    fn names_are_escaped() {
        let report = report(vec![branch("0", "<script>alert(1)</script>", 10)]);
        let told = Told { text: "a <b>".to_owned(), command: Some("x > y".to_owned()), price: None };
        let svg = "<svg>\"><script>alert(2)</script></svg>";
        let histogram = Picture::new("<b>h".to_owned(), svg);
        let html = page(&report, vec![told], vec![histogram]).unwrap();
        assert!(!html.contains("<script>alert") && html.contains("&#60;script&#62;alert"));
        assert!(html.contains("a &#60;b&#62;") && html.contains("x &#62; y"));
        assert!(html.contains("alt=\"&#60;b&#62;h\"") && html.contains("charset=utf-8,%3Csvg%3E%22%3E%3Cscript"));
    }
}
