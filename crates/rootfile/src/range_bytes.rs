//! Ranges of the files of a table, as a container asks for them: it names ranges, and turns their bytes into values. Who fetches
//! them, from where and how many at once, is decided by an implementation of [`RangeBytes`]. [`RangeReader`] reads them from sources.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::source::range_len;
use crate::{Error, Result, Source};

/// Neighbouring ranges are read together, up to this many bytes.
const AT_ONCE: u64 = 256 << 10;

/// Bytes of the files of a table. Files are numbered.
pub trait RangeBytes {
    /// Size of a file.
    fn size(&self, file: u32) -> u64;

    /// The name of a file in error messages.
    fn name(&self, file: u32) -> &Path;

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// If there is no such file, if it ends too early, or if reading fails.
    fn read_into(&mut self, file: u32, offset: u64, out: &mut [u8]) -> Result<()>;

    /// The bytes of a range, to keep.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    fn read(&mut self, file: u32, range: Range<u64>) -> Result<Vec<u8>>;

    /// The bytes of a range. `next` are the ranges that will be asked for after it.
    ///
    /// # Errors
    ///
    /// If there is no such file, if the range lies outside of it, or if reading fails.
    fn get(&mut self, file: u32, range: Range<u64>, next: &mut dyn Iterator<Item = Range<u64>>) -> Result<&[u8]>;
}

/// The bytes that one thread read last. They are read into the same buffer, which only grows.
#[derive(Debug, Default)]
pub struct RangeBuffer {
    file: u32,
    /// The offset of the first byte.
    offset: u64,
    /// How many bytes. The buffer may have more.
    len: usize,
    bytes: Vec<u8>,
    spent: Duration,
}

impl RangeBuffer {
    /// The time spent on waiting for bytes since the last call.
    pub fn take_time(&mut self) -> Duration {
        std::mem::take(&mut self.spent)
    }

    /// Where the buffer has a range, if it has all of it.
    fn find(&self, file: u32, range: &Range<u64>) -> Option<Range<usize>> {
        let within = |at: u64| usize::try_from(at.checked_sub(self.offset)?).ok();
        let found = within(range.start)?..within(range.end)?;
        (file == self.file && found.start <= found.end && found.end <= self.len).then_some(found)
    }
}

/// Reads ranges from sources, each with its neighbours behind it.
pub struct RangeReader<'a> {
    files: Files<'a>,
    buffer: &'a mut RangeBuffer,
}

enum Files<'a> {
    One(&'a dyn Source),
    Several(&'a [Arc<dyn Source>]),
}

impl Files<'_> {
    fn get(&self, file: u32) -> Result<&dyn Source> {
        let found = match self {
            Self::One(source) => (file == 0).then_some(*source),
            Self::Several(sources) => sources.get(file as usize).map(|source| &**source),
        };
        found.ok_or_else(|| Error::request(format!("there is no file {file}")))
    }
}

impl<'a> RangeReader<'a> {
    /// Reads from numbered files. What the buffer has is of other files.
    pub fn new(files: &'a [Arc<dyn Source>], buffer: &'a mut RangeBuffer) -> Self {
        buffer.len = 0;
        Self { files: Files::Several(files), buffer }
    }

    /// Reads from one file, number 0.
    pub fn of(file: &'a dyn Source, buffer: &'a mut RangeBuffer) -> Self {
        buffer.len = 0;
        Self { files: Files::One(file), buffer }
    }
}

impl RangeBytes for RangeReader<'_> {
    fn size(&self, file: u32) -> u64 {
        self.files.get(file).map_or(0, Source::size)
    }

    fn name(&self, file: u32) -> &Path {
        self.files.get(file).map_or(Path::new(""), Source::name)
    }

    fn read_into(&mut self, file: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        let started = Instant::now();
        self.files.get(file)?.read_exact_at(offset, out)?;
        self.buffer.spent += started.elapsed();
        Ok(())
    }

    fn read(&mut self, file: u32, range: Range<u64>) -> Result<Vec<u8>> {
        let started = Instant::now();
        let bytes = self.files.get(file)?.read(range.start, range_len(&range))?;
        self.buffer.spent += started.elapsed();
        Ok(bytes)
    }

    fn get(&mut self, file: u32, range: Range<u64>, next: &mut dyn Iterator<Item = Range<u64>>) -> Result<&[u8]> {
        if let Some(found) = self.buffer.find(file, &range) {
            return Ok(self.buffer.bytes.get(found).unwrap_or_default());
        }
        let source = self.files.get(file)?;
        let wanted = range_len(&range);
        source.check_range(range.start, wanted)?;
        let mut end = range.end;
        for more in next {
            let fits = more.start == end && more.end >= end && more.end.saturating_sub(range.start) <= AT_ONCE;
            if !fits || more.end > source.size() {
                break;
            }
            end = more.end;
        }
        let len = range_len(&(range.start..end));
        let started = Instant::now();
        self.buffer.len = 0;
        if self.buffer.bytes.len() < len {
            self.buffer.bytes.resize(len, 0);
        }
        source.read_exact_at(range.start, self.buffer.bytes.get_mut(..len).unwrap_or_default())?;
        (self.buffer.file, self.buffer.offset, self.buffer.len) = (file, range.start, len);
        self.buffer.spent += started.elapsed();
        Ok(self.buffer.bytes.get(..wanted).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFile;

    #[test]
    fn neighbours_are_read_together_if_the_file_has_them() {
        let file = MemoryFile((0..32).collect());
        let fetched = |ranges: &[Range<u64>]| {
            let mut buffer = RangeBuffer::default();
            let mut reader = RangeReader::of(&file, &mut buffer);
            let bytes = reader.get(0, ranges[0].clone(), &mut ranges[1..].iter().cloned()).map(<[u8]>::to_vec);
            bytes.map(|bytes| (bytes, buffer.len))
        };
        let first: Vec<u8> = (4..12).collect();
        assert_eq!(fetched(&[4..12, 12..20, 24..32]).unwrap(), (first.clone(), 16), "the last is not adjacent");
        for end in [33, u64::MAX - 1, u64::MAX] {
            assert_eq!(fetched(&[4..12, 12..end]).unwrap(), (first.clone(), 8));
            assert!(fetched(std::slice::from_ref(&(12..end))).is_err());
        }
        assert!(RangeReader::of(&file, &mut RangeBuffer::default()).get(1, 0..1, &mut std::iter::empty()).is_err());
    }

    #[test]
    fn what_was_read_with_a_range_is_not_read_again() {
        let files: Vec<Arc<dyn Source>> =
            (0..2).map(|n| Arc::new(MemoryFile(vec![n; 32])) as Arc<dyn Source>).collect();
        let mut buffer = RangeBuffer::default();
        let mut reader = RangeReader::new(&files, &mut buffer);
        let mut get = |file, range: Range<u64>| reader.get(file, range, &mut std::iter::once(8..16)).unwrap().to_vec();
        assert_eq!(get(0, 0..8), [0; 8]);
        assert_eq!(get(0, 8..16), [0; 8]);
        assert_eq!(get(1, 8..16), [1; 8]);
        assert_eq!(buffer.len, 8);
        assert!(buffer.take_time() > Duration::ZERO);
        // Another reader may be of other files.
        RangeReader::of(&MemoryFile(vec![7; 32]), &mut buffer);
        assert_eq!(buffer.len, 0);
    }
}
