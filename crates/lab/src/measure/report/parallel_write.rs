//! Parallel writing, from the report of `write-bench --json`: each run beside runs that wrote nothing or filled nothing, and
//! how threads spent their time.

use serde::Deserialize;

use super::chart::{Chart, Drawing, Series, Spot, Style, amounts, count};
use super::names::{LONGEST, Labelled, short};
use super::threads::stacked;
use crate::math::as_f64;
use crate::sweep::point::Setting;
use crate::write_bench::{Line, Report};

/// The lines of a report that are drawn.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Bench(Report);

impl Bench {
    /// Of its JSON, if it is such a report.
    pub fn of(value: serde_json::Value) -> Option<Self> {
        serde_json::from_value(value).ok().map(Self).filter(|bench| !bench.0.lines.is_empty())
    }

    fn is_limit(&self) -> bool {
        self.0.no_fill || self.0.no_write
    }

    /// The settings that tell a run from others.
    fn settings(&self, line: &Line) -> Vec<Setting> {
        let limit = match (self.0.no_fill, self.0.no_write) {
            (true, _) => "nothing filled",
            (_, true) => "nothing written",
            _ => "",
        };
        let point = &line.point;
        let all = [
            ("writer", point.writer.clone()),
            ("container", point.container.clone()),
            ("compression", point.compression.clone()),
            ("entry", format!("{}x{}", point.branches, point.events)),
            ("medium", point.medium.display().to_string()),
            ("limit", limit.to_owned()),
            ("outputs", self.0.outputs.max(1).to_string()),
            ("threads", point.threads.to_string()),
        ];
        let all = all.into_iter().filter(|(_, value)| !value.is_empty());
        all.map(|(key, value)| Setting { key: key.to_owned(), value }).collect()
    }
}

/// A run, and the report that it is of.
type Run<'a> = (&'a Bench, &'a Line);

fn all(benches: &[Bench]) -> Vec<Run<'_>> {
    benches.iter().flat_map(|bench| bench.0.lines.iter().map(move |line| (bench, line))).collect()
}

/// Short names, from the settings that differ beside this key.
fn names(runs: &[Run<'_>], but: &str) -> Vec<String> {
    let settings = |(bench, line): &Run<'_>| {
        let settings = bench.settings(line).into_iter().filter(|setting| setting.key != but).collect();
        Labelled { settings, ..Labelled::default() }
    };
    short(&runs.iter().map(settings).collect::<Vec<_>>(), LONGEST)
}

/// A run in full.
fn run_name((bench, line): &Run<'_>) -> String {
    bench.settings(line).into_iter().map(|s| format!("{}={}", s.key, s.value)).collect::<Vec<_>>().join(" ")
}

/// Speed over threads; runs that wrote or filled nothing are the limit.
pub(super) fn over_threads(benches: &[Bench]) -> Option<Chart> {
    speed(benches, "writing", "Writing in parallel", "threads", |(_, line)| line.point.threads)
}

/// The same over files that are written at once.
pub(super) fn over_outputs(benches: &[Bench]) -> Option<Chart> {
    let outputs = |bench: &Bench| bench.0.outputs.max(1);
    let title = "Writing several outputs at once";
    speed(benches, "writing-outputs", title, "outputs", |(bench, _)| outputs(bench))
        .filter(|_| benches.iter().any(|bench| Some(outputs(bench)) != benches.first().map(outputs)))
}

/// A chart of speed over a count.
fn speed(
    benches: &[Bench],
    name: &'static str,
    title: &str,
    counted: &str,
    x: impl Fn(&Run<'_>) -> usize,
) -> Option<Chart> {
    let runs = all(benches);
    let names = names(&runs, counted);
    let mut series: Vec<Series> = Vec::new();
    for (run, name) in runs.iter().zip(names) {
        let (bench, line) = run;
        let text = vec![
            run_name(run),
            format!("{:.0} MB/s, {:.3} s, {:.3} s of CPU", line.mb_per_s, line.wall, line.cpu),
            format!("{:.1} MB of memory", as_f64(line.peak_rss) / 1e6),
        ];
        let spot = Spot::new(as_f64(x(run) as u64), line.mb_per_s, text);
        let style = if bench.is_limit() { Style::Ideal } else { Style::Line };
        match series.iter_mut().find(|series| series.name == name && series.style == style) {
            Some(series) => series.points.push(spot),
            None => series.push(Series::new(name, style, vec![spot])),
        }
    }
    series.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    (!series.is_empty()).then(|| Chart {
        name,
        title: title.to_owned(),
        note: "Payload over real time. Dashed: runs that wrote or filled nothing, the limit for the others.".to_owned(),
        drawing: Drawing::Plane { x: count(counted), y: amounts("payload [MB/s]"), series },
    })
}

/// How threads spent their time.
pub(super) fn time(benches: &[Bench]) -> Option<Chart> {
    let runs: Vec<Run<'_>> =
        all(benches).into_iter().filter(|(bench, line)| !bench.is_limit() && line.point.writer == "basketry").collect();
    let bar = |(run, name): (&Run<'_>, String)| {
        let line = run.1;
        let waiting: Vec<f64> = line.runs.iter().map(|run| run.waiting).collect();
        let waiting = crate::math::statistics::median(&waiting).unwrap_or(0.0);
        let idle = (line.wall * as_f64(line.point.threads as u64) - line.cpu - waiting).max(0.0);
        (name, run_name(run), [line.cpu, waiting, idle])
    };
    stacked(
        "writing-threads",
        "What threads do while writing",
        "CPU, waiting for memory, and the rest of the real time of all threads.".to_owned(),
        ["busy", "waiting for memory", "idle"],
        runs.iter().zip(names(&runs, "")).map(bar).collect(),
    )
}
