//! Small reads of remote files. Metadata are read in many small pieces: a [`Recent`] file fetches more than is asked for,
//! and keeps what it fetched for the next pieces. Large reads pass.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rootfile::{Result, Source, Traffic};

/// Reads below this size fetch so many bytes.
const LEAST: u64 = 32 << 10;

/// A file whose begin and end are asked for at once.
///
/// # Errors
///
/// They cannot be read.
pub fn with_ends<S: Source + 'static>(file: S) -> Result<Arc<dyn Source>> {
    let size = file.size();
    let ends = [0..HEAD.min(size), size.saturating_sub(TAIL)..size];
    let blocks = ends.iter().map(|range| range.start).zip(file.read_ranges(&ends)?).collect();
    Ok(Arc::new(Recent::new(file, blocks)))
}

/// Bytes from the begin and from the end of a file that opening it asks for: header and top directory; tree records, streamer
/// infos and lists of keys.
pub(crate) const HEAD: u64 = 32 << 10;
pub(crate) const TAIL: u64 = 256 << 10;

/// Bytes that are kept of all files together. What opening one file fetches is a small part of it.
const KEPT: usize = 8 << 20;

/// Bytes of a file, and their offset.
pub(crate) type Fetched = (u64, Vec<u8>);

/// A block of bytes of a file.
struct Block {
    file: u64,
    offset: u64,
    bytes: Arc<[u8]>,
}

/// The blocks of all files, the oldest first.
static BLOCKS: Mutex<VecDeque<Block>> = Mutex::new(VecDeque::new());
static NEXT_FILE: AtomicU64 = AtomicU64::new(0);

/// A remote file whose small reads are served from blocks.
pub(crate) struct Recent<S> {
    inner: S,
    file: u64,
}

impl<S: Source> Recent<S> {
    /// A file of which these blocks are known.
    pub fn new(inner: S, blocks: Vec<Fetched>) -> Self {
        let file = Self { inner, file: NEXT_FILE.fetch_add(1, Ordering::Relaxed) };
        blocks.into_iter().for_each(|(offset, bytes)| file.keep(offset, bytes.into()));
        file
    }

    fn keep(&self, offset: u64, bytes: Arc<[u8]>) {
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.push_back(Block { file: self.file, offset, bytes });
        let mut kept: usize = blocks.iter().map(|block| block.bytes.len()).sum();
        while kept > KEPT && blocks.len() > 2 {
            kept -= blocks.pop_front().map_or(0, |oldest| oldest.bytes.len());
        }
    }

    /// The block that has all of these bytes, and where it has them.
    fn find(&self, offset: u64, len: usize) -> Option<(Arc<[u8]>, Range<usize>)> {
        let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.iter().rev().filter(|block| block.file == self.file).find_map(|block| {
            let start = usize::try_from(offset.checked_sub(block.offset)?).ok()?;
            let end = start.checked_add(len).filter(|end| *end <= block.bytes.len())?;
            Some((Arc::clone(&block.bytes), start..end))
        })
    }

    fn known(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let len = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        let (bytes, at) = self.find(range.start, len)?;
        bytes.get(at).map(<[u8]>::to_vec)
    }
}

impl<S> Drop for Recent<S> {
    fn drop(&mut self) {
        BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).retain(|block| block.file != self.file);
    }
}

impl<S: Source> Source for Recent<S> {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        if let Some((bytes, at)) = self.find(offset, buf.len()) {
            buf.copy_from_slice(bytes.get(at).unwrap_or_default());
            return Ok(());
        }
        let end = offset.saturating_add(LEAST).min(self.size());
        if buf.len() as u64 >= end.saturating_sub(offset) {
            return self.inner.read_exact_at(offset, buf);
        }
        let block: Arc<[u8]> = self.inner.read(offset, usize::try_from(end - offset).unwrap_or(buf.len()))?.into();
        buf.copy_from_slice(block.get(..buf.len()).unwrap_or_default());
        self.keep(offset, block);
        Ok(())
    }

    fn name(&self) -> &Path {
        self.inner.name()
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let mut found: Vec<Option<Vec<u8>>> = ranges.iter().map(|range| self.known(range)).collect();
        let missing: Vec<Range<u64>> =
            ranges.iter().zip(&found).filter(|(_, known)| known.is_none()).map(|(range, _)| range.clone()).collect();
        if !missing.is_empty() {
            let fetched = self.inner.read_ranges(&missing)?;
            found.iter_mut().filter(|known| known.is_none()).zip(fetched).for_each(|(slot, bytes)| *slot = Some(bytes));
        }
        Ok(found.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use rootfile::MemoryFile;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts reads.
    struct Counted(MemoryFile, AtomicUsize);

    impl Source for Counted {
        fn size(&self) -> u64 {
            self.0.size()
        }
        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read_exact_at(offset, buf)
        }
        fn name(&self) -> &Path {
            self.0.name()
        }
    }

    #[test]
    fn small_reads_nearby_are_one_request() {
        let bytes: Vec<u8> = (0..200_000u32).map(|i| i as u8).collect();
        let file =
            Recent::new(Counted(MemoryFile(bytes.clone()), AtomicUsize::new(0)), vec![(0, bytes[..100].to_vec())]);
        let reads = || file.inner.1.load(Ordering::Relaxed);
        assert_eq!(file.read(10, 90).unwrap(), bytes[10..100]);
        assert_eq!(reads(), 0);
        assert_eq!(file.read(50_000, 10).unwrap(), bytes[50_000..50_010]);
        assert_eq!(file.read(50_010, 20_000).unwrap(), bytes[50_010..70_010]);
        assert_eq!(reads(), 1);
        assert_eq!(file.read(199_990, 10).unwrap(), bytes[199_990..]);
        assert_eq!(file.read(0, 150_000).unwrap(), bytes[..150_000]);
        assert_eq!(reads(), 3);
        let ranges = [60_000..60_010, 110_000..110_100, 5..6];
        let expected: Vec<&[u8]> = vec![&bytes[60_000..60_010], &bytes[110_000..110_100], &bytes[5..6]];
        assert_eq!(file.read_ranges(&ranges).unwrap(), expected);
        assert_eq!(reads(), 4);
        assert!(file.read(199_990, 20).is_err());
    }
}
