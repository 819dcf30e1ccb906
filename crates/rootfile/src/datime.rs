//! Dates, and `TDatime`: a date and time of day packed into 32 bits, years counted from 1995.

/// Year, month and day of a number of days since 1970 (H. Hinnant, "chrono-compatible date algorithms").
pub fn date_of_days(days: i64) -> (i64, u32, u32) {
    // Years that begin in March have the leap day at their end; an era is 400 years.
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // A month is at most 12, a day at most 31.
    (year, u32::try_from(month).unwrap_or(0), u32::try_from(day).unwrap_or(0))
}

/// Packs seconds since 1970, taken as UTC; `None` before 1995 and after 2058.
pub fn datime_of_epoch(seconds: i64) -> Option<u32> {
    let days = seconds.div_euclid(86_400);
    let time = u32::try_from(seconds.rem_euclid(86_400)).ok()?;
    let (year, month, day) = date_of_days(days);
    let years = u32::try_from(year - 1995).ok().filter(|y| *y < 64)?;
    Some(years << 26 | month << 22 | day << 17 | (time / 3600) << 12 | (time / 60 % 60) << 6 | (time % 60))
}

/// The date and time of a packed number, as `2024-02-29 12:34:56`.
pub fn date_of_datime(datime: u32) -> String {
    let part = |shift: u32, bits: u32| datime >> shift & ((1 << bits) - 1);
    let (year, month, day) = (1995 + part(26, 6), part(22, 4), part(17, 5));
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02}", part(12, 5), part(6, 6), part(0, 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let known = [(-1, (1969, 12, 31)), (0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29))];
        known.into_iter().for_each(|(days, date)| assert_eq!(date_of_days(days), date));
    }

    #[test]
    fn a_known_date_is_packed() {
        // 2024-02-29 12:34:56 UTC.
        let packed = datime_of_epoch(1_709_210_096).unwrap();
        assert_eq!(packed, 29 << 26 | 2 << 22 | 29 << 17 | 12 << 12 | 34 << 6 | 56);
        assert_eq!(date_of_datime(packed), "2024-02-29 12:34:56");
        assert_eq!(datime_of_epoch(0), None);
    }
}
