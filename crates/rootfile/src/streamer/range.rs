//! The range in the title of a `Double32_t` or `Float16_t`: `[min,max,bits]`.
//!
//! Facts: `GetRange` of `TStreamerElement.cxx`. The limits may contain pi; the default is 32 bits; the first brackets
//! with a comma count.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

/// The range in the brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least value.
    pub min: f64,
    /// The largest value. If it is not above the least, only the bits count.
    pub max: f64,
    /// Bits to write, 2 to 32.
    pub bits: u32,
}

impl Range {
    /// The range in a title.
    pub fn of_title(title: &str) -> Option<Self> {
        let inside =
            title.split('[').skip(1).take(6).find_map(|part| {
                part.split_once(']').map(|(inside, _)| inside).filter(|inside| inside.contains(','))
            })?;
        let mut parts = inside.split(',');
        let (min, max) = (limit(parts.next()?), limit(parts.next()?));
        let bits = parts.next().map_or(32, |bits| bits.trim().parse::<u32>().unwrap_or(32));
        Some(Self { min, max, bits: if (2..=32).contains(&bits) { bits } else { 32 } })
    }

    /// Steps per unit, if there is a range.
    pub fn factor(&self) -> Option<f64> {
        let steps = if self.bits < 32 { f64::from(1u32 << self.bits) } else { f64::from(u32::MAX) };
        (self.min < self.max).then(|| steps / (self.max - self.min))
    }

    /// Whether ROOT marks the member with [`super::HAS_RANGE`]: with a range, with fewer than 15 bits, or with a least
    /// value above 0 (which has no effect).
    pub(super) fn is_marked(&self) -> bool {
        self.min < self.max || self.bits < 15 || self.min > 0.0
    }
}

/// A limit of a range, which may contain pi.
fn limit(text: &str) -> f64 {
    let text = text.to_lowercase().replace(' ', "");
    if !text.contains("pi") {
        return text.parse().unwrap_or(0.0);
    }
    let value = if text.contains("2pi") || text.contains("2*pi") || text.contains("twopi") {
        TAU
    } else if text.contains("pi/2") {
        FRAC_PI_2
    } else if text.contains("pi/4") {
        FRAC_PI_4
    } else {
        PI
    };
    if text.contains('-') { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_define_the_packing() {
        assert_eq!(Range::of_title("a number"), None);
        assert_eq!(Range::of_title("[fN] values"), None);
        let range = Range::of_title("[3] [-pi/2, 2*pi, 16]").unwrap();
        assert_eq!((range.min, range.max, range.bits), (-FRAC_PI_2, TAU, 16));
        let marked = |title: &str| Range::of_title(title).is_some_and(|range| range.is_marked());
        assert!(marked("[0,0,14]") && marked("[0,1]") && marked("[1,0]"));
        assert!(!marked("[0,0,16]") && !marked("[10]"));
    }
}
