//! Entries of every kind of member, decoded by the plans of a file that real ROOT wrote: the first byte says which.
#![no_main]

use std::sync::OnceLock;

use arrow_array::Array;
use dataset::decode::{ColumnPlan, columns};
use dataset::tree::basket::{BasketData, Entries};
use dataset::tree::{is_tree_class, read_tree};
use libfuzzer_sys::fuzz_target;
use rootfile::RootFile;

fn plans() -> &'static [ColumnPlan] {
    static PLANS: OnceLock<Vec<ColumnPlan>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/root/decode_types.root");
        let file = RootFile::open(path).unwrap();
        let keys = file.top().keys.iter().filter(|key| is_tree_class(&file, &key.class));
        keys.flat_map(|key| columns(&read_tree(&file, key).unwrap(), file.infos())).collect()
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((which, entry)) = data.split_first() else { return };
    let plans = plans();
    let plan = &plans[usize::from(*which) % plans.len()];
    let end = u32::try_from(entry.len()).unwrap();
    let basket = BasketData {
        count: 1,
        keylen: 80,
        pid_offset: 0,
        data: entry.to_vec(),
        entries: Entries::Offsets(vec![0, end]),
        displacement: None,
    };
    let mut builder = plan.start(1);
    let counts = vec![vec![2, 1, 3]; plan.counters().len()];
    if builder.append(&basket, 0..1, &counts).is_ok() {
        let array = builder.finish().unwrap();
        assert_eq!(array.len(), 1);
        assert!(array.get_array_memory_size() < 100_000 + 100 * entry.len());
    }
});
