//! Compresses an object into the payload of a record, in the blocks that ROOT would write.
//!
//! LZ4, Zstandard and LZMA blocks have the same bytes as ROOT's at the same setting, given the same version of the
//! codec. libdeflate makes the zlib blocks: every reader can read them and they take a fraction of the time, but their
//! bytes differ from ROOT's.

use super::{Algorithm, BlockHeader, Compression, MAX_BLOCK};
use crate::{Error, Result};
use libdeflater::CompressionLvl;
use liblzma::stream::{Action, Check, Filters, LzmaOptions, Status, Stream};
use lz4::block::CompressionMode;
use zstd::zstd_safe::ResetDirective;

/// `R__zipMultipleAlgorithm` gives up on less: a header and one byte each side of it.
const SMALLEST: usize = 1 + BlockHeader::SIZE + 1;

/// Bytes of the checksum before an LZ4 block.
const LZ4_CHECKSUM: usize = 8;

/// Dictionary bytes of liblzma's presets 0 to 9, as powers of two.
const LZMA_DICTIONARY: [u32; 10] = [18, 20, 21, 22, 22, 23, 23, 24, 25, 26];

/// Compresses objects. The codec contexts are made once and reused: keep one compressor per thread.
///
/// ```
/// use rootfile::codec::{Compressor, Decompressor};
///
/// let (data, mut packed) = (vec![7; 1000], Vec::new());
/// // False would say that the data are to be stored as they are.
/// assert!(Compressor::new().compress("zlib:6".parse()?, &data, &mut packed)?);
/// let mut back = vec![0; data.len()];
/// Decompressor::new().decompress_into(&packed, &mut back)?;
/// assert_eq!(back, data);
/// # Ok::<(), rootfile::Error>(())
/// ```
#[derive(Default)]
pub struct Compressor {
    /// By level; made at first use.
    deflate: [Option<libdeflater::Compressor>; 10],
    /// One context for all levels, and its current level: at high levels a context is large.
    zstd: Option<(u8, zstd::bulk::Compressor<'static>)>,
    /// Bytes of memory of this context.
    zstd_bytes: usize,
}

impl Compressor {
    /// A compressor without contexts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of memory of its context of zstd: up to 14 MB at ROOT's level 5. Those of other codecs are small, or live as long as a
    /// call.
    pub fn memory(&self) -> usize {
        self.zstd_bytes
    }

    /// Appends `input` as compressed blocks and returns true. Returns false, and leaves `out` unchanged, if the record is to be
    /// stored instead: no compression is asked for, or compression does not pay.
    ///
    /// As in ROOT, compression does not pay if the blocks together are not smaller than `input`, or if any single block is not
    /// smaller than its part. The old CS algorithm is read but not written: files with that setting get zlib blocks.
    ///
    /// # Errors
    ///
    /// If the codec's library fails.
    pub fn compress(&mut self, compression: Compression, input: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let Some(asked) = compression.algorithm() else { return Ok(false) };
        let algorithm = asked.facts().written_as;
        let level = compression.level().min(algorithm.facts().max_level);
        let start = out.len();
        for chunk in input.chunks(MAX_BLOCK) {
            match self.block(algorithm, level, chunk, out) {
                Ok(true) => {}
                other => {
                    out.truncate(start);
                    return other;
                }
            }
        }
        let pays = out.len() - start < input.len();
        if !pays {
            out.truncate(start);
        }
        Ok(pays)
    }

    /// Appends one block. Returns false if it does not fit; then the bytes behind the old end of `out` are undefined.
    fn block(&mut self, algorithm: Algorithm, level: u8, input: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        if input.len() < SMALLEST {
            return Ok(false);
        }
        // As in ROOT, the output may be as large as the input; for these two codecs without the header.
        let room = match algorithm {
            Algorithm::Zlib | Algorithm::Lzma => input.len() + BlockHeader::SIZE,
            _ => input.len(),
        };
        let start = out.len();
        out.resize(start + room, 0);
        let Some((header, body)) =
            out.get_mut(start..).and_then(|block| block.split_first_chunk_mut::<{ BlockHeader::SIZE }>())
        else {
            return Ok(false);
        };
        let Some(compressed) = self.payload(algorithm, level, input, body)? else {
            return Ok(false);
        };
        let Some(bytes) = (BlockHeader { algorithm, compressed, uncompressed: input.len() }).to_bytes() else {
            return Ok(false);
        };
        *header = bytes;
        out.truncate(start + BlockHeader::SIZE + compressed);
        Ok(true)
    }

    /// Writes what follows the header and returns its length; `None` if it does not fit into `out`.
    fn payload(&mut self, algorithm: Algorithm, level: u8, input: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        match algorithm {
            Algorithm::Zlib => {
                let failed = || Error::request(format!("zlib has no level {level}"));
                let slot = self.deflate.get_mut(usize::from(level)).ok_or_else(failed)?;
                let deflate = match slot {
                    Some(deflate) => deflate,
                    none => {
                        let level = CompressionLvl::new(i32::from(level)).map_err(|_| failed())?;
                        none.insert(libdeflater::Compressor::new(level))
                    }
                };
                Ok(deflate.zlib_compress(input, out).ok())
            }
            Algorithm::Lzma => lzma(level, input, out),
            Algorithm::OldCs => Err(Error::unsupported("the old CS compression is only read")),
            Algorithm::Lz4 => {
                let Some((checksum, body)) = out.split_first_chunk_mut::<LZ4_CHECKSUM>() else {
                    return Ok(None);
                };
                let mode = match level {
                    0..=3 => CompressionMode::DEFAULT,
                    _ => CompressionMode::HIGHCOMPRESSION(i32::from(level)),
                };
                // Its one error here is that the output does not fit.
                let Ok(size) = lz4::block::compress_to_buffer(input, Some(mode), false, body) else {
                    return Ok(None);
                };
                let payload = body.get(..size).unwrap_or_default();
                *checksum = twox_hash::XxHash64::oneshot(0, payload).to_be_bytes();
                Ok(Some(LZ4_CHECKSUM + size))
            }
            Algorithm::Zstd => {
                let (now, zstd) = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert((level, zstd::bulk::Compressor::new(zstd_level(level))?)),
                };
                if *now != level {
                    // A block that did not fit leaves its frame open, and an open frame takes no new level. If the
                    // reset fails, the next call reports the error.
                    let _ = zstd.context_mut().reset(ResetDirective::SessionOnly);
                    zstd.set_compression_level(zstd_level(level))?;
                    *now = level;
                }
                let done = zstd.compress_to_buffer(input, out).ok();
                self.zstd_bytes = zstd.context_mut().sizeof();
                Ok(done)
            }
        }
    }
}

/// ROOT's level counts by two (`R__zipZSTD`).
fn zstd_level(level: u8) -> i32 {
    2 * i32::from(level)
}

/// A preset, LZMA2 alone, CRC32, and a dictionary of at most a quarter of the input (`R__zipLZMA`).
fn lzma(level: u8, input: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
    let failed = |e| Error::new(crate::ErrorKind::Io(std::io::Error::other(e)));
    let preset = 1u32 << LZMA_DICTIONARY.get(usize::from(level)).copied().unwrap_or(26);
    let quarter = u32::try_from(input.len() / 4).unwrap_or(u32::MAX).max(4096);
    let mut options = LzmaOptions::new_preset(u32::from(level)).map_err(failed)?;
    options.dict_size(preset.min(quarter));
    let mut filters = Filters::new();
    filters.lzma2(&options);
    let mut stream = Stream::new_stream_encoder(&filters, Check::Crc32).map_err(failed)?;
    match stream.process(input, out, Action::Finish).map_err(failed)? {
        Status::StreamEnd => Ok(usize::try_from(stream.total_out()).ok()),
        _ => Ok(None),
    }
}
