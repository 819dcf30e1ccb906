//! What a fault costs its readers, what its mending brings, and what that takes, in units that can be held against each other.
//!
//! The constants are what one core of a common machine needs with basketry's reader, fitted to files of the corpus
//! (`bench/findings.py` holds them against what commands bring). They order findings, and are no measurement of a file:
//! `readspeed` and `tune` measure.

use serde::{Deserialize, Serialize};

use crate::inspect::report::{Decoded, TreeReport};

/// Bytes a second from storage.
pub const STORAGE: f64 = 200e6;
/// Seconds for each basket that is read besides its bytes: look-up, key, a codec's start.
pub const BASKET: f64 = 2.5e-6;
/// Bytes of a basket on disk that are no data: key, and the codec's frame.
pub const BASKET_BYTES: u64 = 80;
/// Bytes of a basket's entry in the tree's record, compressed.
pub const BASKET_ENTRY: u64 = 12;
/// Seconds to make a branch out of the tree's record.
const BRANCH: f64 = 7e-6;
/// Seconds for each byte of the tree's record before compression.
const RECORD_BYTE: f64 = 1e-9;
/// Seconds to open a tree for each byte of a basket in its record. Who reads the basket needs no less for one on disk.
pub const EMBEDDED_BYTE: f64 = 1.3e-9;
/// Entries that a reader picks at random for each time that a tree is read as a whole.
const PICKED: f64 = 10.0;

/// What a fault costs, each as far as it is known, else 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Bytes on disk for nothing.
    pub bytes: u64,
    /// Seconds of one core at each full read.
    pub read_seconds: f64,
    /// Seconds of one core whenever the tree is opened, which a reader of everything does not save.
    #[serde(default)]
    pub open_seconds: f64,
    /// Seconds of one core for each entry that is picked at random.
    #[serde(default)]
    pub entry_seconds: f64,
    /// Seconds of one core at each full read by jobs or threads that share the tree by clusters.
    #[serde(default)]
    pub shared_seconds: f64,
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
        // A gigabyte of memory is worth ten seconds: jobs die of it.
        let danger = if self.danger { 1e9 } else { 0.0 };
        danger
            + as_f64(self.bytes) / STORAGE
            + self.read_seconds
            + PICKED * self.entry_seconds
            + 0.5 * (self.shared_seconds + self.open_seconds)
            + as_f64(self.memory) / 1e8
    }
}

/// What mending takes: the other side of a [`Cost`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Bytes by which the file grows.
    pub bytes: u64,
    /// Seconds of one core more at each full read.
    pub read_seconds: f64,
    /// Bytes of memory more that a reader of all branches needs.
    pub memory: u64,
    /// What else changes, as a sentence; empty where nothing does.
    pub note: String,
}

/// Seconds to decompress so many baskets of so many bytes before compression and on disk.
pub fn decompress(codec: &str, raw: u64, zip: u64, baskets: u64) -> f64 {
    // A codec's time goes mostly with what it reads: of what is very compressible, most is a copy.
    let (stored, made, start) = match codec {
        "lzma" => (38e-9, 0.3e-9, 3e-6),
        "zlib" | "cs" => (3.0e-9, 0.08e-9, 1e-6),
        "zstd" => (1.9e-9, 0.15e-9, 1e-6),
        "lz4" => (0.4e-9, 0.1e-9, 0.3e-6),
        _ => return 0.0,
    };
    as_f64(zip) * stored + as_f64(raw) * made + as_f64(baskets) * start
}

/// Bytes a second, before compression, at which entries become values.
pub fn decode_speed(kind: Decoded) -> f64 {
    match kind {
        Decoded::Numbers | Decoded::Bytes => 4e9,
        Decoded::Lists => 2e9,
        Decoded::Objects => 1.1e9,
    }
}

/// Seconds to open a tree.
pub fn open(tree: &TreeReport) -> f64 {
    let record = tree.metadata;
    let unzip =
        if record.bytes < record.raw_bytes { decompress("zlib", record.raw_bytes, record.bytes, 1) } else { 0.0 };
    as_f64(tree.branches.len() as u64) * BRANCH + as_f64(record.raw_bytes) * RECORD_BYTE + unzip
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

/// An estimate in bytes; less than nothing is nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, and not below zero")]
pub fn bytes(estimate: f64) -> u64 {
    estimate.max(0.0) as u64
}
