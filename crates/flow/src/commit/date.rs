//! The date of an output's records.

/// The date of an output's records: SOURCE_DATE_EPOCH, or else the newest date of the inputs, or else now.
pub(crate) fn date(newest: Option<u32>) -> u32 {
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|s| s.trim().parse::<i64>().ok());
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(nearest_date(i64::try_from(since.as_secs()).ok()?))
    };
    epoch.map(nearest_date).or(newest.filter(|date| *date > 0)).or_else(now).unwrap_or(0)
}

/// ROOT's date for a time in seconds since 1970. ROOT's dates begin with 1995 and end with 2058; a time outside gets the
/// first or last date, so that the same inputs always give the same output.
pub(crate) fn nearest_date(seconds: i64) -> u32 {
    const FIRST: i64 = 788_918_400;
    const LAST: i64 = 2_808_604_799;
    rootfile::datime_of_epoch(seconds.clamp(FIRST, LAST)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_outside_roots_dates_gets_the_nearest_date() {
        let year = |packed: u32| 1995 + (packed >> 26);
        assert_eq!(year(nearest_date(0)), 1995);
        assert_eq!(year(nearest_date(i64::MAX)), 2058);
        assert_eq!(nearest_date(1_709_210_096), rootfile::datime_of_epoch(1_709_210_096).unwrap());
        for first_or_last in [788_918_400 - 1, 2_808_604_799 + 1] {
            assert_eq!(rootfile::datime_of_epoch(first_or_last), None);
        }
    }
}
