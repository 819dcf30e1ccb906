//! Numbers in messages.

use std::fmt::Write;

use crate::math::as_f64;

/// A count with its noun.
pub(super) fn plural(n: u64, noun: &str) -> String {
    let mut text = format!("{n} {noun}");
    if n != 1 {
        // `branch` is the only one that takes more.
        let _ = write!(text, "{}", if noun.ends_with("ch") { "es" } else { "s" });
    }
    text
}

/// A size with its unit, in two digits or three.
pub(super) fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (as_f64(bytes), "B");
    for next in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ if value < 9.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_nouns_and_units() {
        assert_eq!(plural(1, "branch"), "1 branch");
        assert_eq!(plural(2, "branch"), "2 branches");
        assert_eq!(plural(0, "basket"), "0 baskets");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1500), "1.5 kB");
        assert_eq!(size(999_600), "1.0 MB");
    }
}
