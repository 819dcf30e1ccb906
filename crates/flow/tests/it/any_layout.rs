//! Any keys of a layout together, in two rewrites after each other: refused, or equal.
#![allow(clippy::unwrap_used, reason = "a test")]

mod judge;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::support::sample;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::Folder;
use judge::{CHOICE, judge, layout};

/// Numbers and lists, every kind of member in split and unsplit trees, and plain objects.
static INPUTS: LazyLock<(Folder, Vec<PathBuf>)> = LazyLock::new(|| {
    let folder = Folder::new();
    let made = folder.path("made.root");
    sample::make(&made, 300, 3).unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixtures = ["../dataset/tests/root/decode_types.root", "tests/corrupt/fixtures/plain_zlib.root"];
    (folder, std::iter::once(made).chain(fixtures.map(|path| crates.join(path))).collect())
});

proptest! {
    // The same cases in each run; `make fuzz` tries others.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(17), failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn rewrites_are_refused_or_equal(input in 0..3_usize, choices in proptest::array::uniform2(any::<[u8; CHOICE]>())) {
        let folder = Folder::new();
        let layouts = choices.map(|choice| layout(&choice));
        let done = judge(&INPUTS.1[input], &layouts, &folder.path(""));
        prop_assert!(done.is_ok(), "{}: {}", INPUTS.1[input].display(), done.unwrap_err());
    }
}

#[test]
fn layouts_without_contradiction_are_written() {
    let folder = Folder::new();
    let layouts = ["container = \"rntuple\"\nencoding = \"plain\"", "container = \"ttree\"\ncluster = 50"];
    let done = judge(&INPUTS.1[0], &layouts.map(str::to_owned), &folder.path(""));
    assert_eq!(done, Ok(2));
}
