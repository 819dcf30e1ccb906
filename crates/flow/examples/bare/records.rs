//! The baskets and pages of a file, as they are stored. Checksums of pages are left out and not verified.

use dataset::layout::Container;
use dataset::ntuple::{read_ntuple, read_page_list};
use dataset::table::catalog::tables;
use dataset::tree::basket::BasketHeader;
use dataset::tree::{BasketRef, read_tree};
use rootfile::{Key, RootFile, bytes::Cursor};

/// Calls `see` with the bytes of each record and their length before compression. Of baskets those alone that are wanted.
pub fn each_record(file: &RootFile, wanted: impl Fn(&BasketRef) -> bool, mut see: impl FnMut(&[u8], usize)) {
    for table in tables(file) {
        match table.container {
            Container::Rntuple => pages(file, &table.key, &mut see),
            Container::Ttree => baskets(file, &table.key, &wanted, &mut see),
        }
    }
}

fn baskets(file: &RootFile, key: &Key, wanted: &impl Fn(&BasketRef) -> bool, see: &mut impl FnMut(&[u8], usize)) {
    let mut record = Vec::new();
    for branch in read_tree(file, key).unwrap().branches {
        for basket in branch.baskets.iter().filter(|b| b.seek != 0 && wanted(b)) {
            record.resize(basket.nbytes as usize, 0);
            file.source().read_exact_at(basket.seek, &mut record).unwrap();
            let header = BasketHeader::parse(&mut Cursor::new(&record)).unwrap();
            see(&record[header.keylen()..], header.key.objlen as usize);
        }
    }
}

fn pages(file: &RootFile, key: &Key, see: &mut impl FnMut(&[u8], usize)) {
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
                    see(&record[..stored], page.raw_len(&encoding).unwrap());
                }
            }
        }
    }
}
