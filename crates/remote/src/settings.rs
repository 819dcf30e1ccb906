//! What users may set for remote files, by environment variables, as those of other clients of the field are set; and the limits
//! that follow from them for each file.

use std::time::Duration;

/// Limits of the requests for a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time without an answer after which a request has failed, and the time over which the speed is measured.
    pub timeout: Duration,
    /// How often a failed request is repeated.
    pub retries: u32,
    /// Bytes in a second, of a server that is not given up.
    pub lowest_speed: u64,
    /// Bytes that are received of a file whose server sends it only whole, and does not say how large it is.
    pub most_unsized: u64,
}

impl Limits {
    /// The limits by the environment.
    pub fn get() -> Self {
        Self { timeout: timeout(), retries: retries(), lowest_speed: lowest_speed(), most_unsized: most_unsized() }
    }

    /// Fewer bytes in the time-out are too few.
    pub fn least_in_time(&self) -> u64 {
        let milliseconds = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        self.lowest_speed.saturating_mul(milliseconds) / 1000
    }

    /// After this time of failures a request is not repeated any more.
    pub fn patience(&self) -> Duration {
        self.timeout.saturating_mul(2)
    }
}

/// The variable of [`Limits::lowest_speed`].
pub(crate) const LOWEST_SPEED: &str = "BASKETRY_REMOTE_LOWEST_SPEED";
/// The variable of [`Limits::most_unsized`].
pub(crate) const MOST_UNSIZED: &str = "BASKETRY_REMOTE_MOST_UNSIZED";

/// Seconds without an answer after which a request has failed: `BASKETRY_REMOTE_TIMEOUT`, 60 if not set.
pub(crate) fn timeout() -> Duration {
    let seconds = number("BASKETRY_REMOTE_TIMEOUT").filter(|seconds| *seconds > 0.0 && *seconds < 1e6);
    Duration::from_secs_f64(seconds.unwrap_or(60.0))
}

/// How often a failed request is repeated: `BASKETRY_REMOTE_RETRIES`, 5 times if not set.
fn retries() -> u32 {
    u32::try_from(whole("BASKETRY_REMOTE_RETRIES").unwrap_or(5).min(100)).unwrap_or(100)
}

/// The lowest speed: `BASKETRY_REMOTE_LOWEST_SPEED`, 100 bytes in a second if not set; 0 is none.
fn lowest_speed() -> u64 {
    whole(LOWEST_SPEED).unwrap_or(100)
}

/// The most of a file of unknown size: `BASKETRY_REMOTE_MOST_UNSIZED`, 4 GB if not set.
fn most_unsized() -> u64 {
    whole(MOST_UNSIZED).unwrap_or(4_000_000_000)
}

/// A variable that is a whole number; what is below zero is zero.
fn whole(variable: &str) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    number(variable).map(|number| number.clamp(0.0, 1e18) as u64)
}

fn number(variable: &str) -> Option<f64> {
    std::env::var(variable).ok()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
