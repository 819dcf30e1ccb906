//! Statistics of a few repeats: median, noise, whether two series differ, and a least-squares line.

use serde::{Deserialize, Serialize};

/// Series of up to this length together are compared exactly, by all permutations.
const EXACT: usize = 16;
/// Scales the median of absolute deviations to a standard deviation, for normal noise.
const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// Several runs of one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// Standard deviation of one run as a share of the median, by the median of absolute deviations.
    pub noise: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Number of runs.
    pub runs: usize,
}

impl Figure {
    /// The figure of some runs, if there are any.
    pub fn of(runs: &[f64]) -> Option<Self> {
        let middle = median(runs)?;
        let away: Vec<f64> = runs.iter().map(|run| (run - middle).abs()).collect();
        let spread = MAD_TO_SIGMA * median(&away)?;
        Some(Self {
            median: middle,
            noise: if middle == 0.0 { 0.0 } else { spread / middle.abs() },
            least: runs.iter().copied().fold(f64::INFINITY, f64::min),
            most: runs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            runs: runs.len(),
        })
    }
}

/// The median; of an even number, the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    let upper = *values.get(half)?;
    match values.len() % 2 {
        1 => Some(upper),
        _ => Some((values.get(half.checked_sub(1)?)? + upper) / 2.0),
    }
}

/// The probability of a difference at least as large between two series of the same distribution: the test of Mann, Whitney and
/// Wilcoxon, two-sided, with equal values sharing their ranks. Short series are permuted in all ways, so that the
/// result is exact; longer ones use the normal approximation.
pub fn differ_by_chance(a: &[f64], b: &[f64]) -> f64 {
    let ranks = ranks(a, b);
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let all = real(ranks.len());
    let expected = real(a.len()) * (all + 1.0) / 2.0;
    let found = (ranks.iter().take(a.len()).sum::<f64>() - expected).abs();
    if ranks.len() <= EXACT {
        let (mut ways, mut as_far) = (0u32, 0u32);
        deal(&ranks, a.len(), 0.0, &mut |sum| {
            ways += 1;
            as_far += u32::from((sum - expected).abs() >= found - 1e-9);
        });
        return f64::from(as_far) / f64::from(ways.max(1));
    }
    let mean = (all + 1.0) / 2.0;
    let spread = ranks.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>() / (all - 1.0);
    let variance = real(a.len()) * real(b.len()) / all * spread;
    if variance <= 0.0 {
        return 1.0;
    }
    // The correction for continuity: sums of ranks go in steps.
    2.0 * above((found - 0.5).max(0.0) / variance.sqrt())
}

/// Ranks from 1, first of series `a`, then of `b`; equal values share their mean rank.
fn ranks(a: &[f64], b: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| *other < value).count();
        let equal = all.iter().filter(|other| *other == value).count();
        real(below) + (real(equal) + 1.0) / 2.0
    };
    all.iter().map(rank).collect()
}

/// Sums of all choices of `choose` ranks.
fn deal(ranks: &[f64], choose: usize, sum: f64, each: &mut dyn FnMut(f64)) {
    match ranks.split_first() {
        _ if choose == 0 => each(sum),
        Some((first, rest)) if choose <= ranks.len() => {
            deal(rest, choose - 1, sum + first, each);
            deal(rest, choose, sum, each);
        }
        _ => {}
    }
}

/// The share of the normal distribution above `z` (Abramowitz and Stegun, 7.1.26: error below 1.5e-7).
fn above(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    0.5 * sum * (-x * x).exp()
}

/// A straight line through points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// The cost of one more.
    pub slope: f64,
    /// Its standard error, for more than two points.
    pub error: Option<f64>,
    /// The cost at zero.
    pub start: f64,
}

/// The least-squares line, if the points differ in x.
pub fn line(points: &[(f64, f64)]) -> Option<Slope> {
    let n = real(points.len());
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    if spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
    let start = y - slope * x;
    let rest: f64 = points.iter().map(|p| (p.1 - start - slope * p.0).powi(2)).sum();
    let error = (points.len() > 2).then(|| (rest / (n - 2.0) / spread).sqrt());
    Some(Slope { slope, error, start })
}

#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_noise() {
        let figure = Figure::of(&[10.0, 12.0, 9.0, 11.0, 10.0]).unwrap();
        assert_eq!((figure.median, figure.least, figure.most, figure.runs), (10.0, 9.0, 12.0, 5));
        assert_eq!(figure.noise, MAD_TO_SIGMA * 0.1);
        assert_eq!(Figure::of(&[1.0, 3.0]).unwrap().median, 2.0);
        assert_eq!((Figure::of(&[]), Figure::of(&[0.0]).unwrap().noise), (None, 0.0));
    }

    #[test]
    fn short_series_are_compared_exactly() {
        // The series do not overlap: 2 of the 252 ways to divide ten ranks into five and five.
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_eq!(differ_by_chance(&low, &high), 2.0 / 252.0);
        assert_eq!(differ_by_chance(&high, &low), 2.0 / 252.0);
        assert_eq!(differ_by_chance(&low, &low), 1.0);
        assert_eq!(differ_by_chance(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1);
        // Sizes are the same in each run.
        assert_eq!(differ_by_chance(&[7.0; 5], &[8.0; 5]), 2.0 / 252.0);
        assert_eq!(differ_by_chance(&[7.0; 5], &[7.0; 5]), 1.0);
        assert_eq!(differ_by_chance(&[], &[1.0]), 1.0);
    }

    #[test]
    fn long_series_are_compared_as_normal_ones() {
        // U is 120 of 400 with a standard deviation of sqrt(400 * 41 / 12): 79.5 / 36.97 is 2.150 of them.
        let a: Vec<f64> = (0..20).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|x| x + 4.5).collect();
        let p = differ_by_chance(&a, &b);
        assert!((p - 0.03153).abs() < 1e-4, "{p}");
        assert_eq!(differ_by_chance(&[1.0; 20], &[1.0; 20]), 1.0);
    }

    #[test]
    fn one_more_costs_what_it_costs() {
        let found = line(&[(1.0, 119.0), (2.0, 138.0), (5.0, 195.0), (10.0, 290.0)]).unwrap();
        assert_eq!((found.slope, found.start), (19.0, 100.0));
        assert!(found.error.unwrap() < 1e-9);
        // Residuals 1, -1, -1, 1 with a spread of 5 of x: sqrt(4 / 2 / 5).
        let found = line(&[(0.0, 1.0), (1.0, 1.0), (2.0, 3.0), (3.0, 7.0)]).unwrap();
        assert!((found.slope - 2.0).abs() < 1e-12 && (found.error.unwrap() - 0.4f64.sqrt()).abs() < 1e-12, "{found:?}");
        assert_eq!(line(&[(1.0, 1.0), (2.0, 2.0)]).unwrap().error, None);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(line(&[]), None);
    }
}
