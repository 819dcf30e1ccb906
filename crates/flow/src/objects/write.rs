//! Carries out a plan: objects copied as they are, or merged one name at a time.

use std::borrow::Borrow;
use std::fmt;

use rootfile::codec::{Compression, Compressor, KEY_STORED_UP_TO};
use rootfile::{DirId, Error, FileWriter, Key, Result, RootFile, START_BIG_FILE};

use super::merge::{Input, Merger};
use super::plan::{Action, Entry, ObjectPlan, Part};
use super::rewrite;

/// How records are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pack {
    /// Copies keep what they have; merged objects get what the file of the first one has.
    Keep,
    /// All get this.
    As(Compression),
}

/// Something that could not be carried over or merged as ROOT would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the object.
    pub path: String,
    /// What is wrong, and what became of it.
    pub message: String,
}

impl Problem {
    pub(super) fn new(directory: &str, name: &str, message: &str) -> Self {
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        Self { path, message: message.to_owned() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// The output's directories, in the order of [`ObjectPlan::directories`].
    pub directories: Vec<DirId>,
    /// What went differently from how ROOT would do it.
    pub problems: Vec<Problem>,
}

impl ObjectPlan {
    /// Writes directories and all objects but trees. The streamer infos of all inputs go with them.
    /// `pid_offsets` has one number an input, from [`pids::plan`](super::pids::plan).
    ///
    /// Best done before trees are written: references in a copied record count from its key, whose length
    /// changes beyond two gigabytes.
    pub fn write(
        &self,
        writer: &mut FileWriter,
        files: &[impl Borrow<RootFile>],
        pack: Pack,
        pid_offsets: &[u16],
    ) -> Result<Written> {
        let files: Vec<&RootFile> = files.iter().map(Borrow::borrow).collect();
        for file in &files {
            writer.infos_mut().extend(file.infos());
        }
        let directories = vec![writer.top(); self.directories.len()];
        let written = Written { directories, problems: self.problems.clone() };
        let mut run = Run { writer, files, pack, pid_offsets, written, compressor: Compressor::new() };
        run.directory(self, 0)?;
        Ok(run.written)
    }
}

struct Run<'a> {
    writer: &'a mut FileWriter,
    files: Vec<&'a RootFile>,
    pack: Pack,
    pid_offsets: &'a [u16],
    written: Written,
    compressor: Compressor,
}

impl<'a> Run<'a> {
    fn directory(&mut self, plan: &ObjectPlan, index: usize) -> Result<()> {
        // Paths come from files: a list of what is to be done, not recursion.
        let mut todo = vec![(index, 0)];
        while let Some((index, next)) = todo.pop() {
            let Some(directory) = plan.directories.get(index) else { continue };
            let Some(id) = self.written.directories.get(index).copied() else { continue };
            let mut below = None;
            for (at, entry) in directory.entries.iter().enumerate().skip(next) {
                if let Action::Directory(child) = entry.action {
                    let title = plan.directories.get(child).map_or("", |d| &d.title);
                    let made = self.writer.mkdir(id, &entry.name, title)?;
                    if let Some(slot) = self.written.directories.get_mut(child) {
                        *slot = made;
                    }
                    below = Some((at, child));
                    break;
                }
                self.entry(&directory.path, id, entry).map_err(|e| e.object(&entry.name))?;
            }
            if let Some((at, child)) = below {
                todo.push((index, at + 1));
                todo.push((child, 0));
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &str, directory: DirId, entry: &Entry) -> Result<()> {
        match &entry.action {
            Action::Copy(part) => self.copy(path, directory, *part),
            Action::KeepAll(parts) => parts.iter().try_for_each(|part| self.copy(path, directory, *part)),
            Action::Merge(parts) => self.merge(path, directory, entry, parts),
            Action::Tree(_) | Action::Directory(_) => Ok(()),
        }
    }

    fn file(&self, part: Part) -> Result<&'a RootFile> {
        let file = usize::try_from(part.file).ok().and_then(|i| self.files.get(i)).copied();
        file.ok_or_else(|| Error::request("a plan of other files"))
    }

    fn pid_offset(&self, part: Part) -> u16 {
        usize::try_from(part.file).ok().and_then(|i| self.pid_offsets.get(i)).copied().unwrap_or(0)
    }

    /// Copies one object, as it lies where that is possible.
    fn copy(&mut self, path: &str, directory: DirId, part: Part) -> Result<()> {
        let file = self.file(part)?;
        let mut key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
        let far = self.writer.position() > START_BIG_FILE;
        let pid_offset = self.pid_offset(part);
        if key.is_big() {
            key.pid_offset = key.pid_offset.saturating_add(pid_offset);
        } else if far || pid_offset != 0 {
            let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
            match rewrite::with_big_key(&key, &payload, file.infos()) {
                Some((mut key, payload)) => {
                    key.pid_offset = pid_offset;
                    return self.put(directory, &key, &payload, self.compression(file));
                }
                None if far => {
                    let message = format!("a {} that cannot be moved beyond 2 GB", key.class);
                    return Err(Error::unsupported(message).file(file.name()));
                }
                None => {
                    let message = "references in it, if any, may not find what they point to".to_owned();
                    self.written.problems.push(Problem::new(path, &key.name, &message));
                }
            }
        }
        match self.pack {
            Pack::Keep => {
                let raw = file.raw_payload(&key).map_err(|e| e.file(file.name()))?;
                self.writer.copy_object(directory, &key, &raw)
            }
            Pack::As(compression) => {
                let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
                self.put(directory, &key, &payload, compression)
            }
        }
    }

    /// Writes a payload behind a key that is all but placed.
    fn put(&mut self, directory: DirId, key: &Key, payload: &[u8], compression: Compression) -> Result<()> {
        let mut packed = Vec::new();
        let smaller =
            payload.len() > KEY_STORED_UP_TO && self.compressor.compress(compression, payload, &mut packed)?;
        self.writer.copy_object(directory, key, if smaller { &packed } else { payload })
    }

    fn compression(&self, file: &RootFile) -> Compression {
        match self.pack {
            Pack::As(compression) => compression,
            Pack::Keep => Compression::from_root_setting(file.header().compress).unwrap_or(Compression::NONE),
        }
    }

    fn merge(&mut self, path: &str, directory: DirId, entry: &Entry, parts: &[Part]) -> Result<()> {
        let Some((first, rest)) = parts.split_first() else { return Ok(()) };
        let source = self.file(*first)?;
        let (key, payload) = load(source, *first)?;
        let merger = Merger::new(input(source, &key, &payload, self.pid_offset(*first)));
        let mut merger = match merger {
            Ok(merger) => merger,
            // Kept as they are, rather than lost.
            Err(why) => {
                let message = format!("cannot be merged, all are kept as cycles: {why}");
                self.written.problems.push(Problem::new(path, &entry.name, &message));
                return parts.iter().try_for_each(|part| self.copy(path, directory, *part));
            }
        };
        let mut problems = Vec::new();
        for part in rest {
            let file = self.file(*part)?;
            let (key, payload) = load(file, *part)?;
            let notes = match merger.add(input(file, &key, &payload, self.pid_offset(*part))) {
                Ok(notes) => notes,
                Err(why) => vec![why.to_string()],
            };
            for note in notes {
                let message = format!("the one of {} is not merged: {note}", file.name().display());
                problems.push(Problem::new(path, &entry.name, &message));
            }
        }
        let compression = self.compression(source);
        let names = (key.class.as_str(), key.name.as_str(), key.title.as_str());
        self.writer.write_object(directory, names, compression, |keylen| merger.payload(keylen))?;
        self.written.problems.extend(problems);
        Ok(())
    }
}

fn load(file: &RootFile, part: Part) -> Result<(Key, Vec<u8>)> {
    let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
    let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
    Ok((key, payload))
}

fn input<'a>(file: &'a RootFile, key: &'a Key, payload: &'a [u8], pid_offset: u16) -> Input<'a> {
    Input { class: &key.class, payload, keylen: key.keylen, infos: file.infos(), pid_offset }
}
