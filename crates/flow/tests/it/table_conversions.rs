//! Rewrites that decode a table and encode it again: the output is the same on any number of threads, the next entries are read while
//! earlier ones are encoded, and work that ends early leaves nothing.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flow::{Budget, Options, Progress, rewrite, unwatched};
use rootfile::ErrorKind;

use crate::support::{Folder, sample};

/// Entries of three steps of 8 MB. With this memory two of them fit.
const ENTRIES: u64 = 700_000;
const MEMORY: u64 = 64 << 20;

/// An RNTuple of a tree.
fn convert(folder: &Folder, (memory, threads): (u64, usize), progress: Progress<'_>) -> rootfile::Result<Vec<u8>> {
    let (input, output) = (folder.path("tree.root"), folder.path("out").join("ntuple.root"));
    std::fs::create_dir_all(output.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&output);
    let layout = "container = \"rntuple\"\ncompression = \"lz4:1\"".parse().unwrap();
    let options = Options { layout, budget: Budget::new(memory, threads), ..Options::default() };
    rewrite(&[input], &output, &options, progress)?;
    Ok(std::fs::read(output).unwrap())
}

fn input() -> Folder {
    let folder = Folder::new();
    sample::make(&folder.path("tree.root"), ENTRIES, 1).unwrap();
    folder
}

#[test]
fn the_next_entries_are_read_while_earlier_ones_are_encoded_and_the_bytes_are_the_same() {
    let folder = input();
    // What is asked before the first entries are encoded.
    let (asked, before) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let counts = |bytes| {
        let asked = if bytes == 0 { asked.fetch_add(1, Ordering::Relaxed) + 1 } else { asked.load(Ordering::Relaxed) };
        if bytes > 0 {
            let _ = before.compare_exchange(0, asked, Ordering::Relaxed, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let alone = convert(&folder, (MEMORY, 1), &counts).unwrap();
    let before = before.into_inner();
    for threads in [2, 3] {
        asked.store(0, Ordering::Relaxed);
        // The first entries are not done until the next are being read; each thread asks once more than it has tasks.
        let waits = |bytes| {
            asked.fetch_add(usize::from(bytes == 0), Ordering::Relaxed);
            let started = Instant::now();
            while bytes > 0 && asked.load(Ordering::Relaxed) < before + threads {
                if started.elapsed() > Duration::from_secs(60) {
                    return ControlFlow::Break(());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            ControlFlow::Continue(())
        };
        assert!(convert(&folder, (MEMORY, threads), &waits).unwrap() == alone, "{threads} threads");
    }
    // Where the memory is too small for two steps they are not read ahead.
    let little = convert(&folder, (24 << 20, 1), &unwatched).unwrap();
    assert!(convert(&folder, (24 << 20, 2), &unwatched).unwrap() == little);
}

#[test]
fn who_ends_a_conversion_finds_nothing_left() {
    let folder = input();
    for (threads, most) in [(1, 0), (1, 40), (2, 0), (2, 40), (2, 90)] {
        let asked = AtomicUsize::new(0);
        let ends = |_| match asked.fetch_add(1, Ordering::Relaxed) >= most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let ended = convert(&folder, (MEMORY, threads), &ends);
        assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Interrupted));
        assert_eq!(std::fs::read_dir(folder.path("out")).unwrap().count(), 0);
    }
}
