//! A tree's record: a parsed tree is written as ROOT 6 does, and must be parsed to the same.
#![no_main]

use std::sync::{Arc, OnceLock};

use dataset::tree::{Tree, clusters, read_tree, write_tree};
use libfuzzer_sys::fuzz_target;
use rootfile::{FileWriter, Key, MemoryFile, Result, RootFile};

/// An empty file, in front of the record.
fn empty_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.root");
        FileWriter::create(&path, true, 0, 0, "").unwrap().finish().unwrap();
        std::fs::read(path).unwrap()
    })
}

/// `keylen` is the length of the key before the record, from which tags count.
fn read(payload: &[u8], keylen: u8) -> Result<Tree> {
    let mut bytes = empty_file().to_vec();
    let mut key = Key::new("TTree", "tree", "", bytes.len() as u64, 100);
    key.keylen = keylen.into();
    key.objlen = u32::try_from(payload.len()).unwrap();
    key.nbytes = key.objlen + u32::from(keylen);
    bytes.resize(bytes.len() + usize::from(keylen), 0);
    bytes.extend(payload);
    let file = RootFile::from_source(Arc::new(MemoryFile(bytes))).unwrap();
    read_tree(&file, &key)
}

fuzz_target!(|data: &[u8]| {
    let Some((&keylen, record)) = data.split_first() else { return };
    let Ok(tree) = read(record, keylen) else { return };
    clusters::declared_up_to(&tree, 1000);
    clusters::common_boundaries(&tree);
    // The engine moves baskets out of the record before it writes one; what is left in place is not written.
    if tree.branches.iter().any(|b| !b.embedded.is_empty()) {
        return;
    }
    let Ok(payload) = write_tree(&tree, keylen.into()) else { return };
    let again = read(&payload, keylen).unwrap();
    assert_eq!((tree.entries, &tree.cluster_ranges), (again.entries, &again.cluster_ranges));
    assert_eq!(tree.branches.len(), again.branches.len());
    for (a, b) in tree.branches.iter().zip(&again.branches) {
        assert_eq!((a.name(), &a.named.title, a.class(), a.entries), (b.name(), &b.named.title, b.class(), b.entries));
        let places = |t: &dataset::tree::Branch| t.baskets.iter().map(|b| (b.first_entry, b.seek)).collect::<Vec<_>>();
        assert_eq!(places(a), places(b));
    }
});
