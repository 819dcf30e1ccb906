//! Reading on several numbers of threads as a page: the speed-up beside that of a loop that only computes.

use rootfile::Result;

use super::chart::{Chart, Drawing, Series, Spot, Style, amounts, count};
use super::page::{Plain, plain};
use super::table::{Cell, Table};
use crate::math::as_f64;
use crate::readspeed::{Report, Scaled};

/// The page, if several numbers of threads were measured.
///
/// # Errors
///
/// A chart has no form in JSON.
pub fn page(report: &Report) -> Result<Option<String>> {
    let Some(scaled) = &report.scaling else { return Ok(None) };
    let facts = vec![
        ("files".to_owned(), report.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")),
        ("tree".to_owned(), format!("{}, {} of {} entries", report.tree, report.entries, report.all_entries)),
        ("readings".to_owned(), format!("{} on each number of threads, taking turns", report.runs.len())),
    ];
    let charts = [gains(scaled), Some(speed(scaled))].into_iter().flatten().collect();
    let title = "Reading on several threads".to_owned();
    plain(&Plain { title, facts, charts, tables: vec![table(scaled)], ..Plain::default() }).map(Some)
}

fn x(scaled: &Scaled) -> f64 {
    as_f64(scaled.threads as u64)
}

fn spot(scaled: &Scaled, y: f64, what: &str) -> Spot {
    Spot::new(x(scaled), y, vec![format!("{} threads", scaled.threads), format!("{what}: {y:.2}")])
}

/// Speed-ups, if one thread was measured.
fn gains(scaled: &[Scaled]) -> Option<Chart> {
    let reading: Vec<Spot> = scaled.iter().filter_map(|s| Some(spot(s, s.speed_up?, "speed-up"))).collect();
    let possible = scaled.iter().map(|s| spot(s, s.effective_cores, "effective cores")).collect();
    let threads = scaled.iter().map(|s| spot(s, x(s), "as many cores as threads")).collect();
    (!reading.is_empty()).then(|| Chart {
        name: "speed-up",
        title: "Speed-up over threads".to_owned(),
        note: "The loop only computes, in registers: what it gains are the cores that so many threads really have. Reading cannot gain more."
            .to_owned(),
        drawing: Drawing::Plane {
            x: count("threads"),
            y: amounts("speed-up"),
            series: vec![
                Series::new("reading", Style::Line, reading),
                Series::new("a loop that only computes", Style::Ideal, possible),
                Series::new("as many cores as threads", Style::Front, threads),
            ],
        },
    })
}

/// Speed, with the fastest and the slowest reading.
fn speed(scaled: &[Scaled]) -> Chart {
    let at = |seconds: fn(&Scaled) -> f64| {
        let one = |s: &Scaled| spot(s, s.throughput * s.real.median / seconds(s).max(1e-9), "MB/s");
        scaled.iter().map(one).collect::<Vec<_>>()
    };
    Chart {
        name: "speed",
        title: "Speed over threads".to_owned(),
        note: "Bytes before compression, by the clock: the median of all readings, the fastest and the slowest."
            .to_owned(),
        drawing: Drawing::Plane {
            x: count("threads"),
            y: amounts("MB/s"),
            series: vec![
                Series::new("median", Style::Line, at(|s| s.real.median)),
                Series::new("fastest", Style::Ideal, at(|s| s.real.least)),
                Series::new("slowest", Style::Ideal, at(|s| s.real.most)),
            ],
        },
    }
}

fn table(scaled: &[Scaled]) -> Table {
    let number = |value: f64, text: String| Cell { text, value: Some(value) };
    let maybe =
        |value: Option<f64>| Cell { text: value.map_or_else(String::new, |value| format!("{value:.2}")), value };
    let row = |s: &Scaled| {
        vec![
            number(x(s), s.threads.to_string()),
            number(s.real.median, format!("{:.3}", s.real.median)),
            number(s.real.least, format!("{:.3}", s.real.least)),
            number(s.real.most, format!("{:.3}", s.real.most)),
            number(s.cpu.median, format!("{:.3}", s.cpu.median)),
            number(s.throughput, format!("{:.0}", s.throughput)),
            maybe(s.speed_up),
            number(s.effective_cores, format!("{:.2}", s.effective_cores)),
            maybe(s.of_possible),
        ]
    };
    let head =
        ["threads", "real s", "least s", "most s", "CPU s", "MB/s", "speed-up", "effective cores", "of possible"];
    Table {
        title: "Reading on several threads".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: scaled.iter().map(row).collect(),
        foot: Vec::new(),
    }
}
