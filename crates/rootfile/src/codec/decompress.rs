//! Decompresses the payload of a record.
//!
//! Every size comes from a checked header, and the output grows block by block. A corrupt record therefore costs at
//! most one block (16 MiB) more than what it decompresses to.

use super::{Algorithm, Block, MAX_BLOCK, blocks, is_stored};
use crate::{Error, Result};
use liblzma::stream::{Action, Status, Stream};

/// The memory limit of an xz stream. Preset 9 needs 65 MiB; ROOT's streams, whose dictionary is a quarter of the block,
/// less than 5.
const LZMA_MEMORY: u64 = 80 << 20;

/// Bytes of the checksum before an LZ4 block: XXH64 of the rest, big-endian.
const LZ4_CHECKSUM: usize = 8;

/// Decompresses payloads. The codec contexts are made once and reused: keep one decompressor per thread.
pub struct Decompressor {
    deflate: libdeflater::Decompressor,
    /// Made at the first Zstandard block.
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    verify_checksums: bool,
}

impl Default for Decompressor {
    fn default() -> Self {
        Self::new()
    }
}

impl Decompressor {
    /// A decompressor that verifies checksums.
    pub fn new() -> Self {
        Self { deflate: libdeflater::Decompressor::new(), zstd: None, verify_checksums: true }
    }

    /// Whether to verify the checksum of LZ4 blocks, as ROOT does and as is the default. Those inside zlib and xz
    /// streams are verified always.
    #[must_use]
    pub fn verify_checksums(mut self, verify: bool) -> Self {
        self.verify_checksums = verify;
        self
    }

    /// Appends the object, exactly `objlen` bytes, from `record` (the payload behind the key header).
    ///
    /// A payload of `objlen` bytes or more is the object itself. After an error `out` is unchanged. The new part of `out` is
    /// zeroed before it is filled, which costs a few percent of the time of the fastest codecs;
    /// [`decompress_into`](Self::decompress_into) avoids that for reused buffers.
    ///
    /// # Errors
    ///
    /// If a block is damaged or its codec unknown, or if the blocks do not hold `objlen` bytes.
    pub fn decompress(&mut self, record: &[u8], objlen: usize, out: &mut Vec<u8>) -> Result<()> {
        if is_stored(record.len(), objlen) {
            out.extend_from_slice(record.get(..objlen).unwrap_or_default());
            return Ok(());
        }
        check_sizes(record, objlen)?;
        let start = out.len();
        // Memory for usual ratios is allocated at once; for unusual ratios it grows block by block.
        out.reserve(objlen.min(record.len().saturating_mul(4).max(MAX_BLOCK)));
        for block in blocks(record, objlen) {
            let from = out.len();
            let done = block.and_then(|block| {
                out.resize(from + block.header.uncompressed, 0);
                self.block_into(&block, out.get_mut(from..).unwrap_or_default())
            });
            if let Err(e) = done {
                out.truncate(start);
                return Err(e);
            }
        }
        Ok(())
    }

    /// Fills `out`, whose length is the key's `fObjlen`, with the object in `record`.
    ///
    /// The fastest way for reused buffers. For LZ4, checking the checksum takes a fifth or more of the time
    /// ([`verify_checksums`](Self::verify_checksums)). After an error the content of `out` is undefined.
    ///
    /// # Errors
    ///
    /// If a block is damaged or its codec unknown, or if the blocks do not hold as many bytes as `out`.
    pub fn decompress_into(&mut self, record: &[u8], out: &mut [u8]) -> Result<()> {
        if is_stored(record.len(), out.len()) {
            out.copy_from_slice(record.get(..out.len()).unwrap_or_default());
            return Ok(());
        }
        check_sizes(record, out.len())?;
        let mut rest = out;
        for block in blocks(record, rest.len()) {
            let block = block?;
            let (now, later) = rest
                .split_at_mut_checked(block.header.uncompressed)
                .ok_or_else(|| Error::corrupt("compressed blocks hold more than the object"))?;
            self.block_into(&block, now)?;
            rest = later;
        }
        Ok(())
    }

    /// Decompresses one block into exactly the bytes that its header states.
    fn block_into(&mut self, block: &Block<'_>, out: &mut [u8]) -> Result<()> {
        let algorithm = block.header.algorithm;
        let wrong = |what: &dyn std::fmt::Display| Error::corrupt(format!("compressed block: {algorithm}: {what}"));
        let written = match algorithm {
            // Both take a stream that ends before the payload does, as ROOT's inflate does.
            Algorithm::Zlib => self.deflate.zlib_decompress(block.payload, out).map_err(|e| wrong(&e))?,
            Algorithm::OldCs => self.deflate.deflate_decompress(block.payload, out).map_err(|e| wrong(&e))?,
            Algorithm::Lzma => {
                let mut stream = Stream::new_stream_decoder(LZMA_MEMORY, 0).map_err(|e| wrong(&e))?;
                match stream.process(block.payload, out, Action::Finish).map_err(|e| wrong(&e))? {
                    Status::StreamEnd => usize::try_from(stream.total_out()).unwrap_or(usize::MAX),
                    _ => return Err(wrong(&"the stream does not end where it should")),
                }
            }
            Algorithm::Lz4 => {
                let Some((checksum, payload)) = block.payload.split_first_chunk::<LZ4_CHECKSUM>() else {
                    return Err(wrong(&"no room for the checksum"));
                };
                if self.verify_checksums && twox_hash::XxHash64::oneshot(0, payload) != u64::from_be_bytes(*checksum) {
                    return Err(wrong(&"checksum mismatch"));
                }
                let size = i32::try_from(out.len()).map_err(|e| wrong(&e))?;
                lz4::block::decompress_to_buffer(payload, Some(size), out).map_err(|e| wrong(&e))?
            }
            Algorithm::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                zstd.decompress_to_buffer(block.payload, out).map_err(|e| wrong(&e))?
            }
        };
        if written != out.len() {
            return Err(wrong(&format_args!("{written} bytes came out, its header says {}", out.len())));
        }
        Ok(())
    }
}

/// Checks the headers of all blocks, without decompressing.
///
/// # Errors
///
/// If a header is wrong, or if the blocks do not hold `objlen` bytes.
pub fn check_sizes(record: &[u8], objlen: usize) -> Result<()> {
    blocks(record, objlen).try_for_each(|block| block.map(drop))
}
