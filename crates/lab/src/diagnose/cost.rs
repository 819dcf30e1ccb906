//! What a fault costs, in units that can be held against each other.
//!
//! The speeds are what one core of a common machine does, rounded: they order findings, and are no measurement
//! (`tune` measures).

use serde::{Deserialize, Serialize};

use crate::inspect::report::Decoded;

/// Bytes a second from storage.
pub const STORAGE: f64 = 200e6;
/// Seconds for each basket that is read besides its bytes: look-up, key, a codec's start.
pub const BASKET: f64 = 10e-6;
/// Bytes of a basket on disk that are no data: key, and the codec's frame.
pub const BASKET_BYTES: u64 = 100;
/// Bytes of a basket's entry in the tree's record.
pub const BASKET_ENTRY: u64 = 20;

/// What a fault costs, each as far as it is known, else 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes on disk for nothing.
    pub bytes: u64,
    /// Seconds of one core at each full read.
    pub read_seconds: f64,
    /// Seconds of one core when it was written.
    pub write_seconds: f64,
    /// Bytes of memory for nothing, of a reader or a writer.
    pub memory: u64,
    /// Whether results may be wrong or lost: goes before all that only costs.
    pub danger: bool,
}

impl Cost {
    /// One number to sort by, in seconds of a reader.
    pub fn weight(&self) -> f64 {
        // A file is written once and read often. A gigabyte of memory is worth ten seconds: jobs die of it.
        let danger = if self.danger { 1e9 } else { 0.0 };
        danger + as_f64(self.bytes) / STORAGE + self.read_seconds + 0.1 * self.write_seconds + as_f64(self.memory) / 1e8
    }
}

/// Bytes a second that a codec gives when read.
pub fn read_speed(codec: &str) -> f64 {
    match codec {
        "lzma" => 60e6,
        "zlib" | "cs" => 400e6,
        "zstd" => 900e6,
        "lz4" => 2500e6,
        _ => 10e9,
    }
}

/// Bytes a second, before compression, at which entries become values.
pub fn decode_speed(kind: Decoded) -> f64 {
    match kind {
        Decoded::Numbers | Decoded::Bytes => 8e9,
        Decoded::Lists => 2.5e9,
        Decoded::Objects => 1.5e9,
    }
}

/// Bytes a second that a codec takes when written, at a level of ROOT's.
pub fn write_speed(codec: &str, level: u8) -> f64 {
    match codec {
        "lzma" => 4e6,
        "zlib" if level >= 6 => 25e6,
        "zlib" => 70e6,
        "zstd" if level >= 5 => 60e6,
        "zstd" => 300e6,
        "lz4" if level >= 4 => 60e6,
        "lz4" => 500e6,
        _ => 10e9,
    }
}

/// A count or size as a float, for estimates.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn as_f64(n: u64) -> f64 {
    n as f64
}
