//! Rewrites in any layouts, one after the other: refused, or `verify` finds the same content. The first byte chooses the input.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/flow/tests/it/any_layout/judge.rs"]
mod judge;
#[path = "../../crates/lab/src/synthetic/sample.rs"]
mod sample;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
static INPUTS: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    let made = FOLDER.path().join("made.root");
    sample::make(&made, 300, 3).unwrap();
    [made, Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/dataset/tests/root/decode_types.root")]
});

fuzz_target!(|data: &[u8]| {
    let Some((&input, choices)) = data.split_first() else { return };
    let layouts: Vec<String> = choices.as_chunks().0.iter().take(3).map(judge::layout).collect();
    if let Err(why) = judge::judge(&INPUTS[usize::from(input) % INPUTS.len()], &layouts, FOLDER.path()) {
        panic!("{why}");
    }
});
