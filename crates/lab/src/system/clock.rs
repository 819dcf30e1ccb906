//! CPU clocks, and dates.

use std::time::{SystemTime, UNIX_EPOCH};

use rootfile::date_of_days;
use rustix::time::{ClockId, clock_gettime};

/// CPU seconds that this thread has used.
pub fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// CPU seconds that this process has used, all threads together.
pub fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

#[expect(clippy::cast_precision_loss, reason = "seconds")]
fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The day of a time, in UTC.
pub fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date_of_days(i64::try_from(seconds / 86_400).unwrap_or(0));
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_has_its_day() {
        assert_eq!(date(UNIX_EPOCH + Duration::from_secs(20_780 * 86_400 + 1)), "2026-11-23");
    }
}
