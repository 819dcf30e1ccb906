//! Speed-up by threads, and how threads spend their time.

use super::chart::{Bar, Chart, Drawing, Part, Scale, Series, Spot, Style, amounts, count, tooltip};
use super::names::{LONGEST, Labelled, full, short, shown};
use crate::math::as_f64;
use crate::math::statistics::Figure;
use crate::sweep::findings::{Findings, Line};
use crate::sweep::metric::{Unit, amount, metric_of};
use crate::sweep::point::Point;

/// Jobs by the figure of their real time, with their names in the legend.
const JOBS: [(&str, &str); 4] =
    [(COPY, "copy"), ("full_wall", "read all"), ("sparse_wall", "read picked"), ("chosen_wall", "read chosen")];

/// The job for which each number of streams is a case of its own.
const COPY: &str = "copy_wall";

/// Bars that can be told apart.
const MOST_BARS: usize = 16;

/// Points with their numbers.
type Group<'a> = Vec<(usize, &'a Line)>;

/// Points that differ in threads alone, by threads; only where there are several numbers of them.
fn groups(findings: &Findings) -> Vec<Group<'_>> {
    let alike = |a: &Point, b: &Point| {
        a.is_like(b, &["threads"]) && (a.streams, a.fraction.to_bits()) == (b.streams, b.fraction.to_bits())
    };
    let mut found: Vec<Group<'_>> = Vec::new();
    for line in findings.lines.iter().enumerate() {
        let is = |group: &&mut Group<'_>| group.first().is_some_and(|(_, first)| alike(&first.point, &line.1.point));
        match found.iter_mut().find(is) {
            Some(group) => group.push(line),
            None => found.push(vec![line]),
        }
    }
    found.iter_mut().for_each(|group| group.sort_by_key(|(_, line)| line.point.threads));
    found.retain(|group| fewest(group) != most(group));
    found
}

fn fewest(group: &Group<'_>) -> Option<usize> {
    group.first().map(|(_, line)| line.point.threads)
}

fn most(group: &Group<'_>) -> Option<usize> {
    group.last().map(|(_, line)| line.point.threads)
}

/// Times as fast as with the fewest threads.
pub(super) fn speed_up(findings: &Findings) -> Option<Chart> {
    let groups = groups(findings);
    let labelled: Vec<Labelled> = groups.iter().map(|group| Labelled::of(group, &["threads"])).collect();
    let shown = shown(findings, &labelled);
    // Copies of several streams share one reading.
    let readers = findings.readers();
    let reads = |group: &Group<'_>| group.iter().all(|(point, _)| readers.get(*point).copied().unwrap_or(false));
    let own: Vec<Labelled> = groups.iter().map(|group| Labelled::of(group, &["threads", "streams"])).collect();
    let reading = groups.iter().zip(&own).filter(|(group, _)| reads(group)).map(|(_, subject)| subject.clone());
    let reading: Vec<Labelled> = reading.collect();
    let mut read_labels = short(&reading, LONGEST).into_iter();
    let mut series = Vec::new();
    for ((group, copy_label), shown) in groups.iter().zip(short(&labelled, LONGEST)).zip(&shown) {
        let read_label = if reads(group) { read_labels.next() } else { None };
        for (name, job) in JOBS {
            let label = if name == COPY { Some(&copy_label) } else { read_label.as_ref() };
            let Some(label) = label else { continue };
            let Some(metric) = metric_of(name) else { continue };
            let known: Vec<(usize, &Line, &Figure)> =
                group.iter().filter_map(|&(point, line)| Some((point, line, line.figures.get(name)?))).collect();
            let Some((_, _, slowest)) = known.first() else { continue };
            let spot = |(point, line, figure): &(usize, &Line, &Figure)| {
                let times = slowest.median / figure.median;
                let text =
                    vec![full(*point, line), format!("{job}: {times:.2} times as fast"), tooltip(metric, figure)];
                times.is_finite().then(|| Spot::new(as_f64(line.point.threads as u64), times, text))
            };
            let name = if label.is_empty() { job.to_owned() } else { format!("{job}, {label}") };
            let points: Vec<Spot> = known.iter().filter_map(spot).collect();
            if points.len() > 1 {
                series.push(Series { hidden: !shown, ..Series::new(name, Style::Line, points) });
            }
        }
    }
    if series.is_empty() {
        return None;
    }
    let least = groups.iter().filter_map(fewest).min()?;
    let ideal = [least, groups.iter().filter_map(most).max()?].map(|n| {
        let times = as_f64(n as u64) / as_f64(least as u64);
        Spot::new(as_f64(n as u64), times, vec![format!("{times:.2} times as fast")])
    });
    series.push(Series::new("as many times as threads", Style::Ideal, ideal.to_vec()));
    // Lines that are shown at first have the first colours.
    series.sort_by_key(|series| series.hidden);
    Some(Chart {
        name: "speedup",
        title: "Speed-up over threads".to_owned(),
        note: format!("Real time, against the fewest threads ({least}).{}", of_many(&shown)),
        drawing: Drawing::Plane { x: count("threads"), y: amounts("times as fast"), series },
    })
}

/// The note of a chart that does not show all lines at first.
pub(super) fn of_many(shown: &[bool]) -> String {
    match shown.iter().all(|shown| *shown) {
        true => String::new(),
        false => format!(
            " Of {} layouts, today's and the chosen one are shown; a click in the legend shows others.",
            shown.len()
        ),
    }
}

/// How threads spend the time of a copy.
pub(super) fn time(findings: &Findings) -> Option<Chart> {
    let groups = groups(findings);
    let shown = shown(findings, &groups.iter().map(|group| Labelled::of(group, &["threads"])).collect::<Vec<_>>());
    let all = groups.iter().map(Vec::len).sum::<usize>() <= MOST_BARS;
    let few = groups.iter().zip(&shown).filter(|(_, shown)| all || **shown).flat_map(|(group, _)| group);
    let lines: Vec<(usize, &Line)> = few.copied().collect();
    let names = short(&lines.iter().map(|line| Labelled::of(&[*line], &[])).collect::<Vec<_>>(), LONGEST);
    let bar = |((point, line), name): (&(usize, &Line), String)| {
        let (wall, cpu) = (line.figures.get("copy_wall")?.median, line.figures.get("copy_cpu")?.median);
        let rest = (wall * as_f64(line.point.threads as u64) - cpu).max(0.0);
        Some((name, full(*point, line), [cpu, rest]))
    };
    let note = match all {
        true => String::new(),
        false => format!(" Of {} layouts, today's and the chosen one.", groups.len()),
    };
    stacked(
        "threads",
        "What threads do while copying",
        format!("CPU of a copy, and the rest of the real time of all its threads.{note}"),
        ["busy", "waiting or idle"],
        lines.iter().zip(names).filter_map(bar).collect(),
    )
}

/// A bar chart, unless there are no bars: each has a name, a description, and seconds for each part.
pub(super) fn stacked<const N: usize>(
    name: &'static str,
    title: &str,
    note: String,
    parts: [&str; N],
    bars: Vec<(String, String, [f64; N])>,
) -> Option<Chart> {
    let scale = Scale::of(Unit::Seconds, bars.iter().map(|(_, _, values)| values.iter().sum()));
    let part = |(at, name): (usize, &&str)| Part {
        name: (*name).to_owned(),
        values: bars.iter().filter_map(|(_, _, values)| values.get(at)).map(|v| scale.of_value(*v)).collect(),
    };
    let drawn = parts.iter().enumerate().map(part).collect();
    let bar = |(name, full, values): &(String, String, [f64; N])| {
        let told = parts.iter().zip(values).map(|(part, value)| format!("{part}: {}", amount(Unit::Seconds, *value)));
        Bar { name: name.clone(), text: std::iter::once(full.clone()).chain(told).collect() }
    };
    (!bars.is_empty()).then(|| Chart {
        name,
        title: title.to_owned(),
        note,
        drawing: Drawing::Bars {
            x: scale.axis("time of all threads", true),
            bars: bars.iter().map(bar).collect(),
            parts: drawn,
        },
    })
}
