//! How long a context that does not wait was refused memory, and whether that is in vain: if nothing was released for a while, those who
//! hold the memory do nothing either.

use std::time::{Duration, Instant};

/// If no memory is released for so long, none will be.
const PATIENCE: Duration = Duration::from_millis(100);

/// Since when a context is refused, and whether its cluster goes on without free memory.
#[derive(Debug, Default)]
pub(crate) struct Refusal {
    since: Option<Since>,
    forced: bool,
}

#[derive(Debug)]
struct Since {
    time: Instant,
    /// The number of releases then.
    releases: u64,
}

impl Refusal {
    /// Notes another refusal. Returns whether all since the last release were in vain.
    pub fn is_in_vain(&mut self, releases: u64) -> bool {
        match &self.since {
            Some(since) if since.releases == releases => since.time.elapsed() >= PATIENCE,
            _ => {
                self.since = Some(Since { time: Instant::now(), releases });
                false
            }
        }
    }

    /// There was memory.
    pub fn end(&mut self) {
        self.since = None;
    }

    /// The cluster goes on although there is none.
    pub fn force(&mut self) {
        self.forced = true;
    }

    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// Another cluster begins.
    pub fn begin(&mut self) {
        self.forced = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_begins_anew_with_each_release() {
        let long_ago = Instant::now().checked_sub(PATIENCE).unwrap();
        let mut refused = Refusal { since: Some(Since { time: long_ago, releases: 7 }), forced: false };
        assert!(refused.is_in_vain(7));
        assert!(!refused.is_in_vain(8));
        assert!(!refused.is_in_vain(8));
        refused.end();
        assert!(!refused.is_in_vain(8));
    }
}
