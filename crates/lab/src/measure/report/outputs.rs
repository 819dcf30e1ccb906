//! Several outputs at once: the measured resources of each, with the least-squares line through all runs.

use super::chart::{Chart, Drawing, Scale, Series, Spot, Style, count, tooltip};
use super::names::{LONGEST, Labelled, full, short, shown};
use super::threads::of_many;
use crate::math::as_f64;
use crate::sweep::findings::{Findings, Line, StreamCost};
use crate::sweep::metric::{Metric, amount, metric_of};
use crate::sweep::point::{Point, Setting};

/// Memory over streams.
pub(super) fn memory(findings: &Findings) -> Option<Chart> {
    chart(findings, "streams-memory", "Memory of several outputs at once", "copy_rss_record")
}

/// Time by the clock over streams.
pub(super) fn time(findings: &Findings) -> Option<Chart> {
    chart(findings, "streams-time", "Time of several outputs at once", "copy_wall")
}

fn chart(findings: &Findings, name: &'static str, title: &str, metric: &str) -> Option<Chart> {
    let metric = metric_of(metric)?;
    let costs: Vec<&StreamCost> = findings.streams.iter().filter(|cost| cost.metric == metric.name).collect();
    let figures = findings.lines.iter().filter_map(|line| line.figures.get(metric.name));
    let scale = Scale::of(metric.unit, figures.map(|figure| figure.median));
    let groups: Vec<Vec<(usize, &Line)>> = costs.iter().map(|cost| group(findings, cost)).collect();
    let labelled: Vec<Labelled> = groups.iter().map(|group| Labelled::of(group, &["streams"])).collect();
    let shown = shown(findings, &labelled);
    let all = costs.iter().zip(&groups).zip(short(&labelled, LONGEST)).zip(&shown);
    let mut series: Vec<Series> =
        all.flat_map(|(((cost, group), label), shown)| drawn(cost, group, &label, *shown, metric, scale)).collect();
    // Lines that are shown at first have the first colours.
    series.sort_by_key(|series| series.hidden);
    (!series.is_empty()).then(|| Chart {
        name,
        title: title.to_owned(),
        note: format!(
            "Points are medians, lines go through all runs. The slope is the cost of one more output.{}",
            of_many(&shown)
        ),
        drawing: Drawing::Plane { x: count("outputs"), y: scale.axis(metric.title, true), series },
    })
}

/// The points that differ in streams alone.
fn group<'a>(findings: &'a Findings, cost: &StreamCost) -> Vec<(usize, &'a Line)> {
    let rest = |point: &Point| -> Vec<Setting> {
        point.settings.iter().filter(|setting| setting.key != "streams").cloned().collect()
    };
    let lines = findings.lines.iter().enumerate().filter(|(_, line)| rest(&line.point) == cost.settings);
    let mut lines: Vec<(usize, &Line)> = lines.collect();
    lines.sort_by_key(|(_, line)| line.point.streams);
    lines
}

/// These points and their line, as one entry of the legend.
fn drawn(
    cost: &StreamCost,
    group: &[(usize, &Line)],
    label: &str,
    shown: bool,
    metric: &Metric,
    scale: Scale,
) -> [Series; 2] {
    let spot = |(point, line): &(usize, &Line)| {
        let figure = line.figures.get(metric.name)?;
        let text = vec![full(*point, line), tooltip(metric, figure)];
        Some(Spot::new(as_f64(line.point.streams as u64), scale.of_value(figure.median), text))
    };
    let points: Vec<Spot> = group.iter().filter_map(spot).collect();
    let error = cost.slope.error.map_or_else(String::new, |error| format!(" ± {}", amount(metric.unit, error)));
    let each = format!("{} for one more", amount(metric.unit, cost.slope.slope));
    let name = if label.is_empty() { each.clone() } else { format!("{label}: {each}") };
    let on_line = |x: f64| {
        let y = scale.of_value(cost.slope.start + cost.slope.slope * x);
        Spot::new(x, y, vec![label.to_owned(), format!("{each}{error}")])
    };
    let ends = [points.first(), points.last()].into_iter().flatten().map(|spot| on_line(spot.x)).collect();
    [(Style::Ideal, ends), (Style::Points, points)]
        .map(|(style, points)| Series { hidden: !shown, ..Series::new(name.clone(), style, points) })
}
