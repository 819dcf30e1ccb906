//! The codec libraries alone, as the examples beside call them: nothing of how `rootfile` calls them is shared.

mod records;

pub use records::each_record;
use rootfile::codec::{Algorithm, Compression, blocks, is_stored};
use twox_hash::xxhash64;

/// A codec with its buffers, and what went through it.
pub struct Bare {
    codec: Compression,
    payload: Vec<u8>,
    packed: Vec<u8>,
    /// Bytes that were unpacked.
    pub payload_bytes: usize,
    /// Bytes that they were packed into, where the caller adds them up.
    pub packed_bytes: usize,
    inflate: libdeflater::Decompressor,
    deflate: libdeflater::Compressor,
    unzstd: zstd::bulk::Decompressor<'static>,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Bare {
    /// Packs with this codec.
    pub fn new(codec: Compression) -> Self {
        let level = i32::from(codec.level());
        let deflate = if codec.algorithm() == Some(Algorithm::Zlib) { level } else { 1 };
        Self {
            codec,
            payload: Vec::new(),
            packed: Vec::new(),
            payload_bytes: 0,
            packed_bytes: 0,
            inflate: libdeflater::Decompressor::new(),
            deflate: libdeflater::Compressor::new(libdeflater::CompressionLvl::new(deflate).unwrap()),
            unzstd: zstd::bulk::Decompressor::new().unwrap(),
            // ROOT's level n is zstd's 2n.
            zstd: zstd::bulk::Compressor::new(2 * level.min(11)).unwrap(),
        }
    }

    /// Leaves a stored payload where it is, unless it is needed beside.
    pub fn unpack(&mut self, record: &[u8], objlen: usize, beside: bool) {
        self.payload_bytes += objlen;
        if !is_stored(record.len(), objlen) || beside {
            self.payload.resize(objlen, 0);
        }
        if is_stored(record.len(), objlen) {
            if beside {
                self.payload.copy_from_slice(&record[..objlen]);
            }
        } else {
            let mut at = 0;
            for block in blocks(record, objlen) {
                let block = block.unwrap();
                let out = &mut self.payload[at..at + block.header.uncompressed];
                at += out.len();
                match block.header.algorithm {
                    Algorithm::Zlib => drop(self.inflate.zlib_decompress(block.payload, out).unwrap()),
                    Algorithm::Zstd => drop(self.unzstd.decompress_to_buffer(block.payload, out).unwrap()),
                    Algorithm::Lz4 => {
                        // The checksum is the format's, as those within zlib and xz are the libraries'.
                        let (sum, packed) = block.payload.split_at(8);
                        assert_eq!(sum, xxhash64::Hasher::oneshot(0, packed).to_be_bytes());
                        let len = i32::try_from(out.len()).unwrap();
                        lz4::block::decompress_to_buffer(packed, Some(len), out).unwrap();
                    }
                    Algorithm::Lzma => {
                        let mut stream = liblzma::stream::Stream::new_stream_decoder(u64::MAX, 0).unwrap();
                        stream.process(block.payload, out, liblzma::stream::Action::Finish).unwrap();
                    }
                    other => panic!("{other:?} input is not measured"),
                }
            }
        }
    }

    /// Packs what was unpacked last, and says into how many bytes.
    pub fn pack(&mut self) -> usize {
        let input = &self.payload;
        let level = u32::from(self.codec.level());
        self.packed.resize(input.len() + input.len() / 8 + 4096, 0);
        match self.codec.algorithm() {
            None => 0,
            Some(Algorithm::Zlib) => self.deflate.zlib_compress(input, &mut self.packed).unwrap(),
            Some(Algorithm::Zstd) => self.zstd.compress_to_buffer(input, &mut self.packed).unwrap(),
            Some(Algorithm::Lz4) => {
                let mode = match level {
                    0..4 => lz4::block::CompressionMode::DEFAULT,
                    _ => lz4::block::CompressionMode::HIGHCOMPRESSION(i32::try_from(level).unwrap()),
                };
                lz4::block::compress_to_buffer(input, Some(mode), false, &mut self.packed).unwrap()
            }
            Some(Algorithm::Lzma) => {
                let mut options = liblzma::stream::LzmaOptions::new_preset(level).unwrap();
                options.dict_size(u32::try_from(input.len() / 4).unwrap().clamp(4096, 1 << 23));
                let mut filters = liblzma::stream::Filters::new();
                filters.lzma2(&options);
                let check = liblzma::stream::Check::Crc32;
                let mut stream = liblzma::stream::Stream::new_stream_encoder(&filters, check).unwrap();
                stream.process(input, &mut self.packed, liblzma::stream::Action::Finish).unwrap();
                usize::try_from(stream.total_out()).unwrap()
            }
            Some(other) => panic!("{other:?} cannot be written"),
        }
    }
}
