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
    fn money_has_three_digits() {
        assert_eq!([123.4, 12.34, 1.234, 0.1234, 0.0].map(money), ["123", "12.3", "1.23", "0.123", "0"]);
        assert_eq!(money(0.001234), "1.23e-3");
    }
}
