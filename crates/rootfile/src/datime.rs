//! `TDatime`: a date and time of day packed into 32 bits, years counted from 1995.

/// Packs seconds since 1970, taken as UTC; `None` before 1995 and after 2058.
pub fn datime_of_epoch(seconds: i64) -> Option<u32> {
    let days = seconds.div_euclid(86_400);
    let time = u32::try_from(seconds.rem_euclid(86_400)).ok()?;
    // Days to a civil date, with years that begin in March (H. Hinnant, "chrono-compatible date algorithms").
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let years = u32::try_from(year - 1995).ok().filter(|y| *y < 64)?;
    let (month, day) = (u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    Some(years << 26 | month << 22 | day << 17 | (time / 3600) << 12 | (time / 60 % 60) << 6 | (time % 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_date_is_packed() {
        // 2024-02-29 12:34:56 UTC.
        let packed = datime_of_epoch(1_709_210_096).unwrap();
        assert_eq!(packed, 29 << 26 | 2 << 22 | 29 << 17 | 12 << 12 | 34 << 6 | 56);
        assert_eq!(datime_of_epoch(0), None);
    }
}
