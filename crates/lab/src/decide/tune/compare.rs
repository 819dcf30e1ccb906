//! Compares two files by repeated, interleaved readings: the ratio of their reading times, and how exact the ratio is.
//!
//! Each repeat reads both files and gives one ratio. The ratios' mean and their spread give an interval; a file counts as
//! slower only if the whole interval lies above the ratio that is allowed, mostly 1, and by more than a clock tells.

use rootfile::Result;

/// Repeats at least and at most.
const REPEATS: (usize, usize) = (4, 24);
/// Repeats beyond the least number end after this many seconds.
const SECONDS: f64 = 2.0;
/// An interval that ends so near to the mean ratio is exact enough.
const EXACT: f64 = 0.01;
/// Quantiles of Student's distribution, 95 % on one side, for 1, 2, 3, ... degrees of freedom.
const STUDENT: [f64; 12] = [6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782];
/// The same for more degrees of freedom.
const STUDENT_REST: f64 = 1.75;
/// Seconds that no clock tells apart: what a reading takes longer beyond these counts.
const CLOCK: f64 = 2e-5;

/// Reading times of two files, side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// Seconds to read the first file: the median of the repeats.
    pub before: f64,
    /// Seconds to read the second file.
    pub after: f64,
    /// Time of the second file over time of the first: the geometric mean of the repeats.
    pub ratio: f64,
    /// The interval around `ratio`: 95 % on each side.
    pub interval: [f64; 2],
    /// Number of repeats.
    pub repeats: usize,
}

impl Comparison {
    /// Whether the second file takes more than `ratio` times as long, by more than the noise.
    pub fn is_slower(&self, ratio: f64) -> bool {
        self.interval[0] > ratio && self.after - ratio * self.before > CLOCK
    }

    /// How the second file reads against the first, today's, as far as the noise lets it be told.
    pub fn words(&self) -> &'static str {
        match self.interval {
            _ if self.is_slower(1.0) => "slower than today",
            [_, high] if high < 1.0 => "faster than today",
            _ => "as fast as today within the noise",
        }
    }

    /// The same with the interval.
    pub fn against_today(&self) -> String {
        let [low, high] = self.interval.map(|ratio| 100.0 * ratio);
        format!("{} ({low:.0} to {high:.0} % of its time)", self.words())
    }

    /// Of repeats that were made.
    fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let logs: Vec<f64> = pairs.iter().filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| (b / a).ln()).collect();
        let n = crate::math::as_f64(logs.len() as u64);
        let mean = if logs.is_empty() { 0.0 } else { logs.iter().sum::<f64>() / n };
        let half = match logs.len() {
            0 | 1 => f64::INFINITY,
            more => {
                let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
                STUDENT.get(more - 2).copied().unwrap_or(STUDENT_REST) * (variance / n).sqrt()
            }
        };
        Some(Self {
            before: crate::math::statistics::median(&before)?,
            after: crate::math::statistics::median(&after)?,
            ratio: mean.exp(),
            interval: [(mean - half).exp(), (mean + half).exp()],
            repeats: pairs.len(),
        })
    }
}

/// Repeats `read`, which reads both files and says how many seconds each took, until the answer is clear or has taken
/// long enough. The question is whether the second file takes at most `most` times as long. `read` gets whether to begin with the
/// second file.
pub(crate) fn compare(most: f64, read: &mut dyn FnMut(bool) -> Result<(f64, f64)>) -> Result<Comparison> {
    let mut pairs = Vec::new();
    let mut spent = 0.0;
    loop {
        let pair = read(pairs.len() % 2 == 1)?;
        spent += pair.0 + pair.1;
        pairs.push(pair);
        let Some(found) = Comparison::of(&pairs).filter(|_| pairs.len() >= REPEATS.0) else { continue };
        let clear = found.interval[1] < most || found.interval[0] > most * (1.0 + EXACT);
        let exact = found.interval[1] < (1.0 + EXACT) * found.ratio;
        if clear || exact || spent > SECONDS || pairs.len() >= REPEATS.1 {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow::uniform;

    /// Times that scatter by so much around their value.
    fn found(ratio: f64, noise: f64, seconds: f64) -> Comparison {
        let mut n = 0;
        let mut draw = || {
            n += 1;
            1.0 + noise * (2.0 * uniform(7, n) - 1.0)
        };
        compare(1.0, &mut |_| Ok((seconds * draw(), seconds * ratio * draw()))).unwrap()
    }

    #[test]
    fn slower_only_if_noise_cannot_explain_it() {
        assert!(found(1.1, 0.02, 0.01).is_slower(1.0));
        assert!(!found(0.9, 0.02, 0.01).is_slower(1.0));
        assert!(!found(1.0, 0.2, 0.001).is_slower(1.0));
        // Noise of 20 % hides 2 %.
        assert!(!found(1.02, 0.2, 1.0).is_slower(1.0));
        let exact = found(1.02, 0.001, 0.01);
        assert!(!exact.is_slower(1.1), "{exact:?}");
        assert!(exact.is_slower(1.0) && exact.interval[0] < 1.021 && exact.interval[1] > 1.019, "{exact:?}");
    }

    #[test]
    fn words_say_no_more_than_was_measured() {
        let words = |interval: [f64; 2]| {
            let ratio = (interval[0] * interval[1]).sqrt();
            Comparison { before: 1.0, after: ratio, ratio, interval, repeats: 4 }.against_today()
        };
        assert_eq!(words([0.98, 1.11]), "as fast as today within the noise (98 to 111 % of its time)");
        assert_eq!(words([1.02, 1.11]), "slower than today (102 to 111 % of its time)");
        assert_eq!(words([0.5, 0.9]), "faster than today (50 to 90 % of its time)");
    }

    #[test]
    fn long_readings_are_repeated_less() {
        assert_eq!(found(1.0, 0.2, 3.0).repeats, REPEATS.0);
        assert_eq!(found(1.0, 0.2, 1e-3).repeats, REPEATS.1);
        assert!(found(0.5, 0.1, 1e-3).repeats < REPEATS.1);
    }

    #[test]
    fn readings_of_no_time_are_not_slower() {
        // Of microseconds the clock says nothing, however often they are repeated.
        let tiny = compare(1.0, &mut |_| Ok((5e-6, 9e-6))).unwrap();
        assert!(tiny.interval[0] > 1.5 && !tiny.is_slower(1.0), "{tiny:?}");
        let found = compare(1.0, &mut |_| Ok((0.0, 0.0))).unwrap();
        assert!(!found.is_slower(1.0), "{found:?}");
    }
}
