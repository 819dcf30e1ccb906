//! The file of an output under its temporary name, written at given offsets; or a [`Sink`], which keeps the bytes where the caller wants
//! them.
//!
//! Reports the missing space when the disk is full. The caller decides on the order of writes and syncs. Tests record
//! every write and sync, so that a crash between any two of them can be simulated.

use std::fs::File;
use std::io::{ErrorKind as IoKind, IoSlice};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::in_place::{InPlace, Switch};
use super::place::{Place, Sink};
use super::staged::StagedFile;
use super::syncs::timed;
use crate::temporary::{Readers, Temporary};
use crate::{Error, Result};

/// Most parts of one system call (`IOV_MAX` of Linux).
const MOST_PARTS: usize = 1024;

/// The file of an output.
pub(super) struct Disk {
    place: Place,
    path: PathBuf,
    /// Bytes that were written.
    written: AtomicU64,
    #[cfg(test)]
    pub journal: std::sync::Arc<std::sync::Mutex<Vec<Step>>>,
}

/// What was done to the file, in order.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(u64, Vec<u8>),
    Sync,
    /// The file ends there.
    End(u64),
}

impl Disk {
    /// Creates the file of the output `path`. Fails if `path` exists, unless `overwrite`.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        Self::create_for(path, overwrite, Readers::AsUsual)
    }

    /// As [`create`](Self::create), for these readers.
    pub fn create_for(path: &Path, overwrite: bool, readers: Readers) -> Result<Self> {
        let (temporary, file) = Temporary::create(path, overwrite, readers).map_err(|e| e.file(path))?;
        Ok(Self { place: Place::File(file, temporary), ..Self::nowhere(path) })
    }

    /// Gives all bytes to a place of the caller's.
    pub fn into_sink(path: &Path, sink: Arc<dyn Sink>) -> Self {
        Self { place: Place::Sink(sink), ..Self::nowhere(path) }
    }

    /// Where the bytes are until the file is complete; `None` if they are in no file of ours.
    pub fn hidden_path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(_, temporary) => Some(temporary.path()),
            Place::InPlace(_) | Place::Sink(_) | Place::Nowhere => None,
        }
    }

    /// Updates a file of this size where it lies.
    pub fn in_place(path: &Path, head: Vec<u8>, size: u64) -> Result<Self> {
        let open = || -> std::io::Result<File> {
            let file = File::options().read(true).write(true).open(path)?;
            match file.metadata()?.len() == size {
                true => Ok(file),
                false => Err(std::io::Error::other("its size has changed since it was read")),
            }
        };
        let opened = open().and_then(|file| InPlace::new(file, head, size)).map_err(|e| Error::from(e).file(path))?;
        Ok(Self { place: Place::InPlace(opened), ..Self::nowhere(path) })
    }

    /// Discards all bytes.
    pub fn nowhere(path: &Path) -> Self {
        Self {
            place: Place::Nowhere,
            path: path.to_path_buf(),
            written: AtomicU64::new(0),
            #[cfg(test)]
            journal: std::sync::Arc::default(),
        }
    }

    /// Writes bytes at an offset.
    pub fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        #[cfg(test)]
        self.journal.lock().unwrap().push(Step::Write(at, bytes.to_vec()));
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        match &self.place {
            Place::File(file, _) | Place::InPlace(InPlace { file, .. }) => {
                file.write_all_at(bytes, at).map_err(|e| self.explain(e, at + bytes.len() as u64))
            }
            Place::Sink(sink) => sink.write_at(at, bytes).map_err(|e| e.file(&self.path)),
            Place::Nowhere => Ok(()),
        }
    }

    /// Writes parts, one behind the other, from an offset on.
    pub fn write_parts_at(&self, at: u64, parts: &[&[u8]]) -> Result<()> {
        #[cfg(test)]
        self.journal.lock().unwrap().push(Step::Write(at, parts.concat()));
        let mut at = at;
        self.written.fetch_add(parts.iter().map(|part| part.len() as u64).sum(), Ordering::Relaxed);
        let file = match &self.place {
            Place::File(file, _) | Place::InPlace(InPlace { file, .. }) => file,
            Place::Nowhere => return Ok(()),
            Place::Sink(sink) => {
                for part in parts {
                    sink.write_at(at, part).map_err(|e| e.file(&self.path))?;
                    at += part.len() as u64;
                }
                return Ok(());
            }
        };
        for parts in parts.chunks(MOST_PARTS) {
            let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
            let mut slices = slices.as_mut_slice();
            // A call may write less than all.
            IoSlice::advance_slices(&mut slices, 0);
            while !slices.is_empty() {
                let written = match rustix::io::pwritev(file, slices, at) {
                    Ok(0) => return Err(self.explain(IoKind::WriteZero.into(), at)),
                    Ok(written) => written,
                    Err(rustix::io::Errno::INTR) => 0,
                    Err(e) => {
                        let end = at + slices.iter().map(|part| part.len() as u64).sum::<u64>();
                        return Err(self.explain(e.into(), end));
                    }
                };
                IoSlice::advance_slices(&mut slices, written);
                at += written as u64;
            }
        }
        Ok(())
    }

    /// Returns when all bytes written so far would survive a power cut.
    pub fn sync(&self) -> Result<()> {
        #[cfg(test)]
        self.journal.lock().unwrap().push(Step::Sync);
        match &self.place {
            Place::File(file, _) | Place::InPlace(InPlace { file, .. }) => {
                timed(|| file.sync_data()).map_err(|e| self.explain(e, 0))
            }
            Place::Sink(sink) => sink.sync().map_err(|e| e.file(&self.path)),
            Place::Nowhere => Ok(()),
        }
    }

    /// Syncs the file, which keeps its temporary name.
    pub fn stage(self, end: u64) -> Result<StagedFile> {
        if let Place::File(file, _) = &self.place {
            timed(|| file.sync_all()).map_err(|e| self.explain(e, end))?;
        }
        Ok(StagedFile::new(self.place, end, self.written.into_inner()))
    }

    /// Takes note of what makes an update, all of whose records are on disk, the state of its file.
    pub fn stage_switch(mut self, switch: Switch) -> Result<StagedFile> {
        let end = switch.end;
        if let Place::InPlace(file) = &mut self.place {
            file.prepare(switch);
        }
        Ok(StagedFile::new(self.place, end, self.written.into_inner()))
    }

    /// Adds to the error of a full disk how much space is missing.
    fn explain(&self, e: std::io::Error, reached: u64) -> Error {
        if e.kind() != IoKind::StorageFull && e.kind() != IoKind::QuotaExceeded && e.kind() != IoKind::FileTooLarge {
            return Error::from(e).file(&self.path);
        }
        // A part of the last write may have succeeded.
        let written = match &self.place {
            Place::File(file, _) | Place::InPlace(InPlace { file, .. }) => file.metadata().map_or(0, |m| m.len()),
            Place::Sink(_) | Place::Nowhere => 0,
        };
        // How large it would have become in the end is not known.
        let missing = match reached.saturating_sub(written) {
            0 => String::new(),
            more => format!(", at least {more} more are missing"),
        };
        Error::request(format!("no space left: {written} bytes were written{missing}; nothing was left behind"))
            .file(&self.path)
    }
}
