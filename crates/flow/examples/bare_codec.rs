//! The floor of reading and of a repack: decompresses every basket or page of a file, and compresses it if so asked, with the
//! codec libraries alone. `bare_codec FILE [CODEC|- [ENTRIES]]`: `-` only decompresses, and of a file with numbers of
//! entries only those baskets count that hold one. The benchmark times it as a process beside `basketry`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a measuring tool for well-formed input")]

mod bare;

use bare::Bare;
use dataset::ntuple::{is_ntuple, read_ntuple, read_page_list};
use dataset::tree::basket::BasketHeader;
use dataset::tree::{BasketRef, is_tree_class, read_tree};
use rootfile::codec::Compression;
use rootfile::{Key, RootFile, bytes::Cursor};

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
        if is_ntuple(&key.class) {
            pages(&file, key, &mut bare, codec.is_some());
        }
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

/// The pages of an RNTuple. Checksums are not verified.
fn pages(file: &RootFile, key: &Key, bare: &mut Bare, packs: bool) {
    let ntuple = read_ntuple(file, key).unwrap();
    let mut record = Vec::new();
    for group in 0..ntuple.groups.len() {
        let list = read_page_list(&**file.source(), &ntuple, group).unwrap();
        for cluster in &list.clusters {
            for column in 0..cluster.columns.len() {
                let encoding = ntuple.schema.encoding(column).unwrap();
                for page in cluster.pages(&list, column).unwrap() {
                    let (offset, size) = page.extent().unwrap();
                    record.resize(size as usize, 0);
                    file.source().read_exact_at(offset, &mut record).unwrap();
                    let stored = if page.has_checksum { record.len() - 8 } else { record.len() };
                    bare.unpack(&record[..stored], page.raw_len(&encoding).unwrap(), packs);
                    if packs {
                        bare.packed_bytes += bare.pack();
                    }
                }
            }
        }
    }
}
