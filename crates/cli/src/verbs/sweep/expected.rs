//! What a sweep will take, in words.

use lab::sweep::plan::Estimate;

use crate::output;

/// Points, jobs, time and disk.
pub(super) fn expected(estimate: &Estimate) -> String {
    let Estimate { points, jobs, seconds, disk, commands } = estimate;
    let (points, jobs) =
        (output::plural(*points as u64, "point", "points"), output::plural(*jobs as u64, "job", "jobs"));
    if !commands.is_empty() {
        return format!("{points}, {jobs}; how long they take is known once each kind has run");
    }
    format!("{points}, {jobs}, about {}, up to {} of files", time(*seconds), output::bytes(*disk))
}

/// Seconds in units for people.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
