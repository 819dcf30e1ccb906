//! Limits for axes without limits, from the entries in the buffer (`THLimitsFinder`), and for axes that are extended
//! (`TH1::FindNewAxisLimits`).

use super::axis::Axis;

/// A bin's width and the limits that are whole multiples of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rounded {
    low: f64,
    high: f64,
    width: f64,
}

/// Largest usable width (`FLT_MAX`).
const WIDEST: f64 = f32::MAX as f64;
/// Limits this many bins from 0 are not rounded.
const FARTHEST: f64 = 1e9;

/// Rounds a width up to 1, 2 or 5 times a power of ten, and the limits to multiples of it (`THLimitsFinder::Optimize`).
#[expect(clippy::cast_possible_truncation, reason = "C++ truncates these; their range was checked")]
fn round(low: f64, high: f64, bins: i32) -> Rounded {
    let (al, mut ah) = (low.min(high), low.max(high));
    if al == ah {
        ah = al + 1.0;
    }
    let mut rounded = Rounded { low: 0.0, high: 0.0, width: 0.0 };
    for parts in bins.max(2)..=i32::MAX {
        let width = (ah - al) / f64::from(parts);
        if !(width > 0.0 && width < WIDEST) {
            break;
        }
        let mut power = width.log10() as i32;
        if !(-200..=200).contains(&power) {
            return Rounded { low: 0.0, high: 1.0, width: 0.01 };
        }
        if width <= 1.0 {
            power -= 1;
        }
        let digits = width * 10f64.powf(f64::from(-power)) - 1e-10;
        let digits = match digits {
            d if d <= 1.0 => 1.0,
            d if d <= 2.0 => 2.0,
            d if d <= 5.0 => 5.0,
            _ => {
                power += 1;
                1.0
            }
        };
        let width = digits * 10f64.powf(f64::from(power));
        if (al / width).abs() > FARTHEST {
            return Rounded { low: al, high: ah, width };
        }
        let whole = |x: f64| x.trunc() - if x < 0.0 { 1.0 } else { 0.0 };
        let (first, last) = (whole(al / width), whole(ah / width + 1.00001));
        rounded = Rounded { low: width * first, high: width * last, width };
        let found = last - first;
        if bins == 1 && found != 1.0 {
            rounded.width *= 2.0;
        }
        // Half as many bins as requested: the next width may fit better.
        if bins <= 5 || 2.0 * found != f64::from(bins) {
            break;
        }
    }
    let Rounded { mut low, mut high, width } = rounded;
    let least = width * 0.0001;
    if al - low >= least {
        low += width;
    }
    if high - ah >= least {
        high -= width;
    }
    if low >= high { rounded } else { Rounded { low, high, width } }
}

impl Axis {
    /// Sets limits that include entries from `min` to `max` (`THLimitsFinder::FindGoodLimits`).
    pub fn find_limits(&mut self, mut min: f64, mut max: f64) {
        let bins = i32::try_from(self.bins).unwrap_or(i32::MAX);
        if min >= max {
            if self.labels.is_some() {
                (min, max) = (0.0, f64::from(bins));
            } else {
                (min, max) = (min - 1.0, max + 1.0);
            }
        }
        let margin = if self.integer { 5.0 * (max - min) / f64::from(bins) } else { 0.1 * (max - min) };
        let (mut low, mut high) = (min - margin, max + margin);
        if low < 0.0 && min >= 0.0 {
            low = 0.0;
        }
        if high > 0.0 && max <= 0.0 {
            high = 0.0;
        }
        let rounded = round(low, high, bins);
        let mut new = self.clone();
        // Rounding must not exclude the outermost entries.
        let least = 0.01 * (max - min);
        (new.min, new.max) = if rounded.width <= 0.0 || rounded.width > 1e39 {
            (-1.0, 1.0)
        } else {
            (rounded.low.min(min - least), rounded.high.max(max + least))
        };
        if self.integer {
            new.make_whole(low, high);
        }
        new.edges.clear();
        self.redefine(&new);
    }

    /// Moves limits to whole numbers, with bins of a whole width (`THLimitsFinder::OptimizeLimits`).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "C++ truncates these")]
    fn make_whole(&mut self, low: f64, high: f64) {
        let (min, max) = (self.min.trunc(), self.max.trunc());
        let bins = f64::from(u32::try_from(self.bins).unwrap_or(u32::MAX));
        self.min = if self.min < 0.0 && self.min != min { min - 1.0 } else { min };
        self.max = match self.max {
            x if x > 0.0 && x != max => max + 1.0,
            0.0 => 1.0,
            _ => max,
        };
        if self.min >= self.max {
            self.max = self.min + 1.0;
        }
        let width = ((self.max - self.min) / bins).trunc().max(1.0);
        let mut bins = ((self.max - self.min) / width).trunc();
        if self.min + bins * width < high {
            bins += 1.0;
            self.max = self.min + bins * width;
        }
        if self.min > low {
            bins += 1.0;
            self.min = self.max - bins * width;
        }
        self.bins = bins as usize;
    }

    /// The axis extended until it includes a value, by a doubling range. `None` if it need not or cannot be extended.
    pub fn grown_to(&self, x: f64) -> Option<Self> {
        let outside = x < self.min || x >= self.max;
        if !outside || !x.is_finite() || !self.can_extend() || self.counts_by_label() || !self.has_limits() {
            return None;
        }
        let mut grown = self.clone();
        let mut range = self.max - self.min;
        let mut times = 0;
        while x < grown.min || x >= grown.max {
            if times > 64 {
                return None;
            }
            times += 1;
            if x < grown.min {
                grown.min -= range;
            } else {
                grown.max += range;
            }
            range *= 2.0;
        }
        Some(grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_one_two_or_five_times_a_power_of_ten() {
        for (low, high, bins, expected) in [
            (0.0, 10.0, 10, (0.0, 10.0)),
            (-1.8481, 2.7251, 100, (-1.8, 2.7)),
            (0.3, 0.3, 10, (0.3, 1.3)),
            (1e12, 1e12 + 1.0, 50, (1e12, 1e12 + 1.0)),
            (3.0, 4.0, 1, (3.0, 3.5)),
            (-8.856, -2.2, 7, (-8.0, -3.0)),
        ] {
            let Rounded { low, high, .. } = round(low, high, bins);
            assert!((low - expected.0).abs() < 1e-9 && (high - expected.1).abs() < 1e-9, "{low} {high} {expected:?}");
        }
    }
}
