//! The bytes of a part: in memory, with the room that they take, or in the file where parts wait.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::{Error, Result, Source};

use super::buffer::PartBuffer;
use super::pool::GatherPool;

/// Room for a part in the memory of a pool. It goes back with the part.
pub(super) struct PartRoom {
    pool: Arc<GatherPool>,
    bytes: u64,
}

impl PartRoom {
    /// So many bytes that were taken of a pool.
    pub fn taken(pool: &Arc<GatherPool>, bytes: u64) -> Self {
        Self { pool: Arc::clone(pool), bytes }
    }
}

impl Drop for PartRoom {
    fn drop(&mut self) {
        self.pool.give_back(self.bytes);
    }
}

/// The bytes of a part in memory.
pub(super) enum PartBytes {
    Whole { bytes: Vec<u8>, _room: PartRoom },
    Chunks(PartBuffer),
}

impl PartBytes {
    pub fn len(&self) -> u64 {
        match self {
            Self::Whole { bytes, .. } => bytes.len() as u64,
            Self::Chunks(buffer) => buffer.len() as u64,
        }
    }
}

/// A part in memory.
pub(super) struct PartInMemory {
    name: PathBuf,
    bytes: PartBytes,
}

impl PartInMemory {
    /// `name` is that in messages.
    pub fn new(name: PathBuf, bytes: PartBytes) -> Self {
        Self { name, bytes }
    }
}

impl Source for PartInMemory {
    fn size(&self) -> u64 {
        self.bytes.len()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let read = match &self.bytes {
            PartBytes::Whole { bytes, .. } => {
                let there = start.checked_add(buf.len()).and_then(|end| bytes.get(start..end));
                there.map_or(0, |there| {
                    buf.copy_from_slice(there);
                    there.len()
                })
            }
            PartBytes::Chunks(buffer) => buffer.read_at(start, buf),
        };
        match read == buf.len() {
            true => Ok(()),
            false => Err(Error::corrupt("the range lies beyond the end").at(offset).file(&self.name)),
        }
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
    /// Some bytes of a file. `name` is that in messages.
    pub fn new(name: PathBuf, file: Arc<File>, bytes: &Range<u64>) -> Self {
        Self { name, file, start: bytes.start, len: bytes.end - bytes.start }
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
