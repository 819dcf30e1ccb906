//! The page of `tune`: the choices and the front that no layout is beyond, before and after, and the reasons. Nothing is measured here.

use super::chart::{Bar, Chart, Drawing, Part, Scale, Series, Spot, Style};
use super::table::{Cell, Table};
use super::{Fact, Report, Statement, rewrite};
use crate::math::as_f64;
use crate::sweep::metric::{Unit, amount};
use crate::tune::report::{Choice, Cost, Goal, Report as Tuning};

/// The page of a report.
pub fn report(of: &Tuning) -> Report {
    let part = |title: &str, lines: &[String]| Statement { title: title.to_owned(), lines: lines.to_vec() };
    let verdict: Vec<String> = Some(of.verdict.clone()).filter(|verdict| !verdict.is_empty()).into_iter().collect();
    let mut said = vec![
        part("The result", &verdict),
        part("Why", &of.why),
        part("What was tried", &of.tried),
        part("What was not", &of.not_tried),
    ];
    said.retain(|part| !part.lines.is_empty());
    let (drawn, left_out): (Vec<_>, Vec<_>) =
        [(front(of), "choices (one layout is no choice)"), (reading(of), "reading (no layout keeps the limits)")]
            .into_iter()
            .partition(|(chart, _)| chart.is_some());
    Report {
        title: format!("Tuning of {}", of.input),
        facts: facts(of),
        chosen: of.choices.iter().find(|choice| choice.chosen).map(named),
        said,
        command: of.layout.as_ref().map(|_| rewrite(of.input.as_ref())),
        layout: of.layout.clone(),
        charts: drawn.into_iter().filter_map(|(chart, _)| chart).collect(),
        left_out: left_out.into_iter().map(|(_, what)| what.to_owned()).collect(),
        stars: "Times are CPU seconds of one thread.".to_owned(),
        tables: [Some(compared(of)), choices(of), groups(of)].into_iter().flatten().collect(),
    }
}

fn facts(of: &Tuning) -> Vec<Fact> {
    let fact = |name, value| Fact { name, value };
    let m = &of.measuring;
    let goal = match of.goal {
        Goal::Balanced => "the price of the file's life",
        Goal::Reading => "the time to read the workload",
        Goal::Size => "the size",
    };
    let measured = format!(
        "{} of {} columns, {} before compression, in {} of CPU time (seed {})",
        m.sampled_columns,
        m.columns,
        amount(Unit::Bytes, m.sampled_bytes),
        amount(Unit::Seconds, m.cpu_seconds),
        m.seed
    );
    let mut all = vec![
        fact("workload", of.workload.clone()),
        fact("to be small", goal.to_owned()),
        fact("measured", measured),
        fact("codecs", m.codecs.join(", ")),
    ];
    all.extend(of.tree.clone().map(|tree| fact("tree", tree)));
    all.extend((of.files > 1).then(|| fact("files", format!("{} of {} measured", of.measured_files, of.files))));
    all
}

/// A choice by its number and names.
fn named(choice: &Choice) -> String {
    format!("{}: {}, {}", choice.number, choice.title(), choice.container)
}

/// The choices by size and reading time, today's and the chosen one, and the front.
fn front(of: &Tuning) -> Option<Chart> {
    if of.choices.len() + of.front.len() < 2 {
        return None;
    }
    let figures = || of.choices.iter().map(|choice| &choice.figures.cost);
    let across = Scale::of(Unit::Bytes, figures().map(|cost| cost.size).chain(of.front.iter().map(|point| point.size)));
    let upwards =
        Scale::of(Unit::Seconds, figures().map(|cost| cost.read).chain(of.front.iter().map(|point| point.read)));
    let place = |size: f64, read: f64| (across.of_value(size), upwards.of_value(read));
    let told = |size: f64, read: f64| {
        [format!("size: {}", amount(Unit::Bytes, size)), format!("reading: {}", amount(Unit::Seconds, read))]
    };
    let spot = |choice: &Choice| {
        let Cost { size, read, .. } = choice.figures.cost;
        let (x, y) = place(size, read);
        let text = std::iter::once(named(choice)).chain(told(size, read)).collect();
        Spot { name: choice.number.to_string(), x, y, text }
    };
    let only = |keep: fn(&&Choice) -> bool| of.choices.iter().filter(keep).map(spot).collect::<Vec<_>>();
    let line = of.front.iter().map(|point| {
        let (x, y) = place(point.size, point.read);
        Spot::new(x, y, told(point.size, point.read).to_vec())
    });
    let series = [
        ("choices", Style::Points, only(|choice| !choice.chosen && !choice.is_today())),
        ("no layout is beyond", Style::Front, line.collect()),
        ("today", Style::Today, only(|choice| choice.is_today())),
        ("chosen", Style::Chosen, only(|choice| choice.chosen)),
    ];
    let series = series.into_iter().filter(|(_, _, points)| !points.is_empty());
    Some(Chart {
        name: "front",
        title: "Size against reading the workload".to_owned(),
        note: "Each point is a layout, as it is expected to be, with its number in the table. To the left and down is better."
            .to_owned(),
        drawing: Drawing::Plane {
            x: across.axis("size", false),
            y: upwards.axis("reading", false),
            series: series.map(|(name, style, points)| Series::new(name, style, points)).collect(),
        },
    })
}

/// What reading takes today and in the chosen layout.
fn reading(of: &Tuning) -> Option<Chart> {
    let both = [("today", of.today.cost), ("chosen", of.chosen.as_ref()?.cost)];
    let scale = Scale::of(Unit::Seconds, both.iter().map(|(_, cost)| cost.read));
    let bar = |(name, cost): &(&str, Cost)| Bar {
        name: (*name).to_owned(),
        text: vec![
            (*name).to_owned(),
            format!("fetching: {}", amount(Unit::Seconds, cost.fetch)),
            format!("decompressing: {}", amount(Unit::Seconds, cost.decompress)),
            format!("decoding: {}", amount(Unit::Seconds, cost.decode)),
        ],
    };
    let part = |name: &str, of: fn(&Cost) -> f64| Part {
        name: name.to_owned(),
        values: both.iter().map(|(_, cost)| scale.of_value(of(cost))).collect(),
    };
    Some(Chart {
        name: "reading",
        title: "Reading the workload, before and after".to_owned(),
        note: "CPU time of one thread, as it is expected.".to_owned(),
        drawing: Drawing::Bars {
            x: scale.axis("reading", true),
            bars: both.iter().map(bar).collect(),
            parts: vec![
                part("fetching", |cost| cost.fetch),
                part("decompressing", |cost| cost.decompress),
                part("decoding", |cost| cost.decode),
            ],
        },
    })
}

fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), value: None }
}

fn figure(unit: Unit, value: Option<f64>) -> Cell {
    let text = value.map_or_else(String::new, |value| amount(unit, value).replace(' ', "\u{a0}"));
    Cell { text, value }
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Today's figures, those that are expected, and those that a rewrite has shown.
fn compared(of: &Tuning) -> Table {
    let (today, chosen) = (&of.today, of.chosen.as_ref());
    let proof = of.proof.as_ref();
    let row = |what: &str, unit: Unit, cost: fn(&Cost) -> f64, measured: Option<f64>| {
        vec![
            text(what),
            figure(unit, Some(cost(&today.cost))),
            figure(unit, chosen.map(|chosen| cost(&chosen.cost))),
            figure(unit, measured),
        ]
    };
    let mut rows = vec![
        row("size", Unit::Bytes, |cost| cost.size, proof.map(|proof| proof.size.measured)),
        row("reading the workload", Unit::Seconds, |cost| cost.read, proof.map(|proof| proof.read_chosen.measured)),
        row("bytes that it reads", Unit::Bytes, |cost| cost.read_bytes, None),
        row("compressing", Unit::Seconds, |cost| cost.write, None),
        row("memory of a reader of all columns", Unit::Bytes, |cost| cost.read_memory, None),
        row("baskets or pages", Unit::Count, |cost| cost.baskets, proof.map(|proof| proof.baskets.measured)),
    ];
    let clusters = [Some(today.clusters), chosen.map(|chosen| chosen.clusters), None];
    rows.push(std::iter::once(text("clusters")).chain(clusters.map(|value| figure(Unit::Count, value))).collect());
    Table {
        title: "Before and after".to_owned(),
        head: head(&["figure", "today", "expected", "measured"]),
        rows,
        foot: Vec::new(),
    }
}

fn choices(of: &Tuning) -> Option<Table> {
    let row = |choice: &Choice| {
        vec![
            figure(Unit::Count, Some(as_f64(choice.number as u64))),
            text(choice.title()),
            text(&choice.container),
            figure(Unit::Bytes, Some(choice.figures.cost.size)),
            figure(Unit::Seconds, Some(choice.figures.cost.read)),
            figure(Unit::Seconds, choice.read_all),
            figure(Unit::Seconds, choice.read_sparse),
            figure(Unit::Seconds, Some(choice.rewrite)),
            Cell { text: format!("{:.2}", choice.bill.total), value: Some(choice.bill.total) },
            text(if choice.chosen { "chosen" } else { "" }),
        ]
    };
    let currency = of.choices.first().map(|choice| choice.bill.currency.clone())?;
    let price = format!("price [{currency}]");
    let names =
        ["number", "choice", "container", "size", "workload", "everything", "1 % of entries", "rewrite", &price, ""];
    Some(Table {
        title: "Choices, for --choose".to_owned(),
        head: head(&names),
        rows: of.choices.iter().map(row).collect(),
        foot: Vec::new(),
    })
}

/// Columns that change their codec.
fn groups(of: &Tuning) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = of
        .groups
        .iter()
        .map(|group| {
            vec![
                text(&group.from),
                text(&group.to),
                figure(Unit::Count, Some(as_f64(group.columns as u64))),
                figure(Unit::Bytes, Some(group.today.size)),
                figure(Unit::Bytes, Some(group.chosen.size)),
                figure(Unit::Seconds, Some(group.today.read)),
                figure(Unit::Seconds, Some(group.chosen.read)),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: "Codecs".to_owned(),
        head: head(&["from", "to", "columns", "size", "size then", "reading", "reading then"]),
        rows,
        foot: Vec::new(),
    })
}
