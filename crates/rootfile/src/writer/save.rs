//! AutoSave: makes the unfinished file readable up to here.
//!
//! New records are appended or fill gaps, while the records of the last AutoSave stay. When the new records are on
//! disk, header and directories are switched to them; when the switch is on disk, the old records become gaps. After a
//! kill or a power cut at any moment, one of the two states can be read.

use twox_hash::XxHash64;

use super::directories::DirId;
use super::file_writer::FileWriter;
use super::gaps::{Gaps, Run, mark_of};
use super::saved::{Saved, SavedList};
use super::trailer::segments;
use crate::Result;
use crate::codec::{Compression, KEY_STORED_UP_TO};
use crate::key::Key;

/// An object that is appended gets a gap behind it, of its size over this. Trees grow from save to save: without room no record would fit
/// into the gap of an earlier one, and the gaps would grow with the square of the number of saves.
const ROOM: u64 = 2;

/// The state of an object at an AutoSave. It is in the file until the next AutoSave, or until the file is finished.
pub struct SavedObject<'a> {
    /// Directory that its key is listed in.
    pub directory: DirId,
    /// Class of the object.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
    /// How the payload is compressed, if that makes it smaller.
    pub compression: Compression,
    /// Makes the payload, from the length of the key from which tags count.
    pub make: &'a dyn Fn(usize) -> Result<Vec<u8>>,
}

impl FileWriter {
    /// Makes the file readable up to here, under its temporary name: a process that is killed, or a machine that loses power,
    /// leaves at least this state. `objects` are all objects that are to be readable; pass all of them each time.
    ///
    /// The objects are not part of the finished file. [`FileWriter::write_object`] writes the final ones, which get the same
    /// cycle. Returns when everything is on disk, which takes as long as the disk needs for all records since the last AutoSave.
    ///
    /// # Errors
    ///
    /// If an object cannot be made, or if writing fails.
    pub fn auto_save(&mut self, objects: &[SavedObject<'_>]) -> Result<()> {
        let mut old = self.saved.take().unwrap_or_default();
        let mut now = Saved::default();
        let mut keys: Vec<Vec<Key>> = vec![Vec::new(); self.directories.len()];
        for object in objects {
            let Some(listed) = keys.get_mut(object.directory.0) else { continue };
            let key = self.save_object(object, listed, &mut old.gaps)?;
            now.objects.push(Run { first: key.seek_key, len: u64::from(key.nbytes) });
            listed.push(key);
        }
        let mut kept = Vec::with_capacity(keys.len());
        for (i, saved) in keys.iter().enumerate() {
            let key_count = self.directories.get(i).map_or(0, |d| d.keys.len());
            let list = SavedList { keys: key_count, objects: saved.len() };
            let same = saved.is_empty() && old.lists.get(i) == Some(&list);
            let place = match old.trailer.lists.get(i) {
                Some(place) if same => *place,
                _ => {
                    let (mut key, payload) = self.key_list(i, saved)?;
                    self.put_in_gap(&mut key, &payload, payload.len(), &mut old.gaps)?;
                    (key.seek_key, key.nbytes)
                }
            };
            now.trailer.lists.push(place);
            now.lists.push(list);
            kept.push(same);
        }
        let keep_infos = self.save_infos(&mut old, &mut now)?;
        let retired = old.retired_but(&kept, keep_infos);
        self.save_free(&mut old, &mut now, &retired)?;
        self.flush()?;
        self.disk.sync()?;
        self.switch_to(&now.trailer, |i| !kept.get(i).is_some_and(|kept| *kept))?;
        self.disk.sync()?;
        now.gaps = old.gaps_after(Some(&retired));
        self.mark_gaps(&now.gaps, &retired)?;
        self.saved = Some(now);
        Ok(())
    }

    fn save_object(&mut self, object: &SavedObject<'_>, before: &[Key], gaps: &mut Gaps) -> Result<Key> {
        let mut key = self.checked_key(object.class, object.name, object.title, self.seek_of(object.directory))?;
        let payload = (object.make)(usize::from(key.keylen))?;
        let same = before.iter().filter(|key| key.name == object.name).count();
        let cycle = self.next_cycle(object.directory, object.name);
        key.cycle = cycle.saturating_add(i16::try_from(same).unwrap_or(i16::MAX));
        let mut packed = Vec::new();
        let compressed =
            payload.len() > KEY_STORED_UP_TO && self.compressor.compress(object.compression, &payload, &mut packed)?;
        let stored = if compressed { &packed } else { &payload };
        let end = self.position();
        self.put_in_gap(&mut key, stored, payload.len(), gaps)?;
        if key.seek_key == end {
            self.leave_room(u64::from(key.nbytes) / ROOM, gaps)?;
        }
        Ok(key)
    }

    /// Appends a gap.
    fn leave_room(&mut self, len: u64, gaps: &mut Gaps) -> Result<()> {
        let (first, mark) = (self.position(), mark_of(len));
        let size = usize::try_from(len).unwrap_or(0);
        if let Some(mark) = mark.filter(|mark| size >= mark.len()) {
            let mut bytes = vec![0; size];
            bytes[..mark.len()].copy_from_slice(&mark);
            self.push(&bytes)?;
            gaps.add(Run { first, len });
        }
        Ok(())
    }

    /// Writes the streamer infos, unless those on disk are the same. Returns whether they are.
    fn save_infos(&mut self, old: &mut Saved, now: &mut Saved) -> Result<bool> {
        let (mut key, payload) = self.infos_record()?;
        // Tags in the record count from the key.
        now.infos = XxHash64::oneshot(u64::from(key.keylen), &payload);
        if old.trailer.infos.0 > 0 && old.infos == now.infos {
            now.trailer.infos = old.trailer.infos;
            return Ok(true);
        }
        let objlen = payload.len();
        let payload = self.packed_infos(payload)?;
        self.put_in_gap(&mut key, &payload, objlen, &mut old.gaps)?;
        now.trailer.infos = (key.seek_key, key.nbytes);
        Ok(false)
    }

    /// Writes the free list: the remaining gaps, and the records that are unused after this AutoSave.
    pub(super) fn save_free(&mut self, old: &mut Saved, now: &mut Saved, retired: &[Run]) -> Result<()> {
        let (listed, end) = old.left_by(retired, self.position());
        let (mut key, mut payload) = self.free_list(&listed, Some(end))?;
        // A record that fills a gap changes the list, and with it the size of the record: two adjacent segments may
        // come apart.
        for _ in 0..2 {
            let mut gaps = old.gaps.clone();
            let Some((run, rest)) = gaps.take(u64::from(key.keylen) + payload.len() as u64, true) else { break };
            let left = std::mem::replace(&mut old.gaps, gaps);
            let (listed, end) = old.left_by(retired, self.position());
            let (_, fits) = self.free_list(&listed, Some(end))?;
            if fits.len() == payload.len() {
                self.put_in_run(&mut key, &fits, fits.len(), run, rest)?;
                now.trailer.free = (key.seek_key, key.nbytes, segments(&listed));
                now.trailer.end = end;
                return Ok(());
            }
            payload = fits;
            old.gaps = left;
        }
        let gaps = old.gaps_after(Some(retired));
        let (mut key, payload) = self.free_list(&gaps, None)?;
        self.put_behind(&mut key, &payload, payload.len())?;
        now.trailer.free = (key.seek_key, key.nbytes, segments(&gaps));
        now.trailer.end = self.position();
        Ok(())
    }

    /// Writes a record into a gap with room for it, or appends it.
    pub(super) fn put_in_gap(&mut self, key: &mut Key, payload: &[u8], objlen: usize, gaps: &mut Gaps) -> Result<()> {
        match gaps.take(u64::from(key.keylen) + payload.len() as u64, false) {
            Some((run, rest)) => self.put_in_run(key, payload, objlen, run, rest),
            None => self.put_behind(key, payload, objlen).map(drop),
        }
    }

    /// Writes a record at the start of a gap, and marks the rest as a gap (as `TKey::WriteFile` does).
    fn put_in_run(&mut self, key: &mut Key, payload: &[u8], objlen: usize, run: Run, rest: Option<Run>) -> Result<()> {
        key.seek_key = run.first;
        let mut record = self.key_header(key, payload, objlen)?;
        record.extend_from_slice(payload);
        record.extend(rest.and_then(|rest| mark_of(rest.len)).into_iter().flatten());
        self.write_at(run.first, &record)
    }

    /// Marks the gaps that contain these records.
    pub(super) fn mark_gaps(&mut self, gaps: &Gaps, retired: &[Run]) -> Result<()> {
        for gap in gaps.iter() {
            let inside = |run: &Run| gap.first <= run.first && run.first < gap.first + gap.len;
            if retired.iter().any(inside)
                && let Some(mark) = mark_of(gap.len)
            {
                self.write_at(gap.first, &mark)?;
            }
        }
        Ok(())
    }
}
