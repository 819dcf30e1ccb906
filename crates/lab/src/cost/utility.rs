//! The utility of a layout in one number of seconds. `tune` minimises it over expected costs, `sweep` over measured ones.

/// Assumed readings of a file for each time it is written. A second of compression counts as this share of a second of
/// reading.
const READS_PER_WRITE: f64 = 200.0;
/// One per cent of the file's size counts as this many per cent of its reading time.
const SIZE_VALUE: f64 = 0.05;

/// Weights of seconds and bytes in one number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utility {
    /// Weight of a second.
    seconds: f64,
    /// Seconds that a byte on disk counts as.
    byte: f64,
}

impl Utility {
    /// For a file that takes `read` seconds to read and has `size` bytes today.
    pub fn new(read: f64, size: f64) -> Self {
        Self { seconds: 1.0, byte: SIZE_VALUE * read / size.max(1.0) }
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
        let utility = Utility::new(4.0, 1e9);
        for (size, value) in [(1e9, 4.0 + 0.1 + 0.2), (2e9, 4.0 + 0.1 + 0.4)] {
            assert!((utility.of(4.0, 20.0, size) - value).abs() < 1e-12);
        }
    }
}
