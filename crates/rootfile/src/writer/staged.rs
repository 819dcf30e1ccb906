//! An output that is complete and on disk under its temporary name. It can be read and checked before it replaces a
//! file.

use std::fs::File;
use std::path::Path;

use super::syncs::timed;
use crate::Result;
use crate::temporary::Temporary;

/// A finished file under its temporary name. [`StagedFile::deliver`] renames it; dropping removes it.
#[derive(Debug)]
pub struct StagedFile {
    /// None where what was written is forgotten.
    file: Option<(File, Temporary)>,
    len: u64,
}

impl StagedFile {
    pub(super) fn new(file: Option<(File, Temporary)>, len: u64) -> Self {
        Self { file, len }
    }

    /// The temporary path; empty for a discarded file.
    pub fn path(&self) -> &Path {
        self.file.as_ref().map_or(Path::new(""), |(_, temporary)| temporary.path())
    }

    /// Its size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Renames the file to its final name and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// If a file of that name exists by now and may not be replaced, if the system refuses the rename, or if the
    /// process is ending ([`abandon_outputs`](crate::abandon_outputs)). The temporary file is then removed.
    pub fn deliver(self) -> Result<u64> {
        let Some((_, temporary)) = self.file else { return Ok(self.len) };
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
