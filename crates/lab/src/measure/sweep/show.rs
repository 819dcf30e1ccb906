//! The tables of the published studies: memory and time by split level, buffer and basket memory, and what one more
//! stream costs (LHCb); size and time by codec and cluster (CMS); time for an entry, all and picked (ATLAS).
//!
//! A table is plain text and numbers; [`markdown`] and [`csv()`] write all of them. JSON is the findings themselves.

use std::fmt::Write;

pub use super::cells::{Cell, Table};
use super::costs;
use super::findings::{Decision, Findings, Line};
use super::metric::{Metric, Unit, amount, metric_of};
use super::point::Point;
use crate::price::PriceBook;

/// Maximum number of columns of a tree in one table; JSON has all.
const COLUMNS: usize = 20;
/// Figures of copying, in the order of the study.
const MEMORY: [&str; 8] =
    ["copy_vsize", "copy_vsize_record", "copy_rss", "copy_rss_record", "copy_wall", "copy_cpu", "size", "baskets"];
const READING: [&str; 4] = ["full_vsize", "full_rss", "full_wall", "full_cpu"];
const CODECS: [&str; 6] = ["size", "copy_wall", "copy_cpu", "copy_event", "copy_rss_record", "full_cpu"];
const EVENTS: [&str; 5] = ["full_event", "sparse_event", "sparse_first", "sparse_bytes", "columns_wall"];
const ALL: [&str; 7] = ["size", "copy_cpu", "copy_rss_record", "full_cpu", "full_rss", "sparse_event", "chosen_cpu"];

/// A figure of a point. A star says that it differs from the reference beyond the noise.
fn cell(line: &Line, metric: &Metric) -> Cell {
    let Some(figure) = line.figures.get(metric.name) else { return Cell::default() };
    let mut cell = Cell::number(metric.unit, figure.median);
    if line.against.get(metric.name).is_some_and(|against| against.differs) {
        cell.text.push_str(" *");
    }
    cell
}

/// All tables that there is something in.
pub fn tables(findings: &Findings) -> Vec<Table> {
    priced_tables(findings, None)
}

/// The same, with what each point costs over the file's life by these prices.
pub fn priced_tables(findings: &Findings, prices: Option<&PriceBook>) -> Vec<Table> {
    let mut all = vec![overview(findings)];
    all.extend(pivots(findings, "copying", &MEMORY));
    let readings = readings(findings);
    all.extend(pivots(&readings, "reading", &READING));
    all.push(streams(findings));
    all.push(codecs(findings));
    all.push(flat(&readings, "time for an entry, all and picked", &EVENTS));
    all.push(columns(&readings));
    all.push(costs::table(findings, prices));
    all.retain(|table| !table.rows.is_empty() && table.head.len() > 1);
    all
}

/// The number of a line's point.
fn place(findings: &Findings, point: &Point) -> Option<usize> {
    // A reading is named without its streams.
    let is = |other: &Point| other.name == point.name && other.is_like(point, &["streams"]);
    let points = &findings.head.points;
    points.iter().position(|other| other == point).or_else(|| points.iter().position(is))
}

/// The same findings with each reading once: points that differ only in streams share a reading.
fn readings(findings: &Findings) -> Findings {
    let mut readings = findings.clone();
    let readers = findings.readers();
    let own = |point: &Point| place(findings, point).and_then(|place| readers.get(place)).copied();
    readings.lines.retain(|line| own(&line.point).unwrap_or(true));
    readings.lines.iter_mut().for_each(|line| line.point.settings.retain(|setting| setting.key != "streams"));
    readings
}

/// The measured figures among these.
fn measured(findings: &Findings, names: &[&str]) -> Vec<&'static Metric> {
    let known = |name: &str| findings.lines.iter().any(|line| line.figures.contains_key(name));
    names.iter().filter(|name| known(name)).filter_map(|name| metric_of(name)).collect()
}

/// A row for each point, a column for each figure.
fn flat(findings: &Findings, title: &str, names: &[&str]) -> Table {
    let metrics = measured(findings, names);
    let head = std::iter::once("point").chain(metrics.iter().map(|metric| metric.title)).map(str::to_owned).collect();
    let row = |line: &Line| {
        let dropped = line.dropped.map_or_else(String::new, |rounds| format!(" (dropped after {rounds})"));
        let name = Cell::text(format!("{}{dropped}", line.point));
        std::iter::once(name).chain(metrics.iter().map(|metric| cell(line, metric))).collect()
    };
    let points = findings.lines.iter().filter_map(|line| place(findings, &line.point)).collect();
    Table { title: title.to_owned(), head, rows: findings.lines.iter().map(row).collect(), points }
}

/// The most wanted figures, with their noise.
fn overview(findings: &Findings) -> Table {
    let mut table = flat(findings, "all points", &ALL);
    let noise = |metric: &&Metric| {
        let share = findings.noise.get(metric.name).copied();
        Cell { text: share.map_or_else(String::new, |share| format!("± {:.2} %", 100.0 * share)), value: share }
    };
    let metrics = measured(findings, &ALL);
    table.rows.push(std::iter::once(Cell::text("noise of one run")).chain(metrics.iter().map(noise)).collect());
    table
}

/// Tables with rows for the basket memory and columns for split level and buffer size, one table for each combination
/// of the other settings. If at most one of the three was varied, a table with a row for each point.
fn pivots(findings: &Findings, what: &str, names: &[&str]) -> Vec<Table> {
    const ACROSS: [&str; 2] = ["split-level", "basket"];
    const DOWN: &str = "basket-memory";
    let metrics = measured(findings, names);
    let varies = |key: &str| {
        let mut values = findings.lines.iter().filter_map(|line| line.point.value(key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    match ACROSS.iter().chain([&DOWN]).filter(|key| varies(key)).count() {
        _ if metrics.is_empty() => return Vec::new(),
        0 | 1 => return vec![flat(findings, what, names)],
        _ => {}
    }
    let label = |line: &Line, keys: &dyn Fn(&str) -> bool| -> String {
        let settings = line.point.settings.iter().filter(|setting| keys(&setting.key));
        settings.map(|setting| format!("{}={}", setting.key, setting.value)).collect::<Vec<_>>().join(" ")
    };
    let across = |line: &Line| label(line, &|key| ACROSS.contains(&key));
    let down = |line: &Line| label(line, &|key| key == DOWN);
    let rest = |line: &Line| label(line, &|key| key != DOWN && !ACROSS.contains(&key));
    let unnamed = || findings.lines.iter().filter(|line| line.point.name.is_none());
    let distinct = |of: &dyn Fn(&Line) -> String| {
        let mut found: Vec<String> = Vec::new();
        unnamed().map(of).for_each(|text| {
            if !found.contains(&text) {
                found.push(text);
            }
        });
        found
    };
    let (rests, downs, acrosses) = (distinct(&rest), distinct(&down), distinct(&across));
    let mut all = Vec::new();
    for other in rests {
        let mut table = Table {
            title: if other.is_empty() { what.to_owned() } else { format!("{what}, {other}") },
            head: [DOWN.to_owned(), "figure".to_owned()].into_iter().chain(acrosses.iter().cloned()).collect(),
            ..Table::default()
        };
        for memory in &downs {
            for metric in &metrics {
                let of = |column: &String| {
                    let is = |line: &&Line| rest(line) == other && down(line) == *memory && across(line) == *column;
                    unnamed().find(is).map_or_else(Cell::default, |line| cell(line, metric))
                };
                let value = memory.split_once('=').map_or("", |(_, value)| value);
                let mut row = vec![Cell::text(value), Cell::text(metric.title)];
                row.extend(acrosses.iter().map(of));
                table.rows.push(row);
            }
        }
        table.rows.retain(|row| row.iter().skip(2).any(|cell| cell.value.is_some()));
        all.push(table);
    }
    all
}

/// The cost of one more stream.
fn streams(findings: &Findings) -> Table {
    let mut names: Vec<&str> = Vec::new();
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
    for cost in &findings.streams {
        let Some(metric) = metric_of(&cost.metric) else { continue };
        if !names.contains(&metric.title) {
            names.push(metric.title);
        }
        let settings: Vec<String> = cost.settings.iter().map(|s| format!("{}={}", s.key, s.value)).collect();
        let settings = settings.join(" ");
        let error = cost.slope.error.map_or_else(String::new, |error| format!(" ± {}", amount(metric.unit, error)));
        let text = format!("{}{error}", amount(metric.unit, cost.slope.slope));
        let cell = Cell { text, value: Some(cost.slope.slope) };
        match rows.iter_mut().find(|(label, _)| *label == settings) {
            Some((_, cells)) => cells.push(cell),
            None => rows.push((settings, vec![cell])),
        }
    }
    Table {
        title: "cost of one more stream".to_owned(),
        head: std::iter::once("points").chain(names).map(str::to_owned).collect(),
        rows: rows
            .into_iter()
            .map(|(label, cells)| std::iter::once(Cell::text(label)).chain(cells).collect())
            .collect(),
        points: Vec::new(),
    }
}

/// Size and time by codec, level and cluster.
fn codecs(findings: &Findings) -> Table {
    let varies = |key: &str| findings.lines.iter().any(|line| line.point.value(key).is_some());
    match varies("compression") || varies("cluster") {
        true => flat(findings, "size and time by codec and cluster", &CODECS),
        false => Table::default(),
    }
}

/// Milliseconds for an entry of each column that is read alone, the slowest first.
fn columns(findings: &Findings) -> Table {
    let of = |line: &Line, name: &str| line.columns.iter().find(|(column, _)| column == name).map(|(_, ms)| *ms);
    let Some(first) = findings.lines.iter().find(|line| !line.columns.is_empty()) else { return Table::default() };
    let mut names: Vec<(&str, f64)> = first.columns.iter().map(|(name, ms)| (name.as_str(), *ms)).collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let lines: Vec<&Line> = findings.lines.iter().filter(|line| !line.columns.is_empty()).collect();
    let row = |(name, _): &(&str, f64)| {
        let times = lines
            .iter()
            .map(|line| of(line, name).map_or_else(Cell::default, |ms| Cell::number(Unit::Milliseconds, ms)));
        std::iter::once(Cell::text(*name)).chain(times).collect()
    };
    Table {
        title: format!("time for an entry of each column, read alone (the {} dearest)", names.len().min(COLUMNS)),
        head: std::iter::once("column".to_owned()).chain(lines.iter().map(|line| line.point.to_string())).collect(),
        rows: names.iter().take(COLUMNS).map(row).collect(),
        points: Vec::new(),
    }
}

/// All tables and the decision, as Markdown.
pub fn markdown(findings: &Findings) -> String {
    priced_markdown(findings, None)
}

/// The same, with what each point costs over the file's life by these prices.
pub fn priced_markdown(findings: &Findings, prices: Option<&PriceBook>) -> String {
    let mut out = String::new();
    let head = &findings.head;
    let machine = &head.machine;
    let versions: Vec<String> = head.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "# Sweep of {}\n\n{}{} points, {} times each, {} cache; {} ({} processors, {}), {}.\n\n\
         A star marks differences from {} {}",
        head.title(),
        head.amount().map_or_else(String::new, |amount| format!("{amount}, ")),
        head.points.len(),
        head.settings.repeat,
        if head.settings.cold { "cold" } else { "warm" },
        machine.processor,
        machine.processors,
        machine.kernel,
        versions.join(", "),
        head.points.get(findings.reference).map_or_else(String::new, |point| format!("`{point}`")),
        findings.test(),
    );
    for table in priced_tables(findings, prices) {
        let _ = writeln!(out, "\n## {}\n", table.title);
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let _ = writeln!(out, "{}", row(table.head.clone()));
        let rule = |(column, _): (usize, &String)| if column == 0 { "---" } else { "---:" }.to_owned();
        let _ = writeln!(out, "{}", row(table.head.iter().enumerate().map(rule).collect()));
        for cells in &table.rows {
            let _ = writeln!(out, "{}", row(cells.iter().map(|cell| cell.text.replace('|', "\\|")).collect()));
        }
    }
    if let Some(why) = costs::record_note(findings) {
        let _ = writeln!(out, "\nNote: {why}.");
    }
    if let Some(book) = prices {
        let _ = writeln!(out, "\nPrices: {}.", book.summary());
        if let Some(why) = costs::unpriced(findings) {
            let _ = writeln!(out, "\nNote: {why}.");
        }
    }
    let _ = writeln!(out, "\n## The decision\n");
    out.extend(sentences(findings).iter().map(|line| format!("- {line}\n")));
    out
}

/// The decision in words.
pub fn sentences(findings: &Findings) -> Vec<String> {
    let mut sentences = findings.failed();
    sentences.extend(findings.decisions().flat_map(|decision| decided(findings, decision)));
    let name = |point: &usize| findings.head.points.get(*point).map_or_else(String::new, ToString::to_string);
    for front in &findings.fronts {
        let points: Vec<String> = front.points.iter().map(name).collect();
        let titles = front.metrics.each_ref().map(|metric| metric_of(metric).map_or("", |metric| metric.title));
        sentences.push(format!("not beaten in both {} and {}: {}", titles[0], titles[1], points.join("; ")));
    }
    sentences
}

/// One decision in words.
fn decided(findings: &Findings, decision: &Decision) -> Vec<String> {
    let name = |point: &usize| findings.head.points.get(*point).map_or_else(String::new, ToString::to_string);
    let mut sentences = decision.impossible.clone();
    if let Some(chosen) = &decision.chosen {
        let goal = metric_of(&decision.goal).filter(|_| !findings.further.is_empty());
        let goal = goal.map_or_else(String::new, |metric| format!(" in {}", metric.title));
        sentences.push(format!("best{goal}: {}", name(chosen)));
    }
    sentences.extend(decision.reasons.iter().cloned());
    if !decision.equals.is_empty() {
        let equals: Vec<String> = decision.equals.iter().map(name).collect();
        sentences.push(format!("as good within the noise: {}", equals.join("; ")));
    }
    sentences.extend(decision.sensitivity.iter().cloned());
    sentences
}

/// All figures as CSV: a line for each point and figure.
pub fn csv(findings: &Findings) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for setting in findings.lines.iter().flat_map(|line| &line.point.settings) {
        if !keys.contains(&setting.key.as_str()) {
            keys.push(&setting.key);
        }
    }
    let mut out = String::new();
    let line = |out: &mut String, cells: &[String]| {
        let quoted: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        let _ = writeln!(out, "{}", quoted.join(","));
    };
    let mut head = vec!["point".to_owned()];
    head.extend(keys.iter().map(|key| (*key).to_owned()));
    let rest = ["figure", "median", "noise", "least", "most", "runs", "times", "chance", "differs"];
    head.extend(rest.map(str::to_owned));
    line(&mut out, &head);
    for point in &findings.lines {
        for (name, figure) in &point.figures {
            let mut cells = vec![point.point.to_string()];
            cells.extend(keys.iter().map(|key| point.point.value(key).unwrap_or_default().to_owned()));
            cells.push(name.clone());
            cells.extend([figure.median, figure.noise, figure.least, figure.most].map(|value| value.to_string()));
            cells.push(figure.runs.to_string());
            match point.against.get(name) {
                Some(a) => cells.extend([a.times.to_string(), a.chance.to_string(), a.differs.to_string()]),
                None => cells.extend([const { String::new() }; 3]),
            }
            line(&mut out, &cells);
        }
    }
    out
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
