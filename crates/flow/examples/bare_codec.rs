//! The floor of reading and of a repack: decompresses every basket of a file, and compresses it if so asked, with the
//! codec libraries alone. `bare_codec FILE [CODEC|- [ENTRIES]]`: `-` only decompresses, and of a file with numbers of
//! entries only those baskets count that hold one. The benchmark times it as a process beside `basketry`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a measuring tool for well-formed input")]

use dataset::tree::basket::BasketHeader;
use dataset::tree::{BasketRef, is_tree_class, read_tree};
use rootfile::codec::{Algorithm, Compression, blocks, is_stored};
use rootfile::{RootFile, bytes::Cursor};
use twox_hash::xxhash64;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("FILE [CODEC|- [ENTRIES]]");
    let codec: Option<Compression> = args.next().filter(|word| word != "-").map(|codec| codec.parse().unwrap());
    let chosen: Option<Vec<u64>> = args.next().map(|list| {
        std::fs::read_to_string(list).unwrap().split_whitespace().map(|entry| entry.parse().unwrap()).collect()
    });
    let before = |entry: u64| chosen.as_ref().map_or(0, |chosen| chosen.partition_point(|&one| one < entry));
    let touched = |b: &BasketRef| chosen.is_none() || before(b.first_entry) < before(b.first_entry + b.entries);
    let file = RootFile::open(path).unwrap();
    let mut bare = Bare::new(codec.unwrap_or(Compression::NONE));
    let mut record = Vec::new();
    for key in file.walk().directories.iter().flat_map(|d| &d.keys) {
        if !is_tree_class(&file, &key.class) {
            continue;
        }
        for branch in read_tree(&file, key).unwrap().branches {
            for basket in branch.baskets.iter().filter(|b| b.seek != 0 && touched(b)) {
                record.resize(basket.nbytes as usize, 0);
                file.source().read_exact_at(basket.seek, &mut record).unwrap();
                let header = BasketHeader::parse(&mut Cursor::new(&record)).unwrap();
                bare.unpack(&record[header.keylen()..], header.key.objlen as usize, codec.is_some());
                if codec.is_some() {
                    bare.packed_bytes += bare.pack();
                }
            }
        }
    }
    println!("{} bytes of payload, {} compressed", bare.payload_bytes, bare.packed_bytes);
}

struct Bare {
    codec: Compression,
    payload: Vec<u8>,
    packed: Vec<u8>,
    payload_bytes: usize,
    packed_bytes: usize,
    inflate: libdeflater::Decompressor,
    deflate: libdeflater::Compressor,
    unzstd: zstd::bulk::Decompressor<'static>,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Bare {
    fn new(codec: Compression) -> Self {
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
    fn unpack(&mut self, record: &[u8], objlen: usize, beside: bool) {
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

    fn pack(&mut self) -> usize {
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
