//! A file on another machine that is measured: its bytes stay here once they are fetched, as far as there is room, since samples
//! and readings come back to them. It knows nothing of columns.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rootfile::{Result, Source, Traffic, range_len};

/// Most bytes that stay.
const MOST: u64 = 64 << 20;
/// The share of the memory that they may take, as a divisor.
const SHARE: u64 = 4;

/// A remote file, and what was read of it.
pub(crate) struct Kept {
    inner: Arc<dyn Source>,
    held: Mutex<Held>,
}

struct Held {
    /// Bytes by the offset of the first.
    blocks: BTreeMap<u64, Arc<[u8]>>,
    /// The blocks, the oldest first.
    order: VecDeque<u64>,
    bytes: u64,
    room: u64,
}

impl Held {
    fn find(&self, range: &Range<u64>) -> Option<(Arc<[u8]>, Range<usize>)> {
        let (start, block) = self.blocks.range(..=range.start).next_back()?;
        let from = usize::try_from(range.start - start).ok()?;
        let end = from.checked_add(range_len(range)).filter(|end| *end <= block.len())?;
        Some((Arc::clone(block), from..end))
    }

    fn keep(&mut self, offset: u64, bytes: &[u8]) {
        if self.blocks.get(&offset).is_some_and(|block| block.len() >= bytes.len()) {
            return;
        }
        self.bytes += bytes.len() as u64;
        match self.blocks.insert(offset, bytes.into()) {
            Some(shorter) => self.bytes -= shorter.len() as u64,
            None => self.order.push_back(offset),
        }
        while self.bytes > self.room
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.blocks.remove(&oldest).map_or(0, |block| block.len() as u64);
        }
    }
}

impl Kept {
    /// A file of which nothing is kept yet.
    pub fn over(inner: Arc<dyn Source>) -> Self {
        let held = Held { blocks: BTreeMap::new(), order: VecDeque::new(), bytes: 0, room: MOST };
        Self { inner, held: Mutex::new(held) }
    }

    /// Limits what is kept to a share of the memory.
    pub fn within(&self, memory: u64) {
        self.held().room = (memory / SHARE).min(MOST);
    }

    /// Bytes that are kept at most.
    pub fn room(&self) -> u64 {
        self.held().room
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for those of some ranges that are not here, all at once.
    fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Option<Vec<u8>>>> {
        let missing: Vec<bool> = {
            let held = self.held();
            ranges.iter().map(|range| held.find(range).is_none()).collect()
        };
        let wanted: Vec<Range<u64>> =
            ranges.iter().zip(&missing).filter(|(_, missing)| **missing).map(|(range, _)| range.clone()).collect();
        let mut fetched = if wanted.is_empty() { Vec::new() } else { self.inner.read_ranges(&wanted)? }.into_iter();
        let found: Vec<Option<Vec<u8>>> =
            missing.iter().map(|missing| if *missing { fetched.next() } else { None }).collect();
        let mut held = self.held();
        for (range, bytes) in ranges.iter().zip(&found) {
            bytes.iter().for_each(|bytes| held.keep(range.start, bytes));
        }
        Ok(found)
    }
}

impl Source for Kept {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let range = offset..offset.saturating_add(buf.len() as u64);
        let known = self.held().find(&range);
        if let Some(bytes) = known.as_ref().and_then(|(block, at)| block.get(at.clone())) {
            buf.copy_from_slice(bytes);
            return Ok(());
        }
        self.inner.read_exact_at(offset, buf)?;
        self.held().keep(offset, buf);
        Ok(())
    }

    fn name(&self) -> &Path {
        self.inner.name()
    }

    /// Fetches them, as far as there is room. An error is that of who reads them.
    fn will_need(&self, ranges: &[Range<u64>]) {
        let mut room = self.held().room;
        let fits = |range: &&Range<u64>| {
            let left = room.checked_sub(range.end.saturating_sub(range.start));
            room = left.unwrap_or(room);
            left.is_some()
        };
        let mut wanted: Vec<Range<u64>> = ranges.iter().take_while(fits).cloned().collect();
        wanted.sort_unstable_by_key(|range| (range.start, range.end));
        wanted.dedup();
        let _ = self.fetch(&wanted);
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let fetched = self.fetch(ranges)?;
        let bytes = |(range, fetched): (&Range<u64>, Option<Vec<u8>>)| match fetched {
            Some(bytes) => Ok(bytes),
            None => self.read(range.start, range_len(range)),
        };
        ranges.iter().zip(fetched).map(bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rootfile::MemoryFile;

    use super::*;

    /// Counts the bytes that are read.
    struct Counted(MemoryFile, AtomicU64);

    impl Source for Counted {
        fn size(&self) -> u64 {
            self.0.size()
        }
        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
            self.1.fetch_add(buf.len() as u64, Ordering::Relaxed);
            self.0.read_exact_at(offset, buf)
        }
        fn name(&self) -> &Path {
            self.0.name()
        }
    }

    #[test]
    fn bytes_are_fetched_once_while_there_is_room() {
        let bytes: Vec<u8> = (0..10_000u32).map(|i| (i / 7) as u8).collect();
        let counted = Arc::new(Counted(MemoryFile(bytes.clone()), AtomicU64::new(0)));
        let file = Kept::over(Arc::clone(&counted) as Arc<dyn Source>);
        let read = || counted.1.load(Ordering::Relaxed);
        file.will_need(&[100..200, 5_000..5_100, 100..200]);
        assert_eq!(read(), 200);
        assert_eq!(file.read(110, 50).unwrap(), bytes[110..160]);
        assert_eq!(file.read_ranges(&[5_000..5_100, 300..310]).unwrap(), [&bytes[5_000..5_100], &bytes[300..310]]);
        assert_eq!(file.read(300, 10).unwrap(), bytes[300..310]);
        assert_eq!(read(), 210);
        // The oldest go first.
        file.within(4 * 210);
        assert_eq!(file.read(9_000, 50).unwrap(), bytes[9_000..9_050]);
        assert_eq!(file.read(5_000, 100).unwrap(), bytes[5_000..5_100]);
        assert_eq!(read(), 260);
        assert_eq!(file.read(100, 100).unwrap(), bytes[100..200]);
        assert_eq!(read(), 360);
        assert!(file.held().bytes <= 210);
        assert!(file.read(9_990, 20).is_err());
    }
}
