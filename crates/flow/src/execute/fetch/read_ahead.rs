//! Bytes that are on their way before they are needed. Readers announce ranges in the order of reading. For remote files own threads
//! fetch each announcement in one request, while earlier bytes are decoded; for local files the kernel does it. It does not know what the
//! bytes are.

mod held;

use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use dataset::table::FileRange;
use dataset::table::piece::Record;
use rootfile::{Error, Result, Source, Traffic};

use held::{Held, Piece, Request};

/// Largest share of the memory for one reading, and most bytes.
const SHARE: u64 = 4;
const MOST: u64 = 64 << 20;

/// Requests that are under way at the same time.
const THREADS: usize = 4;

/// Local ranges with smaller gaps between them are announced as one.
const MAX_GAP: u64 = 64 << 10;

/// Files whose bytes can be announced.
pub(crate) struct ReadAhead {
    files: Vec<Arc<dyn Source>>,
    shared: Option<Arc<Shared>>,
    /// Bytes of memory that it may take.
    room: u64,
    /// The entry up to which everything is announced, for readers that come back.
    announced: Mutex<u64>,
}

impl ReadAhead {
    /// The memory that reading ahead of these files takes from a budget: none, if all are local.
    pub fn room(files: &[Arc<dyn Source>], memory: u64) -> u64 {
        if files.iter().any(|file| file.is_remote()) { (memory / SHARE).min(MOST) } else { 0 }
    }

    /// Files, of which remote ones may be read ahead by `room` bytes.
    pub fn over(files: &[Arc<dyn Source>], room: u64) -> Self {
        if room == 0 {
            return Self { files: files.to_vec(), shared: None, room, announced: Mutex::default() };
        }
        let shared =
            Arc::new(Shared { files: files.to_vec(), held: Mutex::new(Held::new(room)), changed: Condvar::new() });
        let near = |(number, file): (usize, &Arc<dyn Source>)| -> Arc<dyn Source> {
            match file.is_remote() {
                true => {
                    Arc::new(Ahead { inner: Arc::clone(file), number: number_of(number), shared: Arc::clone(&shared) })
                }
                false => Arc::clone(file),
            }
        };
        let files = files.iter().enumerate().map(near).collect();
        Self { files, shared: Some(shared), room, announced: Mutex::default() }
    }

    /// Bytes of memory that it may take.
    pub fn room_taken(&self) -> u64 {
        self.room
    }

    /// Whether it fetches what is announced. If all files are local, only the kernel is told, which is worth no search for places.
    pub fn fetches(&self) -> bool {
        self.shared.is_some()
    }

    /// The files. What is read from them may be there already.
    pub fn files(&self) -> &[Arc<dyn Source>] {
        &self.files
    }

    /// Whether more should be announced: fewer bytes are on their way, or here and unread, than there is room for.
    pub fn wants_more(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.lock().wants_more())
    }

    /// The entry up to which everything is announced.
    pub fn announced(&self) -> MutexGuard<'_, u64> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces ranges, in the order of reading.
    pub fn announce(&self, places: Vec<FileRange>) {
        let (mut local, mut remote) = (Vec::new(), Vec::new());
        for place in places {
            match self.files.get(place.0 as usize) {
                Some(file) if !file.is_remote() => local.push(place),
                Some(_) => remote.push(place),
                None => {}
            }
        }
        self.tell_kernel(local);
        if let Some(shared) = self.shared.as_ref().filter(|_| !remote.is_empty()) {
            Shared::ask_for(shared, remote);
        }
    }

    /// Advises the kernel to read these ranges of local files.
    fn tell_kernel(&self, mut places: Vec<FileRange>) {
        places.sort_unstable_by_key(|(file, range)| (*file, range.start));
        for of_file in places.chunk_by(|a, b| a.0 == b.0) {
            let mut ranges: Vec<Range<u64>> = Vec::new();
            for (_, range) in of_file {
                match ranges.last_mut() {
                    Some(last) if range.start <= last.end.saturating_add(MAX_GAP) => last.end = last.end.max(range.end),
                    _ => ranges.push(range.clone()),
                }
            }
            if let Some(source) = of_file.first().and_then(|(file, _)| self.files.get(*file as usize)) {
                source.will_need(&ranges);
            }
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.lock().close();
            shared.changed.notify_all();
        }
    }
}

/// Where a record is.
pub(crate) fn place(record: &Record) -> FileRange {
    (record.file, record.range())
}

fn number_of(file: usize) -> u32 {
    u32::try_from(file).unwrap_or(u32::MAX)
}

/// What readers and the threads that fetch share.
struct Shared {
    files: Vec<Arc<dyn Source>>,
    held: Mutex<Held>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues requests for ranges, and starts threads for them.
    fn ask_for(shared: &Arc<Self>, places: Vec<FileRange>) {
        let mut held = shared.lock();
        held.queue(places);
        while held.threads < THREADS.min(held.queued()) {
            let own = Arc::clone(shared);
            // Without the thread readers fetch for themselves.
            if std::thread::Builder::new().name("basketry-ahead".to_owned()).spawn(move || own.fetch_all()).is_err() {
                break;
            }
            held.threads += 1;
        }
        drop(held);
        shared.changed.notify_all();
    }

    /// Fetches what is queued, until the end.
    fn fetch_all(&self) {
        let mut held = self.lock();
        loop {
            if held.is_closed() {
                return;
            }
            let Some(request) = held.start_next() else {
                held = self.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(held);
            let fetched = std::panic::catch_unwind(AssertUnwindSafe(|| self.fetch(&request)));
            held = self.lock();
            held.arrived(&request, fetched.ok().and_then(Result::ok));
            self.changed.notify_all();
        }
    }

    fn fetch(&self, request: &Request) -> Result<Vec<Vec<u8>>> {
        let file = self.files.get(request.file as usize).ok_or_else(|| Error::request("an unknown file"))?;
        file.read_ranges(&request.ranges)
    }
}

/// A remote file, of which bytes may be here already.
struct Ahead {
    inner: Arc<dyn Source>,
    number: u32,
    shared: Arc<Shared>,
}

impl Source for Ahead {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let mut done = 0;
        let mut held = self.shared.lock();
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(done as u64);
            match held.take(self.number, at, rest) {
                Piece::Taken(bytes) => {
                    done += bytes;
                    self.shared.changed.notify_all();
                }
                Piece::Coming { now_urgent } => {
                    if now_urgent {
                        self.shared.changed.notify_all();
                    }
                    held = self.shared.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                }
                // Not announced, dropped, or failed: then the error is this read's.
                Piece::Absent => {
                    drop(held);
                    return self.inner.read_exact_at(at, rest);
                }
            }
        }
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
        self.inner.read_ranges(ranges)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use rootfile::MemoryFile;

    use super::*;

    /// A remote file that counts requests, and fails those that contain one byte.
    struct Far {
        file: MemoryFile,
        requests: AtomicUsize,
        damaged: Option<u64>,
    }

    impl Far {
        fn check(&self, range: &Range<u64>) -> Result<()> {
            match self.damaged.filter(|at| range.contains(at)) {
                Some(_) => Err(Error::request("the connection was lost")),
                None => Ok(()),
            }
        }
    }

    impl Source for Far {
        fn size(&self) -> u64 {
            self.file.size()
        }
        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
            self.requests.fetch_add(1, SeqCst);
            self.check(&(offset..offset + buf.len() as u64))?;
            self.file.read_exact_at(offset, buf)
        }
        fn name(&self) -> &Path {
            self.file.name()
        }
        fn is_remote(&self) -> bool {
            true
        }
        fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
            self.requests.fetch_add(1, SeqCst);
            ranges.iter().try_for_each(|range| self.check(range))?;
            ranges.iter().map(|r| self.file.read(r.start, (r.end - r.start) as usize)).collect()
        }
    }

    fn far(damaged: Option<u64>) -> Arc<Far> {
        let bytes = (0..100_000u32).map(|i| (i / 7) as u8).collect();
        Arc::new(Far { file: MemoryFile(bytes), requests: AtomicUsize::new(0), damaged })
    }

    fn over(far: &Arc<Far>, room: u64) -> ReadAhead {
        ReadAhead::over(&[Arc::clone(far) as Arc<dyn Source>], room)
    }

    fn announce(ahead: &ReadAhead, ranges: &[Range<u64>]) {
        ahead.announce(ranges.iter().map(|range| (0, range.clone())).collect());
    }

    #[test]
    fn announced_bytes_come_with_one_request() {
        let far = far(None);
        let ahead = over(&far, 1 << 20);
        let ranges = [100..200, 5_000..6_000, 200..300, 90_000..90_010];
        announce(&ahead, &ranges);
        let file = &ahead.files()[0];
        // Two neighbours are read as one, and one range in two parts.
        assert_eq!(file.read(100, 200).unwrap(), far.file.0[100..300]);
        assert_eq!(file.read(5_000, 400).unwrap(), far.file.0[5_000..5_400]);
        assert_eq!(file.read(5_400, 600).unwrap(), far.file.0[5_400..6_000]);
        assert_eq!(file.read(90_000, 10).unwrap(), far.file.0[90_000..90_010]);
        assert_eq!(far.requests.load(SeqCst), 1);
        assert_eq!(ahead.shared.as_ref().unwrap().lock().bytes(), (1210, 0));
        // What was read stays while there is room.
        assert_eq!(file.read(100, 10).unwrap(), far.file.0[100..110]);
        announce(&ahead, &[100..200, 100..200]);
        for _ in 0..2 {
            assert_eq!(file.read(100, 100).unwrap(), far.file.0[100..200]);
        }
        assert_eq!(far.requests.load(SeqCst), 1);
        assert_eq!(ahead.shared.as_ref().unwrap().lock().bytes(), (1210, 0));
    }

    #[test]
    fn what_is_held_stays_within_the_room_and_any_order_of_reading_ends() {
        for reversed in [false, true] {
            let far = far(None);
            let ahead = over(&far, 4_000);
            let ranges: Vec<Range<u64>> = (0..100).map(|i| i * 1000..i * 1000 + 900).collect();
            for ten in ranges.chunks(10) {
                announce(&ahead, ten);
            }
            let mut order: Vec<_> = ranges.clone();
            if reversed {
                order.reverse();
            }
            for range in order {
                let read = ahead.files()[0].read(range.start, 900).unwrap();
                assert_eq!(read, far.file.0[range.start as usize..range.end as usize]);
                assert!(ahead.shared.as_ref().unwrap().lock().bytes().0 <= 4_000);
            }
        }
    }

    #[test]
    fn threads_read_at_the_same_time() {
        let far = far(None);
        let ahead = over(&far, 8_000);
        let ranges: Vec<Range<u64>> = (0..99).map(|i| i * 1000..i * 1000 + 1000).collect();
        ranges.chunks(3).for_each(|three| announce(&ahead, three));
        std::thread::scope(|scope| {
            for first in 0..4usize {
                let (ahead, far, ranges) = (&ahead, &far, &ranges);
                scope.spawn(move || {
                    for range in ranges.iter().skip(first).step_by(4) {
                        let read = ahead.files()[0].read(range.start, 1000).unwrap();
                        assert_eq!(read, far.file.0[range.start as usize..range.end as usize]);
                    }
                });
            }
        });
    }

    #[test]
    fn an_error_is_the_readers_and_only_for_its_bytes() {
        let far = far(Some(150));
        let ahead = over(&far, 1 << 20);
        announce(&ahead, &[100..200, 300..400]);
        assert_eq!(ahead.files()[0].read(300, 100).unwrap(), far.file.0[300..400]);
        assert!(ahead.files()[0].read(100, 100).unwrap_err().to_string().contains("was lost"));
    }
}
