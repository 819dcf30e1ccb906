//! How much CPU time measuring may take. Samples are planned without a clock, so the same seed takes the same samples. The
//! clock only stops the work where the plan takes longer than it should.

use super::nominal;
use super::statistics::FileStats;
use crate::system::clock::process_seconds;

/// Measuring may take this many CPU seconds, or this share of the rewrite's.
const SECONDS: f64 = 3.0;
const SHARE: f64 = 0.25;
/// The CPU seconds where size is the goal: such rewrites take longer.
const SMALL: f64 = 5.0;

/// CPU seconds of this process that may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// CPU seconds of the process at the start and at the end of the allowance.
    start: f64,
    end: f64,
}

impl Allowance {
    /// The allowance for the rewrite of a file, from `start` on.
    pub fn for_file(start: f64, stats: &FileStats) -> Self {
        Self::new(start, 1e-9 * nominal::rewrite(stats), stats.goal.pick(SECONDS, SMALL))
    }

    /// The allowance for a rewrite of `rewrite` CPU seconds, from `start` on.
    pub fn new(start: f64, rewrite: f64, least: f64) -> Self {
        Self { start, end: start + least.max(SHARE * rewrite) }
    }

    /// No limit.
    #[cfg(test)]
    pub fn unlimited() -> Self {
        Self { start: 0.0, end: f64::INFINITY }
    }

    /// The whole allowance, in CPU seconds.
    pub fn seconds(&self) -> f64 {
        self.end - self.start
    }

    /// CPU seconds used so far.
    pub fn used(&self) -> f64 {
        process_seconds() - self.start
    }

    /// CPU seconds that are left.
    pub fn left(&self) -> f64 {
        (self.end - process_seconds()).max(0.0)
    }

    /// Whether there is time for work of `seconds` CPU seconds.
    pub fn allows(&self, more: f64) -> bool {
        process_seconds() + more <= self.end
    }

    /// The allowance with some CPU seconds reserved for later work.
    pub fn keeping(self, seconds: f64) -> Self {
        Self { end: self.end - seconds, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_a_long_rewrite_and_three_seconds_of_a_short_one() {
        let seconds = |rewrite| Allowance::new(0.0, rewrite, SECONDS).seconds();
        assert_eq!((seconds(100.0), seconds(1.0)), (25.0, 3.0));
        let started = Allowance::new(process_seconds(), 1.0, SECONDS);
        assert!(started.allows(0.1) && !started.allows(3.1) && !started.keeping(2.95).allows(0.1));
        assert!(Allowance::new(0.0, 1.0, SECONDS).keeping(0.5).seconds() == 2.5 && started.used() >= 0.0);
    }
}
