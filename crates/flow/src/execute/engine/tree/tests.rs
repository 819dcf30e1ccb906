//! The engine under stress: many threads, little memory for waiting output, slow and failing inputs. The engine must always
//! end, and its output must not depend on these conditions.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dataset::table::piece::{Piece, Record, Stored};
use dataset::tree::basket::BasketHeader;
use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::{Error, ErrorKind, FileWriter, Result, Source};

use super::job::Job;
use super::run::run;
use crate::commit::tree::sink::WrittenColumn;
use crate::execute::budget::Share;
use crate::execute::progress::{Progress, unwatched};
use crate::table::target::Shape;
use crate::table::tree::column::Column;

const COLUMNS: usize = 7;
const BASKETS: u64 = 40;
/// Entries of a basket, of eight bytes each.
const ENTRIES: u64 = 50;

/// Baskets in memory, which are slow to come by, and some of which never come.
struct Unsteady {
    bytes: Vec<u8>,
    seed: u64,
    fails_at: Option<u64>,
    panics: bool,
    /// Bytes that were read.
    read: Arc<AtomicU64>,
}

impl Source for Unsteady {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let place = (offset ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        if place < 16 {
            std::thread::sleep(Duration::from_micros(place * 10));
        }
        let end = offset + buf.len() as u64;
        if self.fails_at.is_some_and(|at| (offset..end).contains(&at)) {
            assert!(!self.panics, "asked to");
            return Err(Error::corrupt("asked to").at(offset));
        }
        let start = usize::try_from(offset).unwrap();
        self.read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        buf.copy_from_slice(&self.bytes[start..start + buf.len()]);
        Ok(())
    }

    fn name(&self) -> &Path {
        Path::new("(unsteady)")
    }
}

/// Columns of stored baskets, by turns to be copied, recompressed and regrouped.
fn input() -> (Vec<u8>, Vec<Column>) {
    let mut bytes = vec![0; 100];
    let mut columns: Vec<Column> = (0..COLUMNS)
        .map(|i| {
            let compression = if i % 3 == 0 { Compression::NONE } else { "zstd:1".parse().unwrap() };
            let shape = if i % 3 == 2 { Shape::Size(300) } else { Shape::Keep(32_000) };
            let mut column = Column::new(i, (format!("branch{i}"), "tree".to_owned()), compression, shape);
            column.target.keeps_compression = i % 3 == 0;
            column.target.met_by_file = vec![i % 3 == 0];
            column.source.tot_bytes = u64::MAX;
            column
        })
        .collect();
    for basket in 0..BASKETS {
        for column in &mut columns {
            let data: Vec<u8> = (0..ENTRIES).flat_map(|e| (basket * ENTRIES + e).to_be_bytes()).collect();
            let seek = bytes.len() as u64;
            let mut header = BasketHeader::new(&column.name, "tree", seek, 100);
            header.key.objlen = u32::try_from(data.len()).unwrap();
            header.key.nbytes = header.key.objlen + u32::from(header.key.keylen);
            header.nev_buf = u32::try_from(ENTRIES).unwrap();
            header.nev_buf_size = 8;
            header.last = header.key.nbytes;
            let mut w = Writer::new();
            header.write(&mut w);
            bytes.extend(w.bytes);
            bytes.extend(data);
            column.source.pieces.push(Piece {
                first_entry: basket * ENTRIES,
                entries: ENTRIES,
                stored: Stored::Record(Record { file: 0, offset: seek, len: header.key.nbytes }),
            });
        }
    }
    (bytes, columns)
}

/// Runs a job over the input; gives the output's bytes, or the error.
fn make(source: Unsteady, columns: &[Column], threads: usize, waiting: u64) -> Result<(Vec<WrittenColumn>, Vec<u8>)> {
    make_clusters(source, columns, &clusters(), Share { threads, waiting, ..Share::default() }, &unwatched)
}

/// Bounds of clusters, some of which cut baskets in two, whose rest is kept for the next cluster.
fn clusters() -> Vec<u64> {
    (0..=BASKETS).map(|b| b * ENTRIES + if b % 4 == 1 { ENTRIES / 2 } else { 0 }).collect()
}

fn make_clusters(
    source: Unsteady,
    columns: &[Column],
    bounds: &[u64],
    share: Share,
    progress: Progress<'_>,
) -> Result<(Vec<WrittenColumn>, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut writer = FileWriter::create(&path, false, 0, 0, "").unwrap();
    let job = Job {
        files: &[Arc::new(source)],
        pid_offsets: &[0],
        recodes: &[],
        columns,
        bounds,
        packed: &vec![false; bounds.len()],
        seek_pdir: 100,
        copies_fit: true,
        check: false,
        stays: None,
        pids: &[],
    };
    let written = run(&job, &mut writer, share, progress);
    if written.is_ok() {
        writer.finish().unwrap();
    } else {
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something is left behind");
    }
    written.map(|written| (written, std::fs::read(&path).unwrap()))
}

#[test]
fn output_is_the_same_for_any_threads_and_memory() {
    let (bytes, columns) = input();
    let steady = |seed| Unsteady { bytes: bytes.clone(), seed, fails_at: None, panics: false, read: Arc::default() };
    let (written, expected) = make(steady(0), &columns, 1, u64::MAX).unwrap();
    for column in &written {
        assert!(column.baskets.is_sorted_by_key(|b| b.first_entry));
        assert_eq!(column.baskets.iter().map(|b| b.entries).sum::<u64>(), BASKETS * ENTRIES);
    }
    for seed in 0..20 {
        let threads = [2, 3, 8, 32][seed as usize % 4];
        let waiting = [0, 1, 500, 5000, 1 << 20][seed as usize % 5];
        let (_, output) = make(steady(seed), &columns, threads, waiting).unwrap();
        assert!(output == expected, "{threads} threads, {waiting} bytes may wait");
    }
}

#[test]
fn errors_and_panics_anywhere_end_the_job() {
    let (bytes, columns) = input();
    for seed in 0..40u64 {
        let fails_at = Some(100 + seed * (bytes.len() as u64 - 101) / 40);
        let panics = seed % 2 == 0;
        let threads = [1, 2, 8, 32][seed as usize / 2 % 4];
        let waiting = [0, 500, 5000][seed as usize % 3];
        let source = Unsteady { bytes: bytes.clone(), seed, fails_at, panics, read: Arc::default() };
        let message = make(source, &columns, threads, waiting).unwrap_err().to_string();
        assert!(message.contains(if panics { "internal error" } else { "asked to" }), "{message}");
    }
}

#[test]
fn workers_go_on_while_one_appends() {
    let (bytes, columns) = input();
    let (all, read) = (bytes.len() as u64 - 100, Arc::new(AtomicU64::new(0)));
    let source = Unsteady { bytes, seed: 0, fails_at: None, panics: false, read: Arc::clone(&read) };
    let first = AtomicBool::new(true);
    // The first record stays on its way into the file until the other worker has read the whole input.
    let progress = |appended| {
        let started = Instant::now();
        while appended > 0 && first.load(Ordering::Relaxed) && read.load(Ordering::Relaxed) < all {
            if started.elapsed() > Duration::from_secs(60) {
                return ControlFlow::Break(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        first.fetch_and(appended == 0, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let bounds = [0, BASKETS * ENTRIES];
    make_clusters(source, &columns, &bounds, Share { threads: 2, waiting: u64::MAX, ..Share::default() }, &progress)
        .unwrap();
}

#[test]
fn an_interruption_ends_the_job() {
    let (bytes, columns) = input();
    for seed in 0..20u64 {
        let source = Unsteady { bytes: bytes.clone(), seed, fails_at: None, panics: false, read: Arc::default() };
        let left = AtomicU64::new(seed * 2);
        let progress = |_| match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let threads = [1, 2, 8, 32][seed as usize % 4];
        let made = make_clusters(
            source,
            &columns,
            &clusters(),
            Share { threads, waiting: 500, ..Share::default() },
            &progress,
        );
        assert!(matches!(made.unwrap_err().kind(), ErrorKind::Interrupted));
    }
}

#[test]
fn a_basket_that_many_clusters_use_is_read_once_with_any_memory() {
    let (bytes, columns) = input();
    let bounds: Vec<u64> = (0..=BASKETS * ENTRIES / 5).map(|cluster| cluster * 5).collect();
    for threads in [1, 2] {
        let read = Arc::new(AtomicU64::new(0));
        let source = Unsteady { bytes: bytes.clone(), seed: 0, fails_at: None, panics: false, read: Arc::clone(&read) };
        let (written, _) =
            make_clusters(source, &columns, &bounds, Share { threads, waiting: 0, ..Share::default() }, &unwatched)
                .unwrap();
        assert!(written.iter().all(|column| column.baskets.len() as u64 == BASKETS * ENTRIES / 5));
        // Of two threads the one that is behind reads a basket again where the other has started the next.
        let most = bytes.len() as u64 * threads as u64;
        assert!(read.load(Ordering::Relaxed) <= most, "{read:?} bytes read of {}, {threads} threads", bytes.len());
    }
}

#[test]
fn ascending_searches_find_the_same_pieces() {
    let (_, columns) = input();
    let last = BASKETS * ENTRIES;
    for width in [1, 7, ENTRIES - 1, ENTRIES, 3 * ENTRIES + 1, last] {
        for column in &columns {
            let mut at = 0;
            for start in (0..last).step_by(usize::try_from(width).unwrap()) {
                let entries = start..start + width;
                assert_eq!(
                    column.source.overlapping_next(&mut at, &entries),
                    column.source.overlapping(&entries),
                    "{entries:?}"
                );
            }
        }
    }
}
