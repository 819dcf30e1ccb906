//! Repeats requests that failed for a reason that may pass, as long as it is worth it.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use rootfile::{Error, Result};

use crate::settings::Limits;
use crate::waiting::say;

/// Wait before the first repetition. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Waits from this on are said.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub error: Error,
    /// Whether the same request may succeed later.
    pub may_pass: bool,
    /// How long the server asks to wait.
    pub wait: Option<Duration>,
}

impl Failure {
    /// A failure that stays.
    pub fn lasting(error: Error) -> Self {
        Self { error, may_pass: false, wait: None }
    }

    /// A failure that may pass.
    pub fn passing(error: Error) -> Self {
        Self { error, may_pass: true, wait: None }
    }
}

/// Whether a server with this reply may do better later.
pub(crate) fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

/// Runs a request to a host, and again as often as the limits say, unless it has taken twice the time-out by then: of a
/// server that hangs, one repetition is enough.
pub(crate) async fn with_retries<T, F>(limits: &Limits, host: &str, request: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = std::result::Result<T, Failure>>,
{
    let began = Instant::now();
    let mut attempt = 0;
    loop {
        let failure = match request().await {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        if !failure.may_pass || attempt == limits.retries || began.elapsed() >= limits.patience() {
            return Err(failure.error);
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << attempt.min(16)).min(LONGEST_WAIT);
        // Clients that failed together must not come back together.
        let jitter = doubled.mul_f64(f64::from(u16::try_from(random() & 0xfff).unwrap_or(0)) / 8192.0);
        let wait = failure.wait.unwrap_or(doubled).min(LONGEST_WAIT) + jitter;
        attempt += 1;
        if wait >= LONG_WAIT {
            let (seconds, most) = (wait.as_secs_f64(), limits.retries);
            let again = || format!("{host}: {}; asked again in {seconds:.0} s ({attempt} of {most})", failure.error);
            say(again, LONG_WAIT);
        }
        tokio::time::sleep(wait).await;
    }
}

fn random() -> u64 {
    RandomState::new().hash_one(0)
}
