//! Limits as users write them: a size, or a multiple of today's.

use std::str::FromStr;

use dataset::layout::ByteSize;
use rootfile::{Error, Result};

/// A limit: an amount, or a multiple of today's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Bytes, or seconds.
    Absolute(f64),
    /// A multiple of today's value.
    Times(f64),
}

impl Limit {
    /// The limit, given today's value.
    pub fn of(self, today: f64) -> f64 {
        match self {
            Self::Absolute(value) => value,
            Self::Times(factor) => factor * today,
        }
    }

    /// Reads a multiple such as `1.05x`.
    fn times(text: &str) -> Option<Self> {
        let factor = text.trim().strip_suffix(['x', 'X'])?.trim().parse::<f64>().ok()?;
        (factor.is_finite() && factor > 0.0).then_some(Self::Times(factor))
    }

    /// Reads a time: `90s`, `5min`, `0.5h`, or a multiple.
    ///
    /// # Errors
    ///
    /// The text is no time and no multiple.
    pub fn time(text: &str) -> Result<Self> {
        let wrong =
            || Error::request(format!("{text:?} is not a time; write 90s, 250ms, 5min, 1h, or 2x for twice today's"));
        if let Some(times) = Self::times(text) {
            return Ok(times);
        }
        let text = text.trim();
        let units = [("min", 60.0), ("us", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("s", 1.0)];
        let (number, unit) =
            units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text, 1.0));
        let value = number.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0).ok_or_else(wrong)?;
        Ok(Self::Absolute(value * unit))
    }
}

impl FromStr for Limit {
    type Err = Error;

    /// Reads a size, or a multiple.
    fn from_str(text: &str) -> Result<Self> {
        #[expect(clippy::cast_precision_loss, reason = "a limit")]
        let size = || text.parse::<ByteSize>().ok().map(|s| Self::Absolute(s.bytes() as f64));
        Self::times(text).or_else(size).ok_or_else(|| {
            Error::request(format!(
                "{text:?} is not a limit; write a size such as 2GB, or 1.05x as a multiple of today's"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_multiples() {
        assert_eq!("1.05x".parse::<Limit>().unwrap().of(200.0), 210.0);
        assert_eq!("2GB".parse::<Limit>().unwrap(), Limit::Absolute(2e9));
        assert_eq!(Limit::time("90s").unwrap(), Limit::Absolute(90.0));
        assert_eq!(Limit::time("5min").unwrap(), Limit::Absolute(300.0));
        assert_eq!(Limit::time("640 us").unwrap(), Limit::Absolute(640.0 * 1e-6));
        assert_eq!(Limit::time("3x").unwrap().of(4.0), 12.0);
        assert!("x".parse::<Limit>().is_err() && Limit::time("soon").is_err() && "-1x".parse::<Limit>().is_err());
    }
}
