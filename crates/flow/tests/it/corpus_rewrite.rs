//! Rewrites every corpus file to three layouts and checks that the content is the same.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); prints a note and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dataset::layout::Layout;
use flow::{Budget, ContentOptions, Cycles, Options, VerifyOptions, rewrite, unwatched, verify};

use crate::support;

const LAYOUTS: [&str; 3] = [
    "compression = \"zstd:1\"",
    "cluster = \"37\"\nbasket = \"2kB\"\ncompression = \"none\"",
    "one-basket-per-cluster = true\ncompression = \"lz4:1\"",
];

#[derive(Default)]
struct Tally {
    equal: usize,
    refused: Vec<String>,
    different: Vec<String>,
}

impl Tally {
    /// Only trees can be rewritten and compared so far.
    fn refuse(&mut self, name: &str, reason: &rootfile::Error) {
        if !reason.to_string().contains("RNTuple") {
            self.refused.push(format!("{name}: {reason}"));
        }
    }
}

fn try_layouts(path: &Path, folder: &Path, tally: &Mutex<Tally>) {
    let name = path.file_name().unwrap().to_string_lossy();
    let note = |add: &dyn Fn(&mut Tally)| add(&mut tally.lock().unwrap_or_else(PoisonError::into_inner));
    // Some baskets of the corpus have an estimated expansion of a factor of thousand.
    let budget = Budget::new(2_000_000_000, 1);
    for (i, layout) in LAYOUTS.iter().enumerate() {
        let output = folder.join(format!("{name}.{i}"));
        // Other trees under older cycles are part of the content.
        let (layout, cycles) = (Layout::from_toml(layout).unwrap(), Cycles::OtherTrees);
        let content = ContentOptions { cycles, ..ContentOptions::default() };
        let options = Options { layout, content, budget, ..Options::default() };
        if let Err(e) = rewrite(&[path.to_path_buf()], &output, &options, &unwatched) {
            note(&|tally| tally.refuse(&name, &e));
            return;
        }
        match verify(&[path.to_path_buf()], &output, &VerifyOptions { budget, ..VerifyOptions::default() }, &unwatched)
        {
            Ok(verdict) if verdict.equal => note(&|tally| tally.equal += 1),
            Ok(verdict) => note(&|tally| {
                let found: Vec<String> = verdict.differences.iter().take(3).map(ToString::to_string).collect();
                tally.different.push(format!("{name}, layout {i}: {}", found.join("; ")));
            }),
            Err(e) => note(&|tally| tally.refuse(&name, &e)),
        }
        std::fs::remove_file(output).unwrap();
    }
}

#[test]
fn rewritten_files_have_the_same_content() {
    let Some(files) = support::corpus(u64::MAX) else { return };
    let folder = tempfile::tempdir().unwrap();
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    try_layouts(path, folder.path(), &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    eprintln!("{} equal, {} refused:\n{}", tally.equal, tally.refused.len(), tally.refused.join("\n"));
    assert!(tally.different.is_empty(), "{} differ:\n{}", tally.different.len(), tally.different.join("\n"));
    assert!(50 * tally.refused.len() <= files.len(), "nearly all can be rewritten");
}
