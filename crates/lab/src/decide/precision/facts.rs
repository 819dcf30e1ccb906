//! What the numbers of a column are: their range, and values that stand for "no number". It reads all values once, and keeps a few.

use serde::Serialize;

/// Distinct values that are kept at each end of the range.
const EDGE: usize = 8;

/// Share of the range of all other values by which a value stands apart.
const APART: f64 = 0.1;

/// Numbers that programs write where there is none, with either sign.
const CONVENTIONAL: [f64; 10] = [9.0, 99.0, 999.0, 9999.0, 99_999.0, 999_999.0, 1e9, 1e10, 1e30, 1e33];

/// How often a value occurs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Repeated {
    /// It.
    pub value: f64,
    /// How often.
    pub count: u64,
}

/// What the numbers of a column are, as far as they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// How many there are.
    pub values: u64,
    /// How many are none (NaN).
    pub nans: u64,
    /// How many are infinite.
    pub infinite: u64,
    /// Bits of mantissa that are used, as those of a double.
    used: u64,
    /// The least distinct values, the least first, and the largest, the largest first.
    edges: [Vec<Repeated>; 2],
}

impl Facts {
    /// Adds numbers.
    pub fn add(&mut self, values: &[f64]) {
        self.values += values.len() as u64;
        for &value in values {
            if !value.is_finite() {
                if value.is_nan() {
                    self.nans += 1;
                } else {
                    self.infinite += 1;
                }
                continue;
            }
            self.used |= value.to_bits();
            let [low, high] = &mut self.edges;
            edge(low, value, |a, b| a < b);
            edge(high, value, |a, b| a > b);
        }
    }

    /// Bits of mantissa that some number needs.
    pub fn mantissa(&self) -> u32 {
        let mantissa = self.used & ((1 << 52) - 1);
        if mantissa == 0 { 0 } else { 52 - mantissa.trailing_zeros() }
    }

    /// Whether there are no more finite values than a table could list.
    pub fn are_few(&self) -> bool {
        self.edges.iter().any(|edge| edge.len() < EDGE)
    }

    /// The values that stand apart from the others and repeat: they stand for "no number", and are kept. Of columns with few values
    /// all are kept.
    pub fn kept(&self) -> Vec<Repeated> {
        let [low, high] = &self.edges;
        if self.are_few() {
            return low.clone();
        }
        let mut kept: Vec<Repeated> = Vec::new();
        for (edge, other) in [(low, high), (high, low)] {
            // What stands apart lies before the first gap from which on all others are close to each other.
            let end = other.first().map_or(0.0, |last| last.value);
            let apart = (1..edge.len()).rev().find(|&n| {
                let (Some(before), Some(first)) = (edge.get(n - 1), edge.get(n)) else { return false };
                let repeated = edge.iter().take(n).all(|one| one.count > 1);
                repeated && stands_apart(before.value, first.value, end)
            });
            kept.extend(edge.iter().take(apart.unwrap_or(0)));
        }
        kept
    }

    /// The least and the largest value of those that are not kept.
    pub fn range(&self, kept: &[Repeated]) -> Option<(f64, f64)> {
        let is_other = |one: &&Repeated| !kept.iter().any(|kept| kept.value == one.value);
        let first = |edge: &[Repeated]| edge.iter().find(is_other).map(|one| one.value);
        let [low, high] = &self.edges;
        first(low).zip(first(high))
    }
}

/// Whether a value stands apart from the next one, where `end` is the last at the other side: by a gap, by its sign alone, or since
/// programs write it for no number.
fn stands_apart(value: f64, next: f64, end: f64) -> bool {
    let (gap, range) = ((next - value).abs(), (end - next).abs());
    let alone = value < 0.0 && next >= 0.0 && end >= 0.0;
    let conventional = CONVENTIONAL.contains(&value.abs()) && gap > 0.0;
    gap >= APART * range && (gap > 0.0) || alone || (conventional && gap >= 0.01 * range)
}

/// Counts a value among the distinct ones at an end, if it is one.
fn edge(edge: &mut Vec<Repeated>, value: f64, before: impl Fn(f64, f64) -> bool) {
    match edge.last() {
        Some(last) if edge.len() == EDGE && before(last.value, value) => return,
        _ => {}
    }
    let place = edge.partition_point(|known| before(known.value, value));
    match edge.get_mut(place) {
        Some(known) if known.value == value => known.count += 1,
        _ => {
            edge.insert(place, Repeated { value, count: 1 });
            edge.truncate(EDGE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(values: &[f64]) -> Vec<f64> {
        let mut facts = Facts::default();
        values.chunks(7).for_each(|part| facts.add(part));
        facts.kept().iter().map(|one| one.value).collect()
    }

    /// Numbers from 0 to 100.
    fn spread() -> Vec<f64> {
        (0..1000).map(|i| f64::from(i) * 0.1).collect()
    }

    #[test]
    fn values_that_repeat_apart_from_others_are_kept() {
        let with = |more: &[f64]| spread().into_iter().chain(more.iter().copied()).collect::<Vec<f64>>();
        assert_eq!(kept(&spread()), [] as [f64; 0]);
        assert_eq!(kept(&with(&[-999.0, -999.0])), [-999.0]);
        assert_eq!(kept(&with(&[-999.0, -999.0, -99.0, -99.0, 9999.0, 9999.0])), [-999.0, -99.0, 9999.0]);
        assert_eq!(kept(&with(&[-1.0, -1.0, -1.0])), [-1.0], "the only one below zero");
        assert_eq!(kept(&with(&[-999.0])), [] as [f64; 0], "it does not repeat");
        assert_eq!(kept(&with(&[300.0, 200.0])), [] as [f64; 0], "a tail");
        assert_eq!(kept(&[1.0, 2.0, 1.0, 2.0]), [1.0, 2.0], "few values");
    }

    #[test]
    fn facts_are_those_of_all_values() {
        let mut facts = Facts::default();
        facts.add(&[1.5, f64::NAN, f64::INFINITY, -2.0]);
        facts.add(&spread());
        assert_eq!((facts.values, facts.nans, facts.infinite), (1004, 1, 1));
        assert_eq!(facts.range(&[]).unwrap(), (-2.0, 99.9));
        let mut halves = Facts::default();
        halves.add(&[1.5, -2.0, 0.0]);
        assert_eq!(halves.mantissa(), 1);
        halves.add(&[1.0 + 2.0_f64.powi(-23)]);
        assert_eq!(halves.mantissa(), 23);
    }
}
