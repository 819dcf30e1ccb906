//! Carries out a plan: copies objects unchanged, or merges them one name at a time.

mod cycle_order;
pub(crate) mod running;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use rootfile::codec::{Compression, Compressor, KEY_STORED_UP_TO, check_sizes};
use rootfile::object::{Graph, Object, ObjectWriter};
use rootfile::{DirId, Error, ErrorKind, FileWriter, Key, Result, RootFile, START_BIG_FILE, public_path};

use self::cycle_order::CycleOrder;
use crate::merge::{Input, Merger, Note};
use crate::plan::{Action, NamedObject, ObjectLocation, ObjectPlan, OutputDirectory};
use crate::problem::{Damaged, Problem};
use crate::relocate::Renamed;
use crate::{inner_trees, process_ids, relocate};

/// Classes whose objects may hold trees.
const MAY_HOLD_TREES: [&str; 5] = ["TList", "THashList", "TObjArray", "TMap", "TFolder"];

/// The compression of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectCompression {
    /// Copies keep theirs. A merged object gets that of the first input's file.
    Keep,
    /// All objects get this one.
    As(Compression),
}

/// The result of [`ObjectPlan::write_objects`].
#[derive(Debug)]
pub struct WrittenObjects {
    /// The output's directories, in the order of [`ObjectPlan::directories`].
    pub directories: Vec<DirId>,
    /// Objects that were not carried over or merged as ROOT would.
    pub problems: Vec<Problem>,
    /// The cycles of trees that share their name with other objects, by directory and name.
    pub tree_cycles: HashMap<(usize, String), Vec<i16>>,
    /// Objects that cannot be read and were left out.
    pub damaged: Vec<Damaged>,
}

impl ObjectPlan {
    /// Writes directories and all objects except trees. The output gets the streamer infos of all inputs, or [`ObjectPlan::infos`].
    /// `pid_offsets` has one number per input, from [`process_ids::join`].
    ///
    /// Call it before trees are written: references in a copied record count from its key, and the length of keys
    /// changes beyond two gigabytes.
    ///
    /// # Errors
    ///
    /// An input cannot be read, the output cannot be written, or an object cannot be moved.
    pub fn write_objects(
        &self,
        writer: &mut FileWriter,
        files: &[impl Borrow<RootFile>],
        compression: ObjectCompression,
        pid_offsets: &[u16],
    ) -> Result<WrittenObjects> {
        let files: Vec<&RootFile> = files.iter().map(Borrow::borrow).collect();
        match &self.infos {
            Some(infos) => writer.infos_mut().extend(infos),
            None => files.iter().for_each(|file| writer.infos_mut().extend(file.infos())),
        }
        let directories = vec![writer.top(); self.directories.len()];
        let mut run = Run::new(writer, files, compression, pid_offsets);
        (run.check, run.as_placed) = (self.check, self.as_placed);
        (run.written.directories, run.written.problems) = (directories, self.problems.clone());
        run.directory(self, 0)?;
        Ok(run.written)
    }
}

struct Run<'a> {
    writer: &'a mut FileWriter,
    files: Vec<&'a RootFile>,
    compression: ObjectCompression,
    check: bool,
    as_placed: bool,
    pid_offsets: &'a [u16],
    written: WrittenObjects,
    /// Cycles of objects that share their name, by the offset of their record in the one input.
    cycles: HashMap<u64, i16>,
    compressor: Compressor,
}

impl<'a> Run<'a> {
    fn new(
        writer: &'a mut FileWriter,
        files: Vec<&'a RootFile>,
        compression: ObjectCompression,
        pid_offsets: &'a [u16],
    ) -> Self {
        let written = WrittenObjects {
            directories: Vec::new(),
            problems: Vec::new(),
            tree_cycles: HashMap::new(),
            damaged: Vec::new(),
        };
        let (cycles, compressor) = (HashMap::new(), Compressor::new());
        Self { writer, files, compression, check: false, as_placed: false, pid_offsets, written, cycles, compressor }
    }

    fn directory(&mut self, plan: &ObjectPlan, index: usize) -> Result<()> {
        // A stack and no recursion: the depth of directories comes from the file.
        let mut todo = vec![(index, 0)];
        while let Some((index, next)) = todo.pop() {
            let Some(directory) = plan.directories.get(index) else { continue };
            let Some(id) = self.written.directories.get(index).copied() else { continue };
            let mut below = None;
            let shared = shared_names(directory);
            let written_cycles = |name: &str| plan.tree_cycles.get(&(index, name.to_owned())).copied().unwrap_or(1);
            if plan.single && !plan.as_placed && next == 0 {
                let order = CycleOrder::of(directory, &shared, written_cycles);
                self.cycles.extend(order.objects);
                let trees = order.trees.into_iter().map(|(name, cycles)| ((index, name), cycles));
                self.written.tree_cycles.extend(trees);
            }
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
                if !plan.single
                    && shared.contains(entry.name.as_str())
                    && directory.tree_below(entry).is_some()
                    && !self.written.tree_cycles.contains_key(&(index, entry.name.clone()))
                {
                    // Trees are written later, and take the cycles below.
                    let cycles = i16::try_from(written_cycles(&entry.name)).unwrap_or(i16::MAX);
                    self.writer.set_cycle(id, &entry.name, cycles);
                    self.written.tree_cycles.insert((index, entry.name.clone()), (1..=cycles).collect());
                }
                let older = if plan.all_cycles { entry.older.as_slice() } else { &[] };
                let done = self.entry(&directory.path, id, entry, older).map_err(|e| e.object(&entry.name));
                match done {
                    Err(e) if plan.skip_damaged && matches!(e.kind(), ErrorKind::Corrupt(_)) => {
                        let path = e.path().map(Path::to_path_buf).unwrap_or_default();
                        let (object, reason) = (directory.path_of(&entry.name), e.to_string());
                        self.written.damaged.push(Damaged { path, object, reason });
                    }
                    done => done?,
                }
            }
            if let Some((at, child)) = below {
                todo.push((index, at + 1));
                todo.push((child, 0));
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        path: &str,
        directory: DirId,
        entry: &NamedObject,
        older: &[Vec<ObjectLocation>],
    ) -> Result<()> {
        match &entry.action {
            // A single object: it is copied, after its merged older cycles.
            Action::Copy(part) if !older.is_empty() => {
                older.iter().rev().try_for_each(|parts| self.merge(path, directory, entry, parts))?;
                self.copy(path, directory, *part)
            }
            Action::Copy(part) if self.as_placed => self.place(path, directory, entry, *part),
            Action::Merge(parts) if !older.is_empty() => {
                older.iter().rev().try_for_each(|parts| self.merge(path, directory, entry, parts))?;
                self.merge(path, directory, entry, parts)
            }
            Action::Copy(part) => self.copy(path, directory, *part),
            Action::KeepAll(parts) => parts.iter().try_for_each(|part| self.copy(path, directory, *part)),
            Action::Merge(parts) => self.merge(path, directory, entry, parts),
            Action::Stay(parts) => {
                parts.iter().try_for_each(|part| match self.stays(directory, &entry.name, *part, Some(part.cycle)) {
                    true => Ok(()),
                    false => Err(Error::unsupported("is not where the file was read")),
                })
            }
            Action::Tree(_) | Action::Ntuple(_) | Action::Directory(_) => Ok(()),
        }
    }

    fn file(&self, part: ObjectLocation) -> Result<&'a RootFile> {
        let file = usize::try_from(part.file).ok().and_then(|i| self.files.get(i)).copied();
        file.ok_or_else(|| Error::request("the plan is for other files"))
    }

    fn pid_offset(&self, part: ObjectLocation) -> u16 {
        usize::try_from(part.file).ok().and_then(|i| self.pid_offsets.get(i)).copied().unwrap_or(0)
    }

    /// Whether the object of a file that is updated in place, the first one, can stay where it is.
    fn stays(&mut self, directory: DirId, name: &str, part: ObjectLocation, cycle: Option<i16>) -> bool {
        part.file == 0 && self.writer.keep(directory, name, part.seek, cycle)
    }

    /// Copies one object under the name of its entry, with the cycle of its place.
    fn place(&mut self, path: &str, directory: DirId, entry: &NamedObject, part: ObjectLocation) -> Result<()> {
        if self.stays(directory, &entry.name, part, Some(part.cycle)) {
            return Ok(());
        }
        let file = self.file(part)?;
        let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
        self.writer.set_cycle(directory, &entry.name, part.cycle.saturating_sub(1));
        if key.name == entry.name {
            return self.copy_record(path, directory, key, part);
        }
        let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
        let pid_offset = self.pid_offset(part);
        let big = pid_offset != 0 || self.writer.position() > START_BIG_FILE;
        let Some(renamed) = relocate::with_name(&key, &payload, file.infos(), &entry.name, big) else {
            let (class, longest) = (&key.class, key.longest_name());
            let message = format!(
                "a {class} of which not all parts are known cannot get a name of more than {longest} bytes: references in it count from \
                 its name"
            );
            return Err(Error::unsupported(message).file(file.name()));
        };
        let Renamed { mut key, payload, parts } = renamed;
        if let Some((object, mut graph)) = parts
            && MAY_HOLD_TREES.contains(&key.class.as_str())
            && inner_trees::has_baskets(&mut graph)
        {
            return self.write_trees(path, directory, TreesIn { file, key: &key, object, graph }, pid_offset);
        }
        if key.is_big() {
            key.pid_offset = key.pid_offset.saturating_add(pid_offset);
        }
        self.put(directory, &key, &payload, self.compression_for(file))
    }

    /// Copies one object, with its record unchanged where possible.
    fn copy(&mut self, path: &str, directory: DirId, part: ObjectLocation) -> Result<()> {
        let file = self.file(part)?;
        let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
        if self.stays(directory, &key.name, part, None) {
            return Ok(());
        }
        if let Some(cycle) = self.cycles.get(&part.seek) {
            self.writer.set_cycle(directory, &key.name, cycle.saturating_sub(1));
        }
        self.copy_record(path, directory, key, part)
    }

    /// Copies the record of a key, unchanged where possible.
    fn copy_record(&mut self, path: &str, directory: DirId, mut key: Key, part: ObjectLocation) -> Result<()> {
        let file = self.file(part)?;
        if MAY_HOLD_TREES.contains(&key.class.as_str())
            && self.with_trees(path, directory, (file, &key), self.pid_offset(part))?
        {
            return Ok(());
        }
        let far = self.writer.position() > START_BIG_FILE;
        let pid_offset = self.pid_offset(part);
        if key.is_big() {
            key.pid_offset = key.pid_offset.saturating_add(pid_offset);
        } else if far || pid_offset != 0 {
            let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
            match relocate::with_big_key(&key, &payload, file.infos()) {
                Some((mut key, payload)) => {
                    key.pid_offset = pid_offset;
                    return self.put(directory, &key, &payload, self.compression_for(file));
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
        match self.compression {
            ObjectCompression::Keep => {
                let raw = file.raw_payload(&key).map_err(|e| e.file(file.name()))?;
                check_sizes(&raw, key.objlen as usize).map_err(|e| e.at(key.seek_key).file(file.name()))?;
                if self.check {
                    file.payload(&key).map_err(|e| e.file(file.name()))?;
                }
                self.writer.copy_object(directory, &key, &raw)
            }
            ObjectCompression::As(compression) => {
                let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
                self.put(directory, &key, &payload, compression)
            }
        }
    }

    /// Copies an object that holds trees, with the baskets that lie elsewhere in the input. Returns whether it holds any.
    fn with_trees(
        &mut self,
        path: &str,
        directory: DirId,
        (file, key): (&RootFile, &Key),
        pid_offset: u16,
    ) -> Result<bool> {
        let payload = file.payload(key).map_err(|e| e.file(file.name()))?;
        let Some((object, graph)) = relocate::with_trees(key, &payload, file.infos()) else { return Ok(false) };
        drop(payload);
        self.write_trees(path, directory, TreesIn { file, key, object, graph }, pid_offset)?;
        Ok(true)
    }

    /// Writes an object that holds trees, with their baskets.
    fn write_trees(&mut self, path: &str, directory: DirId, held: TreesIn<'_>, pid_offset: u16) -> Result<()> {
        let TreesIn { file, key, mut object, mut graph } = held;
        process_ids::shift_references(&mut object, &mut graph, pid_offset)?;
        let missing = inner_trees::copy_baskets(&mut graph, &**file.source(), self.writer, directory)?;
        if !missing.is_empty() {
            let message = format!("a tree in it has no baskets where its branches say: {}", missing.join(", "));
            self.written.problems.push(Problem::new(path, &key.name, &message));
        }
        let compression = self.compression_for(file);
        let names = (key.class.as_str(), key.name.as_str(), key.title.as_str());
        self.writer.write_object(directory, names, compression, |keylen| {
            let mut writer = ObjectWriter::new(keylen, &graph);
            writer.root(&object)?;
            Ok(writer.out.bytes)
        })?;
        Ok(())
    }

    /// Writes a payload behind a key that only lacks its position.
    fn put(&mut self, directory: DirId, key: &Key, payload: &[u8], compression: Compression) -> Result<()> {
        let mut packed = Vec::new();
        let smaller =
            payload.len() > KEY_STORED_UP_TO && self.compressor.compress(compression, payload, &mut packed)?;
        self.writer.copy_object(directory, key, if smaller { &packed } else { payload })
    }

    fn compression_for(&self, file: &RootFile) -> Compression {
        match self.compression {
            ObjectCompression::As(compression) => compression,
            ObjectCompression::Keep => {
                Compression::from_root_setting(file.header().compress).unwrap_or(Compression::NONE)
            }
        }
    }

    fn merge(&mut self, path: &str, directory: DirId, entry: &NamedObject, parts: &[ObjectLocation]) -> Result<()> {
        let Some((first, rest)) = parts.split_first() else { return Ok(()) };
        let source = self.file(*first)?;
        let (key, payload) = load(source, *first)?;
        let merger = Merger::new(input(source, &key, &payload, self.pid_offset(*first)));
        let mut merger = match merger {
            Ok(merger) => merger,
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
                Err(why) => vec![Note::NotMerged(why.to_string())],
            };
            for note in notes {
                problems.push(Problem::new(path, &entry.name, &told(file, note)));
            }
        }
        let compression = self.compression_for(source);
        let names = (key.class.as_str(), key.name.as_str(), key.title.as_str());
        // A sum that no record can hold is not written: all objects are kept then as well.
        let mut payload_error = None;
        let written = self.writer.write_object(directory, names, compression, |keylen| {
            merger.payload(keylen).inspect_err(|why| payload_error = Some(why.to_string()))
        });
        if let (Err(_), Some(why)) = (&written, payload_error) {
            let message = format!("cannot be merged, all are kept as cycles: {why}");
            self.written.problems.push(Problem::new(path, &entry.name, &message));
            return parts.iter().try_for_each(|part| self.copy(path, directory, *part));
        }
        written?;
        self.written.problems.extend(problems);
        Ok(())
    }
}

/// An object that holds trees: its file and key, and what its record has.
struct TreesIn<'a> {
    file: &'a RootFile,
    key: &'a Key,
    object: Object,
    graph: Graph,
}

/// Names that several objects of a directory have.
fn shared_names(directory: &OutputDirectory) -> HashSet<&str> {
    let mut seen = HashSet::with_capacity(directory.entries.len());
    directory.entries.iter().map(|e| e.name.as_str()).filter(|name| !seen.insert(*name)).collect()
}

/// What is said of an object that is added to another.
fn told(file: &RootFile, note: Note) -> String {
    let one = format!("the one of {}", public_path(file.name()).display());
    match note {
        Note::NotMerged(why) => format!("{one} is not merged: {why}"),
        Note::Changed(what) => format!("{one} is merged, but {what}"),
    }
}

fn load(file: &RootFile, part: ObjectLocation) -> Result<(Key, Vec<u8>)> {
    let key = file.key_at(part.seek).map_err(|e| e.file(file.name()))?;
    let payload = file.payload(&key).map_err(|e| e.file(file.name()))?;
    Ok((key, payload))
}

fn input<'a>(file: &'a RootFile, key: &'a Key, payload: &'a [u8], pid_offset: u16) -> Input<'a> {
    Input { class: &key.class, payload, keylen: key.keylen, infos: file.infos(), pid_offset }
}
