//! Sources of bytes. Parsers ask for ranges, and a [`Source`] fetches them: from local files and memory here, from other
//! machines in crates above.

use std::fs::{File, Metadata};
use std::ops::{AddAssign, Range};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, Result};

/// What a remote source has asked for so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests, repeated ones included. One request may be for several ranges.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Time from sending requests to the first byte of their replies, added up.
    pub latency: Duration,
    /// Time from the first to the last byte of replies, added up.
    pub transfer: Duration,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.latency += other.latency;
        self.transfer += other.transfer;
    }
}

/// Random access to the bytes of one file, from any thread.
pub trait Source: Send + Sync {
    /// Size in bytes.
    fn size(&self) -> u64;
    /// Fills `buf` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// If the file ends too early, or if reading fails.
    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()>;
    /// The name of the source in error messages.
    fn name(&self) -> &Path;

    /// Announces ranges that will be read soon. A source may fetch them ahead.
    fn will_need(&self, _ranges: &[Range<u64>]) {}

    /// Whether the file is on another machine, so that each request takes a round trip: few large requests are better
    /// than many small ones.
    fn is_remote(&self) -> bool {
        false
    }

    /// What the user is told when the file is read, if an address in another file led to it. This may open it.
    fn remark(&self) -> Option<String> {
        None
    }

    /// What has been asked for so far, if the file is remote.
    fn traffic(&self) -> Option<Traffic> {
        None
    }

    /// Whether the file is known to be as it was when it was opened: what was learned of it then holds. Of a file on another machine only
    /// reading tells.
    fn is_unchanged(&self) -> bool {
        !self.is_remote()
    }

    /// Gives back what the system has open for it. The next read opens it again.
    fn release(&self) {}

    /// Reads several ranges, in this order. A remote source asks for all of them at once.
    ///
    /// # Errors
    ///
    /// As for [`Source::read`], if any of them cannot be read.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        ranges.iter().map(|range| self.read(range.start, range_len(range))).collect()
    }

    /// Reads `len` bytes at `offset`. Checks that they lie in the file before allocating memory.
    ///
    /// # Errors
    ///
    /// If the bytes lie outside of the file, or if reading fails.
    fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        self.check_range(offset, len)?;
        let mut buf = vec![0; len];
        self.read_exact_at(offset, &mut buf)?;
        Ok(buf)
    }

    /// Checks that `len` bytes at `offset` lie in the file.
    ///
    /// # Errors
    ///
    /// They do not.
    fn check_range(&self, offset: u64, len: usize) -> Result<()> {
        match offset.checked_add(len as u64).filter(|end| *end <= self.size()) {
            Some(_) => Ok(()),
            None => Err(Error::corrupt(format!(
                "cannot read {len} bytes: the file has {} bytes. It is truncated, or an offset in it is wrong",
                self.size()
            ))
            .at(offset)
            .file(self.name())),
        }
    }

    /// Checks that ranges lie in the file.
    ///
    /// # Errors
    ///
    /// One does not.
    fn check_ranges(&self, ranges: &[Range<u64>]) -> Result<()> {
        ranges.iter().try_for_each(|range| self.check_range(range.start, range_len(range)))
    }
}

/// Bytes of a range.
pub fn range_len(range: &Range<u64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
}

/// [`Source::read_exact_at`] of a source that fetches whole ranges: a request for one.
///
/// # Errors
///
/// As for [`Source::read_ranges`].
pub fn read_as_range(source: &impl Source, offset: u64, buf: &mut [u8]) -> Result<()> {
    source.check_range(offset, buf.len())?;
    let range = offset..offset.saturating_add(buf.len() as u64);
    if let Some(bytes) = source.read_ranges(std::slice::from_ref(&range))?.pop() {
        buf.copy_from_slice(&bytes);
    }
    Ok(())
}

/// A local file, read by `pread`: threads share no position, and a file that is truncated during a read is an error,
/// not a SIGBUS as with a memory map.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    size: u64,
    path: PathBuf,
}

impl LocalFile {
    /// Opens a regular file for reading.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is not a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = open_at_once(path).map_err(|e| Error::from(e).file(path))?;
        let size = metadata_of(&file, path)?.len();
        Ok(Self { file, size, path: path.to_path_buf() })
    }

    /// The open file, for advice to the kernel and in-kernel copies.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Source for LocalFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, &self.path, offset, buf)
    }

    fn will_need(&self, ranges: &[Range<u64>]) {
        will_need(&self.file, ranges);
    }

    fn name(&self) -> &Path {
        &self.path
    }
}

/// Opens a file for reading without waiting: a pipe would wait for a writer, perhaps for ever. Reads of regular files do not
/// change by that.
pub(crate) fn open_at_once(path: &Path) -> std::io::Result<File> {
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits();
    File::options().read(true).custom_flags(flags.cast_signed()).open(path)
}

/// The metadata of an open file, which must be a regular one: only that has bytes at offsets.
pub(crate) fn metadata_of(file: &File, path: &Path) -> Result<Metadata> {
    let meta = file.metadata().map_err(|e| Error::from(e).file(path))?;
    match meta.is_file() {
        true => Ok(meta),
        false if meta.is_dir() => Err(Error::request("is a directory, not a ROOT file").file(path)),
        false => Err(Error::request("is a pipe or a device, not a regular file").file(path)),
    }
}

/// Fills `buf` from `offset` of an open file, with errors that name the file and the offset.
pub(crate) fn read_exact_at(file: &File, path: &Path, offset: u64, buf: &mut [u8]) -> Result<()> {
    file.read_exact_at(buf, offset).map_err(|e| {
        let error = match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                Error::corrupt(format!("cannot read {} bytes: the file ends before", buf.len()))
            }
            _ => Error::from(e),
        };
        error.at(offset).file(path)
    })
}

/// Advises the kernel to read ahead. If the kernel ignores the advice, reads only take longer.
pub(crate) fn will_need(file: &File, ranges: &[Range<u64>]) {
    for range in ranges {
        read_ahead(file, range.start, range.end.saturating_sub(range.start));
    }
}

#[cfg(not(target_vendor = "apple"))]
fn read_ahead(file: &File, offset: u64, length: u64) {
    let length = std::num::NonZeroU64::new(length);
    let _ = rustix::fs::fadvise(file, offset, length, rustix::fs::Advice::WillNeed);
}

#[cfg(target_vendor = "apple")]
fn read_ahead(file: &File, offset: u64, length: u64) {
    let _ = rustix::fs::fcntl_rdadvise(file, offset, length);
}

/// Bytes in memory, for tests and fuzzing.
#[derive(Debug)]
pub struct MemoryFile(pub Vec<u8>);

impl Source for MemoryFile {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let slice = start
            .checked_add(buf.len())
            .and_then(|end| self.0.get(start..end))
            .ok_or_else(|| Error::corrupt("the range lies beyond the end").at(offset))?;
        buf.copy_from_slice(slice);
        Ok(())
    }

    fn name(&self) -> &Path {
        Path::new("(memory)")
    }
}
