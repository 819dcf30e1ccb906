//! Objects of inputs that arrive one by one, while the output is written: what is merged is added up in memory, one sum for each name,
//! and written at the end; all other objects are copied as they come. The rules are those of a plan of all inputs, with two
//! exceptions: an object that is the same as an earlier one of its name is not written again, and of a class of which `hadd` keeps the first
//! object alone, only the first is kept.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result, RootFile};

use super::{ObjectCompression, Run, input, load, told};
use crate::merge::{MergeRule, Merger, Note};
use crate::plan::{Action, ObjectLocation, ObjectPlan};
use crate::problem::Problem;

/// Most problems that are told.
const MOST_PROBLEMS: usize = 100;

/// An object of a directory: its path there, its name and its class.
type Place = (String, String, String);

/// The objects so far.
pub struct RunningObjects {
    compression: ObjectCompression,
    check: bool,
    /// Directories of the output, by path.
    directories: HashMap<String, DirId>,
    sums: Vec<RunningSum>,
    /// The number of each sum; none for an object that cannot be added up.
    numbers: HashMap<Place, Option<usize>>,
    /// Digests of the objects that were copied.
    copied: HashMap<Place, HashSet<[u64; 2]>>,
    /// What was not merged as ROOT would.
    pub problems: Vec<Problem>,
}

/// An object of an input, and where it goes.
struct Added<'a> {
    file: &'a RootFile,
    pid_offset: u16,
    directory: DirId,
    rule: MergeRule,
    place: Place,
}

/// An object that is added up.
pub struct RunningSum {
    /// Its directory in the output.
    pub directory: DirId,
    /// Its class, name and title.
    pub labels: [String; 3],
    /// How it is compressed.
    pub compression: Compression,
    path: String,
    sum: Merger<'static>,
}

impl RunningSum {
    /// The payload of the sum so far, behind a key of this length.
    ///
    /// # Errors
    ///
    /// The sum is larger than a record can be.
    pub fn payload(&self, keylen: usize) -> Result<Vec<u8>> {
        self.sum.payload(keylen)
    }
}

impl RunningObjects {
    /// No objects. `check` says whether those that are copied are decompressed.
    pub fn new(compression: ObjectCompression, check: bool) -> Self {
        Self {
            compression,
            check,
            directories: HashMap::new(),
            sums: Vec::new(),
            numbers: HashMap::new(),
            copied: HashMap::new(),
            problems: Vec::new(),
        }
    }

    /// Makes the directories of a plan that are not there yet. Returns all of them, in the order of the plan.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn make_directories(&mut self, writer: &mut FileWriter, plan: &ObjectPlan) -> Result<Vec<DirId>> {
        let mut made = vec![writer.top(); plan.directories.len()];
        // Those below come behind those above.
        for (at, directory) in plan.directories.iter().enumerate() {
            let parent = made.get(at).copied().unwrap_or(writer.top());
            for entry in &directory.entries {
                let Action::Directory(child) = entry.action else { continue };
                let Some((below, slot)) = plan.directories.get(child).zip(made.get_mut(child)) else { continue };
                *slot = match self.directories.get(&below.path) {
                    Some(known) => *known,
                    None => writer.mkdir(parent, &entry.name, &below.title)?,
                };
                self.directories.insert(below.path.clone(), *slot);
            }
        }
        Ok(made)
    }

    /// Adds the objects of an input. `plan` is that of this input alone.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or the output cannot be written.
    pub fn add(&mut self, writer: &mut FileWriter, file: &RootFile, plan: &ObjectPlan, pid_offset: u16) -> Result<()> {
        let made = self.make_directories(writer, plan)?;
        for (directory, id) in plan.directories.iter().zip(made) {
            for entry in &directory.entries {
                let parts = match &entry.action {
                    Action::Copy(part) => std::slice::from_ref(part),
                    Action::Merge(parts) | Action::KeepAll(parts) => parts,
                    Action::Stay(_) | Action::Tree(_) | Action::Ntuple(_) | Action::Directory(_) => continue,
                };
                let place = (directory.path.clone(), entry.name.clone(), entry.class.clone());
                let added = Added { file, pid_offset, directory: id, rule: MergeRule::of(&entry.class), place };
                self.add_object(writer, &added, parts).map_err(|e| e.object(directory.path_of(&entry.name)))?;
            }
        }
        Ok(())
    }

    fn add_object(&mut self, writer: &mut FileWriter, added: &Added<'_>, parts: &[ObjectLocation]) -> Result<()> {
        let Added { file, pid_offset, directory, rule, place } = added;
        if rule.merges()
            && let Some(newest) = parts.last()
            && self.add_up(added, *newest)?
        {
            return Ok(());
        }
        for part in parts {
            let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
            let raw = file.raw_payload(&key).map_err(|e| e.file(file.name()))?;
            let known = self.copied.entry(place.clone()).or_default();
            let first_only = *rule == MergeRule::FirstOnly && !known.is_empty();
            if first_only || !known.insert(digest(&raw)) {
                continue;
            }
            let offsets = [*pid_offset];
            let mut run = Run::new(writer, vec![*file], self.compression, &offsets);
            run.check = self.check;
            run.copy(&place.0, *directory, ObjectLocation { file: 0, ..*part })?;
            self.problems.append(&mut run.written.problems);
            self.problems.truncate(MOST_PROBLEMS);
        }
        Ok(())
    }

    /// Adds an object to its sum. Returns whether that is possible.
    fn add_up(&mut self, added: &Added<'_>, part: ObjectLocation) -> Result<bool> {
        let Added { file, pid_offset, directory, place, .. } = added;
        let (path, name, _) = place;
        let (key, payload) = load(file, part)?;
        match self.numbers.get(place).copied() {
            Some(None) => return Ok(false),
            Some(Some(number)) => {
                let Some(sum) = self.sums.get_mut(number) else { return Ok(false) };
                let notes = match sum.sum.add(input(file, &key, &payload, *pid_offset)) {
                    Ok(notes) => notes,
                    Err(why) => vec![Note::NotMerged(why.to_string())],
                };
                for note in notes.into_iter().take(MOST_PROBLEMS - self.problems.len().min(MOST_PROBLEMS)) {
                    self.problems.push(Problem::new(path, name, &told(file, note)));
                }
                return Ok(true);
            }
            None => {}
        }
        let number = match Merger::new(input(file, &key, &payload, *pid_offset)) {
            Ok(sum) => {
                let compression = match self.compression {
                    ObjectCompression::As(compression) => compression,
                    ObjectCompression::Keep => {
                        Compression::from_root_setting(file.header().compress).unwrap_or(Compression::NONE)
                    }
                };
                let labels = [key.class.clone(), key.name.clone(), key.title.clone()];
                let sum = sum.into_owned();
                self.sums.push(RunningSum { directory: *directory, labels, compression, path: path.clone(), sum });
                Some(self.sums.len() - 1)
            }
            Err(why) => {
                let message = format!("cannot be merged, all are kept as cycles: {why}");
                self.problems.push(Problem::new(path, name, &message));
                None
            }
        };
        self.numbers.insert(place.clone(), number);
        Ok(number.is_some())
    }

    /// The sums so far.
    pub fn sums(&self) -> &[RunningSum] {
        &self.sums
    }

    /// Writes the sums. Returns what was not merged as ROOT would.
    ///
    /// # Errors
    ///
    /// A sum is larger than a record can be, or the output cannot be written.
    pub fn finish(self, writer: &mut FileWriter) -> Result<Vec<Problem>> {
        for sum in &self.sums {
            let [class, name, title] = &sum.labels;
            let written =
                writer.write_object(sum.directory, (class, name, title), sum.compression, |keylen| sum.payload(keylen));
            written.map_err(|e| e.object(Problem::new(&sum.path, name, "").path))?;
        }
        Ok(self.problems)
    }
}

/// 128 bits that equal bytes have in common.
fn digest(bytes: &[u8]) -> [u64; 2] {
    [1, 2].map(|seed| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(bytes);
        hasher.finish()
    })
}
