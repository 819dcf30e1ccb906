//! What each point costs beside the reference, which is today's layout where there is one: size and CPU time in per cent, the speed of its codec in MB/s, and money.

use std::path::Path;

use dataset::glob::TreePattern;
use rootfile::RootFile;

use super::SweepInput;
use super::cells::{Cell, Table};
use super::findings::{Findings, Line};
use super::metric::{Unit, metric_of};
use super::point::Point;
use crate::inspect::report::TreeReport;
use crate::inspect::{Options, inspect};
use crate::math::as_f64;
use crate::price::{Bill, PriceBook, Usage};
use crate::tune::SIZE_NOISE;

const TB: f64 = 1e12;

/// The figures that are compared with the reference, with the words for their share.
const COMPARED: [(&str, &str); 4] =
    [("size", "of size"), ("copy_cpu", "of copy CPU"), ("full_cpu", "of read CPU"), ("sparse_cpu", "of picked CPU")];

/// A row for each point: its figures, each against the reference, and its speeds; with `prices` also its price for a TB of the
/// reference.
pub(super) fn table(findings: &Findings, prices: Option<&PriceBook>) -> Table {
    let lines = &findings.lines;
    let compared: Vec<_> = COMPARED
        .into_iter()
        .filter(|(name, _)| lines.iter().any(|line| line.figures.contains_key(*name)))
        .filter_map(|(name, share)| Some((metric_of(name)?, share)))
        .collect();
    let points = &findings.head.points;
    let reference = points.get(findings.reference);
    let now = lines.iter().find(|line| Some(&line.point) == reference);
    // What a command of the user reads is its own.
    let raw = findings.head.settings.command.is_none().then(|| raw_bytes(&findings.head.subject)).flatten();
    let speeds: Vec<_> = [("copy_cpu", "copy MB/s"), ("full_cpu", "read MB/s")]
        .into_iter()
        .filter(|(name, _)| raw.is_some() && lines.iter().any(|line| line.figures.contains_key(*name)))
        .collect();
    let bills = prices.map(|book| (book, lines.iter().map(|line| bill(line, book)).collect::<Vec<_>>()));
    let bills = bills.filter(|(_, bills)| bills.iter().any(Option::is_some));
    let mut head = vec!["point".to_owned()];
    head.extend(compared.iter().flat_map(|(metric, share)| [metric.title.to_owned(), format!("% {share}")]));
    head.extend(speeds.iter().map(|(_, title)| (*title).to_owned()));
    if let Some((book, _)) = &bills {
        head.extend([format!("{} for a TB", book.currency), "% of price".to_owned()]);
    }
    let size_now = now.and_then(|line| median(line, "size"));
    let bill_now = bills.as_ref().and_then(|(book, _)| bill(now?, book));
    let row = |(at, line): (usize, &Line)| {
        let mut cells = vec![Cell::text(line.point.to_string())];
        for (metric, _) in &compared {
            let value = median(line, metric.name);
            cells.push(value.map_or_else(Cell::default, |value| Cell::number(metric.unit, value)));
            cells.push(share(value, now.and_then(|now| median(now, metric.name))));
        }
        for (name, _) in &speeds {
            // Copies are as many as there are streams.
            let copies = if name.starts_with("copy") { as_f64(line.point.streams as u64) } else { 1.0 };
            let bytes = raw.map(|raw| raw * line.point.fraction * copies);
            cells.push(match (bytes, median(line, name)) {
                (Some(bytes), Some(seconds)) if seconds > 0.0 => plain(bytes / seconds / 1e6),
                _ => Cell::default(),
            });
        }
        if let Some((_, bills)) = &bills {
            let total = bills.get(at).and_then(Option::as_ref).map(|bill| bill.total);
            let each = total.zip(size_now).map(|(total, size)| total * TB / size.max(1.0));
            cells.push(each.map_or_else(Cell::default, plain));
            cells.push(share(total, bill_now.as_ref().map(|bill| bill.total)));
        }
        cells
    };
    Table {
        title: format!("what each point costs, against {}", reference.map_or_else(String::new, against)),
        rows: if compared.is_empty() { Vec::new() } else { lines.iter().enumerate().map(row).collect() },
        points: lines.iter().filter_map(|line| points.iter().position(|point| *point == line.point)).collect(),
        head,
    }
}

/// What a point costs over the file's life; none if it was not both copied and read. Copying stands for writing: it reads the input, too.
pub fn bill(line: &Line, book: &PriceBook) -> Option<Bill> {
    let (stored, reading) = (median(line, "size")?, median(line, "full_cpu")?);
    let copies = as_f64(line.point.streams.max(1) as u64);
    let writing = median(line, "copy_cpu").map_or(0.0, |seconds| seconds / copies);
    Some(book.bill(&Usage { stored, read: stored, reading, writing }))
}

/// Why points have no price; none where each has one. What failed is told where failures are.
pub fn unpriced(findings: &Findings) -> Option<String> {
    let is_missing = |names: &[&str]| {
        let lacks = |line: &Line| names.iter().any(|name| median(line, name).is_none());
        findings.lines.iter().any(|line| !line.figures.is_empty() && lacks(line))
    };
    let missing: Vec<&str> = [(&["size", "copy_cpu"][..], "copying"), (&["full_cpu"][..], "reading all")]
        .into_iter()
        .filter(|(names, _)| is_missing(names))
        .map(|(_, what)| what)
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "points without a price: it takes the size and CPU time of copying and of reading all, and {} was not \
             measured; the same sweep with these jobs adds them",
            missing.join(" and ")
        )
    })
}

/// That the copies have a record at their end, where sizes tell it: today's copy is larger than the input then.
pub fn record_note(findings: &Findings) -> Option<String> {
    let Findings { head, reference, lines, .. } = findings;
    let point = head.points.get(*reference).filter(|point| point.keeps_layout() && point.fraction >= 1.0)?;
    let subject = (head.settings.command.is_none() && head.subject.entries == head.subject.all_entries)
        .then_some(&head.subject)?;
    let size = median(lines.iter().find(|line| line.point == *point)?, "size")?;
    let input = as_f64(subject.bytes);
    let [copy, file] = [size, input].map(|bytes| Cell::number(Unit::Bytes, bytes).text);
    (size > (1.0 + SIZE_NOISE) * input).then(|| {
        format!(
            "each copy ends with a tree of one record, which counts in its size: today's has {copy}, the input {file}"
        )
    })
}

/// The words for the reference. For a command of the user it is the first point.
fn against(reference: &Point) -> String {
    match reference.keeps_layout() {
        true => "today's layout".to_owned(),
        false => format!("{reference}"),
    }
}

fn median(line: &Line, name: &str) -> Option<f64> {
    line.figures.get(name).map(|figure| figure.median)
}

fn share(value: Option<f64>, of: Option<f64>) -> Cell {
    match value.zip(of) {
        Some((value, of)) if of > 0.0 => {
            let share = 100.0 * value / of;
            Cell { text: format!("{share:.1} %"), value: Some(share) }
        }
        _ => Cell::default(),
    }
}

/// A number with three digits.
fn plain(value: f64) -> Cell {
    let digits = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    Cell { text: format!("{value:.digits$}"), value: Some(value) }
}

/// Bytes before compression of the entries that are copied, if the input has not changed since the sweep.
fn raw_bytes(subject: &SweepInput) -> Option<f64> {
    let bytes = |path: &Path| std::fs::metadata(path).map(|found| found.len()).ok();
    if bytes(&subject.input) != Some(subject.bytes) {
        return None;
    }
    let file = RootFile::open(&subject.input).ok()?;
    let options = Options { tree: Some(TreePattern::exact(&subject.tree)), ..Options::default() };
    let report = inspect(&file, &options).ok()?;
    let pages = || report.newest_ntuples().next().map(|ntuple| ntuple.tot_bytes);
    let raw = report.newest().next().map(TreeReport::content_bytes).or_else(pages)?;
    let share = as_f64(subject.entries) / as_f64(subject.all_entries.max(1));
    (raw > 0).then(|| as_f64(raw) * share)
}
