//! Repeats requests that failed for a reason that may pass.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use reqwest::StatusCode;
use rootfile::{Error, Result};

/// Wait before the first repetition. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Why a request failed.
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

/// Runs a request, and again up to `retries` times.
pub(crate) async fn with_retries<T, F>(retries: u32, request: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = std::result::Result<T, Failure>>,
{
    let mut attempt = 0;
    loop {
        let failure = match request().await {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        if !failure.may_pass || attempt == retries {
            return Err(failure.error);
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << attempt.min(16)).min(LONGEST_WAIT);
        // Clients that failed together must not come back together.
        let jitter = doubled.mul_f64(f64::from(u16::try_from(random() & 0xfff).unwrap_or(0)) / 8192.0);
        tokio::time::sleep(failure.wait.unwrap_or(doubled).min(LONGEST_WAIT) + jitter).await;
        attempt += 1;
    }
}

fn random() -> u64 {
    RandomState::new().hash_one(0)
}
