//! Entries of every kind of member, decoded by the plans of a file that real ROOT wrote: the first byte chooses the plan, and
//! two bytes are the offset from which class tags count.
#![no_main]

use std::sync::OnceLock;

use arrow_array::Array;
use dataset::decode::{ColumnPlan, columns};
use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use dataset::tree::{Tree, is_tree_class, read_tree};
use libfuzzer_sys::fuzz_target;
use rootfile::RootFile;
use rootfile::bytes::Cursor;
use rootfile::codec::Decompressor;

/// Learns the classes of arrays of any class from the first basket.
fn learned(file: &RootFile, tree: &Tree, plan: ColumnPlan) -> ColumnPlan {
    let basket = &tree.branches[plan.branch()].baskets[0];
    let mut record = vec![0; basket.nbytes as usize];
    file.source().read_exact_at(basket.seek, &mut record).unwrap();
    let header = BasketHeader::parse(&mut Cursor::new(&record)).unwrap();
    let (raw, objlen) = (&record[header.keylen()..], header.key.objlen as usize);
    let mut payload = Vec::new();
    if Decompressor::new().decompress(raw, objlen, &mut payload).is_err() {
        payload = raw.to_vec();
    }
    plan.learn(tree, file.infos(), &header.open(payload).unwrap())
}

fn plans() -> &'static [ColumnPlan] {
    static PLANS: OnceLock<Vec<ColumnPlan>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/root/decode_types.root");
        let file = RootFile::open(path).unwrap();
        let keys = file.top().keys.iter().filter(|key| is_tree_class(&file, &key.class));
        let trees = keys.map(|key| read_tree(&file, key).unwrap());
        let plans = |tree: Tree| {
            let plans = columns(&tree, file.infos());
            plans.into_iter().map(|plan| learned(&file, &tree, plan)).collect::<Vec<_>>()
        };
        trees.flat_map(plans).collect()
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&[which, high, low], entry)) = data.split_first_chunk() else { return };
    let plans = plans();
    let plan = &plans[usize::from(which) % plans.len()];
    let end = u32::try_from(entry.len()).unwrap();
    let basket = BasketData {
        count: 1,
        keylen: u16::from_be_bytes([high, low]).into(),
        pid_offset: 0,
        data: entry.to_vec().into(),
        entries: Entries::Offsets(vec![0, end]),
        displacement: None,
    };
    let mut builder = plan.start(1, 0);
    let counts = vec![vec![2, 1, 3]; plan.counters().len()];
    if builder.append(&basket, 0..1, &counts).is_ok() {
        let array = builder.finish().unwrap();
        assert_eq!(array.len(), 1);
        // Pointers to one object: see `dataset::decode::run::pointers`.
        assert!(array.get_array_memory_size() < 20_000_000 + 1000 * entry.len());
    }
});
