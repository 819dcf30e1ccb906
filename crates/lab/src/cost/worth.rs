//! What a layout is worth, in one number of seconds: the one that `tune` makes small over what it expects, and `sweep` over
//! what it has measured.

/// A file is taken to be read so many times for each time it is written: a second of compression is worth it if
/// it saves this share of a second of reading.
const READS_PER_WRITE: f64 = 200.0;
/// One per cent of the file's size is worth this many per cent of its reading time, within the limits.
const SIZE_VALUE: f64 = 0.05;

/// What seconds of writing and bytes on disk count beside seconds of reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worth {
    /// How much seconds count.
    seconds: f64,
    /// Seconds that a byte on disk is worth.
    byte: f64,
}

impl Worth {
    /// Where today's file takes so many seconds to read, and so many bytes.
    pub fn new(read: f64, size: f64) -> Self {
        Self { seconds: 1.0, byte: SIZE_VALUE * read / size.max(1.0) }
    }

    /// Where nothing counts but reading, or nothing but bytes.
    pub const READING: Self = Self { seconds: 1.0, byte: 0.0 };
    pub const SIZE: Self = Self { seconds: 0.0, byte: 1.0 };

    /// The number that is made small.
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
        let worth = Worth::new(4.0, 1e9);
        for (size, value) in [(1e9, 4.0 + 0.1 + 0.2), (2e9, 4.0 + 0.1 + 0.4)] {
            assert!((worth.of(4.0, 20.0, size) - value).abs() < 1e-12);
        }
    }
}
