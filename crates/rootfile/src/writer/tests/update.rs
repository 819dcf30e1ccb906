//! Files that are updated in place: what a cut at any moment leaves, and which files are refused.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::super::disk::Step;
use super::super::file_writer::BUFFER;
use super::super::in_place::Switch;
use super::super::shrink::shrinking;
use super::{Image, draw, info, record};
use crate::codec::Compression;
use crate::{Committed, FileWriter, RootFile, Run};

/// Updates a file with ten updates, and shortens it where that can be done; gives what the file was, all that was done to it, and where
/// each update ended.
fn updated_file(path: &Path) -> (Vec<u8>, Vec<Step>, Vec<usize>) {
    let mut writer = FileWriter::create(path, true, 0, 0, "updated").unwrap();
    let folder = writer.mkdir(writer.top(), "folder", "").unwrap();
    let still = writer.mkdir(folder, "still", "").unwrap();
    writer.write_object(still, ("TNamed", "kept", ""), Compression::NONE, |_| Ok(vec![9; 40])).unwrap();
    for (directory, name) in [(writer.top(), "a"), (folder, "b")] {
        writer.write_object(directory, ("TTree", name, ""), Compression::NONE, |_| Ok(vec![0; 700])).unwrap();
    }
    writer.finish().unwrap();
    let before = std::fs::read(path).unwrap();
    let (mut steps, mut ends, mut seed) = (Vec::new(), Vec::new(), 50);
    for round in 1..=10_u8 {
        let file = RootFile::open(path).unwrap();
        let kept = file.walk().directories.iter().flat_map(|d| d.keys.clone()).find(|key| key.name == "kept").unwrap();
        let committed = Committed::of(&file).unwrap();
        let mut writer = FileWriter::update(path, &file, committed, 0, 0).unwrap();
        let journal = Arc::clone(&writer.disk.journal);
        let folder = writer.mkdir(writer.top(), "folder", "").unwrap();
        let still = writer.mkdir(folder, "still", "").unwrap();
        assert!(writer.keep(still, "kept", kept.seek_key, Some(1)));
        for _ in 0..3 {
            let size = usize::try_from(draw(&mut seed) % 900).unwrap();
            let at = writer.place_for(record(size).len());
            let mut basket = record(size);
            basket[18..22].copy_from_slice(&u32::try_from(at).unwrap().to_be_bytes());
            writer.append_at(at, &basket).unwrap();
            writer.retire_runs([Run { first: at, len: basket.len() as u64 }]);
        }
        for (directory, name) in [(writer.top(), "a"), (folder, "b")] {
            let size = usize::try_from(draw(&mut seed) % 2000).unwrap() + 1;
            writer.write_object(directory, ("TTree", name, ""), Compression::NONE, |_| Ok(vec![round; size])).unwrap();
        }
        if round % 3 == 0 {
            writer.infos_mut().add(info(&format!("h{round}")));
        }
        deliver(writer, &journal, &mut steps);
        if let Some(writer) = shrinking(path).unwrap() {
            let journal = Arc::clone(&writer.disk.journal);
            deliver(writer, &journal, &mut steps);
        }
        ends.push(steps.len());
    }
    (before, steps, ends)
}

/// Ends an update, and adds all that was done to the steps.
fn deliver(writer: FileWriter, journal: &Mutex<Vec<Step>>, steps: &mut Vec<Step>) {
    let staged = writer.stage().unwrap();
    steps.append(&mut journal.lock().unwrap());
    let Switch { head, marks, end } = staged.left().unwrap();
    steps.push(Step::Write(0, head.clone()));
    steps.push(Step::Sync);
    steps.extend(marks.iter().map(|(at, mark)| Step::Write(*at, mark.to_vec())));
    steps.extend([Step::End(*end), Step::Sync]);
    staged.deliver().unwrap();
}

#[test]
fn an_update_that_is_cut_leaves_the_old_state_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let (before, steps, ends) = updated_file(&path);
    let mut image = Image(before);
    let (mut synced, mut seed) = (image.clone(), 300);
    let mut waiting: Vec<(u64, &[u8])> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Write(at, bytes) => {
                image.write(*at, bytes);
                waiting.extend(bytes.chunks(512).zip((*at..).step_by(512)).map(|(bytes, at)| (at, bytes)));
            }
            Step::End(end) => image.0.truncate(usize::try_from(*end).unwrap()),
            Step::Sync => {
                synced = image.clone();
                waiting.clear();
            }
        }
        let done = u8::try_from(ends.iter().filter(|end| **end <= i + 1).count()).unwrap();
        let check = |image: &Image| {
            let state = image.state();
            assert!(state == [done; 2] || state == [done + 1; 2], "{state:?} after {done} updates, step {i}");
            state
        };
        let state = check(&image);
        if ends.contains(&(i + 1)) {
            assert_eq!(state, [done; 2]);
            image.walk();
        }
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
    assert_eq!(std::fs::read(&path).unwrap(), image.0);
    let file = RootFile::open(&path).unwrap();
    assert!(file.audit(&file.walk()).is_empty());
    assert!(image.0.len() < 25_000, "gaps are used again: {} bytes", image.0.len());
}

#[test]
fn an_update_that_is_given_up_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    updated_file(&path);
    let had = std::fs::read(&path).unwrap();
    for stages in [false, true] {
        let file = RootFile::open(&path).unwrap();
        let mut writer = FileWriter::update(&path, &file, Committed::of(&file).unwrap(), 0, 0).unwrap();
        writer.append(&[1; 2 * BUFFER]).unwrap();
        if stages {
            drop(writer.stage().unwrap())
        } else {
            drop(writer)
        }
        let now = std::fs::read(&path).unwrap();
        assert_eq!(now.len(), had.len());
        assert!(RootFile::open(&path).unwrap().walk().problems.is_empty());
    }
    // Another program changes the file meanwhile: neither state is written over it.
    let file = RootFile::open(&path).unwrap();
    let writer = FileWriter::update(&path, &file, Committed::of(&file).unwrap(), 0, 0).unwrap();
    let staged = writer.stage().unwrap();
    let mut other = std::fs::read(&path).unwrap();
    other[50] ^= 1;
    std::fs::write(&path, &other).unwrap();
    assert!(staged.deliver().unwrap_err().to_string().contains("another program"));
    assert_eq!(std::fs::read(&path).unwrap(), other);
}

#[test]
fn a_free_list_that_has_what_is_in_use_refuses_the_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    updated_file(&path);
    let had = std::fs::read(&path).unwrap();
    let file = RootFile::open(&path).unwrap();
    let free = file.key_at(file.header().seek_free).unwrap();
    let at = usize::try_from(free.seek_key + u64::from(free.keylen)).unwrap();
    let used = file.walk().directories.iter().flat_map(|d| d.keys.clone()).map(|key| key.seek_key).max().unwrap();
    for (first, last) in
        [(used, used + 10), (100, 120), (file.header().seek_free, file.header().seek_free + 4), (400, 300)]
    {
        let mut forged = had.clone();
        forged[at + 2..at + 6].copy_from_slice(&u32::try_from(first).unwrap().to_be_bytes());
        forged[at + 6..at + 10].copy_from_slice(&u32::try_from(last).unwrap().to_be_bytes());
        std::fs::write(&path, &forged).unwrap();
        let why = Committed::of(&RootFile::open(&path).unwrap()).unwrap_err().to_string();
        assert!(why.contains("free"), "{first} to {last}: {why}");
    }
}

#[test]
fn what_a_list_has_without_a_mark_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut writer = FileWriter::create(&path, true, 0, 0, "listed").unwrap();
    let at = writer.place_for(record(200).len());
    let mut basket = record(200);
    basket[18..22].copy_from_slice(&u32::try_from(at).unwrap().to_be_bytes());
    writer.append_at(at, &basket).unwrap();
    for name in ["gone", "kept"] {
        writer.write_object(writer.top(), ("TNamed", name, ""), Compression::NONE, |_| Ok(vec![9; 40])).unwrap();
    }
    writer.finish().unwrap();
    let update = || {
        let file = RootFile::open(&path).unwrap();
        let kept = file.top().keys.iter().find(|key| key.name == "kept").unwrap().seek_key;
        let mut writer = FileWriter::update(&path, &file, Committed::of(&file).unwrap(), 0, 0).unwrap();
        assert!(writer.keep(writer.top(), "kept", kept, Some(1)));
        writer.mkdir(writer.top(), "new", "").unwrap();
        writer.stage().unwrap().deliver().unwrap();
    };
    update();
    let had = std::fs::read(&path).unwrap();
    let file = RootFile::open(&path).unwrap();
    let free = file.key_at(file.header().seek_free).unwrap();
    let list = usize::try_from(free.seek_key + u64::from(free.keylen)).unwrap();
    let place = usize::try_from(at).unwrap();
    for (first, last) in [(at, at), (at + 5, at + 7), (at, at + 200)] {
        let mut forged = had.clone();
        forged[list + 2..list + 6].copy_from_slice(&u32::try_from(first).unwrap().to_be_bytes());
        forged[list + 6..list + 10].copy_from_slice(&u32::try_from(last).unwrap().to_be_bytes());
        std::fs::write(&path, &forged).unwrap();
        for _ in 0..2 {
            update();
            let now = std::fs::read(&path).unwrap();
            assert_eq!(now[place..place + basket.len()], basket, "{first} to {last}");
        }
    }
    // What lies behind the end that the header tells is in use: the end is wrong.
    let mut short = had;
    short[12..16].copy_from_slice(&u32::try_from(at).unwrap().to_be_bytes());
    std::fs::write(&path, &short).unwrap();
    let why = Committed::of(&RootFile::open(&path).unwrap()).unwrap_err().to_string();
    assert!(why.contains("is in use") || why.contains("not closed"), "{why}");
}
