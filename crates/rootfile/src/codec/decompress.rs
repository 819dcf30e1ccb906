//! Decompresses the payload of a record.
//!
//! Every size comes from a checked header, and the output grows block by block. A corrupt record therefore costs at
//! most one block (16 MiB) more than what it decompresses to.

use super::{Algorithm, Block, MAX_BLOCK, blocks, is_stored};
use crate::{Error, Result};
use libdeflater::DecompressionError;
use liblzma::stream::{Action, Status, Stream};

/// The memory limit of an xz stream. Preset 9 needs 65 MiB; ROOT's streams, whose dictionary is a quarter of the block,
/// less than 5.
const LZMA_MEMORY: u64 = 80 << 20;

/// Bytes of the checksum before an LZ4 block: XXH64 of the rest, big-endian.
const LZ4_CHECKSUM: usize = 8;

const TOO_MANY: &str = "it holds more bytes than its header says: damaged";
const DAMAGED: &str = "its bytes are damaged";

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
        // What the codec's library says is about its own calls; these are about the file.
        let deflate = |e| match e {
            DecompressionError::InsufficientSpace => wrong(&TOO_MANY),
            DecompressionError::BadData => wrong(&DAMAGED),
        };
        let written = match algorithm {
            // Both take a stream that ends before the payload does, as ROOT's inflate does.
            Algorithm::Zlib => self.deflate.zlib_decompress(block.payload, out).map_err(deflate)?,
            Algorithm::OldCs => self.deflate.deflate_decompress(block.payload, out).map_err(deflate)?,
            Algorithm::Lzma => {
                let lzma = |e| match e {
                    liblzma::stream::Error::Mem => Error::request("compressed block: lzma: no memory is left"),
                    liblzma::stream::Error::MemLimit => {
                        wrong(&format_args!("to read it takes more than {} MiB of memory", LZMA_MEMORY >> 20))
                    }
                    liblzma::stream::Error::Options => wrong(&"its stream has options that are not supported"),
                    _ => wrong(&DAMAGED),
                };
                let mut stream = Stream::new_stream_decoder(LZMA_MEMORY, 0).map_err(lzma)?;
                let status = stream.process(block.payload, out, Action::Finish).map_err(lzma)?;
                let written = usize::try_from(stream.total_out()).unwrap_or(usize::MAX);
                match status {
                    Status::StreamEnd => written,
                    _ if written == out.len() => return Err(wrong(&TOO_MANY)),
                    _ => return Err(wrong(&"the stream does not end where it should: it is cut off, or damaged")),
                }
            }
            Algorithm::Lz4 => {
                let Some((checksum, payload)) = block.payload.split_first_chunk::<LZ4_CHECKSUM>() else {
                    return Err(wrong(&"no room for the checksum"));
                };
                if self.verify_checksums && twox_hash::XxHash64::oneshot(0, payload) != u64::from_be_bytes(*checksum) {
                    return Err(wrong(&"its checksum differs: damaged"));
                }
                let size = i32::try_from(out.len()).map_err(|_| wrong(&TOO_MANY))?;
                // An LZ4 block does not say how many bytes it holds, and the library has one error for everything.
                lz4::block::decompress_to_buffer(payload, Some(size), out)
                    .map_err(|_| wrong(&"its bytes are damaged, or more than its header says"))?
            }
            Algorithm::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                zstd.decompress_to_buffer(block.payload, out).map_err(|_| {
                    let said = zstd::zstd_safe::get_frame_content_size(block.payload).ok().flatten();
                    let too_many = said.is_some_and(|said| usize::try_from(said).is_ok_and(|said| said > out.len()));
                    wrong(if too_many { &TOO_MANY } else { &DAMAGED })
                })?
            }
        };
        if written != out.len() {
            return Err(wrong(&format_args!("it holds {written} bytes, its header says {}: damaged", out.len())));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{BlockHeader, Compression, Compressor};

    /// A block of this codec, with the size of its header set to what `said` makes of it.
    fn record(algorithm: Algorithm, input: &[u8], said: impl Fn(usize) -> usize) -> (Vec<u8>, usize) {
        let mut record = Vec::new();
        if algorithm == Algorithm::OldCs {
            // A deflate stream with a stored block that is the last.
            let size = u16::try_from(input.len()).unwrap();
            record.extend([0; BlockHeader::SIZE]);
            record.push(1);
            record.extend(size.to_le_bytes());
            record.extend((!size).to_le_bytes());
            record.extend(input);
        } else {
            assert!(Compressor::new().compress(Compression::new(algorithm, 4), input, &mut record).unwrap());
        }
        let said = said(input.len());
        let compressed = record.len() - BlockHeader::SIZE;
        let header = BlockHeader { algorithm, compressed, uncompressed: said };
        record[..BlockHeader::SIZE].copy_from_slice(&header.to_bytes().unwrap());
        (record, said)
    }

    fn message(record: &[u8], said: usize) -> String {
        let mut out = Vec::new();
        // Bytes that are stored as they are do not pass here: the object is larger than its record.
        let blocks = blocks(record, said.max(record.len() + 1)).next().unwrap().unwrap();
        out.resize(said, 0);
        Decompressor::new().block_into(&blocks, &mut out).unwrap_err().to_string()
    }

    #[test]
    fn every_codec_says_in_our_words_what_is_wrong_with_the_file() {
        let input: Vec<u8> = (0..4000u32).flat_map(|i| (i / 50).to_be_bytes()).collect();
        for algorithm in Algorithm::WRITTEN.into_iter().chain([Algorithm::OldCs]) {
            let (short, said) = record(algorithm, &input, |n| n - 1000);
            let text = message(&short, said);
            assert!(text.contains("than its header says"), "{algorithm}: {text}");
            assert!(text.contains("damaged"), "{algorithm}: {text}");

            let (long, said) = record(algorithm, &input, |n| n + 1000);
            let text = message(&long, said);
            assert!(text.contains("it holds 16000 bytes, its header says 17000: damaged"), "{algorithm}: {text}");

            let (mut garbage, said) = record(algorithm, &input, |n| n);
            garbage[BlockHeader::SIZE..].fill(0xa5);
            let text = message(&garbage, said);
            assert!(text.contains("damaged"), "{algorithm}: {text}");
            for foreign in ["libdeflate", "buffer", "Decompression", "Destination", "lzma data", "input", "Unknown"] {
                assert!(!text.contains(foreign), "{algorithm}: {text}");
            }
        }
    }
}
