//! Records as a page: memory, CPU, threads, input and output over time, with lines at the marks of the jobs and at what the monitor saw.

use rootfile::Result;

use super::digest::Moment;
use super::shown::{Report, Shown};
use crate::math::as_f64;
use crate::monitor::Sample;
use crate::report::chart::{Axis, Chart, Drawing, Series, Spot, Style};
use crate::report::page::{Plain, plain};

/// CPU time has a resolution of 10 ms, so a shorter interval does not show how many cores were busy.
const SHORTEST: f64 = 0.09;
/// Lines at moments of one record that are drawn.
const LINES: usize = 40;
const MEGA: f64 = 1e6;

/// The page of records, as HTML that needs no network.
///
/// # Errors
///
/// A chart has no form in JSON.
pub fn page(report: &Report) -> Result<String> {
    let names = names(&report.records);
    let over = |name, title, note, axis, of: fn(&Sample) -> Option<f64>| {
        About { name, title, note, axis }.over(report, &names, of)
    };
    let cores =
        About { name: "busy", title: "Busy cores", note: "CPU since the sample before, by the clock.", axis: "cores" };
    let charts = [
        over("memory", "Resident memory", "RSS of all processes together.", "RSS [MB]", |s| megabytes(s.rss)),
        over("virtual", "Address space", "Virtual memory of all processes together.", "virtual [MB]", |s| {
            megabytes(s.vsize)
        }),
        over("pss", "Proportional memory", "Shared pages are divided among their processes.", "PSS [MB]", |s| {
            megabytes(s.pss)
        }),
        cores.chart(report, &names, busy),
        over("threads", "Threads", "Threads that live, of all processes.", "threads", |s| positive(s.threads)),
        over("cpu", "CPU", "CPU time since the beginning, user mode and kernel.", "CPU [s]", |s| {
            Some(s.user + s.system)
        }),
        over("read", "Read", "Bytes that system calls read since the beginning.", "read [MB]", |s| megabytes(s.read)),
        over("written", "Written", "Bytes that system calls wrote since the beginning.", "written [MB]", |s| {
            megabytes(s.written)
        }),
        over("output", "Outputs", "The sizes of all output files together.", "size [MB]", |s| {
            (s.outputs > 0).then(|| as_f64(s.output) / MEGA)
        }),
        over("events", "Events", "Events that are done.", "events", |s| positive(s.events)),
    ];
    let facts = report.records.iter().zip(&names).flat_map(|(record, name)| facts(record, name)).collect();
    let title = match report.records.as_slice() {
        [one] => one.job.as_ref().map_or_else(|| one.path.display().to_string(), |job| job.command.clone()),
        several => several.iter().map(|record| record.path.display().to_string()).collect::<Vec<_>>().join(", "),
    };
    plain(&Plain { title, facts, charts: charts.into_iter().flatten().collect(), ..Plain::default() })
}

/// Short names of the records.
fn names(records: &[Shown]) -> Vec<String> {
    let short =
        |record: &Shown| record.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let all: Vec<String> = records.iter().map(short).collect();
    let unique = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    all.iter()
        .zip(records)
        .map(|(name, record)| if unique(name) { name.clone() } else { record.path.display().to_string() })
        .collect()
}

fn facts(record: &Shown, name: &str) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(job) = &record.job {
        let end = match job.exit_code {
            -1 => "no exit code known".to_owned(),
            code => format!("exit code {code}"),
        };
        facts.push((name.to_owned(), format!("{}, on {}: {end}, {:.1} s", job.command, job.host, record.whole.wall)));
    } else {
        facts.push((name.to_owned(), format!("{} samples in {:.1} s", record.samples, record.whole.wall)));
    }
    facts.extend(record.notes.iter().map(|note| (name.to_owned(), note.clone())));
    facts
}

/// A number that was measured: 0 says that it was not.
fn positive(value: u64) -> Option<f64> {
    (value > 0).then(|| as_f64(value))
}

/// The same in megabytes.
fn megabytes(value: u64) -> Option<f64> {
    positive(value).map(|bytes| bytes / MEGA)
}

/// What a chart is of.
struct About {
    name: &'static str,
    title: &'static str,
    note: &'static str,
    axis: &'static str,
}

impl About {
    /// The chart of a figure of each sample over time.
    fn over(self, report: &Report, names: &[String], of: impl Fn(&Sample) -> Option<f64>) -> Option<Chart> {
        self.chart(report, names, |samples| {
            let points: Vec<Spot> = samples.iter().filter_map(|s| of(s).map(|y| spot(s, y))).collect();
            // One point is no line.
            if points.len() > 1 { points } else { Vec::new() }
        })
    }

    /// A line for each record of which there are points, and lines at the moments of all.
    fn chart(self, report: &Report, names: &[String], points: impl Fn(&[Sample]) -> Vec<Spot>) -> Option<Chart> {
        let style = if report.records.len() == 1 { Style::Area } else { Style::Line };
        let records = || report.records.iter().zip(names);
        let line = |(record, name): (&Shown, &String)| Series::new(name.clone(), style, points(&record.curve.points));
        let mut series: Vec<Series> = records().map(line).filter(|series| !series.points.is_empty()).collect();
        if series.is_empty() {
            return None;
        }
        for (record, of) in records() {
            let called = if names.len() == 1 { "marks".to_owned() } else { format!("marks of {of}") };
            series.push(Series::new(called, Style::Marks, lines(record)));
        }
        let ax = |title: &str| Axis { title: title.to_owned(), from_zero: true, whole: false };
        let drawing = Drawing::Plane { x: ax("time [s]"), y: ax(self.axis), series };
        Some(Chart { name: self.name, title: self.title.to_owned(), note: self.note.to_owned(), drawing })
    }
}

/// Cores that were busy, from one sample to the next that is far enough away.
fn busy(samples: &[Sample]) -> Vec<Spot> {
    let Some(mut before) = samples.first() else { return Vec::new() };
    let mut points = Vec::new();
    for sample in samples {
        let past = sample.time - before.time;
        if past >= SHORTEST {
            points.push(spot(sample, (sample.user + sample.system - before.user - before.system).max(0.0) / past));
            before = sample;
        }
    }
    points
}

/// The moments of a record that have lines.
fn lines(record: &Shown) -> Vec<Spot> {
    let line = |moment: &Moment| {
        let short = |event: &str| match event.split_once(' ') {
            Some((what, path)) => format!("{what} {}", path.rsplit('/').next().unwrap_or(path)),
            None => event.to_owned(),
        };
        let seen = moment.seen.split("; ").filter(|event| !event.is_empty()).map(short);
        let mark = Some(moment.mark.clone()).filter(|mark| !mark.is_empty());
        let name = mark.into_iter().chain(seen).collect::<Vec<_>>().join(", ");
        Spot { name: name.clone(), x: moment.time, y: 0.0, text: vec![format!("{:.2} s", moment.time), name] }
    };
    record.moments.iter().take(LINES).map(line).collect()
}

fn spot(sample: &Sample, y: f64) -> Spot {
    let at = format!("{:.2} s: {y:.3}", sample.time);
    let mark = (!sample.mark.is_empty()).then(|| sample.mark.clone());
    let seen = (!sample.seen.is_empty()).then(|| sample.seen.clone());
    Spot { name: String::new(), x: sample.time, y, text: [Some(at), mark, seen].into_iter().flatten().collect() }
}
