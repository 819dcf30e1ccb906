//! No damaged byte of a file's metadata loses an object silently.
//!
//! One byte of a header, a directory record, a list of keys, or the key of an object, of a basket or of the streamer
//! infos is changed, and the file is rewritten. The rewrite refuses the file, or reports the damage, or its output equals the
//! output of the intact file. Files are made here; with a corpus (beside the checkout, or at
//! `BASKETRY_CORPUS`) its small files are damaged as well, and all of them if `BASKETRY_FULL` is set.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::sample;
use flow::{Budget, Options, Summary, VerifyOptions, rewrite, unwatched, verify};
use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::object::{TObject, write_tnamed};
use rootfile::{FileWriter, RootFile};

use crate::support;

/// Size of the largest corpus file that is damaged, unless all are.
const SMALL: u64 = 40_000;
/// Damaged bytes of each made file, and of each file of the corpus.
const TRIES: (usize, usize) = (600, 12);

fn named(name: &str, title: &str) -> Vec<u8> {
    let mut w = Writer::new();
    write_tnamed(&mut w, &TObject::default(), name, title);
    w.bytes
}

/// Directories in directories, with objects of equal sizes, so that a key may well point to another object.
fn make_objects(path: &Path) {
    let mut file = FileWriter::create(path, true, 0, 0x6000_0000, "").unwrap();
    let top = file.top();
    for k in 0..3 {
        let directory = file.mkdir(top, &format!("dir{k}"), "").unwrap();
        for below in [directory, file.mkdir(directory, "sub", "").unwrap()] {
            for n in 0..4 {
                let (name, title) = (format!("name{n}"), format!("{k}{n}"));
                let payload = named(&name, &title);
                file.write_object(below, ("TNamed", &name, &title), Compression::NONE, |_| Ok(payload)).unwrap();
            }
        }
    }
    for age in ["old", "new"] {
        file.write_object(top, ("TNamed", "cycles", ""), Compression::NONE, |_| Ok(named("cycles", age))).unwrap();
    }
    file.finish().unwrap();
}

fn options() -> Options {
    Options { overwrite: true, budget: Budget::new(64_000_000, 1), ..Options::default() }
}

fn rewritten(input: &Path, output: &Path) -> rootfile::Result<Summary> {
    rewritten_as("", input, output)
}

fn rewritten_as(layout: &str, input: &Path, output: &Path) -> rootfile::Result<Summary> {
    let options = Options { layout: layout.parse().unwrap(), ..options() };
    rewrite(&[input.to_path_buf()], output, &options, &unwatched)
}

fn equal(a: &Path, b: &Path) -> bool {
    verify(&[a.to_path_buf()], b, &VerifyOptions::default(), &unwatched).is_ok_and(|verdict| verdict.equal)
}

/// The metadata of a file.
fn metadata(file: &RootFile) -> Vec<Range<usize>> {
    let range = |from: u64, len: u64| usize::try_from(from).unwrap()..usize::try_from(from + len).unwrap();
    let header = file.header();
    let mut ranges = vec![range(0, header.begin)];
    let mut end = header.begin;
    file.walk_records(header.begin, |key| {
        // Records of directories and lists of keys are metadata throughout.
        let all = key.class == "TFile" || rootfile::is_directory(&key.class);
        let len = if all { u64::from(key.nbytes) } else { u64::from(key.keylen) };
        ranges.push(range(key.seek_key, len));
        end = key.seek_key + u64::from(key.nbytes);
    })
    .unwrap();
    ranges
}

/// The results of the damaged files.
#[derive(Debug, Default)]
struct Count {
    refused: usize,
    noted: usize,
    equal: usize,
    as_read: usize,
    silent: usize,
}

/// Numbers that follow from a seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % n.max(1)
    }
}

/// Damages bytes of a file. Reports where an object was lost silently.
fn damage(path: &Path, tries: usize, count: &mut Count, lost: &mut Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (input, output, good) = (folder.path().join("in"), folder.path().join("out"), folder.path().join("good"));
    // Only files that can be rewritten intact show the effect of damage.
    let Ok(Summary { notes, .. }) = rewritten(path, &good) else { return };
    let whole = std::fs::read(path).unwrap();
    let expected = std::fs::read(&good).unwrap();
    let ranges = metadata(&RootFile::open(path).unwrap());
    let seed = path.file_name().unwrap().to_string_lossy().bytes().fold(7u64, |h, b| h.wrapping_mul(31) + u64::from(b));
    let mut chance = Chance(seed | 1);
    for _ in 0..tries {
        let range = ranges[chance.below(ranges.len())].clone();
        let at = (range.start + chance.below(range.len())).min(whole.len() - 1);
        let mut bytes = whole.clone();
        let new = match chance.below(3) {
            0 => bytes[at] ^ (1 << chance.below(8)),
            1 => u8::try_from(chance.below(256)).unwrap(),
            _ => [0, 0xff, 0x80, 0x7f, 1][chance.below(5)],
        };
        if new == bytes[at] {
            continue;
        }
        bytes[at] = new;
        std::fs::write(&input, &bytes).unwrap();
        // Baskets are copied, or opened.
        let layout = ["", "cluster = 100\nbasket = \"1kB\""][chance.below(3) / 2];
        match rewritten_as(layout, &input, &output) {
            Err(_) => count.refused += 1,
            Ok(_) if std::fs::read(&output).unwrap() == expected || equal(path, &output) => count.equal += 1,
            Ok(summary) if !summary.is_whole() => count.refused += 1,
            Ok(summary) if summary.notes.len() != notes.len() => {
                count.noted += 1;
                let said: Vec<_> = summary.notes.iter().filter(|note| !notes.contains(note)).collect();
                eprintln!("noted: {}: byte {at} to {new:#x}: {said:?}", path.display());
            }
            Ok(_) if equal(&input, &output) => {
                count.as_read += 1;
                if std::env::var_os("BASKETRY_SHOW").is_some() {
                    eprintln!("as read: {}: byte {at} {:#x} to {new:#x}", path.display(), whole[at]);
                }
            }
            Ok(_) => {
                count.silent += 1;
                lost.push(format!(
                    "{}: byte {at} changed from {:#x} to {new:#x} behind {:?}",
                    path.display(),
                    whole[at],
                    String::from_utf8_lossy(&whole[at.saturating_sub(48)..at])
                ));
            }
        }
    }
}

#[test]
fn no_damaged_byte_loses_an_object_silently() {
    let folder = tempfile::tempdir().unwrap();
    let made = [folder.path().join("objects.root"), folder.path().join("tree.root")];
    make_objects(&made[0]);
    sample::make(&made[1], 1000, 3).unwrap();
    let mut todo: Vec<(PathBuf, usize)> = made.into_iter().map(|path| (path, TRIES.0)).collect();
    let full = std::env::var_os("BASKETRY_FULL").is_some();
    let tries = if full { 40 } else { TRIES.1 };
    todo.extend(support::corpus(SMALL).unwrap_or_default().into_iter().map(|path| (path, tries)));
    let (next, all) = (AtomicUsize::new(0), Mutex::new((Count::default(), Vec::new())));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((path, tries)) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (mut count, mut lost) = (Count::default(), Vec::new());
                    damage(path, *tries, &mut count, &mut lost);
                    let mut all = all.lock().unwrap();
                    all.0.refused += count.refused;
                    all.0.noted += count.noted;
                    all.0.equal += count.equal;
                    all.0.as_read += count.as_read;
                    all.0.silent += count.silent;
                    all.1.extend(lost);
                }
            });
        }
    });
    let (count, lost) = all.into_inner().unwrap();
    eprintln!("{} files: {count:?}", todo.len());
    lost.iter().for_each(|place| eprintln!("{place}"));
    assert!(count.refused > 100 && count.equal > 100, "too little was damaged: {count:?}");
    assert!(lost.is_empty(), "{} objects were lost in silence", lost.len());
}
