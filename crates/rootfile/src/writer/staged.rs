//! An output that is whole and on disk, and does not have its name yet: it can be read and proven before it replaces
//! anything.

use std::fs::File;
use std::path::Path;

use crate::temporary::Temporary;
use crate::{Error, Result};

/// A finished file under its temporary name. [`StagedFile::deliver`] gives it its name; dropped, it is removed.
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

    /// Where the file is until it has its name; empty for a file whose bytes went nowhere.
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

    /// Gives the file its name, and returns its size.
    ///
    /// # Errors
    ///
    /// A file of that name exists by now and was not to be replaced, the system refuses the rename, or the process is
    /// ending ([`abandon_outputs`](crate::abandon_outputs)). The file is removed then.
    pub fn deliver(self) -> Result<u64> {
        let Some((_, temporary)) = self.file else { return Ok(self.len) };
        let target = temporary.target().to_path_buf();
        temporary.rename().map_err(|e| Error::from(e).file(&target))?;
        // The new name is on disk when the folder is; a folder that cannot be opened for that is no error.
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(self.len)
    }
}
