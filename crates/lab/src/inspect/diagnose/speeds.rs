//! Fixed speeds of one core of a common machine, for estimates of what a fault costs and what its command takes.
//!
//! The constants are those of basketry's reader, fitted to files of the corpus (`bench/findings.py` compares them with what
//! the commands gain). They order findings and measure no file: `readspeed` and `tune` measure.

use crate::inspect::report::{Decoded, TreeReport};
use crate::math::as_f64;

/// Fixed seconds for each basket that is read: look-up, key, start of a codec.
pub const BASKET: f64 = 2.5e-6;
/// Bytes of a basket on disk that are no data: key, and the codec's frame.
pub const BASKET_BYTES: u64 = 80;
/// Bytes of a basket's entry in the tree's record, compressed.
pub const BASKET_ENTRY: u64 = 12;
/// Fixed seconds for each page that is read: look-up, checksum, start of a codec.
pub const PAGE: f64 = 1.5e-6;
/// Seconds to make a field with its columns out of the header of an RNTuple.
pub const FIELD: f64 = 4e-6;
/// Seconds to read the page list of a cluster group: a read of its own.
pub const GROUP: f64 = 5e-6;
/// Seconds for each byte of header, footer and page lists before compression.
pub const METADATA_BYTE: f64 = 1.5e-9;
/// Seconds to make a branch out of the tree's record.
const BRANCH: f64 = 7e-6;
/// Seconds for each byte of the tree's record before compression.
const RECORD_BYTE: f64 = 1e-9;
/// Seconds to open a tree for each byte of a basket in its record. Reading the basket takes as long as one on disk.
pub const EMBEDDED_BYTE: f64 = 1.3e-9;

/// What each basket or page costs beside its content.
#[derive(Clone, Copy, Debug)]
pub struct Overhead {
    /// Bytes on disk.
    pub bytes: u64,
    /// Seconds of a reader.
    pub seconds: f64,
}

/// The overhead of a basket.
pub const OF_BASKET: Overhead = Overhead { bytes: BASKET_BYTES + BASKET_ENTRY, seconds: BASKET };

/// Seconds to decompress `baskets` baskets of `raw` bytes before compression and `zip` on disk.
pub fn decompress(codec: &str, raw: u64, zip: u64, baskets: u64) -> f64 {
    // A codec's time follows mostly its input: very compressible data are mostly copies.
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

/// An estimate in bytes; less than nothing is nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, and not below zero")]
pub fn bytes(estimate: f64) -> u64 {
    estimate.max(0.0) as u64
}
