//! Tries codecs on blocks of bytes, with a CPU clock. Behind a trait, so that tests can put a codec of known cost
//! in the place of the real ones.

use rootfile::Result;
use rootfile::codec::{Compression, Compressor, Decompressor};

use super::clock::thread_seconds;

/// What a codec did to a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trial {
    /// Bytes on disk.
    pub stored: usize,
    /// Seconds to compress.
    pub pack: f64,
    /// Seconds to decompress.
    pub unpack: f64,
}

pub(crate) trait Bench {
    /// Compresses a payload and decompresses it again.
    fn trial(&mut self, compression: Compression, payload: &[u8]) -> Result<Trial>;

    /// Decompresses what is in a file, and says how many seconds that took.
    fn unpack(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<f64>;
}

/// Blocks of fewer bytes are decompressed twice.
const TWICE_BELOW: usize = 64 << 10;

/// The codecs that files are written and read with.
#[derive(Default)]
pub(crate) struct Codecs {
    compressor: Compressor,
    decompressor: Decompressor,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

impl Bench for Codecs {
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
        Ok(Trial { stored: self.packed.len(), pack, unpack: unpack? })
    }

    fn unpack(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<f64> {
        // Small blocks are over so quickly that anything in between shows: the better of two counts.
        let rounds = if objlen < TWICE_BELOW { 2 } else { 1 };
        let mut best = f64::INFINITY;
        for _ in 0..rounds {
            out.clear();
            let start = thread_seconds();
            self.decompressor.decompress(record, objlen, out)?;
            best = best.min(thread_seconds() - start);
        }
        Ok(best)
    }
}
