//! Sizes, times and money as the tables of `tune` show them.

use crate::output;

/// Bytes for people.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
pub(super) fn size(bytes: f64) -> String {
    output::bytes(bytes.max(0.0).round() as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
pub(super) fn count(n: f64) -> String {
    output::count(n.max(0.0).round() as u64)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn as_f64(n: u64) -> f64 {
    n as f64
}

/// Seconds for people.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.9995e-3 => format!("{:.0} us", s * 1e6),
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 99.95 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

/// Units of sizes and times, the largest first.
pub(super) const SIZES: [(&str, f64); 5] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
pub(super) const TIMES: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)];
/// Digits behind the point at most.
const MOST_DIGITS: usize = 6;

/// A limit that cannot be met, and the least that can, which is rounded up: with as many digits as tell them apart.
pub(super) fn limit_and_least(limit: f64, least: f64, units: &[(&str, f64)]) -> [String; 2] {
    let shown = |value: f64, digits: usize, up: bool| {
        let (unit, factor) = units.iter().find(|(_, factor)| value >= *factor).or(units.last()).copied()?;
        let scale = (0..digits).fold(1.0, |scale, _| scale * 10.0);
        // A value that is a whole number but for its last bits stays one.
        let whole = value / factor * scale;
        let rounded = if up { (whole * (1.0 - 1e-12)).ceil() } else { whole.round() } / scale;
        Some(format!("{rounded:.digits$} {unit}"))
    };
    let with = |digits: usize| [shown(limit, digits, false), shown(least, digits, true)].map(Option::unwrap_or_default);
    (1..MOST_DIGITS).map(with).find(|[limit, least]| limit != least).unwrap_or_else(|| with(MOST_DIGITS))
}

/// An amount with three digits.
pub(super) fn money(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 || v == 0.0 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        v if v >= 0.0995 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        assert_eq!(time(2e-5), "20 us");
        assert_eq!(time(0.25), "250 ms");
        assert_eq!(time(1.234), "1.23 s");
        assert_eq!(time(250.0), "250 s");
    }

    #[test]
    fn a_limit_differs_from_the_least_that_can_be_met() {
        let [sizes, times]: [&[_]; 2] = [&SIZES, &TIMES];
        for (limit, least, units, told) in [
            (1000.0, 711_600.1, sizes, ["1.0 kB", "711.7 kB"]),
            (2.0e-3, 2.04e-3, times, ["2.0 ms", "2.1 ms"]),
            (2.001e-3, 2.002e-3, times, ["2.0 ms", "2.1 ms"]),
            (2.02e-3, 2.0204e-3, times, ["2.0 ms", "2.1 ms"]),
            (2.0504e-3, 2.051e-3, times, ["2.05 ms", "2.06 ms"]),
            (756e3, 756_001.0, sizes, ["756.0 kB", "756.1 kB"]),
            (2.06e-4, 8.2e-4, times, ["206.0 us", "820.0 us"]),
        ] {
            assert_eq!(limit_and_least(limit, least, units), told);
        }
    }

    #[test]
    fn money_has_three_digits() {
        assert_eq!([123.4, 12.34, 1.234, 0.1234, 0.0].map(money), ["123", "12.3", "1.23", "0.123", "0"]);
        assert_eq!(money(0.001234), "1.23e-3");
    }
}
