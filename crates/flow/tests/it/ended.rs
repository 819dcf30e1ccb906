//! Work that its caller ends, or whose callback panics: each verb returns an error, no thread waits for another, and no output is left.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::sample;
use flow::read::{Dataset, Request, read};
use flow::recover::{RecoverOptions, recover};
use flow::survey::check::{CheckOptions, check};
use flow::survey::fileset::{FilesetInput, FilesetOptions, fileset};
use flow::{Budget, Options, Progress, VerifyOptions, rewrite, verify};
use rootfile::{ErrorKind, Result};

const ENTRIES: u64 = 20_000;

/// A verb over the files `a.root` and `b.root` of a folder, whose output goes into its folder `out`.
type Verb = fn(&Path, Budget, Progress<'_>) -> Result<()>;

fn rewrites(folder: &Path, budget: Budget, layout: &str, progress: Progress<'_>) -> Result<()> {
    let options = Options { layout: layout.parse().unwrap(), budget, ..Options::default() };
    let inputs = ["a.root", "b.root"].map(|name| folder.join(name));
    rewrite(&inputs, &folder.join("out/out.root"), &options, progress).map(drop)
}

const VERBS: [(&str, Verb); 8] = [
    ("a merge", |folder, budget, progress| rewrites(folder, budget, "", progress)),
    ("a rewrite", |folder, budget, progress| {
        rewrites(folder, budget, "compression = \"zstd:1\"\ncluster = 100", progress)
    }),
    ("a conversion", |folder, budget, progress| rewrites(folder, budget, "container = \"rntuple\"", progress)),
    ("a comparison", |folder, budget, progress| {
        let options = VerifyOptions { budget, ..VerifyOptions::default() };
        verify(&[folder.join("a.root")], &folder.join("b.root"), &options, progress).map(drop)
    }),
    ("a check", |folder, budget, progress| {
        let files = ["a.root", "b.root"].map(|name| folder.join(name));
        check(&files, &CheckOptions { deep: true, budget, ..CheckOptions::default() }, progress).map(drop)
    }),
    ("a fileset", |folder, budget, progress| {
        let input = |n: usize| {
            let path = folder.join(if n.is_multiple_of(2) { "a.root" } else { "b.root" });
            FilesetInput { dataset: format!("{n}"), path, tree: None }
        };
        let inputs: Vec<FilesetInput> = (0..20).map(input).collect();
        fileset(&inputs, &FilesetOptions { budget, ..FilesetOptions::default() }, progress).map(drop)
    }),
    ("a recovery", |folder, budget, progress| {
        let options = RecoverOptions { budget, ..RecoverOptions::default() };
        recover(&folder.join("a.root"), None, &folder.join("out/out.root"), &options, progress).map(drop)
    }),
    ("a reading", |folder, budget, progress| {
        let input = flow::inputs::Input { path: folder.join("a.root"), tree: None };
        let dataset = Dataset::open(&[input])?;
        let (columns, entries) = ((0..dataset.columns().len()).collect(), 0..dataset.entries());
        read(&dataset, &Request { columns, entries, selection: None, budget, progress }).map(drop)
    }),
];

/// Runs each verb, whose callback does `then` from some call on.
fn each_verb(then: fn() -> ControlFlow<()>, expected: fn(&rootfile::Error) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.root", "b.root"] {
        sample::make(&folder.path().join(name), ENTRIES, 1).unwrap();
    }
    std::fs::create_dir(folder.path().join("out")).unwrap();
    for (name, verb) in VERBS {
        for (threads, from) in [(1, 0), (1, 3), (2, 0), (2, 1), (3, 3), (3, 4), (4, 10)] {
            let calls = AtomicUsize::new(0);
            let progress = |_| match calls.fetch_add(1, Ordering::Relaxed) >= from {
                true => then(),
                false => ControlFlow::Continue(()),
            };
            let ended = verb(folder.path(), Budget::new(200_000_000, threads), &progress).unwrap_err();
            assert!(expected(&ended), "{name}, {threads} threads, from call {from} on: {ended}");
            assert_eq!(std::fs::read_dir(folder.path().join("out")).unwrap().count(), 0, "{name} leaves something");
        }
    }
}

#[test]
fn who_is_told_to_end_ends() {
    each_verb(|| ControlFlow::Break(()), |error| matches!(error.kind(), ErrorKind::Interrupted));
}

#[test]
fn a_panic_is_an_error_that_says_where() {
    each_verb(
        || panic!("in a callback"),
        |error| {
            let message = error.to_string();
            ["internal error in ", "please report it"].iter().all(|part| message.contains(part))
        },
    );
}
