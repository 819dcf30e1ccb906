//! The floor of a repack: decompresses every basket of a file and compresses it as asked, with the codec
//! libraries alone. `bare_codec FILE CODEC`; the benchmark times it as a process beside `basketry rewrite`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a measuring tool for well-formed input")]

use dataset::tree::basket::BasketHeader;
use dataset::tree::{is_tree_class, read_tree};
use rootfile::codec::{Algorithm, Compression, blocks, is_stored};
use rootfile::{RootFile, bytes::Cursor};

fn main() {
    let mut args = std::env::args().skip(1);
    let (path, codec) = (args.next().expect("FILE CODEC"), args.next().expect("FILE CODEC"));
    let codec: Compression = codec.parse().unwrap();
    let file = RootFile::open(path).unwrap();
    let mut bare = Bare::new(codec);
    for key in file.walk().directories.iter().flat_map(|d| &d.keys) {
        if !is_tree_class(&file, &key.class) {
            continue;
        }
        for branch in read_tree(&file, key).unwrap().branches {
            for basket in branch.baskets.iter().filter(|b| b.seek != 0) {
                let record = file.source().read(basket.seek, basket.nbytes as usize).unwrap();
                let header = BasketHeader::parse(&mut Cursor::new(&record)).unwrap();
                bare.repack(&record[header.keylen()..], header.key.objlen as usize);
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

    fn repack(&mut self, record: &[u8], objlen: usize) {
        self.payload.resize(objlen, 0);
        if is_stored(record.len(), objlen) {
            self.payload.copy_from_slice(&record[..objlen]);
        } else {
            let mut at = 0;
            for block in blocks(record, objlen) {
                let block = block.unwrap();
                let out = &mut self.payload[at..at + block.header.uncompressed];
                at += out.len();
                match block.header.algorithm {
                    Algorithm::Zlib => drop(self.inflate.zlib_decompress(block.payload, out).unwrap()),
                    Algorithm::Zstd => drop(self.unzstd.decompress_to_buffer(block.payload, out).unwrap()),
                    Algorithm::Lz4 => drop(
                        lz4::block::decompress_to_buffer(
                            &block.payload[8..],
                            Some(i32::try_from(out.len()).unwrap()),
                            out,
                        )
                        .unwrap(),
                    ),
                    other => panic!("{other:?} input is not measured"),
                }
            }
        }
        self.payload_bytes += objlen;
        self.packed_bytes += self.pack();
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
