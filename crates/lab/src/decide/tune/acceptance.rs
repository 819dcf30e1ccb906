//! Acceptance of a choice: it is written under a temporary name, measured, and published only if it holds.
//!
//! A choice that exceeds the size limit or reads slower than it may is rejected. Its measurement corrects the model, and the
//! next choice is tried. Writing and measuring are behind a trait, so that tests can plant both.

use rootfile::Result;

use super::choice::SIZE_NOISE;
use super::compare::Comparison;
use super::report::{Attempt, Rejected};

/// Rewrites at most: the first choice, and two more.
pub(crate) const ATTEMPTS: usize = 3;
/// Corrections are slightly stronger than the measurement, so that the next choice differs.
const STRONGER: f64 = 1.005;
/// A measured reading time that is shorter by less than this share is no gain.
const LEAST_GAIN: f64 = 0.01;
/// No single measurement corrects by more.
const MOST: f64 = 20.0;

/// Factors on the expected costs of changed columns. Costs of unchanged columns are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Correction {
    /// On bytes on disk.
    pub size: f64,
    /// On seconds of reading.
    pub read: f64,
}

impl Default for Correction {
    fn default() -> Self {
        Self { size: 1.0, read: 1.0 }
    }
}

/// Corrected expectations of a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Expected {
    /// Bytes of the output.
    pub size: f64,
    /// Of these, bytes of unchanged columns.
    pub size_kept: f64,
    /// Seconds to read the output.
    pub read: f64,
    /// Of these, seconds for unchanged columns.
    pub read_kept: f64,
    /// Seconds to read the input.
    pub read_today: f64,
}

/// The written output.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: f64,
    /// Number of baskets.
    pub baskets: f64,
    /// CPU seconds of the rewrite.
    pub rewrite: f64,
}

/// Writes and measures choices.
pub(crate) trait Candidate {
    /// Writes the current choice under a temporary name, and removes the one before.
    fn write(&mut self) -> Result<Written>;
    /// Differences in content between the output and the input.
    fn differences(&mut self) -> Result<Vec<String>>;
    /// Reads input and output in turns.
    fn compare(&mut self) -> Result<Comparison>;
    /// Makes the choice anew with corrected costs. None if no choice is left, or the choice changes nothing.
    fn choose(&mut self, correction: Correction) -> Result<Option<Expected>>;
    /// Gives the output its name.
    fn publish(&mut self) -> Result<()>;
}

/// The result of all attempts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// All rewrites, in order. The last one was delivered, if any was.
    pub attempts: Vec<Attempt>,
    pub delivered: bool,
    /// Whether no further choice was left before the attempts were used up.
    pub exhausted: bool,
}

/// What an output must keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Its largest size.
    pub bytes: f64,
    /// Its longest reading time, as a multiple of today's.
    pub reading: f64,
    /// Today's bytes, if the output must be smaller or quicker to read than today by more than the noise.
    pub to_beat: Option<f64>,
}

impl Bounds {
    /// Whether an output gains nothing. The measured ratio counts, and not its interval: a small gain that noise may hide is one.
    fn gains_nothing(&self, bytes: f64, reading: &Comparison) -> bool {
        let same_size = |today: f64| bytes > (1.0 - SIZE_NOISE) * today;
        self.to_beat.is_some_and(same_size) && reading.ratio > 1.0 - LEAST_GAIN
    }
}

/// Writes choices until one holds.
pub(crate) fn rewrite_until_accepted(
    candidate: &mut dyn Candidate,
    first: Expected,
    bounds: Bounds,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut expected = first;
    let mut correction = Correction::default();
    loop {
        let written = candidate.write()?;
        let mut attempt = Attempt { expected_size: expected.size, written, ..Attempt::default() };
        if written.bytes > bounds.bytes {
            attempt.rejected = Some(Rejected::TooLarge);
        } else {
            attempt.differences = candidate.differences()?;
            if !attempt.differences.is_empty() {
                // Another choice does not repair a rewrite that changes content.
                attempt.rejected = Some(Rejected::Different);
                outcome.attempts.push(attempt);
                return Ok(outcome);
            }
            let reading = candidate.compare()?;
            attempt.reading = Some(reading);
            if reading.is_slower(bounds.reading) {
                attempt.rejected = Some(Rejected::Slower);
            } else if bounds.gains_nothing(written.bytes, &reading) {
                attempt.rejected = Some(Rejected::NoGain);
            }
        }
        let rejected = attempt.rejected;
        let reading = attempt.reading;
        outcome.attempts.push(attempt);
        if rejected.is_none() {
            candidate.publish()?;
            outcome.delivered = true;
            return Ok(outcome);
        }
        if outcome.attempts.len() >= ATTEMPTS {
            return Ok(outcome);
        }
        match reading {
            None => correction.size *= size_factor(&expected, written.bytes),
            Some(reading) => correction.read *= read_factor(&expected, reading.ratio),
        }
        match candidate.choose(correction)? {
            Some(next) => expected = next,
            None => {
                outcome.exhausted = true;
                return Ok(outcome);
            }
        }
    }
}

/// Measured over expected size of changed columns.
fn size_factor(expected: &Expected, measured: f64) -> f64 {
    let changed = (expected.size - expected.size_kept).max(1.0);
    (STRONGER * (measured - expected.size_kept) / changed).clamp(STRONGER, MOST)
}

/// Measured over expected reading time of changed columns, where the output takes `ratio` times as long as
/// the input. Only the ratio is used, because it does not depend on the load of the machine.
fn read_factor(expected: &Expected, ratio: f64) -> f64 {
    let changed = (expected.read - expected.read_kept).max(f64::MIN_POSITIVE);
    (STRONGER * (ratio * expected.read_today - expected.read_kept) / changed).clamp(STRONGER, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planted measurements: of each choice its size and the ratio of its reading time to the input's.
    #[derive(Default)]
    struct Planted {
        found: Vec<(f64, f64)>,
        differs: bool,
        choices: usize,
        corrections: Vec<Correction>,
        now: usize,
        compared: usize,
        published: Option<usize>,
    }

    const EXPECTED: Expected = Expected { size: 90.0, size_kept: 40.0, read: 0.8, read_kept: 0.2, read_today: 1.0 };

    impl Planted {
        fn of(found: &[(f64, f64)]) -> Self {
            Self { found: found.to_vec(), choices: found.len(), ..Self::default() }
        }

        fn deliver(&mut self) -> Outcome {
            rewrite_until_accepted(self, EXPECTED, Bounds { bytes: 100.0, reading: 1.0, to_beat: None }).unwrap()
        }
    }

    impl Candidate for Planted {
        fn write(&mut self) -> Result<Written> {
            Ok(Written { bytes: self.found[self.now].0, ..Written::default() })
        }

        fn differences(&mut self) -> Result<Vec<String>> {
            Ok(if self.differs { vec!["x".to_owned()] } else { Vec::new() })
        }

        fn compare(&mut self) -> Result<Comparison> {
            self.compared += 1;
            let ratio = self.found[self.now].1;
            Ok(Comparison { before: 1.0, after: ratio, ratio, interval: [ratio - 0.01, ratio + 0.01], repeats: 4 })
        }

        fn choose(&mut self, correction: Correction) -> Result<Option<Expected>> {
            self.corrections.push(correction);
            self.now += 1;
            Ok((self.now < self.choices).then_some(EXPECTED))
        }

        fn publish(&mut self) -> Result<()> {
            self.published = Some(self.now);
            Ok(())
        }
    }

    fn reasons(outcome: &Outcome) -> Vec<Option<Rejected>> {
        outcome.attempts.iter().map(|a| a.rejected).collect()
    }

    #[test]
    fn a_choice_that_holds_is_delivered_at_once() {
        let mut candidate = Planted::of(&[(99.0, 0.9), (1.0, 0.1)]);
        let outcome = candidate.deliver();
        assert!(outcome.delivered && candidate.published == Some(0) && candidate.corrections.is_empty());
        assert_eq!(reasons(&outcome), [None]);
    }

    #[test]
    fn a_choice_over_the_limit_is_not_read_and_the_next_is_tried() {
        let mut candidate = Planted::of(&[(105.0, 0.5), (100.0, 1.005)]);
        let outcome = candidate.deliver();
        assert_eq!(reasons(&outcome), [Some(Rejected::TooLarge), None]);
        assert!(outcome.delivered && candidate.published == Some(1) && candidate.compared == 1);
        // 65 bytes instead of 50.
        let Correction { size, read } = candidate.corrections[0];
        assert!((size - 1.3 * STRONGER).abs() < 1e-9 && read == 1.0, "{size} {read}");
    }

    #[test]
    fn a_choice_that_reads_slower_is_corrected_by_its_reading() {
        let mut candidate = Planted::of(&[(99.0, 1.4), (99.0, 0.99)]);
        let outcome = candidate.deliver();
        assert_eq!(reasons(&outcome), [Some(Rejected::Slower), None]);
        // 1.2 seconds instead of 0.6.
        let Correction { size, read } = candidate.corrections[0];
        assert!((read - 2.0 * STRONGER).abs() < 1e-9 && size == 1.0, "{size} {read}");
    }

    #[test]
    fn after_three_rewrites_nothing_is_delivered() {
        let mut candidate = Planted::of(&[(105.0, 1.0), (99.0, 1.4), (101.0, 1.0), (1.0, 0.1)]);
        let outcome = candidate.deliver();
        assert_eq!(reasons(&outcome), [Some(Rejected::TooLarge), Some(Rejected::Slower), Some(Rejected::TooLarge)]);
        assert!(!outcome.delivered && !outcome.exhausted && candidate.published.is_none());
    }

    #[test]
    fn what_gains_nothing_beyond_the_noise_is_not_delivered() {
        let deliver = |found: (f64, f64), to_beat| {
            let bounds = Bounds { bytes: 1000.0, reading: 1.0, to_beat };
            rewrite_until_accepted(&mut Planted::of(&[found]), EXPECTED, bounds).unwrap()
        };
        let outcome = deliver((99.9, 0.995), Some(100.0));
        assert_eq!(reasons(&outcome), [Some(Rejected::NoGain)]);
        assert!(!outcome.delivered && outcome.exhausted);
        // Smaller, quicker, or wanted without a gain.
        assert!(deliver((99.0, 0.995), Some(100.0)).delivered);
        assert!(deliver((100.0, 0.98), Some(100.0)).delivered);
        assert!(deliver((99.9, 0.995), None).delivered);
    }

    #[test]
    fn without_another_choice_nothing_is_delivered() {
        let mut candidate = Planted::of(&[(105.0, 1.0)]);
        let outcome = candidate.deliver();
        assert!(!outcome.delivered && outcome.exhausted && outcome.attempts.len() == 1);
    }

    #[test]
    fn other_content_is_never_delivered_and_not_tried_again() {
        let mut candidate = Planted { differs: true, ..Planted::of(&[(10.0, 0.1), (10.0, 0.1)]) };
        let outcome = candidate.deliver();
        assert_eq!(reasons(&outcome), [Some(Rejected::Different)]);
        assert!(!outcome.delivered && candidate.published.is_none() && candidate.compared == 0);
    }
}
