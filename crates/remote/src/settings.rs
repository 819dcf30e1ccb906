//! What users may set for remote files, by environment variables, as those of other clients of the field are set.

use std::time::Duration;

/// Seconds without an answer after which a request has failed: `BASKETRY_REMOTE_TIMEOUT`, 60 if not set.
pub(crate) fn timeout() -> Duration {
    Duration::from_secs_f64(number("BASKETRY_REMOTE_TIMEOUT").filter(|seconds| *seconds > 0.0).unwrap_or(60.0))
}

/// How often a failed request is repeated: `BASKETRY_REMOTE_RETRIES`, 5 times if not set.
pub(crate) fn retries() -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let retries = number("BASKETRY_REMOTE_RETRIES").map(|retries| retries.clamp(0.0, 100.0) as u32);
    retries.unwrap_or(5)
}

fn number(variable: &str) -> Option<f64> {
    std::env::var(variable).ok()?.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number < 1e6)
}
