//! Arithmetic that several measurements share: statistics of repeats, and the choice under limits ([`solve`]). Nothing
//! here knows files.

pub mod solve;
pub mod statistics;

/// A count or a size as a float, for estimates.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn as_f64(n: u64) -> f64 {
    n as f64
}
