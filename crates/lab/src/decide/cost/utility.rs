//! The utility of a layout in one number, of seconds or of bytes. `tune` minimises it over expected costs, `sweep` over measured ones.

use std::str::FromStr;

use rootfile::{Error, Result};

/// Assumed readings of a file for each time it is written. A second of compression counts as this share of a second of
/// reading.
const READS_PER_WRITE: f64 = 200.0;
/// One per cent of the figure that is no goal counts as this many per cent of the goal.
const OTHER_VALUE: f64 = 0.05;

/// The figure that `tune` minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The reading time of the workload.
    #[default]
    Reading,
    /// Bytes on disk.
    Size,
}

impl Goal {
    /// The first where reading is the goal, the second where size is.
    pub(crate) fn pick<T>(self, reading: T, size: T) -> T {
        match self {
            Self::Reading => reading,
            Self::Size => size,
        }
    }
}

impl FromStr for Goal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "reading" => Ok(Self::Reading),
            "size" => Ok(Self::Size),
            _ => Err(Error::request(format!("{text:?} is no goal; write reading or size"))),
        }
    }
}

/// Weights of seconds and bytes in one number; its unit is that of the goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utility {
    /// Weight of a second.
    seconds: f64,
    /// Weight of a byte on disk.
    byte: f64,
}

impl Utility {
    /// For a file that takes `read` seconds to read and has `size` bytes today.
    pub fn new(goal: Goal, read: f64, size: f64) -> Self {
        match goal {
            Goal::Reading => Self { seconds: 1.0, byte: OTHER_VALUE * read / size.max(1.0) },
            Goal::Size => Self { seconds: OTHER_VALUE * size / read.max(f64::MIN_POSITIVE), byte: 1.0 },
        }
    }

    /// Only reading counts.
    pub const READING: Self = Self { seconds: 1.0, byte: 0.0 };
    /// Only bytes on disk count.
    pub const SIZE: Self = Self { seconds: 0.0, byte: 1.0 };

    /// The number to minimise.
    pub fn of(self, read: f64, write: f64, size: f64) -> f64 {
        self.seconds * (read + write / READS_PER_WRITE) + size * self.byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_counts_most() {
        // Today's file counts a twentieth of its own reading.
        let utility = Utility::new(Goal::Reading, 4.0, 1e9);
        for (size, value) in [(1e9, 4.0 + 0.1 + 0.2), (2e9, 4.0 + 0.1 + 0.4)] {
            assert!((utility.of(4.0, 20.0, size) - value).abs() < 1e-12);
        }
    }

    #[test]
    fn bytes_count_most() {
        // Today's reading counts a twentieth of the file.
        let utility = Utility::new(Goal::Size, 4.0, 1e9);
        for (read, value) in [(4.0, 1e9 + 50e6), (8.0, 1e9 + 100e6)] {
            assert!((utility.of(read, 0.0, 1e9) - value).abs() < 1.0);
        }
    }
}
