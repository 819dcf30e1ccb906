//! The floor of writing: compresses every basket of a file with the codec libraries alone. `bare_compress FILE CODEC` says in
//! JSON how long that took, without reading and decompressing the baskets, which come before each.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a measuring tool for well-formed input")]

mod bare;

use std::time::Instant;

use bare::Bare;
use dataset::tree::basket::BasketHeader;
use dataset::tree::{is_tree_class, read_tree};
use rootfile::codec::Compression;
use rootfile::{RootFile, bytes::Cursor};
use rustix::time::{ClockId, clock_gettime};

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("FILE CODEC");
    let codec: Compression = args.next().expect("FILE CODEC").parse().unwrap();
    let file = RootFile::open(path).unwrap();
    let mut bare = Bare::new(codec);
    let mut record = Vec::new();
    let (mut wall, mut used) = (0.0, 0.0);
    for key in file.walk().directories.iter().flat_map(|d| &d.keys) {
        if !is_tree_class(&file, &key.class) {
            continue;
        }
        for branch in read_tree(&file, key).unwrap().branches {
            for basket in branch.baskets.iter().filter(|b| b.seek != 0) {
                record.resize(basket.nbytes as usize, 0);
                file.source().read_exact_at(basket.seek, &mut record).unwrap();
                let header = BasketHeader::parse(&mut Cursor::new(&record)).unwrap();
                bare.unpack(&record[header.keylen()..], header.key.objlen as usize, true);
                let (start, before) = (Instant::now(), cpu());
                bare.packed_bytes += bare.pack();
                used += cpu() - before;
                wall += start.elapsed().as_secs_f64();
            }
        }
    }
    let (payload, bytes) = (bare.payload_bytes, bare.packed_bytes);
    println!(r#"{{"wall": {wall:.6}, "cpu": {used:.6}, "payload": {payload}, "bytes": {bytes}}}"#);
}
