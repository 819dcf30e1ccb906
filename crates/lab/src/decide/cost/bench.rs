//! Tries codecs on blocks of bytes and decodes baskets, with a CPU clock. A trait, so that tests can plant codecs of known
//! cost.

use std::ops::Range;

use dataset::decode::ColumnPlan;
use dataset::ntuple::element::{Elements, Encoding};
use dataset::tree::basket::{BasketData, Entries};
use rootfile::Result;
use rootfile::codec::{Compression, Compressor, Decompressor};

use super::line::Point;
use crate::math::as_f64;
use crate::system::clock::thread_seconds;

/// The result of a codec on a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trial {
    /// Bytes on disk.
    pub stored: usize,
    /// Seconds to compress.
    pub pack: f64,
    /// Seconds to decompress.
    pub unpack: f64,
    /// Seconds to decode the elements of a page, and to encode them.
    pub decode: f64,
    pub encode: f64,
}

pub(crate) trait CodecBench {
    /// Compresses a payload and decompresses it again.
    fn trial(&mut self, compression: Compression, payload: &[u8]) -> Result<Trial>;

    /// Decompresses a basket of a file, and returns the seconds.
    fn unpack(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<f64>;

    /// Decodes the elements of a page of an RNTuple, and returns the seconds.
    fn decode_page(&mut self, encoding: &Encoding, page: &[u8], elements: usize) -> Result<f64>;

    /// Decodes a basket into Arrow: in one call, and some of its entries one by one, as a sparse reader
    /// does. A block is what one call decodes. `None` if the basket cannot be decoded.
    fn decode(&mut self, plan: &ColumnPlan, basket: &BasketData) -> Option<[Point; 2]>;
}

/// Small baskets are decoded repeatedly, up to this many bytes together, and at most this often.
const DECODED: (usize, usize) = (16 << 10, 64);
/// Entries that are decoded each by itself.
const SINGLE: usize = 64;

/// The codecs that files are written and read with.
#[derive(Default)]
pub(crate) struct Codecs {
    compressor: Compressor,
    decompressor: Decompressor,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

impl CodecBench for Codecs {
    fn trial(&mut self, compression: Compression, payload: &[u8]) -> Result<Trial> {
        self.packed.clear();
        let start = thread_seconds();
        let pays = self.compressor.compress(compression, payload, &mut self.packed)?;
        if !pays {
            self.packed.extend_from_slice(payload);
        }
        let pack = thread_seconds() - start;
        let (packed, mut unpacked) = (std::mem::take(&mut self.packed), std::mem::take(&mut self.unpacked));
        let unpack = self.unpack(&packed, payload.len(), &mut unpacked);
        (self.packed, self.unpacked) = (packed, unpacked);
        Ok(Trial { stored: self.packed.len(), pack, unpack: unpack?, ..Trial::default() })
    }

    fn unpack(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<f64> {
        // One pass only: after the first, branch prediction halves the time for a small block.
        out.clear();
        let start = thread_seconds();
        self.decompressor.decompress(record, objlen, out)?;
        Ok(thread_seconds() - start)
    }

    fn decode_page(&mut self, encoding: &Encoding, page: &[u8], elements: usize) -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..2 {
            let mut values = Elements::new(encoding.kind(), false);
            values.reserve(elements)?;
            let start = thread_seconds();
            values.decode(encoding, page, elements, 0..elements)?;
            best = best.min(thread_seconds() - start);
            std::hint::black_box(&values);
        }
        Ok(best)
    }

    fn decode(&mut self, plan: &ColumnPlan, basket: &BasketData) -> Option<[Point; 2]> {
        let entries = basket.count as usize;
        let bytes = payload(basket).max(1);
        let times = (DECODED.0 / bytes).clamp(1, DECODED.1);
        let whole = decoded(plan, basket, entries * times, (0..times).map(|_| 0..entries))?;
        let step = (entries / SINGLE).max(1);
        let single = decoded(plan, basket, SINGLE, (0..entries).step_by(step).map(|i| i..i + 1))?;
        let each = as_f64(bytes as u64) / as_f64(entries.max(1) as u64);
        let point = |blocks: f64, raw, cost| Point { blocks, raw, cost };
        let singles = as_f64(entries.div_ceil(step) as u64);
        Some([point(1.0, as_f64(bytes as u64), whole / as_f64(times as u64)), point(singles, singles * each, single)])
    }
}

/// Bytes of a basket before compression.
pub(super) fn payload(basket: &BasketData) -> usize {
    match &basket.entries {
        Entries::Offsets(offsets) => basket.data.len() + 4 * offsets.len() + 4,
        Entries::Fixed(_) | Entries::Generated => basket.data.len(),
    }
}

/// Seconds to decode parts of a basket one after the other: the shorter of two readings.
fn decoded(
    plan: &ColumnPlan,
    basket: &BasketData,
    capacity: usize,
    parts: impl Iterator<Item = Range<usize>> + Clone,
) -> Option<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..2 {
        let start = thread_seconds();
        let mut builder = plan.start(capacity, 0);
        for part in parts.clone() {
            builder.append(basket, part, &[]).ok()?;
        }
        std::hint::black_box(builder.finish().ok()?);
        best = best.min(thread_seconds() - start);
    }
    Some(best)
}
