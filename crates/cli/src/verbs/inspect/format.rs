//! Numbers in the tables and findings of `inspect`.

use crate::output::count;

/// A time, in two digits or three.
pub fn seconds(s: f64) -> String {
    match s {
        _ if s < 0.0995 => format!("{:.0} ms", 1000.0 * s),
        _ if s < 9.95 => format!("{s:.1} s"),
        _ => format!("{s:.0} s"),
    }
}

/// A count with its noun.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        assert_eq!([0.0123, 0.5, 99.0].map(seconds), ["12 ms", "0.5 s", "99 s"]);
    }
}
