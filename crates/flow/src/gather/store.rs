//! A file without a name beside the output, where parts wait: those that cannot move into the output before all are known, and those of
//! later tasks while the memory is needed. It is gone with the process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::{Error, Result, Source};

use super::part::PartOfFile;

/// Bytes that are written at once.
const PIECE: usize = 1 << 20;

/// The parts that wait in a file.
pub(super) struct PartStore {
    folder: PathBuf,
    file: Option<Arc<File>>,
    end: u64,
}

/// A part in the file.
#[derive(Clone, Debug)]
pub(super) struct StoredPart {
    pub name: PathBuf,
    start: u64,
    len: u64,
}

impl PartStore {
    /// In the folder of an output.
    pub fn beside(output: &Path) -> Self {
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self { folder: folder.unwrap_or(Path::new(".")).to_path_buf(), file: None, end: 0 }
    }

    fn failed(&self, what: &str, why: std::io::Error) -> Error {
        let why = Error::from(why)
            .object(format!("{what} a temporary file where parts wait; make room, or give more memory"));
        why.file(&self.folder)
    }

    /// Writes a part to the file.
    pub fn put(&mut self, name: PathBuf, bytes: &[u8]) -> Result<StoredPart> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(tempfile::tempfile_in(&self.folder).map_err(|e| self.failed("making", e))?),
        };
        file.write_all_at(bytes, self.end).map_err(|e| self.failed("writing", e))?;
        self.file = Some(file);
        let stored = StoredPart { name, start: self.end, len: bytes.len() as u64 };
        self.end += stored.len;
        Ok(stored)
    }

    /// Writes a part to the file, piece by piece.
    pub fn put_source(&mut self, part: &dyn Source) -> Result<StoredPart> {
        let mut stored = self.put(part.name().to_path_buf(), &[])?;
        let mut piece = vec![0; PIECE];
        while stored.len < part.size() {
            let left = usize::try_from(part.size() - stored.len).unwrap_or(usize::MAX);
            piece.truncate(left);
            part.read_exact_at(stored.len, &mut piece)?;
            stored.len += self.put(PathBuf::new(), &piece)?.len;
        }
        Ok(stored)
    }

    /// A part, to be read from the file.
    pub fn open(&self, part: &StoredPart) -> Result<PartOfFile> {
        let file = self.file.as_ref().ok_or_else(|| Error::request("no part waits"))?;
        Ok(PartOfFile::new(part.name.clone(), Arc::clone(file), &(part.start..part.start + part.len)))
    }

    /// Reads a part back into memory. Its room in the file stays taken until all parts are forgotten.
    pub fn take(&self, part: &StoredPart) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(part.len).unwrap_or(0)];
        let file = self.file.as_ref().ok_or_else(|| Error::request("no part waits"))?;
        file.read_exact_at(&mut bytes, part.start).map_err(|e| self.failed("reading", e))?;
        Ok(bytes)
    }

    /// Forgets all parts.
    pub fn clear(&mut self) {
        (self.file, self.end) = (None, 0);
    }
}
