//! From runs to findings: figures of each point, differences from today's layout beyond the noise, the cost of one more stream,
//! and the Pareto fronts.

use std::collections::BTreeMap;

use super::decide;
use super::findings::{Failure, Findings, Front, Line, StreamCost};
#[cfg(test)]
use super::journal::Entry;
use super::journal::{Head, Journal};
use super::metric::METRICS;
use super::plan::Kind;
use super::point::Point;
use super::runner::Measured;
use super::runs::{Runs, reference};
use crate::math::statistics::{Figure, line, median};

/// Computes figures and a decision from a journal.
pub fn analyse_journal(head: &Head, journal: &Journal) -> Findings {
    let failure = |(point, kind, reason): (usize, Kind, &str)| Failure { point, kind, reason: reason.to_owned() };
    let failed = journal.failures().map(|(point, kind, _)| (point, kind));
    let runs = Runs::new(head, journal.entries()).beside_failures(failed);
    Findings { failures: journal.failures().map(failure).collect(), ..found(&runs) }
}

/// Computes figures and a decision from the runs.
#[cfg(test)]
pub fn analyse(head: &Head, entries: &[Entry]) -> Findings {
    found(&Runs::new(head, entries))
}

fn found(runs: &Runs<'_>) -> Findings {
    let head = runs.head;
    let reference = reference(&head.points);
    let lines: Vec<Line> = (0..head.points.len()).filter_map(|point| line_of(runs, point, reference)).collect();
    let noise = METRICS.iter().filter_map(|metric| Some((metric.name.to_owned(), runs.noise(metric)?)));
    Findings {
        head: head.clone(),
        reference,
        noise: noise.collect(),
        streams: streams(runs),
        fronts: [("copy_rss", "copy_cpu"), ("size", "full_cpu"), ("full_event", "sparse_event")]
            .map(|(a, b)| front(&lines, &runs.candidates(reference), (a, b)))
            .into_iter()
            .filter(|front| !front.points.is_empty())
            .collect(),
        further: head
            .settings
            .question
            .goals()
            .into_iter()
            .skip(1)
            .map(|goal| decide::decide(runs, head, goal))
            .collect(),
        decision: decide::decide(runs, head, head.settings.question.goal),
        lines,
        failures: Vec::new(),
    }
}

fn line_of(runs: &Runs<'_>, point: usize, reference: usize) -> Option<Line> {
    let found = METRICS.iter().filter_map(|metric| Some((metric, runs.figure(point, metric)?)));
    let figures: BTreeMap<String, Figure> = found.map(|(metric, figure)| (metric.name.to_owned(), figure)).collect();
    let against = METRICS
        .iter()
        .filter(|_| point != reference)
        .filter_map(|metric| Some((metric.name.to_owned(), runs.against(point, reference, metric)?)));
    let rounds = runs.head.settings.repeat;
    let kind = if runs.head.settings.kinds.contains(&Kind::Copy) { Kind::Copy } else { Kind::Full };
    let done = runs.of(point, kind).len();
    Some(Line {
        point: runs.head.points.get(point)?.clone(),
        dropped: (runs.head.settings.drop && done < rounds).then_some(done),
        figures,
        against: against.collect(),
        columns: columns(runs.of(point, Kind::Columns)),
    })
}

/// Medians of the columns that are read alone.
fn columns(runs: &[&Measured]) -> Vec<(String, f64)> {
    let Some(first) = runs.first() else { return Vec::new() };
    let of = |(number, (name, _)): (usize, &(String, f64))| {
        #[expect(clippy::cast_precision_loss, reason = "entries")]
        let each = |run: &&Measured| Some(1e3 * run.columns.get(number)?.1 / run.entries.max(1) as f64);
        let times: Vec<f64> = runs.iter().filter_map(each).collect();
        Some((name.clone(), median(&times)?))
    };
    first.columns.iter().enumerate().filter_map(of).collect()
}

/// The cost of one more stream, wherever points differ in streams alone.
fn streams(runs: &Runs<'_>) -> Vec<StreamCost> {
    let points = &runs.head.points;
    let mut found = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let alike = |other: &Point| {
            let one = other.layout == point.layout && other.threads == point.threads;
            one && other.is_like(point, &["streams"])
        };
        // Each group once: by its first point.
        if points.iter().position(alike) != Some(number) {
            continue;
        }
        for metric in
            METRICS.iter().filter(|m| m.kind == Kind::Copy && !["size", "baskets", "clusters"].contains(&m.name))
        {
            let of = |(at, other): (usize, &Point)| {
                #[expect(clippy::cast_precision_loss, reason = "streams")]
                let streams = other.streams as f64;
                runs.values(at, metric).into_iter().map(move |value| (streams, value)).collect::<Vec<_>>()
            };
            let all: Vec<(f64, f64)> = points.iter().enumerate().filter(|(_, p)| alike(p)).flat_map(of).collect();
            let settings = point.settings.iter().filter(|setting| setting.key != "streams").cloned().collect();
            found.extend(line(&all).map(|slope| StreamCost { settings, metric: metric.name.to_owned(), slope }));
        }
    }
    found
}

/// The Pareto front of two figures, among points that are run alike.
fn front(lines: &[Line], among: &[usize], (a, b): (&str, &str)) -> Front {
    let of = |line: &Line| Some((line.figures.get(a)?.median, line.figures.get(b)?.median));
    let value = |(point, line): (usize, &Line)| among.contains(&point).then(|| of(line)).flatten();
    let values: Vec<Option<(f64, f64)>> = lines.iter().enumerate().map(value).collect();
    // Of points that are alike in both, the first by name stands for all.
    let first = |a: usize, b: usize| match (lines.get(a), lines.get(b)) {
        (Some(a), Some(b)) => a.point.order() < b.point.order(),
        _ => false,
    };
    let beaten = |point: usize, (x, y): (f64, f64)| {
        values.iter().enumerate().any(|(other, value)| {
            value.is_some_and(|(a, b)| a <= x && b <= y && (a < x || b < y || first(other, point)))
        })
    };
    let mut points: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(point, value)| value.filter(|value| !beaten(point, *value)).map(|value| (point, value.0)))
        .collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    Front { metrics: [a.to_owned(), b.to_owned()], points: points.into_iter().map(|(point, _)| point).collect() }
}
