//! Files with an RNTuple that is damaged behind its checksums. The first bytes are the file, the block and the layout of the
//! rewrite, the others are changes of the block. The deep check calls a file whole if and only if all of it reads, and a rewrite is
//! refused or reads equal.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/flow/tests/resealed/chance.rs"]
mod chance;
#[path = "../../crates/flow/tests/resealed/mutate.rs"]
mod mutate;
#[path = "../../crates/flow/tests/resealed/oracle.rs"]
mod oracle;
#[path = "../../crates/flow/tests/resealed/seeds.rs"]
mod seeds;

use mutate::{EDIT, Edit, Seed};

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| seeds::seeds(FOLDER.path()));

fuzz_target!(|data: &[u8]| {
    let Some((&[seed, low, high, layout], edits)) = data.split_first_chunk() else { return };
    let edits: Vec<Edit> = edits.as_chunks().0.iter().map(|bytes: &[u8; EDIT]| Edit::from_bytes(bytes)).collect();
    let seed = &SEEDS[usize::from(seed) % SEEDS.len()];
    let (bytes, block) = seed.damaged(u16::from_le_bytes([low, high]).into(), &edits);
    if let Err(why) = oracle::judge(&bytes, block, layout.into(), FOLDER.path()) {
        panic!("{} ({block:?}): {why}", seed.name);
    }
});
