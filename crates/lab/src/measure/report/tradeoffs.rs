//! Trade-offs: each point of a sweep by two of its figures, with today's layout, the chosen point, and the Pareto front.

use super::chart::{Chart, Drawing, Scale, Series, Spot, Style, tooltip};
use super::names::{BESIDE, Labelled, full, short};
use crate::math::statistics::Figure;
use crate::sweep::findings::{Findings, Line};
use crate::sweep::metric::{METRICS, Metric, metric_of};
use crate::sweep::point::{AS_IS, RUN_KEYS};
use crate::sweep::runs::candidates;

const NOTE: &str = "Each point is a layout: the median of its runs. To the left and down is better.";
/// Points beyond which only those that no other beats are named: names of all would lie on their neighbours.
const MOST_NAMED: usize = 12;

/// Memory against CPU: of copying, or of reading where nothing was copied.
pub(super) fn memory(findings: &Findings) -> Option<Chart> {
    let title = "Memory against CPU";
    chart(findings, "memory", &format!("{title} of copying"), ("copy_rss", "copy_cpu"))
        .or_else(|| chart(findings, "memory", &format!("{title} of reading"), ("full_rss", "full_cpu")))
}

/// Bytes on disk against the time to read all of them.
pub(super) fn size(findings: &Findings) -> Option<Chart> {
    let read = if findings.head.settings.cold { "full_wall" } else { "full_cpu" };
    chart(findings, "size", "Size against reading everything", ("size", read))
}

/// Everything against a few entries.
pub(super) fn sparse(findings: &Findings) -> Option<Chart> {
    chart(findings, "sparse", "Reading everything against picked entries", ("full_event", "sparse_event"))
}

fn chart(findings: &Findings, name: &'static str, title: &str, (x, y): (&str, &str)) -> Option<Chart> {
    let (x, y) = (metric_of(x)?, metric_of(y)?);
    let figures = |line: &Line| Some((figure(line, x)?.median, figure(line, y)?.median));
    let known: Vec<(usize, (f64, f64))> =
        findings.lines.iter().enumerate().filter_map(|(point, line)| Some((point, figures(line)?))).collect();
    // One point is no trade.
    if known.len() < 2 {
        return None;
    }
    let across = Scale::of(x.unit, known.iter().map(|(_, (x, _))| *x));
    let upwards = Scale::of(y.unit, known.iter().map(|(_, (_, y))| *y));
    let among = candidates(&findings.head.points, findings.reference);
    // Those that are run otherwise stay behind the others, and nameless.
    let named = |point: &usize| findings.lines.get(*point).map(|line| Labelled::of(&[(*point, line)], &[]));
    let names = short(&among.iter().filter_map(named).collect::<Vec<_>>(), BESIDE);
    let front = findings.fronts.iter().find(|front| front.metrics == [x.name, y.name]);
    let front: &[usize] = front.map_or(&[], |front| &front.points);
    let marked = [Some(findings.reference), findings.decision.chosen];
    let crowded = known.len() > MOST_NAMED;
    let is_named = |point: usize| !crowded || front.contains(&point) || marked.contains(&Some(point));
    let spot = |point: usize| {
        let (_, (x, y)) = known.iter().find(|(known, _)| *known == point)?;
        let name = among.iter().zip(&names).find(|(other, _)| **other == point && is_named(point));
        Some(Spot {
            name: name.map(|(_, name)| name.clone()).unwrap_or_default(),
            x: across.of_value(*x),
            y: upwards.of_value(*y),
            text: findings.lines.get(point).map(|line| text(point, line)).unwrap_or_default(),
        })
    };
    let is_plain = |point: &usize| !marked.contains(&Some(*point));
    let of = |keep: &dyn Fn(&usize) -> bool| -> Vec<Spot> {
        known.iter().map(|(point, _)| *point).filter(keep).filter_map(spot).collect()
    };
    let one = |point: Option<usize>| point.and_then(spot).into_iter().collect::<Vec<_>>();
    let series = [
        ("other streams or threads", Style::Others, of(&|point| is_plain(point) && !among.contains(point))),
        ("layouts", Style::Points, of(&|point| is_plain(point) && among.contains(point))),
        ("Pareto front", Style::Front, front.iter().filter_map(|&point| spot(point)).collect()),
        (reference_name(findings), Style::Today, one(Some(findings.reference))),
        ("chosen", Style::Chosen, one(findings.decision.chosen)),
    ];
    let series = series.into_iter().filter(|(_, _, points)| !points.is_empty());
    let series = series.map(|(name, style, points)| Series::new(name, style, points)).collect();
    let (x, y) = (across.axis(x.title, false), upwards.axis(y.title, false));
    let note = match crowded {
        true => format!("{NOTE} Those that no other beats are named; tooltips name all."),
        false => NOTE.to_owned(),
    };
    Some(Chart { name, title: title.to_owned(), note, drawing: Drawing::Plane { x, y, series } })
}

/// The name of the reference point.
fn reference_name(findings: &Findings) -> &'static str {
    let point = findings.head.points.get(findings.reference);
    let today = point.is_some_and(|point| {
        let mut of_layout = point.settings.iter().filter(|s| !RUN_KEYS.contains(&s.key.as_str()));
        point.name.as_deref() == Some("today") || of_layout.all(|s| s.value == AS_IS)
    });
    if today { "today" } else { "held against" }
}

fn figure<'a>(line: &'a Line, metric: &Metric) -> Option<&'a Figure> {
    line.figures.get(metric.name)
}

/// The point and its figures.
fn text(point: usize, line: &Line) -> Vec<String> {
    const TOLD: [&str; 8] =
        ["size", "copy_rss", "copy_rss_record", "copy_cpu", "copy_wall", "full_rss", "full_cpu", "sparse_event"];
    let figures = METRICS.iter().filter(|metric| TOLD.contains(&metric.name));
    let figures = figures.filter_map(|metric| Some(tooltip(metric, figure(line, metric)?)));
    std::iter::once(full(point, line)).chain(figures).collect()
}
