//! A file in memory that its owner writes like a file on disk, and that becomes a part without a copy. Its memory is in chunks of one size,
//! which a pool counts and uses again.

use std::sync::Arc;

use super::pool::{CHUNK, Counted, GatherPool};

/// A file in memory.
pub struct PartBuffer {
    pool: Arc<GatherPool>,
    chunks: Vec<Box<[u8]>>,
    len: usize,
    counted: Counted,
}

impl PartBuffer {
    /// An empty file, whose memory is a pool's.
    pub fn new(pool: Arc<GatherPool>) -> Self {
        Self { pool, chunks: Vec::new(), len: 0, counted: Counted::Outside }
    }

    /// Its size.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory(&self) -> u64 {
        (self.chunks.len() * CHUNK) as u64
    }

    /// Writes bytes. What lies between the end and their position becomes zeroes.
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset.saturating_add(bytes.len());
        if end > self.len {
            let chunks = end.div_ceil(CHUNK);
            if chunks > self.chunks.len() {
                let more = self.pool.chunks(chunks - self.chunks.len());
                self.chunks.extend(more);
            }
            if offset > self.len {
                self.each(self.len..offset, |_, own| own.fill(0));
            }
            self.len = end;
        }
        self.each(offset..end, |done, own| {
            if let Some(from) = bytes.get(done..done + own.len()) {
                own.copy_from_slice(from);
            }
        });
    }

    /// Does something with the bytes of a range, piece by piece, given how many came before.
    fn each(&mut self, range: std::ops::Range<usize>, mut work: impl FnMut(usize, &mut [u8])) {
        let mut at = range.start;
        while at < range.end {
            let (chunk, within) = (at / CHUNK, at % CHUNK);
            let end = (within + range.end - at).min(CHUNK);
            let Some(piece) = self.chunks.get_mut(chunk).and_then(|chunk| chunk.get_mut(within..end)) else { return };
            work(at - range.start, piece);
            at += end - within;
        }
    }

    /// Reads bytes from a position on, as many as there are. Returns their number.
    pub fn read_at(&self, offset: usize, into: &mut [u8]) -> usize {
        let end = offset.saturating_add(into.len()).min(self.len);
        let mut at = offset;
        while at < end {
            let (chunk, within) = (at / CHUNK, at % CHUNK);
            let last = (within + end - at).min(CHUNK);
            let from = self.chunks.get(chunk).and_then(|chunk| chunk.get(within..last));
            let to = into.get_mut(at - offset..at - offset + (last - within));
            let (Some(from), Some(to)) = (from, to) else { break };
            to.copy_from_slice(from);
            at += last - within;
        }
        at.saturating_sub(offset)
    }

    /// Ends the file at a size, where it is longer.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            let unused = self.chunks.split_off(len.div_ceil(CHUNK));
            self.pool.take_back(unused, self.counted);
        }
    }

    /// The file is handed over: the pool has counted it among the parts.
    pub(super) fn become_part(&mut self) {
        self.counted = Counted::Part;
    }
}

impl Drop for PartBuffer {
    fn drop(&mut self) {
        self.pool.take_back(std::mem::take(&mut self.chunks), self.counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(file: &PartBuffer) -> Vec<u8> {
        let mut bytes = vec![0; file.len()];
        assert_eq!(file.read_at(0, &mut bytes), bytes.len());
        bytes
    }

    #[test]
    fn bytes_are_read_where_they_were_written() {
        let pool = Arc::new(GatherPool::new(10 << 20));
        let mut file = PartBuffer::new(Arc::clone(&pool));
        let pattern: Vec<u8> = (0..3 * CHUNK + 17).map(|i| u8::try_from(i * 7 % 251).unwrap_or(0)).collect();
        file.write_at(5, &pattern);
        file.write_at(CHUNK - 1, b"abc");
        let mut read = vec![0; pattern.len() + 100];
        assert_eq!(file.read_at(0, &mut read), pattern.len() + 5);
        assert_eq!(read[..5], [0; 5]);
        assert_eq!(&read[CHUNK - 1..CHUNK + 2], b"abc");
        assert_eq!(read[CHUNK + 2..pattern.len() + 5], pattern[CHUNK - 3..]);
        file.truncate(CHUNK);
        assert_eq!((file.len(), file.memory(), all(&file).len()), (CHUNK, CHUNK as u64, CHUNK));
        drop(file);
        let used = pool.in_use();
        assert_eq!((used.parts, used.outside), (0, 0));
        // Memory that was used before has other bytes.
        let mut second = PartBuffer::new(pool);
        second.write_at(10, b"x");
        assert_eq!(all(&second), [&[0; 10][..], b"x"].concat());
    }
}
