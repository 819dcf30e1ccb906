//! The floor of reading and of a repack: decompresses every basket or page of a file, and compresses it if so asked, with the
//! codec libraries alone. `bare_codec FILE [CODEC|- [ENTRIES]]`: `-` only decompresses, and of a file with numbers of
//! entries only those baskets count that hold one. The benchmark times it as a process beside `basketry`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a measuring tool for well-formed input")]

mod bare;

use bare::{Bare, each_record};
use dataset::tree::BasketRef;
use rootfile::RootFile;
use rootfile::codec::Compression;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("FILE [CODEC|- [ENTRIES]]");
    let codec: Option<Compression> = args.next().filter(|word| word != "-").map(|codec| codec.parse().unwrap());
    let chosen: Option<Vec<u64>> = args.next().map(|list| {
        std::fs::read_to_string(list).unwrap().split_whitespace().map(|entry| entry.parse().unwrap()).collect()
    });
    let before = |entry: u64| chosen.as_ref().map_or(0, |chosen| chosen.partition_point(|&one| one < entry));
    let touched = |b: &BasketRef| chosen.is_none() || before(b.first_entry) < before(b.first_entry + b.entries);
    let mut bare = Bare::new(codec.unwrap_or(Compression::NONE));
    each_record(&RootFile::open(path).unwrap(), touched, |record, payload| {
        bare.unpack(record, payload, codec.is_some());
        if codec.is_some() {
            bare.packed_bytes += bare.pack();
        }
    });
    println!("{} bytes of payload, {} compressed", bare.payload_bytes, bare.packed_bytes);
}
