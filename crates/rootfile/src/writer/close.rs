//! Completes a file: writes key lists, streamer infos and free list, and then, in place, the fields of the directories
//! and the header. At the end, and at each AutoSave.
//!
//! Readers find everything from the header and the directories' fields, so writing these switches readers from the old
//! state to the new one. Header and top directory are adjacent and are written at once.

use std::sync::Arc;

use super::file_writer::FileWriter;
use super::gaps::Gaps;
use super::staged::StagedFile;
use super::trailer::{Trailer, segments};
use crate::Result;
use crate::bytes::Writer;
use crate::codec::{Algorithm, Compression};
use crate::directory::DirectoryRecord;
use crate::header::{BEGIN, FileHeader, START_BIG_FILE};
use crate::key::{DIRECTORY_CLASS, Key};
use crate::streamer::write_record;

impl FileWriter {
    /// Writes key lists, streamer infos, free list and header, syncs the file, and renames it to its name. Returns its size in
    /// bytes.
    ///
    /// # Errors
    ///
    /// If writing or renaming fails. The temporary file is then removed.
    pub fn finish(self) -> Result<u64> {
        self.stage()?.deliver()
    }

    /// Completes the file as [`FileWriter::finish`] does, but keeps the temporary name: the file can be read and checked before
    /// [`StagedFile::deliver`](super::StagedFile::deliver) renames it.
    ///
    /// # Errors
    ///
    /// If writing fails. The temporary file is then removed.
    pub fn stage(mut self) -> Result<StagedFile> {
        if let Some(update) = self.update.take() {
            return self.stage_update(*update);
        }
        let saved = self.saved.take();
        let mut trailer = Trailer::default();
        for i in 0..self.directories.len() {
            let (mut key, payload) = self.key_list(i, &[])?;
            self.put(&mut key, &payload, payload.len())?;
            trailer.lists.push((key.seek_key, key.nbytes));
        }
        let (mut key, payload) = self.infos_record()?;
        let objlen = payload.len();
        let payload = self.packed_infos(payload)?;
        self.put(&mut key, &payload, objlen)?;
        trailer.infos = (key.seek_key, key.nbytes);
        let gaps = saved.as_ref().map(|saved| saved.gaps_after(None)).unwrap_or_default();
        let (mut key, payload) = self.free_list(&gaps, None)?;
        self.put(&mut key, &payload, payload.len())?;
        trailer.free = (key.seek_key, key.nbytes, segments(&gaps));
        trailer.end = self.position();
        self.flush()?;
        // The saved state stays readable until the new records are on disk. Its records become gaps only after the
        // switch is on disk.
        if saved.is_some() {
            self.disk.sync()?;
        }
        self.switch_to(&trailer, |_| true)?;
        if let Some(saved) = saved {
            self.disk.sync()?;
            self.mark_gaps(&gaps, &saved.retired())?;
        }
        self.disk.stage(trailer.end)
    }

    /// The record of a directory's list of keys, with those of `saved` in it.
    pub(super) fn key_list(&self, directory: usize, saved: &[Key]) -> Result<(Key, Vec<u8>)> {
        let class = if directory == 0 { "TFile" } else { DIRECTORY_CLASS };
        let mut payload = Writer::new();
        let Some(directory) = self.directories.get(directory) else {
            return Ok((self.checked_key(class, "", "", BEGIN)?, payload.bytes));
        };
        let keys = directory.listed(saved);
        payload.i32(i32::try_from(keys.len()).unwrap_or(i32::MAX));
        for key in keys {
            key.write(&mut payload);
        }
        Ok((self.checked_key(class, &directory.name, &directory.title, directory.seek)?, payload.bytes))
    }

    /// The record of the streamer infos, not compressed yet.
    pub(super) fn infos_record(&self) -> Result<(Key, Vec<u8>)> {
        let key = self.checked_key("TList", "StreamerInfo", "Doubly linked list", BEGIN)?;
        let infos: Vec<_> = self.infos.iter().map(Arc::clone).collect();
        let payload = write_record(&infos, usize::from(key.keylen));
        Ok((key, payload))
    }

    /// The stored form of the streamer infos: compressed even if the file's setting is none; `TFile::WriteStreamerInfo`
    /// uses level 1 then.
    pub(super) fn packed_infos(&mut self, payload: Vec<u8>) -> Result<Vec<u8>> {
        let mut packed = Vec::new();
        let own = Compression::from_root_setting(self.compression).filter(|setting| !setting.is_none());
        let setting = own.unwrap_or(Compression::new(Algorithm::Zlib, 1));
        let compressed = self.compressor.compress(setting, &payload, &mut packed)?;
        Ok(if compressed { packed } else { payload })
    }

    /// The record of the free list (`TFree`): the gaps, and one segment from the file's end on. Without `end`, this
    /// record is the last of the file.
    pub(super) fn free_list(&self, gaps: &Gaps, end: Option<u64>) -> Result<(Key, Vec<u8>)> {
        let name = self.directories.first().map(|d| (d.name.clone(), d.title.clone())).unwrap_or_default();
        let key = self.checked_key("TFile", &name.0, &name.1, BEGIN)?;
        let mut payload = Writer::new();
        for gap in gaps.iter() {
            segment(&mut payload, gap.first, gap.first + gap.len - 1, false);
        }
        let big = self.position() + 1024 + 18 * gaps.len() as u64 > START_BIG_FILE;
        let len = payload.pos() as u64 + if big { 18 } else { 10 };
        let end = end.unwrap_or(self.position() + u64::from(key.keylen) + len);
        let last = if big { end.max(START_BIG_FILE) + 1_000_000_000 } else { START_BIG_FILE };
        segment(&mut payload, end, last, big);
        Ok((key, payload.bytes))
    }

    /// Writes the fields of the directories that `changed`, and the header.
    pub(super) fn switch_to(&mut self, trailer: &Trailer, changed: impl Fn(usize) -> bool) -> Result<()> {
        let uuid = self.uuid();
        let header = FileHeader {
            version: self.version,
            big: trailer.end > START_BIG_FILE,
            begin: BEGIN,
            end: trailer.end,
            seek_free: trailer.free.0,
            nbytes_free: trailer.free.1,
            n_free: trailer.free.2,
            nbytes_name: 0,
            compress: self.compression,
            seek_info: trailer.infos.0,
            nbytes_info: trailer.infos.1,
            uuid,
        };
        let mut head = header.to_bytes();
        let mut below = Vec::new();
        for (i, directory) in self.directories.iter().enumerate() {
            let (seek_keys, nbytes_keys) = trailer.lists.get(i).copied().unwrap_or_default();
            let nbytes_name = u32::try_from(directory.fields - directory.seek).unwrap_or(u32::MAX);
            let record = DirectoryRecord {
                created: self.datime,
                modified: self.datime,
                nbytes_keys,
                nbytes_name,
                seek_dir: directory.seek,
                seek_parent: directory.seek_parent,
                seek_keys,
                uuid,
            };
            let mut fields = Writer::new();
            record.write(&mut fields);
            if i == 0 {
                head = head_of(&FileHeader { nbytes_name, ..header.clone() }, &self.top_names, &fields.bytes);
            } else if changed(i) {
                below.push((directory.fields, fields.bytes));
            }
        }
        for (at, fields) in below {
            self.write_at(at, &fields)?;
        }
        self.write_at(0, &head)
    }
}

/// The first bytes of a file: header, names and fields of the top directory.
pub(super) fn head_of(header: &FileHeader, names: &[u8], fields: &[u8]) -> Vec<u8> {
    let mut head = header.to_bytes();
    head.extend_from_slice(names);
    head.extend_from_slice(fields);
    head
}

fn segment(w: &mut Writer, first: u64, last: u64, big: bool) {
    if big || last > START_BIG_FILE {
        w.i16(1001);
        w.u64(first);
        w.u64(last);
    } else {
        w.i16(1);
        w.u32(u32::try_from(first).unwrap_or(u32::MAX));
        w.u32(u32::try_from(last).unwrap_or(u32::MAX));
    }
}
