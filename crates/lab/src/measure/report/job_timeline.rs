//! A job over time, from the samples of `monitor -o FILE.jsonl`: its threads, the busy ones among them, and its memory.

use serde::Deserialize;

use super::chart::{Axis, Chart, Drawing, Scale, Series, Spot, Style, amounts};
use crate::math::as_f64;
use crate::sweep::metric::Unit;

/// CPU time has a resolution of 10 ms, so a shorter interval does not show how many threads were busy.
const SHORTEST: f64 = 0.09;

/// The fields of a sample that are drawn.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Sample {
    time: f64,
    mark: String,
    threads: u32,
    rss: u64,
    user: f64,
    system: f64,
}

/// The timeline of lines of JSON, if all lines are samples.
pub(super) fn samples(text: &str) -> Option<Vec<Sample>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let samples: Vec<Sample> = lines.map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    (samples.len() > 1).then_some(samples)
}

/// Threads, and how many of them were busy.
pub(super) fn threads(samples: &[Sample]) -> Option<Chart> {
    let mut busy = Vec::new();
    let mut before = samples.first()?;
    for sample in samples {
        let past = sample.time - before.time;
        if past >= SHORTEST {
            let used = (sample.user + sample.system - before.user - before.system) / past;
            busy.push(spot(sample, used, format!("{used:.2} threads busy")));
            before = sample;
        }
    }
    let alive = samples.iter().filter(|sample| sample.threads > 0);
    let alive = alive.map(|s| spot(s, f64::from(s.threads), format!("{} threads", s.threads))).collect();
    (!busy.is_empty()).then(|| Chart {
        name: "timeline",
        title: "Threads over time".to_owned(),
        note: "Busy: CPU since the sample before, by the clock. What lies above it, up to the threads that there are, waits \
               or is idle."
            .to_owned(),
        drawing: Drawing::Plane {
            x: amounts("time [s]"),
            y: Axis { whole: true, ..amounts("threads") },
            series: vec![
                Series::new("waiting or idle", Style::Whole, alive),
                Series::new("busy", Style::Area, busy),
            ],
        },
    })
}

/// Resident memory.
pub(super) fn memory(samples: &[Sample]) -> Option<Chart> {
    let known: Vec<(&Sample, f64)> = samples.iter().filter(|s| s.rss > 0).map(|s| (s, as_f64(s.rss))).collect();
    let scale = Scale::of(Unit::Bytes, known.iter().map(|(_, rss)| *rss));
    let told = |rss: f64| crate::sweep::metric::amount(Unit::Bytes, rss);
    let points = known.iter().map(|(sample, rss)| spot(sample, scale.of_value(*rss), told(*rss))).collect();
    (known.len() > 1).then(|| Chart {
        name: "memory-over-time",
        title: "Memory over time".to_owned(),
        note: "Resident memory of all processes of the job.".to_owned(),
        drawing: Drawing::Plane {
            x: amounts("time [s]"),
            y: scale.axis("RSS", true),
            series: vec![Series::new("RSS", Style::Area, points)],
        },
    })
}

fn spot(sample: &Sample, y: f64, what: String) -> Spot {
    let at = format!("{:.2} s", sample.time);
    let mark = (!sample.mark.is_empty()).then(|| sample.mark.clone());
    Spot::new(sample.time, y, [Some(at), mark, Some(what)].into_iter().flatten().collect())
}
