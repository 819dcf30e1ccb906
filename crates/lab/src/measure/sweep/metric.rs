//! Metrics of a point: the figures of the published studies, and the jobs that they come from.

use super::plan::Kind;
use super::runner::Measured;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// A number of things, such as baskets.
    Count,
}

/// One figure.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in files.
    pub name: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The job that it is taken from.
    pub kind: Kind,
    /// Its value in a run; not a number where the run does not have it.
    pub of: fn(&Measured) -> f64,
}

const fn metric(name: &'static str, title: &'static str, unit: Unit, kind: Kind, of: fn(&Measured) -> f64) -> Metric {
    Metric { name, title, unit, kind, of }
}

/// All of them, in the order of the tables.
pub const METRICS: [Metric; 26] = [
    metric("copy_vsize", "vsize", Unit::Bytes, Kind::Copy, |m| bytes(m.events.vsize)),
    metric("copy_vsize_record", "vsize +record", Unit::Bytes, Kind::Copy, |m| bytes(m.peak.vsize)),
    metric("copy_rss", "RSS", Unit::Bytes, Kind::Copy, |m| bytes(m.events.rss)),
    metric("copy_rss_record", "RSS +record", Unit::Bytes, Kind::Copy, |m| bytes(m.peak.rss)),
    metric("copy_wall", "copy", Unit::Seconds, Kind::Copy, |m| m.wall),
    metric("copy_cpu", "copy CPU", Unit::Seconds, Kind::Copy, Measured::cpu),
    metric("copy_event", "copy /event", Unit::Milliseconds, Kind::Copy, |m| per_entry(m.wall, m.entries)),
    metric("size", "file size", Unit::Bytes, Kind::Copy, |m| bytes(m.bytes)),
    metric("baskets", "baskets", Unit::Count, Kind::Copy, |m| bytes(m.baskets)),
    metric("clusters", "clusters", Unit::Count, Kind::Copy, |m| bytes(m.clusters)),
    metric("copy_read", "copy reads", Unit::Bytes, Kind::Copy, |m| m.read.map_or(f64::NAN, bytes)),
    metric("copy_written", "copy writes", Unit::Bytes, Kind::Copy, |m| m.written.map_or(f64::NAN, bytes)),
    metric("full_vsize", "read vsize", Unit::Bytes, Kind::Full, |m| bytes(m.peak.vsize)),
    metric("full_rss", "read RSS", Unit::Bytes, Kind::Full, |m| bytes(m.peak.rss)),
    metric("full_wall", "read", Unit::Seconds, Kind::Full, |m| m.wall),
    metric("full_cpu", "read CPU", Unit::Seconds, Kind::Full, Measured::cpu),
    metric("full_event", "read /event", Unit::Milliseconds, Kind::Full, |m| per_entry(m.wall, m.entries)),
    metric("columns_wall", "columns", Unit::Seconds, Kind::Columns, |m| m.wall),
    metric("columns_cpu", "columns CPU", Unit::Seconds, Kind::Columns, Measured::cpu),
    metric("sparse_wall", "picked", Unit::Seconds, Kind::Sparse, |m| m.wall),
    metric("sparse_cpu", "picked CPU", Unit::Seconds, Kind::Sparse, Measured::cpu),
    metric("sparse_event", "picked /event", Unit::Milliseconds, Kind::Sparse, |m| per_entry(m.wall, m.entries)),
    metric("sparse_first", "first picked", Unit::Milliseconds, Kind::Sparse, |m| 1e3 * m.first.unwrap_or(0.0)),
    metric("sparse_bytes", "picked bytes", Unit::Bytes, Kind::Sparse, |m| bytes(m.compressed)),
    metric("chosen_wall", "chosen", Unit::Seconds, Kind::Chosen, |m| m.wall),
    metric("chosen_cpu", "chosen CPU", Unit::Seconds, Kind::Chosen, Measured::cpu),
];

/// One by its name.
pub fn metric_of(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

#[expect(clippy::cast_precision_loss, reason = "bytes")]
fn bytes(n: u64) -> f64 {
    n as f64
}

/// Milliseconds for an entry; not a number where entries are not known.
fn per_entry(seconds: f64, entries: u64) -> f64 {
    if entries == 0 { f64::NAN } else { 1e3 * seconds / bytes(entries) }
}

/// A figure for people.
pub fn amount(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Bytes => {
            let (factor, name) = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
                .into_iter()
                .find(|(factor, _)| value.abs() >= *factor)
                .unwrap_or((1.0, "B"));
            let value = value / factor;
            let digits = if factor == 1.0 { 0 } else { digits(value) };
            format!("{value:.digits$} {name}")
        }
        Unit::Seconds => format!("{value:.0$} s", digits(value)),
        Unit::Milliseconds => format!("{value:.0$} ms", digits(value)),
        Unit::Count => format!("{value:.0}"),
    }
}

/// Decimals for three significant digits.
fn digits(value: f64) -> usize {
    match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.09995 => 3,
        v if v >= 0.009_995 => 4,
        _ => 5,
    }
}
