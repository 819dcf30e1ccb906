//! Slows the making of a data set down to a number of bytes a second, like a job that computes its events. Without a rate it
//! does nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flow::{Progress, tell};
use rootfile::Result;

/// The longest sleep: after it the job may have been told to end.
const NAP: Duration = Duration::from_millis(50);

/// A pace that all threads keep together.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes of payload a second.
    rate: Option<u64>,
    started: Instant,
    begun: AtomicU64,
}

impl Pace {
    /// Starts now.
    pub fn new(rate: Option<u64>) -> Self {
        Self { rate, started: Instant::now(), begun: AtomicU64::new(0) }
    }

    /// When the next `bytes` may be made, after the start.
    fn due(&self, bytes: u64) -> Option<Duration> {
        let before = self.begun.fetch_add(bytes, Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        self.rate.map(|rate| Duration::from_secs_f64(before as f64 / rate.max(1) as f64))
    }

    /// Waits until the next `bytes` may be made.
    pub fn wait(&self, bytes: u64, done: Progress<'_>) -> Result<()> {
        let Some(due) = self.due(bytes) else { return Ok(()) };
        while let Some(left) = due.checked_sub(self.started.elapsed()).filter(|left| !left.is_zero()) {
            std::thread::sleep(left.min(NAP));
            tell(done, 0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use rootfile::ErrorKind;

    use super::*;

    #[test]
    fn bytes_are_due_when_those_before_them_took_their_time() {
        let pace = Pace::new(Some(1_000_000));
        let due: Vec<_> = [500_000, 1_000_000, 1].map(|bytes| pace.due(bytes).unwrap().as_secs_f64()).into();
        assert_eq!(due, [0.0, 0.5, 1.5]);
        assert_eq!(Pace::new(None).due(5), None);
    }

    #[test]
    fn the_end_of_the_job_ends_the_wait() {
        let pace = Pace::new(Some(1));
        pace.wait(1_000_000, &flow::unwatched).unwrap();
        let ended = pace.wait(1, &|_| ControlFlow::Break(()));
        assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Interrupted));
    }
}
