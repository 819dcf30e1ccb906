//! The bytes of a part: in memory, or in the file where parts wait.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::{Error, Result, Source};

/// A part in memory.
pub(super) struct PartInMemory {
    name: PathBuf,
    bytes: Vec<u8>,
}

impl PartInMemory {
    /// `name` is that in messages.
    pub fn new(name: PathBuf, bytes: Vec<u8>) -> Self {
        Self { name, bytes }
    }
}

impl Source for PartInMemory {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let there = start.checked_add(buf.len()).and_then(|end| self.bytes.get(start..end));
        let there = there.ok_or_else(|| Error::corrupt("the range lies beyond the end").at(offset).file(&self.name))?;
        buf.copy_from_slice(there);
        Ok(())
    }

    fn name(&self) -> &Path {
        &self.name
    }
}

/// A part that is some bytes of a file.
pub(super) struct PartOfFile {
    name: PathBuf,
    file: Arc<File>,
    start: u64,
    len: u64,
}

impl PartOfFile {
    /// `len` bytes of a file from `start` on. `name` is that in messages.
    pub fn new(name: PathBuf, file: Arc<File>, (start, len): (u64, u64)) -> Self {
        Self { name, file, start, len }
    }
}

impl Source for PartOfFile {
    fn size(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.check_range(offset, buf.len())?;
        let read = self.file.read_exact_at(buf, self.start + offset);
        read.map_err(|e| Error::from(e).at(offset).file(&self.name))
    }

    fn name(&self) -> &Path {
        &self.name
    }
}
