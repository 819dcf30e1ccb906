//! Fixed speeds of one core of a common machine, for estimates of what a fault costs and what its command takes; those of codecs
//! are in [`crate::cost::codec_speeds`].
//!
//! The constants are those of basketry's reader, fitted to files of the corpus (`bench/findings.py` compares them with what
//! the commands gain). They order findings and measure no file: `readspeed` and `tune` measure.

use rootfile::codec::Algorithm;

use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::contents::TreeReport;
use crate::inspect::values::Decoded;
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

/// Seconds to decompress `baskets` baskets of `raw` bytes before compression and `zip` on disk. `codecs` is `none`, the name of a
/// codec, or `a+b` where the blocks of one basket differ: then the mean of both.
pub fn decompress(codecs: &str, raw: u64, zip: u64, baskets: u64) -> f64 {
    let seconds = |algorithm| CodecSpeeds::of(Some(algorithm)).reading.seconds(raw, zip, baskets);
    let each: Vec<f64> = codecs.split('+').filter_map(Algorithm::named).map(seconds).collect();
    each.iter().sum::<f64>() / as_f64(each.len().max(1) as u64)
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
    let codec = (record.bytes < record.raw_bytes).then_some(Algorithm::Zlib);
    let unzip = CodecSpeeds::of(codec).reading.seconds(record.raw_bytes, record.bytes, 1);
    as_f64(tree.branches.len() as u64) * BRANCH + as_f64(record.raw_bytes) * RECORD_BYTE + unzip
}

/// An estimate in bytes; less than nothing is nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, and not below zero")]
pub fn bytes(estimate: f64) -> u64 {
    estimate.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baskets_of_several_codecs_cost_their_mean() {
        let of = |codecs| decompress(codecs, 10_000, 5_000, 2);
        assert_eq!(of("none"), 0.0);
        assert!(of("lz4") > 0.0 && of("zlib") > of("lz4"));
        assert!((of("lz4+zlib") - 0.5 * (of("lz4") + of("zlib"))).abs() < 1e-15);
        assert!(of("cs") > 0.0);
    }
}
