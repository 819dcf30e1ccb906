//! Numbers and lists in messages.

use std::fmt::Write;

use crate::math::as_f64;

/// Most branches that a fault names with their entries.
const NAMED_BRANCHES: usize = 5;

/// A count with its noun.
pub(super) fn plural(n: u64, noun: &str) -> String {
    let mut text = format!("{n} {noun}");
    if n != 1 {
        // `branch` is the only one that takes more.
        let _ = write!(text, "{}", if noun.ends_with("ch") { "es" } else { "s" });
    }
    text
}

/// A number of branches that have something.
pub(super) fn have(branches: u64) -> String {
    format!("{} {}", plural(branches, "branch"), if branches == 1 { "has" } else { "have" })
}

/// The first of many branches, which a fault names.
pub(super) fn first(texts: &[String]) -> Vec<String> {
    texts.get(..NAMED_BRANCHES).unwrap_or(texts).to_vec()
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
