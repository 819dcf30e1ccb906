//! Updates a file in place: what stays is not written again.
//!
//! 1. New records lie behind the end of the file, or in gaps that its free list has and that are marked as gaps. So do all records that
//!    readers begin with: directories whose content changes, their lists of keys, streamer infos, free list.
//! 2. A sync brings them to disk. Until here nobody finds them: the file is the old one, with bytes behind its end.
//! 3. One write of the first bytes of the file (header and top directory) switches readers to the new state; a sync follows.
//! 4. What only the old state used is in the free list of the new one, and is marked as a gap. The next update may take it, this one
//!    does not.
//!
//! A kill or a power cut at any moment leaves the old state or the new one. A directory below the top cannot be switched in the same write,
//! so it gets a new record when its content changes, and its parent a list with the new position. The keys in it name the old one as
//! their directory, which readers do not use; no other directory gets that place as long as such keys are there.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::close::head_of;
use super::directories::{DirId, OpenDirectory};
use super::disk::Disk;
use super::file_writer::FileWriter;
use super::gaps::{Gaps, MARK, mark_of};
use super::in_place::Switch;
use super::saved::Saved;
use super::staged::StagedFile;
use super::trailer::Trailer;
use super::updated::Update;
use crate::bytes::Writer;
use crate::directory::DirectoryRecord;
use crate::file::{Committed, CommittedDirectory, Run, is_directory};
use crate::header::{BEGIN, FileHeader, START_BIG_FILE};
use crate::key::{DIRECTORY_CLASS, Key};
use crate::{Error, Result, RootFile};

impl FileWriter {
    /// Begins to update a file. It has no objects until they are written, or [kept](Self::keep).
    ///
    /// # Errors
    ///
    /// The file cannot be opened to be written, or is another one than the state was read of.
    pub fn update(path: &Path, file: &RootFile, committed: Committed, compression: i32, datime: u32) -> Result<Self> {
        let disk = Disk::in_place(path, committed.head.clone(), committed.size)?;
        let end = committed.header.end;
        let mut gaps = Gaps::default();
        committed.gaps.iter().for_each(|gap| _ = gaps.add(*gap));
        let mut writer = Self::at(disk, end, compression, datime);
        let (name, title) = committed.names.clone();
        let fields = BEGIN + u64::from(committed.header.nbytes_name);
        writer.top_names.clone_from(&committed.top_names);
        writer.directories.push(OpenDirectory::new(&name, &title, 0, BEGIN, fields));
        let infos = Arc::clone(file.shared_infos());
        writer.infos.extend(&infos);
        writer.hash_record(&committed.header.to_bytes());
        writer.update = Some(Box::new(Update {
            committed,
            infos,
            gaps,
            kept: Vec::new(),
            retired: Vec::new(),
            kept_keys: HashSet::new(),
            remainder: None,
            moves_infos: false,
        }));
        Ok(writer)
    }

    /// Whether a file is updated in place.
    pub fn is_update(&self) -> bool {
        self.update.is_some()
    }

    /// Keeps an object of the old state where it is, if it has this directory and name there and the cycle can stay: `cycle`, or any
    /// behind those of the name so far. Returns whether it does.
    pub fn keep(&mut self, directory: DirId, name: &str, seek: u64, cycle: Option<i16>) -> bool {
        let Some(update) = &mut self.update else { return false };
        let Some(open) = self.directories.get_mut(directory.0) else { return false };
        let known = update.committed.directories.get(&open.path).and_then(|known| known.keys.get(&seek));
        let Some(key) = known.filter(|key| key.name == name) else { return false };
        let fits = cycle.map_or_else(|| key.cycle >= open.next_cycle(name), |cycle| cycle == key.cycle);
        if !fits || !update.kept_keys.insert(seek) {
            return false;
        }
        update.kept.push(Run::of(key));
        open.keep_key(key.clone());
        true
    }

    /// Keeps the object of the top directory with these names, if the file has it.
    pub fn keep_named(&mut self, class: &str, name: &str, title: &str) -> bool {
        let top = self.update.as_ref().and_then(|update| update.committed.directories.get(""));
        let is_it = |key: &&Key| key.class == class && key.name == name && key.title == title;
        let seek = top.and_then(|top| top.keys.values().filter(is_it).map(|key| key.seek_key).min());
        seek.is_some_and(|seek| self.keep(self.top(), name, seek, None))
    }

    /// Whether the object at this offset is kept where it is.
    pub fn is_kept(&self, seek: u64) -> bool {
        self.update.as_ref().is_some_and(|update| update.kept_keys.contains(&seek))
    }

    /// Records that the new state has where they are.
    pub fn keep_runs(&mut self, runs: impl IntoIterator<Item = Run>) {
        if let Some(update) = &mut self.update {
            update.kept.extend(runs);
        }
    }

    /// Records that the new state does not have, unless they are kept.
    pub fn retire_runs(&mut self, runs: impl IntoIterator<Item = Run>) {
        if let Some(update) = &mut self.update {
            update.retired.extend(runs);
        }
    }

    /// Whether the streamer infos get another place, even if they stay the same.
    pub(super) fn move_infos(&mut self, moves: bool) {
        if let Some(update) = &mut self.update {
            update.moves_infos = moves;
        }
    }

    /// The directory of the old state with this path.
    fn committed(&self, path: &str) -> Option<&CommittedDirectory> {
        self.update.as_ref()?.committed.directories.get(path)
    }

    /// The directory of this name: that of the old state, or a new one.
    pub(super) fn directory_in_update(&mut self, parent: usize, name: &str, title: &str) -> Result<DirId> {
        let (above, seek_parent) = self.directories.get(parent).map(|p| (p.path.clone(), p.seek)).unwrap_or_default();
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        let number = self.directories.len();
        let known = self.committed(&path).map(|known| (known.title.clone(), known.run.first));
        let title = known.as_ref().map_or(title, |(title, _)| title);
        let mut directory = OpenDirectory::new(name, title, seek_parent, 0, 0);
        (directory.path, directory.parent) = (path, parent);
        let is_new = known.is_none();
        let key = known.and_then(|(_, seek)| {
            directory.seek = seek;
            self.committed(&above).and_then(|above| above.keys.get(&seek)).cloned()
        });
        self.directories.push(directory);
        if is_new {
            self.move_directory(number)?;
        } else if let (Some(key), Some(parent)) = (key, self.directories.get_mut(parent)) {
            parent.keep_key(key);
        }
        Ok(DirId(number))
    }

    /// The offset of a directory's record for keys in it. In an update the directory gets a new record.
    ///
    /// # Errors
    ///
    /// Its name and title are too long for a key.
    pub fn claim(&mut self, directory: DirId) -> Result<u64> {
        if self.update.is_some() && directory.0 > 0 {
            self.move_directory(directory.0)?;
        }
        Ok(self.seek_of(directory))
    }

    /// Gives a directory below the top a place for a new record, if it has none, and its parent the new key.
    fn move_directory(&mut self, number: usize) -> Result<()> {
        let Some(open) = self.directories.get(number).filter(|open| !open.is_moved) else { return Ok(()) };
        let (name, title, parent, before) = (open.name.clone(), open.title.clone(), open.parent, open.seek);
        let mut key = self.checked_key(DIRECTORY_CLASS, &name, &title, 0)?;
        let len = usize::from(key.keylen) + DirectoryRecord::MAX_LEN;
        key.seek_key = self.reserve(len as u64)?;
        (key.nbytes, key.objlen) =
            (u32::try_from(len).unwrap_or(0), u32::try_from(DirectoryRecord::MAX_LEN).unwrap_or(0));
        if let Some(open) = self.directories.get_mut(number) {
            (open.seek, open.fields, open.is_moved) = (key.seek_key, key.seek_key + u64::from(key.keylen), true);
        }
        if let Some(above) = self.directories.get_mut(parent) {
            key.seek_pdir = above.seek;
            key.cycle = above.next_cycle(&name);
            above.replace_key(before, key);
        }
        Ok(())
    }

    /// A place for the record of a directory, which is written later.
    fn reserve(&mut self, len: u64) -> Result<u64> {
        let Some(update) = &mut self.update else { return Ok(self.position()) };
        let Update { gaps, committed, .. } = &mut **update;
        // Where keys name the start of a gap as their directory, a mark stays in front.
        let is_free = |skip: &u64| {
            let place = gaps.clone().take(len + skip, false).map(|(run, _)| run.first + skip);
            place.is_some_and(|at| !committed.named_directories.contains(&at))
        };
        if let Some(skip) = [0, MARK].into_iter().find(is_free)
            && let Some((run, rest)) = gaps.take(len + skip, false)
        {
            let front = (skip > 0).then(|| gaps.add(Run { first: run.first, len: skip }));
            for gap in front.into_iter().chain(rest) {
                self.write_at(gap.first, &mark_of(gap.len).unwrap_or_default())?;
            }
            return Ok(run.first + skip);
        }
        self.pass_named_directories()?;
        let at = self.position();
        self.push(&vec![0; usize::try_from(len).unwrap_or(0)])?;
        Ok(at)
    }

    /// Leaves a gap where keys name the place of a directory that was there.
    fn pass_named_directories(&mut self) -> Result<()> {
        let mut at = self.position();
        while let Some(update) = self.update.as_mut().filter(|u| u.committed.named_directories.contains(&at)) {
            update.gaps.add(Run { first: at, len: MARK });
            self.push(&mark_of(MARK).unwrap_or_default())?;
            at = self.position();
        }
        Ok(())
    }

    /// The offset at which records of so many bytes are to be written by [`append_at`](Self::append_at): behind the others, or in a gap.
    pub fn place_for(&mut self, len: usize) -> u64 {
        let taken = self.update.as_mut().and_then(|update| update.gaps.take(len as u64, false));
        match taken {
            None => self.position(),
            Some((run, rest)) => {
                if let Some(update) = &mut self.update {
                    update.remainder = rest;
                }
                run.first
            }
        }
    }

    /// Writes complete records to the place that was made for them.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn append_at(&mut self, at: u64, records: &[u8]) -> Result<()> {
        if at == self.position() {
            return self.append(records);
        }
        self.hash_record(records);
        self.disk.write_at(at, records)?;
        let rest = self.update.as_mut().and_then(|update| update.remainder.take());
        match rest.and_then(|rest| Some((rest.first, mark_of(rest.len)?))) {
            Some((at, mark)) => self.disk.write_at(at, &mark),
            None => Ok(()),
        }
    }

    /// Writes what readers begin with, and syncs. [`StagedFile::deliver`] switches readers to it.
    pub(super) fn stage_update(mut self, update: Update) -> Result<StagedFile> {
        update.check_kept()?;
        self.update = Some(Box::new(update));
        let changed = self.changed();
        for (number, changed) in changed.iter().enumerate().skip(1) {
            if *changed {
                self.move_directory(number)?;
            }
        }
        let mut lists = Vec::with_capacity(changed.len());
        for (number, changed) in changed.iter().enumerate() {
            let mut place = Run { first: 0, len: 0 };
            if *changed {
                let (mut key, payload) = self.key_list(number, &[])?;
                self.put(&mut key, &payload, payload.len())?;
                place = Run::of(&key);
            }
            lists.push(place);
        }
        for number in (1..changed.len()).filter(|number| changed.get(*number) == Some(&true)) {
            if let Some(list) = lists.get(number) {
                self.write_directory(number, *list)?;
            }
        }
        let infos = self.put_infos()?;
        let Some(update) = self.update.take() else { return Err(Error::request("no update")) };
        let retired = self.retired(&update, &changed, infos);
        let Update { committed, gaps, .. } = *update;
        let (mut old, mut now) = (Saved { gaps, is_final: true, ..Saved::default() }, Saved::default());
        self.save_free(&mut old, &mut now, &retired)?;
        let end = now.trailer.end;
        self.flush()?;
        self.disk.sync()?;
        let lists = lists.iter().map(|list| (list.first, small(list.len))).collect();
        let trailer = Trailer { lists, infos: (infos.first, small(infos.len)), ..now.trailer };
        let head = self.new_head(&committed, &trailer)?;
        let (after, _) = old.left_by(&retired, self.position());
        let marks = after.iter().filter_map(|gap| Some((gap.first, mark_of(gap.len)?))).collect();
        self.disk.stage_switch(Switch { head, marks, end })
    }

    /// Whether the record of each directory changes: its keys do, or the record of a directory in it.
    fn changed(&self) -> Vec<bool> {
        let mut changed = vec![false; self.directories.len()];
        for (number, open) in self.directories.iter().enumerate().rev() {
            let same = self.committed(&open.path).is_some_and(|known| {
                known.keys.len() == open.keys.len()
                    && open.keys.iter().all(|key| known.keys.contains_key(&key.seek_key))
            });
            let below = changed.get(number).copied().unwrap_or(false);
            let is_changed = number == 0 || open.is_moved || !same || below;
            if let Some(slot) = changed.get_mut(number) {
                *slot = is_changed;
            }
            if let Some(slot) = changed.get_mut(open.parent).filter(|_| is_changed) {
                *slot = true;
            }
        }
        changed
    }

    /// Writes the record of a directory below the top.
    fn write_directory(&mut self, number: usize, list: Run) -> Result<()> {
        let Some(open) = self.directories.get(number) else { return Ok(()) };
        let Some(parent) = self.directories.get(open.parent) else { return Ok(()) };
        let known = self.committed(&open.path).map(|known| known.record.clone());
        let key = parent.keys.iter().find(|key| key.seek_key == open.seek && is_directory(&key.class));
        let Some(key) = key else { return Err(Error::request("a directory without a key").object(&open.path)) };
        let record = DirectoryRecord {
            created: known.as_ref().map_or(self.datime, |known| known.created),
            modified: self.datime,
            nbytes_keys: small(list.len),
            nbytes_name: key.keylen.into(),
            seek_dir: open.seek,
            seek_parent: parent.seek,
            seek_keys: list.first,
            uuid: known.map_or_else(|| self.uuid(), |known| known.uuid),
        };
        let (at, mut bytes) = (open.seek, Writer::new());
        key.write(&mut bytes);
        record.write(&mut bytes);
        self.hash_record(&bytes.bytes);
        self.write_at(at, &bytes.bytes)
    }

    /// Writes the streamer infos, unless the file has all of them. Returns their place.
    fn put_infos(&mut self) -> Result<Run> {
        let Some(update) = &self.update else { return Err(Error::request("no update")) };
        let header = &update.committed.header;
        let is_same = header.seek_info > 0 && self.infos.iter().count() == update.infos.iter().count();
        if is_same && !update.moves_infos {
            return Ok(Run { first: header.seek_info, len: header.nbytes_info.into() });
        }
        let (mut key, payload) = self.infos_record()?;
        let objlen = payload.len();
        let payload = self.packed_infos(payload)?;
        self.put(&mut key, &payload, objlen)?;
        Ok(Run::of(&key))
    }

    /// The records that only the old state has, in the order of the file. Gaps of its list that are not marked as such are not among them: the
    /// list alone might be wrong, and a mark would destroy what lies there.
    fn retired(&self, update: &Update, changed: &[bool], infos: Run) -> Vec<Run> {
        let Update { committed, kept, retired, kept_keys, gaps, .. } = update;
        let header = &committed.header;
        let unchanged: HashSet<&str> = self
            .directories
            .iter()
            .zip(changed)
            .filter(|(_, changed)| !**changed)
            .map(|(open, _)| &*open.path)
            .collect();
        let mut all: Vec<Run> = retired.clone();
        let mut stays: BTreeMap<u64, u64> = kept.iter().map(|run| (run.first, run.end())).collect();
        for (path, directory) in &committed.directories {
            let own = [directory.run, directory.list()];
            match unchanged.contains(path.as_str()) {
                true => stays.extend(own.iter().map(|run| (run.first, run.end()))),
                false => all.extend(own),
            }
            let gone =
                directory.keys.values().filter(|key| !is_directory(&key.class) && !kept_keys.contains(&key.seek_key));
            all.extend(gone.map(Run::of));
        }
        if infos.first != header.seek_info {
            all.push(Run { first: header.seek_info, len: header.nbytes_info.into() });
        }
        all.push(Run { first: header.seek_free, len: header.nbytes_free.into() });
        stays.extend(gaps.iter().map(|run| (run.first, run.end())));
        // What the gaps had is new.
        stays.extend(committed.gaps.iter().map(|run| (run.first, run.end())));
        all.retain(|run| run.len > 0 && run.first >= BEGIN && run.end() <= header.end);
        all.sort_unstable();
        let mut end = BEGIN + self.top_names.len() as u64 + committed.room as u64;
        all.retain(|run| {
            let clash = stays.range(..run.end()).next_back().is_some_and(|(_, end)| *end > run.first);
            let is_new = run.first >= end && !clash;
            if is_new {
                end = run.end();
            }
            is_new
        });
        all
    }

    /// The first bytes of the file in its new state.
    fn new_head(&self, committed: &Committed, trailer: &Trailer) -> Result<Vec<u8>> {
        let uuid = self.uuid();
        let Trailer { infos, free, end, .. } = *trailer;
        let (seek_keys, nbytes_keys) = trailer.lists.first().copied().unwrap_or_default();
        let header = FileHeader {
            version: self.version,
            big: end > START_BIG_FILE,
            end,
            seek_free: free.0,
            nbytes_free: free.1,
            n_free: free.2,
            compress: self.compression,
            seek_info: infos.0,
            nbytes_info: infos.1,
            uuid,
            ..committed.header.clone()
        };
        let top = committed.directories.get("").map(|top| top.record.clone());
        let top = top.ok_or_else(|| Error::request("a file without a top directory"))?;
        let record = DirectoryRecord { modified: self.datime, seek_keys, nbytes_keys, uuid, ..top };
        let fields = record.within(committed.room).ok_or_else(|| {
            Error::unsupported(
                "the record of the top directory has no room for positions beyond 2 GB; merge into a new file",
            )
        })?;
        Ok(head_of(&header, &self.top_names, &fields))
    }
}

/// The size of a record, as the format has it.
fn small(len: u64) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
