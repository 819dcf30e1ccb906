//! The writer as a whole: where records lie, and what a cut at any moment of an AutoSave leaves.

mod update;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::XxHash64;

use super::disk::Step;
use super::file_writer::BUFFER;
use super::*;
use crate::bytes::Writer;
use crate::codec::Compression;
use crate::header::{BEGIN, FileHeader};
use crate::key::Key;
use crate::streamer::{StreamerInfo, StreamerInfos};
use crate::{FreeSegment, Result, RootFile, Source};

#[test]
fn records_of_any_size_lie_where_the_writer_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut writer = FileWriter::create(&path, false, 0, 0, "").unwrap();
    let mut places = Vec::new();
    for (i, size) in [10, BUFFER / 2 + 7, BUFFER / 2 - 1, BUFFER / 2, 3 * BUFFER, 1, BUFFER].into_iter().enumerate() {
        let record = vec![u8::try_from(i + 1).unwrap(); size];
        places.push((writer.position(), record.clone()));
        writer.append(&record).unwrap();
    }
    let size = writer.finish().unwrap();
    let file = RootFile::open(&path).unwrap();
    assert_eq!(file.source().size(), size);
    for (at, record) in places {
        assert!(file.source().read(at, record.len()).unwrap() == record, "{} bytes at {at}", record.len());
    }
}

/// A place in memory with room for some bytes.
struct Room {
    bytes: std::sync::Mutex<Vec<u8>>,
    most: usize,
    finished: std::sync::atomic::AtomicU64,
}

impl Room {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { bytes: std::sync::Mutex::default(), most, finished: std::sync::atomic::AtomicU64::new(0) })
    }
}

impl Sink for Room {
    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (mut all, at) = (self.bytes.lock().unwrap(), usize::try_from(at).unwrap());
        if at + bytes.len() > self.most {
            return Err(crate::Error::request("full"));
        }
        let end = all.len().max(at + bytes.len());
        all.resize(end, 0);
        all[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn finish(&self, len: u64) -> Result<()> {
        self.finished.store(len, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_sink_gets_the_bytes_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let write = |mut writer: FileWriter| {
        let (small, large) = (vec![1; 10], vec![2; 2 * BUFFER]);
        writer.append(&small)?;
        writer.append_parts(&[&large, &small])?;
        writer.sync()?;
        writer.finish()
    };
    write(FileWriter::create(&path, false, 0, 0, "").unwrap()).unwrap();
    let kept = Room::new(usize::MAX);
    let size = write(FileWriter::into_sink(Path::new("out.root"), kept.clone(), 0, 0, "").unwrap()).unwrap();
    assert!(*kept.bytes.lock().unwrap() == std::fs::read(&path).unwrap());
    assert_eq!(kept.finished.load(std::sync::atomic::Ordering::Relaxed), size);
    let small = Room::new(BUFFER);
    let refused = write(FileWriter::into_sink(Path::new("out.root"), small.clone(), 0, 0, "").unwrap()).unwrap_err();
    assert_eq!(refused.to_string(), "out.root: full");
    assert_eq!(small.finished.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[test]
fn parts_lie_one_behind_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut writer = FileWriter::create(&path, false, 0, 0, "").unwrap();
    // Few bytes; more parts than one call takes; empty ones; and large ones.
    let few: Vec<Vec<u8>> = (0..5).map(|i| vec![i; 3]).collect();
    let many: Vec<Vec<u8>> = (0..3000_u32).map(|i| vec![i as u8; i as usize % 101]).collect();
    let large = vec![vec![], vec![7; BUFFER], vec![], vec![8; 2 * BUFFER + 1]];
    let mut places = Vec::new();
    for parts in [few, many, large, vec![vec![], vec![]]] {
        writer.append(b"between").unwrap();
        let at = writer.position();
        let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        writer.append_parts(&slices).unwrap();
        places.push((at, parts.concat()));
    }
    writer.finish().unwrap();
    let file = RootFile::open(&path).unwrap();
    for (at, bytes) in places {
        assert!(file.source().read(at, bytes.len()).unwrap() == bytes, "{} bytes at {at}", bytes.len());
    }
}

#[test]
fn an_unfinished_output_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = FileWriter::create(&folder.path().join("out.root"), false, 0, 0, "").unwrap();
    writer.append(&[1; 2 * BUFFER]).unwrap();
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

struct Memory(Vec<u8>, PathBuf);

impl Source for Memory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let at = usize::try_from(offset).unwrap();
        buf.copy_from_slice(&self.0[at..at + buf.len()]);
        Ok(())
    }

    fn name(&self) -> &Path {
        &self.1
    }
}

/// A file from some of the writes.
#[derive(Clone, Default)]
struct Image(Vec<u8>);

impl Image {
    fn write(&mut self, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).unwrap();
        self.0.resize(self.0.len().max(at + bytes.len()), 0);
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The state that a reader finds: what all saved objects say, or nothing if there are none.
    fn state(&self) -> Vec<u8> {
        let file = RootFile::from_source(Arc::new(Memory(self.0.clone(), PathBuf::from("image")))).unwrap();
        assert!(!file.recovered());
        assert!(file.infos_problem().is_none());
        let segments = file.free_segments().unwrap();
        assert_eq!(segments.len(), file.header().n_free as usize);
        assert_eq!(segments.last().unwrap().first, file.header().end);
        let walk = file.walk();
        assert!(walk.problems.is_empty(), "{:?}", walk.problems);
        let (mut states, mut in_gaps) = (Vec::new(), 0);
        for directory in &walk.directories {
            for key in directory.keys.iter().filter(|key| key.class == "TTree") {
                assert_eq!(key.cycle, 1, "an AutoSave takes the place of the one before");
                let payload = file.payload(key).unwrap();
                assert!(payload.iter().all(|byte| *byte == payload[0]), "{}", key.name);
                states.push(payload[0]);
                let gap = |s: &FreeSegment| s.first < key.seek_key + u64::from(key.nbytes) && key.seek_key <= s.last;
                in_gaps += segments.iter().filter(|segment| gap(segment)).count();
            }
        }
        assert_eq!(states.len(), 2);
        // Between two directories' switches the free list is that of the other: nothing but an update asks for it.
        assert!(in_gaps == 0 || states[0] != states[1], "a record that is read lies in no gap");
        states
    }

    /// Walks all records; the gaps have to be those of the free list.
    fn walk(&self) {
        let file = RootFile::from_source(Arc::new(Memory(self.0.clone(), PathBuf::from("image")))).unwrap();
        let end = FileHeader::parse(&self.0).unwrap().end;
        let (mut at, mut gaps) = (BEGIN, Vec::new());
        while at < end {
            let place = usize::try_from(at).unwrap();
            let size = i32::from_be_bytes(self.0[place..place + 4].try_into().unwrap());
            assert_ne!(size, 0, "at {at}");
            let len = u64::from(size.unsigned_abs());
            if size < 0 {
                gaps.push(FreeSegment { first: at, last: at + len - 1 });
            } else {
                assert_eq!(file.key_at(at).unwrap().seek_key, at);
            }
            at += len;
        }
        assert_eq!(at, end);
        let mut listed = file.free_segments().unwrap();
        listed.pop();
        assert_eq!(gaps, listed);
    }
}

fn info(name: &str) -> Arc<StreamerInfo> {
    let event = StreamerInfos::new().latest("TNamed").unwrap();
    Arc::new(StreamerInfo { name: name.to_owned(), ..(*event).clone() })
}

/// Deals out numbers that look like chance.
fn draw(seed: &mut u64) -> u64 {
    *seed += 1;
    XxHash64::oneshot(7, &seed.to_le_bytes())
}

fn record(size: usize) -> Vec<u8> {
    let mut bytes = Writer::new();
    let mut key = Key::new("TBasket", "x", "tree", 0, BEGIN);
    key.nbytes = u32::try_from(size).unwrap() + u32::from(key.keylen);
    key.write(&mut bytes);
    bytes.bytes.resize(key.nbytes as usize, 0xEE);
    bytes.bytes
}

/// Writes a file with ten saves; gives all that was done to it, and where each save ended, the last one the finish.
fn saved_file(path: &Path) -> (Vec<Step>, Vec<usize>) {
    let mut writer = FileWriter::create(path, true, 0, 0, "saved").unwrap();
    let journal = Arc::clone(&writer.disk.journal);
    let folder = writer.mkdir(writer.top(), "folder", "").unwrap();
    let place = |name: &'static str, directory| (directory, ("TTree", name, ""));
    let trees = [place("a", writer.top()), place("b", folder)];
    let mut seed = 0;
    let mut ends = Vec::new();
    for round in 1..=10 {
        for _ in 0..5 {
            let mut basket = record(usize::try_from(draw(&mut seed) % 900).unwrap());
            basket[18..22].copy_from_slice(&u32::try_from(writer.position()).unwrap().to_be_bytes());
            writer.append(&basket).unwrap();
        }
        if round % 4 == 0 {
            let name = format!("h{round}");
            writer.write_object(folder, ("TObjString", &name, ""), Compression::NONE, |_| Ok(vec![1; 20])).unwrap();
            writer.infos_mut().add(info(&name));
        }
        let size = usize::try_from(draw(&mut seed) % 3000).unwrap() + 1;
        let make = move |_| Ok(vec![round; size]);
        let saved = trees.map(|(directory, (class, name, title))| SavedObject {
            directory,
            class,
            name,
            title,
            compression: Compression::NONE,
            make: &make,
        });
        writer.auto_save(&saved).unwrap();
        ends.push(journal.lock().unwrap().len());
    }
    for (directory, what) in trees {
        writer.write_object(directory, what, Compression::NONE, |_| Ok(vec![11; 500])).unwrap();
    }
    writer.finish().unwrap();
    let steps = std::mem::take(&mut *journal.lock().unwrap());
    ends.push(steps.len());
    (steps, ends)
}

#[test]
fn a_kill_or_a_power_cut_leaves_the_last_save() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let (steps, ends) = saved_file(&path);
    let mut seed = 100;
    let (mut image, mut synced) = (Image::default(), Image::default());
    let mut waiting: Vec<(u64, &[u8])> = Vec::new();
    let mut seen = 0;
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Write(at, bytes) => {
                image.write(*at, bytes);
                waiting.extend(bytes.chunks(512).zip((*at..).step_by(512)).map(|(bytes, at)| (at, bytes)));
            }
            Step::Sync => {
                synced = image.clone();
                waiting.clear();
            }
            Step::End(_) => panic!("a new file has no end before it is finished"),
        }
        let done = u8::try_from(ends.iter().filter(|end| **end <= i + 1).count()).unwrap();
        if done == 0 {
            continue;
        }
        let check = |image: &Image| {
            let state = image.state();
            // Directories are switched one by one.
            assert!(state.iter().all(|s| *s == done || *s == done + 1), "{state:?} after {done} saves, step {i}");
            state
        };
        // A kill: all that was written is there.
        let state = check(&image);
        if ends.contains(&(i + 1)) {
            assert_eq!(state, [done; 2]);
            image.walk();
            seen += 1;
        }
        // A power cut: what was synced is there, and any of what was written since.
        for _ in 0..20 {
            let mut cut = synced.clone();
            for (at, bytes) in &waiting {
                if draw(&mut seed).is_multiple_of(2) {
                    cut.write(*at, bytes);
                }
            }
            check(&cut);
        }
    }
    assert_eq!(seen, 11);
    assert_eq!(std::fs::read(&path).unwrap(), image.0);
    assert!(image.0.len() < 65_000, "gaps are used again: {} bytes", image.0.len());
    let again = folder.path().join("again").join("out.root");
    std::fs::create_dir(again.parent().unwrap()).unwrap();
    saved_file(&again);
    assert_eq!(std::fs::read(&again).unwrap(), image.0, "the same calls give the same bytes");
}

#[test]
fn gaps_of_objects_that_grow_are_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut writer = FileWriter::create(&path, true, 0, 0, "grows").unwrap();
    let directory = writer.top();
    for round in 1..=100 {
        writer.write_object(directory, ("TObjString", "between", ""), Compression::NONE, |_| Ok(vec![1; 20])).unwrap();
        let make = move |_| Ok(vec![1; 1000 * round]);
        let compression = Compression::NONE;
        let grown = SavedObject { directory, class: "TTree", name: "t", title: "", compression, make: &make };
        writer.auto_save(&[grown]).unwrap();
    }
    writer.finish().unwrap();
    let segments = RootFile::open(&path).unwrap().free_segments().unwrap();
    let gaps: u64 = segments.iter().rev().skip(1).map(|gap| gap.last - gap.first + 1).sum();

    // All saves together are 5 MB.
    assert!((100_000..900_000).contains(&gaps), "{gaps} bytes");
}

#[test]
fn a_file_that_has_only_begun_can_be_walked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut writer = FileWriter::create(&path, true, 0, 0, "begun").unwrap();
    let journal = Arc::clone(&writer.disk.journal);
    let top = writer.top();
    writer.write_object(top, ("TObjString", "first", ""), Compression::NONE, |_| Ok(vec![1; 20])).unwrap();
    writer.flush().unwrap();
    let mut image = Image::default();
    for step in journal.lock().unwrap().iter() {
        if let Step::Write(at, bytes) = step {
            image.write(*at, bytes);
        }
    }
    let file = RootFile::from_source(Arc::new(Memory(image.0, PathBuf::new()))).unwrap();
    assert!(file.recovered());
    assert_eq!(file.top().keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["first"]);
}
