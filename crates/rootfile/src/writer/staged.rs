//! An output that is complete and on disk under its temporary name. It can be read and checked before it replaces a
//! file.

use std::fs::File;
use std::path::Path;

use super::place::Place;
use super::syncs::timed;
use crate::Result;

/// A finished file under its temporary name. [`StagedFile::deliver`] renames it; dropping removes it.
pub struct StagedFile {
    place: Place,
    len: u64,
    written: u64,
}

impl StagedFile {
    pub(super) fn new(place: Place, len: u64, written: u64) -> Self {
        Self { place, len, written }
    }

    /// The temporary path; empty where there is no file.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::File(_, temporary) => temporary.path(),
            Place::InPlace(_) | Place::Sink(_) | Place::Nowhere => Path::new(""),
        }
    }

    /// Its size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// What is left to do for a file that is updated in place.
    #[cfg(test)]
    pub(super) fn left(&self) -> Option<&super::in_place::Switch> {
        if let Place::InPlace(file) = &self.place { file.left() } else { None }
    }

    /// Bytes that were written for it: fewer than it has where a file is updated in place.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Renames the file to its final name, or switches the readers of a file that is updated in place to its new state, and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// If a file of that name exists by now and may not be replaced, if the system refuses the rename, or if the
    /// process is ending ([`abandon_outputs`](crate::abandon_outputs)). The temporary file is then removed.
    pub fn deliver(self) -> Result<u64> {
        let temporary = match self.place {
            Place::File(_, temporary) => temporary,
            Place::InPlace(file) => return file.switch().map(|()| self.len),
            Place::Sink(sink) => return sink.finish(self.len).map(|()| self.len),
            Place::Nowhere => return Ok(self.len),
        };
        let target = temporary.target().to_path_buf();
        temporary.rename().map_err(|e| e.file(&target))?;
        // Sync the folder so that the new name is on disk. A folder that cannot be opened is not an error.
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            let _ = timed(|| folder.sync_all());
        }
        Ok(self.len)
    }
}
